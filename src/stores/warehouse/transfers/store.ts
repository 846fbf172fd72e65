// Writes facts of chains into the warehouse, each once. The port over its steps: a failure is
// silence, and a silent step is simply repeated.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import { DAY_S, type UnixSeconds } from '../../../chain/time.ts';
import { slices } from '../../../evidence/measure.ts';
import { type Reading, unread } from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type {
  AddressRange,
  TokenFact,
  TransferStore,
  TransferStorePort,
} from '../../../ports/indexing.ts';
import {
  type Call,
  queryNumber,
  type Warehouse,
  WarehouseUnavailable,
} from '../engine/executor.ts';
import {
  addressHex,
  appendFacts,
  coverageRows,
  FINALITY,
  insertRows,
  observedFlag,
  WRITE,
} from './append.ts';
import { degreeCount, readHeldChains } from './counts.ts';
import { followedChains, SupersededFollower } from './following.ts';
import { deleteRows } from './forget.ts';
import { runsSql } from './held.ts';
import { warehouseReadings } from './imports.ts';

const PORT = 'transfer_store';

/** The store of transfers in a warehouse. `now` is Unix seconds. */
export function transferStore(warehouse: Warehouse, now: () => number): TransferStore {
  const chains = followedChains(warehouse);
  const degrees = degreeCount(warehouse);
  const recordRanges = addressRanges(warehouse, now);

  const askWarehouse = warehouseReadings(PORT, now, false);

  async function ask<T>(question: () => Promise<T>): Promise<Reading<T, TransferStorePort>> {
    try {
      return await askWarehouse(question);
    } catch (error) {
      if (!(error instanceof SupersededFollower)) throw error;
      return unread(PORT, why('followed_elsewhere', { chain: error.chain }));
    }
  }

  return {
    appendImported: (facts, { origin }) =>
      ask(async () => {
        const standing = { origin, finality: FINALITY.imported };
        const result = await appendFacts(warehouse, facts, standing);
        await degrees.countIfGrown();
        return result;
      }),
    recordCoverage: (ranges) =>
      ask(async () => {
        await insertRows(warehouse, 'coverage', coverageRows(ranges));
        await degrees.count();
        await compactSides(warehouse);
        return true as const;
      }),
    recordAddressCoverage: (ranges) => ask(() => recordRanges(ranges)),
    appendLive: ({ transfers, ranges, tokens }) =>
      ask(async () => {
        // Ranges last: who reads them before the rows never takes rows for all that are missing.
        const [first] = ranges;
        if (first === undefined) return true as const;
        const facts = { transfers, creations: [], blocks: [], transactions: [] };
        const standing = { origin: first.origin, finality: FINALITY.imported };
        await appendFacts(warehouse, facts, standing);
        await recordTokens(warehouse, tokens);
        return await recordRanges(ranges);
      }),
    recordTokens: (tokens) => ask(() => recordTokens(warehouse, tokens)),
    blockTimes: (chain, numbers) => ask(() => blockTimes(warehouse, chain, numbers)),
    cursor: (chain) => ask(() => chains.cursor(chain)),
    follow: (following, tenure) => ask(() => chains.follow(following, tenure)),
    applyFinal: (chain, blocks) =>
      ask(async () => {
        const moved = await chains.applyFinal(chain, blocks);
        await degrees.countIfGrown();
        return moved;
      }),
    applyTip: (chain, blocks) => ask(() => chains.applyTip(chain, blocks)),
    rollBack: (chain, toBlock) => ask(() => chains.rollBack(chain, toBlock)),
    finalise: (chain: ChainName, upToBlock: number) =>
      ask(async () => {
        const moved = await chains.finalise(chain, upToBlock);
        await degrees.countIfGrown();
        return moved;
      }),
    status: () => ask(() => readHeldChains(warehouse)),
  };
}

async function recordTokens(warehouse: Warehouse, tokens: readonly TokenFact[]): Promise<true> {
  const columns = ['chain', 'token_hex', 'symbol', 'decimals', 'has_market', 'read_at'];
  const rows = tokens.map(({ chain, token, symbol, decimals, has_market, read_at }) => [
    ...[chain, addressHex(token), symbol, decimals, has_market, Math.floor(read_at)],
  ]);
  await insertRows(warehouse, 'tokens', { columns, rows });
  return true;
}

// Joins the parts of a warehouse after an import, so that reads are fast. Each read looks into each
// part of a table. The engine joins parts in its own time, and leaves a large table in many; after
// an import they are joined at once, if that takes minutes at most and the disk has room. Nothing
// depends on it.

const GIB = 1024 * 1024 * 1024;
/** A larger chain is left to the engine: a rewrite of it would take hours. */
const BYTES_MAX = 128 * GIB;
/** Up to so many bytes a chain is joined whatever came to it. */
const SMALL_BYTES = 4 * GIB;
/** A large one only when so great a share of it is new: each byte is written few times over. */
const NEW_SHARE = 1 / 8;
/** The engine joins parts only where so many times their bytes are free. */
const FREE_TIMES = 2;
const COMPACTION_CALL: Call = { timeoutMs: 3_600_000 };

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
    const query = { ...COMPACTION_CALL, row: partitionRow, tuples: true };
    for (const [id, count, bytes, largest] of await warehouse.query(sql, query)) {
      // Of the disk that has the fewest.
      const free = 'SELECT min(unreserved_space) FROM system.disks';
      const freeBytes = await queryNumber(warehouse, free, COMPACTION_CALL);
      if (!isWorthJoining({ count, bytes, largest }, freeBytes)) continue;
      await warehouse.command(`OPTIMIZE TABLE sides PARTITION ID '${id}' FINAL`, COMPACTION_CALL);
    }
  } catch (error) {
    if (!(error instanceof WarehouseUnavailable)) throw error;
    // Unjoined parts are read as they are.
    return;
  }
}

// When were these blocks made, by the headers that the warehouse holds?
// Two headers of one number are a fork, and then it is not known which of them a row belongs to.

const CALL: Call = { timeoutMs: 60_000 };
/** Blocks of one statement. */
const NUMBERS_MAX = 20_000;

const timeRow = z.tuple([z.coerce.number(), z.coerce.number()]);

/** The times of blocks that are held, by their numbers. Rejects with the executor's errors. */
export async function blockTimes(
  warehouse: Warehouse,
  chain: ChainName,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, UnixSeconds>> {
  const times = new Map<number, UnixSeconds>();
  const sql = `SELECT number, max(time) FROM blocks
    WHERE chain = '${chain}' AND number IN {numbers:Array(UInt64)}
    GROUP BY number HAVING uniqExact(hash) = 1`;
  for (const some of slices(numbers, NUMBERS_MAX)) {
    const query = { ...CALL, row: timeRow, tuples: true, params: { numbers: some } };
    for (const [number, time] of await warehouse.query(sql, query)) times.set(number, time);
  }
  return times;
}

// Merges the held ranges of single addresses into the fewest. Repeated reading leaves a range each
// time: a statement joins them for readers, and from time to time one range replaces those of the
// past.

/** Adjoining and overlapping ranges of one address, chain, kind and origin as one row. */
export const addressRuns = (where: string): string => `
SELECT chain, addr, kind, observed, min(first) AS from_block, max(last) AS to_block,
  argMax(time, (last, bitNot(first))) AS to_time, max(is_first) AS from_first, max(read) AS read_at,
  count() AS ranges
FROM (${runsSql(
  'chain, addr, kind, observed',
  `SELECT chain, addr, kind, observed, a.from_block AS first, a.to_block AS last,
     max(a.to_time) AS time, max(a.from_first) AS is_first, max(a.read_at) AS read
   FROM address_coverage AS a WHERE ${where}
   GROUP BY chain, addr, kind, observed, first, last`,
)})
GROUP BY chain, addr, kind, observed, run`;

/** So many ranges of one address, chain and kind are worth joining. */
const JOINED_FROM = 16;

/**
 * Replaces ranges that ended over a day ago by those that reach from the first block past them. A
 * row that is deleted is within one that stays: whatever is cut off loses nothing.
 */
export async function joinAddressRanges(warehouse: Warehouse, now: number): Promise<void> {
  const fresh = `to_time >= ${Math.floor(now) - DAY_S}`;
  const whole = `from_block = 0 AND from_first = 1 AND ${fresh}`;
  await warehouse.command(
    `INSERT INTO address_coverage (chain, addr, kind, from_block, to_block, source, observed,
       to_time, from_first, read_at)
     SELECT chain, addr, kind, from_block, to_block, 'joined', observed, to_time, from_first,
       read_at
     FROM (${addressRuns('true')}) WHERE ranges >= ${JOINED_FROM} AND ${whole}`,
    WRITE,
  );
  const ended = `NOT (${fresh})`;
  const lines = `SELECT toString(chain), lower(hex(addr)), toString(kind), observed
    FROM address_coverage GROUP BY chain, addr, kind, observed
    HAVING countIf(source = 'joined' AND ${whole}) > 0 AND countIf(${ended}) > 0
    LIMIT ${NAMED_MAX}`;
  for (;;) {
    const found = await warehouse.query(lines, { ...WRITE, row: lineRow, tuples: true });
    const named = found.map(([chain, addr, kind, isObserved]) => {
      return `('${chain}', unhex('${addr}'), '${kind}', ${isObserved})`;
    });
    if (named.length === 0) return;
    const line = '(toString(chain), addr, toString(kind), observed)';
    const gone = `${ended} AND ${line} IN (${named.join(', ')})`;
    await deleteRows(warehouse, 'address_coverage', gone);
    if (named.length < NAMED_MAX) return;
  }
}

/** Addresses, chains and kinds that one statement names. */
const NAMED_MAX = 2_000;
const lineRow = z.tuple([z.string(), z.string(), z.string(), z.number()]);

const ADDRESS_COLUMNS = [
  ...['chain', 'addr_hex', 'kind', 'from_block', 'to_block', 'source', 'observed', 'to_time'],
  ...['from_first', 'read_at'],
] as const;

/** After so many ranges those of the past are joined. */
const JOINED_AFTER = 5_000;

/** Records ranges of single addresses. `now` is Unix seconds. */
export function addressRanges(
  warehouse: Warehouse,
  now: () => number,
): (ranges: readonly AddressRange[]) => Promise<true> {
  let unjoined = 0;
  return async (ranges) => {
    // One whose source's window ended early is no range that is held.
    const rows = ranges
      .filter(({ truncated }) => !truncated)
      .map((range) => [
        ...[range.chain, addressHex(range.address), range.kind, range.from_block, range.to_block],
        ...[range.source, observedFlag(range.origin), Math.floor(range.to_time)],
        ...[range.from_first ? 1 : 0, Math.floor(range.read_at)],
      ]);
    await insertRows(warehouse, 'address_coverage', { columns: ADDRESS_COLUMNS, rows });
    unjoined += ranges.length;
    if (unjoined >= JOINED_AFTER) {
      unjoined = 0;
      await joinAddressRanges(warehouse, now());
    }
    return true;
  };
}
