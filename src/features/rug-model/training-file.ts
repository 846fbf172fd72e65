// Which launches does a file in the training layout hold?
// It is taken whole or not at all: a row that was left out unseen would bend what is learnt.

import { Read } from '../../evidence/reading.ts';
import type { TableFiles } from '../../ports/tables/table-import.ts';
import { keyOf } from './examples.ts';
import { RowFault, type TrainingRow, trainingRow } from './layout.ts';

/** The launches of a file, or what is wrong with it, in sentences. */
export type TrainingFile =
  | { readonly end: 'read'; readonly rows: readonly TrainingRow[]; readonly sha256: string }
  | { readonly end: 'refused'; readonly faults: readonly string[] }
  | { readonly end: 'unread'; readonly reason: string };

/** The most launches of one file. */
const ROWS_MAX = 500_000;
/** How many broken rows are named before the file is read no further. */
const FAULTS_MAX = 20;

/** Reads a file to its end. */
export async function trainingFile(files: TableFiles, path: string): Promise<TrainingFile> {
  const opened = await files.open(path);
  if (!opened.checked) return { end: 'unread', reason: opened.why.reason };
  const rows: TrainingRow[] = [];
  const lines = new Map<string, number>();
  const faults: string[] = [];
  for await (const batch of opened.value.rows()) {
    if (!(batch instanceof Read)) return { end: 'unread', reason: batch.why.reason };
    for (const raw of batch.value) {
      const taken = 'problem' in raw ? raw.problem : rowOrFault(raw);
      const fault = typeof taken === 'string' ? taken : repeated(taken, raw.line, lines);
      if (fault !== null) faults.push(`Line ${raw.line}: ${fault}.`);
      else if (typeof taken !== 'string') rows.push(taken);
    }
    if (faults.length >= FAULTS_MAX) break;
    if (rows.length > ROWS_MAX) {
      return { end: 'refused', faults: [`It holds more than ${ROWS_MAX} launches; split it.`] };
    }
  }
  if (faults.length > 0) return { end: 'refused', faults: faults.slice(0, FAULTS_MAX) };
  if (rows.length === 0) return { end: 'refused', faults: ['It holds no launch.'] };
  return { end: 'read', rows, sha256: opened.value.sha256() };
}

function rowOrFault(raw: Parameters<typeof trainingRow>[0]): TrainingRow | string {
  try {
    return trainingRow(raw);
  } catch (fault) {
    if (fault instanceof RowFault) return fault.message;
    throw fault;
  }
}

/** What is wrong with a launch that stands in the file twice; notes where each stands. */
function repeated(row: TrainingRow, line: number, lines: Map<string, number>): string | null {
  const key = keyOf(row);
  const before = lines.get(key);
  lines.set(key, line);
  return before === undefined ? null : `the token stands in line ${before} too`;
}
