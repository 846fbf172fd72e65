// Answers one question: how are bytes written in base58.
// Only the way out: reading is rarer and left to the library. A screen writes one for each address.

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BASE = 58;
/** Longer than anything that is an address, so that the work is bounded. */
const BYTES_MAX = 128;

// The number is held in 16-bit limbs and divided by five digits at once: every product stays below
// 2^53, and there are a tenth of the divisions that byte by byte and digit by digit would take.
const LIMB = 2 ** 16;
const DIGITS_AT_ONCE = 5;
const DIVISOR = BASE ** DIGITS_AT_ONCE;

/** Bytes in base58, a leading `1` for each leading zero byte (the Bitcoin alphabet). */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length > BYTES_MAX) throw new RangeError('base58: more bytes than an address has');
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  const limbs = limbsOf(bytes);
  let digits = '';
  for (let first = 0; first < limbs.length; ) {
    let rest = 0;
    for (let i = first; i < limbs.length; i++) {
      const value = rest * LIMB + Number(limbs[i]);
      const quotient = Math.floor(value / DIVISOR);
      limbs[i] = quotient;
      rest = value - quotient * DIVISOR;
    }
    while (first < limbs.length && limbs[first] === 0) first += 1;
    digits = fiveDigits(rest) + digits;
  }
  let padding = 0;
  while (digits.charCodeAt(padding) === CODE_OF_ZERO) padding += 1;
  return '1'.repeat(zeros) + digits.slice(padding);
}

const CODE_OF_ZERO = ALPHABET.charCodeAt(0);

/** The bytes as limbs of 16 bits, the highest first, without leading limbs of zero. */
function limbsOf(bytes: Uint8Array): Uint32Array {
  const limbs = new Uint32Array((bytes.length + 1) >> 1);
  let at = limbs.length - 1;
  for (let i = bytes.length - 1; i >= 0; i -= 2, at -= 1) {
    limbs[at] = Number(bytes[i]) + (i > 0 ? Number(bytes[i - 1]) << 8 : 0);
  }
  let first = 0;
  while (first < limbs.length && limbs[first] === 0) first += 1;
  return limbs.subarray(first);
}

function fiveDigits(value: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < DIGITS_AT_ONCE; i++) {
    text = ALPHABET.charAt(rest % BASE) + text;
    rest = Math.floor(rest / BASE);
  }
  return text;
}
