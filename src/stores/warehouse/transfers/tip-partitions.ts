// Which partitions of the tip are no longer read by anybody, and so dropped?
// Nothing is deleted by rows: a partition holds the blocks of one chain, one epoch and one range.

import { z } from 'zod';
import type { Warehouse } from '../engine/executor.ts';
import { WRITE } from './append.ts';
import { checkCurrent, type Position } from './follow-position.ts';

/** Blocks of one partition, as the migrations have it. */
export const PARTITION_BLOCKS = 1_024;

const TIP_TABLES = ['tip_transfers', 'tip_sides', 'tip_creations', 'tip_blocks'] as const;
const partitionRow = z.tuple([z.string()]);

/**
 * Drops the partitions of which everything was final for a while, and those of epochs that are
 * over. A follower only ever drops what a later one has copied, or what is final.
 */
export async function dropPartitions(warehouse: Warehouse, position: Position): Promise<void> {
  const { cursor, epoch, moved, dropped } = position;
  const below = Math.floor((moved.block + 1) / PARTITION_BLOCKS) * PARTITION_BLOCKS;
  if (below <= dropped) return;
  await checkCurrent(warehouse, cursor.chain, epoch);
  for (const table of TIP_TABLES) {
    const number = table === 'tip_blocks' ? 'number' : 'block';
    const sql = `SELECT DISTINCT _partition_id FROM ${table} WHERE chain = '${cursor.chain}'
      AND (epoch < ${epoch} OR (epoch = ${epoch} AND ${number} < ${below}))`;
    const gone = await warehouse.query(sql, { ...WRITE, row: partitionRow, tuples: true });
    for (const [id] of gone) {
      await warehouse.command(`ALTER TABLE ${table} DROP PARTITION ID '${id}'`, WRITE);
    }
  }
  position.dropped = below;
}
