// What is asked of the tables that hold an import under way?
// They lie in the warehouse itself, apart by import, so that any number of imports go side by side.

import { z } from 'zod';
import type { Call, Warehouse } from '../engine/executor.ts';
import { ofWindow, type Window } from './facts-sql.ts';
import type { HeldRange } from './held-blocks.ts';
import { proofQuery } from './proof-sql.ts';

/** A refused row as its file is told. */
type RefusedLine = {
  readonly file: number;
  readonly line: number;
  readonly reason: string;
  readonly given: string;
};

/** Blocks to be written at once, and their rows. */
export type WholeBlocks = {
  readonly from_block: number;
  readonly to_block: number;
  readonly rows: number;
};

/** What the facts of some blocks came to. */
export type WindowCounts = {
  readonly transfers: number;
  readonly success_unknown: number;
  readonly creations: number;
  readonly of_another_fork: number;
  /** Blocks of which a row tells another hash than the header. */
  readonly contradicted: number;
  readonly left_out: Readonly<Record<string, number>>;
};

const CALL: Call = { timeoutMs: 300_000 };
/** No row of a block beyond this one is looked for. */
const BLOCK_MAX = 999_999_999_999_999;
const TABLES = ['import_rows', 'import_facts', 'import_refused'] as const;

const text = z.string();
const whole = z.coerce.number().int();
const partitionRow = z.tuple([text]);
const provedRow = z.tuple([z.enum(['native', 'internal']), whole, whole, whole]);

/** The tables of one import. */
export function importTables(warehouse: Warehouse, importId: string) {
  const mine = `import_id = '${importId}'`;
  return {
    drop: (table: (typeof TABLES)[number], file?: number) => drop(warehouse, table, mine, file),
    /** Clears away all that is held of this import while it is under way. */
    clear: async () => {
      for (const table of TABLES) await drop(warehouse, table, mine, undefined);
    },
    rowsOf: (file: number) =>
      one(warehouse, `SELECT max(line) FROM import_rows WHERE ${mine} AND file = ${file}`),
    /** Takes the refused rows of a file that was read out of the way. */
    keepRefused: (file: number) =>
      warehouse.command(
        `INSERT INTO import_refused (import_id, file, line, dataset, block, reason, given)
         SELECT import_id, file, line, dataset, block, reason, given FROM import_rows
         WHERE ${mine} AND file = ${file} AND reason != ''`,
        CALL,
      ),
    next: (fromBlock: number, bound: number | null, rows: number) =>
      nextBlocks(warehouse, mine, fromBlock, bound, rows),
    counts: (window: Window) => countsOf(warehouse, window),
    /** Ranges of blocks that the facts of a window prove. */
    proved: async (window: Window, rangesMax: number): Promise<readonly HeldRange[]> => {
      const sql = proofQuery(window, rangesMax);
      const query = { ...CALL, row: provedRow, tuples: true, rowsMax: rangesMax };
      const rows = await warehouse.query(sql, query);
      return rows.map(([kind, from_block, to_block, to_time]) => {
        return { kind, from_block, to_block, to_time };
      });
    },
    ...refusedRows(warehouse, mine),
    /** The last time that the files tell of the blocks up to one, `null` where they tell none. */
    lastTime: async (toBlock: number): Promise<number | null> => {
      const sql = `SELECT maxOrDefault(if(time < 0, -1, time) + 1) - 1 FROM import_blocks
        WHERE ${mine} AND block <= ${toBlock}`;
      const time = await one(warehouse, sql);
      return time < 0 ? null : time;
    },
  };
}

function refusedRows(warehouse: Warehouse, mine: string) {
  return {
    refusedCounts: async (): Promise<ReadonlyMap<string, number>> => {
      const sql = `SELECT reason, count() FROM import_refused FINAL WHERE ${mine}
        GROUP BY reason ORDER BY reason`;
      const query = { ...CALL, row: z.tuple([text, whole]), tuples: true };
      return new Map(await warehouse.query(sql, query));
    },
    refusedLines: (max: number): Promise<readonly RefusedLine[]> => {
      const sql = `SELECT file, line, reason, given FROM import_refused FINAL WHERE ${mine}
        ORDER BY file, line LIMIT ${max}`;
      const row = z.object({ file: whole, line: whole, reason: text, given: text });
      return warehouse.query(sql, { ...CALL, row });
    },
    /** Blocks with a refused row of a dataset; 0 stands for rows without a block. */
    refusedBlocks: async (dataset: string, max: number): Promise<readonly number[]> => {
      const sql = `SELECT DISTINCT block FROM import_refused
        WHERE ${mine} AND dataset = {dataset:String} ORDER BY block LIMIT ${max}`;
      const query = { ...CALL, row: z.tuple([whole]), tuples: true, params: { dataset } };
      return (await warehouse.query(sql, query)).map(([block]) => block);
    },
  };
}

async function numbers(warehouse: Warehouse, sql: string, count: number): Promise<number[]> {
  const row = z.array(whole).length(count);
  const [first] = await warehouse.query(sql, { ...CALL, row, tuples: true });
  if (first === undefined) throw new RangeError('an aggregate has one row');
  return first;
}

async function one(warehouse: Warehouse, sql: string): Promise<number> {
  return Number((await numbers(warehouse, sql, 1))[0]);
}

/** Drops what a table holds of an import, or of one of its files. */
async function drop(
  warehouse: Warehouse,
  table: (typeof TABLES)[number],
  mine: string,
  file: number | undefined,
): Promise<void> {
  const isByFile = table === 'import_rows';
  const name = isByFile ? '(import_id, file)' : 'import_id';
  const only = file === undefined || !isByFile ? '' : `AND file = ${file}`;
  const sql = `SELECT DISTINCT toString(${name}) FROM ${table} WHERE ${mine} ${only}`;
  const query = { ...CALL, row: partitionRow, tuples: true };
  for (const [partition] of await warehouse.query(sql, query)) {
    const literal = isByFile ? `tuple${partition}` : `'${partition}'`;
    await warehouse.command(`ALTER TABLE ${table} DROP PARTITION ${literal}`, CALL);
  }
}

/** The next whole blocks from one to before another: so many rows, or one block. */
async function nextBlocks(
  warehouse: Warehouse,
  mine: string,
  fromBlock: number,
  bound: number | null,
  rows: number,
): Promise<WholeBlocks | null> {
  const end = bound === null ? BLOCK_MAX : bound - 1;
  const good = `${mine} AND reason = ''`;
  const sql = `SELECT count(), min(block), max(block) FROM (
    SELECT block FROM import_rows WHERE ${good} AND block BETWEEN ${fromBlock} AND ${end}
    ORDER BY block LIMIT ${rows + 1})`;
  const [n, from_block, last] = (await numbers(warehouse, sql, 3)) as [number, number, number];
  if (n === 0) return null;
  const to_block = n <= rows ? last : last > from_block ? last - 1 : last;
  const within = `${good} AND block BETWEEN ${from_block} AND ${to_block}`;
  const held = await one(warehouse, `SELECT count() FROM import_rows WHERE ${within}`);
  return { from_block, to_block, rows: held };
}

/** The tables of one import, to whoever writes it. */
export type ImportTables = ReturnType<typeof importTables>;

async function countsOf(warehouse: Warehouse, window: Window): Promise<WindowCounts> {
  const from = `FROM import_facts WHERE ${ofWindow(window)}`;
  const [transfers, success_unknown, creations, of_another_fork, contradicted] = (await numbers(
    warehouse,
    `SELECT countIf(kind != '' AND success != 1), countIf(kind != '' AND success = 0),
       countIf(creation = 1), countIf(kind != '' AND of_fork = 1),
       uniqExactIf(block, hash_differs = 1) ${from}`,
    5,
  )) as [number, number, number, number, number];
  const left = await warehouse.query(
    `SELECT code, count() FROM (SELECT arrayJoin(left_out) AS code ${from}) GROUP BY code`,
    { ...CALL, row: z.tuple([text, whole]), tuples: true },
  );
  const counts = { transfers, success_unknown, creations, of_another_fork, contradicted };
  return { ...counts, left_out: Object.fromEntries(left) };
}
