// The keys of the vectors of docs/reference/vectors, by which everybody can sign.

import * as Ed25519 from 'ox/Ed25519';
import { hashBundle } from '../chain/call-hash.ts';

/** When the signal of the vectors was made, in Unix seconds. */
export const GENERATED = 1_780_000_000;
/** When the lost key of the set was lost. */
export const LOST_AT = GENERATED + 86_400;
const JSON_SPACES = 2;

export const unhex = (text: string) => Uint8Array.from(Buffer.from(text.slice('0x'.length), 'hex'));
export const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}` as const;
export const base64Of = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const base64UrlOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

/** A value as a file of the folder holds it. */
export function documentText(value: unknown): string {
  return `${JSON.stringify(value, null, JSON_SPACES)}\n`;
}

/** A key of the vectors, by the byte that its seed repeats. */
function keyOf(byte: number, compromised_since: number | null = null) {
  const seed = new Uint8Array(32).fill(byte);
  const publicKey = Ed25519.getPublicKey({ privateKey: hexOf(seed), as: 'Bytes' });
  const jwk = {
    kty: 'OKP',
    crv: 'Ed25519',
    alg: 'Ed25519',
    use: 'sig',
    kid: base64UrlOf(unhex(hashBundle(publicKey))),
    x: base64UrlOf(publicKey),
    nbf: GENERATED - 86_400,
    exp: GENERATED + 7_776_000,
    compromised_since,
  };
  const sign = (bytes: Uint8Array) =>
    Ed25519.sign({ payload: bytes, privateKey: hexOf(seed), as: 'Bytes' });
  return { jwk, publicKey, sign };
}

/** A key that signs. */
export type VectorKey = ReturnType<typeof keyOf>;

/** The keys of the pinned set, one of which was lost, and the key of a stranger. */
export const CURRENT = keyOf(0x11);
export const LOST = keyOf(0x22, LOST_AT);
export const STRANGER = keyOf(0x33);

/** The key set that a verifier of the vectors pins. */
export const VECTOR_KEYS = documentText({ simulated: false, keys: [CURRENT.jwk, LOST.jwk] });
