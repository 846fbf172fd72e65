// What rows does a CSV file hold, by the names of its columns?
// A record with too many or too few values is named and the rest is read on. Where quotes do not
// close, rows could be swallowed unseen: that is a fault of the whole file.

import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { BrokenRow, RawRow } from '../../ports/tables/table-import.ts';
import { FileFault } from './file-fault.ts';

/** The longest record, in bytes. */
const RECORD_BYTES_MAX = 64 * 1024;
/** The most columns that a header may name. */
const COLUMNS_MAX = 64;

/** The rows of a CSV file: a header, commas, UTF-8. */
export async function* csvRows(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<RawRow | BrokenRow> {
  const parser = parse({
    bom: true,
    info: true,
    max_record_size: RECORD_BYTES_MAX,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  });
  const input = Readable.from(chunks, { objectMode: false });
  input.once('error', (fault) => parser.destroy(fault));
  input.pipe(parser);
  let columns: readonly string[] | null = null;
  try {
    for await (const parsed of parser) {
      const { line, values } = recordOf(parsed);
      if (columns === null) columns = headerOf(values);
      else yield rowOf(columns, values, line);
    }
  } catch (fault) {
    throw fault instanceof CsvError ? new FileFault(wordsOf(fault)) : fault;
  } finally {
    input.destroy();
  }
  if (columns === null) throw new FileFault('it has no header');
}

function wordsOf(fault: CsvError): string {
  const line = fault['lines'];
  const what = fault.code === 'CSV_QUOTE_NOT_CLOSED' ? 'a quote does not close' : fault.code;
  return typeof line === 'number' ? `${what}, up to line ${line}` : what;
}

type Parsed = { readonly line: number; readonly values: readonly string[] };

/** What the parser gives for each record when asked for its place. */
function recordOf(parsed: unknown): Parsed {
  if (typeof parsed === 'object' && parsed !== null && 'record' in parsed && 'info' in parsed) {
    const { record, info } = parsed;
    if (Array.isArray(record) && typeof info === 'object' && info !== null && 'lines' in info) {
      return { line: Number(info.lines), values: record.map(String) };
    }
  }
  throw new Error('csv: the parser gave no record');
}

function headerOf(values: readonly string[]): readonly string[] {
  const columns = values.map((name) => name.trim().toLowerCase());
  if (columns.length > COLUMNS_MAX) throw new FileFault(`it has over ${COLUMNS_MAX} columns`);
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined) throw new FileFault('two columns have the same name');
  return columns;
}

function rowOf(
  columns: readonly string[],
  values: readonly string[],
  line: number,
): RawRow | BrokenRow {
  if (values.length !== columns.length) {
    return { line, problem: `${values.length} values under ${columns.length} columns` };
  }
  const fields = new Map<string, string>();
  for (const [i, name] of columns.entries()) {
    const value = values[i];
    if (value !== undefined && value !== '') fields.set(name, value);
  }
  return { line, fields };
}
