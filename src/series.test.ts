// Series as they are kept, completed from their venue: only the holes are asked for, what the venue
// does not give stays a hole, and its silence takes nothing away.

import { afterEach, expect, test } from 'vitest';
import { map, Part, type Partly, Read, rowsSeen, Unread, unread } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import { seriesGathering } from './features/series/gather.ts';
import type { SeriesStore } from './ports/series.ts';
import { binanceMarket } from './sources/binance/market.ts';
import { bybitMarket } from './sources/bybit/market.ts';
import { providerGuard } from './sources/http/provider.ts';
import { weightWindow } from './sources/http/weight-window.ts';
import { hyperliquidMarket, WEIGHT_WINDOW } from './sources/hyperliquid/info.ts';
import { memorySeriesStore, silentSeries } from './testing/twins/series.ts';
import { settlementsIn, startHyperliquid } from './world/hyperliquid-api.ts';
import type { SimulatedFill } from './world/trading.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 20, 12, 30);
const USER = '0x00000000000000000000000000000000000000aa';
const SIGNAL = new AbortController().signal;
const BTC = { venue: 'hyperliquid', series: 'candles', of: 'BTC' } as const;
const FILLS = { venue: 'hyperliquid', series: 'fills', of: USER } as const;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function fill(at: number, n: number): SimulatedFill {
  const own = { coin: 'BTC', side: 'buy', px: 1, sz: 1, start_position: 0, closed_pnl: 0 } as const;
  return { ...own, at, oid: n, tid: n };
}

/** A venue whose clock and fills a test moves on. */
async function startVenue(store: SeriesStore = memorySeriesStore()) {
  const world = { now: NOW, open: 1, fills: [fill(NOW - 5 * HOUR, 1)] };
  const started = await startHyperliquid(
    {
      roleOf: () => ({ role: 'vault' }),
      fillsOf: () => world.fills,
      fundingOf: () =>
        settlementsIn(NOW - 9 * HOUR, NOW, () => 1).map(({ at }) => {
          return { at, coin: 'BTC', szi: 1, rate: 0.00001, usdc: -1 };
        }),
      candlesOf: (_, from, to) =>
        settlementsIn(from, to, () => 0).map(({ at }) => {
          return { at: at - 48, open: world.open, close: 2 };
        }),
      settlementsOf: (_, from, to) => settlementsIn(from, to, () => 0.00001),
      instruments: () => [],
    },
    { nowMs: () => world.now, weightMax: 1e9 },
  );
  closing.push(started.close);
  const limits = { callsPerS: 1e6, retriesMax: 0, backoffMs: 1, failuresMax: 1e6, restMs: 1 };
  const clock = () => performance.now();
  const hyperliquid = hyperliquidMarket({
    url: started.url,
    guard: providerGuard(limits, clock),
    window: weightWindow(WEIGHT_WINDOW, clock),
    now: () => world.now / 1_000,
    timeMs: 10_000,
    callsMax: 100,
    simulated: false,
  });
  const gathering = seriesGathering({
    store,
    markets: { hyperliquid, binance: binanceMarket(null), bybit: bybitMarket(null) },
    origin: 'observed',
    now: () => world.now / 1_000,
  });
  return { ...started, world, store, gathering };
}

function rowsIn<R>(reading: Partly<{ readonly rows: readonly R[] }, never>): readonly R[] {
  return rowsSeen(map(reading, ({ rows }) => rows)) ?? [];
}

test('a span is asked for once, and later only what has come since', async () => {
  const { gathering, asked, world } = await startVenue();
  const first = await gathering.gather(
    BTC,
    { from: NOW - 99.5 * HOUR, to: NOW - HOUR / 2 },
    SIGNAL,
  );
  expect(first).toMatchObject({ fault: null, reading: { checked: true } });
  expect(rowsIn(first.reading)).toHaveLength(99);
  expect(asked).toHaveLength(1);
  await gathering.gather(BTC, { from: NOW - 50.5 * HOUR, to: NOW - 3.5 * HOUR }, SIGNAL);
  expect(asked).toHaveLength(1);
  world.now = NOW + 4 * HOUR;
  const span = { from: NOW - 99.5 * HOUR, to: NOW + 2.5 * HOUR };
  const { reading } = await gathering.gather(BTC, span, SIGNAL);
  expect(reading).toBeInstanceOf(Read);
  expect(asked[1]).toMatchObject({ req: { startTime: NOW - HOUR / 2 } });
});

test('what is held is asked for again by whoever wants the later word of the venue', async () => {
  const { gathering, asked, world, fault } = await startVenue();
  const span = { from: NOW - 9.5 * HOUR, to: NOW - 3.5 * HOUR };
  const opens = ({ reading }: Awaited<ReturnType<typeof gathering.gather<'candles'>>>) =>
    rowsIn(reading).map(({ open, revision }) => `${Number(open)} ${revision}`);
  const first = await gathering.gather(BTC, span, SIGNAL);
  expect(new Set(opens(first))).toEqual(new Set(['1 0']));
  Object.assign(world, { open: 3, now: NOW + HOUR });
  expect(opens(await gathering.gather(BTC, span, SIGNAL))).toEqual(opens(first));
  expect(asked).toHaveLength(1);
  const again = await gathering.gather(BTC, span, SIGNAL, 'all');
  expect(new Set(opens(again))).toEqual(new Set(['3 1']));
  expect(asked).toHaveLength(2);
  fault('null');
  const silent = await gathering.gather(BTC, span, SIGNAL, 'all');
  expect(opens(silent)).toEqual(opens(again));
  expect(silent.fault).not.toBe(null);
});

test.each(['funding', 'account_funding'] as const)('%s is gathered as well', async (series) => {
  const { gathering } = await startVenue();
  const of = series === 'funding' ? 'BTC' : USER;
  const span = { from: NOW - 8.5 * HOUR, to: NOW - 2.5 * HOUR };
  const { reading } = await gathering.gather({ ...BTC, series, of }, span, SIGNAL);
  expect(reading).toBeInstanceOf(Read);
  expect(rowsIn(reading)).toHaveLength(6);
});

test('the horizon is remembered: what the venue has lost is not asked for again', async () => {
  const { gathering, asked, world } = await startVenue();
  const from = NOW - 400 * HOUR;
  world.fills = Array.from({ length: 10_300 }, (_, n) => fill(from + n * 60_000, n));
  const span = { from, to: NOW - HOUR };
  const { reading } = await gathering.gather(FILLS, span, SIGNAL);
  expect(reading).toBeInstanceOf(Part);
  const oldest = from + 300 * 60_000;
  const holes = [{ from, to: oldest + 1, gone: true }];
  expect(rowsSeen(map(reading, (value) => value.holes))).toEqual(holes);
  const calls = asked.length;
  const again = await gathering.gather(FILLS, span, SIGNAL);
  expect(asked).toHaveLength(calls);
  expect(rowsSeen(map(again.reading, (value) => value.holes))).toEqual(holes);
});

test('a silent venue is told, and what is kept stays', async () => {
  const { gathering, fault } = await startVenue();
  const kept = { from: NOW - 20.5 * HOUR, to: NOW - 10.5 * HOUR };
  await gathering.gather(BTC, kept, SIGNAL);
  fault('null');
  const span = { from: NOW - 20.5 * HOUR, to: NOW - 2.5 * HOUR };
  const told = await gathering.gather(BTC, span, SIGNAL);
  expect(told.fault).toMatchObject({ why: { code: 'provider_failed' } });
  expect(told.reading).toBeInstanceOf(Part);
  // The candle after the span came with it.
  expect(rowsIn(told.reading)).toHaveLength(11);
  expect(await gathering.gather(BTC, kept, SIGNAL)).toMatchObject({ fault: null });
  const other = await gathering.gather({ ...BTC, of: 'ETH' }, span, SIGNAL);
  expect(other.reading).toBeInstanceOf(Unread);
  expect(other.fault).toBeInstanceOf(Unread);
});

test('a store that is away is no reason to ask the venue, nor is what could not be kept read', async () => {
  const cause = why('store_unreadable', { what: 'The transfer warehouse', fault: 'it is away' });
  const away = await startVenue(silentSeries(cause).marketSeries);
  const span = { from: NOW - 9.5 * HOUR, to: NOW - 2.5 * HOUR };
  const told = await away.gathering.gather(BTC, span, SIGNAL);
  expect(told.reading).toMatchObject({ checked: false, why: cause });
  expect(away.asked).toEqual([]);
  const full = { ...memorySeriesStore(), add: async () => unread('market_series' as const, cause) };
  const unkept = await startVenue(full);
  const lost = await unkept.gathering.gather(BTC, span, SIGNAL);
  expect(lost.reading).toMatchObject({ checked: false, why: cause });
});

test('a role is asked for once in hours, a silence again', async () => {
  const { gathering, asked, world, fault } = await startVenue();
  fault('html');
  expect(await gathering.roleOf('hyperliquid', USER, SIGNAL)).toBeInstanceOf(Unread);
  fault(null);
  for (let n = 0; n < 3; n += 1) {
    const told = await gathering.roleOf('hyperliquid', USER, SIGNAL);
    expect(told).toMatchObject({ value: { role: 'vault' } });
  }
  expect(asked).toHaveLength(2);
  world.now += 7 * HOUR;
  await gathering.roleOf('hyperliquid', USER, SIGNAL);
  expect(asked).toHaveLength(3);
});
