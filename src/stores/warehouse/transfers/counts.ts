// How many transfers are held of each chain, without counting all of them each time?
// Blocks are counted in groups, anew where something was written since; each transfer counts once,
// however often it was written.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import type { Warehouse } from '../engine/executor.ts';
import { WRITE } from './append.ts';

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

const _one = z.tuple([z.coerce.number()]);
const staleRow = z.tuple([z.enum(CHAIN_NAMES), z.coerce.number(), z.coerce.number()]);
type Stale = z.infer<typeof staleRow>;
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

/** What is held of each chain, by counts that are brought up to date first. */
export async function countedChains(warehouse: Warehouse): Promise<readonly CountedChain[]> {
  await keepCounts(warehouse);
  const rows = await warehouse.query(TOTALS, { ...WRITE, row: countedRow, tuples: true });
  return rows.map(([chain, from_block, to_block, transfers, observed]) => {
    return { chain, from_block, to_block, transfers, observed };
  });
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
function runsOf(stale: readonly Stale[]): readonly Run[] {
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
