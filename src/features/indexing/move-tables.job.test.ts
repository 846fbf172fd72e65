// Tables are moved by one process at a time, to their end; what fails is tried again, and told.

import { expect, test } from 'vitest';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { LeasesPort } from '../../ports/indexing/leases.ts';
import type { TableMove } from '../../ports/indexing/table-move.ts';
import type { TransferStorePort } from '../../ports/indexing/transfer-store.ts';
import { moveTables } from './move-tables.job.ts';

const SOURCE = { name: 's', url: 'urn:s', kind: 'table', simulated: false, as_of: 0 } as const;
const told = (value: TableMove): Reading<TableMove, TransferStorePort> =>
  read(value, { port: 'transfer_store', source: SOURCE });
const COUNTS = { tables: 6, tables_moved: 1, rows: 9, rows_moved: 3 };
const MOVING: TableMove = { state: 'moving', ...COUNTS };
const FULL = unread(
  'transfer_store' satisfies TransferStorePort,
  why('store_unreadable', { what: 'The transfer warehouse', fault: 'its disk takes no more' }),
);

/** Runs the job over what its steps tell to the end; what it asked, and waited for. */
async function run(steps: readonly Reading<TableMove, TransferStorePort>[], held = true) {
  const left = [...steps];
  const asked: string[] = [];
  const waits: number[] = [];
  let over = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    over = resolve;
  });
  const lease = (value: { epoch: number; released: boolean } | null) =>
    read(value, { port: 'leases' satisfies LeasesPort, source: SOURCE });
  const job = moveTables({
    moving: {
      status: async () => told(left.length === 0 ? { state: 'moved' } : MOVING),
      step: async () => {
        asked.push('step');
        return left.shift() ?? told({ state: 'moved' });
      },
    },
    leases: {
      take: async () => lease(held ? { epoch: 1, released: true } : null),
      release: async () => {
        over();
        return read(true as const, { port: 'leases' satisfies LeasesPort, source: SOURCE });
      },
    },
    sleep: async (ms) => {
      waits.push(ms);
      if (!held) left.length = 0;
      await new Promise(setImmediate);
    },
    settleMs: 40_000,
    now: () => 7,
    onBug: (fault) => asked.push(String(fault)),
  });
  expect(job.report()).toBeNull();
  const running = job.start();
  await ended;
  await running.stop();
  return { asked, waits, report: job.report() };
}

test('goes on at once, but after a fault, a table that is written, and one just replaced', async () => {
  const settling: TableMove = { state: 'settling', ...COUNTS };
  const swapped: TableMove = { state: 'swapped', ...COUNTS };
  const { asked, waits, report } = await run([told(MOVING), FULL, told(settling), told(swapped)]);
  expect(asked).toEqual(['step', 'step', 'step', 'step']);
  expect(waits).toEqual([0, 30_000, 30_000, 40_000]);
  expect(report).toMatchObject({ as_of: 7, told: { value: { state: 'moved' } } });
});

test('makes no step while another process has the lease', async () => {
  const { asked, waits } = await run([told(MOVING)], false);
  expect(asked).toEqual([]);
  expect(waits).toEqual([30_000]);
});
