// No source claims a kind of transfer that it cannot tell in full.

import { expect, test } from 'vitest';
import { EVM_CHAINS } from './chain.ts';
import { type TransferSource, wholeKinds } from './whole-kinds.ts';

const ALL = ['native', 'internal', 'token'];
const WITHOUT_CALLS = ['native', 'token'];

test.each(['trace_block', 'call_tracer', 'trace_files'] as const)(
  '%s: internal is not claimed where the chain moves coins outside of what is traced',
  (source) => {
    for (const chain of ['arbitrum', 'hyperevm', 'polygon'] as const) {
      expect(wholeKinds(source, chain, 500_000_000)).toEqual(WITHOUT_CALLS);
    }
  },
);

test.each<[TransferSource, readonly string[]]>([
  ['trace_block', ['ethereum', 'base', 'bsc']],
  ['call_tracer', ['ethereum', 'base', 'bsc']],
  ['trace_files', ['ethereum']],
  ['explorer', EVM_CHAINS],
  ['receipts', []],
])('%s: internal is told in full of just its chains', (source, chains) => {
  const told = EVM_CHAINS.filter((chain) => wholeKinds(source, chain, 20_000_000).length === 3);
  expect(told).toEqual(EVM_CHAINS.filter((chain) => chains.includes(chain)));
  for (const chain of told) expect(wholeKinds(source, chain, 20_000_000)).toEqual(ALL);
});

test('the call tracer leaves rewards out, so Ethereum’s early coins are not all told by it', () => {
  expect(wholeKinds('call_tracer', 'ethereum', 15_537_393)).toEqual(WITHOUT_CALLS);
  expect(wholeKinds('call_tracer', 'ethereum', 15_537_394)).toEqual(ALL);
  expect(wholeKinds('trace_block', 'ethereum', 1)).toEqual(ALL);
});

test('a node of Solana tells no kind in full', () => {
  expect(wholeKinds('solana_node', 'solana', 0)).toEqual([]);
});
