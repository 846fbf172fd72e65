// How much of a result may be luck: the same calls at other times, the same assets without calls,
// and the ratio of Sharpe against the best of as many tries (Bailey and López de Prado 2014).

import { normalCdf, normalQuantile } from '../../evidence/distributions.ts';
import { rate } from '../../evidence/measure.ts';
import { sharesFrom } from '../../evidence/random.ts';
import { DETECTOR_KINDS } from '../../ports/emitted-calls.ts';
import {
  type Book,
  BPS,
  compoundBook,
  DAY_H,
  dailySharpe,
  emptyBook,
  type Hours,
  layCall,
  type Moments,
  momentsOf,
} from './backtest.ts';
import {
  LISTED_CONVICTIONS,
  LISTED_DIRECTIONS,
  LISTED_KINDS,
  type ListedFilter,
} from './filters.ts';
import type { RecordColumns } from './record.ts';

// Deflation.

/** A ratio of Sharpe as luck would have it after some tries. */
export type Deflated = {
  /** That the true ratio is over zero although the best of so many was taken. */
  readonly probability: number;
  /** The ratio, of a day, that the best of so many without any edge would be expected to show. */
  readonly sharpe_0: number;
};

/** What a deflation rests on. `variance` is that of the tries' daily ratios. */
export type Tries = { readonly trials: number; readonly variance: number | null };

const EULER = 0.5772156649015329;

/** The highest daily ratio that so many tries without any edge are expected to show. */
export function expectedBest({ trials, variance }: Tries): number {
  // One try alone is not the best of several, whatever others vary by.
  if (trials <= 1) return 0;
  if (variance === null) throw new RangeError('several tries whose variance nobody measured');
  const best =
    (1 - EULER) * normalQuantile(1 - 1 / trials) +
    EULER * normalQuantile(1 - 1 / (trials * Math.E));
  return Math.sqrt(variance) * best;
}

/**
 * The deflated ratio of Sharpe. `sharpe` is of a day, never of a year; the kurtosis is raw, never
 * what is over that of a normal distribution.
 */
export function deflateSharpe(
  sharpe: number,
  { n, skew, kurtosis }: Pick<Moments, 'n' | 'skew' | 'kurtosis'>,
  tries: Tries,
): Deflated {
  const sharpe_0 = expectedBest(tries);
  const spread = Math.sqrt(1 - skew * sharpe + ((kurtosis - 1) / 4) * sharpe ** 2);
  const probability = normalCdf(((sharpe - sharpe_0) * Math.sqrt(n - 1)) / spread);
  return { probability, sharpe_0 };
}

// The listed family: what anybody could have tried.

/** A combination of the family, with its closed calls and its daily ratio of Sharpe. */
export type FamilyMember = ListedFilter & {
  readonly closed: number;
  readonly sharpe: Moments | null;
};

/** The listed combinations with enough closed calls, and how their ratios vary. */
export type Family = {
  readonly members: readonly FamilyMember[];
  /** Of the daily ratios; `null` where fewer than two are measured. */
  readonly variance: number | null;
};

/** Under so many closed calls a combination is not listed. */
export const LISTED_CLOSED_MIN = 30;

const SIDES = 2;
const BUCKETS = LISTED_CONVICTIONS.length;
/** Calls of one kind, direction and conviction are laid into one book: so many there are. */
const CELLS = DETECTOR_KINDS.length * SIDES * BUCKETS;
/** Combinations of one kind, or of all of them: by direction, then by conviction. */
const OF_KIND = LISTED_DIRECTIONS.length * BUCKETS;
const COMBINATIONS = LISTED_KINDS.length * OF_KIND;

/** The combinations, in the order of their sums. */
const LISTED: readonly Omit<ListedFilter, 'asset'>[] = LISTED_KINDS.flatMap((kind) =>
  LISTED_DIRECTIONS.flatMap((direction) =>
    LISTED_CONVICTIONS.map((min_conviction) => ({ kind, direction, min_conviction })),
  ),
);

/** Days since 1970, without `end`. */
export type Days = { readonly first: number; readonly end: number };

/** What the family is measured over: plain data, which another thread can be sent. */
export type FamilyOrder = {
  readonly record: RecordColumns;
  /** The places of the closed calls. */
  readonly closed: Uint32Array;
  readonly cost_bps: number;
  readonly hours: Hours;
  /** Of each day from that of the first hour on: by listed kind, whether its producers ran it. */
  readonly ran: readonly (readonly boolean[])[];
};

/** The days that some hours lie in. */
export function daysOf({ from, to }: Hours): Days {
  return { first: Math.floor(from / DAY_H), end: Math.ceil(to / DAY_H) };
}

/** The combinations of an asset, or of all of them, as they are compounded day after day. */
type FamilyRow = {
  readonly asset: string | null;
  /** Closed calls by cell. */
  readonly closed: Float64Array;
  /** The value of each combination. */
  readonly value: Float64Array;
  /** Day after day, the return of each combination, and whether the day counts for it. */
  readonly daily: Float64Array;
  readonly counts: Uint8Array;
};

/**
 * Measures every listed combination over some closed calls at once, day after day: the calls of a
 * day are laid into books by kind, direction and conviction, of which each combination is a sum.
 */
export function measureFamily({ record, closed, cost_bps, hours, ran }: FamilyOrder): Family {
  const days = daysOf(hours);
  const names = record.instruments.map(({ asset }) => asset);
  const assets = [...new Set(names)].sort();
  const rowOf = Uint16Array.from(names, (asset) => assets.indexOf(asset));
  const cells = Uint8Array.from(closed, (at) => cellOf(record, at));
  const whole = emptyRow(null, days);
  const rows = assets.map((asset) => emptyRow(asset, days));
  for (const [place, at] of closed.entries()) {
    const cell = Number(cells[place]);
    const row = rows[Number(rowOf[Number(record.columns.instrument[at])])] as FamilyRow;
    row.closed[cell] = Number(row.closed[cell]) + 1;
    whole.closed[cell] = Number(whole.closed[cell]) + 1;
  }
  const ofDay = callsByDay(record, closed, { rowOf, rows: rows.length, days });
  const a_day = { from: 0, to: DAY_H };
  const [own, together] = [emptyBook(a_day, CELLS), emptyBook(a_day, CELLS)];
  const [ownLaid, allLaid] = [new Float64Array(CELLS), new Float64Array(CELLS)];
  const compound = dayCompounder(days);
  for (let day = days.first; day < days.end; day += 1) {
    const span = {
      from: Math.max(hours.from, day * DAY_H),
      to: Math.min(hours.to, (day + 1) * DAY_H),
    };
    const ranDay = ran[day - days.first];
    if (ranDay === undefined) throw new RangeError('a day of which nobody says who ran');
    clearBook(together);
    allLaid.fill(0);
    for (const [place, row] of rows.entries()) {
      clearBook(own);
      ownLaid.fill(0);
      for (const call of ofDay(day, place)) {
        const at = Number(closed[call]);
        const offset = Number(cells[call]);
        layCall(record, at, cost_bps / BPS, span, own, { stride: CELLS, offset });
        ownLaid[offset] = Number(ownLaid[offset]) + 1;
      }
      compound(own, ownLaid, span, row, ranDay);
      addValues(own.sum, together.sum);
      addValues(own.open, together.open);
      addValues(ownLaid, allLaid);
    }
    compound(together, allLaid, span, whole, ranDay);
  }
  const members = [whole, ...rows].flatMap(membersOf);
  return { members, variance: varianceOf(members) };
}

function emptyRow(asset: string | null, { first, end }: Days): FamilyRow {
  return {
    asset,
    closed: new Float64Array(CELLS),
    value: new Float64Array(COMBINATIONS).fill(1),
    daily: new Float64Array((end - first) * COMBINATIONS),
    counts: new Uint8Array((end - first) * COMBINATIONS),
  };
}

function cellOf({ columns }: RecordColumns, at: number): number {
  const conviction = Number(columns.conviction[at]);
  let bucket = 0;
  for (let place = 0; place < BUCKETS; place += 1) {
    const least = LISTED_CONVICTIONS[place];
    if (typeof least === 'number' && conviction >= least) bucket = place;
  }
  const isShort = columns.direction[at] === -1 ? 1 : 0;
  return (Number(columns.kind[at]) * SIDES + isShort) * BUCKETS + bucket;
}

type ByDay = { readonly rowOf: Uint16Array; readonly rows: number; readonly days: Days };

/** The places of the closed calls that were open in a day, by row, in their order. */
function callsByDay(
  { columns }: RecordColumns,
  closed: Uint32Array,
  { rowOf, rows, days: { first, end } }: ByDay,
): (day: number, row: number) => Uint32Array {
  const eachList = (visit: (list: number, place: number) => void) => {
    for (let place = 0; place < closed.length; place += 1) {
      const at = Number(closed[place]);
      const row = Number(rowOf[Number(columns.instrument[at])]);
      const last = Math.min(end, Math.ceil(Number(columns.exitHour[at]) / DAY_H));
      let day = Math.max(first, Math.floor(Number(columns.entryHour[at]) / DAY_H));
      for (; day < last; day += 1) visit((day - first) * rows + row, place);
    }
  };
  // Lists lie one after the other: where each begins, and then where its next place is written.
  const begins = new Uint32Array((end - first) * rows + 1);
  eachList((list) => {
    begins[list + 1] = Number(begins[list + 1]) + 1;
  });
  for (let list = 1; list < begins.length; list += 1) {
    begins[list] = Number(begins[list]) + Number(begins[list - 1]);
  }
  const places = new Uint32Array(Number(begins.at(-1)));
  const next = begins.slice();
  eachList((list, place) => {
    places[Number(next[list])] = place;
    next[list] = Number(next[list]) + 1;
  });
  return (day, row) => {
    const list = (day - first) * rows + row;
    return places.subarray(Number(begins[list]), Number(begins[list + 1]));
  };
}

function clearBook({ sum, open }: Book): void {
  sum.fill(0);
  open.fill(0);
}

function addValues(from: Float64Array, to: Float64Array): void {
  for (let at = 0; at < from.length; at += 1) to[at] = Number(to[at]) + Number(from[at]);
}

/**
 * Sums the cells from a place on to the combinations: a conviction is reached by all that reach a
 * higher one, either direction is both of them, and all kinds are the kinds together. Written out
 * for the four convictions, since every hour of every asset passes here twice.
 */
function sumCombinations(cells: Float64Array, from: number, into: Float64Array): void {
  let [either0, either1, either2, either3] = [0, 0, 0, 0];
  let [longs0, longs1, longs2, longs3] = [0, 0, 0, 0];
  let [shorts0, shorts1, shorts2, shorts3] = [0, 0, 0, 0];
  for (let kind = 0; kind < DETECTOR_KINDS.length; kind += 1) {
    const at = from + kind * SIDES * BUCKETS;
    const long3 = Number(cells[at + 3]);
    const long2 = Number(cells[at + 2]) + long3;
    const long1 = Number(cells[at + 1]) + long2;
    const long0 = Number(cells[at]) + long1;
    const short3 = Number(cells[at + 7]);
    const short2 = Number(cells[at + 6]) + short3;
    const short1 = Number(cells[at + 5]) + short2;
    const short0 = Number(cells[at + 4]) + short1;
    const own = (kind + 1) * OF_KIND;
    writeFour(into, own, long0 + short0, long1 + short1, long2 + short2, long3 + short3);
    writeFour(into, own + 4, long0, long1, long2, long3);
    writeFour(into, own + 8, short0, short1, short2, short3);
    either0 += long0 + short0;
    either1 += long1 + short1;
    either2 += long2 + short2;
    either3 += long3 + short3;
    longs0 += long0;
    longs1 += long1;
    longs2 += long2;
    longs3 += long3;
    shorts0 += short0;
    shorts1 += short1;
    shorts2 += short2;
    shorts3 += short3;
  }
  writeFour(into, 0, either0, either1, either2, either3);
  writeFour(into, 4, longs0, longs1, longs2, longs3);
  writeFour(into, 8, shorts0, shorts1, shorts2, shorts3);
}

function writeFour(into: Float64Array, at: number, a: number, b: number, c: number, d: number) {
  into[at] = a;
  into[at + 1] = b;
  into[at + 2] = c;
  into[at + 3] = d;
}

/**
 * Compounds each combination of a row by a day, as `compoundBook` does with a book of its own: all
 * of them in one pass over the hours. `laid` counts the calls of the day by cell.
 */
function dayCompounder({ first }: Days) {
  const [sums, held] = [new Float64Array(COMBINATIONS), new Float64Array(COMBINATIONS)];
  const atStart = new Float64Array(COMBINATIONS);
  return (
    { sum, open }: Book,
    laid: Float64Array,
    { from, to }: Hours,
    { value, daily, counts }: FamilyRow,
    ran: readonly boolean[],
  ) => {
    atStart.set(value);
    for (let cells = 0; cells < (to - from) * CELLS; cells += CELLS) {
      sumCombinations(sum, cells, sums);
      sumCombinations(open, cells, held);
      // Where nothing is held the sum is 0, and the value stays without a branch of its own.
      for (let at = 0; at < COMBINATIONS; at += 1) {
        const own = Number(held[at]);
        const grown = 1 + Number(sums[at]) / (own === 0 ? 1 : own);
        value[at] = Number(value[at]) * Math.max(0, grown);
      }
    }
    if (to - from < DAY_H) return;
    sumCombinations(laid, 0, held);
    const day = (from / DAY_H - first) * COMBINATIONS;
    for (let at = 0; at < COMBINATIONS; at += 1) {
      if (held[at] === 0 && ran[Math.floor(at / OF_KIND)] !== true) continue;
      const start = Number(atStart[at]);
      daily[day + at] = start > 0 ? Number(value[at]) / start - 1 : 0;
      counts[day + at] = 1;
    }
  };
}

/** The combinations of a row that have enough closed calls. */
function membersOf({ asset, closed, daily, counts }: FamilyRow): readonly FamilyMember[] {
  const sums = new Float64Array(COMBINATIONS);
  sumCombinations(closed, 0, sums);
  const returns = new Float64Array(daily.length / COMBINATIONS);
  return LISTED.flatMap((combination, at) => {
    const own = Number(sums[at]);
    if (own < LISTED_CLOSED_MIN) return [];
    let counted = 0;
    for (let day = at; day < daily.length; day += COMBINATIONS) {
      if (counts[day] !== 1) continue;
      returns[counted] = Number(daily[day]);
      counted += 1;
    }
    const sharpe = momentsOf(returns.subarray(0, counted));
    const { kind, direction, min_conviction } = combination;
    return [{ kind, asset, direction, min_conviction, closed: own, sharpe }];
  });
}

function varianceOf(members: readonly FamilyMember[]): number | null {
  const ratios = members.flatMap(({ sharpe }) => (sharpe === null ? [] : [dailySharpe(sharpe)]));
  if (ratios.length < 2) return null;
  const mean = ratios.reduce((sum, one) => sum + one, 0) / ratios.length;
  return ratios.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (ratios.length - 1);
}

// Random entries: the whole set of calls is moved in time, so that number, assets, directions,
// horizons, spacing and overlap stay what they are.

export const RANDOM_ENTRIES = 1_000;
/** Under this share of hours with a candle the moved calls would stand on hours without a price. */
const READ_SHARE_MIN = 0.99;

export type RandomEntries = {
  /** `null`: it could not be told. */
  readonly p: number | null;
  readonly entries: number;
  readonly seed: number;
  readonly reason: 'no_closed_call' | 'hours_unread' | 'span_too_short' | null;
};

/** A span needs so many hours, so that entries can be moved at all. */
const SPAN_H_MIN = 48;

/**
 * How often calls that were moved in time gained at least as much as the calls did. Gains are the
 * logarithms of what each call's asset moved while it was held, in its direction, before funding
 * and cost: those are sums over hours, so that every move of the set is one correlation.
 */
export function testEntries(
  record: RecordColumns,
  closed: Uint32Array,
  hours: Hours,
  seed: number,
): RandomEntries {
  const told = { entries: RANDOM_ENTRIES, seed };
  if (closed.length === 0) return { ...told, p: null, reason: 'no_closed_call' };
  const length = hours.to - hours.from;
  if (length < SPAN_H_MIN) return { ...told, p: null, reason: 'span_too_short' };
  const exposures = exposuresOf(record, closed, hours);
  const read = [...exposures.keys()].map((place) => readShare(record, place, hours));
  if (read.some((share) => share < READ_SHARE_MIN)) {
    return { ...told, p: null, reason: 'hours_unread' };
  }
  const gains = movedGains(record, exposures, hours);
  const observed = Number(gains[0]);
  // Sums that are equal but for the order of their terms count as equal.
  const rounding = ROUNDING * gains.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
  const draw = sharesFrom(seed);
  let asGood = 0;
  for (let i = 0; i < RANDOM_ENTRIES; i += 1) {
    const gain = Number(gains[Math.floor(draw() * length)]);
    if (gain >= observed - rounding) asGood += 1;
  }
  return { ...told, p: (asGood + 1) / (RANDOM_ENTRIES + 1), reason: null };
}

const ROUNDING = 1e-12;
/** A price that fell to nothing, so that its logarithm is a number. */
const LOST_WHOLE = -1 + 1e-9;

/** By instrument, how many calls held it in each hour: long less short. */
function exposuresOf(
  { columns }: RecordColumns,
  closed: Uint32Array,
  { from, to }: Hours,
): Map<number, Float64Array> {
  const exposures = new Map<number, Float64Array>();
  for (const at of closed) {
    const place = Number(columns.instrument[at]);
    let own = exposures.get(place);
    if (own === undefined) {
      own = new Float64Array(to - from + 1);
      exposures.set(place, own);
    }
    const start = Math.max(from, Number(columns.entryHour[at])) - from;
    const end = Math.min(to, Number(columns.exitHour[at])) - from;
    if (start >= end) continue;
    // What each hour adds to the one before it, until they are summed below.
    const direction = Number(columns.direction[at]);
    own[start] = Number(own[start]) + direction;
    own[end] = Number(own[end]) - direction;
  }
  for (const own of exposures.values()) {
    for (let hour = 1; hour < own.length; hour += 1) {
      own[hour] = Number(own[hour]) + Number(own[hour - 1]);
    }
  }
  return exposures;
}

function readShare(
  { prices, fromHour }: RecordColumns,
  place: number,
  { from, to }: Hours,
): number {
  const before = prices[place]?.unreadBefore;
  if (before === undefined) throw new RangeError('an instrument without prices');
  const unread = Number(before[to - fromHour]) - Number(before[from - fromHour]);
  return 1 - unread / (to - from);
}

/** What the calls gain if all of them are moved by so many hours, around the span. */
function movedGains(
  { prices, fromHour }: RecordColumns,
  exposures: ReadonlyMap<number, Float64Array>,
  { from, to }: Hours,
): Float64Array {
  const length = to - from;
  const size = 2 ** Math.ceil(Math.log2(2 * length));
  const turns = turnsOf(size);
  const total = { re: new Float64Array(size), im: new Float64Array(size) };
  const pair = { re: new Float64Array(size), im: new Float64Array(size) };
  for (const [place, exposure] of exposures) {
    const moves = prices[place]?.moves;
    if (moves === undefined) throw new RangeError('an instrument without prices');
    // Two real sequences in one complex one: the moves of the span twice, and the exposure.
    pair.re.fill(0);
    pair.im.fill(0);
    for (let hour = 0; hour < length; hour += 1) {
      const move = Math.log1p(Math.max(LOST_WHOLE, Number(moves[from - fromHour + hour])));
      pair.re[hour] = move;
      pair.re[hour + length] = move;
    }
    // Behind the last hour of the span nothing is held: the sum of its ends is 0.
    pair.im.set(exposure);
    transform(pair, turns);
    addCrossSpectrum(total, pair);
  }
  transform(total, turns);
  // The second transform in the same direction gives the correlation backwards.
  const gains = new Float64Array(length);
  for (let shift = 0; shift < length; shift += 1) {
    gains[shift] = Number(total.re[(size - shift) % size]) / size;
  }
  return gains;
}

type Complex = { readonly re: Float64Array; readonly im: Float64Array };

/** Adds the spectrum of the correlation of the two sequences that one pair holds. */
function addCrossSpectrum(total: Complex, { re, im }: Complex): void {
  const size = re.length;
  for (let k = 0; k < size; k += 1) {
    const mirror = (size - k) % size;
    const moveRe = (Number(re[k]) + Number(re[mirror])) / 2;
    const moveIm = (Number(im[k]) - Number(im[mirror])) / 2;
    const heldRe = (Number(im[k]) + Number(im[mirror])) / 2;
    const heldIm = (Number(re[mirror]) - Number(re[k])) / 2;
    total.re[k] = Number(total.re[k]) + moveRe * heldRe + moveIm * heldIm;
    total.im[k] = Number(total.im[k]) + moveIm * heldRe - moveRe * heldIm;
  }
}

type Turns = { readonly cosines: Float64Array; readonly sines: Float64Array };

/** The roots of unity of a length. */
function turnsOf(size: number): Turns {
  const cosines = new Float64Array(size / 2);
  const sines = new Float64Array(size / 2);
  for (let k = 0; k < size / 2; k += 1) {
    cosines[k] = Math.cos((2 * Math.PI * k) / size);
    sines[k] = -Math.sin((2 * Math.PI * k) / size);
  }
  return { cosines, sines };
}

function swap(values: Float64Array, one: number, other: number): void {
  const kept = Number(values[one]);
  values[one] = Number(values[other]);
  values[other] = kept;
}

/** The discrete Fourier transform in place; the length is a power of two. */
function transform({ re, im }: Complex, { cosines, sines }: Turns): void {
  const size = re.length;
  for (let at = 1, mirror = 0; at < size; at += 1) {
    let bit = size >> 1;
    for (; (mirror & bit) !== 0; bit >>= 1) mirror ^= bit;
    mirror ^= bit;
    if (at >= mirror) continue;
    swap(re, at, mirror);
    swap(im, at, mirror);
  }
  for (let span = 2; span <= size; span *= 2) {
    const half = span / 2;
    const step = size / span;
    for (let start = 0; start < size; start += span) {
      for (let k = 0; k < half; k += 1) {
        const low = start + k;
        const high = low + half;
        const c = Number(cosines[k * step]);
        const s = Number(sines[k * step]);
        const highRe = Number(re[high]) * c - Number(im[high]) * s;
        const highIm = Number(re[high]) * s + Number(im[high]) * c;
        const lowRe = Number(re[low]);
        const lowIm = Number(im[low]);
        re[low] = lowRe + highRe;
        im[low] = lowIm + highIm;
        re[high] = lowRe - highRe;
        im[high] = lowIm - highIm;
      }
    }
  }
}

/** What buying the assets of some calls and holding them over the hours of the calls came to. */
export type Holding = {
  readonly mean_return_bps: number | null;
  readonly total_return: number | null;
};

/**
 * Buy and hold of the same assets in the same hours, without cost and funding. Where the hours
 * between are not priced, only what each call's own ends say.
 */
export function holdAssets(
  record: RecordColumns,
  closed: Uint32Array,
  hours: Hours,
  isPriced: boolean,
): Holding {
  const columns = {
    ...record.columns,
    direction: record.columns.direction.map(Math.abs),
    funding: new Float64Array(record.columns.funding.length),
  };
  const longOnly = { ...record, columns };
  const book = emptyBook(hours);
  let sum = 0;
  for (const at of closed) {
    layCall(longOnly, at, 0, hours, book);
    sum += Number(columns.exit[at]) / Number(columns.entry[at]) - 1;
  }
  const { path } = compoundBook(book, hours, () => false);
  const mean = rate(sum, closed.length);
  return {
    mean_return_bps: mean === null ? null : mean * BPS,
    total_return: isPriced ? Number(path.at(-1)) - 1 : null,
  };
}
