// Follows a chain without gap or duplicate, under any number of followers and crashes. A block of
// the tip is there once its header is; final blocks are moved, then dropped there. A step ends with
// a row of `following`, which makes it count; remains of earlier steps are ignored. `append.ts`
// defines the rows of transfers, and `held.ts` reads the stamps that these steps write.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import { TRANSFER_KINDS } from '../../../chain/transfer.ts';
import { collect, listOrNone } from '../../../evidence/measure.ts';
import type {
  FollowCursor,
  Following,
  Moved,
  Tenure,
  TipBlock,
  TipHeader,
} from '../../../ports/indexing.ts';
import { queryNumber, type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';
import {
  creationRows,
  type FactCell,
  FINALITY,
  hashHex,
  hashOf,
  insertRows,
  observedFlag,
  storedOrigin,
  type TableRows,
  transferRows,
  WRITE,
} from './append.ts';
import { type Stamp, stampedBlocks, stampsOf } from './held.ts';
import { withdrawUncounted } from './withdrawn.ts';

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

  async function follow(following: Following, { epoch, settle }: Tenure): Promise<FollowCursor> {
    const { chain } = following;
    positions.delete(chain);
    tenures.set(chain, epoch);
    await claimEpoch(warehouse, chain, epoch);
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
    cursor: async (chain: ChainName) => {
      const position = await readPosition(warehouse, chain);
      return position === null ? null : position.cursor;
    },
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

function newPosition(following: Following, epoch: number): Position {
  const { unproved: _, ...begun } = following;
  const cursor = { ...begun, final_block: null, final_hash: null, tip: [] };
  const unset = { final_time: null, sealed: null, rollbacks: 0, version: 0, dropped: -1 };
  return { cursor, epoch, stamps: [], ...unset, moved: movePosition(cursor) };
}

/** Goes on as before. Where other kinds are told from now on, they are told of whole blocks. */
async function resume(
  warehouse: Warehouse,
  position: Position,
  following: Following,
): Promise<void> {
  const { chain, unproved } = following;
  for (const kind of position.cursor.kinds.filter((one) => unproved?.includes(one))) {
    await withdrawUncounted(warehouse, { chain, kind, source: position.cursor.source });
    const kinds = position.cursor.kinds.filter((one) => one !== kind);
    position.cursor = { ...position.cursor, kinds };
    position.version += 1;
  }
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
 * Blocks followed under other terms stay held under those. Nothing is recorded for an earlier
 * follower: its knowledge of them may have been taken back meanwhile.
 */
async function recordPast(
  warehouse: Warehouse,
  { cursor, epoch, final_time }: Position,
): Promise<void> {
  const { chain, from_block, final_block, source, origin, kinds } = cursor;
  if (final_block === null || final_time === null || final_block < from_block) return;
  const sql = `INSERT INTO coverage (chain, kind, from_block, to_block, source, observed, to_time)
    SELECT '${chain}', arrayJoin({kinds:Array(String)}), ${from_block}, ${final_block},
      {source:String}, ${observedFlag(origin)}, ${final_time}
    WHERE ${whileCurrent(chain, epoch)}`;
  await warehouse.command(sql, { ...COUNTING, params: { kinds, source } });
}

function refusal(position: Position, refused: Extract<Moved, { moved: false }>['refused']): Moved {
  return { moved: false, refused, cursor: position.cursor };
}

/**
 * Why blocks do not stand right behind the cursor, each on the one before; `null` where they do.
 */
function misfit(
  cursor: FollowCursor,
  blocks: readonly TipHeader[],
): 'gap' | 'parent_differs' | null {
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
  await insertRows(warehouse, 'tip_transfers', stampRows(position, transfers));
  const creations = creationRows(
    blocks.flatMap((block) => block.creations),
    standing,
    'tip_creations',
  );
  await insertRows(warehouse, 'tip_creations', stampRows(position, creations));
  const headers = blocks.map(({ number, hash, parent_hash, time }) => {
    return { number, hash, parent_hash, time };
  });
  await writeHeaders(warehouse, position, headers);
  position.cursor = { ...cursor, tip: [...cursor.tip, ...headers] };
  return { moved: true, cursor: position.cursor };
}

function stampRows(position: Position, { columns, rows }: TableRows): TableRows {
  const under = [position.epoch, newestStamp(position)];
  return { columns: [...columns, 'epoch', 'stamp'], rows: rows.map((row) => [...row, ...under]) };
}

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
    const columns = ['chain', 'number', 'hash_hex', 'parent_hash_hex', 'time'];
    await insertRows(warehouse, 'tip_blocks', stampRows(position, { columns, rows }));
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
    position.moved = movePosition(position.cursor);
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
    `INSERT INTO blocks (${TIP_HEADER}, finality)
     SELECT DISTINCT ${TIP_HEADER}, ${FINALITY.followed} FROM tip_blocks WHERE ${numbers}`,
  ];
}

const headRow = z.tuple([z.coerce.number(), z.string()]);

/** Whether another block was followed as final where one of the tip would become it. */
async function isOtherFork(
  warehouse: Warehouse,
  cursor: FollowCursor,
  last: number,
): Promise<boolean> {
  const sql = `SELECT number, lower(hex(hash)) FROM blocks
    WHERE chain = '${cursor.chain}' AND number > ${lastFinal(cursor)} AND number <= ${last}
    GROUP BY number, hash HAVING max(finality) >= ${FINALITY.followed}`;
  const held = await warehouse.query(sql, { ...WRITE, row: headRow, tuples: true });
  const own = new Map(cursor.tip.map(({ number, hash }) => [number, hash]));
  return held.some(([number, hash]) => own.get(number) !== hashOf(hash));
}

// Takes over the tip of another follower, even one that still works. It copies the valid rows under
// its own epoch, and checks whether they changed meanwhile: then the copy is made again, under
// another stamp.

/** How often a tip is copied anew because its follower changed it meanwhile. */
const ADOPTIONS_MAX = 5;

/** The columns of the tip's tables that those of final facts have too. */
export const TRANSFER = `chain, block, tx_hash, place, kind, token, from_address, to_address,
  raw_amount, n, block_time, block_hash, position, initiator, success, observed`;
export const CREATION = `chain, block, created, creator, tx_hash, initiator, block_hash, block_time,
  observed`;
export const TIP_HEADER = 'chain, number, hash, parent_hash, time';

/** The position with its tip under a new epoch, as it stood at one moment. */
export async function adoptTip(
  warehouse: Warehouse,
  found: Position,
  epoch: number,
): Promise<Position> {
  let before: Position | null = found;
  for (let attempt = 1; attempt <= ADOPTIONS_MAX && before !== null; attempt += 1) {
    if (before.epoch === epoch) return before;
    const stamp = await findUnusedStamp(warehouse, before, epoch);
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
async function findUnusedStamp(
  warehouse: Warehouse,
  before: Position,
  epoch: number,
): Promise<number> {
  const of = `WHERE chain = '${before.cursor.chain}' AND epoch = ${epoch}`;
  const each = COPIED.map((table) => `(SELECT max(stamp) FROM ${table} ${of})`);
  const newest = await queryNumber(warehouse, `SELECT greatest(${each.join(', ')})`, WRITE);
  return Math.max(newest, newestStamp(before)) + 1;
}

const COPIED = ['tip_transfers', 'tip_creations', 'tip_blocks'] as const;

function isSame(one: Position, other: Position): boolean {
  const [left, right] = [one, other].map(({ cursor }) => JSON.stringify(cursor.tip));
  return one.version === other.version && one.epoch === other.epoch && left === right;
}

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
    `INSERT INTO tip_blocks (${TIP_HEADER}, epoch, stamp)
     SELECT DISTINCT ${TIP_HEADER}, ${under} FROM tip_blocks WHERE ${numbers}`,
  ];
}

const NO_STATEMENTS: readonly string[] = Object.freeze([]);

// Where does a chain's follower stand, and is it still the one whose word counts?
// A position is one row of `following`: it says whose tip counts and which of its stamps. Only the
// follower of the greatest claimed epoch can write one, whenever its statement arrives.

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
  cursor: FollowCursor;
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
export class SupersededFollower extends Error {
  override readonly name = 'Superseded';
  readonly chain: ChainName;

  constructor(chain: ChainName) {
    super(`another follower has taken over ${chain}`);
    this.chain = chain;
  }
}

/** The greatest epoch that was claimed, as SQL. */
const newestClaimSql = (chain: ChainName) =>
  `(SELECT max(epoch) FROM follow_claims WHERE chain = '${chain}')`;

/**
 * The condition under which a statement of a follower does anything. The engine looks when it runs
 * it, so that one which was held up on the way for however long changes nothing.
 */
export function whileCurrent(chain: ChainName, epoch: number): string {
  return `${newestClaimSql(chain)} = ${epoch}`;
}

/** Throws `Superseded` where a later follower has claimed the chain. */
export async function checkCurrent(
  warehouse: Warehouse,
  chain: ChainName,
  epoch: number,
): Promise<void> {
  if ((await readClaimedEpoch(warehouse, chain)) > epoch) throw new SupersededFollower(chain);
}

/** The greatest epoch that was claimed; 0 where none was. */
export function readClaimedEpoch(warehouse: Warehouse, chain: ChainName): Promise<number> {
  return queryNumber(warehouse, `SELECT ${newestClaimSql(chain)}`, WRITE);
}

/** Says that from now on no follower of an earlier epoch makes anything count. */
export async function claimEpoch(
  warehouse: Warehouse,
  chain: ChainName,
  epoch: number,
): Promise<void> {
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
  const origin = storedOrigin(isObserved);
  const cursor = { chain, from_block, kinds, source, origin, final_block, final_hash, tip };
  const numbers = { final_time, rollbacks, version, epoch };
  return { cursor, ...numbers, stamps, sealed, moved: movePosition(cursor), dropped: -1 };
}

export function movePosition(cursor: FollowCursor): Position['moved'] {
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
  const rows = listOrNone(where === null ? null : await warehouse.query(sql, query));
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
  const version = `(SELECT max(version) FROM following WHERE chain = '${chain}')`;
  position.version += 1;
  const sql = `INSERT INTO following (chain, from_block, kinds, source, observed, final_block,
      final_hash, final_time, rollbacks, version, epoch, stamp_blocks, stamps,
      sealed_block)
    SELECT '${chain}', ${from_block}, {kinds:Array(String)}, {source:String},
      ${observedFlag(origin)}, {final_block:Nullable(UInt64)}, ${hash},
      {final_time:Nullable(UInt32)}, ${rollbacks}, ${position.version}, ${epoch},
      {blocks:Array(UInt64)}, {stamps:Array(UInt32)}, {sealed:Nullable(UInt64)}
    WHERE ${whileCurrent(chain, epoch)} ${over === undefined ? '' : `AND ${version} = ${over}`}`;
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

/** The last block held; one before the first where there is none. */
export function lastOf(cursor: FollowCursor): number {
  const highest = cursor.tip.at(-1);
  return highest === undefined ? lastFinal(cursor) : highest.number;
}

/** The last final block; one before the first where there is none. */
export function lastFinal({ final_block, from_block }: FollowCursor): number {
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

// Drops the partitions of the tip that nobody reads any more. No rows are deleted one by one: a
// partition holds the blocks of one chain, one epoch and one range.

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
