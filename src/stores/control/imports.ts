// How does the control store take in an import, whole or not at all?
// Rows are staged in short statements, so that nobody waits for a long one; one short transaction
// puts the import in force. What it replaced is forgotten afterwards, in pieces.

import { type Reading, read, type Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  ImportEnd,
  ImportedTable,
  ImportFacts,
  ImportTable,
  Numbered,
  TableImport,
} from '../../ports/tables/table-import.ts';
import { type Database, type Session, StoreUnavailable } from './engine/database.ts';

const MS_PER_S = 1_000;
/** An import that did not complete within a day was left behind by a process that ended. */
const LEFT_BEHIND_S = 86_400;
/** How many rows one statement inserts or looks through: others wait no longer than for one. */
const STATEMENT_ROWS = 250;
/** How many statements may forget rows after one import; the next import goes on. */
const FORGET_ROUNDS_MAX = 20_000;
/** The imports in force that are read at once: one for each source. */
const IN_FORCE_MAX = 1_000;

type Asking = Pick<Session, 'query'>;

/** What differs between the tables that are filled by import. */
export type ImportShape<Row, P extends string> = {
  readonly port: P;
  readonly table: ImportedTable;
  /** The table in words, for reasons. */
  readonly what: string;
  /** Inserts rows that no earlier row of the import repeats; returns the numbers of those kept. */
  readonly insert: (
    session: Asking,
    id: number,
    rows: readonly Numbered<Row>[],
  ) => Promise<readonly number[]>;
  /** Done in the transaction that puts an import in force, before the one before it is not. */
  readonly completing?: (session: Asking, id: number) => Promise<void>;
  /** Which row `r` of a completed import `i` nobody reads any more, as a condition. */
  readonly unread: string;
};

/** An import that was begun over a day ago, whose rows are forgotten. */
class Forgotten extends Error {}

/** Runs work on the store; its weather is unread. */
export async function asked<T, P extends string>(
  shape: { readonly port: P; readonly what: string },
  database: Database,
  now: () => number,
  work: () => Promise<T>,
): Promise<Reading<T, P>> {
  try {
    const source = {
      name: 'Control store',
      url: `${database.kind}:`,
      as_of: now(),
      kind: 'table',
      simulated: false,
    } as const;
    return read(await work(), { port: shape.port, source });
  } catch (error) {
    if (error instanceof StoreUnavailable) return silent(shape, error.fault);
    if (error instanceof Forgotten) return silent(shape, 'the import was begun over a day ago');
    throw error;
  }
}

function silent<P extends string>(
  shape: { readonly port: P; readonly what: string },
  fault: string,
): Unread<P> {
  return unread(shape.port, why('store_unreadable', { what: shape.what, fault }));
}

/** The import half of a table in the control store. `now` gives Unix seconds. */
export function importStore<Row, P extends string>(
  database: Database,
  shape: ImportShape<Row, P>,
  now: () => number,
): ImportTable<Row, P> {
  const ask = <T>(work: () => Promise<T>) => asked(shape, database, now, work);
  return {
    begin: (facts) =>
      ask(async () => {
        await forgetLeftBehind(database, shape, now());
        return await begin(database, shape.table, facts);
      }),
    stage: (id, rows) => ask(() => stage(database, shape, id, rows)),
    complete: async (id, end) => {
      const ended = await ask(() =>
        database.transaction((session) => complete(session, shape, id, end)),
      );
      // The import stands; what it replaced is forgotten now, or after the next one.
      await ask(() => forgetReplaced(database, shape));
      return ended;
    },
    abandon: (id) =>
      ask(async () => {
        await forgetImport(database, shape, id);
        return null;
      }),
    inForce: () => ask(() => inForce(database, shape.table)),
  };
}

async function begin(
  session: Asking,
  table: ImportedTable,
  facts: ImportFacts,
): Promise<{ readonly id: number }> {
  const [row] = await session.query<{ id: number }>(
    `insert into table_imports (table_name, source, source_url, origin, started_at)
     values ($1, $2, $3, $4, $5) returning id`,
    [table, facts.source, facts.source_url, facts.origin, timeOf(facts.started_at)],
  );
  if (row === undefined) throw new Error('import: the store gave no id');
  return row;
}

async function stage<Row, P extends string>(
  session: Asking,
  shape: ImportShape<Row, P>,
  id: number,
  rows: readonly Numbered<Row>[],
): Promise<readonly number[]> {
  const repeated: number[] = [];
  for (let at = 0; at < rows.length; at += STATEMENT_ROWS) {
    const piece = rows.slice(at, at + STATEMENT_ROWS);
    const kept = new Set(await shape.insert(session, id, piece));
    for (const { n } of piece) if (!kept.has(n)) repeated.push(n);
  }
  return repeated;
}

async function complete<Row, P extends string>(
  session: Asking,
  shape: ImportShape<Row, P>,
  id: number,
  end: ImportEnd,
): Promise<TableImport> {
  await session.query('lock table table_imports in share row exclusive mode');
  const [staged] = await session.query<{ rows: number }>(
    `select count(*)::int4 as rows from ${shape.table} where import_id = $1`,
    [id],
  );
  await shape.completing?.(session, id);
  await session.query(
    `update table_imports set in_force = false
      where in_force and table_name = $2
        and source = (select source from table_imports where id = $1)`,
    [id, shape.table],
  );
  const [row] = await session.query<ImportRow>(
    `update table_imports
        set in_force = true, completed_at = $2, as_of = $3, rows_accepted = $4,
            rows_refused = $5, sha256 = $6
      where id = $1 and completed_at is null
      returning ${IMPORT_COLUMNS}`,
    [
      id,
      timeOf(end.completed_at),
      timeOf(end.as_of),
      end.rows_accepted,
      end.rows_refused,
      end.sha256,
    ],
  );
  if (row === undefined) throw new Forgotten();
  if (staged?.rows !== end.rows_accepted) {
    throw new Error(`import: ${staged?.rows} rows staged, ${end.rows_accepted} accepted`);
  }
  return importOf(row);
}

const IMPORT_COLUMNS =
  'id, table_name, source, source_url, origin, started_at, completed_at, as_of, ' +
  'rows_accepted, rows_refused, sha256';

type ImportRow = Omit<TableImport, 'started_at' | 'completed_at' | 'as_of'> & {
  readonly started_at: Date;
  readonly completed_at: Date;
  readonly as_of: Date;
};

async function inForce(session: Asking, table: ImportedTable): Promise<TableImport[]> {
  const rows = await session.query<ImportRow>(
    `select ${IMPORT_COLUMNS} from table_imports
      where table_name = $1 and in_force order by id limit ${IN_FORCE_MAX}`,
    [table],
  );
  return rows.map(importOf);
}

function importOf({ started_at, completed_at, as_of, ...row }: ImportRow): TableImport {
  return {
    ...row,
    started_at: secondsOf(started_at),
    completed_at: secondsOf(completed_at),
    as_of: secondsOf(as_of),
  };
}

/** Forgets the imports of this table that were left behind. */
async function forgetLeftBehind<Row, P extends string>(
  database: Database,
  shape: ImportShape<Row, P>,
  now: number,
): Promise<void> {
  const left = await database.query<{ id: number }>(
    `select id from table_imports
      where table_name = $1 and completed_at is null and started_at < $2 limit ${IN_FORCE_MAX}`,
    [shape.table, timeOf(now - LEFT_BEHIND_S)],
  );
  for (const { id } of left) await forgetImport(database, shape, id);
}

async function forgetImport<Row, P extends string>(
  database: Database,
  shape: ImportShape<Row, P>,
  id: number,
): Promise<void> {
  await forgetRows(database, shape, id, 'i.completed_at is null');
  await database.query('delete from table_imports where id = $1 and completed_at is null', [id]);
}

/** Forgets rows of completed imports that nobody reads any more, and gives their room back. */
async function forgetReplaced<Row, P extends string>(
  database: Database,
  shape: ImportShape<Row, P>,
): Promise<void> {
  const imports = await database.query<{ id: number }>(
    `select i.id from table_imports i
      where i.table_name = $1 and i.completed_at is not null
        and exists (select 1 from ${shape.table} r where r.import_id = i.id) order by i.id`,
    [shape.table],
  );
  for (const { id } of imports) await forgetRows(database, shape, id, shape.unread);
  // The embedded engine neither gives room back nor counts rows for its plans by itself.
  if (database.kind === 'pglite') await database.query(`vacuum (analyze) ${shape.table}`);
}

async function forgetRows<Row, P extends string>(
  session: Asking,
  shape: ImportShape<Row, P>,
  id: number,
  which: string,
): Promise<void> {
  const [last] = await session.query<{ n: number | null }>(
    `select max(n) as n from ${shape.table} where import_id = $1`,
    [id],
  );
  const until = last === undefined || last.n === null ? null : last.n;
  for (let round = 0, n = 0; until !== null && n < until; round += 1, n += STATEMENT_ROWS) {
    if (round >= FORGET_ROUNDS_MAX) return;
    await session.query(
      `delete from ${shape.table} r using table_imports i
        where r.import_id = $1 and r.n > $2 and r.n <= $3 and i.id = r.import_id and (${which})`,
      [id, n, n + STATEMENT_ROWS],
    );
  }
}

/** A time as the store keeps it. */
export function timeOf(seconds: number): Date {
  return new Date(seconds * MS_PER_S);
}

function secondsOf(at: Date): number {
  return Math.floor(at.getTime() / MS_PER_S);
}
