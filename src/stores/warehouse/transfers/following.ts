// Where does following a chain stand, and how does it go on without gap or double?
// A block of the tip is there once its header is; what is final is moved, then forgotten there.
// Every step may be cut off anywhere: what it left is repeated, or cleared away at the next start.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import type {
  Cursor,
  FinalBlocks,
  Following,
  Moved,
  TipBlock,
  TipHeader,
} from '../../../ports/indexing/transfer-store.ts';
import type { Warehouse } from '../engine/executor.ts';
import { appendFacts, insertRows, WRITE } from './append.ts';
import { hashHex, hashOf } from './bytes.ts';
import {
  creationRows,
  type FactCell,
  FINALITY,
  observed,
  originOf,
  transferRows,
} from './fact-rows.ts';

/** The most blocks of one tip. */
const TIP_BLOCKS_MAX = 65_536;
/** A read that began before blocks became final still finds them in the tip for so long. */
const KEEP_MOVED_MS = 5_000;

/**
 * A cursor with what is not told of it. `dirty`: the tip may hold facts above its last header.
 * `moved`: up to which block all was final at that time.
 */
type Position = {
  cursor: Cursor;
  final_time: number | null;
  rollbacks: number;
  version: number;
  tipVersion: number;
  dirty: boolean;
  moved: { readonly block: number; readonly atMs: number };
};

const followingRow = z.tuple([
  z.coerce.number(),
  z.array(z.enum(['native', 'internal', 'token'])),
  z.string(),
  z.number(),
  z.coerce.number().nullable(),
  z.string().nullable(),
  z.number().nullable(),
  z.coerce.number(),
  z.coerce.number(),
]);
const headerRow = z.tuple([z.coerce.number(), z.string(), z.string(), z.number()]);
const numberRow = z.tuple([z.coerce.number()]);

/** Following in a warehouse: the steps of the store, for all chains. */
export function followedChains(warehouse: Warehouse) {
  const positions = new Map<ChainName, Position>();

  /** The position as it was left, read anew where it is not known for sure. */
  async function positionOf(chain: ChainName): Promise<Position> {
    const known = positions.get(chain);
    const position = known === undefined ? await readPosition(warehouse, chain) : known;
    if (position === null) throw new RangeError(`${chain} is not followed yet`);
    if (position.dirty) await clearAway(warehouse, position);
    positions.set(chain, position);
    return position;
  }

  /** One step. Whatever cuts it off leaves the position to be read anew. */
  async function step<T>(chain: ChainName, work: (position: Position) => Promise<T>): Promise<T> {
    const position = await positionOf(chain);
    positions.delete(chain);
    const result = await work(position);
    positions.set(chain, position);
    return result;
  }

  async function follow(following: Following): Promise<Cursor> {
    const { chain } = following;
    positions.delete(chain);
    const before = await readPosition(warehouse, chain);
    if (before === null) {
      const cursor = { ...following, final_block: null, final_hash: null, tip: [] };
      const unset = { final_time: null, rollbacks: 0, version: 0, tipVersion: 0 };
      await writeFollowing(warehouse, { cursor, ...unset, dirty: true, moved: movedNow(cursor) });
    } else {
      await resume(warehouse, before, following);
    }
    return (await positionOf(chain)).cursor;
  }

  return {
    follow,
    cursor: async (chain: ChainName): Promise<Cursor | null> => {
      const position = await readPosition(warehouse, chain);
      return position === null ? null : position.cursor;
    },
    applyTip: (chain: ChainName, blocks: readonly TipBlock[]) =>
      step(chain, (position) => applyTip(warehouse, position, blocks)),
    applyFinal: (chain: ChainName, blocks: FinalBlocks) =>
      step(chain, (position) => applyFinal(warehouse, position, blocks)),
    rollBack: (chain: ChainName, toBlock: number) =>
      step(chain, (position) => rollBack(warehouse, position, toBlock)),
    finalise: (chain: ChainName, upToBlock: number) =>
      step(chain, (position) => finalise(warehouse, position, upToBlock)),
  };
}

/** The position that is stored, as after a crash: nothing is known of what was under way. */
async function readPosition(warehouse: Warehouse, chain: ChainName): Promise<Position | null> {
  const sql = `SELECT from_block, kinds, source, observed, final_block, lower(hex(final_hash)),
      final_time, rollbacks, version
    FROM following FINAL WHERE chain = '${chain}'`;
  const [row] = await warehouse.query(sql, { ...WRITE, row: followingRow, tuples: true });
  if (row === undefined) return null;
  const [from_block, kinds, source, isObserved, final_block, finalHash, final_time, ...rest] = row;
  const [rollbacks, version] = rest;
  const final_hash = finalHash === null ? null : hashOf(finalHash);
  const tip = await readTip(warehouse, chain, final_block);
  const origin = originOf(isObserved);
  const cursor = { chain, from_block, kinds, source, origin, final_block, final_hash, tip };
  const tipVersion = await readTipVersion(warehouse, chain);
  const numbers = { final_time, rollbacks, version, tipVersion };
  return { cursor, ...numbers, dirty: true, moved: movedNow(cursor) };
}

function movedNow(cursor: Cursor): Position['moved'] {
  return { block: lastFinal(cursor), atMs: performance.now() };
}

async function readTip(
  warehouse: Warehouse,
  chain: ChainName,
  finalBlock: number | null,
): Promise<TipHeader[]> {
  const above = finalBlock === null ? '' : `AND number > ${finalBlock}`;
  const sql = `SELECT number, lower(hex(hash)), lower(hex(parent_hash)), time
    FROM tip_blocks FINAL WHERE chain = '${chain}' AND live = 1 ${above} ORDER BY number`;
  const query = { ...WRITE, row: headerRow, tuples: true, rowsMax: TIP_BLOCKS_MAX };
  const rows = await warehouse.query(sql, query);
  return rows.map(([number, hash, parent, time]) => {
    return { number, hash: hashOf(hash), parent_hash: hashOf(parent), time };
  });
}

async function readTipVersion(warehouse: Warehouse, chain: ChainName): Promise<number> {
  const sql = `SELECT max(version) FROM tip_blocks WHERE chain = '${chain}'`;
  const [row] = await warehouse.query(sql, { ...WRITE, row: numberRow, tuples: true });
  if (row === undefined) throw new RangeError('a maximum has one row');
  return row[0];
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
    await rollBackTo(warehouse, position, lastFinal(cursor));
    await recordPast(warehouse, position);
    const { final_block } = cursor;
    const from_block = final_block === null ? cursor.from_block : final_block + 1;
    position.cursor = { ...position.cursor, kinds: following.kinds, from_block };
  }
  const { origin, source } = following;
  position.cursor = { ...position.cursor, origin, source };
  // What a crash cut off may have been a roll-back: whoever is reading looks again.
  position.rollbacks += 1;
  await writeFollowing(warehouse, position);
}

/** What was followed under other terms stays held under those. */
async function recordPast(warehouse: Warehouse, { cursor, final_time }: Position): Promise<void> {
  const { chain, from_block, final_block, source, origin } = cursor;
  if (final_block === null || final_time === null || final_block < from_block) return;
  const columns = ['chain', 'kind', 'from_block', 'to_block', 'source', 'observed', 'to_time'];
  const rows = cursor.kinds.map((kind) => [
    ...[chain, kind, from_block, final_block, source, observed(origin), final_time],
  ]);
  await insertRows(warehouse, 'coverage', { columns, rows });
}

async function writeFollowing(warehouse: Warehouse, position: Position): Promise<void> {
  const { cursor, final_time, rollbacks } = position;
  const { chain, from_block, kinds, source, origin, final_block, final_hash } = cursor;
  position.version += 1;
  const columns = [
    ...['chain', 'from_block', 'kinds', 'source', 'observed', 'final_block', 'final_hash_hex'],
    ...['final_time', 'rollbacks', 'version'],
  ];
  const hash = final_hash === null ? null : hashHex(final_hash);
  const row = [
    ...[chain, from_block, kinds, source, observed(origin), final_block, hash],
    ...[final_time, rollbacks, position.version],
  ];
  await insertRows(warehouse, 'following', { columns, rows: [row] });
}

/** Removes facts above the last header: of a block half-applied, or undone. */
async function clearAway(warehouse: Warehouse, position: Position): Promise<void> {
  const { chain } = position.cursor;
  await forget(warehouse, FACT_TABLES, `chain = '${chain}' AND block > ${lastOf(position.cursor)}`);
  position.dirty = false;
}

const FACT_TABLES = ['tip_transfers', 'tip_sides', 'tip_creations'] as const;

/** Deletes rows where there are any: asking is cheaper than rewriting parts for nothing. */
async function forget(
  warehouse: Warehouse,
  tables: readonly string[],
  where: string,
): Promise<void> {
  for (const table of tables) {
    const sql = `SELECT 1 FROM ${table} WHERE ${where} LIMIT 1`;
    const some = await warehouse.query(sql, { ...WRITE, row: numberRow, tuples: true });
    if (some.length === 0) continue;
    // It waits until the rows are gone, on every node that holds them.
    const gone = `ALTER TABLE ${table} DELETE WHERE ${where} SETTINGS mutations_sync = 2`;
    await warehouse.command(gone, WRITE);
  }
}

/** The last block held; one before the first where there is none. */
function lastOf(cursor: Cursor): number {
  const highest = cursor.tip.at(-1);
  return highest === undefined ? lastFinal(cursor) : highest.number;
}

function lastFinal({ final_block, from_block }: Cursor): number {
  return final_block === null ? from_block - 1 : final_block;
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
  const transfers = blocks.flatMap((block) => block.transfers);
  const creations = blocks.flatMap((block) => block.creations);
  await insertRows(warehouse, 'tip_transfers', transferRows(transfers, standing));
  await insertRows(warehouse, 'tip_creations', creationRows(creations, standing, 'tip_creations'));
  const headers = blocks.map(({ number, hash, parent_hash, time }) => {
    return { number, hash, parent_hash, time };
  });
  await writeHeaders(warehouse, position, headers, true);
  position.cursor = { ...cursor, tip: [...cursor.tip, ...headers] };
  return { moved: true, cursor: position.cursor };
}

const HEADER_COLUMNS = [
  ...['chain', 'number', 'hash_hex', 'parent_hash_hex', 'time', 'live', 'version'],
] as const;

/** One statement and one part, so that all of the headers are there or none. */
async function writeHeaders(
  warehouse: Warehouse,
  position: Position,
  headers: readonly TipHeader[],
  live: boolean,
): Promise<void> {
  position.tipVersion += 1;
  const rows = headers.map(({ number, hash, parent_hash, time }): FactCell[] => [
    ...[position.cursor.chain, number, hashHex(hash), hashHex(parent_hash), Math.floor(time)],
    ...[live ? 1 : 0, position.tipVersion],
  ]);
  await insertRows(warehouse, 'tip_blocks', { columns: HEADER_COLUMNS, rows });
}

async function applyFinal(
  warehouse: Warehouse,
  position: Position,
  blocks: FinalBlocks,
): Promise<Moved> {
  const { cursor } = position;
  if (cursor.tip.length > 0 || blocks.from_block !== lastOf(cursor) + 1) {
    return refusal(position, 'gap');
  }
  const standing = { origin: cursor.origin, finality: FINALITY.followed };
  const { of_another_fork } = await appendFacts(warehouse, blocks, standing);
  // Another block was followed here as final: what is not written is not counted either.
  if (of_another_fork > 0) return refusal(position, 'final');
  const { to_block: final_block, to_hash: final_hash, to_time } = blocks;
  position.cursor = { ...cursor, final_block, final_hash };
  position.final_time = Math.floor(to_time);
  await writeFollowing(warehouse, position);
  return { moved: true, cursor: position.cursor };
}

async function rollBack(warehouse: Warehouse, position: Position, toBlock: number): Promise<Moved> {
  if (toBlock < lastFinal(position.cursor)) return refusal(position, 'final');
  await rollBackTo(warehouse, position, toBlock);
  return { moved: true, cursor: position.cursor };
}

/**
 * Headers first, which undoes the blocks at once; then the number of roll-backs, by which a read
 * that is under way sees that it spans one; then the facts.
 */
async function rollBackTo(
  warehouse: Warehouse,
  position: Position,
  toBlock: number,
): Promise<void> {
  const { cursor } = position;
  const undone = cursor.tip.filter(({ number }) => number > toBlock);
  if (undone.length === 0) return;
  await writeHeaders(warehouse, position, undone, false);
  position.rollbacks += 1;
  const tip = cursor.tip.filter(({ number }) => number <= toBlock);
  position.cursor = { ...cursor, tip };
  await writeFollowing(warehouse, position);
  await clearAway(warehouse, position);
}

/** Moves facts of the tip; written again they fall together with those that were moved before. */
async function finalise(
  warehouse: Warehouse,
  position: Position,
  upToBlock: number,
): Promise<Moved> {
  const { cursor } = position;
  const before = lastFinal(cursor);
  const last = cursor.tip.filter(({ number }) => number <= upToBlock).at(-1);
  if (last === undefined) return { moved: true, cursor };
  const blocks = `chain = '${cursor.chain}' AND block > ${before} AND block <= ${last.number}`;
  for (const sql of movements(blocks, blocks.replaceAll('block ', 'number '))) {
    await warehouse.command(sql, WRITE);
  }
  const tip = cursor.tip.filter(({ number }) => number > last.number);
  position.cursor = { ...cursor, tip, final_block: last.number, final_hash: last.hash };
  position.final_time = last.time;
  await writeFollowing(warehouse, position);
  if (performance.now() - position.moved.atMs > KEEP_MOVED_MS) {
    const moved = `chain = '${cursor.chain}' AND block <= ${position.moved.block}`;
    await forget(warehouse, FACT_TABLES, moved);
    await forget(warehouse, ['tip_blocks'], moved.replaceAll('block ', 'number '));
    position.moved = movedNow(position.cursor);
  }
  return { moved: true, cursor: position.cursor };
}

const TRANSFER = `chain, block, tx_hash, place, kind, token, from_address, to_address, raw_amount,
  n, block_time, block_hash, position, initiator, success, observed`;
const CREATION = `chain, block, created, creator, tx_hash, initiator, block_hash, block_time,
  observed`;

const movements = (blocks: string, numbers: string) => [
  `INSERT INTO transfers (${TRANSFER}, finality)
   SELECT ${TRANSFER}, ${FINALITY.followed} FROM tip_transfers WHERE ${blocks}`,
  `INSERT INTO creations (${CREATION}, finality)
   SELECT ${CREATION}, ${FINALITY.followed} FROM tip_creations WHERE ${blocks}`,
  `INSERT INTO blocks (chain, number, hash, parent_hash, time, finality)
   SELECT chain, number, hash, parent_hash, time, ${FINALITY.followed}
   FROM tip_blocks FINAL WHERE live = 1 AND ${numbers}`,
];
