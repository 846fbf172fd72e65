import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { numberTransfers, type Transfer, transferIdentity } from './transfer.ts';

const BLOCK_HASH = `0x${'b'.repeat(64)}`;
const PAYMENT: Transfer = {
  chain: 'ethereum',
  block: 19_000_000,
  block_time: 1_705_173_443,
  tx_hash: `0x${'1'.repeat(64)}`,
  block_hash: BLOCK_HASH,
  position: 7,
  kind: 'token',
  token: `0x${'c'.repeat(40)}`,
  from: `0x${'a'.repeat(40)}`,
  to: `0x${'e'.repeat(40)}`,
  raw_amount: 2n ** 200n + 1n,
  success: true,
};
const WITHDRAWAL: Transfer = {
  ...PAYMENT,
  kind: 'internal',
  token: null,
  tx_hash: null,
  block_hash: BLOCK_HASH,
  position: 3,
};

describe('transferIdentity', () => {
  test('sources and re-orgs that tell of the same transfer give one identity', () => {
    const retold: Transfer = {
      ...PAYMENT,
      block: 19_000_001,
      block_time: 1_705_173_455,
      block_hash: null,
      position: null,
      success: null,
    };
    expect(transferIdentity(retold)).toBe(transferIdentity(PAYMENT));
  });

  test('whatever makes it another transfer makes another identity', () => {
    const others: Transfer[] = [
      { ...PAYMENT, chain: 'base' },
      { ...PAYMENT, tx_hash: `0x${'2'.repeat(64)}` },
      { ...PAYMENT, kind: 'internal' },
      { ...PAYMENT, token: null },
      { ...PAYMENT, token: '' },
      { ...PAYMENT, from: PAYMENT.to, to: PAYMENT.from },
      { ...PAYMENT, to: PAYMENT.from },
      { ...PAYMENT, raw_amount: PAYMENT.raw_amount - 1n },
      WITHDRAWAL,
      { ...WITHDRAWAL, position: 4 },
      { ...WITHDRAWAL, block_hash: `0x${'d'.repeat(64)}` },
    ];
    expect(new Set([PAYMENT, ...others].map(transferIdentity)).size).toBe(others.length + 1);
  });

  test('no text within a field can be taken for two fields', () => {
    const moved = transferIdentity({ ...PAYMENT, from: 'a', to: 'b","c' });
    expect(moved).not.toBe(transferIdentity({ ...PAYMENT, from: 'a","b', to: 'c' }));
  });

  test('an index is the same as a number and as text', () => {
    const text = transferIdentity({ ...WITHDRAWAL, position: '3' });
    expect(text).toBe(transferIdentity(WITHDRAWAL));
  });
});

describe('numberTransfers', () => {
  test('equal rows of a transaction are counted, not merged', () => {
    const other: Transfer = { ...PAYMENT, raw_amount: 5n };
    const rows = numberTransfers([PAYMENT, other, { ...PAYMENT, position: 9 }, PAYMENT]);
    expect(rows.map(({ n }) => n)).toEqual([0, 0, 1, 2]);
    expect(rows.map(({ transfer }) => transfer.position)).toEqual([7, 7, 9, 7]);
  });

  test('the order of the rows changes no set of identities: a second import adds none', () => {
    const rows = fc.array(fc.constantFrom(1n, 2n, 3n), { maxLength: 20 });
    const keys = (amounts: bigint[]) =>
      numberTransfers(amounts.map((raw_amount) => ({ ...PAYMENT, raw_amount })))
        .map(({ identity, n }) => `${identity} ${n}`)
        .sort();
    fc.assert(
      fc.property(rows, (amounts) => {
        expect(keys([...amounts].reverse())).toEqual(keys(amounts));
        expect(new Set(keys(amounts)).size).toBe(amounts.length);
      }),
    );
  });
});
