// Observing: what a venue tells is kept with the time for which it stands, one process observes at
// a time, and a venue that is silent leaves holes, never a quiet market.

import { afterEach, expect, test, vi } from 'vitest';
import { map, Part, part, Read, read, rowsSeen, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Leases } from '../../ports/indexing.ts';
import type {
  HeardLiquidations,
  LiquidationFeed,
  MarketPort,
  MarketRows,
  MarketSource,
  MarketSources,
  SeriesKind,
  SeriesName,
  SeriesRow,
  SeriesSpan,
  SeriesStore,
} from '../../ports/series.ts';
import { CANDLE_MS } from '../../ports/series.ts';
import { memorySeriesStore } from '../../testing/twins/series.ts';
import { planYear, type SimulatedMarkets, simulateMarkets } from '../../world/markets.ts';
import { seriesGathering } from '../series/gather.ts';
import { type ObserveLoop, observeMarkets, ROUND_EACH_S } from './observe.job.ts';

const HOUR = CANDLE_MS;
const END = Date.UTC(2026, 5, 1);
const PLAN = planYear(7, END);
const MARKETS = simulateMarkets(PLAN);
const OFF = Number(PLAN.delists?.at);
const SIGNAL = new AbortController().signal;
const FAULT = why('provider_failed', { provider: 'Bybit', fault: 'answered 500' });

const stopping: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
});

/** What holds through a test: the time, and whether the venue answers. */
type World = { now: number; silent: boolean };

const source = { name: 'Bybit', url: 'https://venue.example', as_of: 0, simulated: false } as const;
const origin = { port: 'market_source', source: { ...source, kind: 'observation' } } as const;
const silence = async () => unread<MarketPort>('market_source', FAULT);

/** A venue that tells what arrived of the simulated markets by now. */
function venueOf(markets: SimulatedMarkets, world: World): MarketSource {
  const rowsOf =
    <S extends SeriesKind>(series: S) =>
    async (of: string, span: SeriesSpan) => {
      if (world.silent) return silence();
      const told = markets.batches({ venue: 'bybit', series, of }, span);
      const known = told.filter(({ received_at }) => received_at <= world.now);
      const rows = known.flatMap((batch) => batch.rows).filter(({ at }) => at >= span.from);
      const value: MarketRows<SeriesRow<S>> = {
        rows: [...new Map(rows.map((row) => [row.at, row])).values()],
        covered: known.flatMap(({ covered }) => covered),
        gone: [],
      };
      return part<MarketRows<SeriesRow<S>>, MarketPort>(value, origin, why('time_budget'));
    };
  return {
    candles: rowsOf('candles'),
    funding: rowsOf('funding'),
    openInterest: rowsOf('open_interest'),
    board: async (assets) => {
      if (world.silent) return silence();
      const rows = assets.map((of) => {
        const isOff = of === PLAN.delists?.asset && world.now >= OFF;
        const price = String(markets.priceAt(of, world.now));
        const state = isOff ? ('absent' as const) : ('trading' as const);
        return {
          of,
          state,
          price: isOff ? null : price,
          funding_rate: '0.0001',
          open_interest: null,
        };
      });
      return read({ at: world.now, rows }, origin);
    },
  };
}

const LONELY: Leases = {
  take: async () => read({ epoch: 1, released: false }, { ...origin, port: 'leases' }),
  release: async () => read(true, { ...origin, port: 'leases' }),
};

type Running = {
  readonly store: SeriesStore;
  readonly faults: string[];
  readonly rounds: object[];
  /** Lets the job look once more, and waits until it has. */
  readonly look: () => Promise<void>;
  /** Hands liquidations over as the venue does; throws where nobody listens. */
  readonly hear: (told: HeardLiquidations | null) => Promise<void>;
  readonly listening: () => readonly string[] | null;
};

function run(world: World, over: Partial<ObserveLoop> = {}): Running {
  const store = over.store ?? memorySeriesStore();
  const faults: string[] = [];
  const rounds: object[] = [];
  let listening: readonly string[] | null = null;
  let take: ((told: HeardLiquidations | null) => Promise<void>) | null = null;
  const feed: LiquidationFeed = {
    listen: async (assets, onReading, signal) => {
      listening = assets;
      take = (told) =>
        onReading(told === null ? unread<MarketPort>('market_source', FAULT) : read(told, origin));
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      listening = null;
    },
  };
  let wake: (() => void) | null = null;
  let looks = 0;
  const market = venueOf(MARKETS, world);
  const none = {} as MarketSources['hyperliquid'];
  const job = observeMarkets({
    leases: LONELY,
    store,
    gathering: seriesGathering({
      store,
      markets: { hyperliquid: none, binance: market, bybit: market },
      origin: 'observed',
      now: () => world.now / 1_000,
    }),
    venues: [{ venue: 'bybit', market, feed }],
    assets: ['BTC', 'MADE'],
    origin: 'observed',
    now: () => Math.floor(world.now / 1_000),
    observeChains: async () => null,
    sleep: (_, signal) =>
      new Promise((resolve) => {
        looks += 1;
        wake = resolve;
        signal.addEventListener('abort', () => resolve());
      }),
    onRound: (counts) => rounds.push(counts),
    onFault: ({ reason }) => faults.push(reason),
    onBug: (fault) => faults.push(String(fault)),
    ...over,
  });
  stopping.push(job.stop);
  return {
    store,
    faults,
    rounds,
    look: async () => {
      await vi.waitFor(() => expect(wake).not.toBeNull(), { timeout: 20_000 });
      const before = looks;
      const go = wake;
      wake = null;
      go?.();
      await vi.waitFor(() => expect(looks).toBeGreaterThan(before), { timeout: 20_000 });
    },
    hear: async (told) => {
      if (take === null) throw new Error('test: nobody listens');
      await take(told);
    },
    listening: () => listening,
  };
}

async function held<S extends SeriesKind>(
  store: SeriesStore,
  series: S,
  of: string,
  span: SeriesSpan,
) {
  const name: SeriesName<S> = { venue: 'bybit', series, of };
  const reading = await store.read(name, span, { signal: SIGNAL });
  return { reading, rows: rowsSeen(map(reading, ({ rows }) => rows)) ?? [] };
}

test('a round keeps marks and listings for their time, and once an hour what is over', async () => {
  const world = { now: OFF - 10 * HOUR + 600_000, silent: false };
  const { store, look, rounds, faults, listening } = run(world);
  await vi.waitFor(() => expect(listening()).toEqual(['BTC', 'MADE']), { timeout: 20_000 });
  expect(rounds).toEqual([{ venues: 1, trading: 2, off: 0, unread: 0 }]);
  await look();
  expect(rounds).toHaveLength(1);
  world.now += ROUND_EACH_S * 1_000;
  await look();
  expect(rounds).toHaveLength(2);
  const span = { from: world.now - ROUND_EACH_S * 1_000, to: world.now + ROUND_EACH_S * 1_000 };
  const marks = await held(store, 'marks', 'BTC', span);
  expect(marks.reading).toBeInstanceOf(Read);
  expect(marks.rows.map(({ at }) => at)).toEqual([span.from, world.now]);
  const listings = await held(store, 'listings', 'BTC', span);
  expect(listings.rows.map(({ state }) => state)).toEqual(['trading']);
  const hours = { from: world.now - 30 * HOUR, to: Math.floor(world.now / HOUR) * HOUR };
  for (const series of ['candles', 'open_interest'] as const) {
    const { reading } = await held(store, series, 'BTC', {
      ...hours,
      from: Math.ceil(hours.from / HOUR) * HOUR,
    });
    expect(reading).toBeInstanceOf(Read);
  }
  expect(faults).toEqual([]);
});

test('marks of rounds that come when they are looked for have no hole, and a missed one leaves one', async () => {
  const from = OFF - 10 * HOUR;
  const world = { now: from, silent: false };
  const { store, look, rounds } = run(world);
  await vi.waitFor(() => expect(rounds).toHaveLength(1), { timeout: 20_000 });
  // A look comes each 15 s and takes its time: a round is up to a look and its own length late.
  for (let n = 1; n <= 24; n += 1) {
    world.now = from + n * ROUND_EACH_S * 1_000 + ((n * 7) % 20) * 1_000;
    await look();
  }
  const whole = { from, to: world.now };
  for (const series of ['marks', 'listings'] as const) {
    expect((await held(store, series, 'BTC', whole)).reading).toBeInstanceOf(Read);
  }
  const last = world.now;
  world.now += 2 * ROUND_EACH_S * 1_000;
  await look();
  const { reading } = await held(store, 'marks', 'BTC', { from, to: world.now });
  expect(rowsSeen(map(reading, ({ holes }) => holes))).toEqual([
    { from: last + 360_000, to: world.now, gone: false },
  ]);
});

test('an asset that is taken off has its last price, no mark, and nobody listens for it', async () => {
  const world = { now: OFF - 600_000, silent: false };
  const { store, look, listening, rounds } = run(world);
  await vi.waitFor(() => expect(listening()).toEqual(['BTC', 'MADE']), { timeout: 20_000 });
  const last = String(MARKETS.priceAt('MADE', world.now));
  world.now = OFF + 600_000;
  await look();
  expect(rounds.at(-1)).toMatchObject({ trading: 1, off: 1 });
  expect(listening()).toEqual(['BTC']);
  const span = { from: OFF - HOUR, to: OFF + HOUR };
  const { rows } = await held(store, 'listings', 'MADE', span);
  expect(rows.map(({ state, price }) => [state, price])).toEqual([
    ['trading', last],
    ['delisted', last],
  ]);
  const marks = await held(store, 'marks', 'MADE', { from: world.now, to: world.now + 1 });
  expect(marks.reading).toBeInstanceOf(Unread);
  // It does not come back by a restart: what is kept is known again.
  const again = run({ ...world, now: world.now + HOUR }, { store });
  await vi.waitFor(() => expect(again.listening()).toEqual(['BTC']), { timeout: 20_000 });
  expect((await held(store, 'listings', 'MADE', span)).rows).toHaveLength(2);
});

test('a silent venue leaves a hole, is told once, and is no quiet market', async () => {
  const world = { now: OFF - 100 * HOUR, silent: false };
  const { store, look, faults, listening, hear, rounds } = run(world);
  await vi.waitFor(() => expect(listening()).not.toBeNull(), { timeout: 20_000 });
  const from = world.now;
  const told = (span: SeriesSpan, rows: HeardLiquidations['rows'] = []) =>
    hear({ rows, covered: [span] });
  const row = { at: from + 5, side: 'long', size: '1', price: '2', price_is: 'fill' } as const;
  await told({ from, to: from + 60_000 }, [{ of: 'BTC', row: { ...row, notional: '2', nth: 0 } }]);
  world.silent = true;
  for (let n = 0; n < 3; n += 1) {
    world.now += ROUND_EACH_S * 1_000;
    await hear(null);
    await look();
  }
  expect(faults).toEqual([FAULT.reason, FAULT.reason]);
  expect(rounds.at(-1)).toMatchObject({ unread: 1, trading: 0 });
  world.silent = false;
  await told({ from: world.now, to: world.now + 60_000 });
  const quiet = await held(store, 'liquidations', 'BTC', { from, to: from + 60_000 });
  expect(quiet.reading).toBeInstanceOf(Read);
  expect(quiet.rows).toHaveLength(1);
  const all = await held(store, 'liquidations', 'BTC', { from, to: world.now + 60_000 });
  expect(all.reading).toBeInstanceOf(Part);
  expect(rowsSeen(map(all.reading, ({ holes }) => holes))).toEqual([
    { from: from + 60_000, to: world.now, gone: false },
  ]);
  const marks = await held(store, 'marks', 'BTC', { from: world.now - 1, to: world.now });
  expect(marks.reading).toBeInstanceOf(Unread);
});

test('a process without the lease asks nobody', async () => {
  const world = { now: OFF - 10 * HOUR, silent: false };
  const leases = {
    ...LONELY,
    take: async () => read(null, { ...origin, port: 'leases' as const }),
  };
  const { store, look, rounds } = run(world, { leases });
  await look();
  expect(rounds).toEqual([]);
  expect(await store.held(SIGNAL)).toMatchObject({ value: [] });
});

test('a store that does not keep is told, and a change is not taken for kept', async () => {
  const world = { now: OFF - 10 * HOUR, silent: false };
  const memory = memorySeriesStore();
  let broken = true;
  const lost = why('store_unreadable', { what: 'The warehouse', fault: 'it is away' });
  const store: SeriesStore = {
    ...memory,
    add: async (...row) => (broken ? unread('market_series', lost) : memory.add(...row)),
  };
  const { look, faults } = run(world, { store });
  await look();
  expect(faults).toEqual([lost.reason]);
  broken = false;
  world.now += ROUND_EACH_S * 1_000;
  await look();
  const { rows } = await held(memory, 'listings', 'BTC', { from: 0, to: world.now + 1 });
  expect(rows.map(({ at, state }) => [at, state])).toEqual([[world.now, 'trading']]);
});
