// A hit and a miss are kept for two seconds, so that a revocation elsewhere works within five.
// It refuses to answer from memory past five seconds, also while the store is silent.

import { z } from 'zod';
import { type Reading, Unread } from '../../../evidence/reading.ts';
import type { Soon } from '../../../evidence/waiting.ts';
import type { SecretHash } from '../../../ports/access.ts';
import { batchQueue, type ControlReadings, type Database } from './database.ts';

/** How long an answer serves without a question to the store. */
export const FRESH_MS = 2_000;
/** How long it serves while the store is silent. */
export const STALE_MAX_MS = 5_000;
/** Answers kept; the oldest goes first. */
const KEPT_MAX = 20_000;

type SecretHashes = readonly [SecretHash, ...SecretHash[]];
type Kept<T, P extends string> = { readonly reading: Reading<T, P>; readonly askedMs: number };

/** A look-up with a memory, and how to empty it after a change made here. */
type RememberedLookUps<T, P extends string> = {
  readonly find: (secrets: SecretHashes) => Soon<Reading<T, P>>;
  readonly forget: () => void;
};

/**
 * Gives a look-up a memory. An answer's age counts from when the question was asked; one that comes
 * too old is `late`. `monotonicMs` is a clock that is never set back, as `performance.now`.
 */
export function rememberLookUps<T, P extends string>(
  find: (secrets: SecretHashes) => Promise<Reading<T, P>>,
  late: Unread<P>,
  monotonicMs: () => number,
): RememberedLookUps<T, P> {
  let kept = new Map<string, Kept<T, P>>();
  let asking = new Map<string, Promise<Reading<T, P>>>();

  async function ask(name: string, secrets: SecretHashes): Promise<Reading<T, P>> {
    const memory = kept;
    const askedMs = monotonicMs();
    const reading = await find(secrets);
    if (reading instanceof Unread) {
      const last = memory.get(name);
      const usable = last !== undefined && monotonicMs() - last.askedMs < STALE_MAX_MS;
      return usable ? last.reading : reading;
    }
    if (monotonicMs() - askedMs >= STALE_MAX_MS) return late;
    // Into the memory of the question's own time: after a `forget` nobody reads that one.
    memory.delete(name);
    memory.set(name, { reading, askedMs });
    const [oldest] = memory.keys();
    if (memory.size > KEPT_MAX && oldest !== undefined) memory.delete(oldest);
    return reading;
  }

  return {
    find: (secrets) => {
      const name = nameOf(secrets);
      const last = kept.get(name);
      if (last !== undefined && monotonicMs() - last.askedMs < FRESH_MS) return last.reading;
      const underWay = asking.get(name);
      if (underWay !== undefined) return underWay;
      const questions = asking;
      const mine = ask(name, secrets).finally(() => questions.delete(name));
      questions.set(name, mine);
      return mine;
    },
    forget: () => {
      kept = new Map();
      asking = new Map();
    },
  };
}

// A caller that is seen again sends the very hashes that it sent before.
const names = new WeakMap<SecretHashes, string>();

function nameOf(secrets: SecretHashes): string {
  const known = names.get(secrets);
  if (known !== undefined) return known;
  const name = secrets.map(({ hash }) => Buffer.from(hash).toString('latin1')).join();
  names.set(secrets, name);
  return name;
}

// Look-ups that wait together share one statement, and are remembered for a moment.

const LOOK_UPS = { batchMax: 500, waitingMax: 10_000 };

type SecretLookUps<T, P extends string> = RememberedLookUps<T | null, P> & {
  /** Makes a change; whatever came of it, what is remembered is forgotten. */
  readonly changed: <R>(change: () => Promise<R>) => Promise<Reading<R, P>>;
};

/**
 * Finds the first of a caller’s hashes that is stored. `sql` selects rows of the schema `row`, with
 * `hash` in hex, under the hashes in $1.
 */
export function secretLookUps<Row extends { readonly hash: string }, T, P extends string>(
  database: Database,
  readings: ControlReadings<P>,
  sql: string,
  row: z.ZodType<Row>,
  shown: (row: Row) => T,
): SecretLookUps<T, P> {
  const table = z.array(row);
  const findBatched = batchQueue<readonly SecretHash[], T | null>(async (wanted) => {
    const hashes = wanted.flat().map(({ hash }) => hash);
    const rows = table.parse(await database.query(sql, [hashes]));
    const byHash = new Map(rows.map((row) => [row.hash, row]));
    return wanted.map((secrets) => {
      for (const { hash } of secrets) {
        const row = byHash.get(Buffer.from(hash).toString('hex'));
        if (row !== undefined) return shown(row);
      }
      return null;
    });
  }, LOOK_UPS);
  const { find, forget } = rememberLookUps<T | null, P>(
    (secrets) => readings.ask(() => findBatched(secrets)),
    readings.silent('it answered too late'),
    () => performance.now(),
  );
  return {
    find,
    forget,
    changed: async (change) => {
      const reading = await readings.ask(change);
      forget();
      return reading;
    },
  };
}
