// Answers one question: did the payment platform send these bytes, to us and just now?
// The scheme is that of Standard Webhooks: an HMAC-SHA-256 over id, time and the bytes as sent.
// It looks at nothing inside the bytes.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { UnixSeconds } from '../chain/time.ts';
import { present } from '../evidence/measure.ts';

/** What a delivery says of itself in its headers. */
export type SignedHeaders = {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
};

/** A delivery that is the platform's, or why nobody can say so. */
export type Verified =
  | { readonly signed: true; readonly id: string }
  | { readonly signed: false; readonly error: string };

/** How far the time of a delivery may be from now, before or after: 5 minutes. */
export const TOLERANCE_S = 300;
/** A delivery carries one signature for each secret in force; more than this are not looked at. */
const SIGNATURES_MAX = 16;
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;
const ID = /^[\x21-\x7e]{1,256}$/;
const TIMESTAMP = /^[0-9]{1,12}$/;
const DECODED = 'whsec_';

const WRONG = {
  headers: 'The headers webhook-id, webhook-timestamp and webhook-signature are needed.',
  time: `The delivery is not of the last ${TOLERANCE_S / 60} minutes by our clock.`,
  signature: 'No signature of the delivery is one of the payment platform.',
} as const;

/**
 * The key of a secret as the platform shows it: what stands behind `whsec_` is base64 of the key;
 * of any other (`ws_…`) its own characters are the key.
 */
export function webhookKey(secret: string): Buffer {
  if (!secret.startsWith(DECODED)) return Buffer.from(secret, 'utf8');
  return Buffer.from(secret.slice(DECODED.length), 'base64');
}

/** Verifies a delivery under each secret that is in force. */
export function verifyDelivery(
  { id, timestamp, signature }: SignedHeaders,
  body: Uint8Array,
  keys: readonly Buffer[],
  now: UnixSeconds,
): Verified {
  if (id === undefined || timestamp === undefined || signature === undefined) {
    return { signed: false, error: WRONG.headers };
  }
  if (!ID.test(id) || !TIMESTAMP.test(timestamp)) return { signed: false, error: WRONG.headers };
  if (!(Math.abs(now - Number(timestamp)) <= TOLERANCE_S)) {
    return { signed: false, error: WRONG.time };
  }
  const sent = signature.split(' ', SIGNATURES_MAX).flatMap(signatureIn);
  // Each is compared with each, whatever the others came to.
  const matches = keys.flatMap((key) => {
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    return sent.map((one) => timingSafeEqual(one, expected));
  });
  if (!matches.includes(true)) return { signed: false, error: WRONG.signature };
  return { signed: true, id };
}

/** The bytes of a signature `v1,<base64>`; none of one in another scheme, or cut short. */
function signatureIn(text: string): Buffer[] {
  const base64 = SIGNATURE.exec(text)?.[1];
  const bytes = base64 === undefined ? null : Buffer.from(base64, 'base64');
  return present([bytes?.toString('base64') === base64 ? bytes : null]);
}
