// Answers one question: which one row does an id or a display prefix name, and is it revoked now.
// It refuses a prefix that several rows share: none of them is revoked.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Revoked } from '../../ports/access/key-store.ts';
import { type Database, onlyRow, type Session } from './engine/database.ts';

/** What to revoke, in a table with `id`, `prefix` and `revoked_at` under the alias `k`. */
type Revocation<Row, Shown> = {
  readonly table: 'api_keys k' | 'intelligence_tokens k';
  readonly columns: string;
  readonly idOrPrefix: string;
  readonly at: UnixSeconds;
  /** Only among these rows, where it is not `null`. */
  readonly only: { readonly column: string; readonly value: string } | null;
  readonly shown: (row: Row) => Shown;
  /** Told inside the transaction of what was revoked now, and not before. */
  readonly noted?: (session: Session, revoked: Shown) => Promise<void>;
};

/** Revokes one row. One that was revoked before keeps its first time. */
export async function revokeOne<Row extends { readonly id: string }, Shown>(
  database: Database,
  { table, columns, idOrPrefix, at, only, shown, noted }: Revocation<Row, Shown>,
): Promise<Revoked<Shown>> {
  return await database.transaction(async (session) => {
    const among = only === null ? '' : `and ${only.column} = $2`;
    const rows = await session.query<{ id: string; revoked_at: Date | null }>(
      `select k.id, k.revoked_at from ${table}
       where (k.id = $1 or k.prefix = $1) ${among} for update`,
      only === null ? [idOrPrefix] : [idOrPrefix, only.value],
    );
    const [first, ...others] = rows;
    if (first === undefined) return { outcome: 'unknown' };
    if (others.length > 0) return { outcome: 'ambiguous', ids: rows.map((row) => row.id) };
    const updated = await session.query<Row>(
      `update ${table} set revoked_at = coalesce(k.revoked_at, to_timestamp($2))
       where k.id = $1 returning ${columns}`,
      [first.id, at],
    );
    const revoked = shown(onlyRow(updated));
    if (first.revoked_at === null) await noted?.(session, revoked);
    return { outcome: 'revoked', revoked };
  });
}
