// What rows does a file of JSON lines hold?
// One object a line, its values texts, numbers, flags or null. A line that is none of that is
// named and the rest is read on; a line without end is a fault of the file.

import type { BrokenRow, RawRow } from '../../ports/tables/table-import.ts';
import { jsonIn } from '../http/json-text.ts';
import { textLines } from './text-lines.ts';

/** The longest line, in characters. */
const LINE_CHARS_MAX = 64 * 1024;

/** The rows of a file of JSON lines, in UTF-8. Blank lines are passed over. */
export async function* jsonLineRows(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<RawRow | BrokenRow> {
  for await (const { line, text } of textLines(chunks, LINE_CHARS_MAX)) yield rowOf(text, line);
}

function rowOf(text: string, line: number): RawRow | BrokenRow {
  if (text.length > LINE_CHARS_MAX) return { line, problem: 'the line is too long' };
  const value = jsonIn(text);
  if (value === undefined) return { line, problem: 'not JSON' };
  return objectRow(value, line);
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
