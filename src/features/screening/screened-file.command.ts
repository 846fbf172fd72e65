// The file of a screen: the caller's own columns, then those of the screen. It opens where the
// caller's file does, and no cell of it begins a formula. Only whole rows count; what was cut off
// in the middle is written anew.

import { appendFile, open, stat } from 'node:fs/promises';
import {
  type AddressInRow,
  type AddressLayout,
  type CsvDialect,
  columnName,
  type ReadRecords,
} from '../../command/address-file.ts';
import { textOrEmpty } from '../../evidence/measure.ts';

/** The file is there already, or is not of this screen. */
export class OutRefused extends Error {}

type Cell = string | number | null;
/** A column of the screen: its title, and its cell of a row. */
type OwnColumn<R> = readonly [title: string, cell: (row: R) => Cell, ...more: unknown[]];

const FORMULA = /^\s*[=+\-@\t\r|%]/;
/** A number begins with its sign, and calculates nothing. */
const NUMBER = /^[+-]?\d+(?:[.,]\d+)*$/;

/** A cell of CSV: in quotes, and with an apostrophe before what a spreadsheet would calculate. */
export function csvCell(value: Cell): string {
  if (typeof value === 'number') return String(value);
  const line = textOrEmpty(value).replaceAll(/[\r\n]+/g, ' ');
  const text = FORMULA.test(line) ? `'${line}` : line;
  return `"${text.replaceAll('"', '""')}"`;
}

/** A cell of the caller's, as it was written but for formulas and line ends. */
function callersCell(text: string): string {
  return NUMBER.test(text) ? `"${text}"` : csvCell(text);
}

/** The columns of a file: the caller's names, and those of the screen, each of them once. */
export type FileColumns = {
  readonly callers: readonly string[];
  readonly own: readonly string[];
  /** The names of the screen that the caller's file has already, with what they became. */
  readonly renamed: readonly (readonly [title: string, became: string])[];
};

/** Names the columns of the screen `exhibit_…`, with a number where the caller's file has that. */
export function fileColumns(layout: AddressLayout, titles: readonly string[]): FileColumns {
  const callers = Array.from({ length: layout.widest }, (_, place) => columnName(layout, place));
  const taken = new Set(callers);
  const own: string[] = [];
  const renamed: [string, string][] = [];
  for (const title of titles) {
    const plain = `exhibit_${title.replaceAll(' ', '_')}`;
    let name = plain;
    for (let number = 2; taken.has(name); number += 1) name = `${plain}_${number}`;
    if (name !== plain) renamed.push([plain, name]);
    own.push(name);
  }
  return { callers, own, renamed };
}

/** A file of rows: what it holds of earlier, and a way to add to it. */
export type OutFile<R> = {
  /** The place and the screen's cells of the next row of an earlier run; `null` after the last. */
  readonly earlier: () => Promise<{ place: string; cells: readonly string[] } | null>;
  readonly add: (rows: readonly R[]) => Promise<void>;
};

/** Where a file goes, and how its rows are written. */
type OutSpec<R> = {
  readonly path: string;
  readonly isResumed: boolean;
  readonly readRecords: ReadRecords;
  readonly dialect: CsvDialect;
  readonly columns: FileColumns;
  readonly own: readonly OwnColumn<R>[];
};

const BOM = '\ufeff';

/** Opens a new file, or one of a run that stopped, where it is gone on with. */
export async function openOut<R extends AddressInRow>(spec: OutSpec<R>): Promise<OutFile<R>> {
  const { path, isResumed, readRecords, columns, own } = spec;
  const { delimiter, lineEnd, hasBom } = spec.dialect;
  const there = await stat(path).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return null;
    throw new OutRefused(`${path}: ${fault.code}`);
  });
  const lineOf = (callers: readonly string[], cells: readonly Cell[]) => {
    const whole = columns.callers.map((_, i) => callersCell(textOrEmpty(callers[i])));
    return [...whole, ...cells.map(csvCell)].join(delimiter) + lineEnd;
  };
  const add = (rows: readonly R[]) =>
    appendFile(
      path,
      rows
        .map((row) =>
          lineOf(
            row.cells,
            own.map(([, cell]) => cell(row)),
          ),
        )
        .join(''),
    );
  const head = lineOf(columns.callers, columns.own);
  if (there === null) {
    await appendFile(path, (hasBom ? BOM : '') + head);
    return { earlier: async () => null, add };
  }
  if (!isResumed) throw new OutRefused(`${path} is there already; --resume goes on with it`);
  await cutTornRow(path);
  const rows = readRecords(path)[Symbol.asyncIterator]();
  const heading = await rows.next();
  if (
    heading.done === true ||
    lineOf(heading.value.cells, heading.value.cells.slice(columns.callers.length)) !== head
  ) {
    throw new OutRefused(`${path} is no file of this command over the same columns`);
  }
  const earlier = async () => {
    const next = await rows.next();
    if (next.done === true) return null;
    const cells = next.value.cells.slice(columns.callers.length);
    const [line, column, address] = cells;
    return { place: `${csvCell(Number(line))},"${column}","${address}"`, cells };
  };
  return { earlier, add };
}

/** Where an address stands, as a row of the file says it. */
export function placeOf({ line, column, address }: AddressInRow): string {
  const plain = (text: string) => csvCell(text).slice(1, -1).replaceAll('""', '"');
  return `${line},"${plain(column)}","${plain(address)}"`;
}

const TAIL_BYTES = 1024 * 1024;

// A run that was killed may have written half a row. No cell holds a line feed, so that each one
// ends a row.
async function cutTornRow(path: string): Promise<void> {
  const { size } = await stat(path);
  const file = await open(path, 'r+');
  try {
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(size, TAIL_BYTES)),
      position: from,
    });
    const whole = buffer.subarray(0, bytesRead).lastIndexOf('\n');
    if (whole + 1 < bytesRead) await file.truncate(from + whole + 1);
  } finally {
    await file.close();
  }
}
