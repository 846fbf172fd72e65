// When were these blocks made, by the headers that the warehouse holds?
// Two headers of one number are a fork, and then it is not known which of them a row belongs to.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import type { UnixSeconds } from '../../../chain/time.ts';
import type { Call, Warehouse } from '../engine/executor.ts';

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
  for (let at = 0; at < numbers.length; at += NUMBERS_MAX) {
    const sql = `SELECT number, max(time) FROM blocks
      WHERE chain = '${chain}' AND number IN {numbers:Array(UInt64)}
      GROUP BY number HAVING uniqExact(hash) = 1`;
    const params = { numbers: numbers.slice(at, at + NUMBERS_MAX) };
    const rows = await warehouse.query(sql, { ...CALL, row: timeRow, tuples: true, params });
    for (const [number, time] of rows) times.set(number, time);
  }
  return times;
}
