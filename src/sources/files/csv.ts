// Reads the rows of a CSV file, by the names of its columns. A record with too many or too few
// values is named, and reading continues. Unclosed quotes could swallow rows unseen: they are a
// fault of the whole file.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { parse as parseWhole } from 'csv-parse/sync';
import type { BrokenRow, RawRow, TableLine } from '../../ports/tables.ts';
import { FileFault } from './text-lines.ts';

const RECORD_BYTES_MAX = 64 * 1024;
/** The most columns that a header may name. */
const COLUMNS_MAX = 64;
/** The most lines of a table that is read whole. */
const LINES_MAX = 20_000;
const TABLE_BYTES_MAX = 8 * 1024 * 1024;

/** A table that people edit may have either, or both. */
const LINE_ENDS = ['\r\n', '\n'];

const OPTIONS = {
  bom: true,
  info: true,
  max_record_size: RECORD_BYTES_MAX,
  relax_column_count: true,
  skip_empty_lines: true,
} as const;

/** The lines of a table's text. Throws `FileFault` where a quote stands wrong or it is too long. */
export function csvLines(text: string): readonly TableLine[] {
  try {
    const lines: readonly unknown[] = parseWhole(text, { ...OPTIONS, record_delimiter: LINE_ENDS });
    if (lines.length > LINES_MAX) throw new FileFault(`it has over ${LINES_MAX} lines`);
    return lines.map(lineOf);
  } catch (fault) {
    throw fault instanceof CsvError ? new FileFault(wordsOf(fault)) : fault;
  }
}

/** The lines of a small table on disk, with the file's hash. Throws `FileFault` as `csvLines`. */
export async function csvTable(
  path: string | URL,
): Promise<{ readonly sha256: string; readonly lines: readonly TableLine[] }> {
  const { size } = await stat(path);
  if (size > TABLE_BYTES_MAX) throw new FileFault('the file is too large');
  const bytes = await readFile(path);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { sha256, lines: csvLines(bytes.toString('utf8')) };
}

/** The delimiters of a file's cells: a comma, or those of spreadsheets. */
const DELIMITERS = [',', ';', '\t', '|'] as const;
/** Its first line begins there; a longer one is of commas. */
const HEAD_BYTES = 64 * 1024;

/** How a file is written, by its first line: its delimiter stands most often outside quotes. */
export async function csvDialect(path: string): Promise<{
  readonly delimiter: string;
  readonly lineEnd: '\n' | '\r\n';
  readonly hasBom: boolean;
}> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(HEAD_BYTES),
      position: 0,
    });
    const text = buffer.subarray(0, bytesRead).toString('utf8');
    const bare = text.replaceAll(/"(?:[^"]|"")*("|$)/g, '');
    const [line] = bare.replace(/^\ufeff?[\r\n]+/, '').split(/\r\n|\n|\r/);
    const counts = DELIMITERS.map((one) => String(line).split(one).length);
    const most = DELIMITERS[counts.indexOf(Math.max(...counts))];
    return {
      delimiter: String(most),
      lineEnd: bare.includes('\r\n') ? '\r\n' : '\n',
      hasBom: text.startsWith('\ufeff'),
    };
  } finally {
    await file.close();
  }
}

/** The largest file whose records are read one by one. */
const FILE_BYTES_MAX = 512 * 1024 * 1024;

/**
 * The records of a CSV file with the line on which each begins; the first may be headings. Throws
 * `FileFault` where the file cannot be read, is too large, or a quote does not close.
 */
export async function* csvRecords(path: string): AsyncGenerator<TableLine> {
  const facts = await stat(path).catch((fault: NodeJS.ErrnoException) => {
    throw new FileFault(String(fault.code));
  });
  if (!facts.isFile()) throw new FileFault('it is no file');
  if (facts.size > FILE_BYTES_MAX) throw new FileFault('it is over 512 MiB');
  const { delimiter } = await csvDialect(path);
  const input = createReadStream(path);
  const parser = parse({ ...OPTIONS, delimiter, relax_quotes: true });
  input.once('error', (fault) => parser.destroy(fault));
  input.pipe(parser);
  let twice = 0;
  try {
    for await (const parsed of parser) {
      const { line, cells } = lineOf(parsed);
      // The parser tells where a record ends, and counts a line end of two characters in a quoted
      // cell twice.
      const counted = ends(cells, LINE_END_CHARACTER);
      yield { line: line - twice - counted, cells };
      twice += counted - ends(cells, LINE_END);
    }
  } catch (fault) {
    throw fault instanceof CsvError ? new FileFault(wordsOf(fault)) : fault;
  } finally {
    input.destroy();
  }
}

const LINE_END = /\r\n|\n|\r/;
const LINE_END_CHARACTER = /[\r\n]/;

function ends(cells: readonly string[], end: RegExp): number {
  return cells.reduce((found, cell) => found + cell.split(end).length - 1, 0);
}

/** The rows of a CSV file in UTF-8 with a header, by the delimiter of its cells. */
export async function* csvRows(
  chunks: AsyncIterable<Uint8Array>,
  delimiter: string,
): AsyncGenerator<RawRow | BrokenRow> {
  const parser = parse({ ...OPTIONS, delimiter, relax_quotes: true });
  const input = Readable.from(chunks, { objectMode: false });
  input.once('error', (fault) => parser.destroy(fault));
  input.pipe(parser);
  let columns: readonly string[] | null = null;
  try {
    for await (const parsed of parser) {
      const { line, cells } = lineOf(parsed);
      if (columns === null) columns = headerOf(cells);
      else yield rowOf(columns, cells, line);
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

/** The parser's output for each record with its position. */
function lineOf(parsed: unknown): TableLine {
  if (typeof parsed === 'object' && parsed !== null && 'record' in parsed && 'info' in parsed) {
    const { record, info } = parsed;
    if (Array.isArray(record) && typeof info === 'object' && info !== null && 'lines' in info) {
      return { line: Number(info.lines), cells: record.map(String) };
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
