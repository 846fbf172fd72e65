// Which blocks of which chains does the warehouse hold in full?
// Ranges come from imports, which say so, and from following, which knows. It is read before the
// rows that it is to vouch for; who reads the tip compares `rollbacks` afterwards.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import type { TransferKind } from '../../../chain/transfer.ts';
import { collect } from '../../../evidence/measure.ts';
import type { ImportOrigin } from '../../../evidence/origin.ts';
import type { Call, Warehouse } from '../engine/executor.ts';
import { originOf } from './fact-rows.ts';

/** Blocks held in full. `from_first`: from the chain's first. */
export type HeldBlocks = {
  readonly chain: ChainName;
  readonly kind: TransferKind;
  readonly from_block: number;
  readonly to_block: number;
  readonly to_time: number;
  readonly from_first: boolean;
  readonly origin: ImportOrigin;
};

/**
 * A chain that is followed; blocks above `tip_block` are not there yet, whatever is held of them.
 */
export type Followed = {
  readonly chain: ChainName;
  readonly final_block: number | null;
  readonly tip_block: number | null;
  readonly rollbacks: number;
};

/** What is held, at one moment. */
export type Held = {
  readonly ranges: readonly HeldBlocks[];
  readonly followed: readonly Followed[];
  /** Whether anything at all is held of single addresses, and of tokens. */
  readonly hasAddressRanges: boolean;
  readonly hasTokens: boolean;
};

/** The first block of a chain holds no transfer but the coins that it begins with. */
const FIRST_BLOCK_MAX = 1;
/** Ranges that imports have recorded. */
const RANGES_MAX = 100_000;

const chainName = z.enum(CHAIN_NAMES);
const kindName = z.enum(['native', 'internal', 'token']);
const whole = z.coerce.number().int().nonnegative();
const row = z.tuple([
  z.enum(['range', 'following', 'tip', 'addresses', 'tokens']),
  z.union([chainName, z.literal('')]),
  z.array(kindName),
  ...[whole, whole, whole, whole, whole],
] as const);
type Row = z.infer<typeof row>;

// `to_block` and `to_time` of `following` are one more than they are, so that 0 is none.
const SQL = `
SELECT 'range' AS what, toString(chain) AS of, [toString(kind)] AS kinds, from_block, to_block,
  toUInt64(max(to_time)) AS to_time, toUInt64(observed) AS observed, toUInt64(0) AS rollbacks
FROM coverage GROUP BY chain, kind, from_block, to_block, observed
UNION ALL
SELECT 'following', toString(chain), arrayMap(k -> toString(k), kinds), from_block,
  ifNull(final_block + 1, 0), toUInt64(ifNull(final_time + 1, 0)), toUInt64(observed), rollbacks
FROM following FINAL
UNION ALL
SELECT 'tip', toString(chain), [], min(number), max(number), toUInt64(argMax(time, number)), 1, 0
FROM tip_blocks FINAL WHERE live = 1 GROUP BY chain
UNION ALL SELECT 'addresses', '', [], 0, 0, 0, 0, count() FROM address_coverage
UNION ALL SELECT 'tokens', '', [], 0, 0, 0, 0, count() FROM tokens`;

/** Reads what is held. Rejects with the executor's errors. */
export async function readHeld(warehouse: Warehouse, call: Call): Promise<Held> {
  const rows = await warehouse.query(SQL, { ...call, row, tuples: true, rowsMax: RANGES_MAX });
  const tips = new Map<string, Row>();
  for (const one of rows) if (one[0] === 'tip') tips.set(one[1], one);
  const following = rows.filter(([what]) => what === 'following');
  const recorded = rows.filter(([what]) => what === 'range').flatMap((one) => rangesOf(one, one));
  const known = following.flatMap((one) => rangesOf(one, reachOf(one, tips.get(one[1]))));
  return {
    ranges: joined([...recorded, ...known]),
    followed: following.map((one) => followedOf(one, tips.get(one[1]))),
    hasAddressRanges: rows.some(([what, ...rest]) => what === 'addresses' && rest[6] > 0),
    hasTokens: rows.some(([what, ...rest]) => what === 'tokens' && rest[6] > 0),
  };
}

type Reach = { readonly 4: number; readonly 5: number };

/** How far following has come: to the tip, else to the last final block, else nowhere. */
function reachOf([, , , , end, endTime]: Row, tip: Row | undefined): Reach | null {
  if (tip !== undefined && tip[4] >= end) return tip;
  return end === 0 ? null : { 4: end - 1, 5: endTime - 1 };
}

function rangesOf([, chain, kinds, from_block, , , isObserved]: Row, reach: Reach | null) {
  if (reach === null || chain === '' || reach[4] < from_block) return NOTHING_HELD;
  return kinds.map(
    (kind): HeldBlocks => ({
      chain,
      kind,
      from_block,
      to_block: reach[4],
      to_time: reach[5],
      from_first: from_block <= FIRST_BLOCK_MAX,
      origin: originOf(isObserved),
    }),
  );
}

const NOTHING_HELD: readonly HeldBlocks[] = Object.freeze([]);

function followedOf(row: Row, tip: Row | undefined): Followed {
  const [, chain, , , end, , , rollbacks] = row;
  if (chain === '') throw new RangeError('following names no chain');
  const final_block = end === 0 ? null : end - 1;
  const reach = reachOf(row, tip);
  return { chain, final_block, tip_block: reach === null ? null : reach[4], rollbacks };
}

/** Adjoining and overlapping ranges of one chain, kind and origin as one. */
function joined(ranges: readonly HeldBlocks[]): HeldBlocks[] {
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

const counted = z.tuple([whole]);

/** How often all followed chains together were rolled back. */
export async function readRollbacks(warehouse: Warehouse, call: Call): Promise<number> {
  // The number only grows, so that the greatest of a chain's rows is the one that holds.
  const sql = `SELECT sum(most) FROM (
    SELECT max(rollbacks) AS most FROM following GROUP BY chain)`;
  const [first] = await warehouse.query(sql, { ...call, row: counted, tuples: true });
  if (first === undefined) throw new RangeError('a sum has one row');
  return first[0];
}

/** The same as `readRollbacks`, as `readHeld` has read it. */
export function rollbacksIn(held: Held): number {
  return held.followed.reduce((sum, { rollbacks }) => sum + rollbacks, 0);
}

const BEGUN_TABLES = ['transfers', 'blocks', 'transactions', 'coverage', 'following'] as const;

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
  const sql = any.join(' UNION ALL ');
  return (await warehouse.query(sql, { ...call, row: counted, tuples: true })).length > 0;
}

/** The chains of which any fact at all is held. */
export async function readPresent(warehouse: Warehouse, call: Call): Promise<ChainName[]> {
  const any = (table: string, chain: ChainName) =>
    `SELECT '${chain}' FROM (SELECT 1 FROM ${table} WHERE chain = '${chain}' LIMIT 1)`;
  const sql = CHAIN_NAMES.flatMap((chain) => [
    ...BEGUN_TABLES.map((table) => any(table, chain)),
    any('tip_transfers', chain),
  ]);
  const shape = z.tuple([chainName]);
  const rows = await warehouse.query(sql.join(' UNION ALL '), {
    ...call,
    row: shape,
    tuples: true,
  });
  const present = new Set(rows.map(([chain]) => chain));
  return CHAIN_NAMES.filter((chain) => present.has(chain));
}
