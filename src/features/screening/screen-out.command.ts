// How are the rows of a screen kept in a file, so that a run that stopped goes on where it was?
// A CSV file that is safe to open in a spreadsheet: no cell of it begins a formula. Only whole rows
// count; what was cut off in the middle is written anew.

import { appendFile, open, stat } from 'node:fs/promises';
import type { FileAddress, ReadRecords } from '../../command/address-file.ts';
import { FORM_LISTED, LISTED, NOT_CHECKED } from '../../command/other-lists-text.ts';
import type { Row } from './screen-batch.command.ts';
import {
  isListedElsewhere,
  isSimulated,
  leftUnread,
  listedForms,
  screenText,
} from './screen-result.command.ts';

/** What one address came to, for the last line and the exit status. */
export type Outcome = {
  /** `listed`, `form_listed`: it, or another form of it, stands on the list. */
  readonly listed: boolean;
  readonly formListed: boolean;
  /** Whether the list was read for it. */
  readonly listRead: boolean;
  /** Whether it, or another form of it, stands on a list of another authority. */
  readonly elsewhere: boolean;
  /** Whether such lists were read for it, each whole. */
  readonly othersRead: boolean;
  readonly kind: 'screened' | 'in part' | 'misformed' | 'not checked';
};

/** The outcome of a row. */
export function outcomeOf(row: Row): Outcome {
  if (row.kind !== 'result') {
    const kind = row.kind === 'misformed' ? 'misformed' : 'not checked';
    const nowhere = { listed: false, formListed: false, elsewhere: false };
    return { ...nowhere, listRead: false, othersRead: false, kind };
  }
  const { result } = row;
  return {
    listed: result.sanctions?.listed === true,
    formListed: listedForms(result).length > 0,
    listRead: result.sanctions !== null,
    elsewhere: isListedElsewhere(result),
    othersRead: result.checked.other_lists === true,
    kind: leftUnread(result) ? 'in part' : 'screened',
  };
}

/** The columns of a screen, for people and for files. */
export const SCREEN_COLUMNS = [
  ...['line', 'column', 'address', 'checked', 'state', 'sanctions', 'other forms listed'],
  ...['other lists', 'exchange', 'launches', 'simulated', 'reason'],
] as const;

/** The cells of a row under these columns; `null` where there is nothing to say. */
export function screenCells(row: Row): (string | number | null)[] {
  const { line, column, address } = row;
  const { kind } = outcomeOf(row);
  if (row.kind !== 'result') {
    return [line, column, address, kind, null, null, null, null, null, null, null, row.reason];
  }
  const { result, caveat } = row;
  const forms = listedForms(result);
  return [
    ...[line, column, address, kind, result.state, screenText.sanctions(result)],
    ...[forms.length === 0 ? null : forms.join(' '), screenText.otherLists(result)],
    ...[
      screenText.exchange(result),
      screenText.launches(result),
      isSimulated(caveat) ? 'simulated' : null,
    ],
    result.reason === undefined ? null : result.reason,
  ];
}

const FORMULA = /^\s*[=+\-@\t\r|%]/;

/** A cell of CSV: in quotes, and with an apostrophe before what a spreadsheet would calculate. */
export function csvCell(value: string | number | null): string {
  if (typeof value === 'number') return String(value);
  const line = (value === null ? NO_WORDS : value).replaceAll(/[\r\n]+/g, ' ');
  const text = FORMULA.test(line) ? `'${line}` : line;
  return `"${text.replaceAll('"', '""')}"`;
}

/** A cell of which there is nothing to say. */
const NO_WORDS = '';

/** The caveat stands in each row, since rows are cut out and passed on. */
const HEADING = `${[...SCREEN_COLUMNS, 'caveat'].map(csvCell).join(',')}\n`;

function lineOf(row: Row): string {
  const cells = [...screenCells(row), row.kind === 'result' ? row.caveat : null];
  return `${cells.map(csvCell).join(',')}\n`;
}

/** The file is there already, or is not of this screen. */
export class OutRefused extends Error {}

/** A file of rows: what it holds of earlier, and a way to add to it. */
export type OutFile = {
  /** The address and outcome of the next row of an earlier run; `null` after the last. */
  readonly earlier: () => Promise<{ place: string; outcome: Outcome } | null>;
  readonly add: (rows: readonly Row[]) => Promise<void>;
};

/** Opens a new file, or one of a run that stopped, where `resume` says so. */
export async function openOut(
  path: string,
  resume: boolean,
  readRecords: ReadRecords,
): Promise<OutFile> {
  const there = await stat(path).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return null;
    throw new OutRefused(`${path}: ${fault.code}`);
  });
  const add = (rows: readonly Row[]) => appendFile(path, rows.map(lineOf).join(''));
  if (there === null) {
    await appendFile(path, HEADING);
    return { earlier: async () => null, add };
  }
  if (!resume) throw new OutRefused(`${path} is there already; --resume goes on with it`);
  await cutTornRow(path);
  const rows = readRecords(path)[Symbol.asyncIterator]();
  const heading = await rows.next();
  if (
    heading.done === true ||
    heading.value.cells.join() !== [...SCREEN_COLUMNS, 'caveat'].join()
  ) {
    throw new OutRefused(`${path} is no file of this command`);
  }
  const earlier = async () => {
    const next = await rows.next();
    if (next.done === true) return null;
    const [line, column, address, kind, , ...said] = next.value.cells;
    const place = `${csvCell(Number(line))},"${column}","${address}"`;
    return { place, outcome: outcomeAsWritten(kind, said.map(String)) };
  };
  return { earlier, add };
}

/** Where an address stands, as a row of the file says it. */
export function placeOf({ line, column, address }: FileAddress): string {
  const plain = (text: string) => csvCell(text).slice(1, -1).replaceAll('""', '"');
  return `${line},"${plain(column)}","${plain(address)}"`;
}

const KINDS = ['screened', 'in part', 'misformed'] as const;

function outcomeAsWritten(kind: string | undefined, said: readonly string[]): Outcome {
  const known = KINDS.find((one) => one === kind);
  const [sanctions, forms, others] = said;
  if (known === undefined || sanctions === undefined || others === undefined) {
    throw new OutRefused('a row of the file is not of this command');
  }
  const listed = sanctions.startsWith(LISTED);
  const elsewhere = others.startsWith(LISTED) || others.startsWith(FORM_LISTED);
  return {
    listed,
    formListed: forms !== '',
    listRead: listed || sanctions === 'not on the list',
    elsewhere,
    othersRead: isReadAsWritten(others),
    kind: known,
  };
}

/** Whether lists of other authorities were read whole, as their cell says. */
function isReadAsWritten(others: string): boolean {
  return others.includes(' on ') && !others.includes(NOT_CHECKED);
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
