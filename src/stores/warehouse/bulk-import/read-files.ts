// How do the files of an import come into its table, one after the other?
// Files are read in the order of their blocks, so that blocks which no later file can add to are
// written, and their rows dropped, before the next file is read.

import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CHAINS } from '../../../chain/chain.ts';
import type { BulkImportOrder, BulkImportWatch } from '../../../ports/indexing/imports.ts';
import { ImportFault } from '../../../sources/files/fault.ts';
import { fingerprintOf } from '../../../sources/files/input-file.ts';
import {
  type Call,
  type FileSource,
  type LocalFiles,
  type Warehouse,
  WarehouseQueryError,
} from '../engine/executor.ts';
import { type ExportLayout, layoutOf } from './layout.ts';
import type { ImportPlan, PlannedFile } from './plan.ts';
import {
  type FileColumn,
  type FileRows,
  READ_SETTINGS,
  reachStatement,
  rowsStatement,
  structureOf,
} from './rows-sql.ts';

/** How long one file may take to be read. */
const READ: Call = { timeoutMs: 12 * 60 * 60 * 1000 };
const CALL: Call = { timeoutMs: 120_000 };
/** How often progress within a file is asked for. */
const LOOK_MS = 1_000;

/** A file that is known for what it is. */
export type KnownFile = {
  readonly file: PlannedFile;
  readonly layout: ExportLayout;
  readonly rows: FileRows;
  readonly source: FileSource;
};

/** The blocks that a file holds rows of; `null` where it holds none. */
export type Reach = { readonly first: number; readonly last: number } | null;

/** What files are read with: the engine that looks into them, and the warehouse they go into. */
export type Reading = {
  readonly plan: ImportPlan;
  readonly order: BulkImportOrder;
  readonly folder: string;
  /** An engine on this machine: the warehouse itself, where it is one. */
  readonly local: LocalFiles;
  readonly warehouse: Warehouse;
  readonly watch: BulkImportWatch;
};

/** Recognises every file before any is read; `null` for an empty one. */
export async function knownFiles(work: Reading): Promise<readonly (KnownFile | null)[]> {
  const known: (KnownFile | null)[] = [];
  for (const file of work.plan.files) known.push(await recognised(file, work));
  return known;
}

async function recognised(file: PlannedFile, work: Reading): Promise<KnownFile | null> {
  if (file.format === 'empty') {
    work.watch.onNote(`${file.name}: empty.`);
    return null;
  }
  const path = join(work.folder, 'files', String(file.number));
  // The engine reads patterns in paths, and one of ours holds none.
  if (/[*?{}]/.test(path)) throw new ImportFault(`${path}: this folder's name reads as a pattern.`);
  await symlink(file.path, path).catch((fault: unknown) => {
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'EEXIST')) throw fault;
  });
  const { format, gzip, number, name } = file;
  const unread = { path, format, gzip, columns: [] };
  const columns: readonly FileColumn[] =
    file.columns === null
      ? await named(name, columnsOf(work.local, unread))
      : file.columns.map((column) => ({ name: column, type: null }));
  const layout = layoutOf(
    name,
    columns.map((column) => column.name),
  );
  const chainId = CHAINS[work.order.chain].chain_id;
  if (chainId === null) throw new TypeError('an EVM chain without an id');
  const rows = { import_id: work.plan.id, number, layout, columns, chainId };
  return { file, layout, rows, source: { ...unread, columns: structureOf(layout, columns) } };
}

async function columnsOf(local: LocalFiles, source: FileSource): Promise<readonly FileColumn[]> {
  const row = z.object({ name: z.string(), type: z.string() });
  return local.queryFile(source, (table) => `DESCRIBE TABLE ${table}`, { ...CALL, row });
}

/** Which blocks a file holds rows of. */
export async function reachOf({ file, rows, source }: KnownFile, work: Reading): Promise<Reach> {
  const row = z.object({ n: z.coerce.number(), first: z.coerce.number(), last: z.coerce.number() });
  const sql = (table: string) => reachStatement(rows, table);
  // The order of rows does not matter here, so that text may be parsed by all threads.
  const settings = { ...READ_SETTINGS, max_threads: 2, input_format_parallel_parsing: 1 };
  const query = { ...READ, signal: work.watch.signal, row, settings };
  const [reach] = await named(file.name, work.local.queryFile(source, sql, query));
  if (reach === undefined) throw new RangeError('an aggregate has one row');
  return reach.n === 0 ? null : reach;
}

/** Reads a file into the table of rows. `onProgress` is told of rows and bytes so far. */
export async function readFile(
  { file, rows, source }: KnownFile,
  { warehouse, watch }: Reading,
  onProgress: (rows: number, bytes: number) => void,
): Promise<void> {
  const look = setInterval(() => {
    underWay(warehouse, rows.import_id).then(
      (now) => onProgress(now.rows, Math.min(now.bytes, file.bytes)),
      () => undefined,
    );
  }, LOOK_MS);
  const sql = (table: string) => rowsStatement(rows, table);
  const call = { ...READ, signal: watch.signal, settings: READ_SETTINGS };
  try {
    await named(file.name, warehouse.commandFile(source, sql, call));
  } finally {
    clearInterval(look);
  }
  if ((await fingerprintOf(file.path)) !== file.fingerprint) {
    throw new ImportFault(`${file.name}: it changed while it was read.`);
  }
}

/** The engine's words may quote the file; only what kind of fault it is, and where, is told. */
async function named<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (fault) {
    if (!(fault instanceof WarehouseQueryError)) throw fault;
    const at = /\(at row (\d+)\)/.exec(fault.detail);
    const where = at === null ? '' : ` at row ${at[1]}`;
    throw new ImportFault(`${name}: the file cannot be read${where} (${fault.reason}).`);
  }
}

async function underWay(warehouse: Warehouse, importId: string) {
  const [first] = await warehouse.query(
    `SELECT max(read_rows) AS rows, max(read_bytes) AS bytes FROM system.processes
     WHERE position(query, 'INSERT INTO import_rows') > 0
       AND position(query, {id:String}) > 0 AND position(query, 'system.processes') = 0`,
    {
      ...CALL,
      row: z.object({ rows: z.coerce.number(), bytes: z.coerce.number() }),
      params: { id: importId },
    },
  );
  if (first === undefined) throw new RangeError('an aggregate has one row');
  return first;
}
