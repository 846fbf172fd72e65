// Which addresses have so many transfers that their rows are not read to be counted?
// It counts in the order of the table, so that a hub costs no memory to speak of. The newest count
// holds: it is a least number, and never says that an address has few.

import { z } from 'zod';
import { collect } from '../../../evidence/measure.ts';
import type { Call, Warehouse } from '../engine/executor.ts';
import { WRITE } from './append.ts';
import { IS_KEPT } from './kept-sides.ts';

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

const counted = z.tuple([z.coerce.number()]);

/** Counts anew as the table grows. */
export function degreeCount(warehouse: Warehouse) {
  let countedAt: number | null = null;

  async function count(): Promise<void> {
    countedAt = await sidesIn(warehouse);
    const query = { ...THROUGH_ALL, row: manyRow, tuples: true, rowsMax: MANY_MAX };
    const byChain = new Map<string, string[]>();
    for (const [chain, addr] of await warehouse.query(MANY, query)) collect(byChain, chain, addr);
    for (const [chain, all] of byChain) {
      for (let at = 0; at < all.length; at += ADDRESSES_AT_ONCE) {
        const addresses = all.slice(at, at + ADDRESSES_AT_ONCE);
        await warehouse.command(COUNT, { ...WRITE, params: { chain, addresses } });
      }
    }
  }

  return {
    count,
    /** Counts if the table has grown enough since it was last counted by this process. */
    countIfGrown: async (): Promise<void> => {
      const sides = await sidesIn(warehouse);
      if (countedAt === null) countedAt = sides < FIRST_SIDES ? 0 : sides;
      if (sides > Math.max(countedAt * GROWTH, countedAt + FIRST_SIDES)) await count();
    },
  };
}

async function sidesIn(warehouse: Warehouse): Promise<number> {
  const sql = 'SELECT count() FROM sides';
  const [first] = await warehouse.query(sql, { ...WRITE, row: counted, tuples: true });
  if (first === undefined) throw new RangeError('a count has one row');
  return first[0];
}
