// What does the warehouse hold of each chain?
// Each transfer counts once, however often it was written, and no block that is not there yet. What
// is final is counted as it is written and not when it is asked for; of the tip, all.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import type { HeldChain } from '../../../ports/indexing/transfer-store.ts';
import type { Warehouse } from '../engine/executor.ts';
import { WRITE } from './append.ts';
import { countedChains } from './counts.ts';
import { originOf } from './fact-rows.ts';
import { type Followed, type HeldBlocks, readHeld, tipRows } from './held.ts';

const countedRow = z.tuple([
  z.enum(CHAIN_NAMES),
  z.coerce.number(),
  z.coerce.number(),
  z.coerce.number(),
  z.number(),
]);
type Counted = z.infer<typeof countedRow>;

const COUNT = `SELECT chain, min(block), max(block), count(), min(observed)`;

/** What is held, chain by chain. */
export async function heldChains(warehouse: Warehouse): Promise<readonly HeldChain[]> {
  const held = await readHeld(warehouse, WRITE);
  const tip = tipRows(held.followed);
  const sql = `${COUNT} FROM tip_transfers FINAL WHERE ${tip} GROUP BY chain`;
  const query = { ...WRITE, row: countedRow, tuples: true };
  const above = tip === null ? [] : await warehouse.query(sql, query);
  const settled = (await countedChains(warehouse)).map((one): Counted => {
    return [one.chain, one.from_block, one.to_block, one.transfers, one.observed];
  });
  const rows = [...settled, ...above];
  return CHAIN_NAMES.flatMap((chain) => {
    const counted = rows.filter(([of]) => of === chain);
    const ranges = held.ranges.filter((range) => range.chain === chain);
    const followed = held.followed.find((one) => one.chain === chain);
    const whole = heldChain(chain, counted, ranges, followed);
    return whole === null ? [] : [whole];
  });
}

function heldChain(
  chain: ChainName,
  counted: readonly Counted[],
  ranges: readonly HeldBlocks[],
  followed: Followed | undefined,
): HeldChain | null {
  if (counted.length === 0 && ranges.length === 0) return null;
  const lows = [...counted.map((row) => row[1]), ...ranges.map((range) => range.from_block)];
  const highs = [...counted.map((row) => row[2]), ...ranges.map((range) => range.to_block)];
  const made =
    counted.some((row) => originOf(row[4]) === 'simulated') ||
    ranges.some(({ origin }) => origin === 'simulated');
  return {
    chain,
    from_block: Math.min(...lows),
    to_block: Math.max(...highs),
    transfers: counted.reduce((sum, row) => sum + row[3], 0),
    origin: made ? 'simulated' : 'observed',
    coverage: ranges.map(({ kind, from_block, to_block, to_time, origin }) => {
      return { kind, from_block, to_block, to_time, origin };
    }),
    following: followingOf(followed),
  };
}

function followingOf(followed: Followed | undefined): HeldChain['following'] {
  if (followed === undefined || followed.tip_block === null) return null;
  return { final_block: followed.final_block, tip_block: followed.tip_block };
}
