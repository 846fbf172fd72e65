// Answers one question: is this text a key of this service, as it was made.
// A typo or a made-up key is refused by its checksum, before any look-up.
// sc_ or scp_, 43 base62 characters of 256 random bits, 6 of CRC-32 over all before them.

import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { UnixSeconds } from '../chain/time.ts';
import type { KeyHolder, KeyKind, NewKey } from '../ports/access/key-store.ts';
import { hashesOf, type Secrets } from './secret.ts';

/** A key lives so long, in seconds: 90 days. */
export const KEY_LIFETIME_S = 90 * 86_400;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
const RANDOM_CHARS = 43;
const CHECKSUM_CHARS = 6;
/** Characters shown of a key after its kind, to tell keys apart. */
const SHOWN_CHARS = 8;
const ID_BYTES = 12;
const SECRET_TEXT = /^(sct|scp|sc)_[0-9A-Za-z]{49}$/;

/** The kind that the first characters of a secret text name: `sct` is an intelligence token. */
type SecretKind = KeyKind | 'sct';

/** Makes a secret text of a kind: 256 random bits and their checksum. */
export function mintSecret(kind: SecretKind): string {
  const bits = BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`);
  const body = `${kind}_${base62(bits, RANDOM_CHARS)}`;
  return body + checksum(body);
}

/** The kind of a secret text whose checksum is right; `null` for any other text. */
export function parseSecret(text: string): SecretKind | null {
  const [, kind] = SECRET_TEXT.exec(text) ?? NO_MATCH;
  if (kind !== 'sc' && kind !== 'scp' && kind !== 'sct') return null;
  const body = text.slice(0, -CHECKSUM_CHARS);
  return checksum(body) === text.slice(-CHECKSUM_CHARS) ? kind : null;
}

const NO_MATCH: readonly undefined[] = [];

/** The kind of a key of the hosted API; `null` for any other text. */
export function parseKey(text: string): KeyKind | null {
  const kind = parseSecret(text);
  return kind === 'sct' ? null : kind;
}

/** The part of a secret text that may be shown. */
export function displayPrefix(text: string): string {
  return text.slice(0, text.indexOf('_') + 1 + SHOWN_CHARS);
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
