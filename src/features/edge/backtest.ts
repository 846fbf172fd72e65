// What came of some calls: counts and rates of the calls, and a portfolio by the calendar that
// holds in each hour an equal part of every call that is open in it. Calls that overlap count their
// hours once in the portfolio, and are one cluster where an interval is told.

import { DAY_S, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { rate } from '../../evidence/measure.ts';
import { type Estimate, estimateShare } from '../../evidence/statistics.ts';
import type { RanSpan } from '../../ports/emitted-calls.ts';
import { CLOSED, type RecordColumns, WITHOUT_PRICE } from './record.ts';
import { EQUITY_POINTS_MAX } from './shapes.ts';

/** The basis points of a whole. */
export const BPS = 10_000;
/** Hours in a day. */
export const DAY_H = DAY_S / HOUR_S;
/** Under so many days a ratio of Sharpe says nothing. */
export const SHARPE_DAYS_MIN = 30;
const DAYS_A_YEAR = 365;

/** The closed calls among some. */
export function closedCalls({ columns }: RecordColumns, picked: Uint32Array): Uint32Array {
  return pickCalls(columns.state, picked, CLOSED);
}

/** Those of some calls whose column holds a value, in their order. */
export function pickCalls(
  column: Uint8Array,
  picked: Uint32Array,
  value: number,
): Uint32Array<ArrayBuffer> {
  const kept = new Uint32Array(picked.length);
  let count = 0;
  for (const at of picked) {
    if (column[at] !== value) continue;
    kept[count] = at;
    count += 1;
  }
  return kept.slice(0, count);
}

/** The return of a closed call after funding and cost, as a fraction. */
export function netReturn({ columns }: RecordColumns, at: number, cost: number): number {
  return Number(columns.gross[at]) - Number(columns.funding[at]) - cost;
}

/**
 * The cluster of each closed call, in their order: calls of one asset that overlap are one, as are
 * those that a third joins.
 */
export function clustersOf(record: RecordColumns, closed: Uint32Array): Uint32Array {
  const { columns, byEntry, instruments } = record;
  // One more than the place of each call among those that count; 0 is none of them.
  const placed = new Uint32Array(columns.kind.length);
  for (let place = 0; place < closed.length; place += 1) placed[Number(closed[place])] = place + 1;
  const assets = [...new Set(instruments.map(({ asset }) => asset))];
  const assetOf = Uint16Array.from(instruments, ({ asset }) => assets.indexOf(asset));
  // By asset, the cluster that is open, and the hour in which its last call closes.
  const open = new Uint32Array(assets.length);
  const ends = new Float64Array(assets.length).fill(Number.NEGATIVE_INFINITY);
  let count = 0;
  const numbers = new Uint32Array(closed.length);
  for (const at of byEntry) {
    const place = Number(placed[at]) - 1;
    if (place < 0) continue;
    const asset = Number(assetOf[Number(columns.instrument[at])]);
    const [exit, end] = [Number(columns.exitHour[at]), Number(ends[asset])];
    if (Number(columns.entryHour[at]) < end) ends[asset] = Math.max(end, exit);
    else {
      open[asset] = count;
      ends[asset] = exit;
      count += 1;
    }
    numbers[place] = Number(open[asset]);
  }
  return numbers;
}

/** As many single calls as calls in clusters are worth (Kish); 0 without one. */
export function worthOf(clusters: Uint32Array): number {
  const sizes = new Uint32Array(clusters.reduce((most, one) => Math.max(most, one), 0) + 1);
  for (const one of clusters) sizes[one] = Number(sizes[one]) + 1;
  let squares = 0;
  for (const size of sizes) squares += size * size;
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
  record: RecordColumns,
  picked: Uint32Array,
  cost_bps: number,
): CallMeasures {
  const { columns } = record;
  const closed = closedCalls(record, picked);
  const unpriced = pickCalls(columns.state, picked, WITHOUT_PRICE).length;
  const n = closed.length;
  const [net, gross] = [new Float64Array(n), new Float64Array(n)];
  const [free, funding] = [new Float64Array(n), new Float64Array(n)];
  for (let place = 0; place < n; place += 1) {
    const at = Number(closed[place]);
    net[place] = netReturn(record, at, cost_bps / BPS);
    free[place] = netReturn(record, at, 0);
    gross[place] = Number(columns.gross[at]);
    funding[place] = Number(columns.funding[at]);
  }
  const hits = hitsAmong(net);
  const effective_n = worthOf(clustersOf(record, closed));
  const hit_rate = rate(hits, n);
  const breakeven = meanBps(free);
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
      hit_rate: rate(hitsAmong(gross), n),
      mean_return_bps: meanBps(gross),
      median_return_bps: medianBps(gross),
    },
    mean_funding_bps: meanBps(funding),
    breakeven_cost_bps: breakeven,
  };
}

function hitsAmong(returns: Float64Array): number {
  let hits = 0;
  for (const one of returns) if (one > 0) hits += 1;
  return hits;
}

/** The ends of an estimate that has them. */
export function intervalEnds(estimate: Estimate | null) {
  if (estimate === null || estimate.low === null || estimate.high === null) return null;
  return { low: estimate.low, high: estimate.high };
}

function meanBps(values: Float64Array): number | null {
  let total = 0;
  for (const one of values) total += one;
  const mean = rate(total, values.length);
  return mean === null ? null : mean * BPS;
}

/** Puts the values in another order. */
function medianBps(values: Float64Array): number | null {
  const last = values.length - 1;
  if (last < 0) return null;
  const half = Math.floor(last / 2);
  return ((selectRank(values, half) + selectRank(values, last - half)) / 2) * BPS;
}

/**
 * The value that would stand at a place if all were sorted (Hoare's selection): what lies before it
 * is no greater then, and what lies behind it no less.
 */
function selectRank(values: Float64Array, rank: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const pivot = Number(values[(low + high) >> 1]);
    let [left, right] = [low, high];
    while (left <= right) {
      while (Number(values[left]) < pivot) left += 1;
      while (Number(values[right]) > pivot) right -= 1;
      if (left > right) break;
      const kept = Number(values[left]);
      values[left] = Number(values[right]);
      values[right] = kept;
      left += 1;
      right -= 1;
    }
    if (rank <= right) high = right;
    else if (rank >= left) low = left;
    else break;
  }
  return Number(values[rank]);
}

// The portfolio by the calendar.

/** Hours since 1970, without `to`. */
export type Hours = { readonly from: number; readonly to: number };

/** By hour: the sum of the returns of the calls that were open in it, and how many those were. */
export type Book = { readonly sum: Float64Array; readonly open: Float64Array };

export function emptyBook({ from, to }: Hours): Book {
  const length = Math.max(0, to - from);
  return { sum: new Float64Array(length), open: new Float64Array(length) };
}

/**
 * Lays a closed call into a book. It enters and leaves at its own prices and moves with the candles
 * between; half of the cost falls on each end, and its funding on all of its hours alike.
 */
export function layCall(
  { columns, prices, fromHour }: RecordColumns,
  at: number,
  cost: number,
  { from, to }: Hours,
  { sum, open }: Book,
): void {
  const price = prices[Number(columns.instrument[at])];
  if (price === undefined) throw new RangeError('a call without prices');
  const { opens, moves } = price;
  const [entry, exit] = [Number(columns.entryHour[at]), Number(columns.exitHour[at])];
  const direction = Number(columns.direction[at]);
  const funding = Number(columns.funding[at]) / (exit - entry);
  const [start, end] = [Math.max(entry, from), Math.min(exit, to)];
  let place = start - from;
  for (let hour = start - fromHour; hour < end - fromHour; hour += 1) {
    sum[place] = Number(sum[place]) + direction * Number(moves[hour]) - funding;
    open[place] = Number(open[place]) + 1;
    place += 1;
  }
  // Both ends move from and to the call's own prices instead.
  const correct = (hour: number, first: number, final: number, ends: number) => {
    if (hour < from || hour >= to) return;
    const own = final / first - 1;
    const more = (Number.isNaN(own) ? 0 : own) - Number(moves[hour - fromHour]);
    const where = hour - from;
    sum[where] = Number(sum[where]) + direction * more - (ends * cost) / 2;
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
export function heldHours({ columns }: RecordColumns, closed: Uint32Array): number {
  let sum = 0;
  for (const at of closed) sum += Number(columns.exitHour[at]) - Number(columns.entryHour[at]);
  return sum;
}

/** Hours that some calls were held and of which nobody read the candle between their ends. */
export function unreadHours(
  { columns, prices, fromHour }: RecordColumns,
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
 * it and called nothing.
 */
export function compoundBook(
  { sum, open }: Book,
  { from }: Hours,
  hasRun: (day: number) => boolean,
): Portfolio {
  const path = new Float64Array(sum.length + 1);
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
