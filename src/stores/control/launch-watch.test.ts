// The watch over launches: each way in which a source did not show all of a window is a gap that
// names it, and a store that is silent is unread.

import { expect, test, vi } from 'vitest';
import { basis, Read, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { WATCHED_SOURCES, type WatchedSource } from '../../ports/rug-flags.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine } from '../../testing/control-store.ts';
import { launchOf, walkOf } from '../../testing/deployer-worlds.ts';
import { modelInForce } from '../../testing/rug-models.ts';
import { deployerWalkTable } from './deployers.ts';
import { type Database, storeTime } from './engine/database.ts';
import { launchWatchTable } from './launch-watch.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const ALL_SET = { explorer: [], node: [], venue: [] } as const;
const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const BOTH = ['ethereum', 'solana'];
const HOURS_AGO = (hours: number) => storeTime(STILL_NOW - hours * HOUR_S);
const address = (n: number) => `0x${String(n).padStart(40, '0')}`;

type Asked = Partial<Parameters<typeof launchWatchTable>[2]>;

function watchIn(database: Database, over: Asked = {}) {
  const settles = { afterS: DAY_S, lateS: 3 * DAY_S };
  const parts = { inForce: modelInForce(BOTH), unset: ALL_SET, settles, ...over };
  return launchWatchTable(database, CONTEXT, parts);
}

/** Every gap, source by source. */
async function gapsIn(database: Database, over: Asked = {}): Promise<string[]> {
  const watch = watchIn(database, over);
  const gaps: string[] = [];
  for (const source of WATCHED_SOURCES) {
    const reading = await watch.gapsOf(source, DAY_S);
    if (!reading.checked) throw new Error(reading.why.reason);
    gaps.push(...reading.value.map((gap) => `${source}: ${gap}`));
  }
  return gaps;
}

type Walk = Parameters<ReturnType<typeof deployerWalkTable>['commit']>[0];

/** A wallet that was walked to the end an hour ago, but for what is given. */
async function putWalked(database: Database, hours = 1, change: Partial<Walk> = {}, n = 1) {
  const launches = [launchOf('a', 'live', { created_at: STILL_NOW - 50 * HOUR_S })];
  const walk = { ...walkOf(address(n), { launches }), captured_at: STILL_NOW - hours * HOUR_S };
  await deployerWalkTable(database, CONTEXT).commit({ ...walk, ...change });
}

/** An account of Solana that was read from a week ago until now, but for what is given. */
async function putCollected(database: Database, reached = 0, since = 168) {
  await database.query(
    `insert into launch_cursors (watched, since, reached_at) values ('program', $1, $2)`,
    [HOURS_AGO(since), HOURS_AGO(reached)],
  );
}

function putWaiting(database: Database, at: string, n = 9) {
  return database.query(
    `insert into deployer_queue (address, asked_at, due_at)
     values ($1, control_now(), ${at})`,
    [address(n)],
  );
}

async function putLaunched(database: Database, hours: number) {
  await database.query(
    `insert into collected_launches
       (mint, deployer, made_by, signature, slot, launched_at, due_at)
     values ('mint', 'wallet', 'pump_create', 'sig', 7, $1, $1)`,
    [HOURS_AGO(hours)],
  );
}

const UNDETERMINED = [{ address: address(77), reason: 'undetermined' as const }];

onEachEngine((name, fresh) => {
  test(`${name}: a window of both chains that was watched from end to end has no gap`, async () => {
    const database = fresh();
    await putWalked(database);
    await putCollected(database);
    await putLaunched(database, 29);
    expect(await gapsIn(database)).toEqual([]);
    const watch = watchIn(database);
    const asOf = async (source: WatchedSource) => basis(await watch.gapsOf(source, DAY_S)).sources;
    expect(await asOf('queue')).toMatchObject([{ as_of: STILL_NOW - HOUR_S }]);
    expect(await asOf('collection')).toMatchObject([{ as_of: STILL_NOW }]);
  });

  test.each<[string, (database: Database) => Promise<unknown>, readonly string[]]>([
    [
      'nobody ever walked',
      async () => undefined,
      ['explorer: ethereum: no wallet was walked to the end'],
    ],
    [
      'walks have failed for 25 hours',
      (database) => putWalked(database, 25),
      [
        'explorer: ethereum: no wallet was walked to the end',
        'queue: ethereum: wallets that were last walked before: 1',
      ],
    ],
    [
      'a wallet that was found empty was not walked again',
      async (database) => {
        await putWalked(database);
        await putWalked(database, 25, { launches: [] }, 2);
      },
      ['queue: ethereum: wallets that were last walked before: 1'],
    ],
    [
      'a walk was cut',
      async (database) => {
        await putWalked(database);
        await putWalked(database, 1, { truncated: true, read_from: null }, 2);
      },
      ['explorer: ethereum: wallets whose contracts were read in part: 1'],
    ],
    [
      'a young contract could not be told',
      async (database) => {
        await putWalked(database);
        const read_from = STILL_NOW - DAY_S;
        await putWalked(database, 1, { skipped: UNDETERMINED, read_from }, 2);
      },
      ['explorer: ethereum: wallets whose contracts were read in part: 1'],
    ],
    [
      'a contract could not be told, and a version before does not say how old it is',
      async (database) => {
        await putWalked(database);
        await putWalked(database, 1, { skipped: UNDETERMINED }, 2);
      },
      ['explorer: ethereum: wallets whose contracts were read in part: 1'],
    ],
    [
      'a wallet waits to be walked that has no record of the window',
      async (database) => {
        await putWalked(database);
        await putWaiting(database, 'control_now()');
      },
      ['queue: ethereum: wallets that wait to be walked: 1'],
    ],
  ])(`${name}: a window of Ethereum is not watched where %s`, async (_, plant, gaps) => {
    const database = fresh();
    await plant(database);
    expect(await gapsIn(database, { inForce: modelInForce(['ethereum']) })).toEqual(gaps);
  });

  test(`${name}: an old contract that could not be told, and a wallet that is walked again, hide nothing`, async () => {
    const database = fresh();
    await putWalked(database);
    const read_from = STILL_NOW - 40 * DAY_S;
    await putWalked(database, 1, { skipped: UNDETERMINED, truncated: true, read_from }, 2);
    await putWaiting(database, 'control_now()', 2);
    expect(await gapsIn(database, { inForce: modelInForce(['ethereum']) })).toEqual([]);
  });

  test.each<[string, (database: Database) => Promise<unknown>, string]>([
    [
      'nothing was ever collected',
      async () => undefined,
      'collection: solana: its launches were never collected here',
    ],
    [
      'the node is 30 hours behind',
      (database) => putCollected(database, 30),
      'node: solana: collected up to 2026-09-23T06:00:00.000Z only',
    ],
    [
      'collection began within it',
      (database) => putCollected(database, 0, 2),
      'collection: solana: collected since 2026-09-24T10:00:00.000Z only',
    ],
    [
      'transactions of it were not read',
      async (database) => {
        await putCollected(database);
        await database.query(
          `insert into launch_gaps (watched, from_at, to_at, missed_s, reason)
           values ('program', $1, $1, 1, 'unlisted'), ('program', $2, $2, 1, 'unlisted')`,
          [HOURS_AGO(3), HOURS_AGO(25)],
        );
      },
      'collection: solana: gaps in what was collected: 1',
    ],
    [
      'the venue did not tell in time what became of a launch',
      async (database) => {
        await putCollected(database);
        await putLaunched(database, 31);
      },
      'venue: solana: launches of which the venue did not tell in time: 1',
    ],
  ])(`${name}: a window of Solana is not watched where %s`, async (_, plant, gap) => {
    const database = fresh();
    await plant(database);
    expect(await gapsIn(database, { inForce: modelInForce(['solana']) })).toEqual([gap]);
  });

  test(`${name}: a source that is not set was not asked, whatever was read before`, async () => {
    const database = fresh();
    await putWalked(database);
    await putCollected(database);
    const unset = { explorer: ['E'], node: ['N'], venue: ['V'] };
    expect(await gapsIn(database, { unset })).toEqual([
      'explorer: ethereum: not watched without E',
      'node: solana: not watched without N',
      'venue: ethereum: not watched without V',
      'venue: solana: not watched without V',
    ]);
  });

  test(`${name}: what no model looks at is not waited for, and a store that is silent is unread`, async () => {
    const database = fresh();
    const none = unread('published_model', why('model_not_published'));
    expect(await gapsIn(database, { inForce: async () => none })).toEqual([]);
    const away = unread('published_model', why('store_unreadable', { what: 'It', fault: 'x' }));
    const silent = watchIn(database, { inForce: async () => away });
    expect(await silent.gapsOf('queue', DAY_S)).toBeInstanceOf(Unread);
    expect(await watchIn(database).gapsOf('queue', DAY_S)).toBeInstanceOf(Read);
    database.silence('it is away');
    for (const source of WATCHED_SOURCES) {
      expect(await watchIn(database).gapsOf(source, DAY_S)).toBeInstanceOf(Unread);
    }
    database.silence(null);
  });
});
