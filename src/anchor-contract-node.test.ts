// Does the anchoring contract hash a call as the product does, take growing sizes from its owner
// only, and find exactly the leaves that its roots cover? On a real EVM.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { encodedCall } from './chain/abi.ts';
import { CALL_TYPE, hashCall, type SignalCall } from './chain/call-hash.ts';
import { hashLeaf, inclusionSubtrees, rootOfLeaves } from './chain/merkle-tree.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import { compileContracts } from './testing/contracts.ts';
import { trialsOf } from './testing/trials.ts';

const SOURCE = readFileSync(new URL('../solidity/ExhibitAnchor.sol', import.meta.url), 'utf8');
const CALLS = trialsOf('EXHIBIT_TEST_CALLS', 500, 5_000);
const AT_ONCE = 25;
const BASE_ID = 8453;
const HASH_CALL = `function hashCall((${CALL_TYPE.slice('Call('.length, -1)}) call) view`;

/** Texts of every length and form: none, 4,000 characters, emoji, both normal forms. */
const text = fc.oneof(
  fc.constantFrom('', 'é', 'e\u0301', '👩‍👩‍👧', 'x'.repeat(4_000), '\u202e\u0000"\\'),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);
const hex = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes): `0x${string}` => {
    return `0x${Buffer.from(bytes).toString('hex')}`;
  });
const call: fc.Arbitrary<SignalCall> = fc.record({
  version: text,
  chain: text,
  target: text,
  verdict: text,
  confidence_millionths: fc.oneof(fc.constantFrom(0, 1_000_000), fc.nat(1_000_000)),
  reasoning: text,
  evidence_used: fc.oneof(
    fc.array(text, { maxLength: 4 }),
    fc.constant(Array.from({ length: 500 }, (_, n) => `source.key_${n}`)),
  ),
  evidence_hash: hex(32),
  prompt_version: text,
  model: text,
  run_id: text,
  generated_at_unix: fc.maxSafeNat(),
});

const absent = anvilPath() === null;
const title = absent ? 'a real EVM (skipped: anvil is not installed)' : 'a real EVM';

describe.skipIf(absent)(title, { timeout: 240_000 + CALLS * 100 }, () => {
  let anvil: Anvil;
  let code: string;

  beforeAll(async () => {
    anvil = await startAnvil(BASE_ID);
    code = (await compileContracts(SOURCE))('ExhibitAnchor').code;
  }, 120_000);
  afterAll(async () => await anvil.stop());

  const deploy = async (): Promise<string> => {
    const [from = ''] = anvil.accounts;
    const [hash] = await anvil.mine({ from, data: code });
    return await anvil.created(hash);
  };
  const ask = async (to: string, data: string, from = anvil.accounts[0]) =>
    z.string().parse(await anvil.ask('eth_call', { from, to, data }, 'latest'));

  test(`hashes ${CALLS} random calls as the product does`, async () => {
    const to = await deploy();
    const calls = fc.sample(call, { numRuns: CALLS, seed: 20261125 });
    let [agreed, next] = [0, 0];
    const worker = async () => {
      for (let one = calls[next++]; one !== undefined; one = calls[next++]) {
        const given = { ...one, generated_at_unix: BigInt(one.generated_at_unix) };
        const told = await ask(to, encodedCall(HASH_CALL, [given]));
        expect(told, JSON.stringify(one)).toBe(hashCall(one));
        agreed += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(agreed).toBe(CALLS);
  });

  test('takes the roots of growing sizes from its owner, and no other', async () => {
    const to = await deploy();
    const [owner = '', stranger = ''] = anvil.accounts;
    const anchored = (size: bigint, root = `0x${'11'.repeat(32)}`) =>
      encodedCall('function anchor(bytes32 root, uint64 size)', [root, size]);
    const isTaken = async (from: string, data: string) => {
      const [tx] = await anvil.mine({ from, to, data });
      const receipt = await anvil.ask('eth_getTransactionReceipt', tx);
      return z.object({ status: z.string() }).parse(receipt).status === '0x1';
    };
    expect(await isTaken(stranger, anchored(1n))).toBe(false);
    expect(await isTaken(owner, anchored(0n))).toBe(false);
    expect(await isTaken(owner, anchored(3n, `0x${'00'.repeat(32)}`))).toBe(false);
    expect(await isTaken(owner, anchored(3n))).toBe(true);
    expect(await isTaken(owner, anchored(3n, `0x${'22'.repeat(32)}`))).toBe(false);
    expect(await isTaken(owner, anchored(2n))).toBe(false);
    expect(await isTaken(owner, anchored(4n))).toBe(true);
    const rootOf = 'function rootOf(uint64 size) view returns (bytes32)';
    expect(await ask(to, encodedCall(rootOf, [3n]))).toBe(`0x${'11'.repeat(32)}`);
    expect(await ask(to, encodedCall(rootOf, [2n]))).toBe(`0x${'00'.repeat(32)}`);
  });

  test('finds each leaf under the root that covers it, and nothing else', async () => {
    const to = await deploy();
    const [from = ''] = anvil.accounts;
    const hashes = Array.from({ length: 13 }, (_, n) => Buffer.alloc(32, n + 1));
    // A leaf is one byte of kind and the hash: 1 is a signal.
    const leaves = hashes.map((hash) => hashLeaf(Buffer.concat([Buffer.of(1), hash])));
    const isAnchored = async (hash: string, index: number, size: number, proof: string[]) => {
      const declared =
        'function isAnchored(bytes32 callHash, uint64 index, uint64 size, bytes32[] proof) view ' +
        'returns (bool)';
      const data = encodedCall(declared, [hash, BigInt(index), BigInt(size), proof]);
      return BigInt(await ask(to, data)) === 1n;
    };
    for (let size = 1; size <= leaves.length; size += 1) {
      const under = leaves.slice(0, size);
      const root = `0x${Buffer.from(rootOfLeaves(under)).toString('hex')}`;
      const data = encodedCall('function anchor(bytes32 root, uint64 size)', [root, BigInt(size)]);
      await anvil.mine({ from, to, data });
      for (const [index, hash] of hashes.slice(0, size).entries()) {
        const proof = inclusionSubtrees(index, size).map(({ begin, end }) => {
          return `0x${Buffer.from(rootOfLeaves(leaves.slice(begin, end))).toString('hex')}`;
        });
        const named = `0x${hash.toString('hex')}`;
        expect(await isAnchored(named, index, size, proof)).toBe(true);
        expect(await isAnchored(named, index, size + 100, proof)).toBe(false);
        expect(await isAnchored(named, size, size, proof)).toBe(false);
        if (index > 0) expect(await isAnchored(named, index - 1, size, proof)).toBe(false);
        expect(await isAnchored(`0x${'ff'.repeat(32)}`, index, size, proof)).toBe(false);
        expect(await isAnchored(named, index, size, [...proof, `0x${'00'.repeat(32)}`])).toBe(
          false,
        );
        if (proof.length > 0) {
          expect(await isAnchored(named, index, size, proof.slice(1))).toBe(false);
        }
      }
    }
  });
});
