// Prints what a command found, for people and for pipes. It decides nothing and hides nothing.

import { present, textOrEmpty } from '../evidence/measure.ts';
import { type Partly, rowsSeen } from '../evidence/reading.ts';
import { EXIT, type ExitStatus, fail, type Io } from './command.ts';

type Cell = string | number | null;

/** A column of a table: its heading, and whether its cells are numbers (set to the right). */
type Column = { readonly title: string; readonly right?: boolean };

/** The text of a cell where a row has nothing to say: unknown, unset or not applicable. */
export const NO_VALUE = '–';

const GAP = '  ';
/** Narrower columns of sentences are hard to read. */
const READABLE_CHARS = 20;

/** How lines are drawn: what a caller's terminal shows, as an `Io` has it. */
type Terminal = Pick<Io, 'colour' | 'width'>;

/** The lines of an aligned table, its headings first. A cell that is too long goes on below. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  io: Terminal,
): string[] {
  const cells = rows.map((row) => columns.map((_, i) => valueText(row[i])));
  const widths = fitColumns(naturalWidths(columns, cells), io.width);
  const linesOf = (row: readonly string[]) => {
    const wrapped = row.map((cell, i) => wrapText(cell, Number(widths[i])));
    const height = Math.max(1, ...wrapped.map((lines) => lines.length));
    return Array.from({ length: height }, (_, at) =>
      columns
        .map((column, i) => {
          return pad(textOrEmpty(wrapped[i]?.[at]), Number(widths[i]), column.right === true);
        })
        .join(GAP)
        .trimEnd(),
    );
  };
  const head = linesOf(columns.map((column) => column.title)).join('\n');
  return [paint(head, 'bold', io), ...cells.flatMap(linesOf)];
}

/** As wide as the longest cell, and at least as wide as the longest word and as can be read. */
type ColumnWidth = { readonly whole: number; readonly least: number };

function naturalWidths(
  columns: readonly Column[],
  cells: readonly (readonly string[])[],
): readonly ColumnWidth[] {
  return columns.map(({ title }, i) => {
    let [whole, least] = [width(title), longestWord(title)];
    for (const row of cells) {
      const cell = textOrEmpty(row[i]);
      whole = Math.max(whole, width(cell));
      least = Math.max(least, longestWord(cell));
    }
    return { whole, least: Math.max(least, Math.min(whole, READABLE_CHARS)) };
  });
}

function longestWord(text: string): number {
  return text.split(' ').reduce((most, word) => Math.max(most, width(word)), 0);
}

/** The widths of the columns in a terminal. No word is broken, even where it is too wide then. */
function fitColumns(columns: readonly ColumnWidth[], room: number | undefined): readonly number[] {
  const widths = columns.map(({ whole }) => whole);
  if (room === undefined) return widths;
  let over = widths.reduce((sum, one) => sum + one, GAP.length * (widths.length - 1)) - room;
  while (over > 0) {
    let widest = -1;
    for (const [i, { least }] of columns.entries()) {
      const own = Number(widths[i]);
      if (own > least && (widest < 0 || own > Number(widths[widest]))) widest = i;
    }
    if (widest < 0) return widths;
    widths[widest] = Number(widths[widest]) - 1;
    over -= 1;
  }
  return widths;
}

/** The text in lines of a width, broken between words alone; nothing of it is left out. */
function wrapText(text: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    const fits = line !== undefined && width(line) + 1 + width(word) <= room;
    if (fits) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function valueText(value: Cell | undefined): string {
  return value === null || value === undefined || value === ''
    ? NO_VALUE
    : printable(String(value));
}

/** The text without characters that could move a terminal's cursor or change its colours. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '�');
}

function width(text: string): number {
  return [...text].length;
}

function pad(cell: string, to: number, right: boolean): string {
  const spaces = ' '.repeat(Math.max(0, to - width(cell)));
  return right ? spaces + cell : cell + spaces;
}

/** A name with its value. */
export type Fact = readonly [name: string, value: Cell];

/** Name and value lines, the values aligned and whole: a long one goes on below. */
export function factLines(facts: readonly Fact[], io: Pick<Io, 'width'>): string[] {
  const widest = facts.reduce((most, [name]) => Math.max(most, width(name)), 0);
  const indent = widest + GAP.length;
  const room = io.width === undefined ? Number.POSITIVE_INFINITY : io.width - indent;
  return facts.flatMap(([name, value]) =>
    wrapText(valueText(value), room).map((line, i) => {
      return `${pad(i === 0 ? name : '', widest, false)}${GAP}${line}`;
    }),
  );
}

/** A sentence in lines of the terminal's width. */
export function wrapSentence(text: string, io: Pick<Io, 'width'>): string[] {
  return io.width === undefined ? [text] : wrapText(text, io.width);
}

/** Writes lines one by one. */
export function print(io: Pick<Io, 'out'>, lines: readonly string[]): void {
  for (const line of lines) io.out(line);
}

/** Writes one JSON document, on one line, so that a pipe can read line by line. */
export function printJson(io: Pick<Io, 'out'>, value: unknown): void {
  io.out(JSON.stringify(value));
}

const ESCAPE = '\u001b[';
const COLOURS = { bold: '1', red: '31', green: '32', yellow: '33', dim: '2' } as const;

/** The text in a colour where the caller's terminal shows colours. */
export function paint(text: string, colour: keyof typeof COLOURS, io: Pick<Io, 'colour'>): string {
  return io.colour ? `${ESCAPE}${COLOURS[colour]}m${text}${ESCAPE}0m` : text;
}

/** A Unix time in seconds as `YYYY-MM-DD HH:MM UTC`, or nothing where there is none. */
export function timeText(seconds: number | null): string | null {
  if (seconds === null) return null;
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** A Unix time in seconds as ISO 8601, whole seconds, UTC. */
export function formatTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** Whether colour is wanted: a terminal, no `NO_COLOR`, and not a dumb one. */
export function wantsColour(
  stream: { readonly isTTY?: boolean },
  env: { readonly noColour: boolean; readonly dumb: boolean },
): boolean {
  return stream.isTTY === true && !env.noColour && !env.dumb;
}

/**
 * A printed column: a field under its own name, or a title with its text, which may be aligned
 * right.
 */
export type FieldText<T> =
  | (keyof T & string)
  | readonly [title: string, text: (of: T) => Cell, right?: 'right'];

/** Options of printing rows. `json` makes the object of a row if it is not the row itself. */
type RowsPrinted<T> = {
  readonly columns: readonly FieldText<T>[];
  readonly json?: (row: T) => object;
};

/** Whether a table does not fit into the terminal unless words are broken. */
function isTooWide(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  io: Pick<Io, 'width'>,
): boolean {
  const cells = rows.map((row) => columns.map((_, i) => valueText(row[i])));
  const widths = naturalWidths(columns, cells).map(({ least }) => least);
  const least = widths.reduce((sum, one) => sum + one, GAP.length * (widths.length - 1));
  return io.width !== undefined && least > io.width;
}

/**
 * Prints rows as they come: one table under one heading for people, or the facts of each row where
 * the terminal is too narrow for a table; an object a line for pipes.
 */
export function rowsPrinter<T extends object>(
  io: Io,
  { columns, json }: RowsPrinted<T>,
): (rows: readonly T[]) => void {
  const titles = columns.map((column) => {
    return { title: titleOf(column), right: typeof column !== 'string' && column[2] === 'right' };
  });
  let isHeaded = false;
  return (rows) => {
    if (io.json) {
      for (const row of rows) printJson(io, withIsoTimes(json ? json(row) : row));
      return;
    }
    const cells = rows.map((row) => columns.map((column) => cellOf(row, column)));
    if (isTooWide(titles, cells, io)) {
      for (const row of cells) {
        const facts = titles.map(({ title }, i) => [title, row[i] ?? null] as const);
        print(io, [...factLines(facts, io), '']);
      }
      return;
    }
    const lines = tableLines(titles, cells, io);
    print(io, isHeaded ? lines.slice(1) : lines);
    isHeaded = true;
  };
}

/**
 * Prints a list: a table for people, one JSON object a line for pipes. A failed one exits 3.
 * `none` is the sentence for people where the list was read and holds nothing.
 */
export function printRows<T extends object, P extends string>(
  reading: Partly<readonly T[], P>,
  io: Io,
  { none, ...shown }: RowsPrinted<T> & { readonly none: string },
): ExitStatus {
  const rows = rowsSeen(reading);
  if (rows !== null) rowsPrinter(io, shown)(rows);
  if (!reading.checked) return fail(io, reading.why.reason, EXIT.couldNotCheck);
  if (rows === null && !io.json) io.out(none);
  return EXIT.done;
}

/**
 * Part of an answer: facts, under a caveat if they have one, or that it was not checked.
 * `simulated`: whether the facts are made up, as the service says.
 */
export type AnswerPart = { readonly status: ExitStatus } & (
  | {
      readonly facts: readonly Fact[];
      readonly caveat: string | null;
      readonly simulated: boolean;
    }
  | { readonly name: string; readonly unread: string }
);

/**
 * Prints an answer of several parts: a JSON document for pipes; for people the facts of all under
 * one heading, each labelled where it is made up, then each caveat once. The worst part decides the
 * exit status.
 */
export function printParts(
  answer: object,
  io: Io,
  heading: string,
  parts: readonly AnswerPart[],
): ExitStatus {
  if (io.json) printJson(io, withIsoTimes(answer));
  else {
    const facts = parts.flatMap((part): readonly Fact[] => {
      if ('unread' in part) return [[part.name, `not checked: ${part.unread}`]];
      if (!part.simulated) return part.facts;
      return part.facts.map(([name, value]) => [name, `${valueText(value)} (simulated)`]);
    });
    const caveats = present(parts.map((part) => ('caveat' in part ? part.caveat : null)));
    const told = [...new Set(caveats)].flatMap((caveat) => wrapSentence(caveat, io));
    print(io, [heading, ...factLines(facts, io), ...told]);
  }
  const statuses = parts.map(({ status }) => status);
  const worst = [EXIT.badUsage, EXIT.couldNotCheck].find((status) => statuses.includes(status));
  return worst === undefined ? EXIT.done : worst;
}

/** Prints one record: a JSON document for pipes; for people its fields, or what `show` says. */
export function printRecord<T extends object>(
  record: T,
  io: Io,
  show: readonly FieldText<T>[] | string,
): typeof EXIT.done {
  if (io.json) printJson(io, withIsoTimes(record));
  else if (typeof show === 'string') io.out(show);
  else {
    const facts = show.map((one) => [titleOf(one), cellOf(record, one)] as const);
    print(io, factLines(facts, io));
  }
  return EXIT.done;
}

/** `last_used_at` is headed "last used", `membership_id` "membership". */
function titleOf<T>(field: FieldText<T>): string {
  if (typeof field !== 'string') return field[0];
  return field.replace(/_(at|id)$/, '').replaceAll('_', ' ');
}

function cellOf<T extends object>(row: T, field: FieldText<T>): Cell {
  if (typeof field !== 'string') return field[1](row);
  const value: unknown = row[field];
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return field.endsWith('_at') ? timeText(value) : value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** The same object with its `…_at` fields, Unix seconds in the stores, as ISO 8601 texts. */
export function withIsoTimes(row: object): object {
  const fields = Object.entries(row).map(([name, value]) => [
    name,
    name.endsWith('_at') && typeof value === 'number' ? formatTime(value) : value,
  ]);
  return Object.fromEntries(fields);
}
