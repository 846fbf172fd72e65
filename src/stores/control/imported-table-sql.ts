// Which statements keep the rows of a declared table, and give them out again?

import { matchKey } from '../../chain/address.ts';
import type {
  ColumnKind,
  Counting,
  Numbered,
  StoredRow,
  TableShape,
} from '../../ports/tables/imported-table.ts';
import type { Param } from './engine/database.ts';

const MS_PER_S = 1_000;

/** A declared table as it is kept, whatever its port and answers. */
export type KeptShape<Row> = Omit<TableShape<Row, string, unknown>, 'index'>;

/** The statements on a declared table whose rows are these. */
export type Statements<Row extends StoredRow> = ReturnType<typeof statementsOf<Row>>;

const SQL_TYPES: Readonly<Record<ColumnKind, string>> = {
  text: 'text[]',
  flag: 'bool[]',
  day: 'date[]',
  time: 'timestamptz[]',
};

/** The statements on a declared table. Names in them are the declaration's, never a caller's. */
export function statementsOf<Row extends StoredRow>({
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
  const { joined, counts, unread } = conditions(table, counting);
  const isUnder = Object.keys(keys).map((column) => `r.${column} = any($1::text[])`);
  return {
    table,
    columns: kinds.map(([column]) => column),
    insert: `insert into ${table} (import_id, n, ${inserted.join(', ')})
      select $1, * from unnest($2::int4[], ${placed.join(', ')})
      on conflict do nothing returning n`,
    values: (rows: readonly Row[]): Param[] => [
      ...derived.map(([, field]) => rows.map((row) => keyOf(row[field]))),
      ...kinds.map(([column, kind]) =>
        rows.map((row) => (kind === 'time' ? timeOf(Number(row[column])) : (row[column] ?? null))),
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
    /** Which row `r` of a completed import `i` nobody reads any more. */
    unread,
  };
}

function conditions<Row>(table: string, counting: Counting<Row>) {
  const joined = 'join table_imports i on i.id = r.import_id';
  if (counting.which === 'newest import') {
    return { joined, counts: 'i.in_force', unread: 'not i.in_force' };
  }
  const { of, by, where } = counting;
  const weight = (row: string) => [...by, 'import_id'].map((column) => `${row}.${column}`).join();
  const outdone = `exists (
    select 1 from ${table} b
      join table_imports bi on bi.id = b.import_id and bi.completed_at is not null
     where b.${of} = r.${of} and (${weight('b')}) > (${weight('r')}))`;
  const counts = `i.completed_at is not null and r.${where} and not ${outdone}`;
  return { joined, counts, unread: outdone };
}

function keyOf(value: StoredRow[string] | undefined): string | null {
  return typeof value === 'string' ? matchKey(value) : null;
}

/** A row as the store gives it. */
export type Kept = { readonly n: number; readonly [column: string]: StoredRow[string] };

/** Makes rows of kept ones; of a text that many rows of a page repeat there is one copy. */
export function rowsOf<Row extends StoredRow>(columns: readonly string[]) {
  const texts = new Map<string, string>();
  return (kept: Kept): Numbered<Row> => {
    const row: { [column: string]: StoredRow[string] } = {};
    for (const column of columns) row[column] = shared(kept[column], texts);
    // What the declaration names as columns are the fields of the row.
    return { n: kept.n, row: row as Row };
  };
}

function shared(value: StoredRow[string] | undefined, texts: Map<string, string>) {
  if (typeof value !== 'string') return value === undefined ? null : value;
  const known = texts.get(value);
  if (known !== undefined) return known;
  texts.set(value, value);
  return value;
}

/** A time as the store keeps it. */
export function timeOf(seconds: number): Date {
  return new Date(seconds * MS_PER_S);
}
