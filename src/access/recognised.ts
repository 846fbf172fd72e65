// Answers one question: which credential is this text, where it was seen here before.
// Its kind and its hashes are kept under a digest that only this process can make; the text is
// not. It says nothing of whether a key still opens anything: that is asked each time.

import { hash, randomBytes } from 'node:crypto';
import type { KeyKind, SecretHash } from '../ports/access/key-store.ts';
import { parseKey } from './key.ts';
import { hashesOf, type Secrets } from './secret.ts';

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
