// The tree is that of RFC 6962: its vectors hold, each wrong proof of the public suite is refused,
// and a proof between any two sizes holds for that leaf, those sizes and those roots alone.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SHARED_DATA } from '../testing/shared-data.ts';
import {
  completeSubtrees,
  consistencySubtrees,
  EMPTY_ROOT,
  hashLeaf,
  hashNode,
  inclusionSubtrees,
  isConsistent,
  isIncluded,
  joinHashes,
  rootOfLeaves,
  type Subtree,
} from './merkle-tree.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const utf8 = (text: string) => new TextEncoder().encode(text);
const sha = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();

test('leaves and nodes are hashed as RFC 6962 says', () => {
  expect(hex(EMPTY_ROOT)).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(hex(hashLeaf(utf8('')))).toBe(
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  );
  expect(hex(hashLeaf(utf8('L123456')))).toBe(
    '395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56',
  );
  const [left, right] = [utf8('N123'.padEnd(32, '\0')), utf8('N456'.padEnd(32, '\0'))];
  expect(hex(hashNode(left, right))).toBe(hex(sha(Uint8Array.of(1), left, right)));
});

/** The definition of the standard, word for word: the hash of a list of leaf hashes. */
function headOf(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return sha();
  const [first] = leaves;
  if (leaves.length === 1 && first !== undefined) return first;
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return sha(Uint8Array.of(1), headOf(leaves.slice(0, k)), headOf(leaves.slice(k)));
}

const SIZE_MAX = 700;
const LEAVES = Array.from({ length: SIZE_MAX }, (_, n) => hashLeaf(utf8(`leaf ${n}`)));
const HEADS = LEAVES.map((_, n) => headOf(LEAVES.slice(0, n)));

const headAt = (size: number) => HEADS[size] ?? headOf(LEAVES.slice(0, size));
const hashOf = ({ begin, end }: Subtree) =>
  joinHashes(
    completeSubtrees({ begin, end }).map((subtree) =>
      headOf(LEAVES.slice(subtree.begin, subtree.end)),
    ),
  );
const pair = fc
  .tuple(fc.integer({ min: 1, max: SIZE_MAX - 1 }), fc.integer({ min: 1, max: SIZE_MAX - 1 }))
  .map(([one, other]) => ({ low: Math.min(one, other), high: Math.max(one, other) }));

describe('between any two sizes', () => {
  test('the root is that of the definition', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: SIZE_MAX - 1 }), (size) => {
        expect(hex(rootOfLeaves(LEAVES.slice(0, size)))).toBe(hex(headAt(size)));
        expect(hex(hashOf({ begin: 0, end: size }))).toBe(hex(headAt(size)));
      }),
    );
  });

  test('a leaf is proved to be where it is, and nowhere else', () => {
    fc.assert(
      fc.property(pair, fc.nat(), ({ low, high }, noise) => {
        const index = low - 1;
        const proof = inclusionSubtrees(index, high).map(hashOf);
        const [leafHash, root] = [hashLeaf(utf8(`leaf ${index}`)), headAt(high)];
        const right = { index, size: high, leafHash, root, proof };
        expect(isIncluded(right)).toBe(true);
        const elsewhere = noise % high;
        expect(isIncluded({ ...right, index: elsewhere })).toBe(elsewhere === index);
        expect(isIncluded({ ...right, leafHash: hashLeaf(utf8('another')) })).toBe(false);
        expect(isIncluded({ ...right, root: headAt(high - 1) })).toBe(false);
        expect(isIncluded({ ...right, proof: [...proof, root] })).toBe(false);
        expect(isIncluded({ ...right, proof: proof.slice(1) })).toBe(proof.length === 0);
        for (const spoiled of oneBitOff(proof, noise)) {
          expect(isIncluded({ ...right, proof: spoiled })).toBe(false);
        }
      }),
    );
  });

  test('the older tree is proved to be the beginning of the newer one, and no other is', () => {
    fc.assert(
      fc.property(pair, fc.nat(), ({ low, high }, noise) => {
        const proof = consistencySubtrees(low, high).map(hashOf);
        const older = { size: low, root: headAt(low) };
        const newer = { size: high, root: headAt(high) };
        expect(isConsistent({ older, newer, proof })).toBe(true);
        const another = headOf([hashLeaf(utf8('another')), ...LEAVES.slice(1, low)]);
        expect(isConsistent({ older: { ...older, root: another }, newer, proof })).toBe(false);
        expect(isConsistent({ older, newer: { ...newer, root: another }, proof })).toBe(false);
        expect(isConsistent({ older, newer, proof: [...proof, newer.root] })).toBe(false);
        expect(isConsistent({ older, newer, proof: proof.slice(1) })).toBe(proof.length === 0);
        for (const spoiled of oneBitOff(proof, noise)) {
          expect(isConsistent({ older, newer, proof: spoiled })).toBe(false);
        }
      }),
    );
  });

  test('a size that cannot be is refused, and throws where a proof of it is asked for', () => {
    const hash = hashLeaf(utf8(''));
    for (const size of [-1, 0, 0.5, Number.NaN, 2 ** 53]) {
      expect(isIncluded({ index: 0, size, leafHash: hash, root: hash, proof: [] })).toBe(false);
      const end = { size, root: hash };
      expect(isConsistent({ older: end, newer: end, proof: [] })).toBe(false);
      expect(() => inclusionSubtrees(0, size)).toThrow(RangeError);
      expect(() => consistencySubtrees(size, size)).toThrow(RangeError);
    }
    expect(() => consistencySubtrees(2, 1)).toThrow(RangeError);
  });
});

/** The proof with one bit of one of its hashes turned; none where it has no hash. */
function oneBitOff(proof: readonly Uint8Array[], noise: number): Uint8Array[][] {
  if (proof.length === 0) return [];
  const [at, byte, bit] = [noise % proof.length, noise % 32, noise % 8];
  return [
    proof.map((hash, n) =>
      n === at ? hash.map((value, m) => (m === byte ? value ^ (1 << bit) : value)) : hash,
    ),
  ];
}

const SUITE = join(SHARED_DATA, 'vectors/rfc6962');
const CASES = 98;
const base64 = z.string().transform((text) => Uint8Array.from(Buffer.from(text, 'base64')));
const hashes = z.nullable(z.array(base64)).transform((proof) => (proof === null ? [] : proof));
const inclusionCase = z.object({
  case: z.string(),
  leafIdx: z.number(),
  treeSize: z.number(),
  root: base64,
  leafHash: base64,
  proof: hashes,
  wantErr: z.boolean(),
});
const consistencyCase = z.object({
  case: z.string(),
  size1: z.number(),
  size2: z.number(),
  root1: base64,
  root2: base64,
  proof: hashes,
  wantErr: z.boolean(),
});

function casesIn<S extends z.ZodType>(file: string, schema: S): z.output<S>[] {
  const lines = readFileSync(join(SUITE, file), 'utf8').trim().split('\n');
  return lines.map((line) => schema.parse(JSON.parse(line)));
}

describe.skipIf(!existsSync(SUITE))('the public Merkle suite (or skipped: no shared data)', () => {
  test('every inclusion case is decided as the suite decides it', () => {
    const all = casesIn('inclusion.jsonl', inclusionCase);
    expect(all).toHaveLength(CASES);
    const wrong = all.filter(
      ({ leafIdx: index, treeSize: size, leafHash, root, proof, wantErr }) => {
        return isIncluded({ index, size, leafHash, root, proof }) === wantErr;
      },
    );
    expect(wrong.map((one) => one.case)).toEqual([]);
  });

  test('every consistency case is decided as the suite decides it', () => {
    const all = casesIn('consistency.jsonl', consistencyCase);
    expect(all).toHaveLength(CASES);
    const wrong = all.filter(({ size1, size2, root1, root2, proof, wantErr }) => {
      const [older, newer] = [
        { size: size1, root: root1 },
        { size: size2, root: root2 },
      ];
      return isConsistent({ older, newer, proof }) === wantErr;
    });
    expect(wrong.map((one) => one.case)).toEqual([]);
  });
});
