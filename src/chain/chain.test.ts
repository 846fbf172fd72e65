import { describe, expect, test } from 'vitest';
import { CHAIN_NAMES, CHAINS, chainById, EVM_CHAINS, isEvmChain, parseChain } from './chain.ts';

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
