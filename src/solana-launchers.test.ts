// A launch of Solana credits only the signer for the mint itself, if that was read, whoever makes a
// pool and whatever comes first: over a node, a venue, the store and the routes.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { collectAccount, creditAgain } from './features/launches/collect.ts';
import { settleRound } from './features/launches/settle.ts';
import { LAUNCH_WINDOW_S, launchCorpus } from './features/tables/launches.ts';
import { imported, valueIn } from './ports/imported-table.suite.ts';
import { launchOf } from './ports/launches.suite.ts';
import { SETTLED_HERE, type SeenLaunch } from './ports/launches.ts';
import { dexscreenerListings } from './sources/dexscreener/venue.ts';
import { providerGuard } from './sources/http/provider.ts';
import { solanaLaunchFeed, WATCHED_ACCOUNTS } from './sources/solana/launches.ts';
import { launchCollectionTable } from './stores/control/launch-collection.ts';
import { launchScoringTable } from './stores/control/launch-scoring.ts';
import { eventsAfter } from './testing/flag-events.ts';
import { keptTables, walletLaunchesIn } from './testing/imported-tables.ts';
import { rowsAs } from './testing/rows-as.ts';
import { key, launchesAtPump, makesMint, namesMint, poolsMint } from './testing/solana-entries.ts';
import { type StartedSolana, startSolana } from './world/solana-api.ts';
import type { WorldEntry } from './world/solana-transactions.ts';
import { type StartedVenue, startVenue } from './world/venue-api.ts';

vi.setConfig({ testTimeout: 60_000 });

const RUG_1 = { version: 'rug-1', scored_within_h: 24 };
const NOON = Date.UTC(2026, 10, 21, 12) / 1_000;
const HOUR_S = 3_600;
const DAY_S = 86_400;
const [PUMP = '', , CPMM = ''] = WATCHED_ACCOUNTS;
const [MINT, MAKER, STRANGER, KEEPER] = ['mint', 'maker', 'stranger', 'keeper'].map(key) as [
  string,
  string,
  string,
  string,
];

let now = NOON;
let shown: readonly WorldEntry[] = [];
let node: StartedSolana;
let venue: StartedVenue;
const { empty, database } = keptTables();
const signal = new AbortController().signal;
const context = { simulated: false, nowMs: () => now * 1_000 };
const windows = { windowS: LAUNCH_WINDOW_S, lateS: 3 * DAY_S };

beforeAll(async () => {
  node = await startSolana(
    () => [],
    () => shown,
  );
  venue = await startVenue(() => []);
});
afterAll(async () => {
  await node.close();
  await venue.close();
});
beforeEach(() => {
  now = NOON;
  shown = [];
  node.fault(() => null);
});

async function fresh() {
  const table = await empty(launchCorpus, () => now);
  await database().query(
    'truncate launch_scores, scored_wallets, flag_events, flag_log, launch_fates cascade',
  );
  const limits = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 999, restMs: 1 };
  const guard = providerGuard(limits, () => performance.now());
  const asked = { guard, timeMs: 30_000, callsMax: 50, simulated: false, now: () => now };
  const feed = solanaLaunchFeed({ url: node.url, pagesMax: 2, ...asked });
  const collection = launchCollectionTable(database(), context, windows);
  const how = { ...asked, url: venue.url, chain: 'solana', exitLiquidityUsd: 1_000 } as const;
  const listings = dexscreenerListings(how);
  const bounds = { transactionsMax: 500, stepMax: 5, attemptsMax: 3 };
  const origin = 'observed' as const;
  const settling = { collection, listings, table, origin, now: () => now };
  return {
    table,
    feed,
    collection,
    scoring: launchScoringTable(database(), context, () => undefined),
    collect: (account: string) =>
      collectAccount({ feed, collection, limits: bounds }, account, signal),
    creditAgain: () => creditAgain({ feed, collection }, signal),
    settle: () => settleRound({ ...settling, limits: { launchesMax: 100, atOnce: 2 } }, signal),
    wallets: walletLaunchesIn(database(), () => now),
  };
}

type Kept = Pick<SeenLaunch, 'mint' | 'deployer' | 'credited_by' | 'made_by' | 'launched_at'>;

function kept(): Promise<Kept[]> {
  return rowsAs<Kept>(
    database(),
    `select mint, deployer, credited_by, made_by,
       extract(epoch from launched_at)::float8 as launched_at
     from collected_launches order by mint`,
  );
}

function gaps(): Promise<{ readonly reason: string }[]> {
  return rowsAs(database(), 'select reason from launch_gaps order by id');
}

const pooledAt = (by: string, at = NOON) => poolsMint({ mint: MINT, by, at });
const launch = (deployer: string) => ({
  mint: MINT,
  deployer,
  credited_by: 'first_transaction',
  made_by: 'raydium_cpmm.initialize',
  launched_at: NOON,
});

test('a pool credits who made the mint hours before, and not who made the pool', async () => {
  const { collect } = await fresh();
  shown = [makesMint({ mint: MINT, by: MAKER, at: NOON - 5 * HOUR_S }), pooledAt(STRANGER)];
  await collect(CPMM);
  expect(await kept()).toEqual([launch(MAKER)]);
  expect(await gaps()).toEqual([]);
});

test('whoever waits days between mint and pool is credited with it all the same', async () => {
  const { collect } = await fresh();
  shown = [makesMint({ mint: MINT, by: MAKER, at: NOON - 40 * DAY_S }), pooledAt(MAKER)];
  await collect(CPMM);
  expect(await kept()).toEqual([launch(MAKER)]);
});

test.each([
  ['lists the pool alone', () => [pooledAt(STRANGER)]],
  [
    'lists what came after the mint was made',
    () => [namesMint({ mint: MINT, by: MAKER, at: NOON - HOUR_S }), pooledAt(STRANGER)],
  ],
])('a node that prunes and %s shows no launcher: that is a gap', async (_, entries) => {
  const { collect } = await fresh();
  shown = entries();
  expect(await collect(CPMM)).toMatchObject({ launches: 0, gaps: 1, whole: true });
  expect(await kept()).toEqual([]);
  expect(await gaps()).toEqual([
    { reason: 'who made a mint: the node lists no transaction that made it' },
  ]);
});

test('a mint whose history is silent is asked for again, and is nobody’s meanwhile', async () => {
  const { collect } = await fresh();
  shown = [makesMint({ mint: MINT, by: MAKER, at: NOON - HOUR_S }), pooledAt(STRANGER)];
  node.fault((_, about) => (about === MINT ? 'error500' : null));
  expect(await collect(CPMM)).toMatchObject({ launches: 0, whole: false, failed: {} });
  expect(await kept()).toEqual([]);
  node.fault(() => null);
  await collect(CPMM);
  expect(await kept()).toEqual([launch(MAKER)]);
});

test('lamports sent to the address of a mint before it is made hide nobody', async () => {
  const { collect } = await fresh();
  const named = ['one', 'two', 'three'].map((as, n) =>
    namesMint({ mint: MINT, by: STRANGER, at: NOON - 2 * HOUR_S - n, as }),
  );
  shown = [...named, makesMint({ mint: MINT, by: MAKER, at: NOON - HOUR_S }), pooledAt(STRANGER)];
  await collect(CPMM);
  expect(await kept()).toEqual([launch(MAKER)]);
});

test('of several who signed for a mint only who made the pool too is credited', async () => {
  const { collect } = await fresh();
  const made = makesMint({ mint: MINT, by: KEEPER, at: NOON - HOUR_S }, MAKER);
  shown = [made, pooledAt(MAKER)];
  await collect(CPMM);
  expect(await kept()).toEqual([launch(MAKER)]);
  const again = await fresh();
  shown = [made, pooledAt(STRANGER)];
  await again.collect(CPMM);
  expect(await kept()).toEqual([]);
});

test('a pool of an established token launches nothing; of a young one it is a gap', async () => {
  const { collect } = await fresh();
  const busy = (since: number) =>
    Array.from({ length: 2_001 }, (_, n) =>
      namesMint({ mint: MINT, by: STRANGER, at: NOON - since - n, as: String(n) }),
    );
  shown = [...busy(31 * DAY_S), pooledAt(STRANGER)];
  expect(await collect(CPMM)).toMatchObject({ launches: 0, gaps: 0, whole: true });
  const again = await fresh();
  shown = [...busy(DAY_S), pooledAt(STRANGER)];
  expect(await again.collect(CPMM)).toMatchObject({ launches: 0, gaps: 1, whole: true });
  expect(await gaps()).toEqual([
    { reason: 'who made a mint: over 2000 transactions name it before its pool' },
  ]);
  expect(await kept()).toEqual([]);
});

test('the keeper of a launchpad’s migration is credited with nothing', async () => {
  const { collect } = await fresh();
  const launched = launchesAtPump({ mint: MINT, by: MAKER, at: NOON - 3 * HOUR_S });
  shown = [launched, poolsMint({ mint: MINT, by: KEEPER, at: NOON }, 'pump')];
  await collect(CPMM);
  expect([await kept(), await gaps()]).toEqual([[], []]);
  // A keeper that makes the pool itself shows whose launch it was, and when that was.
  const again = await fresh();
  shown = [launched, pooledAt(KEEPER)];
  await again.collect(CPMM);
  const creation = { credited_by: 'creation', made_by: 'pump.create', mint: MINT };
  expect(await kept()).toEqual([{ ...creation, deployer: MAKER, launched_at: NOON - 3 * HOUR_S }]);
});

test('a launch on record leaves no gap where a node no longer shows who made the mint', async () => {
  const { collect } = await fresh();
  const launched = launchesAtPump({ mint: MINT, by: MAKER, at: NOON - 3 * HOUR_S });
  shown = [launched];
  await collect(PUMP);
  shown = [pooledAt(KEEPER)];
  await collect(CPMM);
  expect(await kept()).toMatchObject([{ deployer: MAKER, credited_by: 'creation' }]);
  expect(await gaps()).toEqual([]);
});

test('whatever is collected first, a creation holds before a pool, then the lower slot', async () => {
  const seen = fc.record({
    mint: fc.constantFrom('a', 'b', 'c'),
    deployer: fc.constantFrom(MAKER, STRANGER, KEEPER),
    credited_by: fc.constantFrom('creation' as const, 'first_transaction' as const),
    slot: fc.nat({ max: 4 }),
    signature: fc.constantFrom('x', 'y', 'Z'),
  });
  const all = fc.uniqueArray(seen, {
    minLength: 2,
    maxLength: 12,
    // One transaction shows one launch of a mint.
    selector: ({ mint, slot, signature }) => `${mint} ${slot} ${signature}`,
  });
  const orders = all.chain((list) =>
    fc.record({
      list: fc.constant(list),
      order: fc.shuffledSubarray(list, { minLength: list.length }),
      cuts: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 12, maxLength: 12 }),
    }),
  );
  const { collection } = await fresh();
  await fc.assert(
    fc.asyncProperty(orders, async ({ list, order, cuts }) => {
      await database().query('truncate collected_launches, launch_cursors cascade');
      const left = [...order];
      let from = null;
      for (const size of cuts) {
        const launches = left.splice(0, size).map((one) => {
          return { ...one, made_by: 'program.instruction', launched_at: NOON + one.slot };
        });
        const to = { signature: `at ${left.length}`, since: NOON, reached_at: NOON, attempts: 0 };
        await collection.keep({ account: CPMM, from, to, launches, gaps: [] });
        from = to;
      }
      const rank = ({ credited_by, slot, signature }: (typeof list)[number]) =>
        `${credited_by === 'creation' ? 0 : 1} ${slot} ${signature}`;
      const best = ['a', 'b', 'c'].flatMap((mint) =>
        list
          .filter((one) => one.mint === mint)
          .sort((one, other) => (rank(one) < rank(other) ? -1 : 1))
          .slice(0, 1)
          .map(({ deployer, credited_by, slot }) => ({
            mint,
            deployer,
            credited_by,
            made_by: 'program.instruction',
            launched_at: NOON + slot,
          })),
      );
      expect(await kept()).toEqual(best);
    }),
    { numRuns: 60 },
  );
});

/** A minute passes, of the store too: whoever was scored then may be scored anew. */
async function passAMinute(): Promise<void> {
  now += 60;
  await database().query("update scored_wallets set observed_at = observed_at - interval '60 s'");
}

/** The result of a model that flags every unsettled launch. */
async function scoreAll({ scoring }: Awaited<ReturnType<typeof fresh>>): Promise<void> {
  const due = valueIn(await scoring.due('solana', RUG_1, 10));
  for (const wallet of due.wallets) {
    const statement = 'Of its launches all died.';
    const top_evidence = { feature: 'died_share', value: 1, contribution: 1, statement };
    await scoring.commit({
      ...wallet,
      model_version: 'rug-1',
      scored_at: now,
      unlisted: [],
      horizon_h: 24,
      seen: [],
      on_record: wallet.launches.map(({ token }) => token),
      launches: wallet.launches.map(({ token, launched_at, liquidity_usd }) => {
        const of = { token, launched_at, liquidity_usd, score: 0.9, top_evidence };
        return { ...of, outcome: 'flagged' as const, deployer_history: 'settled' as const };
      }),
    });
  }
}

const told = async () =>
  (await eventsAfter(database(), 0)).map(({ kind, address, token }) => [kind, address, token]);

test('what an import credits to another wallet is corrected, and its flag retracted', async () => {
  const parts = await fresh();
  const at = NOON - LAUNCH_WINDOW_S - HOUR_S;
  await imported(parts.table, 'outside', [
    { ...launchOf(MINT, STRANGER, false), launched_at: at, last_checked_at: NOON - 60 },
  ]);
  await scoreAll(parts);
  expect(await told()).toEqual([['flag', STRANGER, MINT]]);
  await passAMinute();
  shown = [makesMint({ mint: MINT, by: MAKER, at: at - HOUR_S }), pooledAt(STRANGER, at)];
  await parts.collect(CPMM);
  await parts.settle();
  expect(valueIn(await parts.wallets.of(MAKER))).toMatchObject({ settled: 1, died: 1 });
  expect(valueIn(await parts.wallets.of(STRANGER))).toMatchObject({ settled: 0, waiting: [] });
  expect(valueIn(await parts.wallets.launchOf(MINT)).launch).toMatchObject({ deployer: MAKER });
  await scoreAll(parts);
  const events = await told();
  expect(events).toHaveLength(3);
  expect(events).toContainEqual(['retraction', STRANGER, MINT]);
  expect(events).toContainEqual(['flag', MAKER, MINT]);
});

test.each([
  ['is credited to who made the mint', true],
  ['that nobody can read any more is nobody’s', false],
])('what version 0.2.0 credited to who made a pool %s', async (_, isShown) => {
  const parts = await fresh();
  const at = NOON - LAUNCH_WINDOW_S - HOUR_S;
  const pool = pooledAt(STRANGER, at);
  await database().query(
    `insert into collected_launches
       (mint, deployer, made_by, signature, slot, launched_at, due_at, settled)
     values ($1, $2, 'raydium_cpmm.initialize', $3, 1, to_timestamp($4::float8), now(), true)`,
    [MINT, STRANGER, pool.signature, at],
  );
  const other = { ...launchOf(key('other'), KEEPER, true), last_checked_at: NOON - 60 };
  await imported(parts.table, SETTLED_HERE, [
    { ...launchOf(MINT, STRANGER, false), launched_at: at, last_checked_at: NOON - 60 },
    other,
  ]);
  await scoreAll(parts);
  expect(await told()).toContainEqual(['flag', STRANGER, MINT]);
  await passAMinute();
  const made = makesMint({ mint: MINT, by: MAKER, at: at - HOUR_S });
  shown = isShown ? [made, pool] : [pool];
  expect(await parts.creditAgain()).toBe(null);
  await parts.settle();
  expect(await kept()).toMatchObject(isShown ? [{ mint: MINT, deployer: MAKER }] : []);
  expect(valueIn(await parts.wallets.of(STRANGER))).toMatchObject({ settled: 0, waiting: [] });
  expect(valueIn(await parts.wallets.of(MAKER))).toMatchObject({ settled: isShown ? 1 : 0 });
  await scoreAll(parts);
  expect(await told()).toContainEqual(['retraction', STRANGER, MINT]);
});
