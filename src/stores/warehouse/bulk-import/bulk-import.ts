// Imports files of chain exports into the warehouse, each transfer once. The warehouse's own engine
// reads them, file by file in the order of their blocks; whole blocks are written as soon as no
// other file can add to them. Several imports may run side by side.

import { mkdir, readdir, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CHAINS } from '../../../chain/chain.ts';
import { countOrZero } from '../../../evidence/measure.ts';
import { why } from '../../../evidence/reasons.ts';
import type {
  BulkImport,
  BulkImportOrder,
  BulkImportOutcome,
  BulkImportRecord,
  BulkImportWatch,
  ImportedFile,
  TransferStore,
} from '../../../ports/indexing.ts';
import { fingerprintOf } from '../../../sources/files/input-file.ts';
import { ImportFault } from '../../../sources/files/text-lines.ts';
import { writeWhole } from '../../../sources/files/write-whole.ts';
import { ENGINE_LIMITS, openEmbedded } from '../engine/embedded.ts';
import {
  type Call,
  type FileSource,
  type LocalFiles,
  queryRow,
  type Warehouse,
  WarehouseQueryError,
  WarehouseRefusal,
  WarehouseUnavailable,
} from '../engine/executor.ts';
import { observedFlag } from '../transfers/append.ts';
import { degreeCount, keepCounts } from '../transfers/counts.ts';
import { type ImportLedger, importLedger } from '../transfers/imports.ts';
import { isWithoutRoom, patientWarehouse, waitForRoom } from './import-room.ts';
import {
  type Checkpoint,
  coverageOf,
  firstCheckpoint,
  forgetCheckpoint,
  type ImportTables,
  importTables,
  readCheckpoint,
  writeBlocks,
  writeCheckpoint,
} from './import-tables.ts';
import {
  type ExportLayout,
  fileLayoutOf,
  type ImportPlan,
  type PlannedFile,
  planOf,
  sourceOf,
} from './layout.ts';
import {
  type FileColumn,
  type FileRows,
  READ_SETTINGS,
  reachStatement,
  rowsStatement,
  structureOf,
} from './rows-sql.ts';

/** Refused rows that are told one by one, in the file beside the imports. */
const REFUSED_LINES_MAX = 10_000;
/** An import that nobody has gone on with for so long is cleared away. */
const LEFT_MS = 7 * 24 * 60 * 60 * 1000;
/** Rows that are written at once, or one block. */
const BLOCK_ROWS = 400_000;
const UNDER_WAY = 'under-way';
const MIB = 1024 * 1024;
/** The engine that looks into files where the warehouse itself is elsewhere. */
const OWN = {
  ...ENGINE_LIMITS,
  threadsMax: 1,
  queryBytesMax: 256 * MIB,
  engineBytesMax: 384 * MIB,
  markCacheBytes: 16 * MIB,
};

/** Where an import goes. `now` is Unix seconds. */
export type ImportInto = {
  readonly warehouse: Warehouse | (Warehouse & LocalFiles);
  readonly store: Pick<TransferStore, 'recordCoverage'>;
  readonly now: () => number;
};

/** Imports into a warehouse. `directory` is this importer's own: how far each import is. */
export function bulkImporter(
  into: ImportInto,
  directory: string,
  blockRows = BLOCK_ROWS,
): BulkImport {
  const underWay = new Set<string>();
  return async (order, watch) => {
    try {
      const plan = await planOf(order);
      if (underWay.has(plan.id)) return unreadable('this import is under way already');
      underWay.add(plan.id);
      try {
        const patient = { ...into, warehouse: patientWarehouse(into.warehouse, watch) };
        await clearLeft(patient.warehouse, directory, underWay);
        return await runImport({ into: patient, directory, blockRows }, plan, order, watch);
      } finally {
        underWay.delete(plan.id);
      }
    } catch (fault) {
      return faulty(fault, watch.signal);
    }
  };
}

function unreadable(fault: string): BulkImportOutcome {
  return { outcome: 'unread', why: why('file_unreadable', { fault }) };
}

/** A failure of the operator's or of the store's is told; anything else is a bug and thrown. */
function faulty(fault: unknown, signal: AbortSignal): BulkImportOutcome {
  if (signal.aborted) return { outcome: 'stopped' };
  if (fault instanceof ImportFault) return unreadable(fault.message.replace(/\.$/, ''));
  if (fault instanceof WarehouseUnavailable || fault instanceof WarehouseRefusal) {
    return unreadable(`the engine that reads files: ${fault.message.replace(/\.$/, '')}`);
  }
  throw fault;
}

async function runImport(
  { into, directory, blockRows }: { into: ImportInto; directory: string; blockRows: number },
  plan: ImportPlan,
  order: BulkImportOrder,
  watch: BulkImportWatch,
): Promise<BulkImportOutcome> {
  const { warehouse, now } = into;
  const folder = join(directory, UNDER_WAY, plan.id);
  await mkdir(join(folder, 'files'), { recursive: true, mode: 0o700 });
  const own = 'queryFile' in warehouse ? null : await openEmbedded(join(folder, 'engine'), OWN);
  try {
    const local = 'queryFile' in warehouse ? warehouse : own;
    if (local === null)
      throw new TypeError('an engine of this machine, started where there is none');
    const reading = { plan, order, folder, local, warehouse, watch };
    const tables = importTables(warehouse, plan.id);
    const work = { ...reading, blockRows, tables, ledger: importLedger(warehouse, now) };
    const known = await recogniseFiles(work);
    const state = await importFiles(work, known, await resumeImport(work));
    const outcome = await endImport(work, state, filesOf(known, state), { into, directory });
    if (outcome.outcome !== 'completed') return outcome;
    await tables.clear();
    await rm(folder, { recursive: true, force: true });
    return outcome;
  } finally {
    await own?.close();
  }
}

/** Where the import was, if it is listed as begun; else its beginning, with nothing left of it. */
async function resumeImport({ plan, order, folder, tables, ledger }: Work): Promise<Checkpoint> {
  const listed = await ledger.find(plan.id);
  const kept = await readCheckpoint(folder);
  if (kept !== null && listed !== null && listed.state === 'begun') return kept;
  await forgetCheckpoint(folder);
  await tables.clear();
  const { chain, origin } = order;
  await ledger.begin({ import_id: plan.id, chain, origin, source: sourceOf(plan) });
  return firstCheckpoint();
}

function filesOf(
  known: readonly (KnownFile | null)[],
  { read }: Checkpoint,
): readonly ImportedFile[] {
  const files = known.filter((one) => one !== null);
  return files.map(({ file: { name, number }, layout: { name: layout, dataset } }) => {
    const rows = read[String(number)];
    if (rows === undefined && dataset !== 'left_aside') {
      throw new RangeError('a file that was not read');
    }
    // A file that is left aside is not read.
    return { name, layout, dataset, rows: countOrZero(rows) };
  });
}

async function endImport(
  { plan, order, tables, ledger, watch }: Work,
  state: Checkpoint,
  files: readonly ImportedFile[],
  { into, directory }: { into: ImportInto; directory: string },
): Promise<BulkImportOutcome> {
  const coverage = await coverageOf(state, order, files, sourceOf(plan), tables, watch.onNote);
  const listed = await ledger.find(plan.id);
  if (listed === null || listed.state !== 'begun') {
    return unreadable('some of its blocks were forgotten meanwhile; type the same command again');
  }
  await ledger.vouch(plan.id, coverage);
  if (coverage.length > 0) {
    const recorded = await into.store.recordCoverage(coverage);
    if (!recorded.checked) return { outcome: 'unread', why: recorded.why };
  } else {
    await degreeCount(into.warehouse).count();
  }
  await keepCounts(into.warehouse);
  const refused = await tables.refusedCounts();
  const rows_refused = [...refused.values()].reduce((sum, n) => sum + n, 0);
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  const refused_file = rows_refused === 0 ? null : await writeRefused(plan, tables, directory);
  const { transfers, creations, of_another_fork } = state;
  await ledger.change(plan.id, 'completed', { rows, rows_refused, transfers });
  const record: BulkImportRecord = {
    import_id: plan.id,
    files,
    rows,
    rows_refused,
    refused,
    left_out: new Map(Object.entries(state.left_out)),
    transfers,
    creations,
    of_another_fork,
    coverage,
    refused_file,
  };
  return { outcome: 'completed', record };
}

/** The first refused rows, one JSON object a line, where the operator finds them afterwards. */
async function writeRefused(
  plan: ImportPlan,
  tables: Work['tables'],
  directory: string,
): Promise<string> {
  const lines = await tables.refusedLines(REFUSED_LINES_MAX);
  const path = join(directory, 'refused', `${plan.id}.jsonl`);
  await mkdir(join(directory, 'refused'), { recursive: true, mode: 0o700 });
  const text = lines.map(({ file, line, reason, given }) =>
    JSON.stringify({ file: plan.files[file]?.name, row: line, reason, given }),
  );
  await writeWhole(path, `${text.join('\n')}\n`);
  return path;
}

async function clearLeft(
  warehouse: Warehouse,
  directory: string,
  underWay: ReadonlySet<string>,
): Promise<void> {
  const folders = join(directory, UNDER_WAY);
  await mkdir(folders, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folders)) {
    const { mtimeMs } = await stat(join(folders, name));
    if (underWay.has(name) || Date.now() - mtimeMs < LEFT_MS) continue;
    await importTables(warehouse, name).clear();
    await rm(join(folders, name), { recursive: true, force: true });
  }
}

// In which order are the files of an import read and their blocks written?
// A block is written once every file that may hold rows of it was read; meanwhile the next file is
// read. Of files whose blocks do not overlap two at most lie in the warehouse's table of rows.

/** One import under way. */
export type Work = FileReading & {
  readonly blockRows: number;
  readonly tables: ImportTables;
  readonly ledger: ImportLedger;
};

/** A file that is read, with the blocks it reaches; those of a lone file need not be known. */
type Ready = { readonly known: KnownFile; readonly first: number; readonly last: number };

/** Files are many and small, or few and large: after so long what was read is noted. */
const CHECKPOINT_MS = 5_000;
const BEFORE_ALL = -1;

/** Reads all files and writes all of their blocks. Answers the checkpoint behind the last. */
export async function importFiles(
  work: Work,
  known: readonly (KnownFile | null)[],
  from: Checkpoint,
): Promise<Checkpoint> {
  const files = known.filter((one) => one !== null);
  for (const { file, layout } of files) {
    if (layout.dataset !== 'left_aside') continue;
    work.watch.onNote(`${file.name}: left aside; nothing of it is transfers.`);
  }
  const told = files.filter(({ layout }) => layout.dataset !== 'left_aside');
  const ready = await inOrder(work, told);
  const progress = progressOf(work, told, from);
  const datasets = new Set(told.map(({ layout }) => layout.dataset));
  let state = from;
  let notedAt = performance.now();
  for (const [at, one] of ready.entries()) {
    const before = state;
    const rows = await waitForRoom(work.watch, () => read(work, one, before, progress));
    state = withRead(before, rows);
    progress({ state, underWay: NOTHING });
    const next = ready[at + 1];
    const waiting = rowsRead(state) - state.rows_written;
    if (next === undefined || waiting >= work.blockRows) {
      state = await writeAndReadOn(work, next, datasets, state, progress);
      progress({ state, underWay: NOTHING });
      for (const done of ready.slice(0, at + 1)) {
        if (done.last >= state.next_block || state.dropped.includes(done.known.file.number))
          continue;
        await work.tables.drop('import_rows', done.known.file.number);
        state = { ...state, dropped: [...state.dropped, done.known.file.number] };
      }
    } else if (performance.now() - notedAt < CHECKPOINT_MS) continue;
    await writeCheckpoint(work.folder, state);
    notedAt = performance.now();
  }
  return state;
}

/**
 * Writes the blocks before those of the next file while that one is read. Where one of the two
 * finds no room in the engine beside the other, it is done again without it; any other fault ends
 * both.
 */
async function writeAndReadOn(
  work: Work,
  next: Ready | undefined,
  datasets: ReadonlySet<string>,
  state: Checkpoint,
  progress: TellProgress,
): Promise<Checkpoint> {
  const ending = new AbortController();
  const signal = AbortSignal.any([work.watch.signal, ending.signal]);
  const both = { ...work, watch: { ...work.watch, signal } };
  const reading =
    next === undefined
      ? Promise.resolve(null)
      : read(both, next, state, progress).catch((fault: unknown) => {
          if (isWithoutRoom(fault)) return null;
          throw fault;
        });
  const bound = next === undefined ? null : Math.max(0, next.first);
  const writing = writeBefore(both, { bound, datasets, reading }, state, progress);
  try {
    const [written, rows] = await Promise.all([writing, reading]);
    return withRead(written, rows);
  } catch (fault) {
    ending.abort();
    // Nothing of it may go on after this; its own failure was told, or follows from the ending.
    await Promise.allSettled([writing, reading]);
    throw fault;
  }
}

/** The files in the order of their first blocks; one alone is not looked through for it. */
async function inOrder(work: Work, files: readonly KnownFile[]): Promise<readonly Ready[]> {
  const [only, second] = files;
  if (only !== undefined && second === undefined) {
    return [{ known: only, first: BEFORE_ALL, last: Number.POSITIVE_INFINITY }];
  }
  const ready: Ready[] = [];
  let bytes = 0;
  const all = files.reduce((sum, { file }) => sum + file.bytes, 0);
  for (const known of files) {
    stopIfAsked(work);
    const reach = await reachOf(known, work);
    ready.push({ known, ...(reach === null ? { first: BEFORE_ALL, last: BEFORE_ALL } : reach) });
    bytes += known.file.bytes;
    work.watch.onProgress({ phase: 'looking', rows: 0, fraction: bytes / all });
  }
  return ready.sort((a, b) => a.first - b.first || a.known.file.number - b.known.file.number);
}

type UnderWay = { readonly rows: number; readonly bytes: number };
type TellProgress = (now: { readonly state?: Checkpoint; readonly underWay?: UnderWay }) => void;
const NOTHING: UnderWay = { rows: 0, bytes: 0 };

/** Half of the way is read, half written. */
function progressOf(
  { watch, plan }: Work,
  files: readonly KnownFile[],
  from: Checkpoint,
): TellProgress {
  const all = files.reduce((sum, { file }) => sum + file.bytes, 0);
  let latest = { state: from, underWay: NOTHING };
  return (now) => {
    latest = { ...latest, ...now };
    const { state, underWay } = latest;
    const read = plan.files.filter(({ number }) => String(number) in state.read);
    const bytes = read.reduce((sum, file) => sum + file.bytes, underWay.bytes);
    const done = all === 0 ? 1 : bytes / all;
    const rows = rowsRead(state) + underWay.rows;
    const written = rows === 0 ? 0 : state.rows_written / rows;
    const fraction = (done + done * written) / 2;
    watch.onProgress({ phase: 'importing', rows: state.rows_written, fraction });
  };
}

function rowsRead({ read }: Checkpoint): number {
  return Object.values(read).reduce((sum, rows) => sum + rows, 0);
}

function withRead(state: Checkpoint, rows: Checkpoint['read'] | null): Checkpoint {
  return { ...state, read: { ...state.read, ...rows } };
}

/** Reads a file, and answers its rows by its number; `null` where it was read before. */
async function read(
  work: Work,
  { known }: Ready,
  state: Checkpoint,
  progress: TellProgress,
): Promise<Checkpoint['read'] | null> {
  const { number, bytes } = known.file;
  if (String(number) in state.read) return null;
  stopIfAsked(work);
  // Rows of an earlier attempt would be there twice.
  await work.tables.drop('import_rows', number);
  await readFile(known, work, (rows, now) => progress({ underWay: { rows, bytes: now } }));
  const rows = await work.tables.rowsOf(number);
  await work.tables.keepRefused(number);
  progress({ underWay: { rows, bytes } });
  return { [number]: rows };
}

/** Writes the blocks before `bound`; all where it is `null`. */
async function writeBefore(
  work: Work,
  {
    bound,
    datasets,
    reading,
  }: { bound: number | null; datasets: ReadonlySet<string>; reading: Promise<unknown> },
  from: Checkpoint,
  progress: TellProgress,
): Promise<Checkpoint> {
  const { warehouse, tables, folder, blockRows, plan } = work;
  const { chain, origin, failed_excluded } = work.order;
  let state = from;
  let rowsAtOnce = blockRows;
  // Each turn is at least one block further or halves the rows, so it ends with the last block.
  for (;;) {
    stopIfAsked(work);
    const blocks = await tables.next(state.next_block, bound, rowsAtOnce);
    if (blocks === null) return state;
    const { rows, ...span } = blocks;
    const files = { import_id: plan.id, chain, observed: observedFlag(origin), failed_excluded };
    const window = { ...files, ...span, datasets };
    const before = state;
    const write = () => writeBlocks(warehouse, tables, window, rows, before);
    const written = await write().catch(async (fault: unknown) => {
      if (isTooLarge(fault)) return null;
      if (!isWithoutRoom(fault)) throw fault;
      await reading;
      return waitForRoom(work.watch, write);
    });
    if (written === null) {
      const { from_block, to_block } = span;
      if (from_block === to_block) throw new ImportFault(tooLargeBlock(from_block, rows));
      rowsAtOnce = Math.max(1, Math.floor(Math.min(rows, rowsAtOnce) / 2));
      continue;
    }
    state = written;
    await writeCheckpoint(folder, state);
    progress({ state });
  }
}

function isTooLarge(fault: unknown): boolean {
  return fault instanceof WarehouseUnavailable && fault.code === 'too_large';
}

const SERVER_NEXT =
  'import into a ClickHouse server that gives one statement more (EXHIBIT_WAREHOUSE_URL)';

function tooLargeBlock(block: number, rows: number): string {
  return (
    `Block ${block} alone (${rows} rows) needs more memory than the warehouse gives one ` +
    `statement; ${SERVER_NEXT}.`
  );
}

function stopIfAsked({ watch }: Work): void {
  if (watch.signal.aborted) throw new WarehouseUnavailable('aborted');
}

// Reads the files of an import into its table, in the order of their blocks, so that blocks which
// no later file can add to are written, and their rows dropped, before the next file is read.

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
export type FileReach = { readonly first: number; readonly last: number } | null;

/** The parts of reading files: the engine that scans them, and the warehouse that receives them. */
export type FileReading = {
  readonly plan: ImportPlan;
  readonly order: BulkImportOrder;
  readonly folder: string;
  /** An engine on this machine: the warehouse itself, where it is one. */
  readonly local: LocalFiles;
  readonly warehouse: Warehouse;
  readonly watch: BulkImportWatch;
};

/** Recognises every file before any is read; `null` for an empty one. */
export async function recogniseFiles(work: FileReading): Promise<readonly (KnownFile | null)[]> {
  const known: (KnownFile | null)[] = [];
  for (const file of work.plan.files) known.push(await recogniseFile(file, work));
  return known;
}

async function recogniseFile(file: PlannedFile, work: FileReading): Promise<KnownFile | null> {
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
  const describe = (table: string) => `DESCRIBE TABLE ${table}`;
  const columns: readonly FileColumn[] =
    file.columns === null
      ? await nameFault(name, work.local.queryFile(unread, describe, { ...CALL, row: columnRow }))
      : file.columns.map((column) => ({ name: column, type: null }));
  const layout = fileLayoutOf(
    name,
    columns.map((column) => column.name),
  );
  const chainId = CHAINS[work.order.chain].chain_id;
  if (chainId === null) throw new TypeError('an EVM chain without an id');
  const rows = { import_id: work.plan.id, number, layout, columns, chainId };
  return { file, layout, rows, source: { ...unread, columns: structureOf(layout, columns) } };
}

const columnRow = z.object({ name: z.string(), type: z.string() });

/** Which blocks a file holds rows of. */
export async function reachOf(
  { file, rows, source }: KnownFile,
  work: FileReading,
): Promise<FileReach> {
  const row = z.object({ n: z.coerce.number(), first: z.coerce.number(), last: z.coerce.number() });
  const sql = (table: string) => reachStatement(rows, table);
  // The order of rows does not matter here, so that text may be parsed by all threads.
  const settings = { ...READ_SETTINGS, max_threads: 2, input_format_parallel_parsing: 1 };
  const query = { ...READ, signal: work.watch.signal, row, settings };
  const [reach] = await nameFault(file.name, work.local.queryFile(source, sql, query));
  if (reach === undefined) throw new RangeError('an aggregate has one row');
  return reach.n === 0 ? null : reach;
}

/** Reads a file into the table of rows. `onProgress` is told of rows and bytes so far. */
export async function readFile(
  { file, rows, source }: KnownFile,
  { warehouse, watch }: FileReading,
  onProgress: (rows: number, bytes: number) => void,
): Promise<void> {
  const look = setInterval(() => {
    underWay(warehouse, rows.import_id).then(
      ([rowsRead, bytes]) => onProgress(rowsRead, Math.min(bytes, file.bytes)),
      () => undefined,
    );
  }, LOOK_MS);
  const sql = (table: string) => rowsStatement(rows, table);
  const call = { ...READ, signal: watch.signal, settings: READ_SETTINGS };
  try {
    await nameFault(file.name, warehouse.commandFile(source, sql, call));
  } finally {
    clearInterval(look);
  }
  if ((await fingerprintOf(file.path)) !== file.fingerprint) {
    throw new ImportFault(`${file.name}: it changed while it was read.`);
  }
}

/** The engine's words may quote the file; only what kind of fault it is, and where, is told. */
async function nameFault<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (fault) {
    if (isTooLarge(fault)) {
      throw new ImportFault(
        `${name}: to read it takes more memory than the warehouse gives one statement, whatever ` +
          'else it does; write its rows in smaller row groups or without long texts (input, ' +
          `output), or ${SERVER_NEXT}.`,
      );
    }
    if (!(fault instanceof WarehouseQueryError)) throw fault;
    const at = /\(at row (\d+)\)/.exec(fault.detail);
    const where = at === null ? '' : ` at row ${at[1]}`;
    throw new ImportFault(`${name}: the file cannot be read${where} (${fault.reason}).`);
  }
}

function underWay(warehouse: Warehouse, importId: string) {
  const sql = `SELECT max(read_rows) AS rows, max(read_bytes) AS bytes FROM system.processes
    WHERE position(query, 'INSERT INTO import_rows') > 0
      AND position(query, {id:String}) > 0 AND position(query, 'system.processes') = 0`;
  const row = z.tuple([z.coerce.number(), z.coerce.number()]);
  return queryRow(warehouse, sql, { ...CALL, row, params: { id: importId } });
}
