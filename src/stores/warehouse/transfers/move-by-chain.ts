// How do the filled tables of an earlier version become tables by chain, while they are in use?
// What is written meanwhile goes to both, by a view. What was there is copied run by run, then both
// are compared, row by row, and change places. Whatever is cut off is done again.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import { read } from '../../../evidence/reading.ts';
import type { TableMove, TableMoving } from '../../../ports/indexing/table-move.ts';
import { BY_CHAIN, type ByChain, clearingOf, twinOf, viewOf } from '../engine/by-chain.ts';
import { type Layout, statementsOf } from '../engine/dialect.ts';
import type { Call, Warehouse } from '../engine/executor.ts';
import { insertRows } from './append.ts';
import { unreadFor, warehouseSource } from './warehouse-reading.ts';

const PORT = 'transfer_store';
/** One statement: a run is copied, or a whole table compared. */
const CALL: Call = { timeoutMs: 3_600_000 };
/** Rows of one run, but for those of one key, which are never parted. */
const RUN_ROWS = 2_000_000;

/** How long a row may take from a table into its twin. */
const SETTLE_MS = 1_000;

const text = z.string();
const whole = z.coerce.number();
const textRow = z.tuple([text]);
const chainRow = z.tuple([z.enum(CHAIN_NAMES)]);
const tableRow = z.tuple([text, text, text, text, text]);
const runRow = z.tuple([z.enum(CHAIN_NAMES), text, whole, whole, whole]);
const countRow = z.tuple([text, whole]);
const digestRow = z.tuple([z.enum(CHAIN_NAMES), text]);

/** How far the rows of a table and a chain are copied. */
type Copied = { upto: string; done: number; rows: number; version: number };

/** What the engine has of tables now: which are there, and those that are not by chain yet. */
type Found = {
  readonly layout: Layout;
  readonly names: ReadonlySet<string>;
  readonly left: readonly (ByChain & { readonly keys: string })[];
};
type Left = Found['left'][number];

type Standing = Exclude<TableMove['state'], 'moved'>;

type MoveWorld = {
  /** Unix seconds. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly runRows?: number;
};

/** Moving the tables of a warehouse. */
export function tableMoving(warehouse: Warehouse, world: MoveWorld): TableMoving {
  const { now, sleep, runRows = RUN_ROWS } = world;

  async function asked(work: () => Promise<TableMove>) {
    try {
      const value = await work();
      return read(value, { port: PORT, source: warehouseSource(now(), false) });
    } catch (error) {
      return unreadFor(PORT, error);
    }
  }

  async function step(
    warehouse: Warehouse,
    mayReplace: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<TableMove> {
    const found = await findTables(warehouse);
    const replaced = BY_CHAIN.find((one) => isReplaced(found, one));
    if (replaced !== undefined) {
      await run(warehouse, clearingOf(replaced), found.layout);
      return await statusOf(warehouse, 'moving');
    }
    const [next] = found.left;
    if (next === undefined || (await isCopying(warehouse, found, next))) {
      return await statusOf(warehouse, 'moving');
    }
    const isEqual = await compare(warehouse, next, found.layout, () => sleep(SETTLE_MS, signal));
    if (!isEqual || !(await mayReplace())) return await statusOf(warehouse, 'settling');
    await warehouse.command(swapOf(next, found.layout), CALL);
    return await statusOf(warehouse, 'swapped');
  }

  /** Copies the next run of a table; whether there was one. */
  async function isCopying(
    warehouse: Warehouse,
    { names, layout }: Found,
    one: Left,
  ): Promise<boolean> {
    if (!names.has(viewOf(one.table))) await run(warehouse, twinOf(one, one.keys), layout);
    const copied = await copiedOf(warehouse, one);
    const next = (await chainsOf(warehouse, one)).find((name) => copied.get(name)?.done !== 1);
    if (next !== undefined) {
      const before = copied.get(next);
      const already = before === undefined ? NOTHING : before;
      await copyRun(warehouse, one, { chain: next, copied: already, runRows, layout });
    }
    return next !== undefined;
  }

  return {
    status: () => asked(() => statusOf(warehouse, 'moving')),
    step: (mayReplace, signal) =>
      asked(() => step(stoppable(warehouse, signal), mayReplace, signal)),
  };
}

/** A warehouse that is not waited for any more once the signal is given. */
function stoppable(warehouse: Warehouse, signal: AbortSignal): Warehouse {
  return {
    ...warehouse,
    query: (sql, options) => warehouse.query(sql, { ...options, signal }),
    command: (sql, options) => warehouse.command(sql, { ...options, signal }),
  };
}

/** Whether what is written to tables goes to their twins too, so that no row may be deleted. */
export async function isMoving(warehouse: Warehouse): Promise<boolean> {
  const { names } = await findTables(warehouse);
  return BY_CHAIN.some(({ table }) => names.has(viewOf(table)));
}

async function findTables(warehouse: Warehouse): Promise<Found> {
  const sql = `SELECT name, engine, partition_key, primary_key, sorting_key FROM system.tables
    WHERE database = currentDatabase()`;
  const rows = await warehouse.query(sql, { ...CALL, row: tableRow, tuples: true });
  const isCluster = rows.some(([name, engine]) => {
    return name === 'transfers' && engine === 'Distributed';
  });
  const layout = isCluster ? 'cluster' : 'single';
  const left = BY_CHAIN.flatMap((one) => {
    const held = rows.filter(([name]) => name === localName(one.table, layout));
    const whole = held.filter(([, , partitions]) => partitions === '');
    return whole.map(([, , , primary, sorting]) => {
      return { ...one, keys: `PRIMARY KEY (${primary}) ORDER BY (${sorting})` };
    });
  });
  return { layout, names: new Set(rows.map(([name]) => name)), left };
}

function localName(table: string, layout: Layout): string {
  return layout === 'cluster' ? `${table}_local` : table;
}

/** Whether what a table was before is still there. */
function isReplaced({ names, left, layout }: Found, { table }: ByChain): boolean {
  const rest = [viewOf(table), `${table}_by_chain`, localName(`${table}_by_chain`, layout)];
  return left.every((one) => one.table !== table) && rest.some((name) => names.has(name));
}

async function run(warehouse: Warehouse, source: string, layout: Layout): Promise<void> {
  for (const sql of statementsOf(source, layout)) await warehouse.command(sql, CALL);
}

/** The statement that gives readers and writers the twin in place of the table. */
function swapOf({ table }: ByChain, layout: Layout): string {
  const both = [table, `${table}_by_chain`].map((name) => localName(name, layout));
  return `EXCHANGE TABLES ${both.join(' AND ')} ${onCluster(layout)}`;
}

function onCluster(layout: Layout): string {
  return layout === 'cluster' ? "ON CLUSTER '{cluster}'" : '';
}

/** The chains of which a table has any row. */
async function chainsOf(warehouse: Warehouse, { table }: ByChain): Promise<readonly ChainName[]> {
  const any = (chain: ChainName) => {
    const found = `SELECT chain FROM ${table} WHERE chain = '${chain}' LIMIT 1`;
    return `SELECT toString(chain) FROM (${found})`;
  };
  const sql = CHAIN_NAMES.map(any).join(' UNION ALL ');
  const rows = await warehouse.query(sql, { ...CALL, row: chainRow, tuples: true });
  return rows.map(([chain]) => chain);
}

/** How far the chains of a table are copied. */
async function copiedOf(
  warehouse: Warehouse,
  { table }: ByChain,
): Promise<ReadonlyMap<ChainName, Copied>> {
  const sql = `SELECT chain, upto, done, rows, version FROM moved_by_chain FINAL
    WHERE of = '${table}'`;
  const rows = await warehouse.query(sql, { ...CALL, row: runRow, tuples: true });
  return new Map(
    rows.map(([chain, upto, done, count, version]) => [
      chain,
      { upto, done, rows: count, version },
    ]),
  );
}

type Writing = {
  readonly chain: ChainName;
  readonly copied: Copied;
  readonly runRows: number;
  readonly layout: Layout;
};

/** Copies the next run of a chain, and says so then: cut off before, it is copied once more. */
async function copyRun(
  warehouse: Warehouse,
  one: Left,
  { chain, copied, runRows, layout }: Writing,
): Promise<void> {
  const { table, key } = one;
  const isNumber = key === 'block' || key === 'number';
  const value = (upto: string) => (isNumber ? upto : `unhex('${upto}')`);
  const above = copied.rows === 0 ? '' : `AND ${key} > ${value(copied.upto)}`;
  const shown = isNumber ? `toString(${key})` : `lower(hex(${key}))`;
  const [last] = await warehouse.query(
    `SELECT ${shown} FROM ${table} WHERE chain = '${chain}' ${above}
     ORDER BY ${key} LIMIT 1 OFFSET ${runRows - 1}`,
    { ...CALL, row: textRow, tuples: true },
  );
  const within = last === undefined ? above : `${above} AND ${key} <= ${value(last[0])}`;
  const rows = `FROM ${table} WHERE chain = '${chain}' ${within}`;
  const count = `SELECT '${chain}', count() ${rows}`;
  const [counted] = await warehouse.query(count, { ...CALL, row: countRow, tuples: true });
  if (counted === undefined) throw new RangeError('a count has one row');
  const columns = await columnsOf(warehouse, one, layout);
  // On each shard by itself: its rows stay there.
  const apart = layout === 'cluster' ? 'SETTINGS parallel_distributed_insert_select = 2' : '';
  const into = `INSERT INTO ${table}_by_chain (${columns}) ${apart}`;
  await warehouse.command(`${into} SELECT ${columns} ${rows}`, CALL);
  await writeCopied(warehouse, table, chain, {
    upto: last === undefined ? copied.upto : last[0],
    done: last === undefined ? 1 : 0,
    rows: copied.rows + counted[1],
    version: copied.version + 1,
  });
}

const NOTHING: Copied = { upto: '', done: 0, rows: 0, version: 0 };

async function writeCopied(
  warehouse: Warehouse,
  table: string,
  chain: ChainName,
  { upto, done, rows, version }: Copied,
): Promise<void> {
  const columns = ['of', 'chain', 'upto', 'done', 'rows', 'version'];
  const row = [table, chain, upto, done, rows, version];
  await insertRows(warehouse, 'moved_by_chain', { columns, rows: [row] });
}

/**
 * Whether a table and its twin are equal. A chain that rests unequal is copied anew by the next
 * steps; rows that are just being written differ from moment to moment, and come to their end.
 */
async function compare(
  warehouse: Warehouse,
  one: Left,
  layout: Layout,
  settled: () => Promise<void>,
): Promise<boolean> {
  const first = await differences(warehouse, one, layout);
  if (first.size === 0) return true;
  await settled();
  const second = await differences(warehouse, one, layout);
  for (const [name, said] of second) {
    if (first.get(name) === said) await copyAnew(warehouse, one, name, layout);
  }
  return second.size === 0;
}

/** Copies a chain from its beginning: rows of it were deleted while it was copied. */
async function copyAnew(
  warehouse: Warehouse,
  one: Left,
  chain: ChainName,
  layout: Layout,
): Promise<void> {
  const copied = (await copiedOf(warehouse, one)).get(chain);
  const version = copied === undefined ? 1 : copied.version + 1;
  await writeCopied(warehouse, one.table, chain, { ...NOTHING, version });
  const twin = `${localName(`${one.table}_by_chain`, layout)} ${onCluster(layout)}`;
  const settings = 'SETTINGS max_partition_size_to_drop = 0';
  await warehouse.command(`ALTER TABLE ${twin} DROP PARTITION '${chain}' ${settings}`, CALL);
}

/** The columns that are stored, and so are copied. */
async function columnsOf(warehouse: Warehouse, one: Left, layout: Layout): Promise<string> {
  const sql = `SELECT name FROM system.columns WHERE database = currentDatabase()
    AND table = '${localName(one.table, layout)}' AND default_kind NOT IN ('ALIAS', 'EPHEMERAL')`;
  const names = await warehouse.query(sql, { ...CALL, row: textRow, tuples: true });
  return names.map(([name]) => name).join(', ');
}

/** The chains whose rows differ between a table and its twin, each with what the two are. */
async function differences(
  warehouse: Warehouse,
  one: Left,
  layout: Layout,
): Promise<ReadonlyMap<ChainName, string>> {
  const columns = await columnsOf(warehouse, one, layout);
  const digest = (table: string) => `SELECT toString(chain) AS of,
      '${table} ' || toString(count()) || ' ' || toString(sum(cityHash64(${columns}))) AS said,
      substring(said, ${table.length + 2}) AS rows
    FROM ${table} FINAL GROUP BY chain`;
  const sql = `SELECT of, arrayStringConcat(arraySort(groupArray(said)), ', ')
    FROM (${digest(one.table)} UNION ALL ${digest(`${one.table}_by_chain`)})
    GROUP BY of HAVING count() != 2 OR uniqExact(rows) != 1`;
  return new Map(await warehouse.query(sql, { ...CALL, row: digestRow, tuples: true }));
}

/** Where it stands; `state` is that of a move that has not come to its end. */
async function statusOf(warehouse: Warehouse, state: Standing): Promise<TableMove> {
  const found = await findTables(warehouse);
  const isOver = found.left.length === 0 && !BY_CHAIN.some((one) => isReplaced(found, one));
  if (isOver) return { state: 'moved' };
  const each = BY_CHAIN.map(
    ({ table }) => `SELECT '${table}' AS of, count() AS rows FROM ${table}`,
  );
  const query = { ...CALL, row: countRow, tuples: true };
  const held = await warehouse.query(each.join(' UNION ALL '), query);
  const ledger = 'SELECT of, rows FROM moved_by_chain FINAL';
  const copied = await warehouse.query(ledger, query);
  const moved = held.map(([table, rows]) => {
    if (found.left.every((one) => one.table !== table)) return rows;
    return Math.min(rows, sumOf(copied.filter(([of]) => of === table)));
  });
  return {
    state,
    tables: BY_CHAIN.length,
    tables_moved: BY_CHAIN.length - found.left.length,
    rows: sumOf(held),
    rows_moved: moved.reduce((sum, rows) => sum + rows, 0),
  };
}

function sumOf(counted: readonly z.infer<typeof countRow>[]): number {
  return counted.reduce((sum, [, rows]) => sum + rows, 0);
}
