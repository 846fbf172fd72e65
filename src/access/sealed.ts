// Answers one question: how is a credential of others kept so that only this service reads it?
// AES-256-GCM under a key of the root secret, bound to what it belongs to: moved to another row, or
// changed in one bit, it does not open.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Sealed } from '../ports/chat/integrations.ts';
import type { Secrets } from './secret.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals a text for what it belongs to, under the secret in force. */
export function seal(text: string, belongsTo: string, [{ seals, fingerprint }]: Secrets): Sealed {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, seals, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(belongsTo));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return { bytes: Buffer.concat([nonce, body, cipher.getAuthTag()]), by: fingerprint };
}

/** What was sealed; `null`: no secret of now opens it, or it was changed. */
export function unseal({ bytes, by }: Sealed, belongsTo: string, secrets: Secrets): string | null {
  const secret = secrets.find(({ fingerprint }) => fingerprint === by);
  if (secret === undefined || bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
  const cipher = createDecipheriv(CIPHER, secret.seals, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(belongsTo));
  cipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([cipher.update(body), cipher.final()]).toString('utf8');
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return null;
  }
}
