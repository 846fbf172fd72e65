// What makes a warehouse that was just filled as fast to read as it can be?
// Each part of a table is looked into by each read. The engine joins parts in its own time, and
// leaves a large table in many; after an import they are joined at once, where that is minutes at
// most and the disk has room. Nothing depends on it.

import { z } from 'zod';
import { type Call, type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';

const GIB = 1024 * 1024 * 1024;
/** A larger chain is left to the engine: a rewrite of it would take hours. */
const BYTES_MAX = 128 * GIB;
/** Up to so many bytes a chain is joined whatever came to it. */
const SMALL_BYTES = 4 * GIB;
/** A large one only when so great a share of it is new: each byte is written few times over. */
const NEW_SHARE = 1 / 8;
/** The engine joins parts only where so many times their bytes are free. */
const FREE_TIMES = 2;
const CALL: Call = { timeoutMs: 3_600_000 };

const whole = z.coerce.number();
const partitionRow = z.tuple([z.string().regex(/^[\w-]+$/), whole, whole, whole]);

/** The parts of one chain's sides, in bytes. */
export type ChainParts = {
  readonly count: number;
  readonly bytes: number;
  readonly largest: number;
};

/** Whether the parts of a chain are to be joined, where so many bytes of the disk are free. */
export function isWorthJoining({ count, bytes, largest }: ChainParts, free: number): boolean {
  if (count < 2 || bytes > BYTES_MAX || FREE_TIMES * bytes > free) return false;
  return bytes <= SMALL_BYTES || bytes - largest >= NEW_SHARE * bytes;
}

/** Joins the parts of the sides into one for each chain that is worth it. */
export async function compactSides(warehouse: Warehouse): Promise<void> {
  try {
    // In a cluster the table of this name holds no parts: each node keeps its own in order.
    const sql = `SELECT partition_id, count(), sum(bytes_on_disk), max(bytes_on_disk)
      FROM system.parts
      WHERE active AND database = currentDatabase() AND table = 'sides' GROUP BY partition_id`;
    const chains = await warehouse.query(sql, { ...CALL, row: partitionRow, tuples: true });
    for (const [id, count, bytes, largest] of chains) {
      if (!isWorthJoining({ count, bytes, largest }, await freeBytes(warehouse))) continue;
      await warehouse.command(`OPTIMIZE TABLE sides PARTITION ID '${id}' FINAL`, CALL);
    }
  } catch (error) {
    if (!(error instanceof WarehouseUnavailable)) throw error;
    // What could not be joined now is read as it is.
    return;
  }
}

/** Free bytes of the disk that has the fewest. */
async function freeBytes(warehouse: Warehouse): Promise<number> {
  const sql = 'SELECT min(unreserved_space) FROM system.disks';
  const query = { ...CALL, row: z.tuple([whole]), tuples: true };
  const [row] = await warehouse.query(sql, query);
  if (row === undefined) throw new RangeError('a least number has one row');
  return row[0];
}
