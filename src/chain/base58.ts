// Answers one question: how are bytes written in base58, and which bytes are written so?
// A screen writes one for each address; reading is rarer and left to the library.

import { base58 } from '@scure/base';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const ZERO = ALPHABET.charAt(0);
const BASE = 58;
/** Longer than anything that is an address, so that the work is bounded. */
const BYTES_MAX = 128;

// The number is held in limbs of three bytes and divided by four digits at once, which are written
// as two pairs: every product stays below 2^53, and there are a twelfth of the divisions that byte
// by byte and digit by digit would take. Nothing here waits, so one set of limbs serves all.
const LIMB_BYTES = 3;
const LIMB = 2 ** 24;
const PAIR = BASE ** 2;
const DIVISOR = PAIR ** 2;
const PAIRS = Array.from(ALPHABET).flatMap((high) => Array.from(ALPHABET, (low) => high + low));
const limbs = new Float64Array(Math.ceil(BYTES_MAX / LIMB_BYTES));

/** Bytes in base58, a leading `1` for each leading zero byte (the Bitcoin alphabet). */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length > BYTES_MAX) throw new RangeError('base58: more bytes than an address has');
  const count = fillLimbs(bytes);
  let digits = '';
  for (let first = leadingZeros(limbs, 0, count); first < count; ) {
    let rest = 0;
    for (let i = first; i < count; i++) {
      const value = rest * LIMB + Number(limbs[i]);
      const quotient = Math.floor(value / DIVISOR);
      limbs[i] = quotient;
      rest = value - quotient * DIVISOR;
    }
    first = leadingZeros(limbs, first, count);
    const high = Math.floor(rest / PAIR);
    digits = `${PAIRS[high]}${PAIRS[rest - high * PAIR]}${digits}`;
  }
  let padding = 0;
  while (digits.charAt(padding) === ZERO) padding += 1;
  return ZERO.repeat(leadingZeros(bytes, 0, bytes.length)) + digits.slice(padding);
}

const DIGITS_ONLY = /^[1-9A-HJ-NP-Za-km-z]*$/;

/** The bytes that a text of base58 digits writes; `null` for any other text. */
export function decodeBase58(text: string): Uint8Array | null {
  return DIGITS_ONLY.test(text) ? base58.decode(text) : null;
}

/** Fills the limbs with a number, its highest limb first, and tells how many it takes. */
function fillLimbs(bytes: Uint8Array): number {
  const count = Math.ceil(bytes.length / LIMB_BYTES);
  let from = bytes.length - count * LIMB_BYTES;
  for (let limb = 0; limb < count; limb++) {
    let value = 0;
    for (const end = from + LIMB_BYTES; from < end; from++) {
      value = value * 256 + (from < 0 ? 0 : Number(bytes[from]));
    }
    limbs[limb] = value;
  }
  return count;
}

/** Where the first that is not zero stands, or the end. */
function leadingZeros(values: Uint8Array | Float64Array, from: number, end: number): number {
  let at = from;
  while (at < end && values[at] === 0) at += 1;
  return at;
}
