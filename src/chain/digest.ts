// The hash functions are compiled once, when this file is first imported: the other spellings of an
// address take three hashes, and every screen asks for them.

import { createKeccak, createSHA256 } from 'hash-wasm';

const KECCAK_BITS = 256;
// Each is one machine with one state. Nothing here waits, so nobody meets it half used.
const keccak = await createKeccak(KECCAK_BITS);
const sha = await createSHA256();

/** Keccak-256 of bytes, or of a text in UTF-8: 32 bytes. Ethereum's function, not SHA3-256. */
export function keccak256(data: string | Uint8Array): Uint8Array {
  return keccak.init().update(data).digest('binary');
}

/** SHA-256 of bytes: 32 bytes (FIPS 180-4). */
export function sha256(bytes: Uint8Array): Uint8Array {
  return sha.init().update(bytes).digest('binary');
}
