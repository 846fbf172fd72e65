// The promises of the store on the embedded engine and on one that is reached over HTTP, and what a
// crash at any of its writes leaves.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FollowCursor, Following } from '../../../ports/indexing.ts';
import {
  chainOf,
  given,
  KINDS,
  NONE,
  sightOf,
  tenure,
  transferFact,
  transferStoreKeeps,
} from '../../../ports/transfer-store.suite.ts';
import { freshServedWarehouse, freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import { trialsOf } from '../../../testing/trials.ts';
import type { EmbeddedWarehouse } from '../engine/embedded.ts';
import type { Warehouse } from '../engine/executor.ts';
import { lostAt } from '../engine/lost-writes.suite.ts';
import { warehouseHistory } from '../history/warehouse.ts';
import { transferStore } from './store.ts';

const CALL = { timeoutMs: 30_000 };
const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const now = () => NOW;
/** Every table that holds facts. */
const TABLES = [
  ...['transfers_written', 'transfers_counted'],
  ...['transfers', 'sides', 'blocks', 'transactions', 'creations', 'creators', 'coverage'],
  ...['address_coverage', 'degrees', 'tokens', 'following', 'follow_claims'],
  ...['tip_blocks', 'tip_transfers', 'tip_sides', 'tip_creations'],
] as const;

let warehouse: EmbeddedWarehouse;
let remote: Warehouse;

beforeAll(async () => {
  warehouse = await freshWarehouse();
  remote = await freshServedWarehouse();
});

afterAll(async () => {
  for (const one of [remote, warehouse]) await one.close();
});

async function emptied(one: Warehouse = warehouse): Promise<void> {
  for (const table of TABLES) await one.command(`TRUNCATE TABLE ${table}`, CALL);
}

async function underTest(one: Warehouse) {
  await emptied(one);
  return {
    store: transferStore(one, now),
    history: () => warehouseHistory(one, now),
    restarted: () => transferStore(one, now),
    close: async () => undefined,
  };
}

transferStoreKeeps('embedded', () => underTest(warehouse));
transferStoreKeeps('remote', () => underTest(remote));

const FOLLOWING: Following = {
  chain: 'ethereum',
  from_block: 1,
  kinds: KINDS,
  source: 'test',
  origin: 'observed',
};
/** The final state: the second half is another fork's than the one that came first. */
const GOAL = [...chainOf(1, 4, 'A'), ...chainOf(5, 4, 'B', 'A')];
/** More writes than any of the courses below takes, and each how many of them one is lost. */
const WRITES_MAX = 60;
const EACH = trialsOf('EXHIBIT_TEST_TRIALS', 4, 1);

/** Follows a fork, a re-org and finality, going on from wherever the cursor stands. */
async function course(on: Warehouse): Promise<'done' | 'cut off'> {
  const store = transferStore(on, now);
  const chain = 'ethereum';
  const begun = await store.follow(FOLLOWING, tenure());
  if (!begun.checked) return 'cut off';
  let cursor: FollowCursor = begun.value;
  for (let turn = 0; turn < WRITES_MAX; turn += 1) {
    const [next, at] = stepFrom(cursor);
    if (next === 'done') return 'done';
    const moved =
      next === 'fork'
        ? await store.applyTip(chain, chainOf(5, 2, 'A'))
        : next === 'back'
          ? await store.rollBack(chain, 4)
          : next === 'final'
            ? await store.finalise(chain, 6)
            : await store.applyTip(chain, GOAL.slice(at, at + 2));
    if (!moved.checked) return 'cut off';
    cursor = moved.value.cursor;
  }
  throw new Error('the course does not end');
}

let forked = false;

/** Blocks 1 to 4, then two of a lost fork, back, then 5 to 8 of the other; 6 are final. */
function stepFrom(
  cursor: FollowCursor,
): readonly ['done' | 'fork' | 'back' | 'final' | 'grow', number] {
  const last = cursor.tip.at(-1);
  const at = last === undefined ? (cursor.final_block ?? 0) : last.number;
  if (last !== undefined && GOAL[at - 1]?.hash !== last.hash) {
    forked = true;
    return ['back', at];
  }
  if (at === 4 && !forked) return ['fork', at];
  if (at < GOAL.length) return ['grow', at];
  return cursor.final_block === 6 ? ['done', at] : ['final', at];
}

describe('a crash', () => {
  test('at any write of following leaves, after a restart, what no crash would have left', async () => {
    await emptied();
    const straight = transferStore(warehouse, now);
    given(await straight.follow(FOLLOWING, tenure()));
    given(await straight.applyTip('ethereum', GOAL));
    given(await straight.finalise('ethereum', 6));
    const expected = await sightOf(warehouseHistory(warehouse, now));
    const status = given(await straight.status());
    let points = 0;
    for (let write = 1; write < WRITES_MAX; write += EACH) {
      const moment = points % 2 === 0 ? 'after' : 'before';
      await emptied();
      forked = false;
      const first = await course(lostAt(warehouse, write, moment));
      if (first === 'done') break;
      points += 1;
      expect(await course(warehouse)).toBe('done');
      expect(await sightOf(warehouseHistory(warehouse, now))).toEqual(expected);
      expect(given(await transferStore(warehouse, now).status())).toEqual(status);
    }
    expect(points).toBeGreaterThan(10 / EACH);
  }, 120_000);

  test('at any write of an import is healed by importing again', async () => {
    await emptied();
    const transfers = [1, 2, 3].map((tx) => transferFact(tx, { initiator: null, success: null }));
    const transactions = transfers.map(({ tx_hash, block, from }) => {
      return { chain: 'ethereum', tx_hash: String(tx_hash), block, initiator: from } as const;
    });
    const signed = transactions.map((one) => ({ ...one, success: true }));
    const facts = { ...NONE, transfers, transactions: signed };
    const provenance = { source: 'test', origin: 'observed', import_id: 'test' } as const;
    given(await transferStore(warehouse, now).appendImported(facts, provenance));
    const expected = await sightOf(warehouseHistory(warehouse, now));
    let points = 0;
    for (let write = 1; write < WRITES_MAX; write += 1) {
      await emptied();
      const store = transferStore(lostAt(warehouse, write, 'before'), now);
      const first = await store.appendImported(facts, provenance);
      if (first.checked) break;
      points += 1;
      given(await transferStore(warehouse, now).appendImported(facts, provenance));
      expect(await sightOf(warehouseHistory(warehouse, now))).toEqual(expected);
    }
    expect(points).toBeGreaterThan(1);
  });

  test('of the engine itself, killed while blocks are applied, leaves no gap and no double', async () => {
    await emptied();
    const { chain } = FOLLOWING;
    const blocks = chainOf(1, 40, 'A');
    given(await transferStore(warehouse, now).follow(FOLLOWING, tenure()));
    let killed = 0;
    for (let turn = 0; turn < 1_000; turn += 1) {
      const store = transferStore(warehouse, now);
      const begun = await store.follow(FOLLOWING, tenure());
      if (!begun.checked) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        continue;
      }
      const last = begun.value.tip.at(-1)?.number ?? 0;
      if (last === blocks.length) break;
      const pid = warehouse.pid();
      const applied = store.applyTip(chain, blocks.slice(last, last + 5));
      if (killed < 3 && pid !== undefined) {
        process.kill(pid, 'SIGKILL');
        killed += 1;
      }
      await applied;
    }
    expect(killed).toBe(3);
    const sight = await sightOf(warehouseHistory(warehouse, now));
    await emptied();
    const straight = transferStore(warehouse, now);
    given(await straight.follow(FOLLOWING, tenure()));
    given(await straight.applyTip(chain, blocks));
    expect(sight).toEqual(await sightOf(warehouseHistory(warehouse, now)));
  }, 60_000);
});
