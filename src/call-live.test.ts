// From what a venue tells to a call and what became of it: the jobs run over a stand-in of the
// venue under a clock of the test, on the real stores of calls and leaves, and the routes are asked
// over HTTP.

import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { formatIsoDate } from './chain/time.ts';
import { Reply } from './contract/answer.ts';
import { NOBODY } from './contract/route.ts';
import { emissionTable, emittedCallTable } from './features/calls/calls.store.ts';
import { emitOnce } from './features/calls/emit.job.ts';
import { edgePageHandler } from './features/edge/edge-page.route.tsx';
import { edgeTrialTable } from './features/edge/trials.store.ts';
import { observeMarkets, ROUND_EACH_S } from './features/observing/observe.job.ts';
import { rankerTable } from './features/ranker/ranker.store.ts';
import { seriesGathering } from './features/series/gather.ts';
import { binanceMarket } from './sources/binance/market.ts';
import { bybitMarket } from './sources/bybit/market.ts';
import { providerGuard } from './sources/http/provider.ts';
import { weightWindow } from './sources/http/weight-window.ts';
import { hyperliquidMarket, WEIGHT_WINDOW } from './sources/hyperliquid/info.ts';
import { embeddedControl, leasesIn } from './testing/control-store.ts';
import { startRouteServer } from './testing/route-server.ts';
import { memorySeriesStore } from './testing/twins/series.ts';
import { settlementsIn, startHyperliquid } from './world/hyperliquid-api.ts';

const HOUR_S = 3_600;
const HOUR = HOUR_S * 1_000;
const START = Date.UTC(2026, 5, 1, 12);
/** From this hour on funding is extreme, and half a day later the price goes against it. */
const PLANTED_AT = START + 2 * HOUR;
const TICK_MS = 900_000;
const SIGNAL = new AbortController().signal;
const fresh = embeddedControl();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const rateAt = (hour: number) => (hour * HOUR >= PLANTED_AT ? 0.001 : 0.00001);
const priceAt = (at: number) => (at >= PLANTED_AT + 12 * HOUR ? 95 : 100) + (at % HOUR) / HOUR / 10;

/** A venue that knows what is planted, up to the time of the world. */
async function startVenue(world: { now: number }) {
  const candlesOf = (_coin: string, from: number, to: number) =>
    settlementsIn(from, to, () => 0).map(({ at }) => {
      const hour = at - (at % HOUR);
      return { at: hour, open: priceAt(hour), close: priceAt(hour + HOUR) };
    });
  const book = {
    roleOf: () => ({ role: 'missing' as const }),
    fillsOf: () => [],
    fundingOf: () => [],
    candlesOf,
    settlementsOf: (_coin: string, from: number, to: number) =>
      settlementsIn(from, Math.min(to, world.now), rateAt),
    instruments: () => [
      {
        coin: 'BTC',
        isDelisted: false,
        rate: rateAt(Math.floor(world.now / HOUR)),
        open_interest: 1_000,
        price: priceAt(world.now),
      },
    ],
  };
  const started = await startHyperliquid(book, { nowMs: () => world.now, weightMax: 1e9 });
  closing.push(started.close);
  const limits = { callsPerS: 1e6, retriesMax: 0, backoffMs: 1, failuresMax: 1e6, restMs: 1 };
  const clock = () => performance.now();
  return hyperliquidMarket({
    url: started.url,
    guard: providerGuard(limits, clock),
    window: weightWindow({ ...WEIGHT_WINDOW, max: 1e9 }, clock),
    now: () => world.now / 1_000,
    timeMs: 20_000,
    callsMax: 100,
    simulated: false,
  });
}

/** The jobs of one process and the routes over what they keep. */
async function startProcess(world: { now: number }) {
  const market = await startVenue(world);
  const control = fresh();
  const context = { simulated: false, nowMs: () => world.now };
  const now = () => Math.floor(world.now / 1_000);
  const store = memorySeriesStore();
  const markets = {
    hyperliquid: market,
    binance: binanceMarket(null),
    bybit: bybitMarket(null),
  };
  const gathering = seriesGathering({ store, markets, origin: 'observed', now });
  const faults: string[] = [];
  const rounds: object[] = [];
  let wake: (() => void) | null = null;
  const job = observeMarkets({
    leases: leasesIn(control, 'the observer'),
    store,
    gathering,
    venues: [{ venue: 'hyperliquid', market, feed: null }],
    assets: ['BTC'],
    origin: 'observed',
    now,
    observeChains: async () => null,
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        wake = resolve;
        signal.addEventListener('abort', () => resolve());
      }),
    onRound: (counts) => rounds.push(counts),
    onFault: ({ reason }) => faults.push(reason),
    onBug: (fault) => faults.push(String(fault)),
  });
  closing.push(job.stop);
  const calls = emittedCallTable(control, context);
  const parts = {
    store: emissionTable(control, context),
    versions: calls.versions,
    series: store,
    gather: gathering.gather,
    leases: leasesIn(control, 'the producer'),
    assets: ['BTC'],
    now,
  };
  const ports = {
    emittedCalls: calls,
    marketSeries: store,
    edgeTrials: edgeTrialTable(control, context),
    publishedRankers: rankerTable(control, context, () => 'no artefact'),
  };
  const server = await startRouteServer(() => ports, now);
  closing.push(server.close);
  return {
    control,
    ports,
    faults,
    emit: () => emitOnce(parts, new AbortController().signal),
    /** Observes at a later time. */
    observeAt: async (at: number) => {
      const before = rounds.length;
      await vi.waitFor(() => expect(wake).not.toBeNull(), { timeout: 20_000, interval: 5 });
      world.now = at;
      const go = wake;
      wake = null;
      go?.();
      await vi.waitFor(() => expect(rounds.length).toBe(before + 1), {
        timeout: 20_000,
        interval: 5,
      });
    },
    ask: async (path: string): Promise<unknown> => (await fetch(server.base + path)).json(),
  };
}

const ROUND = ROUND_EACH_S * 1_000;
const replayed = z.looseObject({ calls: z.array(z.looseObject({ call_id: z.string() })) });

test('a planted move makes a call, which closes, is scored and stands in the log', async () => {
  const world = { now: START };
  const { control, ports, faults, emit, observeAt, ask } = await startProcess(world);
  // The versions are leaves before the hour in which they run.
  expect(await emit()).toMatchObject({ ticks: 0, calls: 0 });
  const tick = PLANTED_AT + HOUR + TICK_MS;
  for (let at = START + ROUND; at <= tick; at += ROUND) await observeAt(at);
  world.now = tick + 150_000;
  expect(await emit()).toMatchObject({ calls: 1 });
  expect(await emit()).toMatchObject({ ticks: 0, calls: 0 });
  const date = formatIsoDate(tick / 1_000);
  const before = replayed.parse(await ask(`/edge/replay.json?date=${date}`));
  expect(before.calls).toEqual([
    expect.objectContaining({
      kind: 'funding',
      asset: 'BTC',
      direction: 'short',
      emitted_at: new Date(tick).toISOString(),
      outcome: expect.objectContaining({ state: 'open' }),
    }),
  ]);
  const call_id = String(before.calls[0]?.call_id);
  // Its horizon passes, and the candle at which it is left has long closed.
  await observeAt(tick + 30 * HOUR);
  expect(await emit()).toMatchObject({ settled: 1 });
  expect(replayed.parse(await ask(`/edge/replay.json?date=${date}`)).calls).toEqual([
    expect.objectContaining({
      call_id,
      outcome: expect.objectContaining({ state: 'closed', entry: '100.0', exit: '95.0' }),
    }),
  ]);
  // Short: five per cent of the price, and 24 settlements of funding that longs pay.
  expect(await ask('/edge/backtest.json?kinds=funding&cost_bps=0')).toMatchObject({
    n: 1,
    closed: 1,
    hit_rate: 1,
    gross: { mean_return_bps: expect.closeTo(500, 6) },
    mean_return_bps: expect.closeTo(500 + 24 * 10, 6),
    data_mode: 'measured',
  });
  expect(await ask('/edge/performance.json')).toMatchObject({
    kinds: { funding: [{ closed: 1, hit_rate: 1, deprecation: 'hypothesis' }] },
  });
  expect(await ask('/api/ml-rank?pair=BTC')).toMatchObject({ call_id, rank: null });
  const leaves = 'select count(*)::int4 as of_call from log_leaves where id = $1';
  expect(await control.query(leaves, [call_id])).toEqual([{ of_call: 1 }]);
  const facts = { simulated: false, version: '0.0.0', links: [], explorers: new Map() };
  const asked = { now: () => world.now / 1_000, signal: SIGNAL };
  const page = await edgePageHandler(ports, facts)(
    { params: {}, query: {}, body: undefined },
    asked,
    NOBODY,
  );
  if (!(page instanceof Reply)) throw new Error('test: the page was refused');
  expect(String(page.body)).toContain(call_id);
  expect(String(page.body)).toContain('funding short: hit');
  expect(faults).toEqual([]);
});
