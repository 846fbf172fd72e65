// Which addresses have so many transfers that their rows are not read to be counted?
// It counts in the order of the table, an address at a time, so that a hub costs no memory to speak
// of. What it writes only grows: it is a least number, and never says that an address has few.

import { z } from 'zod';
import type { Warehouse } from '../warehouse/executor.ts';
import { WRITE } from './append.ts';

/** From how many transfers on an address is counted: fewer are read at once where asked for. */
const COUNTED_FROM = 4_000;
/** Counting goes through all sides, so it waits until there are so many more, or a quarter more. */
const FIRST_SIDES = 2_000_000;
const GROWTH = 1.25;

// A peer with which some transfer failed may be one of failures alone: it does not count.
const COUNT = `
INSERT INTO degrees (chain, addr, degree, transfers, observed)
SELECT chain, addr,
  uniqExact(peer) - uniqExactIf(peer, substring(detail, 2, 1) = char(1) OR peer = addr) AS degree,
  count() AS transfers, min(substring(detail, 1, 1) != char(0))
FROM sides GROUP BY chain, addr HAVING transfers >= ${COUNTED_FROM}
SETTINGS optimize_aggregation_in_order = 1, max_block_size = 16384`;

const counted = z.tuple([z.coerce.number()]);

/** Counts anew as the table grows. */
export function degreeCount(warehouse: Warehouse) {
  let countedAt: number | null = null;

  async function count(): Promise<void> {
    countedAt = await sidesIn(warehouse);
    await warehouse.command(COUNT, WRITE);
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
