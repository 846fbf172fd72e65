// No source claims a kind of transfer that it cannot tell in full.

import { expect, test } from 'vitest';
import { EVM_CHAINS } from './chain.ts';
import { type TransferKind, type TransferSource, wholeKinds } from './transfer.ts';

const ALL = ['native', 'internal', 'token'];
const WITHOUT_CALLS = ['native', 'token'];

/** The kinds of what has an amount, which a negative needs. */
function amountKinds(...of: Parameters<typeof wholeKinds>): TransferKind[] {
  return wholeKinds(...of).filter((kind) => kind !== 'nft');
}

test.each(['trace_block', 'call_tracer', 'trace_files'] as const)(
  '%s: internal is not claimed where the chain moves coins outside of what is traced',
  (source) => {
    for (const chain of ['arbitrum', 'hyperevm', 'polygon'] as const) {
      expect(amountKinds(source, chain, 500_000_000)).toEqual(WITHOUT_CALLS);
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
  const told = EVM_CHAINS.filter((chain) => amountKinds(source, chain, 20_000_000).length === 3);
  expect(told).toEqual(EVM_CHAINS.filter((chain) => chains.includes(chain)));
  for (const chain of told) expect(amountKinds(source, chain, 20_000_000)).toEqual(ALL);
});

test('the call tracer leaves rewards out, so Ethereum’s early coins are not all told by it', () => {
  expect(amountKinds('call_tracer', 'ethereum', 15_537_393)).toEqual(WITHOUT_CALLS);
  expect(amountKinds('call_tracer', 'ethereum', 15_537_394)).toEqual(ALL);
  expect(amountKinds('trace_block', 'ethereum', 1)).toEqual(ALL);
});

test('a node of Solana tells no kind in full', () => {
  expect(wholeKinds('solana_node', 'solana', 0)).toEqual([]);
});

test('NFTs are told in full by the logs of a node, whose receipts prove them, and by no list', () => {
  const told = (source: TransferSource) => {
    return EVM_CHAINS.filter((chain) => wholeKinds(source, chain, 20_000_000).includes('nft'));
  };
  for (const source of ['trace_block', 'call_tracer', 'receipts'] as const) {
    expect(told(source)).toEqual(EVM_CHAINS);
  }
  for (const source of ['explorer', 'trace_files'] as const) expect(told(source)).toEqual([]);
});
