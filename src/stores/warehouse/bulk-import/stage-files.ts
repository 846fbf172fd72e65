// How do the files of an import come into scratch, one after the other?
// A file that is staged already is passed over; one that changes meanwhile ends the import.

import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CHAINS } from '../../../chain/chain.ts';
import type {
  BulkImportOrder,
  BulkImportWatch,
  ImportedFile,
} from '../../../ports/indexing/bulk-import.ts';
import { ImportFault } from '../../../sources/files/fault.ts';
import { fingerprintOf } from '../../../sources/files/input-file.ts';
import { quoted } from '../engine/binding.ts';
import { type Checkpoint, writeCheckpoint } from './checkpoint.ts';
import { type ExportLayout, layoutOf } from './layout.ts';
import type { ImportPlan, PlannedFile } from './plan.ts';
import type { Scratch } from './scratch.ts';
import type { FileColumn, StagedFile } from './staging-sql.ts';

/** How often progress within a file is asked for. */
const LOOK_MS = 1_000;
/** Files are many and small, or few and large: after so long what was staged is noted. */
const CHECKPOINT_MS = 5_000;

type Ready = {
  readonly file: PlannedFile;
  readonly layout: ExportLayout;
  readonly staged: StagedFile;
};

/** What staging works on. `folder` is the import's own. */
type Staging = {
  readonly plan: ImportPlan;
  readonly order: BulkImportOrder;
  readonly folder: string;
  readonly scratch: Scratch;
  readonly watch: BulkImportWatch;
};

/** Stages every file and answers what each of them was. All are recognised before any is read. */
export async function stageFiles(
  work: Staging,
  from: Checkpoint,
): Promise<{ readonly state: Checkpoint; readonly files: readonly ImportedFile[] }> {
  const ready: Ready[] = [];
  for (const file of work.plan.files) {
    const one = await recognised(file, work);
    if (one !== null) ready.push(one);
  }
  const bytesTotal = ready.reduce((sum, { file }) => sum + file.bytes, 0);
  const staged = new Map(Object.entries(from.staged));
  let keptAt = performance.now();
  let bytesDone = 0;
  let rowsDone = 0;
  const files: ImportedFile[] = [];
  for (const one of ready) {
    const { name, bytes } = one.file;
    const { layout, dataset } = { layout: one.layout.name, dataset: one.layout.dataset };
    if (dataset === 'left_aside') {
      work.watch.onNote(`${name}: left aside; nothing of it is transfers.`);
      files.push({ name, layout, dataset, rows: 0 });
      continue;
    }
    const held = staged.get(String(one.file.number));
    const done = { rows: rowsDone, bytes: bytesDone, of: bytesTotal };
    const rows = held === undefined ? await stageFile(one, work, done) : held;
    bytesDone += bytes;
    rowsDone += rows;
    files.push({ name, layout, dataset, rows });
    work.watch.onProgress({ phase: 'reading', rows: rowsDone, fraction: bytesDone / bytesTotal });
    if (held !== undefined) continue;
    staged.set(String(one.file.number), rows);
    if (performance.now() - keptAt < CHECKPOINT_MS) continue;
    await writeCheckpoint(work.folder, { ...from, staged: Object.fromEntries(staged) });
    keptAt = performance.now();
  }
  const state = { ...from, staged: Object.fromEntries(staged) };
  await writeCheckpoint(work.folder, state);
  return { state, files };
}

async function recognised(file: PlannedFile, work: Staging): Promise<Ready | null> {
  if (file.format === 'empty') {
    work.watch.onNote(`${file.name}: empty.`);
    return null;
  }
  const link = join(work.folder, 'files', String(file.number));
  // The engine reads patterns in paths, and one of ours holds none.
  if (/[*?{}]/.test(link)) throw new ImportFault(`${link}: this folder's name reads as a pattern.`);
  await symlink(file.path, link).catch((fault: unknown) => {
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'EEXIST')) throw fault;
  });
  const path = quoted(link).slice(1, -1);
  const named = (fault: unknown) => {
    throw fault instanceof ImportFault ? new ImportFault(`${file.name}: ${fault.message}`) : fault;
  };
  const columns: readonly FileColumn[] =
    file.columns === null
      ? await work.scratch.columnsOf(path).catch(named)
      : file.columns.map((name) => ({ name, type: null }));
  const layout = layoutOf(
    file.name,
    columns.map(({ name }) => name),
  );
  const chainId = CHAINS[work.order.chain].chain_id;
  if (chainId === null) throw new TypeError('an EVM chain without an id');
  const { format, gzip, number } = file;
  return { file, layout, staged: { path, format, gzip, number, layout, columns, chainId } };
}

async function stageFile(
  { file, staged }: Ready,
  { scratch, watch }: Staging,
  done: { readonly rows: number; readonly bytes: number; readonly of: number },
): Promise<number> {
  const look = setInterval(() => {
    scratch.underWay().then(
      ({ rows, bytes }) => {
        const fraction = (done.bytes + Math.min(bytes, file.bytes)) / done.of;
        watch.onProgress({ phase: 'reading', rows: done.rows + rows, fraction });
      },
      () => undefined,
    );
  }, LOOK_MS);
  try {
    const rows = await scratch.stage(staged, watch.signal);
    if ((await fingerprintOf(file.path)) !== file.fingerprint) {
      throw new ImportFault('it changed while it was read.');
    }
    return rows;
  } catch (fault) {
    throw fault instanceof ImportFault ? new ImportFault(`${file.name}: ${fault.message}`) : fault;
  } finally {
    clearInterval(look);
  }
}
