// How does a follower take over the tip that another one left, or is still at work on?
// It copies what counts under its own epoch, and looks whether that was changed meanwhile: then the
// copy is made again, under another stamp.

import { z } from 'zod';
import { type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';
import { WRITE } from './append.ts';
import { lastOf, newestStamp, type Position, readPosition } from './follow-position.ts';
import { stampedBlocks } from './held.ts';

/** How often a tip is copied anew because its follower changed it meanwhile. */
const ADOPTIONS_MAX = 5;

/** The columns of the tip's tables that those of final facts have too. */
export const TRANSFER = `chain, block, tx_hash, place, kind, token, from_address, to_address,
  raw_amount, n, block_time, block_hash, position, initiator, success, observed`;
export const CREATION = `chain, block, created, creator, tx_hash, initiator, block_hash, block_time,
  observed`;
export const HEADER = 'chain, number, hash, parent_hash, time';

/** The position with its tip under a new epoch, as it stood at one moment. */
export async function adoptTip(
  warehouse: Warehouse,
  found: Position,
  epoch: number,
): Promise<Position> {
  let before: Position | null = found;
  for (let attempt = 1; attempt <= ADOPTIONS_MAX && before !== null; attempt += 1) {
    if (before.epoch === epoch) return before;
    const stamp = await unusedStamp(warehouse, before, epoch);
    const stamps = [{ from_block: before.cursor.from_block, stamp }];
    // The tip is another now, under another epoch: whoever is reading looks again.
    const position: Position = { ...before, epoch, stamps, rollbacks: before.rollbacks + 1 };
    for (const sql of copies(before, epoch, stamp)) await warehouse.command(sql, WRITE);
    const after = await readPosition(warehouse, before.cursor.chain);
    if (after !== null && isSame(before, after)) return position;
    before = after;
  }
  throw new WarehouseUnavailable('interrupted');
}

/** A stamp that no copy under this epoch bears, whatever became of it. */
async function unusedStamp(warehouse: Warehouse, before: Position, epoch: number): Promise<number> {
  const of = `WHERE chain = '${before.cursor.chain}' AND epoch = ${epoch}`;
  const each = COPIED.map((table) => `(SELECT max(stamp) FROM ${table} ${of})`);
  const sql = `SELECT greatest(${each.join(', ')})`;
  const [row] = await warehouse.query(sql, { ...WRITE, row: stampRow, tuples: true });
  if (row === undefined) throw new RangeError('a maximum has one row');
  return Math.max(row[0], newestStamp(before)) + 1;
}

const COPIED = ['tip_transfers', 'tip_creations', 'tip_blocks'] as const;
const stampRow = z.tuple([z.coerce.number()]);

function isSame(one: Position, other: Position): boolean {
  const [left, right] = [one, other].map(({ cursor }) => JSON.stringify(cursor.tip));
  return one.version === other.version && one.epoch === other.epoch && left === right;
}

/** Copies what counts of a position's tip under another epoch and one stamp. */
function copies(from: Position, epoch: number, stamp: number): readonly string[] {
  const { tip } = from.cursor;
  if (tip.length === 0) return NO_STATEMENTS;
  const under = `${epoch}, ${stamp}`;
  const last = lastOf(from.cursor);
  const at = { ...from.cursor, epoch: from.epoch, stamps: from.stamps };
  const blocks = stampedBlocks(at, last, 'block');
  const numbers = stampedBlocks(at, last, 'number');
  return [
    `INSERT INTO tip_transfers (${TRANSFER}, finality, epoch, stamp)
     SELECT ${TRANSFER}, finality, ${under} FROM tip_transfers WHERE ${blocks}`,
    `INSERT INTO tip_creations (${CREATION}, epoch, stamp)
     SELECT ${CREATION}, ${under} FROM tip_creations WHERE ${blocks}`,
    `INSERT INTO tip_blocks (${HEADER}, epoch, stamp)
     SELECT DISTINCT ${HEADER}, ${under} FROM tip_blocks WHERE ${numbers}`,
  ];
}

const NO_STATEMENTS: readonly string[] = Object.freeze([]);
