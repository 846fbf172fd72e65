// Lists the rows of a warehouse that could count, table by table. For tests that compare two
// warehouses: each row is its exact bytes, in hexadecimal, under the name of its table.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import type { Warehouse } from '../engine/executor.ts';
import { readPosition } from './following.ts';
import { stampedBlocks } from './held.ts';

export const FINAL_TABLES = [
  'transfers',
  'sides',
  'blocks',
  'creations',
  'creators',
  'transactions',
  'coverage',
] as const;
const TIP_TABLES = ['tip_blocks', 'tip_transfers', 'tip_sides', 'tip_creations'] as const;

/** Rows by their table; one without rows is not named. */
export type RowsByTable = Readonly<Record<string, readonly string[]>>;

const CALL = { timeoutMs: 60_000 };
const text = z.tuple([z.string()]);

async function rowsOf(
  warehouse: Warehouse,
  tables: readonly (readonly [from: string, columns: string, where: string])[],
): Promise<RowsByTable> {
  const found: Record<string, readonly string[]> = {};
  for (const [from, columns, where] of tables) {
    const sql = `SELECT DISTINCT lower(hex(toString(tuple(${columns})))) AS row
      FROM ${from} WHERE ${where} ORDER BY row`;
    const rows = await warehouse.query(sql, { ...CALL, row: text, tuples: true });
    if (rows.length > 0) found[from.replace(' FINAL', '')] = rows.map(([row]) => row);
  }
  return found;
}

/** All rows of the tables of what is final. */
export function finalRows(warehouse: Warehouse): Promise<RowsByTable> {
  return rowsOf(
    warehouse,
    FINAL_TABLES.map((table) => [`${table} FINAL`, '*', 'true']),
  );
}

/** The rows of the tip of a followed chain that count, whoever wrote them under which epoch. */
export async function tipRowsOf(warehouse: Warehouse, chain: ChainName): Promise<RowsByTable> {
  const position = await readPosition(warehouse, chain);
  if (position === null) throw new Error(`${chain} is not followed`);
  const { cursor, epoch, stamps } = position;
  const tip = { ...cursor, epoch, stamps };
  return rowsOf(
    warehouse,
    TIP_TABLES.map((table) => {
      const where = stampedBlocks(tip, null, table === 'tip_blocks' ? 'number' : 'block');
      return [table, '* EXCEPT (epoch, stamp)', String(where === null ? false : where)];
    }),
  );
}
