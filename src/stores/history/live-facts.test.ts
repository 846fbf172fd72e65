import { describe, expect, test } from 'vitest';
import type { CoverageRange, Neighbourhood } from '../../ports/history.ts';
import { heldInFull, memoryTransfer } from '../../testing/twins/history.ts';
import { liveFacts } from './live-facts.ts';

const HEAD_TIME = 1_800_000_000;
const [a, b] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`) as [string, string];
const ORIGIN = { source: 'x:', origin: 'observed', read_at: HEAD_TIME } as const;

function known(blocks: readonly number[], over: Partial<Neighbourhood> = {}): Neighbourhood {
  const transfers = blocks.map((block) => memoryTransfer(block, a, b));
  return {
    address: a,
    degree: 1,
    provenance: 'onchain',
    counterparties: [{ address: b, transfers, transfer_count: transfers.length }],
    coverage: heldInFull('ethereum', HEAD_TIME).map(({ address: _, ...range }) => {
      return { ...range, to_block: 1_000 };
    }),
    ...over,
  };
}

describe('what was read live', () => {
  test('is kept up to what is final, and said to be held no further', () => {
    const facts = liveFacts(known([5, 936, 937, 1_000]), ORIGIN);
    expect(facts.transfers.map(({ block }) => block)).toEqual([5, 936]);
    expect(facts.ranges.map(({ to_block }) => to_block)).toEqual([936, 936, 936, 936]);
    for (const { to_time } of facts.ranges) expect(to_time).toBeLessThan(HEAD_TIME - 64 * 12);
  });

  test('of a kind that was read less far is kept less far', () => {
    const coverage = known([]).coverage.map((range): CoverageRange => {
      return range.kind === 'native' ? { ...range, to_block: 500 } : range;
    });
    const facts = liveFacts(known([400, 450], { coverage }), ORIGIN);
    expect(facts.transfers.map(({ block }) => block)).toEqual([400]);
    expect(facts.ranges.find(({ kind }) => kind === 'native')?.to_block).toBe(436);
    expect(facts.ranges.find(({ kind }) => kind === 'token')?.to_block).toBe(936);
  });

  test('within its newest blocks alone is no range', () => {
    const coverage = known([]).coverage.map((range) => ({ ...range, from_block: 950 }));
    expect(liveFacts(known([960], { coverage }), ORIGIN).ranges).toEqual([]);
  });

  test('keeps what is known of tokens, and nothing of those of which nothing is', () => {
    const token = `0x${'7'.repeat(40)}`;
    const named = memoryTransfer(1, a, b, { kind: 'token', token, symbol: 'T', has_market: false });
    const unknown = memoryTransfer(2, a, b, { kind: 'token', token: `0x${'8'.repeat(40)}` });
    const transfers = [named, unknown];
    const counterparties = [{ address: b, transfers, transfer_count: 2 }];
    const { tokens } = liveFacts(known([], { counterparties }), ORIGIN);
    expect(tokens).toEqual([
      ...[{ chain: 'ethereum', token, symbol: 'T', decimals: null, has_market: false }].map(
        (one) => ({ ...one, read_at: HEAD_TIME }),
      ),
    ]);
  });

  test('leaves out what a chain gives by itself: it is not named by a transaction', () => {
    const reward = memoryTransfer(1, `0x${'0'.repeat(40)}`, a, { kind: 'internal' });
    const counterparties = [{ address: reward.from, transfers: [reward], transfer_count: 1 }];
    expect(liveFacts(known([], { counterparties }), ORIGIN).transfers).toEqual([]);
  });
});
