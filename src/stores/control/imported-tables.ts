// Stores the rows of an imported table, and accepts an import whole. Rows are staged in short
// statements, so that nothing waits for a long one; one short transaction puts the import in force.
// The replaced rows are deleted afterwards, in pieces.

import { z } from 'zod';
import { matchKey } from '../../chain/address.ts';
import { slices } from '../../evidence/measure.ts';
import { type Partly, part, Read, type Reading, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { ImportOrigin } from '../../evidence/source.ts';
import {
  type ColumnKind,
  type Counting,
  type ImportEnd,
  type Numbered,
  type StoredRow,
  type TableImport,
  type TableShape,
  type TableStore,
  type TableStorePort,
  tableImport,
} from '../../ports/tables.ts';
import {
  type Database,
  epochSecond,
  onlyRow,
  type Param,
  type Session,
  StoreUnavailable,
  storeTime,
} from './engine/database.ts';

const PORT = 'imported_table';
/** An import that did not complete within a day was left behind by a process that ended. */
const LEFT_BEHIND_S = 86_400;
/** How many rows one statement inserts or looks through: others wait no longer than for one. */
const STATEMENT_ROWS = 250;
/** How many statements may forget rows after one import; the next import goes on. */
const FORGET_ROUNDS_MAX = 20_000;
/** The imports in force that are read at once: one for each source. */
const IN_FORCE_MAX = 1_000;
/** Rows of an import read at once while a table is loaded. */
const PAGE_ROWS = 2_000;
/** How many rows one look-up by key may give. */
const UNDER_ROWS_MAX = 100_000;

type Asking = Pick<Session, 'query'>;

const idRow = tableImport.pick({ id: true });
const numberRow = z.strictObject({ n: z.int() });
const lastNumberRow = z.strictObject({ n: z.int().nullable() });
const countedRow = z.strictObject({ id: z.int(), rows: z.int() });
const comparedRow = z.strictObject({ compared_with: z.int().nullable() });

/**
 * The records of an import beside its rows: in pieces before it comes into force, and at that
 * moment.
 */
export type ImportNotes = {
  readonly before: (session: Asking, id: number) => Promise<void>;
  readonly completing: (session: Asking, id: number) => Promise<void>;
};

/** A declared table in a control store. `now` gives Unix seconds. */
export function tableStore<Row extends StoredRow>(
  database: Database,
  shape: KeptShape<Row>,
  now: () => number,
  notes: ImportNotes | null,
): TableStore<Row> {
  const ask = <T>(work: () => Promise<T>) => askStore(shape, database, now, work);
  const sql = tableStatements(shape);
  return {
    begin: (facts) =>
      ask(async () => {
        await forgetLeftBehind(database, sql, now());
        const begun = await database.query(
          `insert into table_imports (table_name, source, source_url, origin, started_at)
           values ($1, $2, $3, $4, $5) returning id`,
          [sql.table, facts.source, facts.source_url, facts.origin, storeTime(facts.started_at)],
        );
        return idRow.parse(onlyRow(begun));
      }),
    stage: (id, rows) => ask(() => stage(database, sql, id, rows)),
    complete: async (id, end) => {
      const noted = await ask(async () => notes?.before(database, id));
      if (!(noted instanceof Read)) return noted;
      const ended = await ask(() =>
        database.transaction((session) => complete(session, sql.table, notes, id, end)),
      );
      // The import stands; what it replaced is forgotten now, or after the next one.
      await ask(async () => {
        const imports = await database.query(sql.goneThrough, [sql.table, id]);
        for (const { id } of z.array(idRow).parse(imports)) {
          await forgetRows(database, sql.table, id, sql.forget);
        }
        // The embedded engine neither gives room back nor counts rows for its plans by itself.
        if (database.kind === 'pglite') await database.query(`vacuum (analyze) ${sql.table}`);
      });
      return ended;
    },
    abandon: (id) =>
      ask(async () => {
        await forgetImport(database, sql, id);
        return null;
      }),
    inForce: () =>
      ask(async () => {
        const rows = await database.query(
          `select ${IMPORT_COLUMNS} from table_imports
            where table_name = $1 and in_force order by id limit ${IN_FORCE_MAX}`,
          [sql.table],
        );
        return z.array(tableImport).parse(rows);
      }),
    counting: (imports) =>
      ask(async () => {
        if (sql.counted === null) {
          return new Map(imports.map(({ id, rows_accepted }) => [id, rows_accepted]));
        }
        const rows = z.array(countedRow).parse(await database.query(sql.counted));
        return new Map(rows.map(({ id, rows }) => [id, rows]));
      }),
    page: (id, afterN) =>
      ask(async () => {
        const rows = await database.query(sql.page, [id, afterN, PAGE_ROWS]);
        return sql.kept.parse(rows).map(rowsOfTable<Row>(sql.columns));
      }),
    under: (addresses) =>
      ask(async () => {
        const keys = [...new Set(addresses.map(matchKey))];
        const rows = await database.query(sql.under, [keys, UNDER_ROWS_MAX + 1]);
        if (rows.length > UNDER_ROWS_MAX)
          throw new StoreUnavailable('a look-up gave too many rows', 'EROWS');
        return sql.kept
          .parse(rows)
          .map(rowsOfTable<Row>(sql.columns))
          .map(({ row }) => row);
      }),
  };
}

/** Runs work on the store; a failure of the store is unread. */
async function askStore<T>(
  { what }: { readonly what: string },
  database: Database,
  now: () => number,
  work: () => Promise<T>,
): Promise<Reading<T, TableStorePort>> {
  try {
    const source = {
      name: 'Control store',
      url: `${database.kind}:`,
      as_of: now(),
      kind: 'table',
      simulated: false,
    } as const;
    return read(await work(), { port: PORT, source });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const filling = { what: `The store of ${what}`, fault: error.fault };
    return unread(PORT, why('store_unreadable', filling));
  }
}

async function stage<Row extends StoredRow>(
  session: Asking,
  { insert, values }: Statements<Row>,
  id: number,
  rows: readonly Numbered<Row>[],
): Promise<readonly number[]> {
  const repeated: number[] = [];
  for (const piece of slices(rows, STATEMENT_ROWS)) {
    const numbers = piece.map(({ n }) => n);
    const params = [id, numbers, ...values(piece.map(({ row }) => row))];
    const inserted = z.array(numberRow).parse(await session.query(insert, params));
    const kept = new Set(inserted.map(({ n }) => n));
    repeated.push(...numbers.filter((n) => !kept.has(n)));
  }
  return repeated;
}

async function complete(
  session: Asking,
  table: string,
  notes: ImportNotes | null,
  id: number,
  end: ImportEnd,
): Promise<TableImport> {
  await session.query('lock table table_imports in share row exclusive mode');
  const counted = await session.query(
    `select count(*)::int4 as rows from ${table} where import_id = $1`,
    [id],
  );
  const staged = countedRow.pick({ rows: true }).parse(onlyRow(counted));
  await notes?.completing(session, id);
  await session.query(
    `update table_imports set in_force = false
      where in_force and table_name = $2
        and source = (select source from table_imports where id = $1)`,
    [id, table],
  );
  const [row] = await session.query(
    `update table_imports
        set in_force = true, completed_at = $2, as_of = $3, rows_accepted = $4,
            rows_refused = $5, sha256 = $6, rows_lost = $7, dated_by = $8
      where id = $1 and completed_at is null
      returning ${IMPORT_COLUMNS}`,
    [
      id,
      storeTime(end.completed_at),
      storeTime(end.as_of),
      end.rows_accepted,
      end.rows_refused,
      end.sha256,
      end.rows_lost,
      end.dated_by,
    ],
  );
  if (row === undefined)
    throw new StoreUnavailable('the import was begun over a day ago', 'EBEGUN');
  if (staged.rows !== end.rows_accepted) {
    throw new Error(`import: ${staged.rows} rows staged, ${end.rows_accepted} accepted`);
  }
  return tableImport.parse(row);
}

const IMPORT_COLUMNS =
  `id, table_name, source, source_url, origin, ${epochSecond('started_at')}, ` +
  `${epochSecond('completed_at')}, ${epochSecond('as_of')}, ` +
  'rows_accepted, rows_refused, rows_lost, sha256, dated_by';

type Forgetting = { readonly table: string };

/** Forgets the imports of this table that were left behind. */
async function forgetLeftBehind(database: Database, sql: Forgetting, now: number): Promise<void> {
  const left = await database.query(
    `select id from table_imports
      where table_name = $1 and completed_at is null and started_at < $2 limit ${IN_FORCE_MAX}`,
    [sql.table, storeTime(now - LEFT_BEHIND_S)],
  );
  for (const { id } of z.array(idRow).parse(left)) await forgetImport(database, sql, id);
}

async function forgetImport(database: Database, sql: Forgetting, id: number): Promise<void> {
  await forgetRows(
    database,
    sql.table,
    id,
    `delete from ${sql.table} r using table_imports i
      where r.import_id = $1 and r.n > $2 and r.n <= $3
        and i.id = r.import_id and i.completed_at is null`,
  );
  await database.query('delete from table_imports where id = $1 and completed_at is null', [id]);
}

/** Runs the statement that forgets over the rows of an import, piece by piece. */
async function forgetRows(
  session: Asking,
  table: string,
  id: number,
  forget: string,
): Promise<void> {
  const until = await lastRow(session, table, id);
  for (let round = 0, n = 0; until !== null && n < until; round += 1, n += STATEMENT_ROWS) {
    if (round >= FORGET_ROUNDS_MAX) return;
    await session.query(forget, [id, n, n + STATEMENT_ROWS]);
  }
}

// The statements that write and read the rows of a declared table.

/** A declared table as it is kept, whatever its port and answers. */
export type KeptShape<Row> = Omit<TableShape<Row, string, unknown>, 'index'>;

/** The statements on a declared table whose rows are these. */
export type Statements<Row extends StoredRow> = ReturnType<typeof tableStatements<Row>>;

const SQL_TYPES: Readonly<Record<ColumnKind, string>> = {
  text: 'text[]',
  flag: 'bool[]',
  day: 'date[]',
  time: 'timestamptz[]',
};

const CELLS = { text: z.string(), flag: z.boolean(), day: z.string(), time: z.number() } as const;

/** The statements on a declared table. Names in them are the declaration's, never a caller's. */
export function tableStatements<Row extends StoredRow>({
  name: table,
  columns,
  keys,
  counting,
}: KeptShape<Row>) {
  const kinds = Object.entries<ColumnKind>(columns);
  const derived = Object.entries(keys).filter(([column, field]) => column !== field);
  const inserted = [...derived.map(([column]) => column), ...kinds.map(([column]) => column)];
  const types = [...derived.map(() => SQL_TYPES.text), ...kinds.map(([, kind]) => SQL_TYPES[kind])];
  const placed = types.map((type, i) => `$${i + 3}::${type}`);
  const shown = kinds.map(([column, kind]) =>
    kind === 'time' ? `extract(epoch from r.${column})::float8 as ${column}` : `r.${column}`,
  );
  const cells = Object.fromEntries(
    kinds.map(([column, kind]) => [column, CELLS[kind].nullable()] as const),
  );
  const { joined, counts, goneThrough, forget } = conditions(table, counting);
  const isUnder = Object.keys(keys).map((column) => `r.${column} = any($1::text[])`);
  return {
    table,
    columns: kinds.map(([column]) => column),
    kept: z.array(z.strictObject({ ...cells, n: z.int() })),
    insert: `insert into ${table} (import_id, n, ${inserted.join(', ')})
      select $1, * from unnest($2::int4[], ${placed.join(', ')})
      on conflict do nothing returning n`,
    values: (rows: readonly Row[]): Param[] => [
      ...derived.map(([, field]) =>
        rows.map((row) => {
          const value = row[field];
          return typeof value === 'string' ? matchKey(value) : null;
        }),
      ),
      ...kinds.map(([column, kind]) =>
        rows.map((row) =>
          kind === 'time' ? storeTime(Number(row[column])) : (row[column] ?? null),
        ),
      ),
    ],
    page: `select r.n, ${shown.join(', ')} from ${table} r ${joined}
      where r.import_id = $1 and r.n > $2 and ${counts} order by r.n limit $3`,
    under: `select r.n, ${shown.join(', ')} from ${table} r ${joined}
      where (${isUnder.join(' or ')}) and ${counts} order by r.import_id, r.n limit $2`,
    /** How many rows count of each import; `null` where an import's record says it. */
    counted:
      counting.which === 'newest import'
        ? null
        : `select r.import_id as id, count(*)::int4 as rows from ${table} r ${joined}
            where ${counts} group by r.import_id`,
    /** The imports of the table `$1` whose rows are gone through after the import `$2`. */
    goneThrough,
    /** Forgets what nobody reads any more, by a piece of the rows of such an import. */
    forget,
  };
}

function conditions<Row>(table: string, counting: Counting<Row>) {
  const joined = 'join table_imports i on i.id = r.import_id';
  if (counting.which === 'newest import') {
    return {
      joined,
      counts: 'i.in_force',
      goneThrough: `
        select i.id from table_imports i
         where i.table_name = $1 and i.id <> $2 and i.completed_at is not null and not i.in_force
           and exists (select 1 from ${table} r where r.import_id = i.id) order by i.id`,
      forget: `
        delete from ${table} r using table_imports i
         where r.import_id = $1 and r.n > $2 and r.n <= $3 and i.id = r.import_id
           and i.completed_at is not null and not i.in_force`,
    };
  }
  const { of, by, where } = counting;
  const weight = (row: string) => [...by, 'import_id'].map((column) => `${row}.${column}`).join();
  const outdone = `exists (
    select 1 from ${table} b
      join table_imports bi on bi.id = b.import_id and bi.completed_at is not null
     where b.${of} = r.${of} and (${weight('b')}) > (${weight('r')}))`;
  const counts = `i.completed_at is not null and r.${where} and not ${outdone}`;
  return {
    joined,
    counts,
    // Those before stand as they were left: the import alone outdoes rows, or has rows outdone. The
    // one before it is gone through again, in case the process ended before it had been.
    goneThrough: `
      select id from table_imports
       where table_name = $1 and completed_at is not null and id <= $2 order by id desc limit 2`,
    forget: `
      delete from ${table} r using ${table} n, table_imports i
       where n.import_id = $1 and n.n > $2 and n.n <= $3 and r.${of} = n.${of}
         and i.id = r.import_id and i.completed_at is not null and ${outdone}`,
  };
}

type Kept = { readonly n: number; readonly [column: string]: StoredRow[string] };

/** Makes rows of kept ones; of a text that many rows of a page repeat there is one copy. */
export function rowsOfTable<Row extends StoredRow>(columns: readonly string[]) {
  const texts = new Map<string, string>();
  return (kept: Kept): Numbered<Row> => {
    const row: { [column: string]: StoredRow[string] } = {};
    for (const column of columns) {
      const value = kept[column];
      const known = typeof value === 'string' ? texts.get(value) : value;
      if (typeof value === 'string' && known === undefined) texts.set(value, value);
      row[column] = known ?? value ?? null;
    }
    // The declared columns are the fields of the row.
    return { n: kept.n, row: row as Row };
  };
}

// Records the changes of an import against the earlier one of its source: in pieces before it comes
// into force, so that nothing waits for a long statement, and again in the final transaction if
// another import came in between. Nobody sees them before the import completes.

const STATEMENTS_MAX = 40_000;

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

/** The records of such an import. */
export function changeNotes(sql: LogStatements): ImportNotes {
  const before = async (session: Asking, id: number) => {
    const old = await inForceBefore(session, id);
    await session.query(`delete from ${sql.log} where import_id = $1`, [id]);
    await inPieces(session, sql.table, sql.ofNew, [id, old]);
    if (old !== null) await inPieces(session, sql.table, [sql.ofGone], [old, id]);
    await session.query('update table_imports set compared_with = $2 where id = $1', [id, old]);
  };
  return {
    before,
    completing: async (session, id) => {
      const compared = await inForceBefore(session, id);
      const [noted] = await session.query('select compared_with from table_imports where id = $1', [
        id,
      ]);
      if (noted === undefined) return;
      if (comparedRow.parse(noted).compared_with !== compared) await before(session, id);
    },
  };
}

async function inForceBefore(session: Asking, id: number): Promise<number | null> {
  const [row] = await session.query(
    `select o.id from table_imports i
       join table_imports o on o.table_name = i.table_name and o.source = i.source and o.in_force
      where i.id = $1 and o.id <> i.id`,
    [id],
  );
  return row === undefined ? null : idRow.parse(row).id;
}

/** The number of the last row of an import; `null` where it has none. */
async function lastRow(session: Asking, table: string, id: number): Promise<number | null> {
  const sql = `select max(n) as n from ${table} where import_id = $1`;
  return lastNumberRow.parse(onlyRow(await session.query(sql, [id]))).n;
}

async function inPieces(
  session: Asking,
  table: string,
  statements: readonly string[],
  [of, other]: readonly [of: number, other: number | null],
): Promise<void> {
  const until = await lastRow(session, table, of);
  for (let i = 0; until !== null && i * STATEMENT_ROWS < until; i += 1) {
    if (i >= STATEMENTS_MAX) throw new Error(`${table}: an import of too many rows`);
    const piece = [of, other, i * STATEMENT_ROWS, (i + 1) * STATEMENT_ROWS];
    for (const statement of statements) await session.query(statement, piece);
  }
}

type LogFacts<T, P extends string> = {
  readonly port: P;
  readonly title: string;
  /** The log in words. */
  readonly what: string;
  /** Why nothing can be told of the log before anything was written to it; `null` afterwards. */
  readonly neverBegun: (found: readonly T[]) => Promise<Why | null>;
  readonly isSimulated: (found: readonly T[]) => boolean;
};

/** A row that says whether it was made up. */
type Logged = { readonly simulated: boolean } | { readonly origin: ImportOrigin };

/** The log of an imported table, which is named `of` in words. */
export function tableLog<P extends string>(
  database: Database,
  {
    of,
    table,
    ...log
  }: Pick<LogFacts<Logged, P>, 'port' | 'title' | 'what'> & {
    readonly of: string;
    readonly table: string;
  },
): LogFacts<Logged, P> {
  return {
    ...log,
    neverBegun: async (found) => {
      if (found.length > 0) return null;
      const imports = await database.query(
        'select 1 from table_imports where table_name = $1 and completed_at is not null limit 1',
        [table],
      );
      return imports.length > 0 ? null : why('table_never_imported', { what: of });
    },
    isSimulated: (found) =>
      found.some((one) => ('origin' in one ? one.origin === 'simulated' : one.simulated)),
  };
}

/** The rows of a log, of which one more than the limit was asked for. `now` gives Unix seconds. */
export async function readLog<T, P extends string>(
  database: Database,
  { port, title, what, neverBegun, isSimulated }: LogFacts<T, P>,
  now: () => number,
  limit: number,
  rows: () => Promise<readonly T[]>,
): Promise<Partly<readonly T[], P>> {
  try {
    const found = await rows();
    const cause = await neverBegun(found);
    if (cause !== null) return unread(port, cause);
    const simulated = isSimulated(found);
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
