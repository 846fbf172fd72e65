// How does following a chain go on without gap or double, whoever follows it and whatever is cut?
// A block of the tip is there once its header is; what is final is moved, then forgotten there. A
// step ends with a row of `following`, which makes it count; what it left before is ignored.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import { collect } from '../../../evidence/measure.ts';
import type {
  Cursor,
  Following,
  Moved,
  Tenure,
  TipBlock,
  TipHeader,
} from '../../../ports/indexing/transfer-store.ts';
import type { Warehouse } from '../engine/executor.ts';
import { insertRows, WRITE } from './append.ts';
import { hashHex, hashOf } from './bytes.ts';
import {
  creationRows,
  type FactCell,
  type FactRows,
  FINALITY,
  observed,
  transferRows,
} from './fact-rows.ts';
import {
  COUNTING,
  checkCurrent,
  claim,
  lastFinal,
  lastOf,
  movedNow,
  newestStamp,
  type Position,
  readPosition,
  stampAbove,
  whileCurrent,
  writePosition,
} from './follow-position.ts';
import { adoptTip, CREATION, HEADER, TRANSFER } from './follow-takeover.ts';
import { stampedBlocks } from './held.ts';
import { dropPartitions, PARTITION_BLOCKS } from './tip-partitions.ts';

/** A read that began before blocks became final still finds them in the tip for so long. */
const KEEP_MOVED_MS = 5_000;
/** Stamps of one tip. A roll-back adds one; past so many the tip is read from the node again. */
const STAMPS_MAX = 128;
/** Blocks that become final by one step, so that its statements are short. */
const FINAL_AT_ONCE_MAX = 2_048;

/** Following in a warehouse: the steps of the store, for all chains. */
export function followedChains(warehouse: Warehouse) {
  const positions = new Map<ChainName, Position>();
  const tenures = new Map<ChainName, number>();

  /** The position as it was left; read anew after a step that did not come to its end. */
  async function positionOf(chain: ChainName): Promise<Position> {
    const known = positions.get(chain);
    if (known !== undefined) return known;
    const epoch = tenures.get(chain);
    if (epoch !== undefined) await checkCurrent(warehouse, chain, epoch);
    const position = await readPosition(warehouse, chain);
    if (position === null || position.epoch !== epoch) {
      throw new RangeError(`${chain} is not followed yet`);
    }
    await mend(position);
    return position;
  }

  /**
   * After a step that was cut off: what was being made final becomes so, and rows of blocks that
   * were half-applied above the last header are no longer vouched for.
   */
  async function mend(position: Position): Promise<void> {
    stampAbove(position, lastOf(position.cursor));
    await writePosition(warehouse, position);
    const { sealed } = position;
    if (sealed !== null) await finalise(warehouse, position, sealed);
  }

  /** One step. Whatever cuts it off leaves the position to be read anew. */
  async function step(
    chain: ChainName,
    work: (position: Position) => Promise<Moved>,
  ): Promise<Moved> {
    const position = await positionOf(chain);
    positions.delete(chain);
    const result = await work(position);
    await checkCurrent(warehouse, chain, position.epoch);
    positions.set(chain, position);
    return result;
  }

  async function follow(following: Following, { epoch, settle }: Tenure): Promise<Cursor> {
    const { chain } = following;
    positions.delete(chain);
    tenures.set(chain, epoch);
    await claim(warehouse, chain, epoch);
    await settle();
    const before = await readPosition(warehouse, chain);
    const position =
      before === null ? newPosition(following, epoch) : await adoptTip(warehouse, before, epoch);
    await mend(position);
    if (before !== null) await resume(warehouse, position, following);
    positions.set(chain, position);
    return position.cursor;
  }

  return {
    follow,
    cursor: (chain: ChainName) => storedCursor(warehouse, chain),
    applyTip: (chain: ChainName, blocks: readonly TipBlock[]) =>
      step(chain, (position) => applyTip(warehouse, position, blocks)),
    applyFinal: (chain: ChainName, blocks: readonly TipBlock[]) =>
      step(chain, (position) => applyFinal(warehouse, position, blocks)),
    rollBack: (chain: ChainName, toBlock: number) =>
      step(chain, (position) => rollBack(warehouse, position, toBlock)),
    finalise: (chain: ChainName, upToBlock: number) =>
      step(chain, (position) => finalise(warehouse, position, upToBlock)),
  };
}

/** Where following stands by what is stored; `null` where a chain was never followed. */
async function storedCursor(warehouse: Warehouse, chain: ChainName): Promise<Cursor | null> {
  const position = await readPosition(warehouse, chain);
  return position === null ? null : position.cursor;
}

function newPosition(following: Following, epoch: number): Position {
  const cursor = { ...following, final_block: null, final_hash: null, tip: [] };
  const unset = { final_time: null, sealed: null, rollbacks: 0, version: 0, dropped: -1 };
  return { cursor, epoch, stamps: [], ...unset, moved: movedNow(cursor) };
}

/** Goes on as before. Where other kinds are told from now on, they are told of whole blocks. */
async function resume(
  warehouse: Warehouse,
  position: Position,
  following: Following,
): Promise<void> {
  const { cursor } = position;
  const same =
    cursor.origin === following.origin &&
    cursor.kinds.length === following.kinds.length &&
    cursor.kinds.every((kind) => following.kinds.includes(kind));
  if (!same) {
    undoAbove(position, lastFinal(cursor));
    await recordPast(warehouse, position);
    const { final_block } = cursor;
    const from_block = final_block === null ? cursor.from_block : final_block + 1;
    position.cursor = { ...position.cursor, kinds: following.kinds, from_block };
  }
  const { origin, source } = following;
  position.cursor = { ...position.cursor, origin, source };
  await writePosition(warehouse, position);
}

/**
 * What was followed under other terms stays held under those. Nothing is recorded for a follower of
 * the past: what it knew of them may have been taken back meanwhile.
 */
async function recordPast(
  warehouse: Warehouse,
  { cursor, epoch, final_time }: Position,
): Promise<void> {
  const { chain, from_block, final_block, source, origin, kinds } = cursor;
  if (final_block === null || final_time === null || final_block < from_block) return;
  const sql = `INSERT INTO coverage (chain, kind, from_block, to_block, source, observed, to_time)
    SELECT '${chain}', arrayJoin({kinds:Array(String)}), ${from_block}, ${final_block},
      {source:String}, ${observed(origin)}, ${final_time}
    WHERE ${whileCurrent(chain, epoch)}`;
  await warehouse.command(sql, { ...COUNTING, params: { kinds, source } });
}

function refusal(position: Position, refused: 'gap' | 'parent_differs' | 'final'): Moved {
  return { moved: false, refused, cursor: position.cursor };
}

/**
 * Why blocks do not stand right behind the cursor, each on the one before; `null` where they do.
 */
function misfit(cursor: Cursor, blocks: readonly TipHeader[]): 'gap' | 'parent_differs' | null {
  let number = lastOf(cursor);
  const highest = cursor.tip.at(-1);
  let hash = highest === undefined ? cursor.final_hash : highest.hash;
  for (const block of blocks) {
    if (block.number !== number + 1) return 'gap';
    if (hash !== null && block.parent_hash !== hash) return 'parent_differs';
    number = block.number;
    hash = block.hash;
  }
  return null;
}

async function applyTip(
  warehouse: Warehouse,
  position: Position,
  blocks: readonly TipBlock[],
): Promise<Moved> {
  const { cursor } = position;
  const refused = misfit(cursor, blocks);
  if (refused !== null) return refusal(position, refused);
  const standing = { origin: cursor.origin, finality: FINALITY.followed };
  const transfers = transferRows(
    blocks.flatMap((block) => block.transfers),
    standing,
  );
  await insertRows(warehouse, 'tip_transfers', stamped(position, transfers));
  const creations = creationRows(
    blocks.flatMap((block) => block.creations),
    standing,
    'tip_creations',
  );
  await insertRows(warehouse, 'tip_creations', stamped(position, creations));
  const headers = blocks.map(({ number, hash, parent_hash, time }) => {
    return { number, hash, parent_hash, time };
  });
  await writeHeaders(warehouse, position, headers);
  position.cursor = { ...cursor, tip: [...cursor.tip, ...headers] };
  return { moved: true, cursor: position.cursor };
}

/** Rows of the tip under the follower's epoch and the stamp of new blocks. */
function stamped(position: Position, { columns, rows }: FactRows): FactRows {
  const under = [position.epoch, newestStamp(position)];
  return { columns: [...columns, 'epoch', 'stamp'], rows: rows.map((row) => [...row, ...under]) };
}

const HEADER_COLUMNS = ['chain', 'number', 'hash_hex', 'parent_hash_hex', 'time'] as const;

/** Lower partitions first, each in one part: what a crash leaves has no gap. */
async function writeHeaders(
  warehouse: Warehouse,
  position: Position,
  headers: readonly TipHeader[],
): Promise<void> {
  const { chain } = position.cursor;
  const partitions = new Map<number, TipHeader[]>();
  for (const header of headers) {
    collect(partitions, Math.floor(header.number / PARTITION_BLOCKS), header);
  }
  for (const some of partitions.values()) {
    const rows = some.map(({ number, hash, parent_hash, time }): FactCell[] => [
      ...[chain, number, hashHex(hash), hashHex(parent_hash), Math.floor(time)],
    ]);
    await insertRows(warehouse, 'tip_blocks', stamped(position, { columns: HEADER_COLUMNS, rows }));
  }
}

/** By way of the tip, from where the engine moves them only while this follower's word counts. */
async function applyFinal(
  warehouse: Warehouse,
  position: Position,
  blocks: readonly TipBlock[],
): Promise<Moved> {
  const last = blocks.at(-1);
  if (last === undefined || position.cursor.tip.length > 0) return refusal(position, 'gap');
  const applied = await applyTip(warehouse, position, blocks);
  return applied.moved ? await finalise(warehouse, position, last.number) : applied;
}

async function rollBack(warehouse: Warehouse, position: Position, toBlock: number): Promise<Moved> {
  if (toBlock < lastFinal(position.cursor)) return refusal(position, 'final');
  if (toBlock < lastOf(position.cursor)) {
    undoAbove(position, toBlock);
    await writePosition(warehouse, position);
  }
  return { moved: true, cursor: position.cursor };
}

/**
 * Undoes blocks by one row: new stamps for whatever takes their place, and the number of
 * roll-backs, by which a read that is under way sees that it spans one.
 */
function undoAbove(position: Position, block: number): void {
  const { cursor, stamps } = position;
  const to = stamps.length < STAMPS_MAX ? block : lastFinal(cursor);
  stampAbove(position, to);
  position.rollbacks += 1;
  position.cursor = { ...cursor, tip: cursor.tip.filter(({ number }) => number <= to) };
}

/** Moves facts of the tip; written again they fall together with those that were moved before. */
async function finalise(
  warehouse: Warehouse,
  position: Position,
  upToBlock: number,
): Promise<Moved> {
  const { cursor } = position;
  const final = cursor.tip.filter(({ number }) => number <= upToBlock);
  const last = final.slice(0, FINAL_AT_ONCE_MAX).at(-1);
  if (last === undefined) return { moved: true, cursor };
  if (await isOtherFork(warehouse, cursor, last.number)) return refusal(position, 'final');
  // Said first: whoever takes over half-way makes the same blocks final, and undoes none of them.
  position.sealed = last.number;
  await writePosition(warehouse, position);
  for (const sql of movements(position, last.number)) await warehouse.command(sql, COUNTING);
  const tip = cursor.tip.filter(({ number }) => number > last.number);
  position.cursor = { ...cursor, tip, final_block: last.number, final_hash: last.hash };
  position.final_time = last.time;
  position.stamps = position.stamps.filter((_, i, all) => {
    const next = all[i + 1];
    return next === undefined || next.from_block > last.number + 1;
  });
  await writePosition(warehouse, position);
  if (performance.now() - position.moved.atMs > KEEP_MOVED_MS) {
    await dropPartitions(warehouse, position);
    position.moved = movedNow(position.cursor);
  }
  return { moved: true, cursor: position.cursor };
}

/** The statements that make blocks final; they do nothing for a follower of the past. */
function movements({ cursor, epoch, stamps }: Position, last: number): readonly string[] {
  const tip = { ...cursor, epoch, stamps };
  const current = whileCurrent(cursor.chain, epoch);
  const blocks = `${stampedBlocks(tip, last, 'block')} AND ${current}`;
  const numbers = `${stampedBlocks(tip, last, 'number')} AND ${current}`;
  return [
    `INSERT INTO transfers (${TRANSFER}, finality)
     SELECT ${TRANSFER}, ${FINALITY.followed} FROM tip_transfers WHERE ${blocks}`,
    `INSERT INTO creations (${CREATION}, finality)
     SELECT ${CREATION}, ${FINALITY.followed} FROM tip_creations WHERE ${blocks}`,
    `INSERT INTO blocks (${HEADER}, finality)
     SELECT DISTINCT ${HEADER}, ${FINALITY.followed} FROM tip_blocks WHERE ${numbers}`,
  ];
}

const headRow = z.tuple([z.coerce.number(), z.string()]);

/** Whether another block was followed as final where one of the tip would become it. */
async function isOtherFork(warehouse: Warehouse, cursor: Cursor, last: number): Promise<boolean> {
  const sql = `SELECT number, lower(hex(hash)) FROM blocks
    WHERE chain = '${cursor.chain}' AND number > ${lastFinal(cursor)} AND number <= ${last}
    GROUP BY number, hash HAVING max(finality) >= ${FINALITY.followed}`;
  const held = await warehouse.query(sql, { ...WRITE, row: headRow, tuples: true });
  const own = new Map(cursor.tip.map(({ number, hash }) => [number, hash]));
  return held.some(([number, hash]) => own.get(number) !== hashOf(hash));
}
