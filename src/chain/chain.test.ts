import { describe, expect, test } from 'vitest';
import { CHAIN_NAMES, CHAINS, chainById, EVM_CHAINS, isEvmChain, parseChain } from './chain.ts';
import { BLOCK_PROOFS, type TransferKind, type TransferSource, wholeKinds } from './transfer.ts';

describe('the table of chains', () => {
  test('each chain has the id and the coin that its own documents give', () => {
    const facts = CHAIN_NAMES.map((name) => {
      const { kind, chain_id, native } = CHAINS[name];
      return `${name} ${kind} ${chain_id} ${native.symbol} ${native.decimals}`;
    });
    expect(facts).toEqual([
      'ethereum evm 1 ETH 18',
      'arbitrum evm 42161 ETH 18',
      'base evm 8453 ETH 18',
      'bsc evm 56 BNB 18',
      'polygon evm 137 POL 18',
      'hyperevm evm 999 HYPE 18',
      'solana solana null SOL 9',
      'bitcoin bitcoin null BTC 8',
    ]);
  });

  test('no chain is left out of a list, and each is under its own name', () => {
    expect([...CHAIN_NAMES].sort()).toEqual(Object.keys(CHAINS).sort());
    for (const name of CHAIN_NAMES) {
      expect(CHAINS[name].name).toBe(name);
      expect(isEvmChain(name)).toBe(EVM_CHAINS.some((known) => known === name));
    }
  });

  test('an explorer is a public page without a path, so that one can be put behind it', () => {
    for (const name of CHAIN_NAMES) {
      const url = new URL(CHAINS[name].explorer_url);
      expect(url.origin).toBe(CHAINS[name].explorer_url);
      expect(url.protocol).toBe('https:');
    }
  });
});

describe('chainById', () => {
  test('finds each EVM chain by its id, and nothing by another number', () => {
    for (const name of EVM_CHAINS) {
      expect(chainById(Number(CHAINS[name].chain_id))).toBe(CHAINS[name]);
    }
    for (const id of [0, -1, 10, 1.5, Number.NaN]) expect(chainById(id)).toBeNull();
  });
});

describe('parseChain', () => {
  test('names a chain by its exact name alone', () => {
    for (const name of CHAIN_NAMES) expect(parseChain(name)).toBe(name);
    const others = ['', 'Ethereum', ' ethereum', 'eth', '1', 'tron', 'all', 'constructor'];
    for (const text of [...others, '__proto__', 'toString']) expect(parseChain(text)).toBeNull();
  });
});

// No source claims a kind of transfer that it cannot tell in full.

const ALL = ['native', 'internal', 'token'];
const WITHOUT_CALLS = ['native', 'token'];
const UNROOTED = ['arbitrum', 'hyperevm', 'polygon'] as const;

/** The kinds of what has an amount, which a negative needs. */
function amountKinds(...of: Parameters<typeof wholeKinds>): TransferKind[] {
  return wholeKinds(...of).filter((kind) => kind !== 'nft');
}

test.each(['trace_block', 'call_tracer', 'trace_files'] as const)(
  '%s: internal is not claimed where the chain moves coins outside of what is traced',
  (source) => {
    for (const chain of UNROOTED) {
      expect(amountKinds(source, chain, 500_000_000)).not.toContain('internal');
    }
  },
);

test.each(['trace_block', 'call_tracer', 'receipts'] as const)(
  '%s: payments are not claimed where no root in a header shows that one is missing',
  (source) => {
    for (const chain of EVM_CHAINS) {
      const kinds = amountKinds(source, chain, 500_000_000);
      expect([chain, kinds.includes('native')]).toEqual([chain, BLOCK_PROOFS[chain].rooted]);
    }
    expect(UNROOTED.map((chain) => BLOCK_PROOFS[chain].rooted)).toEqual([false, false, false]);
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
