// What came of some calls: counts and rates of the calls, and a portfolio by the calendar that
// holds in each hour an equal part of every call that is open in it. Calls that overlap count their
// hours once in the portfolio, and are one cluster where an interval is told.

import { DAY_S, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { countOrZero, rate } from '../../evidence/measure.ts';
import { type Estimate, estimateShare } from '../../evidence/statistics.ts';
import type { RanSpan } from '../../ports/emitted-calls.ts';
import { CLOSED, type EdgeRecord, WITHOUT_PRICE } from './record.ts';
import { EQUITY_POINTS_MAX } from './shapes.ts';

/** The basis points of a whole. */
export const BPS = 10_000;
const DAY_H = DAY_S / HOUR_S;
/** Under so many days a ratio of Sharpe says nothing. */
export const SHARPE_DAYS_MIN = 30;
const DAYS_A_YEAR = 365;

/** The closed calls among some. */
export function closedCalls({ columns }: EdgeRecord, picked: Uint32Array): Uint32Array {
  return picked.filter((at) => columns.state[at] === CLOSED);
}

/** The return of a closed call after funding and cost, as a fraction. */
export function netReturn({ columns }: EdgeRecord, at: number, cost: number): number {
  return Number(columns.gross[at]) - Number(columns.funding[at]) - cost;
}

/**
 * The cluster of each closed call, in their order: calls of one asset that overlap are one, as are
 * those that a third joins.
 */
export function clustersOf({ columns, instruments }: EdgeRecord, closed: Uint32Array): Uint32Array {
  const open = new Map<string, { number: number; end: number }>();
  let count = 0;
  const numbers = new Uint32Array(closed.length);
  const order = closed.map((_, place) => place);
  order.sort((a, b) => {
    const [one, other] = [Number(closed[a]), Number(closed[b])];
    return Number(columns.entryHour[one]) - Number(columns.entryHour[other]) || one - other;
  });
  for (const place of order) {
    const at = Number(closed[place]);
    const instrument = instruments[Number(columns.instrument[at])];
    if (instrument === undefined) throw new RangeError('a call without an instrument');
    const [entry, exit] = [Number(columns.entryHour[at]), Number(columns.exitHour[at])];
    const known = open.get(instrument.asset);
    if (known !== undefined && entry < known.end) {
      known.end = Math.max(known.end, exit);
      numbers[place] = known.number;
    } else {
      open.set(instrument.asset, { number: count, end: exit });
      numbers[place] = count;
      count += 1;
    }
  }
  return numbers;
}

/** As many single calls as calls in clusters are worth (Kish); 0 without one. */
export function worthOf(clusters: Uint32Array): number {
  const sizes = new Map<number, number>();
  for (const one of clusters) sizes.set(one, countOrZero(sizes.get(one)) + 1);
  let squares = 0;
  for (const size of sizes.values()) squares += size * size;
  return squares === 0 ? 0 : clusters.length ** 2 / squares;
}

/** Counts and measures of some calls. Returns are in basis points; `null` is unmeasured. */
export type CallMeasures = {
  readonly n: number;
  readonly closed: number;
  readonly open: number;
  readonly unpriced: number;
  readonly hits: number;
  readonly hit_rate: number | null;
  readonly interval: { readonly low: number; readonly high: number } | null;
  /** As many independent calls as the closed ones are worth. */
  readonly effective_n: number;
  readonly mean_return_bps: number | null;
  readonly median_return_bps: number | null;
  readonly gross: {
    readonly hit_rate: number | null;
    readonly mean_return_bps: number | null;
    readonly median_return_bps: number | null;
  };
  readonly mean_funding_bps: number | null;
  /** The cost at which the mean return is zero. */
  readonly breakeven_cost_bps: number | null;
};

/** Measures some calls at a cost of their round trip. */
export function measureCalls(
  record: EdgeRecord,
  picked: Uint32Array,
  cost_bps: number,
): CallMeasures {
  const { columns } = record;
  const closed = closedCalls(record, picked);
  const unpriced = picked.reduce(
    (sum, at) => sum + (columns.state[at] === WITHOUT_PRICE ? 1 : 0),
    0,
  );
  const n = closed.length;
  const net = Float64Array.from(closed, (at) => netReturn(record, at, cost_bps / BPS));
  const gross = Float64Array.from(closed, (at) => Number(columns.gross[at]));
  const hits = net.reduce((sum, one) => sum + (one > 0 ? 1 : 0), 0);
  const effective_n = worthOf(clustersOf(record, closed));
  const hit_rate = rate(hits, n);
  const breakeven = meanBps(Float64Array.from(closed, (at) => netReturn(record, at, 0)));
  const funding = meanBps(Float64Array.from(closed, (at) => Number(columns.funding[at])));
  return {
    n: picked.length,
    closed: n,
    open: picked.length - n - unpriced,
    unpriced,
    hits,
    hit_rate,
    interval: intervalEnds(estimateShare(hit_rate, effective_n)),
    effective_n,
    mean_return_bps: breakeven === null ? null : breakeven - cost_bps,
    median_return_bps: medianBps(net),
    gross: {
      hit_rate: rate(
        gross.reduce((sum, one) => sum + (one > 0 ? 1 : 0), 0),
        n,
      ),
      mean_return_bps: meanBps(gross),
      median_return_bps: medianBps(gross),
    },
    mean_funding_bps: funding,
    breakeven_cost_bps: breakeven,
  };
}

/** The ends of an estimate that has them. */
export function intervalEnds(estimate: Estimate | null) {
  if (estimate === null || estimate.low === null || estimate.high === null) return null;
  return { low: estimate.low, high: estimate.high };
}

function meanBps(values: Float64Array): number | null {
  const sum = rate(
    values.reduce((total, one) => total + one, 0),
    values.length,
  );
  return sum === null ? null : sum * BPS;
}

function medianBps(values: Float64Array): number | null {
  if (values.length === 0) return null;
  const sorted = values.slice().sort();
  const half = Math.floor((sorted.length - 1) / 2);
  return ((Number(sorted[half]) + Number(sorted[sorted.length - 1 - half])) / 2) * BPS;
}

// The portfolio by the calendar.

/** Hours since 1970, without `to`. */
export type Hours = { readonly from: number; readonly to: number };

/** By hour: the sum of the returns of the calls that were open in it, and how many those were. */
export type Book = { readonly sum: Float64Array; readonly open: Uint32Array };

export function emptyBook({ from, to }: Hours): Book {
  const length = Math.max(0, to - from);
  return { sum: new Float64Array(length), open: new Uint32Array(length) };
}

/**
 * Lays a closed call into a book. It enters and leaves at its own prices and moves with the candles
 * between; half of the cost falls on each end, and its funding on all of its hours alike.
 */
export function layCall(
  { columns, prices, fromHour }: EdgeRecord,
  at: number,
  cost: number,
  { from, to }: Hours,
  book: Book,
): void {
  const price = prices[Number(columns.instrument[at])];
  if (price === undefined) throw new RangeError('a call without prices');
  const { opens, moves } = price;
  const { sum, open } = book;
  const [entry, exit] = [Number(columns.entryHour[at]), Number(columns.exitHour[at])];
  const direction = Number(columns.direction[at]);
  const funding = Number(columns.funding[at]) / (exit - entry);
  const end = Math.min(exit, to);
  for (let hour = Math.max(entry, from); hour < end; hour += 1) {
    const place = hour - from;
    sum[place] = Number(sum[place]) + direction * Number(moves[hour - fromHour]) - funding;
    open[place] = Number(open[place]) + 1;
  }
  // Both ends move from and to the call's own prices instead.
  const correct = (hour: number, start: number, stop: number, ends: number) => {
    if (hour < from || hour >= to) return;
    const own = stop / start - 1;
    const more = (Number.isNaN(own) ? 0 : own) - Number(moves[hour - fromHour]);
    sum[hour - from] = Number(sum[hour - from]) + direction * more - (ends * cost) / 2;
  };
  const last = exit - 1;
  const [bought, sold] = [Number(columns.entry[at]), Number(columns.exit[at])];
  if (last === entry) correct(entry, bought, sold, 2);
  else {
    correct(entry, bought, Number(opens[entry + 1 - fromHour]), 1);
    correct(last, Number(opens[last - fromHour]), sold, 1);
  }
}

/** Hours that some closed calls were held, all together. */
export function heldHours({ columns }: EdgeRecord, closed: Uint32Array): number {
  return closed.reduce(
    (sum, at) => sum + Number(columns.exitHour[at]) - Number(columns.entryHour[at]),
    0,
  );
}

/** Hours that some calls were held and of which nobody read the candle between their ends. */
export function unreadHours(
  { columns, prices, fromHour }: EdgeRecord,
  closed: Uint32Array,
): number {
  let unread = 0;
  for (const at of closed) {
    const before = prices[Number(columns.instrument[at])]?.unreadBefore;
    if (before === undefined) throw new RangeError('a call without prices');
    const end = Math.min(Number(columns.exitHour[at]) - fromHour, before.length - 1);
    const start = Math.min(Number(columns.entryHour[at]) + 1 - fromHour, end);
    unread += Number(before[end]) - Number(before[start]);
  }
  return unread;
}

/** Moments of daily returns. The kurtosis is raw: that of a normal distribution is 3. */
export type Moments = {
  readonly n: number;
  readonly mean: number;
  /** Of a sample: over n − 1. */
  readonly deviation: number;
  readonly skew: number;
  readonly kurtosis: number;
};

/** The moments of some returns; `null` for under 30 or where they do not vary. */
export function momentsOf(returns: ArrayLike<number>): Moments | null {
  const n = returns.length;
  if (n < SHARPE_DAYS_MIN) return null;
  let mean = 0;
  for (let at = 0; at < n; at += 1) mean += Number(returns[at]) / n;
  let [second, third, fourth] = [0, 0, 0];
  for (let at = 0; at < n; at += 1) {
    const from = Number(returns[at]) - mean;
    const square = from * from;
    second += square / n;
    third += (square * from) / n;
    fourth += (square * square) / n;
  }
  if (!(second > (Math.abs(mean) * FLAT) ** 2)) return null;
  return {
    n,
    mean,
    deviation: Math.sqrt((second * n) / (n - 1)),
    skew: third / second ** 1.5,
    kurtosis: fourth / second ** 2,
  };
}

/** Returns that differ by less of their mean are told apart by rounding alone. */
const FLAT = 1e-12;

/** The ratio of Sharpe of a day. */
export function dailySharpe({ mean, deviation }: Moments): number {
  return mean / deviation;
}

/** The ratio of Sharpe of a year. */
export function yearlySharpe(moments: Moments): number {
  return dailySharpe(moments) * Math.sqrt(DAYS_A_YEAR);
}

/** How far a path fell at most from what it had reached, as a fraction. */
export function maxDrawdown(path: ArrayLike<number>): number {
  let [peak, most] = [Number.NEGATIVE_INFINITY, 0];
  for (let at = 0; at < path.length; at += 1) {
    const value = Number(path[at]);
    if (value > peak) peak = value;
    if (peak > 0) most = Math.max(most, 1 - value / peak);
  }
  return most;
}

/** What a portfolio came to. */
export type Portfolio = {
  /** From 1 on, by the hour: the value after each hour, with the beginning in front. */
  readonly path: Float64Array;
  /** The returns of the whole UTC days that count. */
  readonly daily: Float64Array;
  /** Whole days in which nothing was held and nobody looked: they count nowhere. */
  readonly daysUnread: number;
  readonly hoursHeld: number;
};

/**
 * Compounds a book. A day counts where something was held in it, or where the producers ran all of
 * it and called nothing. The path is written into the array that is given, if one is.
 */
export function compoundBook(
  { sum, open }: Book,
  { from }: Hours,
  hasRun: (day: number) => boolean,
  path: Float64Array = new Float64Array(sum.length + 1),
): Portfolio {
  path[0] = 1;
  const daily: number[] = [];
  let [value, hoursHeld, daysUnread] = [1, 0, 0];
  for (let start = 0; start < sum.length; ) {
    const day = Math.floor((from + start) / DAY_H);
    const end = Math.min(sum.length, (day + 1) * DAY_H - from);
    const atStart = value;
    let heldInDay = 0;
    for (let at = start; at < end; at += 1) {
      const held = Number(open[at]);
      if (held > 0) {
        value *= Math.max(0, 1 + Number(sum[at]) / held);
        heldInDay += 1;
      }
      path[at + 1] = value;
    }
    hoursHeld += heldInDay;
    if (end - start === DAY_H) {
      // What was lost whole moves no more: its days count as days without a movement.
      if (heldInDay > 0 || hasRun(day)) daily.push(atStart > 0 ? value / atStart - 1 : 0);
      else daysUnread += 1;
    }
    start = end;
  }
  return { path, daily: Float64Array.from(daily), daysUnread, hoursHeld };
}

/** The value by the day, in at most 1,000 points, the first and the last among them. */
export function equityPoints(
  { path }: Pick<Portfolio, 'path'>,
  { from }: Hours,
): readonly { readonly t: UnixSeconds; readonly v: number }[] {
  const last = path.length - 1;
  const days = Math.max(1, Math.ceil(last / DAY_H));
  const step = Math.ceil(days / (EQUITY_POINTS_MAX - 1)) * DAY_H;
  const points: { readonly t: UnixSeconds; readonly v: number }[] = [];
  for (let at = last; at > 0; at -= step) points.push(pointAt(path, from, at));
  points.push(pointAt(path, from, 0));
  return points.reverse();
}

function pointAt(path: Float64Array, from: number, at: number) {
  return { t: (from + at) * HOUR_S, v: Number(path[at]) };
}

/** Whether all of some kinds' producers ran in all of a UTC day. */
export function hasRunAll(spans: readonly (readonly RanSpan[])[], day: number): boolean {
  const [from, to] = [day * DAY_S, (day + 1) * DAY_S];
  return spans.every((own) => own.some((span) => span.from <= from && span.to >= to));
}
