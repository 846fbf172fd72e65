// Splits a text into lines, numbered from 1. Blank lines are counted and skipped; a last line
// without an end is a fault of the file.

import { StringDecoder } from 'node:string_decoder';
import { textOrEmpty } from '../../evidence/measure.ts';
import type { BrokenRow, RawRow } from '../../ports/tables.ts';
import { jsonIn } from '../http/fetch.ts';

/** One line. Only the last of a text may have no end. */
export type TextLine = {
  readonly line: number;
  readonly text: string;
  readonly isEnded: boolean;
};

/** The lines of a text in UTF-8, with or without a byte order mark. */
export async function* textLines(
  chunks: AsyncIterable<Uint8Array>,
  charsMax: number,
): AsyncGenerator<TextLine> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let line = 0;
  const numberLine = (held: string, isEnded: boolean): TextLine => {
    line += 1;
    return { line, text: line === 1 ? held.replace(/^\ufeff/, '') : held, isEnded };
  };
  for await (const chunk of chunks) {
    const whole = (rest + decoder.write(Buffer.from(chunk))).split('\n');
    rest = textOrEmpty(whole.pop());
    if (rest.length > charsMax) throw new FileFault('a line is too long');
    for (const held of whole) {
      const one = numberLine(held, true);
      if (one.text.trim() !== '') yield one;
    }
  }
  const last = numberLine(rest + decoder.end(), false);
  if (last.text.trim() !== '') yield last;
}

// The faults of a file that its operator can mend, in words.

/** A path or a file that cannot be imported as it is. The message names it and what to do. */
export class ImportFault extends Error {}

/** A file that is not what its name says. The message ends a sentence and quotes no value. */
export class FileFault extends Error {}

/** The words for a fault of a file; anything that is no fault of a file is a bug and is thrown. */
export function describeFault(fault: unknown): string {
  if (fault instanceof FileFault) return fault.message;
  if (fault instanceof Error && 'code' in fault && typeof fault.code === 'string') {
    return fault.code === 'ENOENT' ? 'there is no such file' : fault.code;
  }
  throw fault;
}

// Reads rows from JSON lines. One object a line, its values texts, numbers, flags or null. Any
// other line is named, and reading continues; a line without end is a fault of the file.

const LINE_CHARS_MAX = 64 * 1024;

/** The rows of a file of JSON lines, in UTF-8. Blank lines are passed over. */
export async function* jsonLineRows(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<RawRow | BrokenRow> {
  for await (const { line, text } of textLines(chunks, LINE_CHARS_MAX)) {
    if (text.length > LINE_CHARS_MAX) {
      yield { line, problem: 'the line is too long' };
      continue;
    }
    const value = jsonIn(text);
    yield value === undefined ? { line, problem: 'not JSON' } : objectRow(value, line);
  }
}

/** A row from a parsed object of plain values; names of columns in lower case. */
export function objectRow(value: unknown, line: number): RawRow | BrokenRow {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line, problem: 'not an object' };
  }
  const fields = new Map<string, string>();
  for (const [name, held] of Object.entries(value)) {
    if (held === null || held === undefined || held === '') continue;
    if (typeof held !== 'string' && typeof held !== 'number' && typeof held !== 'boolean') {
      return { line, problem: 'a value is neither text, number nor flag' };
    }
    fields.set(name.toLowerCase(), String(held));
  }
  return { line, fields };
}
