// How do files of chain exports become transfers of the warehouse, each of them once?
// The warehouse's own engine reads them, file by file in the order of their blocks; whole blocks
// are written as soon as no other file can add to them. Several imports may go side by side.

import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { countOrZero } from '../../../evidence/measure.ts';
import { type Why, why } from '../../../evidence/reasons.ts';
import type {
  BulkImport,
  BulkImportOrder,
  BulkImportOutcome,
  BulkImportRecord,
  BulkImportWatch,
  ImportedFile,
} from '../../../ports/indexing/imports.ts';
import type { TransferStore } from '../../../ports/indexing/transfer-store.ts';
import { ImportFault } from '../../../sources/files/fault.ts';
import { embeddedWarehouse } from '../engine/embedded.ts';
import { ENGINE_LIMITS } from '../engine/engine.ts';
import {
  type LocalFiles,
  type Warehouse,
  WarehouseRefusal,
  WarehouseUnavailable,
} from '../engine/executor.ts';
import { keepCounts } from '../transfers/counts.ts';
import { degreeCount } from '../transfers/degrees.ts';
import { importLedger } from '../transfers/imports.ts';
import {
  begun,
  type Checkpoint,
  forgetCheckpoint,
  readCheckpoint,
  writeWhole,
} from './checkpoint.ts';
import { coverageOf } from './coverage.ts';
import { importFiles, type Work } from './import-files.ts';
import { importTables } from './import-tables.ts';
import { type ImportPlan, planOf, sourceOf } from './plan.ts';
import { type KnownFile, knownFiles } from './read-files.ts';

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
        await clearLeft(into.warehouse, directory, underWay);
        return await imported({ into, directory, blockRows }, plan, order, watch);
      } finally {
        underWay.delete(plan.id);
      }
    } catch (fault) {
      return faulty(fault, watch.signal);
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
  readonly into: ImportInto;
  readonly directory: string;
  readonly blockRows: number;
};

async function imported(
  { into, directory, blockRows }: Importer,
  plan: ImportPlan,
  order: BulkImportOrder,
  watch: BulkImportWatch,
): Promise<BulkImportOutcome> {
  const { warehouse, now } = into;
  const folder = join(directory, UNDER_WAY, plan.id);
  await mkdir(join(folder, 'files'), { recursive: true, mode: 0o700 });
  const own =
    'queryFile' in warehouse ? null : await embeddedWarehouse(join(folder, 'engine'), OWN);
  try {
    const local = 'queryFile' in warehouse ? warehouse : own;
    if (local === null)
      throw new TypeError('an engine of this machine, started where there is none');
    const reading = { plan, order, folder, local, warehouse, watch };
    const tables = importTables(warehouse, plan.id);
    const work = { ...reading, blockRows, tables, ledger: importLedger(warehouse, now) };
    const known = await knownFiles(work);
    const state = await importFiles(work, known, await resumed(work));
    const outcome = await ended(work, state, filesOf(known, state), { into, directory });
    if (outcome.outcome !== 'completed') return outcome;
    await tables.clear();
    await rm(folder, { recursive: true, force: true });
    return outcome;
  } finally {
    await own?.close();
  }
}

/** Where the import was, if it is listed as begun; else its beginning, with nothing left of it. */
async function resumed({ plan, order, folder, tables, ledger }: Work): Promise<Checkpoint> {
  const listed = await ledger.find(plan.id);
  const kept = await readCheckpoint(folder);
  if (kept !== null && listed !== null && listed.state === 'begun') return kept;
  await forgetCheckpoint(folder);
  await tables.clear();
  const { chain, origin } = order;
  await ledger.begin({ import_id: plan.id, chain, origin, source: sourceOf(plan) });
  return begun();
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

async function ended(
  { plan, order, tables, ledger, watch }: Work,
  state: Checkpoint,
  files: readonly ImportedFile[],
  { into, directory }: Pick<Importer, 'into' | 'directory'>,
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

/** Clears away what is left of imports that nobody goes on with. */
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
