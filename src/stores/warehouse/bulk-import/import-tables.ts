// The statements on the tables of a running import. They lie in the warehouse itself, apart by
// import, so that any number of imports run side by side.

import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import { TRANSFER_KINDS, type TransferKind, wholeKinds } from '../../../chain/transfer.ts';
import { tally } from '../../../evidence/measure.ts';
import type {
  BulkDataset,
  BulkImportOrder,
  HeldRange as HeldTableRange,
  ImportedFile,
} from '../../../ports/indexing.ts';
import { writeWhole } from '../../../sources/files/write-whole.ts';
import { type Call, queryNumber, queryRow, type Warehouse } from '../engine/executor.ts';
import { completeBlocks, WRITE } from '../transfers/append.ts';
import {
  blocksStatement,
  factsStatement,
  inWindow,
  proofQuery,
  type Window,
  withdrawalsStatement,
  writingStatements,
} from './rows-sql.ts';

/** Blocks to be written at once, and their rows. */
export type WholeBlocks = {
  readonly from_block: number;
  readonly to_block: number;
  readonly rows: number;
};

/** The counts of some blocks' facts. */
export type WindowCounts = Pick<
  Checkpoint,
  'transfers' | 'success_unknown' | 'creations' | 'of_another_fork' | 'contradicted' | 'left_out'
>;

const CALL: Call = { timeoutMs: 300_000 };
/** No row of a block beyond this one is looked for. */
const BLOCK_MAX = 999_999_999_999_999;
const TABLES = ['import_rows', 'import_facts', 'import_refused'] as const;

const text = z.string();
const whole = z.coerce.number().int();
/** A refused row as its file is told. */
const refusedLine = z.object({ file: whole, line: whole, reason: text, given: text });
const partitionRow = z.tuple([text]);
const spanRow = z.tuple([whole, whole, whole]);
const countedRow = z.tuple([text, whole]);
const provedRow = z.tuple([z.enum(['native', 'internal']), whole, whole, whole]);

export function importTables(warehouse: Warehouse, importId: string) {
  const mine = `import_id = '${importId}'`;
  return {
    drop: (table: (typeof TABLES)[number], file?: number) => drop(warehouse, table, mine, file),
    /** Clears away all that is held of this import while it is under way. */
    clear: async () => {
      for (const table of TABLES) await drop(warehouse, table, mine, undefined);
    },
    rowsOf: (file: number) =>
      queryNumber(
        warehouse,
        `SELECT max(line) FROM import_rows WHERE ${mine} AND file = ${file}`,
        CALL,
      ),
    /** Takes the refused rows of a file that was read out of the way. */
    keepRefused: (file: number) =>
      warehouse.command(
        `INSERT INTO import_refused (import_id, file, line, dataset, block, reason, given)
         SELECT import_id, file, line, dataset, block, reason, given FROM import_rows
         WHERE ${mine} AND file = ${file} AND reason != ''`,
        CALL,
      ),
    /** The next whole blocks from one to before another: so many rows, or one block. */
    next: async (
      fromBlock: number,
      bound: number | null,
      rows: number,
    ): Promise<WholeBlocks | null> => {
      const end = bound === null ? BLOCK_MAX : bound - 1;
      const good = `${mine} AND reason = ''`;
      const sql = `SELECT count(), min(block), max(block) FROM (
        SELECT block FROM import_rows WHERE ${good} AND block BETWEEN ${fromBlock} AND ${end}
        ORDER BY block LIMIT ${rows + 1})`;
      const [n, from_block, last] = await queryRow(warehouse, sql, { ...CALL, row: spanRow });
      if (n === 0) return null;
      const to_block = n <= rows ? last : last > from_block ? last - 1 : last;
      const within = `${good} AND block BETWEEN ${from_block} AND ${to_block}`;
      const count = `SELECT count() FROM import_rows WHERE ${within}`;
      return { from_block, to_block, rows: await queryNumber(warehouse, count, CALL) };
    },
    counts: async (window: Window): Promise<WindowCounts> => {
      const from = `FROM import_facts WHERE ${inWindow(window)}`;
      const sql = `SELECT countIf(kind != '' AND success != 1),
        countIf(kind != '' AND success = 0), countIf(creation = 1),
        countIf(kind != '' AND of_fork = 1), uniqExactIf(block, hash_differs = 1) ${from}`;
      const row = z.tuple([whole, whole, whole, whole, whole]);
      const counts = await queryRow(warehouse, sql, { ...CALL, row });
      const [transfers, success_unknown, creations, of_another_fork, contradicted] = counts;
      const codes = `SELECT code, count() FROM (SELECT arrayJoin(left_out) AS code ${from})
        GROUP BY code`;
      const query = { ...CALL, row: countedRow, tuples: true };
      const left_out = Object.fromEntries(await warehouse.query(codes, query));
      return { transfers, success_unknown, creations, of_another_fork, contradicted, left_out };
    },
    /** Ranges of blocks that the facts of a window prove. */
    proved: async (window: Window, rangesMax: number): Promise<readonly ImportedRange[]> => {
      const sql = proofQuery(window, rangesMax);
      const query = { ...CALL, row: provedRow, tuples: true, rowsMax: rangesMax };
      const rows = await warehouse.query(sql, query);
      return rows.map(([kind, from_block, to_block, to_time]) => {
        return { kind, from_block, to_block, to_time };
      });
    },
    refusedCounts: async (): Promise<ReadonlyMap<string, number>> => {
      const sql = `SELECT reason, count() FROM import_refused FINAL WHERE ${mine}
        GROUP BY reason ORDER BY reason`;
      return new Map(await warehouse.query(sql, { ...CALL, row: countedRow, tuples: true }));
    },
    refusedLines: (max: number) => {
      const sql = `SELECT file, line, reason, given FROM import_refused FINAL WHERE ${mine}
        ORDER BY file, line LIMIT ${max}`;
      return warehouse.query(sql, { ...CALL, row: refusedLine });
    },
    /** Blocks with a refused row of a dataset; 0 stands for rows without a block. */
    refusedBlocks: async (dataset: string, max: number): Promise<readonly number[]> => {
      const sql = `SELECT DISTINCT block FROM import_refused
        WHERE ${mine} AND dataset = {dataset:String} ORDER BY block LIMIT ${max}`;
      const query = { ...CALL, row: z.tuple([whole]), tuples: true, params: { dataset } };
      return (await warehouse.query(sql, query)).map(([block]) => block);
    },
    /** The last time that the files tell of the blocks up to one, `null` where they tell none. */
    lastTime: async (toBlock: number): Promise<number | null> => {
      const sql = `SELECT maxOrDefault(if(time < 0, -1, time) + 1) - 1 FROM import_blocks
        WHERE ${mine} AND block <= ${toBlock}`;
      const time = await queryNumber(warehouse, sql, CALL);
      return time < 0 ? null : time;
    },
  };
}

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

/** The tables of one import, to whoever writes it. */
export type ImportTables = ReturnType<typeof importTables>;

// Derives the ranges of blocks that may be recorded as held in full. The files prove some, block by
// block, and the operator declares others; a refused row breaks both.

const wholeNumber = z.number().int().nonnegative();

/** Blocks of a kind, both ends included; `to_time` is the last one's, in Unix seconds. */
const importedRange = z.strictObject({
  kind: z.enum(TRANSFER_KINDS),
  from_block: wholeNumber,
  to_block: wholeNumber,
  to_time: wholeNumber,
});
export type ImportedRange = Readonly<z.output<typeof importedRange>>;

/** Ranges kept apart at most; an import of scattered blocks proves no more than these. */
export const RANGES_MAX = 5_000;

/** Adds a range of a kind: it goes on with the last one of its kind, or is one of its own. */
export function withRange(ranges: ImportedRange[], range: ImportedRange): void {
  const at = ranges.findLastIndex(({ kind }) => kind === range.kind);
  const last = ranges[at];
  if (last !== undefined && last.to_block + 1 === range.from_block) {
    ranges[at] = { ...range, from_block: last.from_block };
  } else if (ranges.length < RANGES_MAX) {
    ranges.push(range);
  }
}

/** A range without some of its blocks, which are given lowest first. */
export function without(
  range: { readonly from_block: number; readonly to_block: number },
  blocks: readonly number[],
): readonly { readonly from_block: number; readonly to_block: number }[] {
  const parts: { from_block: number; to_block: number }[] = [];
  let from = range.from_block;
  for (const block of blocks) {
    if (block < from || block > range.to_block) continue;
    if (block > from) parts.push({ from_block: from, to_block: block - 1 });
    from = block + 1;
  }
  if (from <= range.to_block) parts.push({ from_block: from, to_block: range.to_block });
  return parts;
}

// Stores the progress of an import. A checkpoint is complete or missing; steps that it does not
// count are repeated and change nothing.

const counts = z.record(z.string(), wholeNumber);
const checkpoint = z.strictObject({
  /** Rows of each file that was read, by its number, and files of which all is written. */
  read: counts,
  dropped: z.array(wholeNumber),
  /** The first block that was not written yet. */
  next_block: wholeNumber,
  rows_written: wholeNumber,
  transfers: wholeNumber,
  creations: wholeNumber,
  /** Transfers of which no file told whether they succeeded. */
  success_unknown: wholeNumber,
  of_another_fork: wholeNumber,
  /** Blocks of which a row told another hash than their header. */
  contradicted: wholeNumber,
  left_out: counts,
  proved: z.array(importedRange),
});

/** How far an import is. */
export type Checkpoint = z.infer<typeof checkpoint>;

const FILE = 'checkpoint.json';

/** Where an import begins. */
export function firstCheckpoint(): Checkpoint {
  const facts = { rows_written: 0, transfers: 0, creations: 0, success_unknown: 0 };
  const apart = { of_another_fork: 0, contradicted: 0, left_out: {}, proved: [] };
  return { read: {}, dropped: [], next_block: 0, ...facts, ...apart };
}

/** The checkpoint in a folder, `null` where there is none, or none of this version. */
export async function readCheckpoint(folder: string): Promise<Checkpoint | null> {
  const text = await readFile(join(folder, FILE), 'utf8').catch((fault: unknown) => {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return null;
    throw fault;
  });
  if (text === null) return null;
  const { data } = checkpoint.safeParse(JSON.parse(text));
  return data === undefined ? null : data;
}

/** Takes the checkpoint of a folder away: what it counts is not there any more. */
export async function forgetCheckpoint(folder: string): Promise<void> {
  await rm(join(folder, FILE), { force: true });
}

/** Replaces the checkpoint of a folder in one step. */
export async function writeCheckpoint(folder: string, state: Checkpoint): Promise<void> {
  await writeWhole(join(folder, FILE), JSON.stringify(state));
}

// Records the blocks that an import holds in full: those that its files prove, and those that the
// operator declared, without the blocks of a refused row. Kinds that no file can hold are never
// accepted by declaration.

/** Blocks with refused rows that a declared range is cut at; with more it is not believed. */
const HOLES_MAX = 1_000;

/** Reads the refused rows of an import, and their times. */
export type RefusedRowReads = Pick<ImportTables, 'refusedBlocks' | 'lastTime'>;

/** The counts of an import that its coverage depends on. */
type Counted = Pick<
  Checkpoint,
  'proved' | 'of_another_fork' | 'contradicted' | 'success_unknown' | 'left_out'
>;
type WholeKind = { readonly kind: TransferKind; readonly by: readonly BulkDataset[] };

/** The ranges to record. */
export async function coverageOf(
  state: Counted,
  order: BulkImportOrder,
  files: readonly ImportedFile[],
  source: string,
  rows: RefusedRowReads,
  onNote: (line: string) => void,
): Promise<readonly HeldTableRange[]> {
  const common = { chain: order.chain, source, origin: order.origin } as const;
  const proved = state.proved.map((range) => ({ ...common, ...range }));
  if (proved.length >= RANGES_MAX) {
    onNote(`Only the first ${RANGES_MAX} ranges of blocks are recorded as held in full.`);
  }
  if (order.declared === null) return proved;
  if (state.of_another_fork > 0) {
    onNote('Another fork is held of some of these blocks, so no declared block is held in full.');
    return proved;
  }
  if (state.contradicted > 0) {
    onNote('Headers of some blocks are not those of their rows, so no declared block is held.');
    return proved;
  }
  const declared: HeldTableRange[] = [];
  for (const told of kindsToldWhole(state, order, files, onNote)) {
    const holes = await holesOf(told, rows);
    if (holes === null) {
      onNote(`${told.kind}: too many rows were refused, so no declared block is held in full.`);
      continue;
    }
    for (const part of without(order.declared, holes)) {
      const to_time = await rows.lastTime(part.to_block);
      if (to_time === null) onNote(`No time is known up to block ${part.to_block}.`);
      else declared.push({ ...common, ...part, kind: told.kind, to_time });
    }
  }
  return [...proved, ...declared];
}

/** The kinds of transfer that the files can tell whole, each with the datasets that tell it. */
function kindsToldWhole(
  state: Counted,
  { chain }: BulkImportOrder,
  files: readonly ImportedFile[],
  onNote: (line: string) => void,
): readonly WholeKind[] {
  const has = (dataset: BulkDataset) => files.some((file) => file.dataset === dataset);
  const kinds: WholeKind[] = [];
  if (has('token_transfers')) kinds.push({ kind: 'token', by: ['token_transfers'] });
  const coins: BulkDataset[] = (['traces', 'transactions', 'native_transfers'] as const).filter(
    has,
  );
  const untold = state.left_out['created_address_not_told'];
  if (coins.length > 0 && (state.success_unknown > 0 || untold !== undefined)) {
    onNote('native: the files do not tell of every transaction whether and whom it reached.');
    return kinds;
  }
  if (coins.length > 0) kinds.push({ kind: 'native', by: coins });
  if (!has('traces')) return kinds;
  if (wholeKinds('trace_files', chain, FIRST_BLOCK, 'rootless').includes('internal')) {
    kinds.push({ kind: 'internal', by: ['traces', 'blocks'] });
  } else {
    onNote(`internal: traces of ${chain} do not tell all of it, so no declared block is held.`);
  }
  return kinds;
}

const FIRST_BLOCK = 0;

async function holesOf(
  { by }: WholeKind,
  rows: RefusedRowReads,
): Promise<readonly number[] | null> {
  const holes = new Set<number>();
  for (const dataset of by) {
    const blocks = await rows.refusedBlocks(dataset, HOLES_MAX + 1);
    // A refused row that names no block may be of any.
    if (blocks.length > HOLES_MAX || blocks.includes(0)) return null;
    for (const block of blocks) holes.add(block);
  }
  return [...holes].sort((a, b) => a - b);
}

// Writes the rows of whole blocks as facts of the warehouse. All of it may be written again: an
// interrupted part is, and changes nothing.

/** Writes whole blocks, `rows` of them, and answers the checkpoint behind them. */
export async function writeBlocks(
  warehouse: Warehouse,
  tables: ImportTables,
  window: Window,
  rows: number,
  state: Checkpoint,
): Promise<Checkpoint> {
  // Facts of these blocks from an earlier attempt would count twice.
  await tables.drop('import_facts');
  // The last writer of two imports of one block sees the signers of both.
  await inTurn(window.chain, async () => {
    const statements = [blocksStatement(window), factsStatement(window)];
    if (window.datasets.has('blocks')) statements.push(withdrawalsStatement(window));
    statements.push(...writingStatements(window));
    for (const statement of statements) await warehouse.command(statement, WRITE);
    await completeBlocks(warehouse, window.chain, window.from_block, window.to_block);
  });
  const counts = await tables.counts(window);
  const proved = state.proved.map((range) => ({ ...range }));
  for (const range of await tables.proved(window, RANGES_MAX)) withRange(proved, range);
  await tables.drop('import_facts');
  const left_out = new Map(Object.entries(state.left_out));
  for (const [code, n] of Object.entries(counts.left_out)) tally(left_out, code, n);
  return {
    ...state,
    next_block: window.to_block + 1,
    rows_written: state.rows_written + rows,
    transfers: state.transfers + counts.transfers,
    success_unknown: state.success_unknown + counts.success_unknown,
    creations: state.creations + counts.creations,
    of_another_fork: state.of_another_fork + counts.of_another_fork,
    contradicted: state.contradicted + counts.contradicted,
    left_out: Object.fromEntries(left_out),
    proved,
  };
}

const turns = new Map<ChainName, Promise<unknown>>();

/** One import at a time writes blocks of a chain; the others read their files meanwhile. */
async function inTurn(chain: ChainName, work: () => Promise<void>): Promise<void> {
  const before = turns.get(chain);
  const turn = (before === undefined ? Promise.resolve() : before).then(work);
  turns.set(
    chain,
    turn.catch(() => undefined),
  );
  await turn;
}
