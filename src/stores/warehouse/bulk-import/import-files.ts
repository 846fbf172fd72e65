// In which order are the files of an import read and their blocks written?
// A block is written once every file that may hold rows of it was read; meanwhile the next file is
// read. Of files whose blocks do not overlap two at most lie in the warehouse's table of rows.

import type { BulkImportOrder } from '../../../ports/indexing/imports.ts';
import { WarehouseUnavailable } from '../engine/executor.ts';
import { observed } from '../transfers/fact-rows.ts';
import type { ImportLedger } from '../transfers/imports.ts';
import { type Checkpoint, writeCheckpoint } from './checkpoint.ts';
import type { Window } from './facts-sql.ts';
import type { ImportTables, WholeBlocks } from './import-tables.ts';
import { type KnownFile, type Reading, reachOf, readFile } from './read-files.ts';
import { writeBlocks } from './write-blocks.ts';

/** One import under way. */
export type Work = Reading & {
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
    state = withRead(state, await read(work, one, state, progress));
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
  progress: Told,
): Promise<Checkpoint> {
  const ending = new AbortController();
  const signal = AbortSignal.any([work.watch.signal, ending.signal]);
  const both = { ...work, watch: { ...work.watch, signal } };
  const reading =
    next === undefined ? Promise.resolve(null) : readIfRoom(both, next, state, progress);
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

function isWithoutRoom(fault: unknown): boolean {
  return fault instanceof WarehouseUnavailable && fault.code === 'overloaded';
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
type Told = (now: { readonly state?: Checkpoint; readonly underWay?: UnderWay }) => void;
const NOTHING: UnderWay = { rows: 0, bytes: 0 };

/** Half of the way is read, half written. */
function progressOf({ watch, plan }: Work, files: readonly KnownFile[], from: Checkpoint): Told {
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

/** Reads a file beside the writing; `null` where the two do not find room together. */
async function readIfRoom(
  work: Work,
  next: Ready,
  state: Checkpoint,
  progress: Told,
): Promise<Checkpoint['read'] | null> {
  try {
    return await read(work, next, state, progress);
  } catch (fault) {
    if (isWithoutRoom(fault)) return null;
    throw fault;
  }
}

function withRead(state: Checkpoint, rows: Checkpoint['read'] | null): Checkpoint {
  return { ...state, read: { ...state.read, ...rows } };
}

/** Reads a file, and answers its rows by its number; `null` where it was read before. */
async function read(
  work: Work,
  { known }: Ready,
  state: Checkpoint,
  progress: Told,
): Promise<Checkpoint['read'] | null> {
  const { number, bytes } = known.file;
  if (String(number) in state.read) return null;
  stopIfAsked(work);
  // What an earlier try has left of it would be there twice.
  await work.tables.drop('import_rows', number);
  await readFile(known, work, (rows, now) => progress({ underWay: { rows, bytes: now } }));
  const rows = await work.tables.rowsOf(number);
  await work.tables.keepRefused(number);
  progress({ underWay: { rows, bytes } });
  return { [number]: rows };
}

type Ahead = {
  /** The first block that is not written; all are where it is `null`. */
  readonly bound: number | null;
  readonly datasets: ReadonlySet<string>;
  readonly reading: Promise<unknown>;
};

async function writeBefore(
  work: Work,
  { bound, datasets, reading }: Ahead,
  from: Checkpoint,
  progress: Told,
): Promise<Checkpoint> {
  const { warehouse, tables, folder, blockRows } = work;
  let state = from;
  // Each turn is at least one block further, so it ends with the last block that was read.
  for (;;) {
    stopIfAsked(work);
    const blocks = await tables.next(state.next_block, bound, blockRows);
    if (blocks === null) return state;
    const window = windowOf(work, blocks, datasets);
    const before = state;
    const write = () => writeBlocks(warehouse, tables, window, blocks.rows, before);
    state = await write().catch(async (fault: unknown) => {
      if (!isWithoutRoom(fault)) throw fault;
      await reading;
      return write();
    });
    await writeCheckpoint(folder, state);
    progress({ state });
  }
}

function windowOf(
  { plan, order }: Pick<Work, 'plan'> & { readonly order: BulkImportOrder },
  { from_block, to_block }: WholeBlocks,
  datasets: ReadonlySet<string>,
): Window {
  const { chain, origin, failed_excluded } = order;
  const blocks = { import_id: plan.id, from_block, to_block };
  return { ...blocks, chain, observed: observed(origin), failed_excluded, datasets };
}

function stopIfAsked({ watch }: Work): void {
  if (watch.signal.aborted) throw new WarehouseUnavailable('aborted');
}
