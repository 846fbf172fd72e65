// Where does a chain's follower stand, and is it still the one whose word counts?
// A position is one row of `following`: it says whose tip counts and which of its stamps. Only the
// follower of the greatest claimed epoch can write one, whenever its statement arrives.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import { TRANSFER_KINDS } from '../../../chain/transfer.ts';
import { given } from '../../../evidence/measure.ts';
import type { Cursor, TipHeader } from '../../../ports/indexing/transfer-store.ts';
import type { Warehouse } from '../engine/executor.ts';
import { insertRows, WRITE } from './append.ts';
import { hashHex, hashOf } from './bytes.ts';
import { observed, originOf } from './fact-rows.ts';
import { type Stamp, stampedBlocks, stampsOf } from './held.ts';

/** The most blocks of one tip. */
const TIP_BLOCKS_MAX = 65_536;
/** How long a statement of a follower that makes something count may run. */
export const COUNTING = { timeoutMs: 30_000 };

/**
 * A cursor with what is not told of it. `stamps`: which the tip's blocks bear, from which block on.
 * `sealed`: up to which block nothing is undone any more, `null` before the first. `moved`: up to
 * which block all was final at that time. `dropped`: no partition below is left.
 */
export type Position = {
  cursor: Cursor;
  readonly epoch: number;
  stamps: readonly Stamp[];
  sealed: number | null;
  final_time: number | null;
  rollbacks: number;
  version: number;
  moved: { readonly block: number; readonly atMs: number };
  dropped: number;
};

/** A follower whose chain another one has taken over meanwhile. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
  readonly chain: ChainName;

  constructor(chain: ChainName) {
    super(`another follower has taken over ${chain}`);
    this.chain = chain;
  }
}

const numberRow = z.tuple([z.coerce.number()]);

/** The greatest epoch that was claimed, as SQL. */
const claimed = (chain: ChainName) =>
  `(SELECT max(epoch) FROM follow_claims WHERE chain = '${chain}')`;

/**
 * The condition under which a statement of a follower does anything. The engine looks when it runs
 * it, so that one which was held up on the way for however long changes nothing.
 */
export function whileCurrent(chain: ChainName, epoch: number): string {
  return `${claimed(chain)} = ${epoch}`;
}

/** Throws `Superseded` where a later follower has claimed the chain. */
export async function checkCurrent(
  warehouse: Warehouse,
  chain: ChainName,
  epoch: number,
): Promise<void> {
  if ((await claimedEpoch(warehouse, chain)) > epoch) throw new Superseded(chain);
}

/** The greatest epoch that was claimed; 0 where none was. */
export async function claimedEpoch(warehouse: Warehouse, chain: ChainName): Promise<number> {
  const sql = `SELECT ${claimed(chain)}`;
  const [row] = await warehouse.query(sql, { ...WRITE, row: numberRow, tuples: true });
  if (row === undefined) throw new RangeError('a maximum has one row');
  return row[0];
}

/** Says that from now on no follower of an earlier epoch makes anything count. */
export async function claim(warehouse: Warehouse, chain: ChainName, epoch: number): Promise<void> {
  await checkCurrent(warehouse, chain, epoch);
  await insertRows(warehouse, 'follow_claims', {
    columns: ['chain', 'epoch'],
    rows: [[chain, epoch]],
  });
}

const followingRow = z.tuple([
  z.coerce.number(),
  z.array(z.enum(TRANSFER_KINDS)),
  z.string(),
  z.number(),
  z.coerce.number().nullable(),
  z.string().nullable(),
  z.number().nullable(),
  z.coerce.number(),
  z.coerce.number(),
  z.coerce.number(),
  z.array(z.coerce.number()),
  z.array(z.number()),
  z.coerce.number().nullable(),
]);
const headerRow = z.tuple([z.coerce.number(), z.string(), z.string(), z.number()]);

/** The position that is stored; `null` where the chain was never followed. */
export async function readPosition(
  warehouse: Warehouse,
  chain: ChainName,
): Promise<Position | null> {
  const sql = `SELECT from_block, kinds, source, observed, final_block, lower(hex(final_hash)),
      final_time, rollbacks, version, epoch, stamp_blocks, stamps,
      sealed_block
    FROM following FINAL WHERE chain = '${chain}'`;
  const [row] = await warehouse.query(sql, { ...WRITE, row: followingRow, tuples: true });
  if (row === undefined) return null;
  const [from_block, kinds, source, isObserved, final_block, finalHash, final_time, ...rest] = row;
  const [rollbacks, version, epoch, stampBlocks, stampNumbers, sealed] = rest;
  const stamps = stampsOf(stampBlocks, stampNumbers);
  const final_hash = finalHash === null ? null : hashOf(finalHash);
  const tip = await readTip(warehouse, { chain, epoch, stamps, final_block });
  const origin = originOf(isObserved);
  const cursor = { chain, from_block, kinds, source, origin, final_block, final_hash, tip };
  const numbers = { final_time, rollbacks, version, epoch };
  return { cursor, ...numbers, stamps, sealed, moved: movedNow(cursor), dropped: -1 };
}

export function movedNow(cursor: Cursor): Position['moved'] {
  return { block: lastFinal(cursor), atMs: performance.now() };
}

/** The headers that count, lowest first. */
async function readTip(
  warehouse: Warehouse,
  tip: Parameters<typeof stampedBlocks>[0],
): Promise<readonly TipHeader[]> {
  const where = stampedBlocks(tip, null, 'number');
  const sql = `SELECT DISTINCT number, lower(hex(hash)), lower(hex(parent_hash)), time
    FROM tip_blocks WHERE ${where} ORDER BY number`;
  const query = { ...WRITE, row: headerRow, tuples: true, rowsMax: TIP_BLOCKS_MAX };
  // Without blocks that were written since the last final one there is no tip.
  const rows = given(where === null ? null : await warehouse.query(sql, query));
  return rows.map(([number, hash, parent, time]) => {
    return { number, hash: hashOf(hash), parent_hash: hashOf(parent), time };
  });
}

/**
 * Writes a position, which then counts; `Superseded` where another follower's does. It does nothing
 * where another version is there than `over`, if that is told.
 */
export async function writePosition(
  warehouse: Warehouse,
  position: Position,
  over?: number,
): Promise<void> {
  const { cursor, epoch, final_time, rollbacks, stamps, sealed } = position;
  const { chain, from_block, kinds, source, origin, final_block, final_hash } = cursor;
  const hash = final_hash === null ? 'NULL' : `unhex('${hashHex(final_hash)}')`;
  position.version += 1;
  const sql = `INSERT INTO following (chain, from_block, kinds, source, observed, final_block,
      final_hash, final_time, rollbacks, version, epoch, stamp_blocks, stamps,
      sealed_block)
    SELECT '${chain}', ${from_block}, {kinds:Array(String)}, {source:String}, ${observed(origin)},
      {final_block:Nullable(UInt64)}, ${hash},
      {final_time:Nullable(UInt32)}, ${rollbacks}, ${position.version}, ${epoch},
      {blocks:Array(UInt64)}, {stamps:Array(UInt32)}, {sealed:Nullable(UInt64)}
    WHERE ${whileCurrent(chain, epoch)} ${over === undefined ? '' : isVersion(chain, over)}`;
  const params = {
    kinds,
    source,
    final_block,
    final_time,
    sealed,
    blocks: stamps.map(({ from_block: from }) => from),
    stamps: stamps.map(({ stamp }) => stamp),
  };
  await warehouse.command(sql, { ...COUNTING, params });
  await checkCurrent(warehouse, chain, epoch);
}

function isVersion(chain: ChainName, version: number): string {
  return `AND (SELECT max(version) FROM following WHERE chain = '${chain}') = ${version}`;
}

/** The last block held; one before the first where there is none. */
export function lastOf(cursor: Cursor): number {
  const highest = cursor.tip.at(-1);
  return highest === undefined ? lastFinal(cursor) : highest.number;
}

/** The last final block; one before the first where there is none. */
export function lastFinal({ final_block, from_block }: Cursor): number {
  return final_block === null ? from_block - 1 : final_block;
}

/** The stamp that new blocks of the tip bear. */
export function newestStamp({ stamps }: Position): number {
  const newest = stamps.at(-1);
  return newest === undefined ? 0 : newest.stamp;
}

/** Has all blocks above one bear a new stamp: what was written of them before counts no more. */
export function stampAbove(position: Position, block: number): void {
  const kept = position.stamps.filter(({ from_block }) => from_block <= block);
  const stamp = newestStamp(position) + 1;
  position.stamps = [...kept, { from_block: block + 1, stamp }];
}
