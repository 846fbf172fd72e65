// Collecting the launches of a Solana node and settling them by a venue, over a real store: what is
// kept, what becomes of each, and what every fault of node and venue leaves behind.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Collected, collectAccount } from './features/launches/collect.ts';
import { settleRound } from './features/launches/settle.ts';
import { LAUNCH_WINDOW_S, launchCorpus } from './features/tables/launches.ts';
import { imported, valueIn } from './ports/imported-table.suite.ts';
import { launchOf } from './ports/launches.suite.ts';
import { dexscreenerListings } from './sources/dexscreener/venue.ts';
import { providerGuard } from './sources/http/provider.ts';
import { solanaLaunchFeed, WATCHED_ACCOUNTS } from './sources/solana/launches.ts';
import { launchCollectionTable } from './stores/control/launch-collection.ts';
import { keptTables, walletLaunchesIn } from './testing/imported-tables.ts';
import { rowsAs } from './testing/rows-as.ts';
import { type SolanaFault, type StartedSolana, startSolana } from './world/solana-api.ts';
import { launchPoolsAt, type WorldLaunch, worldLaunchesIn } from './world/solana-launches.ts';
import { type StartedVenue, startVenue } from './world/venue-api.ts';

vi.setConfig({ testTimeout: 60_000 });

const DAY_S = 86_400;
/** 2026-11-21T12:00:00Z. */
const NOON = Date.UTC(2026, 10, 21, 12) / 1_000;
const SPAN_S = 3_600;
const [PUMP = ''] = WATCHED_ACCOUNTS;

let now = NOON;
let shown: readonly WorldLaunch[] = [];
let node: StartedSolana;
let venue: StartedVenue;
const { empty, database } = keptTables();

beforeAll(async () => {
  node = await startSolana(() => shown);
  venue = await startVenue((_, mint) => launchPoolsAt(mint, now));
});
afterAll(async () => {
  await node.close();
  await venue.close();
});

const guardLimits = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 999, restMs: 1 };
const QUESTION = { timeMs: 30_000, callsMax: 50, simulated: false, now: () => now };
const signal = new AbortController().signal;

/** A new store and a node that shows the launches of the last hour and a half. */
async function fresh(limits: { transactionsMax?: number; pagesMax?: number } = {}) {
  now = NOON;
  shown = worldLaunchesIn(now - SPAN_S, now);
  node.fault(() => null);
  venue.fault(() => null);
  const table = await empty(launchCorpus, () => now);
  const guard = providerGuard(guardLimits, () => performance.now());
  const feed = solanaLaunchFeed({ url: node.url, guard, pagesMax: 10, ...QUESTION, ...limits });
  const windows = { windowS: LAUNCH_WINDOW_S, lateS: 3 * DAY_S };
  const context = { simulated: false, nowMs: () => now * 1_000 };
  const collection = launchCollectionTable(database(), context, windows);
  const bounds = { transactionsMax: 500, stepMax: 5, attemptsMax: 3, ...limits };
  const listings = dexscreenerListings({
    url: venue.url,
    guard,
    chain: 'solana',
    ...QUESTION,
    exitLiquidityUsd: 1_000,
  });
  const settling = {
    collection,
    listings,
    table,
    origin: 'observed',
    limits: { launchesMax: 500, atOnce: 4 },
    now: () => now,
  } as const;
  return {
    table,
    collect: (account = PUMP) =>
      collectAccount({ feed, collection, limits: bounds }, account, signal),
    collectAll: async () => {
      const all: Collected[] = [];
      for (const account of WATCHED_ACCOUNTS) {
        all.push(await collectAccount({ feed, collection, limits: bounds }, account, signal));
      }
      return all;
    },
    settle: () => settleRound(settling, signal),
    feed,
  };
}

type Row = { readonly mint: string; readonly deployer: string; readonly signature: string };

function kept(): Promise<Row[]> {
  return rowsAs<Row>(
    database(),
    'select mint, deployer, signature from collected_launches order by launched_at desc, mint',
  );
}

type GapRow = { readonly reason: string; readonly pieces: number };

function gaps(): Promise<GapRow[]> {
  return rowsAs<GapRow>(database(), 'select reason, pieces from launch_gaps order by id');
}

const isPump = ({ kind }: WorldLaunch) => kind.startsWith('pump');
const rowOf = ({ mint, deployer, signature }: WorldLaunch) => ({ mint, deployer, signature });

describe('collecting', () => {
  test('keeps every launch that the node shows, by who signed it, once', async () => {
    const { collectAll } = await fresh();
    const first = await collectAll();
    expect(first.every(({ whole, failed, gaps }) => whole && failed === null && gaps === 0)).toBe(
      true,
    );
    expect(await kept()).toEqual(shown.map(rowOf));
    expect(shown.length).toBeGreaterThan(25);
    now += 1_200;
    shown = worldLaunchesIn(NOON - SPAN_S, now);
    const asked = node.asked.length;
    const second = await collectAll();
    expect(second.reduce((sum, { launches }) => sum + launches, 0)).toBe(10);
    expect(await kept()).toEqual(shown.map(rowOf));
    expect(await gaps()).toEqual([]);
    const read = node.asked.slice(asked).filter((one) => one.startsWith('getTransaction'));
    expect(read).toHaveLength(10);
  });

  test('goes on from where a round ended, and misses nothing in between', async () => {
    const { collect } = await fresh({ transactionsMax: 5 });
    let rounds = 1;
    for (; !(await collect()).whole; rounds += 1) expect(rounds).toBeLessThan(20);
    expect(rounds).toBeGreaterThan(3);
    expect(await kept()).toEqual(shown.filter(isPump).map(rowOf));
    expect(await gaps()).toEqual([]);
  });

  test('keeps as a gap what the node no longer lists', async () => {
    const { collect } = await fresh();
    await collect();
    now += 3_600;
    shown = worldLaunchesIn(NOON - SPAN_S, now);
    node.fault(() => 'pruned');
    expect(await collect()).toMatchObject({ launches: 1, gaps: 1, whole: true, failed: null });
    expect(await gaps()).toEqual([
      { reason: 'the list of the node, or its bound, ended before it was met', pieces: 1 },
    ]);
    const [span] = await rowsAs<{ from_at: number; to_at: number; missed_s: number }>(
      database(),
      `select extract(epoch from from_at)::float8 as from_at,
              extract(epoch from to_at)::float8 as to_at, missed_s from launch_gaps`,
    );
    const newest = shown.find(isPump)?.at;
    expect(span).toEqual({ from_at: NOON, to_at: newest, missed_s: Number(newest) - NOON });
  });

  test('keeps as gaps broken transactions, each with its reason, and goes on', async () => {
    const { collect } = await fresh();
    const broken = shown.filter(isPump).slice(3, 5);
    node.fault((_, about) =>
      broken.some(({ signature }) => signature === about) ? 'broken-transactions' : null,
    );
    expect(await collect()).toMatchObject({ gaps: 2, whole: true });
    const others = shown.filter((one) => isPump(one) && !broken.includes(one));
    expect(await kept()).toEqual(others.map(rowOf));
    expect(await gaps()).toEqual([
      {
        reason: 'a broken transaction: it is no transaction of the encoding json',
        pieces: 2,
      },
    ]);
  });

  test('tries a transaction that cannot be read again, and then keeps it as a gap', async () => {
    const { collect } = await fresh();
    const lost = shown.filter(isPump)[4];
    node.fault((_, about) => (about === lost?.signature ? 'forgets-transactions' : null));
    for (const attempt of [1, 2]) {
      expect(await collect(), `${attempt}`).toMatchObject({
        gaps: 0,
        whole: false,
        failed: { code: 'provider_failed' },
      });
    }
    expect(await collect()).toMatchObject({ gaps: 1, whole: true, failed: null });
    expect((await gaps())[0]?.reason).toContain('does not know a transaction that it lists');
    const others = shown.filter((one) => isPump(one) && one !== lost);
    expect(await kept()).toEqual(others.map(rowOf));
  });

  const FAULTS: readonly SolanaFault[] = [
    ...(['rate-limited', 'html', 'error500', 'cut-body', 'wrong-network', 'behind'] as const),
  ];
  test.each(FAULTS)('stays where it was under the fault %s', async (fault) => {
    const { collect } = await fresh();
    await collect();
    const before = await kept();
    const place = await database().query('select * from launch_cursors');
    now += 1_200;
    shown = worldLaunchesIn(NOON - SPAN_S, now);
    node.fault(() => fault);
    expect(await collect()).toMatchObject({
      launches: 0,
      gaps: 0,
      whole: false,
      failed: { code: 'provider_failed' },
    });
    expect(await kept()).toEqual(before);
    expect(await database().query('select * from launch_cursors')).toEqual(place);
    node.fault(() => null);
    expect(await collect()).toMatchObject({ whole: true, failed: null });
    expect(await kept()).toEqual(shown.filter(isPump).map(rowOf));
    expect(await gaps()).toEqual([]);
  });

  test('two processes that collect at once keep everything once', async () => {
    const { collect } = await fresh();
    const both = await Promise.all([collect(), collect()]);
    await collect();
    expect(both.some(({ failed }) => failed?.code === 'collected_elsewhere')).toBe(true);
    expect(await kept()).toEqual(shown.filter(isPump).map(rowOf));
    expect(await gaps()).toEqual([]);
  });
});

describe('settling', () => {
  async function collectedADayAgo() {
    const parts = await fresh();
    await parts.collectAll();
    now = NOON + LAUNCH_WINDOW_S;
    return parts;
  }

  test('is by the venue, for every launch whose window has passed', async () => {
    const { settle, collectAll } = await fresh();
    await collectAll();
    expect(await settle()).toMatchObject({ listed: 0, gone: 0, waiting: 0, failed: null });
    now = NOON - SPAN_S + LAUNCH_WINDOW_S + 900;
    const due = shown.filter(({ at }) => at + LAUNCH_WINDOW_S <= now);
    const lives = due.filter(({ diesAt }) => diesAt === null || diesAt > now);
    expect(await settle()).toEqual({
      listed: lives.length,
      gone: due.length - lives.length,
      waiting: 0,
      silent: new Map(),
      failed: null,
    });
    expect(due.length).toBeGreaterThan(3);
    now = NOON + LAUNCH_WINDOW_S;
    const rest = await settle();
    expect(rest.listed + rest.gone).toBe(shown.length - due.length);
    const wallets = walletLaunchesIn(database(), () => now);
    for (const wallet of new Set(shown.map(({ deployer }) => deployer))) {
      const own = shown.filter(({ deployer }) => deployer === wallet);
      const record = valueIn(await wallets.of(wallet));
      expect(record).toMatchObject({
        settled: own.length,
        died: own.filter(({ diesAt }) => diesAt !== null && diesAt <= now).length,
        waiting: [],
      });
      expect(record.entries.map(({ mint }) => mint).sort()).toEqual(
        own.map(({ mint }) => mint).sort(),
      );
    }
    const [first] = shown;
    expect(valueIn(await wallets.launchOf(String(first?.mint))).launch).toMatchObject({
      signature: first?.signature,
    });
  });

  test.each([
    'rate-limited',
    'html',
    'wrong-shape',
    'other-token',
    'error500',
    'cut-body',
  ] as const)('a venue under the fault %s settles nothing, and kills nobody', async (fault) => {
    const { settle } = await collectedADayAgo();
    venue.fault(() => fault);
    const lives = shown.filter((one) => launchPoolsAt(one.mint, now).length > 0);
    const round = await settle();
    const settled = round.listed + round.gone;
    // Of pairs of another token only a token without any shows that none is listed.
    expect(settled).toBe(fault === 'other-token' ? shown.length - lives.length : 0);
    expect(round.listed).toBe(0);
    expect(round.waiting).toBe(shown.length - settled);
    expect([...round.silent.values()].reduce((a, b) => a + b, 0)).toBe(round.waiting);
    venue.fault(() => null);
    now += 900;
    const later = await settle();
    expect(later.listed + later.gone).toBe(shown.length - settled);
  });

  test('a pool without its liquidity is not taken for a death', async () => {
    const { settle } = await collectedADayAgo();
    venue.fault(() => 'no-liquidity');
    const curvesOnly = shown.filter((one) =>
      launchPoolsAt(one.mint, now).every(({ dex }) => dex === 'pumpfun'),
    );
    expect(await settle()).toMatchObject({
      listed: 0,
      gone: curvesOnly.length,
      waiting: shown.length - curvesOnly.length,
      silent: new Map([
        [
          'The venue lists a pool and does not tell its liquidity.',
          shown.length - curvesOnly.length,
        ],
      ]),
    });
  });

  test('an imported launch that waits is settled like a collected one', async () => {
    const { settle, table } = await fresh();
    const [one] = shown;
    if (one === undefined) throw new Error('the world launched nothing');
    const { mint, deployer, at } = one;
    await imported(table, 'outside', [
      { ...launchOf(mint, deployer, null), launched_at: at, last_checked_at: at + 60 },
    ]);
    now = at + LAUNCH_WINDOW_S;
    const { listed, gone } = await settle();
    expect(listed + gone).toBe(1);
    expect(valueIn(await walletLaunchesIn(database(), () => now).of(deployer))).toMatchObject({
      settled: 1,
      waiting: [],
    });
  });

  test('a launch that is asked for days late stays unsettled', async () => {
    const { settle } = await collectedADayAgo();
    now = NOON + 3 * DAY_S;
    expect(await settle()).toMatchObject({ listed: 0, gone: 0, waiting: 0 });
  });

  test('an import from outside that settles a launch ends its waiting', async () => {
    const { settle, table } = await collectedADayAgo();
    const [one, ...others] = shown;
    if (one === undefined) throw new Error('the world launched nothing');
    const { mint, deployer, at } = one;
    const settled = { ...launchOf(mint, deployer, true), launched_at: at, last_checked_at: now };
    await imported(table, 'outside', [settled]);
    const { listed, gone } = await settle();
    expect(listed + gone).toBe(others.length);
  });
});
