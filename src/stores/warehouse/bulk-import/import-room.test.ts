// An import beside queries that fill every slot of the engine ends: it waits for its turn, says so,
// and comes to the same as one that has the engine for itself.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import { ENGINE_LIMITS } from '../engine/embedded.ts';
import { type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';
import { freshFolder, importedInto, recordOf } from './bulk-import.suite.ts';
import { waitForRoom } from './import-room.ts';
import { exported, heldIn } from './interrupted.suite.ts';

const CALL = { timeoutMs: 60_000 };
const SLOW = 'SELECT sum(sleepEachRow(0.05)) FROM numbers(2)';
const FULL = { ...ENGINE_LIMITS, inFlightMax: 1, waitingMax: 1 };

/** Asks without a pause, so that the slot and the place behind it are taken nearly always. */
function crowd(warehouse: Warehouse): { readonly end: () => Promise<void> } {
  let isOver = false;
  const ask = async () => {
    while (!isOver) {
      const row = { parse: (one: unknown) => one };
      await warehouse.query(SLOW, { ...CALL, row }).catch((fault: unknown) => {
        if (!(fault instanceof WarehouseUnavailable)) throw fault;
        return new Promise((resolve) => setTimeout(resolve, 1));
      });
    }
  };
  const asking = [ask(), ask(), ask()];
  return {
    end: async () => {
      isOver = true;
      await Promise.all(asking);
    },
  };
}

test('an import beside queries that fill every slot waits for its turn, and ends', async () => {
  const folder = await freshFolder();
  const files = await exported(folder);
  const alone = await freshWarehouse();
  const record = recordOf(await importedInto(alone, [files], { folder: join(folder, 'alone') }));
  const whole = await heldIn(alone);
  await alone.close();

  const warehouse = await freshWarehouse({ limits: FULL });
  const others = crowd(warehouse);
  const done = await importedInto(warehouse, [files], { folder: join(folder, 'beside') });
  await others.end();
  expect(recordOf(done)).toEqual(record);
  expect(await heldIn(warehouse)).toEqual(whole);
  expect(done.notes.join('\n')).toContain('no room now: the import waits for its turn');
  await warehouse.close();
}, 300_000);

test('what finds no room for so long as an import waits ends with the reason', async () => {
  const notes: string[] = [];
  const { signal } = new AbortController();
  const watch = { onNote: (line: string) => void notes.push(line), signal };
  let attempts = 0;
  const full = async () => {
    attempts += 1;
    throw new WarehouseUnavailable('overloaded');
  };
  const bounds = { waitMaxMs: 4, pauseFirstMs: 1, pauseMaxMs: 2 };
  const ended = waitForRoom(watch, full, bounds);
  await expect(ended).rejects.toMatchObject({ code: 'overloaded' });
  expect([attempts, notes.length]).toEqual([4, 1]);
  expect(z.string().parse(notes[0])).toContain('waits for its turn');
});

test('a statement that alone is over the engine’s memory ends at once, with the next step', async () => {
  const folder = await freshFolder();
  const files = await exported(folder);
  const warehouse = await freshWarehouse({
    limits: { ...ENGINE_LIMITS, queryBytesMax: 1_500_000 },
  });
  const done = await importedInto(warehouse, [files], { folder: join(folder, 'small') });
  expect(done.outcome).toMatchObject({ outcome: 'unread' });
  const said = JSON.stringify(done.outcome);
  expect(said).toContain('more memory than the warehouse gives one statement');
  expect(said).toContain('EXHIBIT_WAREHOUSE_URL');
  // It waits for nothing: another time it would be the same.
  expect(done.notes.join('\n')).not.toContain('waits for its turn');
  await warehouse.close();
}, 300_000);

test('blocks that are too many for one statement are written in halves, to the same', async () => {
  const folder = await freshFolder();
  const files = await exported(folder);
  const warehouse = await freshWarehouse();
  let refused = 0;
  const narrow = Object.assign({}, warehouse, {
    command: (...[sql, call]: Parameters<Warehouse['command']>) => {
      if (refused < 2 && sql.includes('INSERT INTO transfers')) {
        refused += 1;
        return Promise.reject(new WarehouseUnavailable('too_large'));
      }
      return warehouse.command(sql, call);
    },
  });
  const done = await importedInto(narrow, [files], { folder: join(folder, 'halves') });
  const whole = await freshWarehouse();
  const alone = await importedInto(whole, [files], { folder: join(folder, 'alone') });
  expect(refused).toBe(2);
  expect(recordOf(done)).toEqual(recordOf(alone));
  expect(await heldIn(warehouse)).toEqual(await heldIn(whole));
  await Promise.all([warehouse.close(), whole.close()]);
}, 300_000);
