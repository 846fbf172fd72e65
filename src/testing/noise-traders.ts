// Simulated traders, without skill or with one that was put in, through the analysis that runs: how
// often it labels them. `npm run bench:temporal` prints the table; the suite runs a tenth of it.

import { wilsonInterval } from '../evidence/statistics.ts';
import { classify, isLongEnough } from '../features/traders/classification.ts';
import {
  type BucketTest,
  cellOf,
  concentrate,
  sequenceOf,
  testByBlocks,
  WINDOWS,
} from '../features/traders/concentration.ts';
import { exposedHours, hourOf } from '../features/traders/exposure.ts';
import { bucketStatistics, permutationPValues } from '../features/traders/null-model.ts';
import { sortFills } from '../features/traders/trades.ts';
import { type AccountFunding, CANDLE_MS, type Fill } from '../ports/series.ts';
import { type WorldFunding, type WorldTrader, worldCandles, worldFills } from '../world/traders.ts';
import {
  fillsOf,
  NO_SKILL,
  type NoiseKind,
  type SimulatedFill,
  type SimulatedMarket,
  type Skill,
  simulateMarket,
  simulateTrades,
  USUAL_BUSY_TIMES,
} from '../world/trading.ts';

const FROM = Date.UTC(2026, 0, 5);
const TRADES = 300;
const DAYS = 32;
const COIN = 'BTC';
const HOURS_OF_MARKET = 3 * DAYS * 24;
/** One who sleeps is awake in the planted session. */
const BEDTIMES = 6;

/** How outcomes are moved: as the product does, freely, or the whole clock by an hour or more. */
export type Moving = 'blocks' | 'free' | 'clock';

export type NoiseTrial = {
  readonly noise: NoiseKind;
  readonly planted: boolean;
  readonly moving: Moving;
  readonly traders: number;
  readonly permutations: number;
};

/** Of so many traders how many got any label, and how many the planted one. */
export type TrialResult = {
  readonly traders: number;
  readonly labelled: number;
  readonly found: number;
  readonly interval: { readonly low: number; readonly high: number } | null;
  /** The mean ratio of the planted session, of gains for each exposed hour. */
  readonly ratio: number;
};

/** The style that is planted. */
export const PLANTED_STYLE = 'us_session';
const [, , US] = WINDOWS.session;

/**
 * Twice as often right in one session as outside: gains come twice as fast there, in a market that
 * moves alike in all hours of a day.
 */
const PLANT: Skill = {
  right: (closes) => (US?.cells.has(cellOf(closes)) === true ? 0.8 : 0.4),
  gains: () => 1,
};

/** Runs a trial; the same trial gives the same counts. */
export function runTrial(trial: NoiseTrial): TrialResult {
  const { noise, planted, moving, traders, permutations } = trial;
  let [labelled, found, ratios] = [0, 0, 0];
  for (let seed = 1; seed <= traders; seed += 1) {
    const span = { from: FROM, hours: HOURS_OF_MARKET };
    const market = simulateMarket(seed, span, 100, planted ? 1 : USUAL_BUSY_TIMES);
    const trades = simulateTrades(seed + 1_000_000, market, {
      noise,
      trades: TRADES,
      days: DAYS,
      sleeps_from: seed % (planted ? BEDTIMES : 24),
      until: Number.POSITIVE_INFINITY,
      skill: planted ? PLANT : NO_SKILL,
    });
    const fills = fillsOf(trades, market, COIN, 1).map(asFill);
    const { labels, ratio } = labelsOf(fills, market, { seed, moving, permutations });
    if (labels.length > 0) labelled += 1;
    if (labels.includes(PLANTED_STYLE)) found += 1;
    ratios += ratio;
  }
  const interval = wilsonInterval(planted ? found : labelled, traders);
  return { traders, labelled, found, interval, ratio: ratios / traders };
}

/** A simulated fill in the form of the series. */
export function asFill(fill: SimulatedFill): Fill {
  return {
    at: fill.at,
    coin: fill.coin,
    side: fill.side,
    px: decimalText(fill.px),
    sz: decimalText(fill.sz),
    start_position: decimalText(fill.start_position),
    dir: '',
    closed_pnl: fill.closed_pnl.toFixed(6),
    fee: '0',
    fee_token: 'USDC',
    oid: fill.oid,
    tid: fill.tid,
    crossed: true,
    hash: '0x',
    liquidation: null,
  };
}

/** Simulated funding in the form of the series. */
export function asFunding({ at, coin, szi, rate, usdc }: WorldFunding): AccountFunding {
  return {
    at,
    coin,
    szi: szi.toFixed(8),
    rate: rate.toFixed(12),
    usdc: usdc.toFixed(6),
    samples: null,
    hash: '0x',
  };
}

function decimalText(value: number): string {
  return value.toFixed(12);
}

/** The candles of a market. */
export function candlesOf({ from, opens }: SimulatedMarket) {
  const rows = Array.from({ length: opens.length - 1 }, (_, hour) => {
    const [open, close] = [String(opens[hour]), String(opens[hour + 1])];
    return [from + hour * CANDLE_MS, { open, close }] as const;
  });
  return new Map(rows);
}

function labelsOf(
  fills: readonly Fill[],
  market: SimulatedMarket,
  {
    seed,
    moving,
    permutations,
  }: { readonly seed: number; readonly moving: Moving; readonly permutations: number },
): { readonly labels: readonly string[]; readonly ratio: number } {
  const { trades, perps } = sortFills(fills, new Set());
  const last = fills.reduce((most, { at }) => Math.max(most, at), 0);
  const hours = exposedHours(perps, new Map([[COIN, candlesOf(market)]]), hourOf(last) + CANDLE_MS);
  const input = { trades, hours, seed, permutations, testable: true, resamples: 0 };
  const { modes } = concentrate(input, TESTS[moving]);
  const record = { trades: trades.length, from: FROM, to: last, horizon_reached: false };
  const planted = modes.realization.session.find(({ bucket }) => bucket === 'us');
  return {
    labels: classify(modes, record).labels.map(({ label }) => label),
    ratio: Number(planted?.ratio),
  };
}

const HOURS_OF_WEEK = 168;
/** The cell of each hour of a week that begins with the epoch. */
const CELLS_OF_WEEK = Array.from({ length: HOURS_OF_WEEK }, (_, hour) => cellOf(hour * CANDLE_MS));

/**
 * The tests of the trial. A shift against the clock moves all outcomes by the same hours: sessions
 * and hours of day know 24 of them, so that no p is under 1/24, however strong the style is.
 */
const TESTS: { readonly [M in Moving]: BucketTest } = {
  blocks: testByBlocks,
  free: (outcomes, buckets, moves) => {
    const p = permutationPValues(sequenceOf(outcomes), buckets, { ...moves, block_mean: 1 });
    return { p, block_mean: 1 };
  },
  clock: (outcomes, buckets) => {
    const sequence = sequenceOf(outcomes);
    const statistics = bucketStatistics(sequence, buckets);
    const hours = outcomes.map(({ at }) => Math.floor(at / CANDLE_MS));
    const shifts = CELLS_OF_WEEK.map((_, by) => {
      const cells = hours.map((hour) => Number(CELLS_OF_WEEK[(hour + by) % HOURS_OF_WEEK]));
      return statistics(sequence.scores, Uint8Array.from(cells));
    });
    const [observed] = shifts;
    const p = buckets.map((_, at) => {
      const reached = shifts.filter((one) => Number(one[at]) >= Number(observed?.[at]));
      return reached.length / shifts.length;
    });
    return { p, block_mean: outcomes.length };
  },
};

/** What the analysis finds in the fills of a trader of the world up to a time in ms. */
export function labelsOfWorldTrader(trader: WorldTrader, now: number, permutations: number) {
  const fills = worldFills(trader, now).slice(-FILLS_KEPT).map(asFill);
  const { trades, perps, self_trades } = sortFills(fills, new Set());
  const [first, last] = [perps[0], perps.at(-1)];
  const from = first === undefined ? hourOf(now) : hourOf(first.at);
  const candles = worldCandles(trader.coin, from, hourOf(now)).map((candle) => {
    const [open, close] = [String(candle.open), String(candle.close)];
    return [candle.at, { open, close }] as const;
  });
  const hours = exposedHours(perps, new Map([[trader.coin, new Map(candles)]]), hourOf(now));
  const record = {
    trades: trades.length,
    from: first === undefined ? null : first.at,
    to: last === undefined ? null : last.at,
    horizon_reached: fills.length === FILLS_KEPT,
  };
  const testable = isLongEnough(record);
  const input = { trades, hours, seed: 1, permutations, testable, resamples: 0 };
  const { labels, no_label } = classify(concentrate(input).modes, record);
  return { labels: [...new Set(labels.map(({ label }) => label))], no_label, self_trades };
}

/** The venue keeps no older fills. */
const FILLS_KEPT = 10_000;
