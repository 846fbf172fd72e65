// The Merkle tree of RFC 6962 over SHA-256: a leaf is hashed behind 0x00 and a node behind 0x01, so
// that no node can be taken for a leaf. Proofs are checked by RFC 9162, section 2.1. Sizes are safe
// integers: the arithmetic divides, because bit operations of this language end at 32 bits.

import { hex } from '@scure/base';
import * as Hash from 'ox/Hash';

const LEAF_PREFIX = 0x00;
const NODE_PREFIX = 0x01;
/** Bytes of a hash. */
export const HASH_BYTES = 32;
/** Hashes of one proof at most: a tree of 2^63 leaves has no longer one. */
export const PROOF_MAX = 63;

/** The root of a tree without leaves: the hash of nothing. */
export const EMPTY_ROOT = sha(new Uint8Array());

function sha(bytes: Uint8Array): Uint8Array {
  return Hash.sha256(bytes, { as: 'Bytes' });
}

/** The hash of a leaf with this content. */
export function hashLeaf(content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + content.length);
  bytes[0] = LEAF_PREFIX;
  bytes.set(content, 1);
  return sha(bytes);
}

/** The content of a leaf of our log: one byte of kind and the 32 bytes of a hash (`0x…`). */
export function leafContent(kind: number, hash: string): Uint8Array {
  const bytes = new Uint8Array(1 + HASH_BYTES);
  bytes[0] = kind;
  bytes.set(hex.decode(hash.slice('0x'.length)), 1);
  return bytes;
}

/** The hash of a node over two others. */
export function hashNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + HASH_BYTES + HASH_BYTES);
  bytes[0] = NODE_PREFIX;
  bytes.set(left, 1);
  bytes.set(right, 1 + HASH_BYTES);
  return sha(bytes);
}

/** Whether two hashes are the same. */
export function isSameHash(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** A subtree over the leaves from `begin` up to, but without, `end`. */
export type Subtree = { readonly begin: number; readonly end: number };

/** The largest power of two that is smaller than `size`, which is 2 or more. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

function halvesOf({ begin, end }: Subtree): readonly [left: Subtree, right: Subtree] {
  const middle = begin + splitOf(end - begin);
  return [
    { begin, end: middle },
    { begin: middle, end },
  ];
}

/** The subtrees whose hashes prove that a leaf is in the tree, from its sibling up to the root. */
export function inclusionSubtrees(index: number, size: number): Subtree[] {
  if (!isIndex(index, size)) throw new RangeError(`leaf ${index} of ${size}`);
  const subtrees: Subtree[] = [];
  let inside: Subtree = { begin: 0, end: size };
  while (inside.end - inside.begin > 1) {
    const [left, right] = halvesOf(inside);
    const isLeft = index < left.end;
    subtrees.push(isLeft ? right : left);
    inside = isLeft ? left : right;
  }
  return subtrees.reverse();
}

/** The subtrees whose hashes prove that the tree of one size is the beginning of a larger one. */
export function consistencySubtrees(older: number, newer: number): Subtree[] {
  if (!isSize(older) || !isSize(newer) || older < 1 || older > newer) {
    throw new RangeError(`from ${older} to ${newer}`);
  }
  const subtrees: Subtree[] = [];
  let inside: Subtree = { begin: 0, end: newer };
  // As long as the walk keeps to the left, the older tree is the whole of its side.
  let isWhole = true;
  while (inside.end !== older) {
    const [left, right] = halvesOf(inside);
    if (older <= left.end) {
      subtrees.push(right);
      inside = left;
    } else {
      subtrees.push(left);
      inside = right;
      isWhole = false;
    }
  }
  if (!isWhole) subtrees.push(inside);
  return subtrees.reverse();
}

/**
 * The complete subtrees that a subtree is made of, from the left to the right: each holds a power
 * of two leaves and begins at a multiple of it, so that no leaf that comes later changes it.
 */
export function completeSubtrees({ begin, end }: Subtree): Subtree[] {
  const subtrees: Subtree[] = [];
  for (let at = begin; at < end; ) {
    let width = 1;
    while (at % (width * 2) === 0 && at + width * 2 <= end) width *= 2;
    subtrees.push({ begin: at, end: at + width });
    at += width;
  }
  return subtrees;
}

/** The hash of a subtree from the hashes of the complete subtrees that it is made of. */
export function joinHashes(hashes: readonly Uint8Array[]): Uint8Array {
  const last = hashes.at(-1);
  if (last === undefined) return EMPTY_ROOT;
  return hashes.slice(0, -1).reduceRight((right, left) => hashNode(left, right), last);
}

/** The hash of a tree from the hashes of all of its leaves. */
export function rootOfLeaves(leaves: readonly Uint8Array[]): Uint8Array {
  const hashOf = ({ begin, end }: Subtree): Uint8Array => {
    const [only] = leaves.slice(begin, begin + 1);
    if (end - begin === 1 && only !== undefined) return only;
    const [left, right] = halvesOf({ begin, end });
    return hashNode(hashOf(left), hashOf(right));
  };
  return leaves.length === 0 ? EMPTY_ROOT : hashOf({ begin: 0, end: leaves.length });
}

/** What an inclusion proof has to show. */
export type Inclusion = {
  readonly index: number;
  readonly size: number;
  readonly leafHash: Uint8Array;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
};

/** Whether a leaf stands at an index of the tree with this size and root. */
export function isIncluded({ index, size, leafHash, root, proof }: Inclusion): boolean {
  if (!isIndex(index, size) || !areHashes([leafHash, root, ...proof])) return false;
  let [at, last] = [index, size - 1];
  let hash = leafHash;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      hash = hashNode(sibling, hash);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      hash = hashNode(hash, sibling);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && isSameHash(hash, root);
}

/** What a consistency proof has to show. */
export type Consistency = {
  readonly older: { readonly size: number; readonly root: Uint8Array };
  readonly newer: { readonly size: number; readonly root: Uint8Array };
  readonly proof: readonly Uint8Array[];
};

/** Whether the older tree, of one leaf or more, is the beginning of the newer one. */
export function isConsistent({ older, newer, proof }: Consistency): boolean {
  if (!isSize(older.size) || !isSize(newer.size) || older.size < 1) return false;
  if (older.size === newer.size) return proof.length === 0 && isSameHash(older.root, newer.root);
  if (older.size > newer.size || !areHashes([older.root, newer.root, ...proof])) return false;
  // A complete older tree is a node of the newer one, and its root is not sent.
  const path = isPowerOfTwo(older.size) ? [older.root, ...proof] : proof;
  const [first, ...rest] = path;
  if (first === undefined || proof.length === 0) return false;
  let [at, last] = [older.size - 1, newer.size - 1];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  let [olderHash, newerHash] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      olderHash = hashNode(sibling, olderHash);
      newerHash = hashNode(sibling, newerHash);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      newerHash = hashNode(newerHash, sibling);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && isSameHash(olderHash, older.root) && isSameHash(newerHash, newer.root);
}

function half(n: number): number {
  return Math.floor(n / 2);
}

function isPowerOfTwo(n: number): boolean {
  let power = 1;
  while (power < n) power *= 2;
  return power === n;
}

function isSize(n: number): boolean {
  return Number.isSafeInteger(n) && n >= 0;
}

function isIndex(index: number, size: number): boolean {
  return isSize(index) && isSize(size) && index < size;
}

/** Whether all of these are hashes, and no more than the longest proof has beside its ends. */
function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.length <= PROOF_MAX + 2 && hashes.every((hash) => hash.length === HASH_BYTES);
}
