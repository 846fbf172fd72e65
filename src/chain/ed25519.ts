// Checks signatures of Ed25519 by the letter of RFC 8032, and reads the base64 that they travel in.
// Nothing here is of Node.js: the client and the browser check by the same file.

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

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const PIECE = 8_192;

/** Bytes in base64 with padding. */
export function base64Text(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  }
  return btoa(text);
}

/** The bytes of base64 in its one form, with padding; `null` for any other text. */
export function parseBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return null;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return base64Text(bytes) === text ? bytes : null;
}

/** The bytes of base64url without padding, as keys have them; `null` for any other text. */
export function parseBase64Url(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return null;
  const padding = '='.repeat((4 - (text.length % 4)) % 4);
  return parseBase64(text.replaceAll('-', '+').replaceAll('_', '/') + padding);
}
