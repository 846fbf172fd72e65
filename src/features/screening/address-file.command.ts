// Answers one question: which addresses does a CSV file hold, and on which lines.
// The column named `address` is taken, else the first; nothing is corrected or left out unsaid.

import { type FileHandle, open } from 'node:fs/promises';

/** An address as the file writes it, with its line (from 1). */
export type FileAddress = { readonly line: number; readonly address: string };

/** The file is not there, is none, or holds what no address file holds. */
export class FileUnreadable extends Error {}

const FILE_BYTES_MAX = 512 * 1024 * 1024;
const LINE_CHARS_MAX = 64 * 1024;
const HEADINGS = ['address', 'wallet', 'wallet_address'];

/** Reads the addresses line by line, in bounded memory. Blank lines are no rows. */
export async function* fileAddresses(path: string): AsyncGenerator<FileAddress, void> {
  const file = await openFile(path);
  let line = 0;
  let column: number | null = null;
  for await (const text of file.readLines({ encoding: 'utf8' })) {
    line += 1;
    const row = line === 1 ? text.replace(/^\uFEFF/, '') : text;
    if (row.trim() === '') continue;
    if (row.length > LINE_CHARS_MAX) throw new FileUnreadable(`line ${line} is too long`);
    const cells = cellsOf(row);
    if (column === null) {
      const named = cells.findIndex((cell) => HEADINGS.includes(cell.trim().toLowerCase()));
      column = Math.max(named, 0);
      if (named >= 0) continue;
    }
    const address = cells[column];
    yield { line, address: address === undefined ? '' : address.trim() };
  }
}

async function openFile(path: string): Promise<FileHandle> {
  const file = await open(path).catch((fault: unknown) => {
    throw new FileUnreadable(fault instanceof Error && 'code' in fault ? String(fault.code) : 'no');
  });
  const facts = await file.stat();
  const problem = facts.isDirectory() ? 'a folder' : 'over 512 MiB';
  if (!facts.isDirectory() && facts.size <= FILE_BYTES_MAX) return file;
  await file.close();
  throw new FileUnreadable(`it is ${problem}`);
}

/** The cells of one row: comma-separated, quoted where a cell holds a comma or a quote. */
export function cellsOf(row: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < row.length; i += 1) {
    const char = row.charAt(i);
    if (quoted && char === '"' && row.charAt(i + 1) === '"') {
      cell += '"';
      i += 1;
    } else if (char === '"') quoted = !quoted;
    else if (char === ',' && !quoted) {
      cells.push(cell);
      cell = '';
    } else cell += char;
  }
  return [...cells, cell];
}
