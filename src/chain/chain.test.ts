import { describe, expect, test } from 'vitest';
import { CHAIN_NAMES, CHAINS, chainById, EVM_CHAINS, isEvmChain, parseChain } from './chain.ts';
import {
  BLOCK_PROOFS,
  sameKindsUntil,
  type TransferKind,
  type TransferSource,
  wholeKinds,
} from './transfer.ts';

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
const TRACED = ['trace_block', 'flat_call_tracer', 'call_tracer', 'trace_files'] as const;
const NODES = ['trace_block', 'flat_call_tracer', 'call_tracer', 'receipts'] as const;
const OUTSIDE = ['arbitrum', 'hyperevm', 'polygon'] as const;
const NEWEST = 500_000_000;
const ROOTS = ['rooted', 'rootless'] as const;
/** Polygon's first block whose roots cover state sync. */
const MADHUGIRI = 80_084_800;

/** The kinds of what has an amount, which a negative needs. */
function amountKinds(...of: Parameters<typeof wholeKinds>): TransferKind[] {
  return wholeKinds(...of).filter((kind) => kind !== 'nft');
}

test.each(TRACED)(
  '%s: internal is not claimed where the chain moves coins outside of what is traced',
  (source) => {
    for (const roots of ROOTS) {
      for (const chain of OUTSIDE) {
        expect(amountKinds(source, chain, NEWEST, roots)).not.toContain('internal');
      }
    }
  },
);

test.each(NODES)(
  '%s: payments are claimed just where a root in a header shows that one is missing',
  (source) => {
    for (const chain of EVM_CHAINS) {
      const claims = ROOTS.map((roots) => {
        return amountKinds(source, chain, NEWEST, roots).includes('native');
      });
      const { rooted } = BLOCK_PROOFS[chain];
      expect([chain, claims]).toEqual([chain, [rooted !== 'never', rooted === 'always']]);
    }
    const told = EVM_CHAINS.map((chain) => [chain, BLOCK_PROOFS[chain].rooted]);
    expect(Object.fromEntries(told)).toEqual({
      ethereum: 'always',
      base: 'always',
      bsc: 'always',
      polygon: 'where_told',
      arbitrum: 'never',
      hyperevm: 'never',
    });
  },
);

test.each(NODES)('%s: no token is claimed that a chain brings by an unseen transaction', (by) => {
  for (const roots of ROOTS) {
    expect(wholeKinds(by, 'hyperevm', NEWEST, roots)).toEqual(['nft']);
    const before = wholeKinds(by, 'polygon', MADHUGIRI - 1, roots);
    expect(before).toEqual(roots === 'rooted' ? ['native'] : []);
    const since = wholeKinds(by, 'polygon', MADHUGIRI, roots);
    expect(since).toEqual(roots === 'rooted' ? ['native', 'token', 'nft'] : ['token', 'nft']);
  }
  expect(sameKindsUntil(by, 'polygon', 1)).toBe(MADHUGIRI - 1);
  expect(sameKindsUntil(by, 'polygon', MADHUGIRI)).toBeNull();
});

test.each<[TransferSource, readonly string[]]>([
  ['trace_block', ['ethereum', 'base', 'bsc']],
  ['flat_call_tracer', ['ethereum', 'base', 'bsc']],
  ['call_tracer', []],
  ['trace_files', ['ethereum']],
  ['explorer', EVM_CHAINS],
  ['receipts', []],
])('%s: internal is told in full of just its chains', (source, chains) => {
  for (const roots of ROOTS) {
    const told = EVM_CHAINS.filter((chain) => {
      return amountKinds(source, chain, 20_000_000, roots).length === 3;
    });
    expect(told).toEqual(EVM_CHAINS.filter((chain) => chains.includes(chain)));
    for (const chain of told) expect(amountKinds(source, chain, 20_000_000, roots)).toEqual(ALL);
  }
});

test('call tracers leave rewards out, so Ethereum’s early coins are not all told by them', () => {
  const early = (source: TransferSource, block: number) => {
    return amountKinds(source, 'ethereum', block, 'rooted');
  };
  expect(early('flat_call_tracer', 15_537_393)).toEqual(WITHOUT_CALLS);
  expect(early('flat_call_tracer', 15_537_394)).toEqual(ALL);
  expect(early('call_tracer', 15_537_394)).toEqual(WITHOUT_CALLS);
  expect(early('trace_block', 1)).toEqual(ALL);
});

test('a node of Solana tells no kind in full', () => {
  expect(wholeKinds('solana_node', 'solana', 0, 'rootless')).toEqual([]);
});

test('NFTs are told in full by the logs of a node, whose receipts prove them, and by no list', () => {
  const told = (source: TransferSource) => {
    return EVM_CHAINS.filter((chain) =>
      wholeKinds(source, chain, NEWEST, 'rooted').includes('nft'),
    );
  };
  for (const source of NODES) expect(told(source)).toEqual(EVM_CHAINS);
  for (const source of ['explorer', 'trace_files'] as const) expect(told(source)).toEqual([]);
});
