// A walk that is met with the ring while the warehouse or the list changes under it: it finds what
// is there by then, goes the old way, or says that it was not checked; never that nothing is there.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { map, type Partly, Read, rowsSeen } from './evidence/reading.ts';
import type { Walk, WalkPort } from './features/sanctions/walk.ts';
import { stopsOf } from './features/sanctions/walk-hop.ts';
import type { Warehouse } from './stores/warehouse/engine/executor.ts';
import { transferStore } from './stores/warehouse/transfers/store.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW, TIP_MAX_AGE_S } from './testing/clock.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import {
  beginFollowing,
  importTransfers,
  must,
  type RingWorld,
  recordHeld,
  ringWorld,
  tipBlock,
} from './testing/ring-world.ts';
import { memoryTransfer } from './testing/twins/history.ts';

const [SUBJECT, FRIEND, LISTED, OTHER] = ['me', 'friend', 'listed', 'other'].map(evm) as [
  string,
  string,
  string,
  string,
];
const PAID_FRIEND = memoryTransfer(1, SUBJECT, FRIEND);
const FRIEND_PAID = memoryTransfer(2, FRIEND, LISTED);
const TIMEOUT_MS = 60_000;

let warehouse: Warehouse;
beforeAll(async () => {
  warehouse = await freshWarehouse();
}, TIMEOUT_MS);
afterAll(() => warehouse.close());

async function world(hooked?: (warehouse: Warehouse) => Warehouse): Promise<RingWorld> {
  const one = await ringWorld(warehouse, hooked);
  one.list([LISTED]);
  return one;
}

function sight(walk: Partly<Walk, WalkPort>): Walk {
  const found = rowsSeen(map(walk, (one) => [one]));
  if (found === null) throw new Error('test: nothing was seen');
  return found[0];
}

function pathIn(walk: Partly<Walk, WalkPort>): readonly string[] | null {
  const { found } = sight(walk);
  return found === null ? null : stopsOf(found.way);
}

/** A walk that says, of a whole ring, that no way leads to a listed address. */
async function quiet({ walk }: RingWorld): Promise<void> {
  const said = await walk({ subject: SUBJECT });
  expect(said).toBeInstanceOf(Read);
  expect(sight(said).ring).toBeInstanceOf(Read);
  expect(pathIn(said)).toBeNull();
}

const WAY = [SUBJECT, FRIEND, LISTED];

describe('a ring that was whole', { timeout: TIMEOUT_MS }, () => {
  test('finds what another process imports after the subject was read', async () => {
    const one = await world();
    await importTransfers(one.store, [PAID_FRIEND]);
    await recordHeld(one.store, 'ethereum', null);
    await quiet(one);
    const other = transferStore(one.warehouse, () => STILL_NOW);
    const between = () => importTransfers(other, [FRIEND_PAID]);
    expect(pathIn(await one.walk({ subject: SUBJECT, between }))).toEqual(WAY);
  });

  test('finds it also where the engine joins its parts meanwhile', async () => {
    const one = await world();
    await importTransfers(one.store, [PAID_FRIEND]);
    await recordHeld(one.store, 'ethereum', null);
    await quiet(one);
    const between = async () => {
      await importTransfers(one.store, [FRIEND_PAID]);
      await one.warehouse.command('OPTIMIZE TABLE sides FINAL', { timeoutMs: 10_000 });
    };
    expect(pathIn(await one.walk({ subject: SUBJECT, between }))).toEqual(WAY);
  });

  test('finds what a table holds that was emptied, and filled again under the same names', async () => {
    const one = await world();
    await importTransfers(one.store, [PAID_FRIEND]);
    await recordHeld(one.store, 'ethereum', null);
    await quiet(one);
    for (const table of ['transfers', 'sides']) {
      await one.warehouse.command(`TRUNCATE TABLE ${table}`, { timeoutMs: 10_000 });
    }
    await importTransfers(one.store, [PAID_FRIEND, FRIEND_PAID]);
    expect(pathIn(await one.walk({ subject: SUBJECT }))).toEqual(WAY);
  });

  test('is no way any more once the rows between the two were taken out', async () => {
    const one = await world();
    await importTransfers(one.store, [PAID_FRIEND, FRIEND_PAID]);
    await recordHeld(one.store, 'ethereum', null);
    expect(pathIn(await one.walk({ subject: SUBJECT }))).toEqual(WAY);
    const sql = `ALTER TABLE sides DELETE WHERE substring(detail, 11, 1) = char(2)
      SETTINGS mutations_sync = 2`;
    await one.warehouse.command(sql, { timeoutMs: 10_000 });
    await quiet(one);
  });

  test('finds what a block holds that was followed after the subject was read', async () => {
    const one = await world();
    await beginFollowing(one.store, 'ethereum');
    must(await one.store.applyTip('ethereum', [tipBlock(0, [PAID_FRIEND], {})]));
    await quiet(one);
    const between = async () => {
      must(await one.store.applyTip('ethereum', [tipBlock(1, [FRIEND_PAID], {})]));
    };
    expect(pathIn(await one.walk({ subject: SUBJECT, between }))).toEqual(WAY);
  });

  test('is no way any more once the block was undone, and is one again on the other fork', async () => {
    const one = await world();
    await beginFollowing(one.store, 'ethereum');
    must(await one.store.applyTip('ethereum', [tipBlock(0, [PAID_FRIEND], {})]));
    must(await one.store.applyTip('ethereum', [tipBlock(1, [FRIEND_PAID], {})]));
    expect(pathIn(await one.walk({ subject: SUBJECT }))).toEqual(WAY);
    const between = async () => void must(await one.store.rollBack('ethereum', 0));
    const undone = await one.walk({ subject: SUBJECT, between });
    expect(pathIn(undone)).toBeNull();
    await quiet(one);
    const fork = [tipBlock(1, [], { fork: 'b' }), tipBlock(2, [FRIEND_PAID], { after: 'b' })];
    must(await one.store.applyTip('ethereum', fork));
    expect(pathIn(await one.walk({ subject: SUBJECT }))).toEqual(WAY);
  });

  test('vouches for no block that is undone while it is met', async () => {
    let undo: (() => Promise<void>) | null = null;
    const one = await world((warehouse) => ({
      ...warehouse,
      query: async (sql, options) => {
        if (undo !== null && sql.includes('system.parts')) {
          const work = undo;
          undo = null;
          await work();
        }
        return warehouse.query(sql, options);
      },
    }));
    await beginFollowing(one.store, 'ethereum');
    const old = { time: STILL_NOW - 2 * TIP_MAX_AGE_S };
    must(await one.store.applyTip('ethereum', [tipBlock(0, [PAID_FRIEND], old)]));
    await one.ring.bringUp([LISTED]);
    must(await one.store.applyTip('ethereum', [tipBlock(1, [FRIEND_PAID], {})]));
    undo = async () => void must(await one.store.rollBack('ethereum', 0));
    const said = await one.walk({ subject: SUBJECT });
    // The tip that is left is too old for any negative.
    expect(sight(said).ring).not.toBeInstanceOf(Read);
    expect(said).not.toBeInstanceOf(Read);
    expect(pathIn(said)).toBeNull();
  });

  test('is not taken for all there is once the import of another chain has begun', async () => {
    const one = await world();
    await importTransfers(one.store, [PAID_FRIEND]);
    await recordHeld(one.store, 'ethereum', null);
    await quiet(one);
    const between = () => {
      return importTransfers(one.store, [memoryTransfer(3, OTHER, FRIEND, { chain: 'base' })]);
    };
    const said = await one.walk({ subject: SUBJECT, between });
    expect(said).not.toBeInstanceOf(Read);
    expect(sight(said).causes.map(({ why }) => why.code)).toContain('partial_history');
  });

  test('answers from the list that came into force during the walk', async () => {
    const one = await world();
    one.list([OTHER]);
    await importTransfers(one.store, [PAID_FRIEND, FRIEND_PAID]);
    await recordHeld(one.store, 'ethereum', null);
    await quiet(one);
    const between = async () => void one.list([OTHER, LISTED]);
    expect(pathIn(await one.walk({ subject: SUBJECT, between }))).toEqual(WAY);
    one.list([OTHER]);
    const first = async () => void one.list([OTHER, FRIEND]);
    expect(pathIn(await one.walk({ subject: SUBJECT, between: first }))).toEqual([SUBJECT, FRIEND]);
  });
});

test('a listed address that is not held in full leaves the walk to the old way', async () => {
  const one = await world();
  await importTransfers(one.store, [PAID_FRIEND]);
  await recordHeld(one.store, 'ethereum', [SUBJECT, FRIEND]);
  const said = await one.walk({ subject: SUBJECT });
  // The counterparty is held itself, so that the negative stands without the ring.
  expect(said).toBeInstanceOf(Read);
  const { ring } = sight(said);
  expect(ring instanceof Read || ring.why.reason).toContain(`${LISTED}: ethereum native none held`);
  await recordHeld(one.store, 'ethereum', [LISTED]);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await quiet(one);
});
