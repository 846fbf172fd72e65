// Answers one question: how do a command's findings look, to people and to pipes.
// It formats what it is given; it decides nothing and hides nothing.

import { written } from '../evidence/measure.ts';
import type { Io } from './command.ts';

/** A column of a table: its heading, and whether its cells are numbers (set to the right). */
type Column = { readonly title: string; readonly right?: boolean };

/** The text of a cell where a row has nothing to say: unknown, unset or not applicable. */
export const NO_VALUE = '–';

const GAP = '  ';
const CELL_CHARS_MAX = 120;

/** The lines of an aligned table, its headings first. Cells never break the line. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly (string | number | null)[])[],
  io: Pick<Io, 'colour'>,
): string[] {
  const cells = rows.map((row) => columns.map((_, i) => cellText(row[i])));
  const widths = columns.map((column, i) =>
    cells.reduce((widest, row) => Math.max(widest, width(written(row[i]))), width(column.title)),
  );
  const line = (row: readonly string[]) =>
    columns
      .map((column, i) => padded(written(row[i]), Number(widths[i]), column.right === true))
      .join(GAP)
      .trimEnd();
  const head = line(columns.map((column) => column.title));
  return [bold(head, io), ...cells.map(line)];
}

function cellText(value: string | number | null | undefined): string {
  if (value === null || value === undefined || value === '') return NO_VALUE;
  const text = printable(String(value));
  return text.length > CELL_CHARS_MAX ? `${text.slice(0, CELL_CHARS_MAX - 1)}…` : text;
}

/** The text without characters that could move a terminal's cursor or change its colours. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '�');
}

function width(text: string): number {
  return [...text].length;
}

function padded(cell: string, to: number, right: boolean): string {
  const spaces = ' '.repeat(Math.max(0, to - width(cell)));
  return right ? spaces + cell : cell + spaces;
}

/** Name and value lines, the values aligned. */
export function factLines(
  facts: readonly (readonly [name: string, value: string | number | null])[],
): string[] {
  const widest = facts.reduce((most, [name]) => Math.max(most, width(name)), 0);
  return facts.map(([name, value]) => `${padded(name, widest, false)}${GAP}${cellText(value)}`);
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
export function coloured(
  text: string,
  colour: keyof typeof COLOURS,
  io: Pick<Io, 'colour'>,
): string {
  return io.colour ? `${ESCAPE}${COLOURS[colour]}m${text}${ESCAPE}0m` : text;
}

function bold(text: string, io: Pick<Io, 'colour'>): string {
  return coloured(text, 'bold', io);
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
