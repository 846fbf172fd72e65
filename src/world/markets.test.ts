import { expect, test } from 'vitest';
import { Part, Read } from '../evidence/reading.ts';
import { CANDLE_MS, fundingPer8h, type MarketVenue, SERIES_ROWS } from '../ports/series.ts';
import { plantMarkets } from '../testing/planted-markets.ts';
import { memorySeriesStore } from '../testing/twins/series.ts';
import { type MarketPlan, planYear, simulateMarkets } from './markets.ts';

const HOUR = CANDLE_MS;
const DAY = 24 * HOUR;
const END = Date.UTC(2026, 5, 1);
const PLAN = planYear(7, END);
const MARKETS = simulateMarkets(PLAN);
const ALL = { from: PLAN.from, to: END };
const SIGNAL = new AbortController().signal;

/** The mean move of a day against who pays funding of at least 0.05% for eight hours. */
function meanReversion(plan: MarketPlan): number {
  const markets = simulateMarkets(plan);
  const moves = plan.assets.flatMap((of) =>
    markets
      .rows({ venue: 'hyperliquid', series: 'funding', of }, { ...ALL, to: END - DAY })
      .filter((point) => Math.abs(Number(fundingPer8h(point))) >= 0.0005)
      .map(({ at, rate }) => {
        const move = markets.priceAt(of, at + DAY) / markets.priceAt(of, at) - 1;
        return Number(rate) > 0 ? -move : move;
      }),
  );
  expect(moves.length).toBeGreaterThan(500);
  return moves.reduce((sum, move) => sum + move, 0) / moves.length;
}

test('extreme funding is followed by a move against who pays it, by the strength of the plan', () => {
  const strong = meanReversion({ ...PLAN, delists: null, silent: null });
  const none = meanReversion({ ...PLAN, delists: null, silent: null, reversion: 0 });
  expect(strong).toBeGreaterThan(0.015);
  expect(Math.abs(none)).toBeLessThan(0.008);
});

test('large transfers foretell nothing', () => {
  const moves = PLAN.assets.flatMap((of) =>
    MARKETS.rows(
      { venue: 'chain', series: 'whale_transfers', of },
      { ...ALL, to: END - DAY - HOUR },
    ).map(({ at }) => MARKETS.priceAt(of, at + DAY) / MARKETS.priceAt(of, at) - 1),
  );
  expect(moves.length).toBeGreaterThan(1_000);
  const mean = moves.reduce((sum, move) => sum + move, 0) / moves.length;
  expect(Math.abs(mean)).toBeLessThan(0.006);
});

test('every row is one of its kind, and the same whatever is asked before', () => {
  const span = { from: PLAN.from + 2_990 * HOUR, to: PLAN.from + 3_050 * HOUR };
  const again = simulateMarkets(PLAN);
  for (const name of MARKETS.names) {
    const rows = MARKETS.rows(name, span);
    for (const { received_at: _, revision: __, ...row } of rows) {
      expect(SERIES_ROWS[name.series].parse(row)).toEqual(row);
    }
    const halves = [
      ...again.rows(name, { from: span.from + 30 * HOUR, to: span.to }),
      ...again.rows(name, { from: span.from, to: span.from + 30 * HOUR }),
    ];
    expect(new Set(halves.map((row) => JSON.stringify(row)))).toEqual(
      new Set(rows.map((row) => JSON.stringify(row))),
    );
  }
});

test('one venue corrects some candles hours later, the others never do', () => {
  const words = (venue: MarketVenue) =>
    MARKETS.rows({ venue, series: 'candles', of: 'BTC' }, { from: PLAN.from, to: END });
  const later = words('bybit').filter(({ revision }) => revision === 1);
  expect(later.length).toBeGreaterThan(100);
  const first = words('bybit').find(({ at, revision }) => at === later[0]?.at && revision === 0);
  expect(later[0]?.received_at).toBe(Number(first?.received_at) + 3 * HOUR);
  expect(later[0]?.close).not.toBe(first?.close);
  expect(words('hyperliquid').every(({ revision }) => revision === 0)).toBe(true);
});

test('an asset that is taken off has a last price and no candle after it', () => {
  const off = Number(PLAN.delists?.at);
  const of = String(PLAN.delists?.asset);
  const span = { from: off - DAY, to: off + DAY };
  const candles = MARKETS.rows({ venue: 'bybit', series: 'candles', of }, span);
  expect(Math.max(...candles.map(({ at }) => at))).toBe(off - HOUR);
  const listed = MARKETS.rows({ venue: 'bybit', series: 'listings', of }, ALL);
  const last = candles.filter(({ at, revision }) => at === off - HOUR && revision === 0);
  expect(listed.map(({ state, price }) => [state, price]).at(-1)).toEqual([
    'delisted',
    last[0]?.close,
  ]);
  expect(listed[0]?.state).toBe('trading');
});

test('what a silent venue tells only as it happens is a hole, its candles are told afterwards', async () => {
  const { silent } = PLAN;
  if (silent === null) throw new Error('test: a plan without a silent venue');
  const span = { from: silent.from - 12 * HOUR, to: silent.to + 12 * HOUR };
  const store = memorySeriesStore();
  await plantMarkets(store, MARKETS, span);
  const { venue } = silent;
  const read = (series: 'candles' | 'liquidations', asOf?: number) =>
    store.read({ venue, series, of: 'BTC' }, span, {
      ...(asOf === undefined ? {} : { asOf }),
      signal: SIGNAL,
    });
  expect(await read('liquidations')).toBeInstanceOf(Part);
  expect(await read('candles')).toBeInstanceOf(Read);
  expect(await read('candles', silent.to - 1)).toBeInstanceOf(Part);
  const other = await store.read({ venue: 'bybit', series: 'liquidations', of: 'BTC' }, span, {
    signal: SIGNAL,
  });
  expect(other).toBeInstanceOf(Read);
});
