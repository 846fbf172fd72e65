// Answers one question: whose is this secret, by a table that keeps only hashes.
// Look-ups that wait together share one statement, and are remembered for a moment.

import type { Reading } from '../../../evidence/reading.ts';
import type { Soon } from '../../../evidence/waiting.ts';
import type { SecretHash } from '../../../ports/access/key-store.ts';
import { batchQueue } from './batch-queue.ts';
import type { ControlReadings } from './control-readings.ts';
import type { Database } from './database.ts';
import { rememberLookUps } from './look-up-cache.ts';

const LOOK_UPS = { batchMax: 500, waitingMax: 10_000 };

type SecretLookUps<T, P extends string> = {
  readonly find: (secrets: readonly [SecretHash, ...SecretHash[]]) => Soon<Reading<T | null, P>>;
  readonly forget: () => void;
  /** Makes a change; whatever came of it, what is remembered is forgotten. */
  readonly changed: <R>(change: () => Promise<R>) => Promise<Reading<R, P>>;
};

/**
 * Finds the first of a caller’s hashes that is stored. `sql` selects rows, with `hash` in hex,
 * under the hashes in $1.
 */
export function secretLookUps<Row extends { readonly hash: string }, T, P extends string>(
  database: Database,
  readings: ControlReadings<P>,
  sql: string,
  shown: (row: Row) => T,
): SecretLookUps<T, P> {
  const findBatched = batchQueue<readonly SecretHash[], T | null>(async (wanted) => {
    const rows = await database.query<Row>(sql, [wanted.flat().map(({ hash }) => hash)]);
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
