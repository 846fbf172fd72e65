import { expect, test, vi } from 'vitest';
import { imported, valueIn } from '../../ports/imported-table.suite.ts';
import { launchOf } from '../../ports/launches.suite.ts';
import type { Launch } from '../../ports/launches.ts';
import { walletLaunchesKeep } from '../../ports/wallet-launches.suite.ts';
import { IMPORTED_AT, onEachEngine, walletLaunchesIn } from '../../testing/imported-tables.ts';
import { memoryWalletLaunches } from '../../testing/twins/deployers.ts';
import { LAUNCH_WINDOW_S, launchCorpus } from '../tables/launches.ts';
import { holdOutOf } from './hold-out.ts';

vi.setConfig({ testTimeout: 60_000 });

walletLaunchesKeep('a memory', async (world) =>
  memoryWalletLaunches({ ...world, as_of: IMPORTED_AT }),
);

const DAY_S = 86_400;
const HOUR_S = 3_600;

onEachEngine(({ empty, database, fallSilent }) => {
  walletLaunchesKeep('the control store', async ({ launches, simulated }) => {
    const store = await empty(launchCorpus);
    const origin = simulated ? 'simulated' : 'observed';
    if (launches !== null) await imported(store, 'one', launches, { origin });
    return walletLaunchesIn(database());
  });

  test('of a mint that several imports saw, its better row alone counts', async () => {
    const store = await empty(launchCorpus);
    await imported(store, 'one', [launchOf('mint-a', 'wallet-a', null)]);
    await imported(store, 'two', [
      launchOf('mint-a', 'wallet-b', false),
      launchOf('mint-b', 'wallet-a', true),
    ]);
    const held = walletLaunchesIn(database());
    expect(valueIn(await held.of('wallet-a'))).toMatchObject({ settled: 1, waiting: [] });
    expect(valueIn(await held.of('wallet-b'))).toMatchObject({ settled: 1, died: 1 });
    expect(valueIn(await held.launchOf('mint-a')).launch).toMatchObject({ deployer: 'wallet-b' });
  });

  test('an import that completes is told of within seconds', async () => {
    const store = await empty(launchCorpus);
    let now = IMPORTED_AT;
    const held = walletLaunchesIn(database(), () => now);
    const before = await held.of('wallet-a');
    expect(before.checked).toBe(false);
    await imported(store, 'one', [launchOf('mint-a', 'wallet-a', false)]);
    expect(valueIn(await held.of('wallet-a')).corpus.settled_launches).toBe(1);
    await imported(store, 'one', [launchOf('mint-b', 'wallet-b', false)]);
    now += 10;
    expect(valueIn(await held.of('wallet-a')).corpus.settled_launches).toBe(2);
  });

  test('is unread while the store is down', async () => {
    const store = await empty(launchCorpus);
    await imported(store, 'one', [launchOf('mint-a', 'wallet-a', false)]);
    const held = walletLaunchesIn(database());
    fallSilent(true);
    expect((await held.of('wallet-a')).checked).toBe(false);
    fallSilent(false);
    expect((await held.of('wallet-a')).checked).toBe(true);
  });

  async function collected(at: number): Promise<void> {
    await database().query(
      `insert into launch_cursors (watched, since, reached_at)
       values ('account', to_timestamp($1), to_timestamp($2))`,
      [at - DAY_S, at],
    );
  }

  test('a collection of over 48 hours ago still tells what it holds, and misses nobody', async () => {
    const store = await empty(launchCorpus);
    await imported(store, 'one', [launchOf('mint-a', 'wallet-a', false)]);
    await collected(IMPORTED_AT - 48 * HOUR_S - 1);
    const held = walletLaunchesIn(database());
    expect(valueIn(await held.of('wallet-a'))).toMatchObject({ settled: 1 });
    const missed = await held.of('wallet-b');
    if (missed.checked) throw new Error('a miss was said');
    expect(missed.why).toEqual({
      code: 'launch_collection_stale',
      reason:
        'Launches were collected up to 2026-11-19T11:59:59.000Z only; past 48 hours a miss shows ' +
        'no absence.',
    });
    expect((await held.launchOf('mint-b')).checked).toBe(false);
    await database().query('delete from launch_cursors');
    await collected(IMPORTED_AT - 48 * HOUR_S);
    expect((await walletLaunchesIn(database()).of('wallet-b')).checked).toBe(true);
  });

  test('a launch that was collected waits, is known by its mint, and counts once', async () => {
    const store = await empty(launchCorpus);
    await imported(store, 'one', [launchOf('mint-a', 'wallet-a', false)]);
    await collected(IMPORTED_AT);
    await database().query(
      `insert into collected_launches
         (mint, deployer, made_by, signature, slot, launched_at, due_at)
       select mint, 'wallet-a', 'pump_create', 'sig-' || mint, 7, to_timestamp($1), now()
         from unnest(array['mint-a', 'mint-b']) mint`,
      [IMPORTED_AT - 60],
    );
    const held = walletLaunchesIn(database());
    expect(valueIn(await held.of('wallet-a'))).toMatchObject({ settled: 1, waiting: ['mint-b'] });
    expect(valueIn(await held.launchOf('mint-b')).launch).toEqual({
      deployer: 'wallet-a',
      launched_at: IMPORTED_AT - 60,
      signature: 'sig-mint-b',
    });
  });

  test('what was told in the first second of the split was not known before it', async () => {
    const split = Date.UTC(2026, 9, 1) / 1_000;
    const launched = (mint: string, launched_at: number, last_checked_at: number): Launch => {
      return { ...launchOf(mint, 'wallet-a', false), launched_at, last_checked_at };
    };
    const after = launched('mint-z', split + DAY_S, split + 3 * DAY_S);
    for (const [last_checked_at, flagged] of [
      [split - 1, 1],
      [split, 0],
    ] as const) {
      const launches = [launched('mint-a', split - 2 * DAY_S, last_checked_at), after];
      const store = await empty(launchCorpus);
      await imported(store, 'one', launches);
      const told = valueIn(await walletLaunchesIn(database()).heldOut('2026-10-01'));
      expect(told).toMatchObject({
        flagged: { launches: flagged },
        rest: { launches: 1 - flagged },
        history: { launches: flagged },
      });
      expect(told).toEqual(holdOutOf(launches, '2026-10-01'));
    }
  });

  test('the flag is worth what an independent count of the same launches says', async () => {
    const store = await empty(launchCorpus);
    const launches = Array.from({ length: 2_000 }, (_, i): Launch => {
      const launched_at = IMPORTED_AT - 60 * DAY_S + i * 2_500;
      const listed = i % 7 === 3 ? null : (i * 7_919) % 11 === 0;
      // Of every fifth the venue told nothing for weeks: nobody knew of it at an earlier split.
      const last_checked_at = launched_at + LAUNCH_WINDOW_S + (i % 5 === 2 ? 21 * DAY_S : 0);
      const launch = launchOf(`mint-${i}`, `wallet-${(i * 31) % 211}`, listed);
      return { ...launch, launched_at, last_checked_at };
    });
    await imported(store, 'one', launches);
    const held = walletLaunchesIn(database());
    for (const split of ['2026-10-01', '2026-11-01']) {
      const told = valueIn(await held.heldOut(split));
      expect(told).toEqual(holdOutOf(launches, split));
      expect(told?.flagged.launches).toBeGreaterThan(50);
    }
    expect(valueIn(await held.heldOut('2026-12-01'))).toBeNull();
  });
});
