// How is a key hash written as a Bitcoin Cash address? Encoding only: nothing here reads one.
// Specification: github.com/bitcoincashorg/bitcoincash.org spec/cashaddr.md.

/** The prefix of the main network; it is part of the checksum and may be left out in writing. */
export const CASHADDR_PREFIX = 'bitcoincash';

/** Version bytes of 20-byte hashes: of a public key and of a script. */
export const CASHADDR_VERSION = { p2pkh: 0, p2sh: 8 } as const;

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATORS = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];
const CHECKSUM_WORDS = 8;
const HASH_BYTES = 20;
const WORD_BITS = 5;

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

/**
 * The payload of a cash address of a 20-byte hash, without its prefix, as sanctions lists print
 * it. Throws a RangeError for a hash of another length.
 */
export function encodeCashaddr(version: number, hash: Uint8Array): string {
  if (hash.length !== HASH_BYTES) throw new RangeError('a cash address is made of 20 bytes');
  const prefixWords = Array.from(CASHADDR_PREFIX, (letter) => letter.charCodeAt(0) & 31);
  const words = wordsOf(Uint8Array.of(version, ...hash));
  const template = new Array<number>(CHECKSUM_WORDS).fill(0);
  const sum = polymod([...prefixWords, 0, ...words, ...template]);
  for (let i = CHECKSUM_WORDS - 1; i >= 0; i--) {
    words.push(Number((sum >> BigInt(WORD_BITS * i)) & 31n));
  }
  return words.map((word) => ALPHABET.charAt(word)).join('');
}
