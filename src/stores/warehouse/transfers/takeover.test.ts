// A follower that was paused in the middle of a write, and whose chain another one has taken over
// meanwhile, leaves nothing that counts: not when it wakes, and not by what it still does then.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reading } from '../../../evidence/reading.ts';
import type { Following, Moved, TipBlock, TransferStore } from '../../../ports/indexing.ts';
import {
  chainOf as forkOf,
  given,
  KINDS,
  party,
  sightOf,
  tenure,
} from '../../../ports/transfer-store.suite.ts';
import { freshServedWarehouse } from '../../../testing/fresh-warehouse.ts';
import { trialsOf } from '../../../testing/trials.ts';
import type { Warehouse } from '../engine/executor.ts';
import { warehouseHistory } from '../history/warehouse.ts';
import { FINAL_TABLES, finalRows, tipRowsOf } from './standing-rows.suite.ts';
import { transferStore } from './store.ts';

const CALL = { timeoutMs: 30_000 };
const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const now = () => NOW;
/** Rows in other tables belong to past epochs. */
const TABLES = [...FINAL_TABLES, 'following'] as const;
const FOLLOWING: Following = {
  chain: 'ethereum',
  from_block: 1,
  kinds: KINDS,
  source: 'test',
  origin: 'observed',
};
/** More writes than the old follower makes. */
const WRITES_MAX = 80;
/** Each how many writes one is tried. With EXHIBIT_TEST_TRIALS=all it is each. */
const EACH = trialsOf('EXHIBIT_TEST_TRIALS', 7, 1);
const TRIALS_MAX_MS = 600_000;

/** The blocks of a fork, each of which makes a contract of its own. */
function chainOf(...of: Parameters<typeof forkOf>): TipBlock[] {
  return forkOf(...of).map((block) => {
    const { number, hash, time } = block;
    const made = { created: party(number + 500), creator: party(number), initiator: null };
    const at = { tx_hash: hash, block: number, block_hash: hash, block_time: time };
    return { ...block, creations: [{ chain: 'ethereum', ...made, ...at }] };
  });
}

let remote: Warehouse;

beforeAll(async () => {
  remote = await freshServedWarehouse();
});

afterAll(() => remote.close());

async function emptied(): Promise<void> {
  for (const table of TABLES) await remote.command(`TRUNCATE TABLE ${table}`, CALL);
}

/** A warehouse whose asker is paused before a write, by number or table, until it is woken. */
function pausedAt(at: number | 'coverage') {
  let writes = 0;
  let wake = (): void => undefined;
  let isPaused = (): void => undefined;
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const paused = new Promise<void>((resolve) => {
    isPaused = resolve;
  });
  const held = async (into: string, work: () => Promise<void>): Promise<void> => {
    writes += 1;
    if (writes === at || into === at) {
      isPaused();
      await woken;
    }
    await work();
  };
  const warehouse: Warehouse = {
    ...remote,
    insert: (table, source, call) => held(table, () => remote.insert(table, source, call)),
    command: (sql, options) =>
      held(String(/^INSERT INTO (\w+)/.exec(sql)?.[1]), () => remote.command(sql, options)),
  };
  return { warehouse, paused, wake };
}

type Told = Reading<Moved, never>;

/** All that an old follower does: blocks, finality, a roll-back, and blocks of another fork. */
async function oldCourse(store: TransferStore): Promise<readonly Told[]> {
  await store.follow(FOLLOWING, tenure());
  const chain = 'ethereum';
  return [
    await store.applyFinal(chain, chainOf(1, 2, 'A')),
    await store.applyTip(chain, chainOf(3, 2, 'A')),
    await store.applyTip(chain, chainOf(5, 3, 'A')),
    await store.finalise(chain, 4),
    await store.rollBack(chain, 5),
    await store.applyTip(chain, chainOf(6, 3, 'C', 'A')),
    await store.applyTip(chain, chainOf(9, 1, 'C')),
  ];
}

/** The blocks on which the new follower ends, whatever it found. */
const GOAL = [...chainOf(1, 4, 'A'), ...chainOf(5, 4, 'B', 'A')];

/** Takes over, undoes what is not on its chain, and goes on to the goal; 6 blocks are final. */
async function newCourse(store: TransferStore): Promise<void> {
  const chain = 'ethereum';
  let cursor = given(await store.follow(FOLLOWING, tenure()));
  const kept = cursor.tip.filter(({ number, hash }) => GOAL[number - 1]?.hash === hash);
  const own = kept.at(-1)?.number ?? cursor.final_block ?? 0;
  const moved = given(await store.rollBack(chain, own));
  if (!moved.moved) throw new Error(`refused: ${moved.refused}`);
  cursor = moved.cursor;
  given(await store.applyTip(chain, GOAL.slice(own)));
  given(await store.finalise(chain, 6));
}

async function seen(): Promise<unknown> {
  const status = given(await transferStore(remote, now).status());
  return { sight: await sightOf(warehouseHistory(remote, now)), status, ...(await standing()) };
}

/** Each row that counts, by its table. */
async function standing() {
  return { final: await finalRows(remote), tip: await tipRowsOf(remote, 'ethereum') };
}

/** The view if only the goal was ever followed. */
async function expected(): Promise<unknown> {
  await emptied();
  await newCourse(transferStore(remote, now));
  return await seen();
}

describe('a paused follower whose chain was taken over', () => {
  test(
    'at any of its writes changes nothing when it wakes, and nothing of it is left',
    async () => {
      const goal = await expected();
      let points = 0;
      for (let write = 1; write < WRITES_MAX; write += EACH) {
        await emptied();
        const { warehouse, paused, wake } = pausedAt(write);
        const old = oldCourse(transferStore(warehouse, now));
        if ((await Promise.race([paused.then(() => 'paused'), old])) !== 'paused') break;
        points += 1;
        await newCourse(transferStore(remote, now));
        expect(await seen(), `taken over at write ${write}`).toEqual(goal);
        wake();
        const told = await old;
        expect(await seen(), `woken at write ${write}`).toEqual(goal);
        const last = told.at(-1);
        expect(last?.checked === false && last.why.code).toBe('followed_elsewhere');
        const next = given(await transferStore(remote, now).cursor('ethereum'));
        expect(next?.tip.at(-1)?.hash).toBe(GOAL.at(-1)?.hash);
      }
      expect(points).toBeGreaterThan(20 / EACH);
    },
    TRIALS_MAX_MS,
  );

  /** Goes on from a tip of six blocks, of which five are final or none is. */
  async function endCourse(store: TransferStore, finalBlock: number | null): Promise<void> {
    const undone = given(await store.rollBack('ethereum', 2));
    const applied = async (...of: Parameters<typeof chainOf>) => {
      given(await store.applyTip('ethereum', chainOf(...of)));
    };
    if (finalBlock === null) return applied(3, 4, 'B', 'A');
    expect(undone).toMatchObject({ moved: false, refused: 'final' });
    await applied(7, 1, 'A');
  }

  /** The rows that stand where one follower alone went that way. */
  async function endRows(finalBlock: number | null) {
    await emptied();
    const only = transferStore(remote, now);
    given(await only.follow(FOLLOWING, tenure()));
    given(await only.applyTip('ethereum', chainOf(1, 6, 'A')));
    if (finalBlock !== null) given(await only.finalise('ethereum', finalBlock));
    await endCourse(only, finalBlock);
    return await standing();
  }

  test(
    'half-way through making blocks final leaves no row of its own in any table',
    async () => {
      const [none, five] = [await endRows(null), await endRows(5)];
      expect([none.final, five.tip]).toMatchObject([{}, { tip_blocks: [{}, {}] }]);
      const ends = new Set<unknown>();
      for (let write = 1; write < WRITES_MAX; write += EACH) {
        await emptied();
        const first = transferStore(remote, now);
        given(await first.follow(FOLLOWING, tenure()));
        given(await first.applyTip('ethereum', chainOf(1, 6, 'A')));
        const { warehouse, paused, wake } = pausedAt(write);
        const old = transferStore(warehouse, now);
        const oldWork = old.follow(FOLLOWING, tenure()).then(() => old.finalise('ethereum', 5));
        if ((await Promise.race([paused.then(() => 'paused'), oldWork])) !== 'paused') break;
        const next = transferStore(remote, now);
        const { final_block } = given(await next.follow(FOLLOWING, tenure()));
        ends.add(final_block);
        wake();
        await oldWork;
        await endCourse(next, final_block);
        const goal = final_block === null ? none : five;
        expect(await standing(), `woken at write ${write}`).toEqual(goal);
      }
      expect([...ends].sort()).toEqual([5, null]);
    },
    TRIALS_MAX_MS,
  );

  test('that changes the tip while it is copied has it copied again', async () => {
    await emptied();
    const old = transferStore(remote, now);
    given(await old.follow(FOLLOWING, tenure()));
    given(await old.applyTip('ethereum', chainOf(1, 6, 'A')));
    let meddled = 0;
    const meanwhile: Warehouse = {
      ...remote,
      command: async (sql, options) => {
        await remote.command(sql, options);
        if (!sql.startsWith('INSERT INTO tip_transfers') || meddled > 0) return;
        meddled += 1;
        // It was already on its way when the chain was claimed.
        await old.applyTip('ethereum', chainOf(7, 2, 'A'));
      },
    };
    const cursor = given(await transferStore(meanwhile, now).follow(FOLLOWING, tenure()));
    expect(meddled).toBe(1);
    expect(cursor.tip.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const found = await seen();
    await emptied();
    const straight = transferStore(remote, now);
    given(await straight.follow(FOLLOWING, tenure()));
    given(await straight.applyTip('ethereum', chainOf(1, 8, 'A')));
    expect(found).toEqual(await seen());
  });
});

describe('coverage of a chain that is followed', () => {
  const ALL: Following = { ...FOLLOWING, chain: 'polygon' };
  const FEWER: Following = { ...ALL, kinds: ['native', 'token'] };
  const blocks = (...of: Parameters<typeof chainOf>) => {
    return chainOf(...of).map((block) => {
      const transfers = block.transfers.map((one) => ({ ...one, chain: 'polygon' as const }));
      return { ...block, transfers, creations: [] };
    });
  };

  test('is not recorded by one that was paused while it went on under other terms', async () => {
    const follow = (on: Warehouse, terms: Following) => {
      return transferStore(on, now).follow(terms, tenure());
    };
    await emptied();
    const first = transferStore(remote, now);
    given(await first.follow(ALL, tenure()));
    given(await first.applyTip('polygon', blocks(1, 6, 'A')));
    given(await first.finalise('polygon', 3));
    const { warehouse, paused, wake } = pausedAt('coverage');
    const old = follow(warehouse, FEWER);
    await paused;
    await follow(remote, ALL);
    const standing = await finalRows(remote);
    wake();
    expect((await old).checked).toBe(false);
    expect(await finalRows(remote)).toEqual(standing);
    expect(Object.keys(standing)).not.toContain('coverage');
  });
});
