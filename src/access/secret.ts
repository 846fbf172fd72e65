// Answers one question: which secrets follow from the deployment's root secret.
// The root itself is hashed with nothing, stored nowhere and shown to nobody: its fingerprint is.

import { createHash, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { SecretHash } from '../ports/access/key-store.ts';

/** The secrets that follow from one root secret. */
type DerivedSecret = {
  /** The pepper under which keys and tokens are hashed. */
  readonly pepper: KeyObject;
  /** The key under which the tokens of forms are made. */
  readonly forms: KeyObject;
  /** The key under which links to sign in are signed. */
  readonly links: KeyObject;
  /** The key under which what chats are posted with is sealed. */
  readonly seals: KeyObject;
  /** Names the root without giving it away: 16 hexadecimal characters. */
  readonly fingerprint: string;
};

/** The secrets in force: the first makes new hashes, the others are still recognised. */
export type Secrets = readonly [DerivedSecret, ...DerivedSecret[]];

const DERIVED_BYTES = 32;
const FINGERPRINT_CHARS = 16;

/** Derives a secret of its own for one purpose, so that no two uses share one. */
export function deriveKey(root: string, purpose: string): KeyObject {
  const bytes = hkdfSync('sha256', root, 'exhibit', purpose, DERIVED_BYTES);
  return createSecretKey(Buffer.from(bytes));
}

/** The secrets of `EXHIBIT_SECRET`, and of `EXHIBIT_SECRET_PREVIOUS` during a rotation. */
export function deriveSecrets(root: string, previous: string | null): Secrets {
  const now = derive(root);
  return previous === null ? [now] : [now, derive(previous)];
}

function derive(root: string): DerivedSecret {
  const named = deriveKey(root, 'fingerprint').export();
  const fingerprint = createHash('sha256').update(named).digest('hex').slice(0, FINGERPRINT_CHARS);
  const forms = deriveKey(root, 'form tokens');
  const links = deriveKey(root, 'sign-in links');
  const seals = deriveKey(root, 'sealed credentials');
  return { pepper: deriveKey(root, 'key pepper'), forms, links, seals, fingerprint };
}

/** The hashes under which a key or token may be stored, under the secret in force first. */
export function hashesOf(text: string, secrets: Secrets): [SecretHash, ...SecretHash[]] {
  const [now, ...before] = secrets;
  return [hashUnder(text, now), ...before.map((secret) => hashUnder(text, secret))];
}

function hashUnder(text: string, secret: DerivedSecret): SecretHash {
  const hash = createHmac('sha256', secret.pepper).update(text).digest();
  return { hash, pepper: secret.fingerprint };
}
