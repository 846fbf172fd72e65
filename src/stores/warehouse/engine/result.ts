// Is this answer whole, and what rows does it hold?
// Reads ClickHouse's JSON and JSONCompact documents: they close themselves and count their rows,
// so that an answer cut anywhere is no answer. (Lines of JSONEachRow cut at a line look whole.)
import { type RowShape, WarehouseQueryError, WarehouseUnavailable } from './executor.ts';

/** The rows of a result document; `interrupted` where it is not one whole document. */
export function rowsOf<T>(document: string, row: RowShape<T>): readonly T[] {
  const data = wholeData(document);
  return data.map((value) => shaped(value, row));
}

function wholeData(document: string): readonly unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(document);
  } catch {
    throw new WarehouseUnavailable('interrupted');
  }
  if (typeof parsed !== 'object' || parsed === null) throw new WarehouseUnavailable('interrupted');
  if (!('data' in parsed) || !Array.isArray(parsed.data) || !('rows' in parsed)) {
    throw new WarehouseUnavailable('interrupted');
  }
  if (parsed.data.length !== parsed.rows) throw new WarehouseUnavailable('interrupted');
  return parsed.data;
}

function shaped<T>(value: unknown, row: RowShape<T>): T {
  try {
    return row.parse(value);
  } catch (cause) {
    throw new WarehouseQueryError(0, 'ROW_SHAPE', cause instanceof Error ? cause.message : '');
  }
}
