import { z } from 'zod';
import { textOrEmpty } from '../../../evidence/measure.ts';
import {
  type Call,
  type FileSettings,
  type FileSource,
  INSERT_CHUNK_BYTES,
  type InsertCell,
  type InsertSource,
  type LineFormat,
  quoteSql,
  type Warehouse,
  WarehouseQueryError,
} from './executor.ts';

type Chunk = { readonly format: LineFormat; readonly payload: Buffer };

type LineSource = Exclude<InsertSource, { format: 'Parquet' }>;

const columnRow = z.object({ name: z.string(), type: z.string() });
const TAKES_NULL = /^(LowCardinality\()?Nullable\(|^(Dynamic|JSON|Variant)\b/;

/**
 * The chunks of a source of rows or of lines; Parquet is not cut and does not come here. Of rows,
 * the columns of the table are asked of `query` first.
 */
export function chunksOf(
  table: string,
  source: LineSource,
  query: Warehouse['query'],
  call: Call,
): AsyncIterable<Chunk> {
  if (!('rows' in source)) return gatherChunks(source.bytes, source.format);
  return gatherChunks(encodeRows(table, source, query, call), 'JSONCompactEachRow');
}

async function* encodeRows(
  table: string,
  { rows, columns }: Extract<LineSource, { rows: unknown }>,
  query: Warehouse['query'],
  call: Call,
): AsyncIterable<Uint8Array> {
  const sql = `SELECT name, type FROM system.columns
    WHERE database = currentDatabase() AND table = {table:String}`;
  const held = await query(sql, { ...call, row: columnRow, params: { table } });
  const types = new Map(held.map(({ name, type }) => [name, type]));
  const missing = columns.find((name) => !types.has(name));
  if (missing !== undefined) throw new WarehouseQueryError(0, 'NO_SUCH_COLUMN', missing);
  const takesNull = columns.map((name) => TAKES_NULL.test(textOrEmpty(types.get(name))));
  let lines: string[] = [];
  for await (const row of rows) {
    if (row.length !== columns.length) {
      throw new WarehouseQueryError(0, 'ROW_LENGTH', `${row.length} for ${columns.length}`);
    }
    const at = row.findIndex((cell, index) => cell === null && takesNull[index] !== true);
    if (at !== -1) throw new WarehouseQueryError(0, 'NULL_IN_COLUMN', String(columns[at]));
    lines.push(`[${row.map(encodeCell).join(',')}]\n`);
    if (lines.length === LINES_AT_ONCE) {
      yield Buffer.from(lines.join(''));
      lines = [];
    }
  }
  if (lines.length > 0) yield Buffer.from(lines.join(''));
}

/** Rows turned into bytes in one go. */
const LINES_AT_ONCE = 1000;

function encodeCell(cell: InsertCell): string {
  if (typeof cell === 'string') return JSON.stringify(cell);
  if (typeof cell === 'bigint') return `"${cell}"`;
  if (typeof cell === 'number') {
    if (Number.isFinite(cell)) return String(cell);
    throw new WarehouseQueryError(0, 'NUMBER_NOT_FINITE', String(cell));
  }
  if (typeof cell === 'object' && cell !== null) return `[${cell.map(encodeCell).join(',')}]`;
  return String(cell);
}

const NEWLINE = 0x0a;

/** Bytes cut after the last line end that fits. Both line formats escape newlines within values. */
async function* gatherChunks(
  bytes: AsyncIterable<Uint8Array>,
  format: LineFormat,
): AsyncIterable<Chunk> {
  let parts: Uint8Array[] = [];
  let held = 0;
  for await (const piece of bytes) {
    for (let at = 0; at < piece.length; at += INSERT_CHUNK_BYTES) {
      const part = piece.subarray(at, at + INSERT_CHUNK_BYTES);
      if (held + part.length > INSERT_CHUNK_BYTES) {
        const whole = Buffer.concat(parts, held);
        const end = whole.lastIndexOf(NEWLINE) + 1;
        if (end === 0) throw new WarehouseQueryError(0, 'ROW_TOO_LARGE', `${held} bytes`);
        yield { format, payload: whole.subarray(0, end) };
        parts = [whole.subarray(end)];
        held = whole.length - end;
      }
      parts.push(part);
      held += part.length;
    }
  }
  const rest = Buffer.concat(parts, held);
  if (rest.toString('latin1').trim() !== '') yield { format, payload: rest };
}

/** `table (a, b)`; names are checked by the caller. */
export function insertTarget(table: string, columns: readonly string[] | undefined): string {
  return columns === undefined ? table : `${table} (${columns.join(', ')})`;
}

/** The statement that inserts a Parquet file which the engine itself reads. */
export function fileInsert(target: string, path: string): string {
  return `INSERT INTO ${target} FROM INFILE ${quoteSql(path)} FORMAT Parquet`;
}

/** The columns of a file as a table function takes them. */
export function fileStructure({ columns }: FileSource): string {
  return quoteSql(columns.map(([name, type]) => `\`${name}\` ${type}`).join(', '));
}

/** A file of this machine as a table. */
export function fileTable(file: FileSource): string {
  const { path, format, gzip, columns } = file;
  if (columns.length === 0) return `file(${quoteSql(path)}, '${format}')`;
  const packed = gzip ? 'gz' : 'none';
  return `file(${quoteSql(path)}, '${format}', ${fileStructure(file)}, '${packed}')`;
}

/** Settings as the last words of a statement. */
export function withSettings(sql: string, settings: FileSettings | undefined): string {
  if (settings === undefined) return sql;
  const words = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `${sql} SETTINGS ${words.join(', ')}`;
}

// Caches answers of the warehouse that cannot have changed. An answer stands until a write, which
// the executor counts. A caller that comes while another one waits shares its statement, which
// begins after both calls.

/**
 * How long an answer stands at most. A statement that was given up may go on in the engine where
 * nobody counts it, so nothing stands for good.
 */
const KEEP_MS = 1_000;

type Kept<T> = { readonly value: T; readonly writes: number; readonly atMs: number };

/** The same question, asked anew only where something can have been written since. */
export function untilWritten<T>(
  { writes }: Pick<Warehouse, 'writes'>,
  ask: () => Promise<T>,
): () => Promise<T> {
  let kept: Kept<T> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<T> | null = null;

  const standing = (): Kept<T> | null => {
    if (kept === null || kept.writes !== writes()) return null;
    return performance.now() - kept.atMs < KEEP_MS ? kept : null;
  };

  const turn = async (): Promise<T> => {
    waiting = null;
    const known = standing();
    if (known !== null) return known.value;
    const before = writes();
    const atMs = performance.now();
    const value = await ask();
    kept = before === null || writes() !== before ? null : { value, writes: before, atMs };
    return value;
  };

  return () => {
    const known = standing();
    if (known !== null) return Promise.resolve(known.value);
    if (waiting === null) {
      waiting = last.then(turn);
      last = waiting.catch(() => undefined);
    }
    return waiting;
  };
}
