// Computes the root of the trie of a block's receipts or transactions, and the bloom over logs
// (yellow paper, sections 4.3.1 and 4.3.2 and appendices B and D). No library that is kept well
// does the trie without a database.

import { hex } from '@scure/base';
import { concatBytes } from './bytes.ts';
import { keccak256 } from './digest.ts';

/** A log, as far as a receipt commits to it. All text is `0x` and hex. */
export type CommittedLog = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
};

/** A receipt, as far as its block's header commits to it. */
export type CommittedReceipt = {
  /** The kind of its transaction (EIP-2718), 0 for those before there were kinds. */
  readonly type: number | null;
  /** 1 or 0; before Byzantium the state's root after the transaction. */
  readonly outcome: number | string;
  readonly cumulativeGasUsed: bigint;
  readonly logs: readonly CommittedLog[];
  /** Additional fields of an OP stack receipt, for deposits since Canyon: nonce and version. */
  readonly more: readonly bigint[];
};

const BLOOM_BYTES = 256;
/** Bits of a bloom are counted from its end, by 11 bits of a hash, three times. */
const BLOOM_BITS_MASK = 0x7ff;
const BLOOM_PAIRS = [0, 2, 4] as const;

/** The bloom over the logs: `0x` and 512 hex characters in lower case. */
export function logsBloom(logs: readonly CommittedLog[]): string {
  return text(bloomOf(logs));
}

/** The root of the trie of a block's receipts, in the order of their transactions. */
export function receiptsRoot(receipts: readonly CommittedReceipt[]): string {
  return trieRoot(receipts.map(encodeReceipt));
}

/** The root of the trie of values under their numbers, as headers commit to lists. */
export function trieRoot(values: readonly Uint8Array[]): string {
  const entries = values.map(
    (value, i): Entry => ({
      key: [...rlp(i)].flatMap((byte) => [byte >> 4, byte % NIBBLES]),
      value,
    }),
  );
  return text(keccak256(entries.length === 0 ? rlp('0x') : node(entries, 0)));
}

function bloomOf(logs: readonly CommittedLog[]): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES);
  for (const { address, topics } of logs) {
    for (const word of [address, ...topics]) {
      const hash = keccak256(bytes(word));
      for (const at of BLOOM_PAIRS) {
        const bit = ((Number(hash[at]) << 8) | Number(hash[at + 1])) & BLOOM_BITS_MASK;
        const index = BLOOM_BYTES - 1 - (bit >> 3);
        bloom[index] = Number(bloom[index]) | (1 << (bit & 7));
      }
    }
  }
  return bloom;
}

function encodeReceipt(receipt: CommittedReceipt): Uint8Array {
  const { type, outcome, cumulativeGasUsed, logs, more } = receipt;
  const fields = logs.map(({ address, topics, data }) => [address, topics, data]);
  const body = rlp([outcome, cumulativeGasUsed, text(bloomOf(logs)), fields, ...more]);
  return type === null || type === 0 ? body : concatBytes([Uint8Array.of(type), body]);
}

type Entry = { readonly key: readonly number[]; readonly value: Uint8Array };
const NIBBLES = 16;
/** A node shorter than its hash stands in its parent as it is. */
const HASH_BYTES = 32;
const LEAF = 2;

/** The encoding of a node of the trie over at least one entry, whose keys are one up to `depth`. */
function node(entries: readonly Entry[], depth: number): Uint8Array {
  const [first] = entries;
  if (first === undefined) throw new RangeError('a node of no entries');
  const { key, value } = first;
  if (entries.length === 1) return list([string(path(key.slice(depth), LEAF)), string(value)]);
  let shared = depth;
  while (entries.every((one) => one.key[shared] === key[shared])) shared += 1;
  if (shared > depth) {
    return list([string(path(key.slice(depth, shared), 0)), child(node(entries, shared))]);
  }
  const branches = Array.from({ length: NIBBLES }, (_, nibble) => {
    const own = entries.filter((one) => one.key[depth] === nibble);
    return own.length === 0 ? rlp('0x') : child(node(own, depth + 1));
  });
  // No key begins another one: keys are RLP, which says its own length.
  return list([...branches, rlp('0x')]);
}

function child(encoding: Uint8Array): Uint8Array {
  return encoding.length < HASH_BYTES ? encoding : string(keccak256(encoding));
}

/** Nibbles as bytes, with a flag for a leaf and one for an odd number of them. */
function path(key: readonly number[], flag: number): Uint8Array {
  const odd = key.length % 2;
  const whole = odd === 1 ? [flag + 1, ...key] : [flag, 0, ...key];
  return Uint8Array.from({ length: whole.length / 2 }, (_, i) => {
    return Number(whole[2 * i]) * NIBBLES + Number(whole[2 * i + 1]);
  });
}

/**
 * Values that RLP encodes: `0x` and hex, whole numbers without leading zeros, and lists of them.
 */
export type Rlp = string | number | bigint | readonly Rlp[];

const SHORT_MAX = 55;
const SINGLE_MAX = 0x7f;
const STRING_PREFIX = 0x80;
const LIST_PREFIX = 0xc0;

/** The encoding of a value. */
export function rlp(value: Rlp): Uint8Array {
  if (typeof value === 'string') return string(bytes(value));
  if (typeof value === 'object') return list(value.map(rlp));
  return string(numberBytes(value));
}

function string(value: Uint8Array): Uint8Array {
  if (value.length === 1 && Number(value[0]) <= SINGLE_MAX) return value;
  return concatBytes([header(value.length, STRING_PREFIX), value]);
}

function list(items: readonly Uint8Array[]): Uint8Array {
  const body = concatBytes(items);
  return concatBytes([header(body.length, LIST_PREFIX), body]);
}

function header(length: number, prefix: number): Uint8Array {
  if (length <= SHORT_MAX) return Uint8Array.of(prefix + length);
  const size = numberBytes(length);
  return Uint8Array.of(prefix + SHORT_MAX + size.length, ...size);
}

function numberBytes(value: number | bigint): Uint8Array {
  if (BigInt(value) === 0n) return new Uint8Array();
  const digits = value.toString(16);
  return hex.decode(digits.length % 2 === 0 ? digits : `0${digits}`);
}

function bytes(value: string): Uint8Array {
  return hex.decode(value.slice('0x'.length));
}

function text(value: Uint8Array): string {
  return `0x${hex.encode(value)}`;
}
