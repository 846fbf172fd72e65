// Which listed addresses may have dealt with an address? Sorted numbers in memory, 8 bytes for each
// pair: 40 bits of the counterparty, then the listed one's number. A miss is a proof, since all of
// an address's pairs lie under its own bits. Two addresses of the same bits are harmless: whoever
// meets the ring is settled by a read of the transfers between the two, which then are none.

import { addressHex } from '../transfers/bytes.ts';

/** Bytes of a counterparty that its fingerprint holds: its last ones. */
export const FINGERPRINT_BYTES = 5;
/** So many listed addresses can be numbered: 13 bits, which with the 40 are an exact number. */
export const LISTED_MAX = 8_192;

const HEX_DIGITS = 2 * FINGERPRINT_BYTES;
const BUCKETS = 1_024;
const BUCKET_SPAN = (2 ** (8 * FINGERPRINT_BYTES) * LISTED_MAX) / BUCKETS;
const NUMBER_BYTES = 8;
/** Buckets that are put in order before others have their turn. */
const BUCKETS_AT_ONCE = 32;

/** The fingerprint of an address. */
export function fingerprintOf(address: string): number {
  return Number.parseInt(addressHex(address).slice(-HEX_DIGITS), 16);
}

/** The pairs of a listed address with fingerprints that stand one behind another in hexadecimal. */
export function pairsIn(fingerprintsHex: string, listedNumber: number): number[] {
  const bytes = Buffer.from(fingerprintsHex, 'hex');
  const pairs: number[] = [];
  for (let at = 0; at < bytes.length; at += FINGERPRINT_BYTES) {
    pairs.push(bytes.readUIntBE(at, FINGERPRINT_BYTES) * LISTED_MAX + listedNumber);
  }
  return pairs;
}

/** Pairs of one chain, each once. */
export type Fingerprints = ReturnType<typeof fingerprints>;

/** An empty set of pairs. `rest` lets others have their turn. */
export function fingerprints(rest: () => Promise<void>) {
  const buckets: Float64Array[] = Array.from({ length: BUCKETS }, () => NO_PAIRS);
  let size = 0;

  const bucketOf = (pair: number): Float64Array => buckets[bucketAt(pair)] as Float64Array;

  return {
    /** How many pairs it holds, and the bytes of memory that they take. */
    size: () => size,
    bytes: () => size * NUMBER_BYTES,
    add: async (pairs: readonly number[]): Promise<void> => {
      const fresh = new Map<number, number[]>();
      for (const pair of pairs) {
        const at = bucketAt(pair);
        const known = fresh.get(at);
        if (known === undefined) fresh.set(at, [pair]);
        else known.push(pair);
      }
      let done = 0;
      for (const [at, more] of fresh) {
        const before = buckets[at] as Float64Array;
        const after = joined(before, more);
        buckets[at] = after;
        size += after.length - before.length;
        done += 1;
        if (done % BUCKETS_AT_ONCE === 0) await rest();
      }
    },
    /** The numbers of the listed addresses that are filed under a fingerprint. */
    under: (fingerprint: number): readonly number[] => {
      const from = fingerprint * LISTED_MAX;
      const bucket = bucketOf(from);
      const found: number[] = [];
      for (let i = firstFrom(bucket, from); i < bucket.length; i += 1) {
        const listed = Number(bucket[i]) - from;
        if (listed >= LISTED_MAX) break;
        found.push(listed);
      }
      return found;
    },
  };
}

const NO_PAIRS = new Float64Array();

function bucketAt(pair: number): number {
  return Math.floor(pair / BUCKET_SPAN);
}

function joined(before: Float64Array, more: readonly number[]): Float64Array {
  const all = new Float64Array(before.length + more.length);
  all.set(before);
  all.set(more, before.length);
  all.sort();
  let end = 0;
  for (const pair of all) {
    if (end > 0 && all[end - 1] === pair) continue;
    all[end] = pair;
    end += 1;
  }
  return all.slice(0, end);
}

/** The first place of a sorted array whose number is not under another. */
function firstFrom(sorted: Float64Array, least: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Number(sorted[middle]) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
