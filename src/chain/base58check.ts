// How is a payload that carries its own checksum read from base58, and written in it?
// The checksum is the first four bytes of a double SHA-256, as Bitcoin and its kin have it.

import { base58 } from '@scure/base';
import { encodeBase58 } from './base58.ts';
import { sha256 } from './digest.ts';

const CHECKSUM_BYTES = 4;

/** The bytes before a checksum that fits them, or null where it does not. */
export function checkedPayload(bytes: Uint8Array): Uint8Array | null {
  const end = bytes.length - CHECKSUM_BYTES;
  if (end <= 0) return null;
  const sum = sha256(sha256(bytes.subarray(0, end)));
  for (let i = 0; i < CHECKSUM_BYTES; i++) {
    if (sum[i] !== bytes[end + i]) return null;
  }
  return bytes.subarray(0, end);
}

/** The bytes of a text in base58 whose checksum fits; null where it does not. */
export function checkedBase58(text: string): Uint8Array | null {
  return checkedPayload(base58.decode(text));
}

/** A version and a body with their checksum behind them. */
export function withChecksum(version: readonly number[], body: Uint8Array): Uint8Array {
  const end = version.length + body.length;
  const whole = new Uint8Array(end + CHECKSUM_BYTES);
  whole.set(version);
  whole.set(body, version.length);
  whole.set(sha256(sha256(whole.subarray(0, end))).subarray(0, CHECKSUM_BYTES), end);
  return whole;
}

/** A version and a body in base58, with their checksum. */
export function encodeBase58check(version: readonly number[], body: Uint8Array): string {
  return encodeBase58(withChecksum(version, body));
}
