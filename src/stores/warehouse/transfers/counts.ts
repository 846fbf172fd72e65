// Counts the held transfers of each chain without counting all of them each time. Blocks are
// counted in groups, anew after a write; each transfer counts once, however often it was written.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName, isEvmChain } from '../../../chain/chain.ts';
import { collect, slices } from '../../../evidence/measure.ts';
import type { HeldChain } from '../../../ports/indexing.ts';
import { type Call, queryNumber, type Warehouse } from '../engine/executor.ts';
import { storedOrigin, WRITE } from './append.ts';
import { type FollowedChain, type HeldBlocks, readHeld, tipRows } from './held.ts';

// The engine's rule for sides that are edges of a walk. The rule of `features/history/edge-rule.ts`
// for one address alone, in the columns of `sides`: transfers of nothing and worthless ones count
// only if the address may have signed them. So logs in its name make no address a hub. An NFT
// counts if the address is known to have signed it.

const byteOf = (column: string, at: string) => {
  return `reinterpretAsUInt8(substring(${column}, ${at}, 1))`;
};
const KIND = `bitAnd(${byteOf('id', '1')}, 7)`;
const IS_OUT = `${byteOf('id', '2')} = 1`;
const TX_LENGTH = byteOf('id', '3');
const TOKEN_LENGTH = byteOf('id', `4 + ${TX_LENGTH}`);
const TOKEN = `substring(id, 5 + ${TX_LENGTH}, ${TOKEN_LENGTH})`;
// The amount stands behind `n`, without its leading zeros: of nothing there is nothing.
const MOVED = `length(id) > 6 + ${TX_LENGTH} + ${TOKEN_LENGTH}`;

const NATIVE = 1;
const TOKEN_KIND = 3;
const NFT_KIND = 4;
const FAILED = 1;
const BY_SENDER = 1;
const BY_RECEIVER = 2;
const EVM = CHAIN_NAMES.filter(isEvmChain).map((chain) => `'${chain}'`);
// The sender of an EVM transaction's own value signed it.
const OWN_VALUE = `${KIND} = ${NATIVE} AND chain IN (${EVM.join(', ')})`;
const TOLD = byteOf('detail', '16');
const SIGNER = `if(${TOLD} = 0 AND ${OWN_VALUE}, ${BY_SENDER}, ${TOLD})`;
const HAS_SIGNED = `((${SIGNER} = ${BY_SENDER} AND ${IS_OUT})
  OR (${SIGNER} = ${BY_RECEIVER} AND NOT ${IS_OUT}))`;

// However long ago that was read: the fewer are counted, the fewer addresses are not walked past.
const WORTHLESS = `(${KIND} = ${TOKEN_KIND} AND (chain, ${TOKEN}) IN (
  SELECT chain, token FROM tokens FINAL WHERE has_market = 0))`;

/** Whether a row of `sides` or `tip_sides` is an edge of its address, failures left out. */
export const IS_KEPT = `(${byteOf('detail', '2')} != ${FAILED} AND (${HAS_SIGNED}
  OR (${KIND} != ${NFT_KIND} AND (${SIGNER} = 0
    OR (${MOVED} AND (${SIGNER} = ${BY_RECEIVER} OR NOT ${WORTHLESS}))))))`;

/** The transfers of a chain; `observed` is 0 where any of them is simulated. */
export type CountedChain = {
  readonly chain: ChainName;
  readonly from_block: number;
  readonly to_block: number;
  readonly transfers: number;
  readonly observed: number;
};

/** Blocks of one group, as the tables have it. */
const GROUP_BLOCKS = 64;
/** Rows that one statement counts, and groups that it may span. */
const ROWS_AT_ONCE = 2_000_000;
const GROUPS_AT_ONCE = 65_536;
/** Groups whose count is read to be made anew; more are taken up after these. */
const STALE_AT_ONCE = 500_000;

const staleRow = z.tuple([z.enum(CHAIN_NAMES), z.coerce.number(), z.coerce.number()]);

const countedRow = z.tuple([
  z.enum(CHAIN_NAMES),
  ...[z.coerce.number(), z.coerce.number(), z.coerce.number(), z.number()],
] as const);

const WRITTEN = (where: string) => `SELECT chain, block_group, sum(written) AS now_written
  FROM transfers_written ${where} GROUP BY chain, block_group`;

const STALE = `SELECT chain, block_group, now_written FROM (${WRITTEN('')}) AS w
  LEFT JOIN (
    SELECT chain, block_group, max(at_written) AS counted FROM transfers_counted
    GROUP BY chain, block_group
  ) AS c USING (chain, block_group)
  WHERE counted != now_written ORDER BY chain, block_group LIMIT ${STALE_AT_ONCE}`;

const TOTALS = `SELECT chain, min(from_block), max(to_block), sum(transfers), min(observed)
  FROM transfers_counted FINAL WHERE transfers > 0 GROUP BY chain`;

/** The counts of each chain, brought up to date first. */
export async function countChains(warehouse: Warehouse): Promise<readonly CountedChain[]> {
  await keepCounts(warehouse);
  const rows = await warehouse.query(TOTALS, { ...WRITE, row: countedRow, tuples: true });
  return rows.map(countedChain);
}

function countedChain(row: z.infer<typeof countedRow>): CountedChain {
  const [chain, from_block, to_block, transfers, observed] = row;
  return { chain, from_block, to_block, transfers, observed };
}

/** Counts what was written since it was last counted. */
export async function keepCounts(warehouse: Warehouse): Promise<void> {
  const query = { ...WRITE, row: staleRow, tuples: true, rowsMax: STALE_AT_ONCE };
  // Writers may go on meanwhile: what was stale at first is counted, and no more.
  for (;;) {
    const stale = await warehouse.query(STALE, query);
    for (const run of runsOf(stale)) await warehouse.command(countOf(run), WRITE);
    if (stale.length < STALE_AT_ONCE) return;
  }
}

/** Marks blocks whose rows change without being written, so that they are counted anew. */
export async function markChanged(
  warehouse: Warehouse,
  chain: ChainName,
  fromBlock: number,
  toBlock: number,
): Promise<void> {
  const [from, to] = [groupOf(fromBlock), groupOf(toBlock)];
  const sql = `INSERT INTO transfers_written SELECT chain, block_group, 1
    FROM (${WRITTEN(`WHERE chain = '${chain}' AND block_group BETWEEN ${from} AND ${to}`)})`;
  await warehouse.command(sql, WRITE);
}

function groupOf(block: number): number {
  return Math.floor(block / GROUP_BLOCKS);
}

type Run = { readonly chain: ChainName; readonly from: number; to: number; rows: number };

/** Groups that lie near each other, so many that one statement can count them. */
function runsOf(stale: readonly z.infer<typeof staleRow>[]): readonly Run[] {
  const runs: Run[] = [];
  for (const [chain, group, rows] of stale) {
    const last = runs.at(-1);
    const isNear =
      last !== undefined &&
      last.chain === chain &&
      group - last.to <= GROUP_BLOCKS &&
      group - last.from < GROUPS_AT_ONCE &&
      last.rows + rows <= ROWS_AT_ONCE;
    if (!isNear) runs.push({ chain, from: group, to: group, rows });
    else {
      last.to = group;
      last.rows += rows;
    }
  }
  return runs;
}

// The right side of a join is read first: a row that is written meanwhile may be counted already,
// and makes the count stale; it is never missing from a count that is taken for fresh.
const countOf = ({ chain, from, to }: Run) => `INSERT INTO transfers_counted
SELECT chain, block_group, counted, first, last, worst, now_written
FROM (
  SELECT intDiv(block, ${GROUP_BLOCKS}) AS block_group, count() AS counted, min(block) AS first,
    max(block) AS last, min(observed) AS worst
  FROM transfers FINAL
  WHERE chain = '${chain}'
    AND block BETWEEN ${from * GROUP_BLOCKS} AND ${to * GROUP_BLOCKS + GROUP_BLOCKS - 1}
  GROUP BY block_group
) AS t RIGHT JOIN (
  ${WRITTEN(`WHERE chain = '${chain}' AND block_group BETWEEN ${from} AND ${to}`)}
) AS w USING (block_group)`;

// Finds the addresses with so many transfers that their rows are not read for counting. It counts
// in the order of the table, so that a hub needs little memory. The newest count holds: it is a
// lower bound, and never shows that an address has few.

/** From how many transfers on an address is counted: fewer are read at once where asked for. */
const COUNTED_FROM = 4_000;
/** Counting goes through all sides, so it waits until there are so many more, or a quarter more. */
const FIRST_SIDES = 2_000_000;
const GROWTH = 1.25;

/** One statement goes through all sides: of a billion that is minutes. */
const THROUGH_ALL: Call = { timeoutMs: 3_600_000 };

/** Addresses that are counted by one statement. */
const ADDRESSES_AT_ONCE = 500;

// Two passes in the order of the table, so that neither holds more than a group at a time: who has
// many transfers, then with how many others. A peer beside whom no edge stands does not count.
const MANY = `
SELECT toString(chain), lower(hex(addr)), count() FROM sides GROUP BY chain, addr
HAVING count() >= ${COUNTED_FROM}
SETTINGS optimize_aggregation_in_order = 1, max_block_size = 16384, max_threads = 1`;

const COUNT = `
INSERT INTO degrees (chain, addr, degree, transfers, observed, counted)
SELECT chain, addr, countIf(some_kept AND peer != addr), sum(transfers), min(all_observed),
  now64(3)
FROM (
  SELECT chain, addr, peer, count() AS transfers, max(${IS_KEPT}) AS some_kept,
    min(substring(detail, 1, 1) != char(0)) AS all_observed
  FROM sides
  WHERE chain = {chain:String} AND addr IN (SELECT unhex(arrayJoin({addresses:Array(String)})))
  GROUP BY chain, addr, peer
)
GROUP BY chain, addr
SETTINGS optimize_aggregation_in_order = 1, max_block_size = 16384, max_threads = 1`;

const manyRow = z.tuple([z.string(), z.string(), z.coerce.number()]);
/** Addresses with so many transfers that a warehouse may hold. */
const MANY_MAX = 1_000_000;

/** Counts anew as the table grows. */
export function degreeCount(warehouse: Warehouse) {
  let countedAt: number | null = null;

  const countAll = () => queryNumber(warehouse, 'SELECT count() FROM sides', WRITE);

  async function count(): Promise<void> {
    countedAt = await countAll();
    const query = { ...THROUGH_ALL, row: manyRow, tuples: true, rowsMax: MANY_MAX };
    const byChain = new Map<string, string[]>();
    for (const [chain, addr] of await warehouse.query(MANY, query)) collect(byChain, chain, addr);
    for (const [chain, all] of byChain) {
      for (const addresses of slices(all, ADDRESSES_AT_ONCE)) {
        await warehouse.command(COUNT, { ...WRITE, params: { chain, addresses } });
      }
    }
  }

  return {
    count,
    /** Counts if the table has grown enough since it was last counted by this process. */
    countIfGrown: async (): Promise<void> => {
      const sides = await countAll();
      if (countedAt === null) countedAt = sides < FIRST_SIDES ? 0 : sides;
      if (sides > Math.max(countedAt * GROWTH, countedAt + FIRST_SIDES)) await count();
    },
  };
}

// Reads the contents of the warehouse by chain. Each transfer counts once, however often it was
// written, and only blocks that are there. Final rows are counted when they are written, and the
// tip on each call.

export async function readHeldChains(warehouse: Warehouse): Promise<readonly HeldChain[]> {
  const held = await readHeld(warehouse, WRITE);
  const tip = tipRows(held.followed);
  const sql = `SELECT chain, min(block), max(block), count(), min(observed)
    FROM tip_transfers FINAL WHERE ${tip} GROUP BY chain`;
  const query = { ...WRITE, row: countedRow, tuples: true };
  const above = tip === null ? [] : await warehouse.query(sql, query);
  const rows = [...(await countChains(warehouse)), ...above.map(countedChain)];
  return CHAIN_NAMES.flatMap((chain) => {
    const counted = rows.filter((one) => one.chain === chain);
    const ranges = held.ranges.filter((range) => range.chain === chain);
    const followed = held.followed.find((one) => one.chain === chain);
    const whole = heldChain(chain, counted, ranges, followed);
    return whole === null ? [] : [whole];
  });
}

function heldChain(
  chain: ChainName,
  counted: readonly CountedChain[],
  ranges: readonly HeldBlocks[],
  followed: FollowedChain | undefined,
): HeldChain | null {
  if (counted.length === 0 && ranges.length === 0) return null;
  const spans = [...counted, ...ranges];
  const isMade =
    counted.some(({ observed }) => storedOrigin(observed) === 'simulated') ||
    ranges.some(({ origin }) => origin === 'simulated');

  return {
    chain,
    from_block: Math.min(...spans.map(({ from_block }) => from_block)),
    to_block: Math.max(...spans.map(({ to_block }) => to_block)),
    transfers: counted.reduce((sum, { transfers }) => sum + transfers, 0),
    origin: isMade ? 'simulated' : 'observed',
    coverage: ranges.map(({ kind, from_block, to_block, to_time, origin }) => {
      return { kind, from_block, to_block, to_time, origin };
    }),
    following:
      followed === undefined || followed.tip_block === null
        ? null
        : { final_block: followed.final_block, tip_block: followed.tip_block },
  };
}
