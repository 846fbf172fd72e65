// Secrets that follow from the deployment's root secret, and the keys, tokens and sealed
// credentials that are made with them. The root itself is stored nowhere and shown to nobody; its
// fingerprint is.

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { UnixSeconds } from '../chain/time.ts';
import { listOrNone } from '../evidence/measure.ts';
import { Unread } from '../evidence/reading.ts';
import {
  KEY_KINDS,
  type KeyHolder,
  type KeyKind,
  type NewKey,
  type NewToken,
  type SecretHash,
  type TokenStore,
  type TokenTier,
} from '../ports/access.ts';
import type { Sealed } from '../ports/integrations.ts';

type DerivedSecret = {
  /** The pepper under which keys and tokens are hashed. */
  readonly pepper: KeyObject;
  /** The key under which the tokens of forms are made. */
  readonly forms: KeyObject;
  /** The key under which links to sign in are signed. */
  readonly links: KeyObject;
  /** The key under which what chats are posted with is sealed. */
  readonly seals: KeyObject;
  /** The key under which the private parts of signing keys are sealed. */
  readonly signing: KeyObject;
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
  const signing = deriveKey(root, 'signing keys');
  return { pepper: deriveKey(root, 'key pepper'), forms, links, seals, signing, fingerprint };
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

// A typo or a made-up key is refused by its checksum, before any look-up. A key is sc_, sc_pub_ or
// scp_, 43 base62 characters of 256 random bits, and 6 of CRC-32 over all before them.

/** A key lives so long, in seconds: 90 days. */
export const KEY_LIFETIME_S = 90 * 86_400;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
const RANDOM_CHARS = 43;
const CHECKSUM_CHARS = 6;
/** Characters shown of a key after its kind, to tell keys apart. */
const SHOWN_CHARS = 8;
const ID_BYTES = 12;
const SECRET_TEXT = /^(sct|scp|sc_pub|sc)_[0-9A-Za-z]{49}$/;

/** The kind that the first characters of a secret text name: `sct` is an intelligence token. */
type SecretKind = KeyKind | 'sct';
const SECRET_KINDS: readonly SecretKind[] = [...KEY_KINDS, 'sct'];

/** Makes a secret text of a kind: 256 random bits and their checksum. */
export function mintSecret(kind: SecretKind): string {
  const bits = BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`);
  const body = `${kind}_${base62(bits, RANDOM_CHARS)}`;
  return body + checksum(body);
}

/** The kind of a secret text whose checksum is right; `null` for any other text. */
export function parseSecret(text: string): SecretKind | null {
  const [, kind] = listOrNone(SECRET_TEXT.exec(text));
  const known = SECRET_KINDS.find((one) => one === kind);
  if (known === undefined) return null;
  const body = text.slice(0, -CHECKSUM_CHARS);
  return checksum(body) === text.slice(-CHECKSUM_CHARS) ? known : null;
}

/** The kind of a key of the hosted API; `null` for any other text. */
export function parseKey(text: string): KeyKind | null {
  const kind = parseSecret(text);
  return kind === 'sct' ? null : kind;
}

/** The part of a secret text that may be shown. */
export function displayPrefix(text: string): string {
  return text.slice(0, text.lastIndexOf('_') + 1 + SHOWN_CHARS);
}

/** An identifier for a row: a word for what it is, and random characters. */
export function mintId(word: string): string {
  return `${word}_${randomBytes(ID_BYTES).toString('hex')}`;
}

/** A new key: its text, which is shown once, and what is stored of it. */
export function mintKey(
  holder: KeyHolder,
  secrets: Secrets,
  now: UnixSeconds,
): { readonly text: string; readonly stored: NewKey } {
  const text = mintSecret(holder.kind);
  const [secret] = hashesOf(text, secrets);
  const stored = {
    id: mintId('key'),
    holder,
    secret,
    prefix: displayPrefix(text),
    created_at: now,
    expires_at: now + KEY_LIFETIME_S,
  };
  return { text, stored };
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_CHARS);
}

function base62(value: bigint, chars: number): string {
  const base = BigInt(ALPHABET.length);
  let text = '';
  let rest = value;
  for (let i = 0; i < chars; i += 1) {
    text = ALPHABET.charAt(Number(rest % base)) + text;
    rest /= base;
  }
  return text;
}

// Credentials of others and our own signing keys are sealed with AES-256-GCM, each kind under a key
// of its own, bound to what they belong to: moved to another row, or changed in one bit, no sealed
// text opens.

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The kinds of sealed texts, by the key that seals them. */
type SealKind = 'seals' | 'signing';

/** Seals a text for what it belongs to, under the secret in force. */
export function seal(
  text: string,
  belongsTo: string,
  [secret]: Secrets,
  kind: SealKind = 'seals',
): Sealed {
  const { [kind]: key, fingerprint } = secret;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(belongsTo));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return { bytes: Buffer.concat([nonce, body, cipher.getAuthTag()]), by: fingerprint };
}

/** Decrypts a sealed text; `null` if no current secret opens it, or if it was changed. */
export function unseal(
  { bytes, by }: Sealed,
  belongsTo: string,
  secrets: Secrets,
  kind: SealKind = 'seals',
): string | null {
  const secret = secrets.find(({ fingerprint }) => fingerprint === by);
  if (secret === undefined || bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
  const cipher = createDecipheriv(CIPHER, secret[kind], nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(belongsTo));
  cipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([cipher.update(body), cipher.final()]).toString('utf8');
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return null;
  }
}

// Tokens come from the operator's setting or were minted here; both are compared as hashes. A
// hosted key opens nothing of the intelligence service, and a token nothing of the hosted one.

const TOKEN_CHARS_MAX = 200;
const BEARER = /^Bearer +([^ ]+) *$/i;

/** A new token: its text, which is shown once, and what is stored of it. */
export function mintToken(
  tier: TokenTier,
  secrets: Secrets,
  now: UnixSeconds,
): { readonly text: string; readonly stored: NewToken } {
  const text = mintSecret('sct');
  const [secret] = hashesOf(text, secrets);
  const stored = { id: mintId('tok'), tier, secret, prefix: displayPrefix(text), created_at: now };
  return { text, stored };
}

/** Where a token can stand. `queryToken` is `null` on routes that take it in headers only. */
type PresentedToken = {
  readonly authorization: string | undefined;
  readonly queryToken: string | null;
};

/**
 * The result of looking up a token. `unreachable`: the store did not answer, so the token may be
 * valid.
 */
type TokenOutcome =
  | { readonly outcome: 'opens'; readonly tier: TokenTier; readonly id: string }
  | { readonly outcome: 'missing' | 'unknown' | 'unreachable'; readonly reason: string };

/** Tells which token was sent, and what it opens. */
export type AuthenticateToken = (presented: PresentedToken) => Promise<TokenOutcome>;

/** Makes the authentication of the intelligence service. The header wins when both are present. */
export function tokenAuthentication(
  configured: readonly { readonly tier: TokenTier; readonly token: string }[],
  minted: Pick<TokenStore, 'find'>,
  secrets: Secrets,
): AuthenticateToken {
  const byHash = new Map<string, { tier: TokenTier; id: string }>();
  for (const [i, { tier, token }] of configured.entries()) {
    byHash.set(nameOf(hashesOf(token, secrets)[0].hash), { tier, id: `configured_${i + 1}` });
  }
  return async ({ authorization, queryToken }) => {
    if (authorization === undefined && (queryToken === null || queryToken === '')) {
      return { outcome: 'missing', reason: 'No token was sent.' };
    }
    const text = authorization === undefined ? queryToken : BEARER.exec(authorization)?.[1];
    if (text === null || text === undefined || text.length > TOKEN_CHARS_MAX) return UNKNOWN;
    const hashes = hashesOf(text, secrets);
    const known = byHash.get(nameOf(hashes[0].hash));
    if (known !== undefined) return { outcome: 'opens', ...known };
    const found = await minted.find(hashes);
    if (found instanceof Unread) {
      return { outcome: 'unreachable', reason: 'Tokens cannot be checked at the moment.' };
    }
    if (found.value === null || found.value.revoked_at !== null) return UNKNOWN;
    return { outcome: 'opens', tier: found.value.tier, id: found.value.id };
  };
}

const UNKNOWN = { outcome: 'unknown', reason: 'The token is not known here.' } as const;

function nameOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}

// Kind and hashes of a text that was seen before are kept under a digest that only this process can
// make; the text is not. Whether a key still opens anything is asked each time.

/** A well-formed key: its kind, and the hashes under which it may be stored. */
type Recognised = {
  readonly kind: KeyKind;
  readonly hashes: readonly [SecretHash, ...SecretHash[]];
};

/** Keys kept; past it the one that was seen first goes. */
const KEPT_MAX = 10_000;
const SALT_BYTES = 32;

const salt = randomBytes(SALT_BYTES).toString('base64');
const memories = new WeakMap<Secrets, Map<string, Recognised>>();

/** The key that a text is, under these secrets; `null` for a text that is no key of ours. */
export function recognise(text: string, secrets: Secrets): Recognised | null {
  const memory = memoryOf(secrets);
  const digest = hash('sha256', salt + text, 'base64');
  const known = memory.get(digest);
  if (known !== undefined) return known;
  const kind = parseKey(text);
  if (kind === null) return null;
  const recognised = { kind, hashes: hashesOf(text, secrets) };
  const [oldest] = memory.keys();
  if (memory.size >= KEPT_MAX && oldest !== undefined) memory.delete(oldest);
  memory.set(digest, recognised);
  return recognised;
}

function memoryOf(secrets: Secrets): Map<string, Recognised> {
  const held = memories.get(secrets);
  if (held !== undefined) return held;
  const memory = new Map<string, Recognised>();
  memories.set(secrets, memory);
  return memory;
}
