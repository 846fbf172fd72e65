// Answers one question: how are bytes written in base58.
// Only the way out: reading is rarer and left to the library. A screen writes one for each address.

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BASE = 58;
const BYTE = 256;
/** Longer than anything that is an address, so that the work is bounded. */
const BYTES_MAX = 128;

/** Bytes in base58, a leading `1` for each leading zero byte (the Bitcoin alphabet). */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length > BYTES_MAX) throw new RangeError('base58: more bytes than an address has');
  const digits: number[] = [];
  let zeros = 0;
  for (const byte of bytes) {
    if (byte === 0 && digits.length === 0) zeros += 1;
    let carry = byte;
    for (let i = 0; i < digits.length; i++) {
      carry += Number(digits[i]) * BYTE;
      digits[i] = carry % BASE;
      carry = Math.floor(carry / BASE);
    }
    while (carry > 0) {
      digits.push(carry % BASE);
      carry = Math.floor(carry / BASE);
    }
  }
  let text = '1'.repeat(zeros);
  for (let i = digits.length - 1; i >= 0; i--) text += ALPHABET.charAt(Number(digits[i]));
  return text;
}
