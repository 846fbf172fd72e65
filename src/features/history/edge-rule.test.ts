import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HistoryTransfer } from '../../ports/history.ts';
import { evm } from '../../testing/addresses.ts';
import { memoryTransfer } from '../../testing/twins/history.ts';
import { compareTransfers, compareValues, sift } from './edge-rule.ts';

const ME = evm('me');
const OTHER = evm('other');
const THIRD = evm('third');
const TOKEN = evm('token');
const SIDE = [ME];

function ruleOf(over: Partial<HistoryTransfer>, from = OTHER, to = ME, side = SIDE) {
  const { edge, leftOut } = sift(side, [memoryTransfer(1, from, to, over)]);
  return edge === null ? leftOut.map(({ why }) => why) : 'edge';
}

const ZERO = { kind: 'token', token: TOKEN, raw_amount: 0n } as const;
const SPAM = { kind: 'token', token: TOKEN, has_market: false } as const;

describe('the edges of a walk', () => {
  test('a zero-value transfer is left out only where the subject side did not sign it', () => {
    expect(ruleOf({ ...ZERO, initiator: OTHER })).toEqual(['zero_value']);
    // Poisoning: a stranger moves nothing out of my account without my consent.
    expect(ruleOf({ ...ZERO, initiator: THIRD }, ME, OTHER)).toEqual(['zero_value']);
    expect(ruleOf({ ...ZERO, initiator: ME }, ME, OTHER)).toBe('edge');
    expect(ruleOf({ ...ZERO, initiator: THIRD }, ME, OTHER, [THIRD, ME])).toBe('edge');
  });

  test('a zero-value transfer whose signer is not told stays; a coins sender is its signer', () => {
    expect(ruleOf({ ...ZERO, initiator: null })).toBe('edge');
    expect(ruleOf({ ...ZERO, initiator: null, unsigned_by: OTHER })).toBe('edge');
    expect(ruleOf({ kind: 'internal', raw_amount: 0n, initiator: null })).toBe('edge');
    expect(ruleOf({ kind: 'native', raw_amount: 0n, initiator: null })).toEqual(['zero_value']);
    expect(ruleOf({ kind: 'native', raw_amount: 0n, initiator: null }, ME, OTHER)).toBe('edge');
    const solana = { kind: 'native', chain: 'solana', raw_amount: 0n, initiator: null } as const;
    expect(ruleOf(solana)).toBe('edge');
  });

  test('a transfer that no source says who signed is left out where the side is known not to', () => {
    const unsigned = { initiator: null, unsigned_by: ME } as const;
    expect(ruleOf({ ...ZERO, ...unsigned }, ME, OTHER)).toEqual(['zero_value']);
    expect(ruleOf({ ...ZERO, ...unsigned })).toEqual(['zero_value']);
    expect(ruleOf({ ...SPAM, ...unsigned })).toEqual(['no_market_token']);
    expect(ruleOf({ ...SPAM, ...unsigned }, ME, OTHER)).toEqual(['no_market_token']);
    expect(ruleOf({ kind: 'internal', raw_amount: 0n, ...unsigned })).toEqual(['zero_value']);
    // Somebody else of the side may have signed it.
    expect(ruleOf({ ...ZERO, ...unsigned }, ME, OTHER, [THIRD, ME])).toBe('edge');
    // A transfer with a value and a market is an edge whoever signed: an approved spender moves it
    // too.
    expect(ruleOf({ kind: 'token', token: TOKEN, ...unsigned }, ME, OTHER)).toBe('edge');
  });

  test('a token without a market is left out only where that was read, if not taken', () => {
    expect(ruleOf({ ...SPAM, initiator: OTHER })).toEqual(['no_market_token']);
    // The side wanted to send what it signed itself, however small its value.
    expect(ruleOf({ ...SPAM, initiator: ME }, ME, OTHER)).toBe('edge');
    expect(ruleOf({ ...SPAM, initiator: OTHER }, ME, OTHER)).toBe('edge');
    expect(ruleOf({ ...SPAM, initiator: THIRD }, ME, OTHER, [THIRD, ME])).toBe('edge');
    expect(ruleOf({ ...SPAM, initiator: ME })).toBe('edge');
    expect(ruleOf({ ...SPAM, has_market: null, initiator: OTHER })).toBe('edge');
    expect(ruleOf({ ...SPAM, has_market: true, initiator: OTHER })).toBe('edge');
    expect(ruleOf({ ...SPAM, initiator: null })).toBe('edge');
    expect(ruleOf({ kind: 'native', has_market: false, initiator: OTHER })).toBe('edge');
  });

  test('an NFT is an edge only where the subject side is known to have signed', () => {
    const nft = { kind: 'nft', token: TOKEN, raw_amount: 0n, token_id: 7n } as const;
    expect(ruleOf({ ...nft, initiator: ME }, ME, OTHER)).toBe('edge');
    expect(ruleOf({ ...nft, initiator: ME })).toBe('edge');
    expect(ruleOf({ ...nft, initiator: THIRD }, ME, OTHER, [THIRD, ME])).toBe('edge');
    // Anybody can be sent one, in anybody's name: it is no edge, and nothing that was left out.
    expect(ruleOf({ ...nft, initiator: OTHER })).toEqual([]);
    expect(ruleOf({ ...nft, initiator: THIRD }, ME, OTHER)).toEqual([]);
    expect(ruleOf({ ...nft, initiator: null })).toEqual([]);
    expect(ruleOf({ ...nft, initiator: ME, success: false }, ME, OTHER)).toEqual([]);
  });

  test('there is no dust rule: the smallest amount is an edge', () => {
    expect(ruleOf({ raw_amount: 1n, usd: '0.000000000000000001' })).toBe('edge');
  });

  test('what failed is no transfer, and what may have failed is one', () => {
    expect(ruleOf({ success: false })).toEqual([]);
    expect(ruleOf({ success: null })).toBe('edge');
  });

  test('one wanted transfer among many unwanted is the edge, and each unwanted is counted', () => {
    const unwanted = [1, 2, 3].map((n) => memoryTransfer(n, OTHER, ME, { raw_amount: 0n }));
    const wanted = memoryTransfer(4, OTHER, ME, { raw_amount: 1n });
    const { edge, leftOut } = sift(SIDE, [...unwanted, wanted]);
    expect(edge).toBe(wanted);
    expect(leftOut).toHaveLength(3);
  });
});

const transfers = fc.record({
  n: fc.nat(5),
  usd: fc.constantFrom(null, '0', '1.5', '1.50', '20'),
  success: fc.constantFrom(true, null),
  raw_amount: fc.constantFrom(0n, 1n, 2n),
});
const arbitrary = transfers.map(({ n, ...over }) => memoryTransfer(n, ME, OTHER, over));

describe('the transfer that stands for an edge', () => {
  test('is the largest in USD, the unpriced last, whatever the order they came in', () => {
    const small = memoryTransfer(3, ME, OTHER, { usd: '9.99' });
    const large = memoryTransfer(1, ME, OTHER, { usd: '10' });
    const unpriced = memoryTransfer(9, ME, OTHER, { raw_amount: 10n ** 30n });
    expect(sift(SIDE, [unpriced, small, large]).edge).toBe(large);
    expect(sift(SIDE, [unpriced, small]).edge).toBe(small);
    expect([null, '2', '10', null].sort(compareValues)).toEqual(['10', '2', null, null]);
  });

  test('is settled for any transfers: the order is total and does not depend on the input', () => {
    fc.assert(
      fc.property(fc.array(arbitrary, { maxLength: 8 }), (list) => {
        const one = [...list].sort(compareTransfers);
        const other = [...list].reverse().sort(compareTransfers);
        expect(one.map(plain)).toEqual(other.map(plain));
        expect(sift(SIDE, list).edge ?? null).toEqual(one[0] ?? null);
      }),
    );
  });
});

function plain({ tx, usd, raw_amount, success }: HistoryTransfer): string {
  // Equal values may be written differently; which of two such is taken makes no difference.
  return [tx, usd === null ? '' : Number(usd), raw_amount, success].join(' ');
}
