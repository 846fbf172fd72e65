import { describe, expect, test } from 'vitest';
import type { HistoryTransfer } from '../../../ports/history.ts';
import { evm } from '../../../testing/addresses.ts';
import { findingOf, scoreAddress } from '../../../testing/finding-suite.ts';
import { memoryTransfer } from '../../../testing/twins/history.ts';
import { endsOf, foldedSymbol } from './poisoning.ts';

const SUBJECT = evm('subject');
const POISONER = evm('poisoner');
const FRIEND = `0xd9a1${'c'.repeat(32)}3a91`;
const LIKE_FRIEND = `0xd9a1${'f'.repeat(32)}3a91`;
const USDC = evm('usdc');
const FAKE = evm('fake usdc');

function token(over: Partial<HistoryTransfer>): Partial<HistoryTransfer> {
  return {
    kind: 'token',
    token: USDC,
    symbol: 'USDC',
    decimals: 6,
    raw_amount: 5_000_000n,
    ...over,
  };
}

const PAID_FRIEND = memoryTransfer(1, SUBJECT, FRIEND, token({ initiator: SUBJECT }));

async function poisoning(...transfers: HistoryTransfer[]) {
  const found = findingOf(await scoreAddress(SUBJECT, { transfers }), 'poisoning_received');
  return found === null ? [] : found;
}

describe('each attack leaves a finding that says the address did not sign', () => {
  test('zero-value transferFrom without consent, which shows the victim as the sender', async () => {
    const forged = token({ raw_amount: 0n, initiator: POISONER });
    const [zero, like] = await poisoning(
      PAID_FRIEND,
      memoryTransfer(2, SUBJECT, LIKE_FRIEND, forged),
    );
    expect(zero?.statement).toContain('1 transfer of no value that others signed');
    expect(zero?.evidence).toMatchObject([{ direction: 'out', initiated_by_subject: false }]);
    expect(like?.statement).toContain(`those of ${FRIEND}, to which this address sent before`);
    expect(like?.initiated_by_subject).toBe(false);
  });

  test('the same where its source names no signer: it is none of the transactions of the victim', async () => {
    const forged = token({ raw_amount: 0n, initiator: null });
    const [zero, like] = await poisoning(
      PAID_FRIEND,
      memoryTransfer(2, SUBJECT, LIKE_FRIEND, forged),
    );
    expect(zero?.statement).toContain('1 transfer of no value that others signed');
    expect(zero?.evidence).toMatchObject([{ initiator: null, initiated_by_subject: false }]);
    expect(like?.initiated_by_subject).toBe(false);
  });

  test('a tiny payment from a look-alike, which carries some value', async () => {
    const tiny = token({ raw_amount: 1n, initiator: LIKE_FRIEND });
    const found = await poisoning(PAID_FRIEND, memoryTransfer(2, LIKE_FRIEND, SUBJECT, tiny));
    expect(found).toHaveLength(1);
    expect(found[0]?.evidence.at(-1)).toMatchObject({ name: 'imitated_address', value: FRIEND });
  });

  test.each(['USDC', '𝐔𝐒𝐃𝐂', 'USDС'])('a copy of a token it holds: %s', async (symbol) => {
    const copy = token({ token: FAKE, symbol, initiator: POISONER });
    const found = await poisoning(PAID_FRIEND, memoryTransfer(2, SUBJECT, evm('thief'), copy));
    expect(found).toHaveLength(1);
    expect(found[0]?.statement).toContain(`reads like that of the token ${USDC}`);
    expect(found[0]?.initiated_by_subject).toBe(false);
  });

  test('a token that is called as the coin of the chain', async () => {
    const copy = token({ token: FAKE, symbol: 'ΕΤΗ', initiator: POISONER });
    const found = await poisoning(memoryTransfer(2, POISONER, SUBJECT, copy));
    expect(found[0]?.statement).toContain('the coin of its chain');
  });

  test('spam of a token without a market', async () => {
    const spam = token({ token: FAKE, symbol: 'VISIT', has_market: false, initiator: POISONER });
    const found = await poisoning(memoryTransfer(2, POISONER, SUBJECT, spam));
    expect(found[0]?.statement).toContain('tokens without a market');
  });

  test('thousands of them are one finding that counts all and shows the newest', async () => {
    const forged = token({ raw_amount: 0n, initiator: POISONER });
    const many = Array.from({ length: 2_000 }, (_, n) =>
      memoryTransfer(n + 2, SUBJECT, evm(`like ${n}`), forged),
    );
    const [found] = await poisoning(...many);
    expect([found?.evidence_count, found?.evidence.length]).toEqual([2_000, 20]);
    expect(found?.evidence[0]).toMatchObject({ block: 2_001 });
  });
});

describe('what is no attack', () => {
  test('a call of a contract, which moves no coins and which its callers sign', async () => {
    const code = { size: 9, delegates_to: null, minimal_proxy_of: null };
    const planted = {
      transfers: [memoryTransfer(1, FRIEND, SUBJECT, { raw_amount: 0n })],
      facts: [{ chain: 'ethereum' as const, address: SUBJECT, code }],
    };
    expect(findingOf(await scoreAddress(SUBJECT, planted), 'poisoning_received')).toBeNull();
    const account = { transfers: planted.transfers };
    expect(findingOf(await scoreAddress(SUBJECT, account), 'poisoning_received')).toHaveLength(1);
  });

  test.each([
    ['its own cancellation, of no value', memoryTransfer(2, SUBJECT, FRIEND, { raw_amount: 0n })],
    [
      'a payment of the very token',
      memoryTransfer(2, evm('x'), SUBJECT, token({ initiator: evm('x') })),
    ],
    [
      'a token of the same name that has a market',
      memoryTransfer(
        2,
        evm('x'),
        SUBJECT,
        token({ token: FAKE, has_market: true, initiator: evm('x') }),
      ),
    ],
    ['a failed one', memoryTransfer(2, POISONER, SUBJECT, { raw_amount: 0n, success: false })],
  ])('%s', async (_, transfer) => {
    expect(await poisoning(PAID_FRIEND, transfer)).toEqual([]);
  });
});

describe('likeness', () => {
  test.each([
    ['mathematical letters', '𝐔𝐒𝐃𝐂', 'USDC'],
    ['full width', 'ＵＳＤＴ', 'USDT'],
    ['Cyrillic', 'USDС', 'USDC'],
    ['Cyrillic and Armenian', 'ՍЅDТ', 'USDT'],
    ['Greek', 'ΕΤΗ', 'ETH'],
    ['a tugrik sign', 'USD₮', 'USDT'],
    ['zero-width letters', 'US\u200bDC', 'USDC'],
    ['marks', 'U\u0307SDC', 'USDC'],
    ['lower case and dots', 'usd.c', 'USDC'],
    ['Cherokee', 'ᎠAI', 'DAI'],
  ])('%s read as Latin ones', (_, written, read) => {
    expect(foldedSymbol(written)).toBe(read);
  });

  test('another word stays another word', () => {
    expect(foldedSymbol('UNI')).not.toBe(foldedSymbol('USDC'));
  });

  test('addresses with the same ends are alike, whatever stands between', () => {
    const ends = [
      '0xd9a1c0000000000000000000000000000000053a91',
      '0xd9a1f000000000000000000000000000000003a91',
    ];
    expect(endsOf(ends[0] ?? '')).toBe(endsOf(ends[1] ?? ''));
    expect(endsOf('0xd9a1')).not.toBe(endsOf('0xd9a2'));
  });
});
