// What makes a warehouse that was just filled as fast to read as it can be?
// Each part of a table is looked into by each read. The engine joins parts in its own time; after
// an import they are joined at once, where that is minutes at most. Nothing depends on it.

import { z } from 'zod';
import { type Call, type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';

/** A larger table is left to the engine: a rewrite of it would take too long. */
const BYTES_MAX = 16 * 1024 * 1024 * 1024;
const CALL: Call = { timeoutMs: 3_600_000 };

const partsRow = z.tuple([z.coerce.number(), z.coerce.number()]);

/** Joins the parts of the sides into one for each chain, if they are few bytes enough. */
export async function compactSides(warehouse: Warehouse): Promise<void> {
  try {
    // In a cluster the table of this name holds no parts: each node keeps its own in order.
    const sql = `SELECT count() - uniqExact(partition_id), sum(bytes_on_disk) FROM system.parts
      WHERE active AND database = currentDatabase() AND table = 'sides'`;
    const [row] = await warehouse.query(sql, { ...CALL, row: partsRow, tuples: true });
    if (row === undefined || row[0] < 1 || row[1] > BYTES_MAX) return;
    const untouched = 'SETTINGS optimize_skip_merged_partitions = 1';
    await warehouse.command(`OPTIMIZE TABLE sides FINAL ${untouched}`, CALL);
  } catch (error) {
    if (!(error instanceof WarehouseUnavailable)) throw error;
    // What could not be joined now is read as it is.
    return;
  }
}
