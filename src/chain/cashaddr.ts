// How is a hash written as a Bitcoin Cash address, and which hash does such an address name?
// Specification: github.com/bitcoincashorg/bitcoincash.org spec/cashaddr.md; the versions that take
// tokens: CHIP-2022-02-CashTokens.

/** The prefix of the main network; it is part of the checksum and may be left out in writing. */
export const CASHADDR_PREFIX = 'bitcoincash';

/** Version bytes of 20-byte hashes: of a public key and of a script. */
export const CASHADDR_VERSION = { p2pkh: 0, p2sh: 8 } as const;

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATORS = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];
const CHECKSUM_WORDS = 8;
const HASH_BYTES = 20;
const WORD_BITS = 5;
const PREFIX_WORDS = Array.from(CASHADDR_PREFIX, (letter) => letter.charCodeAt(0) & 31);

/** The 40-bit checksum over five-bit words, as the specification's PolyMod. */
function polymod(words: readonly number[]): bigint {
  let c = 1n;
  for (const word of words) {
    const top = Number(c >> 35n);
    c = ((c & 0x07ffffffffn) << 5n) ^ BigInt(word);
    GENERATORS.forEach((generator, bit) => {
      if ((top >> bit) & 1) c ^= generator;
    });
  }
  return c ^ 1n;
}

/** Bytes as five-bit words, the last one padded with zero bits. */
function wordsOf(bytes: Uint8Array): number[] {
  const words: number[] = [];
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= WORD_BITS; ) {
      bits -= WORD_BITS;
      words.push((held >> bits) & 31);
    }
  }
  if (bits > 0) words.push((held << (WORD_BITS - bits)) & 31);
  return words;
}

/** Five-bit words as bytes, or null where what is left over is no padding. */
function bytesOf(words: readonly number[]): Uint8Array | null {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const word of words) {
    held = ((held << WORD_BITS) | word) & 0xfff;
    bits += WORD_BITS;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  const rest = held & ((1 << bits) - 1);
  return bits < WORD_BITS && rest === 0 ? Uint8Array.from(bytes) : null;
}

/**
 * The payload of a cash address of a 20-byte hash, without its prefix, as sanctions lists print
 * it. Throws a RangeError for a hash of another length.
 */
export function encodeCashaddr(version: number, hash: Uint8Array): string {
  if (hash.length !== HASH_BYTES) throw new RangeError('a cash address is made of 20 bytes');
  const words = wordsOf(Uint8Array.of(version, ...hash));
  const template = new Array<number>(CHECKSUM_WORDS).fill(0);
  const sum = polymod([...PREFIX_WORDS, 0, ...words, ...template]);
  for (let i = CHECKSUM_WORDS - 1; i >= 0; i--) {
    words.push(Number((sum >> BigInt(WORD_BITS * i)) & 31n));
  }
  return words.map((word) => ALPHABET.charAt(word)).join('');
}

/** The version bits that say for which output a hash stands; the length bits are apart. */
const OUTPUT_BITS = 0x78;
const LENGTH_BITS = 0x07;
const OUTPUT_OF_BITS: ReadonlyMap<number, 'key_hash' | 'script_hash'> = new Map([
  [0 << 3, 'key_hash'],
  [1 << 3, 'script_hash'],
  // The same outputs, for wallets that take tokens.
  [2 << 3, 'key_hash'],
  [3 << 3, 'script_hash'],
]);
/** Bytes of the hash by the length bits, of the lengths that are in use. */
const HASH_BYTES_OF_BITS: ReadonlyMap<number, number> = new Map([
  [0, 20],
  [3, 32],
]);
// 20 bytes make 42 characters, 32 make 61.
const SPELLING = /^(?:bitcoincash:)?([02-9ac-hj-np-z]{42}|[02-9ac-hj-np-z]{61})$/;

/** A hash that a cash address names. */
export type CashHash = { readonly of: 'key_hash' | 'script_hash'; readonly hash: Uint8Array };

/**
 * The hash of a cash address with or without its prefix, in lower case or all in upper case, and
 * the address without its prefix in lower case. Null for any other text.
 */
export function parseCashaddr(text: string): { address: string; holder: CashHash } | null {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) return null;
  const address = SPELLING.exec(lower)?.[1];
  if (address === undefined) return null;
  const words = Array.from(address, (letter) => ALPHABET.indexOf(letter));
  if (polymod([...PREFIX_WORDS, 0, ...words]) !== 0n) return null;
  const bytes = bytesOf(words.slice(0, -CHECKSUM_WORDS));
  const version = bytes?.[0];
  if (bytes === null || version === undefined) return null;
  const of = OUTPUT_OF_BITS.get(version & OUTPUT_BITS);
  const hash = bytes.subarray(1);
  const fits = hash.length === HASH_BYTES_OF_BITS.get(version & LENGTH_BITS);
  // The highest bit is reserved: with it set no mask finds the version.
  if (of === undefined || version > (OUTPUT_BITS | LENGTH_BITS) || !fits) return null;
  return { address, holder: { of, hash } };
}
