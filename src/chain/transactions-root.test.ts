// A transaction is encoded whole or not at all.

import { hex } from '@scure/base';
import { expect, test } from 'vitest';
import { encodeTransaction, stateSyncHash, transactionHash } from './transactions-root.ts';

test('a transaction of an unknown kind, or without one of its fields, has no encoding', () => {
  const whole = { type: 0, nonce: 0n, gas: 1n, gasPrice: 1n, from: '0x', value: 1n, input: '0x' };
  const signed = { ...whole, v: 27n, r: 1n, s: 1n };
  expect(encodeTransaction(signed)).not.toBeNull();
  expect(encodeTransaction({ ...signed, type: null })).toEqual(encodeTransaction(signed));
  expect(encodeTransaction({ ...signed, type: 0x6a })).toBeNull();
  expect(encodeTransaction(whole)).toBeNull();
  const { input: _, ...inputless } = signed;
  expect(encodeTransaction(inputless)).toBeNull();
  const parity = { chainId: 1n, address: '0x', nonce: 0n, r: 1n, s: 1n };
  const fees = { chainId: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, accessList: [] };
  const typed = { ...signed, ...fees, type: 4 };
  expect(encodeTransaction({ ...typed, authorizationList: [{ ...parity, yParity: 1n }] })).not.toBe(
    null,
  );
  expect(encodeTransaction({ ...typed, authorizationList: [parity] })).toBeNull();
});

test('the hash of Polygon’s state sync is that of its prefix, number and block', () => {
  const hash = `0x${'ab'.repeat(32)}`;
  const written = `${Buffer.from('matic-bor-receipt-').toString('hex')}0000000004c60280${'ab'.repeat(32)}`;
  expect(stateSyncHash({ number: 80_085_632, hash })).toBe(transactionHash(hex.decode(written)));
});
