// How many calls of explorers were spent on a day on reading listed addresses ahead?

import { z } from 'zod';
import { type Reading, read } from '../../../evidence/reading.ts';
import type { RingCalls, RingCallsPort } from '../../../ports/history/counterparty-ring.ts';
import type { Warehouse } from '../engine/executor.ts';
import { WRITE } from '../transfers/append.ts';
import { unreadFor, warehouseSource } from '../transfers/warehouse-reading.ts';

const PORT: RingCallsPort = 'ring_calls';
const callsRow = z.tuple([z.coerce.number()]);

/** The count in a warehouse. `now` is Unix seconds. */
export function ringCalls(warehouse: Warehouse, now: () => number): RingCalls {
  async function asked<T>(work: () => Promise<T>): Promise<Reading<T, RingCallsPort>> {
    try {
      return read(await work(), { port: PORT, source: warehouseSource(now(), false) });
    } catch (error) {
      return unreadFor(PORT, error);
    }
  }
  return {
    on: (day) =>
      asked(async () => {
        const sql = 'SELECT sum(calls) FROM ring_calls WHERE day = {day:Date}';
        const query = { ...WRITE, row: callsRow, tuples: true, params: { day } };
        const [row] = await warehouse.query(sql, query);
        if (row === undefined) throw new RangeError('a sum has one row');
        return row[0];
      }),
    add: (day, calls) =>
      asked(async () => {
        const sql = `INSERT INTO ring_calls SELECT {day:Date}, ${calls}`;
        await warehouse.command(sql, { ...WRITE, params: { day } });
        return true as const;
      }),
  };
}
