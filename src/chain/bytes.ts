// Joins bytes, and writes and reads the base64 that they travel in. It has one form: two readers of
// one text must not read two things. Nothing here is of Node.js: client and browser read by it too.

/** The parts one after another. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
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
