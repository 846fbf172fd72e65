// What does an import of a table change of the one before it of its source, and how is it noted?
// It is noted in pieces before the import is put in force, so that nobody waits for a long
// statement, and again in the transaction that does so where another import came in between.
// Nobody sees it before the import completes.

import { type Partly, part, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { type Database, type Session, StoreUnavailable } from './engine/database.ts';
import type { ImportNotes } from './imported-tables.ts';

/** How many rows of an import one statement compares. */
const STATEMENT_ROWS = 250;
const STATEMENTS_MAX = 40_000;

type Asking = Pick<Session, 'query'>;

/**
 * The statements of a log, over the rows `l` of one import, `$1`, from number `$3` to `$4`, and
 * those of the import that it is compared with, `$2`.
 */
type LogStatements = {
  /** The tables of the rows and of their log. */
  readonly table: string;
  readonly log: string;
  /** Over the rows of the new import, compared with the one before. */
  readonly ofNew: readonly string[];
  /** Over the rows of the one before, compared with the new import. */
  readonly ofGone: string;
};

/** Which rows of a piece are meant. */
export const PIECE = 'l.import_id = $1 and l.n > $3 and l.n <= $4';

/** What an import of such a table notes of itself. */
export function changeNotes(sql: LogStatements): ImportNotes {
  const before = (session: Asking, id: number) => noteChanges(session, sql, id);
  return {
    before,
    completing: async (session, id) => {
      const compared = await inForceBefore(session, id);
      const [noted] = await session.query<{ compared_with: number | null }>(
        'select compared_with from table_imports where id = $1',
        [id],
      );
      if (noted !== undefined && noted.compared_with !== compared) await before(session, id);
    },
  };
}

async function noteChanges(session: Asking, sql: LogStatements, id: number): Promise<void> {
  const before = await inForceBefore(session, id);
  await session.query(`delete from ${sql.log} where import_id = $1`, [id]);
  await inPieces(session, sql.table, sql.ofNew, [id, before]);
  if (before !== null) await inPieces(session, sql.table, [sql.ofGone], [before, id]);
  await session.query('update table_imports set compared_with = $2 where id = $1', [id, before]);
}

async function inForceBefore(session: Asking, id: number): Promise<number | null> {
  const [row] = await session.query<{ id: number }>(
    `select o.id from table_imports i
       join table_imports o on o.table_name = i.table_name and o.source = i.source and o.in_force
      where i.id = $1 and o.id <> i.id`,
    [id],
  );
  return row === undefined ? null : row.id;
}

async function inPieces(
  session: Asking,
  table: string,
  statements: readonly string[],
  [of, other]: readonly [of: number, other: number | null],
): Promise<void> {
  const [last] = await session.query<{ n: number | null }>(
    `select max(n) as n from ${table} where import_id = $1`,
    [of],
  );
  const until = last === undefined ? null : last.n;
  for (let i = 0; until !== null && i * STATEMENT_ROWS < until; i += 1) {
    if (i >= STATEMENTS_MAX) throw new Error(`${table}: an import of too many rows`);
    const piece = [of, other, i * STATEMENT_ROWS, (i + 1) * STATEMENT_ROWS];
    for (const statement of statements) await session.query(statement, piece);
  }
}

/** A log as a source. */
type LogFacts<P extends string> = {
  readonly port: P;
  readonly title: string;
  /** The log in words, and the table that it is of. */
  readonly what: string;
  readonly of: string;
  readonly table: string;
};

/** The rows of a log, of which one more than the limit was asked for. `now` gives Unix seconds. */
export async function loggedRows<T extends { readonly simulated: boolean }, P extends string>(
  database: Database,
  { port, title, what, of, table }: LogFacts<P>,
  now: () => number,
  limit: number,
  rows: () => Promise<readonly T[]>,
): Promise<Partly<readonly T[], P>> {
  try {
    const found = await rows();
    if (found.length === 0 && !(await everNoted(database, table))) {
      return unread(port, why('table_never_imported', { what: of }));
    }
    const simulated = found.some((one) => one.simulated);
    const source = { name: title, url: `${database.kind}:`, as_of: now(), simulated } as const;
    const origin = { port, source: { ...source, kind: 'table' } } as const;
    if (found.length <= limit) return read(found, origin);
    const cut = why('row_cap', { address: 'the log', limit: String(limit) });
    return part(found.slice(0, limit), origin, cut);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return unread(port, why('store_unreadable', { what, fault: error.fault }));
  }
}

async function everNoted(database: Database, table: string): Promise<boolean> {
  const rows = await database.query(
    'select 1 from table_imports where table_name = $1 and completed_at is not null limit 1',
    [table],
  );
  return rows.length > 0;
}
