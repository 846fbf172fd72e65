// What is there to do: which files in which order, and what is this import called?
// The same files under the same order have the same name, so that a killed import is found again.

import { createHash } from 'node:crypto';
import type { BulkImportOrder } from '../../../ports/indexing/imports.ts';
import { ImportFault } from '../../../sources/files/fault.ts';
import {
  type InputFile,
  inputFile,
  inputPaths,
  textColumns,
} from '../../../sources/files/input-file.ts';

/** A file to import. `columns` are `null` where only the engine can tell them. */
export type PlannedFile = Omit<InputFile, 'head'> & {
  readonly number: number;
  readonly columns: readonly string[] | null;
};

/** An import: its name, and its files. */
export type ImportPlan = { readonly id: string; readonly files: readonly PlannedFile[] };

/** Finds the files of an order and looks into each. */
export async function planOf(order: BulkImportOrder): Promise<ImportPlan> {
  const paths = await inputPaths(order.paths);
  const files: PlannedFile[] = [];
  for (const [number, path] of paths.entries()) {
    const { head, ...facts } = await inputFile(path);
    const isText = facts.format === 'CSVWithNames' || facts.format === 'JSONEachRow';
    files.push({ ...facts, number, columns: isText ? textColumns({ ...facts, head }) : null });
  }
  const { chain, origin, declared, failed_excluded } = order;
  const named = [chain, origin, declared, failed_excluded, files.map((one) => one.fingerprint)];
  const id = createHash('sha256').update(JSON.stringify(named)).digest('hex').slice(0, 16);
  return { id, files };
}

/** Of a file's name in that of a source. */
const NAME_CHARS_MAX = 80;

/** How the source of an import is shown: file names, no paths. */
export function sourceOf({ files }: ImportPlan): string {
  const [first, ...rest] = files;
  if (first === undefined) throw new ImportFault('There is no file to import.');
  const name = first.name.slice(0, NAME_CHARS_MAX);
  const more = rest.length === 1 ? '1 more file' : `${rest.length} more files`;
  return rest.length === 0 ? name : `${name} and ${more}`;
}
