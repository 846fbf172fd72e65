// Reads the blocks that the warehouse holds in full. Ranges come from imports and from following.
// They are read before the rows that they vouch for; readers of the tip compare `rollbacks`
// afterwards. The marks of what was written say when a kept reading is no longer the newest.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import { TRANSFER_KINDS } from '../../../chain/transfer.ts';
import { collect, listFrom, present } from '../../../evidence/measure.ts';
import type { ImportOrigin } from '../../../evidence/source.ts';
import type { CoverageRange } from '../../../ports/history.ts';
import {
  type Call,
  hasRows,
  queryNumber,
  type Warehouse,
  WarehouseUnavailable,
} from '../engine/executor.ts';
import { storedOrigin } from './append.ts';

/** Blocks held in full, and where they came from. */
export type HeldBlocks = CoverageRange & { readonly origin: ImportOrigin };

/** From a block on, the tip's rows that count bear this stamp. */
export type Stamp = { readonly from_block: number; readonly stamp: number };

/**
 * A chain that is followed; blocks above `tip_block` are not there yet, whatever is held of them.
 * Of the tip only those rows count that bear the epoch and their block's stamp.
 */
export type FollowedChain = {
  readonly chain: ChainName;
  readonly final_block: number | null;
  readonly tip_block: number | null;
  readonly rollbacks: number;
  readonly epoch: number;
  readonly stamps: readonly Stamp[];
};

/** The coverage at one moment. */
export type HeldBlocksOf = {
  readonly ranges: readonly HeldBlocks[];
  readonly followed: readonly FollowedChain[];
  /** Whether anything at all is held of single addresses, and of tokens. */
  readonly hasAddressRanges: boolean;
  readonly hasTokens: boolean;
};

/** The first block of a chain holds no transfer but the coins that it begins with. */
const FIRST_BLOCK_MAX = 1;
/** Ranges that imports have recorded. */
const RANGES_MAX = 100_000;

const chainName = z.enum(CHAIN_NAMES);
const kindName = z.enum(TRANSFER_KINDS);
const whole = z.coerce.number().int().nonnegative();
const row = z.tuple([
  z.enum(['range', 'following', 'addresses', 'tokens']),
  z.union([chainName, z.literal('')]),
  z.array(kindName),
  ...[whole, whole, whole, whole, whole, whole, z.array(whole), z.array(whole), whole, whole],
] as const);
type Row = z.infer<typeof row>;

// The last columns are of chains that are followed: epoch, stamps, the tip's last block and its
// time. Blocks and times of such are one more than they are, so that 0 is none. A position is read
// once only: headers that another one vouches for must not meet its stamps.
const COUNTS = `t.stamp > 0 AND t.number + 1 > ifNull(f.final_block + 1, 0)
  AND f.stamps[arrayLastIndex(from -> from <= t.number, f.stamp_blocks)] = t.stamp`;
const NONE = 'toUInt64(0), emptyArrayUInt64(), emptyArrayUInt32(), toUInt64(0), toUInt64(0)';

// Adjoining and overlapping ranges are one run, so that thousands of an import come as one row. A
// run ends where the next range begins behind all that came before it.
/** The ranges of a statement, from `first` to `last` of one line, each with the `run` it is of. */
export function runsSql(line: string, ranges: string): string {
  const ofOneLine = `PARTITION BY ${line} ORDER BY first, last ROWS BETWEEN UNBOUNDED PRECEDING`;
  return `SELECT *, sum(begins) OVER (${ofOneLine} AND CURRENT ROW) AS run
FROM (
  SELECT *, first > 1 + max(last) OVER (${ofOneLine} AND 1 PRECEDING) AS begins
  FROM (${ranges}))`;
}

const RUNS = runsSql(
  'chain, kind, observed',
  `SELECT chain, kind, observed, from_block AS first, to_block AS last, max(to_time) AS time
   FROM coverage GROUP BY chain, kind, observed, from_block, to_block`,
);
const RECORDED = `
SELECT 'range' AS what, toString(chain) AS of, [toString(kind)] AS kinds, min(first),
  max(last), toUInt64(argMax(time, (last, bitNot(first)))) AS to_time, toUInt64(observed),
  toUInt64(0) AS rollbacks, ${NONE}
FROM (${RUNS}) GROUP BY chain, kind, observed, run
UNION ALL SELECT 'addresses', '', [], 0, 0, 0, 0, count(), ${NONE} FROM address_coverage
UNION ALL SELECT 'tokens', '', [], 0, 0, 0, 0, count(), ${NONE} FROM tokens`;
const FOLLOWED = `
SELECT 'following', toString(f.chain), arrayMap(k -> toString(k), any(f.kinds)), any(f.from_block),
  any(ifNull(f.final_block + 1, 0)), any(toUInt64(ifNull(f.final_time + 1, 0))),
  any(toUInt64(f.observed)), any(f.rollbacks), any(f.epoch), any(f.stamp_blocks), any(f.stamps),
  maxIf(t.number + 1, ${COUNTS}), toUInt64(argMaxIf(t.time, t.number, ${COUNTS}) + 1)
FROM (SELECT * FROM following FINAL) AS f
LEFT JOIN (
  SELECT chain, epoch, number, stamp, time FROM tip_blocks
) AS t ON t.chain = f.chain AND t.epoch = f.epoch
GROUP BY f.chain`;

/** The recorded coverage of imports and explorers, which seldom changes. */
export type Recorded = Omit<HeldBlocksOf, 'followed'>;

/** Reads what is recorded. Rejects with the executor's errors. */
export async function readRecorded(warehouse: Warehouse, call: Call): Promise<Recorded> {
  const rows = await warehouse.query(RECORDED, { ...call, row, tuples: true, rowsMax: RANGES_MAX });
  return {
    ranges: rows.filter(([what]) => what === 'range').flatMap((one) => rangesOf(one, one)),
    hasAddressRanges: rows.some(([what, ...rest]) => what === 'addresses' && rest[6] > 0),
    hasTokens: rows.some(([what, ...rest]) => what === 'tokens' && rest[6] > 0),
  };
}

/** The recorded coverage, extended by that of following, which is read second. */
export async function withFollowed(
  warehouse: Warehouse,
  recorded: Recorded,
  call: Call,
): Promise<HeldBlocksOf> {
  const rows = await warehouse.query(FOLLOWED, { ...call, row, tuples: true });
  const known = rows.flatMap((one) => rangesOf(one, reachOf(one)));
  return {
    ...recorded,
    ranges: joinRanges([...recorded.ranges, ...known]),
    followed: rows.map((row): FollowedChain => {
      const [, chain, , , end, , , rollbacks, epoch, blocks, stampNumbers] = row;
      if (chain === '') throw new RangeError('following names no chain');
      const final_block = end === 0 ? null : end - 1;
      const reach = reachOf(row);
      const stamps = stampsOf(blocks, stampNumbers);
      const tip_block = reach === null ? null : reach[4];
      return { chain, final_block, tip_block, rollbacks, epoch, stamps };
    }),
  };
}

/** Reads what is held. Rejects with the executor's errors. */
export async function readHeld(warehouse: Warehouse, call: Call): Promise<HeldBlocksOf> {
  return withFollowed(warehouse, await readRecorded(warehouse, call), call);
}

type Reach = { readonly 4: number; readonly 5: number };

/** How far following has come: to the tip, else to the last final block, else nowhere. */
function reachOf([, , , , end, endTime, , , , , , tip, tipTime]: Row): Reach | null {
  if (tip > end) return { 4: tip - 1, 5: tipTime - 1 };
  return end === 0 ? null : { 4: end - 1, 5: endTime - 1 };
}

function rangesOf([, chain, kinds, from_block, , , isObserved]: Row, reach: Reach | null) {
  if (chain === '') return [];
  return listFrom(reach, ({ 4: to_block, 5: to_time }): HeldBlocks[] => {
    if (to_block < from_block) return [];
    const from_first = from_block <= FIRST_BLOCK_MAX;
    const range = {
      chain,
      from_block,
      to_block,
      to_time,
      from_first,
      origin: storedOrigin(isObserved),
    };
    return kinds.map((kind) => ({ ...range, kind }));
  });
}

/** The stamps of a row, whose columns hold them side by side. */
export function stampsOf(blocks: readonly number[], stamps: readonly number[]): Stamp[] {
  return blocks.map((from_block, i) => {
    const stamp = stamps[i];
    if (stamp === undefined) throw new RangeError('a block without its stamp');
    return { from_block, stamp };
  });
}

/**
 * The rows of a chain's tip that count up to a block (`null`: all), as a condition on `chain`,
 * `epoch`, `stamp` and the column of the block's number; `null` where there can be none.
 */
export function stampedBlocks(
  { chain, epoch, stamps, final_block }: Omit<FollowedChain, 'tip_block' | 'rollbacks'>,
  to: number | null,
  number: 'block' | 'number',
): string | null {
  const spans = stamps.flatMap(({ from_block, stamp }, i) => {
    const next = stamps[i + 1];
    const ends = [next === undefined ? null : next.from_block - 1, to].filter(
      (end) => end !== null,
    );
    const from = final_block === null ? from_block : Math.max(from_block, final_block + 1);
    const end = Math.min(...ends);
    if (end < from) return [];
    const below = Number.isFinite(end) ? ` AND ${number} <= ${end}` : '';
    return [`(stamp = ${stamp} AND ${number} >= ${from}${below})`];
  });
  if (spans.length === 0) return null;
  return `chain = '${chain}' AND epoch = ${epoch} AND (${spans.join(' OR ')})`;
}

/** The valid rows of several chains' tips; `null` if there are none. */
export function tipRows(followed: readonly FollowedChain[]): string | null {
  const chains = present(
    followed.map((one) => {
      const { tip_block } = one;
      const rows = tip_block === null ? null : stampedBlocks(one, tip_block, 'block');
      return rows === null ? null : `(${rows})`;
    }),
  );
  return chains.length === 0 ? null : `(${chains.join(' OR ')})`;
}

/**
 * Adjoining and overlapping ranges of one chain, kind and origin as one: what was recorded comes so
 * from its statement, and is joined here with what is followed.
 */
export function joinRanges(ranges: readonly HeldBlocks[]): HeldBlocks[] {
  const groups = new Map<string, HeldBlocks[]>();
  for (const range of ranges) {
    collect(groups, `${range.chain} ${range.kind} ${range.origin}`, range);
  }
  return [...groups.values()].flatMap((group) => {
    const done: HeldBlocks[] = [];
    for (const range of group.sort((a, b) => a.from_block - b.from_block)) {
      const last = done.at(-1);
      if (last === undefined || range.from_block > last.to_block + 1) done.push(range);
      else if (range.to_block > last.to_block) {
        const { to_block, to_time } = range;
        done[done.length - 1] = { ...last, to_block, to_time };
      }
    }
    return done;
  });
}

/** Reads under what is held; `interrupted` where a chain was rolled back meanwhile. */
export async function readUnderHeld<T>(
  warehouse: Warehouse,
  call: Call,
  work: (held: HeldBlocksOf) => Promise<T>,
): Promise<T> {
  const held = await readHeld(warehouse, call);
  const found = await work(held);
  if (held.followed.length === 0) return found;
  // The number only grows, so that the greatest of a chain's rows is the one that holds.
  const sql = `SELECT sum(most) FROM (
    SELECT max(rollbacks) AS most FROM following GROUP BY chain)`;
  // A tip that changed meanwhile was not there to be read under its old stamps.
  if ((await queryNumber(warehouse, sql, call)) !== rollbacksIn(held)) {
    throw new WarehouseUnavailable('interrupted');
  }
  return found;
}

/** How often all followed chains together were rolled back, as `readHeld` has read it. */
export function rollbacksIn(held: HeldBlocksOf): number {
  return held.followed.reduce((sum, { rollbacks }) => sum + rollbacks, 0);
}

const BEGUN_TABLES = ['transfers', 'blocks', 'transactions', 'coverage', 'following'] as const;

/** Imports that have begun and not come to their end: perhaps none of their rows is there yet. */
const begunImports = (what: string, which: string) =>
  `SELECT ${what} FROM imports FINAL WHERE state IN ('begun', 'forgetting') ${which}`;

/** Whether anything is held of a chain that is not among these: its import has begun. */
export async function hasOthers(
  warehouse: Warehouse,
  chains: readonly ChainName[],
  call: Call,
): Promise<boolean> {
  // Tables are ordered by chain first, so that those named are passed over by the index.
  const named = chains.map((chain) => `'${chain}'`).join(', ');
  const where = chains.length === 0 ? '' : `WHERE chain NOT IN (${named})`;
  const any = BEGUN_TABLES.map(
    (table) => `SELECT 1 FROM (SELECT 1 FROM ${table} ${where} LIMIT 1)`,
  );
  const other = chains.length === 0 ? '' : `AND chain NOT IN (${named})`;
  const sql = [...any, `SELECT 1 FROM (${begunImports('1', other)} LIMIT 1)`].join(' UNION ALL ');
  return hasRows(warehouse, sql, call);
}

/** The chains of which any fact at all is held. */
export async function readPresent(warehouse: Warehouse, call: Call): Promise<ChainName[]> {
  const any = (table: string, chain: ChainName) =>
    `SELECT '${chain}' FROM (SELECT 1 FROM ${table} WHERE chain = '${chain}' LIMIT 1)`;
  const sql = CHAIN_NAMES.flatMap((chain) => [
    ...BEGUN_TABLES.map((table) => any(table, chain)),
    any('tip_transfers', chain),
  ]);
  sql.push(begunImports('chain', ''));
  const query = { ...call, row: z.tuple([chainName]), tuples: true };
  const rows = await warehouse.query(sql.join(' UNION ALL '), query);
  const begun = new Set(rows.map(([chain]) => chain));
  return CHAIN_NAMES.filter((chain) => begun.has(chain));
}

// Was anything written since? The engine's own parts tell: every write is a new part, whoever made
// it, in this process or in another, so that no writer has to say that it wrote.

/** The tables whose parts are told: those that hold sides, and those that hold what is recorded. */
const MARKED = ['sides', 'tip_sides', 'coverage', 'address_coverage', 'tokens'] as const;
/** Parts of a table by their name and the hash of their files, each with its rows. */
export type KeptParts = ReadonlyMap<string, number>;

/** The mark of all writes of one moment. */
export type Mark = {
  readonly parts: { readonly [T in (typeof MARKED)[number]]: KeptParts };
  /** How often all followed chains together were rolled back. */
  readonly rollbacks: number;
};

/** Parts of these tables: an engine refuses to write long before there are so many. */
const PARTS_MAX = 100_000;
const MERGE_TREE = /MergeTree$/;

const markRow = z.tuple([z.enum([...MARKED, 'rollbacks']), z.string(), z.coerce.number()]);
const engineRow = z.tuple([z.string()]);
const NAMES = MARKED.map((table) => `'${table}'`).join(', ');

// A part of the same name is another one where its files differ: numbers begin anew in a table that
// was emptied and opened again. How often a chain was rolled back only grows, so that the greatest
// of its rows is the one that holds.
const MARK = `SELECT table, concat(name, ' ', hash_of_all_files), rows FROM system.parts
WHERE active AND database = currentDatabase() AND table IN (${NAMES})
UNION ALL
SELECT 'rollbacks', '', sum(most) FROM (
  SELECT max(rollbacks) AS most FROM following GROUP BY chain)`;

/** Reads what is written now. */
export async function readMark(warehouse: Warehouse, call: Call): Promise<Mark> {
  const query = { ...call, row: markRow, tuples: true, rowsMax: PARTS_MAX };
  const parts = {
    sides: new Map<string, number>(),
    tip_sides: new Map<string, number>(),
    coverage: new Map<string, number>(),
    address_coverage: new Map<string, number>(),
    tokens: new Map<string, number>(),
  } satisfies Mark['parts'];
  let rollbacks: number | null = null;
  for (const [what, part, count] of await warehouse.query(MARK, query)) {
    if (what === 'rollbacks') rollbacks = count;
    else parts[what].set(part, count);
  }
  if (rollbacks === null) throw new RangeError('a sum has one row');
  return { parts, rollbacks };
}

/**
 * Tells whether the parts of the tables are told here: those of a cluster lie on its nodes. It is
 * asked once, since a table stays what it is.
 */
export function partsTold(warehouse: Warehouse): (call: Call) => Promise<boolean> {
  let told: boolean | null = null;
  return async (call) => {
    if (told !== null) return told;
    const sql = `SELECT engine FROM system.tables
      WHERE database = currentDatabase() AND name IN (${NAMES})`;
    const engines = await warehouse.query(sql, { ...call, row: engineRow, tuples: true });
    const isEach = engines.every(([engine]) => MERGE_TREE.test(engine));
    told = engines.length === MARKED.length && isEach;
    return told;
  };
}

/**
 * A cache of readings, valid for as long as the parts behind them are the same. Past a total size
 * of `sizeMax`, everything is dropped.
 */
export function partsCache<V>(sizeMax: number) {
  const kept = new Map<string, V>();
  let parts: KeptParts = new Map();
  let epoch = 0;
  let size = 0;

  const clear = () => {
    kept.clear();
    size = 0;
  };
  return {
    /** Grows when the parts have changed. */
    epoch: () => epoch,
    /** Forgets what was read of other parts than these. */
    renew: (now: KeptParts): void => {
      if (isSame(now, parts)) return;
      parts = now;
      epoch += 1;
      clear();
    },
    of: (key: string): V | undefined => kept.get(key),
    /** Keeps what was read under an epoch, if it is still that one. */
    add: (key: string, value: V, ofSize: number, under: number): void => {
      if (under !== epoch) return;
      if (size + ofSize > sizeMax) clear();
      size += ofSize;
      kept.set(key, value);
    },
  };
}

/** Whether these are the same parts. */
export function isSame(a: KeptParts, b: KeptParts): boolean {
  return a === b || (a.size === b.size && [...a.keys()].every((one) => b.has(one)));
}
