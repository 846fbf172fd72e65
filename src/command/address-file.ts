// Finds the cells of a CSV file that hold addresses, with their lines. The file is read twice:
// first for its columns, so that an address in a later row of an apparently empty column is not
// missed. Nothing is corrected or dropped silently.

import { parseKnownAddress } from '../chain/address.ts';
import type { BrokenRow, TableLine } from '../ports/tables.ts';

/** Reads the records of a file; the first may be headings. Throws `FileUnreadable`. */
export type ReadRecords = (path: string) => AsyncIterable<TableLine>;

/** The file is not there, is none, or holds what no address file holds. */
export class FileUnreadable extends Error {}

/** An address as the file writes it, with its line (from 1) and its column. */
export type FileAddress = {
  readonly line: number;
  readonly column: string;
  readonly address: string;
};

/** An address with all cells of its row. */
export type AddressInRow = FileAddress & { readonly cells: readonly string[] };

/** A row that could not be taken as its columns say; `isTaken`: its addresses were, though. */
export type FileProblem = BrokenRow & {
  readonly cells: readonly string[];
  readonly isTaken: boolean;
};

/** How a file is written, so that another of it opens where it does. */
export type CsvDialect = {
  readonly delimiter: string;
  readonly lineEnd: '\n' | '\r\n';
  readonly hasBom: boolean;
};

/** Where the addresses of a file are. */
export type AddressLayout = {
  /** The headings as written; `null` where the first row is no row of headings. */
  readonly headings: readonly string[] | null;
  readonly width: number;
  /** The most cells of a row. */
  readonly widest: number;
  /** How many records the file holds, the headings among them. */
  readonly records: number;
  /** The columns of which every cell is an address to screen, by their place. */
  readonly columns: readonly number[];
  /** Whether an address of a known form is taken from any other cell too. */
  readonly elsewhere: boolean;
};

/** The most addresses that are taken from one file. */
export const ADDRESSES_MAX = 2_000_000;

const HEADING = /address|wallet/i;
/** No address is shorter, so that a row of shorter cells alone may be one of headings. */
const ADDRESS_CHARS_MIN = 25;

/** Finds the columns. Those that are named are taken, and no other; a missing one is a fault. */
export async function addressLayoutOf(
  records: AsyncIterable<TableLine>,
  named: readonly string[],
): Promise<AddressLayout> {
  let first: readonly string[] | null = null;
  let hasHeadings = false;
  let held = 0;
  let widest = 0;
  const counts: { readonly filled: number; readonly addresses: number }[] = [];
  for await (const { cells } of records) {
    held += 1;
    widest = Math.max(widest, cells.length);
    if (first === null) {
      first = cells;
      hasHeadings = isHeadings(cells, named);
      if (hasHeadings) continue;
    }
    for (const [i, cell] of cells.entries()) {
      const text = cell.trim();
      if (text === '') continue;
      const { filled, addresses } = counts[i] ?? NOTHING_FILLED;
      counts[i] = { filled: filled + 1, addresses: addresses + (isAddress(text) ? 1 : 0) };
    }
  }
  if (first === null) throw new FileUnreadable('it holds no row');
  const headings = hasHeadings ? first.map((cell) => cell.trim()) : null;
  const width = first.length;
  if (named.length > 0) {
    return {
      headings,
      width,
      widest,
      records: held,
      columns: named.map((one) => placeOf(one, headings)),
      elsewhere: false,
    };
  }
  const columns = first.flatMap((_, i) => {
    const { filled, addresses } = counts[i] ?? NOTHING_FILLED;
    const isNamed = headings !== null && HEADING.test(String(headings[i])) && filled > 0;
    return isNamed || (addresses > 0 && addresses * 2 >= filled) ? [i] : [];
  });
  // A file of one column is a list of addresses, whatever it holds.
  const taken = width === 1 ? [0] : columns;
  return { headings, width, widest, records: held, columns: taken, elsewhere: true };
}

const NOTHING_FILLED = { filled: 0, addresses: 0 } as const;

function isAddress(text: string): boolean {
  return parseKnownAddress(text) !== null;
}

function isHeadings(cells: readonly string[], named: readonly string[]): boolean {
  const texts = cells.map((cell) => cell.trim());
  if (named.some((one) => texts.some((text) => sameName(text, one)))) return true;
  return texts.every((text) => text.length < ADDRESS_CHARS_MIN && !isAddress(text));
}

const sameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function placeOf(name: string, headings: readonly string[] | null): number {
  const place = headings === null ? -1 : headings.findIndex((one) => sameName(one, name));
  if (place >= 0) return place;
  throw new FileUnreadable(`it has no column "${name}"`);
}

/** The name of a column as its heading has it, else its number (from 1). */
export function columnName({ headings }: AddressLayout, place: number): string {
  const heading = headings?.[place];
  return heading === undefined || heading === '' ? String(place + 1) : heading;
}

/** The addresses of a file in the order of its cells, and the rows that could not be taken. */
export async function* fileAddresses(
  records: AsyncIterable<TableLine>,
  layout: AddressLayout,
): AsyncGenerator<AddressInRow | FileProblem, void> {
  let isFirst = true;
  for await (const { line, cells } of records) {
    const isHeading = isFirst && layout.headings !== null;
    isFirst = false;
    if (isHeading) continue;
    let taken = 0;
    for (const [i, cell] of cells.entries()) {
      const address = cell.trim();
      const isAsked = layout.columns.includes(i) && address !== '';
      if (!isAsked && !(layout.elsewhere && isAddress(address))) continue;
      taken += 1;
      yield { line, column: columnName(layout, i), address, cells };
    }
    const row = { line, cells, isTaken: taken > 0 };
    if (cells.length !== layout.width) {
      yield { ...row, problem: `${cells.length} values under ${layout.width} columns` };
    } else if (taken === 0) yield { ...row, problem: 'no address in this row' };
  }
}
