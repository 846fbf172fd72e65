// Checks signatures of Ed25519 by the letter of RFC 8032. Nothing here is of Node.js: the client
// and the browser check by the same file.

import { noble } from 'ox/Ed25519';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** Whether a signature of bytes is that of a public key. Of any other length none is. */
export function verifyEd25519(
  signature: Uint8Array,
  bytes: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  if (signature.length !== SIGNATURE_BYTES || publicKey.length !== KEY_BYTES) return false;
  try {
    // Under ZIP 215 some forged encodings pass that other implementations refuse.
    return noble.verify(signature, bytes, publicKey, { zip215: false });
  } catch (fault) {
    // The library throws at bytes that are no point of the curve.
    if (fault instanceof Error) return false;
    throw fault;
  }
}
