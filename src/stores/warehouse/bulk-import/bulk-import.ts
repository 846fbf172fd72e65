// How do files of chain exports become transfers of the store, each of them once?
// All of them are read into scratch first, since a transaction may lie in two files; then whole
// blocks are written. It refuses a second import beside the first.

import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Why, why } from '../../../evidence/reasons.ts';
import type {
  BulkImport,
  BulkImportOrder,
  BulkImportOutcome,
  BulkImportRecord,
  BulkImportWatch,
  ImportedFile,
} from '../../../ports/indexing/bulk-import.ts';
import { ImportFault } from '../../../sources/files/fault.ts';
import { WarehouseRefusal, WarehouseUnavailable } from '../engine/executor.ts';
import { type Checkpoint, readCheckpoint, writeCheckpoint, writeWhole } from './checkpoint.ts';
import { coverageOf } from './coverage.ts';
import { type ImportPlan, planOf, sourceOf } from './plan.ts';
import { CHUNK_ROWS, type Chunk, openScratch, type Scratch } from './scratch.ts';
import { stageFiles } from './stage-files.ts';
import { type ImportStore, writeChunk } from './write-blocks.ts';

/** Refused rows that are told one by one, in the file beside the imports. */
const REFUSED_LINES_MAX = 10_000;
/** An import that nobody has gone on with for so long is forgotten. */
const FORGOTTEN_MS = 7 * 24 * 60 * 60 * 1000;

/** Imports into a store. `directory` is this importer's own: scratch and refused rows lie there. */
export function bulkImporter(
  store: ImportStore,
  directory: string,
  chunkRows = CHUNK_ROWS,
): BulkImport {
  let busy = false;
  return async (order, watch) => {
    if (busy) return unreadable('another import is under way');
    busy = true;
    try {
      return await imported({ store, directory, chunkRows }, order, watch);
    } catch (fault) {
      return faulty(fault, watch.signal);
    } finally {
      busy = false;
    }
  };
}

function unreadable(fault: string): BulkImportOutcome {
  const told: Why = why('file_unreadable', { fault });
  return { outcome: 'unread', why: told };
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

type Importer = {
  readonly store: ImportStore;
  readonly directory: string;
  readonly chunkRows: number;
};

async function imported(
  { store, directory, chunkRows }: Importer,
  order: BulkImportOrder,
  watch: BulkImportWatch,
): Promise<BulkImportOutcome> {
  const plan = await planOf(order);
  const source = sourceOf(plan);
  const underWay = join(directory, 'under-way');
  const folder = join(underWay, plan.id);
  await mkdir(join(folder, 'files'), { recursive: true, mode: 0o700 });
  await forgetOld(underWay, plan.id);
  const scratch = await openScratch(join(folder, 'scratch'), chunkRows);
  let outcome: BulkImportOutcome;
  try {
    const from = await readCheckpoint(folder);
    const work = { plan, order, folder, scratch, watch };
    const { state, files } = await stageFiles(work, from);
    const provenance = { source, origin: order.origin, import_id: plan.id };
    const to = { store, scratch };
    const written = await writeAll(state, order, provenance, to, folder, watch);
    if (!('state' in written)) return written;
    outcome = await ended(written.state, { plan, order, files, source, directory }, to, watch);
  } finally {
    await scratch.close();
  }
  if (outcome.outcome === 'completed') await rm(folder, { recursive: true, force: true });
  return outcome;
}

async function writeAll(
  from: Checkpoint,
  order: BulkImportOrder,
  provenance: Parameters<typeof writeChunk>[3],
  to: { readonly store: ImportStore; readonly scratch: Scratch },
  folder: string,
  watch: BulkImportWatch,
): Promise<{ readonly state: Checkpoint } | BulkImportOutcome> {
  const rows = await to.scratch.rowsIn();
  let state = from;
  let coming = chunkFrom(to.scratch, state.next_block);
  // Each turn is at least one block further, so it ends with the last block staged.
  for (;;) {
    if (watch.signal.aborted) return { outcome: 'stopped' };
    const came = await coming;
    if ('fault' in came) throw came.fault;
    const { chunk } = came;
    if (chunk === null) return { state };
    // The next one is read while this one is written.
    coming = chunkFrom(to.scratch, chunk.toBlock + 1);
    const written = await writeChunk(chunk, state, order, provenance, to);
    if ('why' in written) return { outcome: 'unread', why: written.why };
    state = written.state;
    await writeCheckpoint(folder, state);
    const fraction = state.rows_written / rows;
    watch.onProgress({ phase: 'writing', rows: state.rows_written, fraction });
  }
}

type Came = { readonly chunk: Chunk | null } | { readonly fault: unknown };

/** A chunk, or the fault for whoever waits for it: perhaps nobody does any more. */
function chunkFrom(scratch: Scratch, block: number): Promise<Came> {
  return scratch.chunk(block).then(
    (chunk) => ({ chunk }),
    (fault: unknown) => ({ fault }),
  );
}

type Ending = {
  readonly plan: ImportPlan;
  readonly order: BulkImportOrder;
  readonly files: readonly ImportedFile[];
  readonly source: string;
  readonly directory: string;
};

async function ended(
  state: Checkpoint,
  { plan, order, files, source, directory }: Ending,
  { store, scratch }: { readonly store: ImportStore; readonly scratch: Scratch },
  watch: BulkImportWatch,
): Promise<BulkImportOutcome> {
  const coverage = await coverageOf(state, order, files, source, scratch, watch.onNote);
  if (coverage.length > 0) {
    const recorded = await store.recordCoverage(coverage);
    if (!recorded.checked) return { outcome: 'unread', why: recorded.why };
  }
  const refused = await scratch.refusedCounts();
  const rows_refused = [...refused.values()].reduce((sum, n) => sum + n, 0);
  const record: BulkImportRecord = {
    import_id: plan.id,
    files,
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    rows_refused,
    refused,
    left_out: new Map(Object.entries(state.left_out)),
    transfers: state.transfers,
    creations: state.creations,
    of_another_fork: state.of_another_fork,
    coverage,
    refused_file: rows_refused === 0 ? null : await writeRefused(plan, scratch, directory),
  };
  return { outcome: 'completed', record };
}

/** The first refused rows, one JSON object a line, where the operator finds them afterwards. */
async function writeRefused(
  plan: ImportPlan,
  scratch: Scratch,
  directory: string,
): Promise<string> {
  const lines = await scratch.refusedLines(REFUSED_LINES_MAX);
  const path = join(directory, 'refused', `${plan.id}.jsonl`);
  await mkdir(join(directory, 'refused'), { recursive: true, mode: 0o700 });
  const text = lines.map(({ file, line, reason, given }) =>
    JSON.stringify({ file: plan.files[file]?.name, row: line, reason, given }),
  );
  await writeWhole(path, `${text.join('\n')}\n`);
  return path;
}

async function forgetOld(underWay: string, current: string): Promise<void> {
  for (const name of await readdir(underWay)) {
    const folder = join(underWay, name);
    const { mtimeMs } = await stat(folder);
    if (name === current || Date.now() - mtimeMs < FORGOTTEN_MS) continue;
    await rm(folder, { recursive: true, force: true });
  }
}
