// Where do the rows of an import lie between the files and the store, and how are they read back?
// An engine of its own, whichever the warehouse is: disk, not memory, holds what is under way.

import { z } from 'zod';
import { ImportFault } from '../../sources/files/fault.ts';
import { embeddedWarehouse } from '../../stores/warehouse/engine/embedded.ts';
import { ENGINE_LIMITS } from '../../stores/warehouse/engine/engine.ts';
import type { Warehouse } from '../../stores/warehouse/engine/executor.ts';
import { WarehouseQueryError } from '../../stores/warehouse/engine/executor.ts';
import {
  type FileColumn,
  STAGING_TABLES,
  type StagedFile,
  stagingStatement,
} from './staging-sql.ts';

/** A good row of any dataset, as text; empty where the file says nothing. */
export type StagedRow = {
  readonly dataset: string;
  readonly block: number;
  readonly tx: string;
  readonly path: string;
  readonly from: string;
  readonly to: string;
  readonly token: string;
  readonly amount: string;
  readonly trace: string;
  /** 1 succeeded, 0 failed, -1 not told. */
  readonly status: number;
  readonly subtraces: number;
  /** Unix seconds, -1 where not told. */
  readonly time: number;
  readonly hash: string;
  readonly parent: string;
  readonly initiator: string;
  readonly tx_count: number;
  readonly withdrawals: string;
  readonly file: number;
  readonly line: number;
};

/** A row that was refused once its block was looked at as a whole. */
export type LateRefusal = Pick<StagedRow, 'dataset' | 'block' | 'tx' | 'file' | 'line'> & {
  readonly reason: string;
};

/** A refused row as its file is told. */
type RefusedLine = {
  readonly file: number;
  readonly line: number;
  readonly reason: string;
  readonly given: string;
};

/** Rows of whole blocks, and which datasets had rows refused in which of those blocks. */
export type Chunk = {
  readonly toBlock: number;
  readonly rows: readonly StagedRow[];
  readonly refused: ReadonlyMap<number, ReadonlySet<string>>;
};

export type Scratch = {
  readonly columnsOf: (path: string) => Promise<readonly FileColumn[]>;
  /** Stages a file; staged again it changes nothing. Answers the rows that it holds. */
  readonly stage: (file: StagedFile, signal: AbortSignal) => Promise<number>;
  /** Rows and bytes read by the staging that is under way. */
  readonly underWay: () => Promise<{ readonly rows: number; readonly bytes: number }>;
  readonly rowsIn: () => Promise<number>;
  /** The next whole blocks from a block on, `null` after the last. */
  readonly chunk: (fromBlock: number) => Promise<Chunk | null>;
  readonly refuse: (rows: readonly LateRefusal[]) => Promise<void>;
  readonly refusedCounts: () => Promise<ReadonlyMap<string, number>>;
  readonly refusedLines: (max: number) => Promise<readonly RefusedLine[]>;
  /** Blocks with a refused row of a dataset, lowest first; 0 stands for rows without a block. */
  readonly refusedBlocks: (dataset: string, max: number) => Promise<readonly number[]>;
  /** The last known time of the blocks up to one, `null` where none is known. */
  readonly lastTime: (toBlock: number) => Promise<number | null>;
  readonly close: () => Promise<void>;
};

const MIB = 1024 * 1024;
/** The engine of an import runs beside the warehouse's own: both must fit. */
const LIMITS = {
  ...ENGINE_LIMITS,
  threadsMax: 1,
  queryBytesMax: 256 * MIB,
  engineBytesMax: 384 * MIB,
  markCacheBytes: 16 * MIB,
};
const CALL = { timeoutMs: 120_000 } as const;
/** How long one file may take to be read. */
const STAGE_TIMEOUT_MS = 12 * 60 * 60 * 1000;
/** Rows read back at once, and the most rows that one block may have. */
export const CHUNK_ROWS = 16_000;
const BLOCK_ROWS_MAX = 120_000;

const text = z.string();
const whole = z.coerce.number().int();
const counted = z.object({ n: whole });
const ROW_COLUMNS = `dataset, block, tx, path, from, to, token, amount, trace, status, subtraces,
  time, hash, parent, initiator, tx_count, withdrawals, file, line`;
const SORTED = 'SETTINGS max_block_size = 8192, max_bytes_before_external_sort = 134217728';

/** Opens the scratch engine in a directory of its own; a chunk has so many rows, or one block. */
export async function openScratch(directory: string, chunkRows: number): Promise<Scratch> {
  const engine = await embeddedWarehouse(directory, LIMITS);
  for (const statement of STAGING_TABLES) await engine.command(statement, CALL);
  return {
    columnsOf: (path) => columnsOf(engine, path),
    stage: (file, signal) => stage(engine, file, signal),
    underWay: () => underWay(engine),
    rowsIn: () => count(engine, "SELECT count() AS n FROM staged FINAL WHERE reason = ''"),
    chunk: (fromBlock) => chunkFrom(engine, fromBlock, chunkRows),
    refuse: (rows) => refuse(engine, rows),
    refusedCounts: () => refusedCounts(engine),
    refusedLines: (max) => refusedLines(engine, max),
    refusedBlocks: (dataset, max) => refusedBlocks(engine, dataset, max),
    lastTime: (toBlock) => lastTime(engine, toBlock),
    close: () => engine.close(),
  };
}

async function columnsOf(engine: Warehouse, path: string): Promise<readonly FileColumn[]> {
  const shape = z.object({ name: text, type: text });
  return engine
    .query(`DESCRIBE TABLE file('${path}', 'Parquet')`, { ...CALL, row: shape })
    .catch(unreadable);
}

/** The engine's words may quote the file; only what kind of fault it is, and where, is told. */
function unreadable(fault: unknown): never {
  if (!(fault instanceof WarehouseQueryError)) throw fault;
  const at = /\(at row (\d+)\)/.exec(fault.detail);
  const where = at === null ? '' : ` at row ${at[1]}`;
  throw new ImportFault(`the file cannot be read${where} (${fault.reason}).`);
}

async function count(engine: Warehouse, sql: string): Promise<number> {
  const [first] = await engine.query(sql, { ...CALL, row: counted });
  if (first === undefined) throw new Error('A count has one row.');
  return first.n;
}

async function stage(engine: Warehouse, file: StagedFile, signal: AbortSignal): Promise<number> {
  const call = { timeoutMs: STAGE_TIMEOUT_MS, signal };
  await engine.command(stagingStatement(file), call).catch(unreadable);
  return count(engine, `SELECT max(rows) AS n FROM staged_files WHERE file = ${file.number}`);
}

async function underWay(engine: Warehouse): Promise<{ rows: number; bytes: number }> {
  const [first] = await engine.query(
    `SELECT max(read_rows) AS rows, max(read_bytes) AS bytes FROM system.processes
     WHERE position(query, 'INSERT INTO staged') > 0 AND position(query, 'system.processes') = 0`,
    { ...CALL, row: z.object({ rows: whole, bytes: whole }) },
  );
  if (first === undefined) throw new Error('An aggregate has one row.');
  return first;
}

async function chunkFrom(
  engine: Warehouse,
  fromBlock: number,
  chunkRows: number,
): Promise<Chunk | null> {
  const toBlock = await chunkEnd(engine, fromBlock, chunkRows);
  if (toBlock === null) return null;
  const within = `block BETWEEN ${fromBlock} AND ${toBlock}`;
  const rows = await engine
    .query(
      `SELECT ${ROW_COLUMNS} FROM staged FINAL WHERE reason = '' AND ${within}
       ORDER BY block, tx, file, line ${SORTED}`,
      { ...CALL, row: { parse: stagedRow }, tuples: true, rowsMax: BLOCK_ROWS_MAX },
    )
    .catch((fault: unknown) => {
      if (fault instanceof WarehouseQueryError && fault.reason.startsWith('TOO_MANY_ROWS')) {
        throw new ImportFault(`One block from ${fromBlock} on has over ${BLOCK_ROWS_MAX} rows.`);
      }
      throw fault;
    });
  const refusals = await engine.query(
    `SELECT DISTINCT block, dataset FROM staged WHERE reason != '' AND block > 0 AND ${within}`,
    { ...CALL, row: z.object({ block: whole, dataset: text }) },
  );
  const refused = new Map<number, Set<string>>();
  for (const { block, dataset } of refusals) {
    const held = refused.get(block);
    if (held === undefined) refused.set(block, new Set([dataset]));
    else held.add(dataset);
  }
  return { toBlock, rows, refused };
}

/** The last of the whole blocks that fit a chunk: a single block if it does not fit. */
async function chunkEnd(
  engine: Warehouse,
  fromBlock: number,
  chunkRows: number,
): Promise<number | null> {
  const good = `FROM staged WHERE reason = '' AND block >= ${fromBlock}`;
  const [reach] = await engine.query(
    `SELECT count() AS n, min(block) AS first, max(block) AS last
     FROM (SELECT block ${good} ORDER BY block LIMIT ${chunkRows}) ${SORTED}`,
    { ...CALL, row: z.object({ n: whole, first: whole, last: whole }) },
  );
  if (reach === undefined || reach.n === 0) return null;
  if (reach.n < chunkRows) return reach.last;
  return reach.last > reach.first ? reach.last - 1 : reach.last;
}

/** Millions of rows are read back, so that they are looked at by hand, a cell at a time. */
function stagedRow(cells: unknown): StagedRow {
  if (!Array.isArray(cells) || cells.length !== ROW_CELLS) throw new TypeError(OTHER_SHAPE);
  const [dataset, block, tx, path, from, to, token, amount, trace, ...rest]: unknown[] = cells;
  const [status, subtraces, time, hash, parent, initiator, tx_count, withdrawals, ...at] = rest;
  const [file, line] = at;
  return {
    dataset: word(dataset),
    block: integer(block),
    tx: word(tx),
    path: word(path),
    from: word(from),
    to: word(to),
    token: word(token),
    amount: word(amount),
    trace: word(trace),
    status: integer(status),
    subtraces: integer(subtraces),
    time: integer(time),
    hash: word(hash),
    parent: word(parent),
    initiator: word(initiator),
    tx_count: integer(tx_count),
    withdrawals: word(withdrawals),
    file: integer(file),
    line: integer(line),
  };
}

const ROW_CELLS = 19;
const OTHER_SHAPE = 'a staged row has another shape';

function word(cell: unknown): string {
  if (typeof cell !== 'string') throw new TypeError(OTHER_SHAPE);
  return cell;
}

/** A whole number; the engine quotes those of 64 bits. */
function integer(cell: unknown): number {
  const number = typeof cell === 'string' ? Number(cell) : cell;
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw new TypeError(OTHER_SHAPE);
  return number;
}

async function refuse(engine: Warehouse, rows: readonly LateRefusal[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = ['dataset', 'block', 'tx', 'file', 'line', 'reason'];
  const cells = rows.map((one) => [
    ...[one.dataset, one.block, one.tx],
    ...[one.file, one.line, one.reason],
  ]);
  await engine.insert('refused', { columns, rows: cells }, CALL);
}

const EACH_REFUSED = `(SELECT dataset, block, file, line, reason, given FROM staged FINAL
  WHERE reason != ''
  UNION ALL SELECT dataset, block, file, line, reason,
    concat('block ', toString(block), ', transaction ', tx) AS given FROM refused FINAL)`;

async function refusedCounts(engine: Warehouse): Promise<ReadonlyMap<string, number>> {
  const rows = await engine.query(
    `SELECT reason, count() AS n FROM ${EACH_REFUSED} GROUP BY reason ORDER BY reason`,
    { ...CALL, row: z.object({ reason: text, n: whole }) },
  );
  return new Map(rows.map(({ reason, n }) => [reason, n]));
}

async function refusedLines(engine: Warehouse, max: number): Promise<readonly RefusedLine[]> {
  return engine.query(
    `SELECT file, line, reason, given FROM ${EACH_REFUSED} ORDER BY file, line LIMIT ${max}`,
    { ...CALL, row: z.object({ file: whole, line: whole, reason: text, given: text }) },
  );
}

async function refusedBlocks(
  engine: Warehouse,
  dataset: string,
  max: number,
): Promise<readonly number[]> {
  const rows = await engine.query(
    `SELECT DISTINCT block FROM ${EACH_REFUSED} WHERE dataset = {dataset:String}
     ORDER BY block LIMIT ${max}`,
    { ...CALL, row: z.object({ block: whole }), params: { dataset } },
  );
  return rows.map(({ block }) => block);
}

async function lastTime(engine: Warehouse, toBlock: number): Promise<number | null> {
  const n = await count(
    engine,
    `SELECT if(countIf(time >= 0) = 0, -1, maxIf(time, time >= 0)) AS n FROM staged
     WHERE reason = '' AND block <= ${toBlock}`,
  );
  return n < 0 ? null : n;
}
