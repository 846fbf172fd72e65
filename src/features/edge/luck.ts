// How much of a result may be luck: the same calls at other times, the same assets without calls,
// and the ratio of Sharpe against the best of as many tries (Bailey and López de Prado 2014).
// `record.ts` holds the calls in columns, of which a call is a place, and the return of each hour
// of an instrument (`moves`). `backtest.ts` lays calls into a book, which holds by hour the sum of
// their returns and how many are open, and compounds it.

import { normalCdf, normalQuantile } from '../../evidence/distributions.ts';
import { rate } from '../../evidence/measure.ts';
import { sharesFrom } from '../../evidence/random.ts';
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
import type { TEST_REASONS } from './shapes.ts';

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

/**
 * The listed combinations with enough closed calls, and how their ratios vary. A record keeps many
 * families, which threads send each other: so it is columns, and `familyMembers` reads them.
 */
export type Family = {
  /** How many combinations have enough closed calls. */
  readonly members: number;
  /** Each asset, after `null` for all of them. */
  readonly assets: readonly (string | null)[];
  /** Of each member, which combination of which asset it is. */
  readonly places: Uint32Array;
  readonly closed: Uint32Array;
  /** Of each member, its moments one after the other; over no days where none are measured. */
  readonly moments: Float64Array;
  /** Of the daily ratios; `null` where fewer than two are measured. */
  readonly variance: number | null;
};

/** Under so many closed calls a combination is not listed. */
export const LISTED_CLOSED_MIN = 30;

const BUCKETS = LISTED_CONVICTIONS.length;
/**
 * Combinations of one kind, or of all of them: by direction, then by conviction. Each of the three
 * lists begins with `null`, which takes all; kinds follow in the order in which a record numbers
 * them, convictions from the lowest to the highest.
 */
const OF_KIND = LISTED_DIRECTIONS.length * BUCKETS;
const COMBINATIONS = LISTED_KINDS.length * OF_KIND;
/**
 * Calls of one kind, direction and conviction are laid into one book, in the place of the
 * combination that holds them; the others are sums of those.
 */
const CELLS = Array.from({ length: COMBINATIONS }, (_, at) => at).filter(
  (at) => at >= OF_KIND && at % OF_KIND >= BUCKETS,
);

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
  /** Closed calls, in the cells of the combinations. */
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
export function measureFamily({
  record,
  closed,
  cost_bps,
  hours,
  ran: ranOn,
}: FamilyOrder): Family {
  const days = daysOf(hours);
  const names = record.instruments.map(({ asset }) => asset);
  const assets = [...new Set(names)].sort();
  const rowOf = Uint16Array.from(names, (asset) => assets.indexOf(asset));
  const cells = new Uint8Array(closed.length);
  const whole = emptyRow(null, days);
  const rows = assets.map((asset) => emptyRow(asset, days));
  for (let place = 0; place < closed.length; place += 1) {
    const at = Number(closed[place]);
    const cell = cellOf(record, at);
    const row = rows[Number(rowOf[Number(record.columns.instrument[at])])] as FamilyRow;
    cells[place] = cell;
    row.closed[cell] = Number(row.closed[cell]) + 1;
    whole.closed[cell] = Number(whole.closed[cell]) + 1;
  }
  const ofDay = callsByDay(record, closed, { rowOf, rows: rows.length, days });
  const [own, together] = [emptyDay(), emptyDay()];
  for (let day = days.first; day < days.end; day += 1) {
    const span = {
      from: Math.max(hours.from, day * DAY_H),
      to: Math.min(hours.to, (day + 1) * DAY_H),
    };
    const ran = ranOn[day - days.first];
    if (ran === undefined) throw new RangeError('a day of which nobody says who ran');
    together.laid.fill(0);
    for (const [place, row] of rows.entries()) {
      own.laid.fill(0);
      for (const call of ofDay(day, place)) {
        const cell = Number(cells[call]);
        layCall(record, Number(closed[call]), cost_bps / BPS, span, bookOf(own, cell));
      }
      for (const cell of CELLS) addCell(own, cell, together);
      compoundDay(own, { span, ran, day: day - days.first }, row);
    }
    compoundDay(together, { span, ran, day: day - days.first }, whole);
  }
  return gatherFamily([whole, ...rows]);
}

function emptyRow(asset: string | null, { first, end }: Days): FamilyRow {
  return {
    asset,
    closed: new Float64Array(COMBINATIONS),
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
  return (Number(columns.kind[at]) + 1) * OF_KIND + (1 + isShort) * BUCKETS + bucket;
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

/** A day of each combination. What one without a call holds is of another day. */
type FamilyDay = {
  readonly own: readonly Book[];
  /** The book of each: its own, or that of the combination that it is equal to. */
  readonly books: Book[];
  /** How many calls each holds. */
  readonly laid: Float64Array;
};

function emptyDay(): FamilyDay {
  const own = LISTED.map(() => emptyBook({ from: 0, to: DAY_H }));
  return { own, books: [...own], laid: new Float64Array(COMBINATIONS) };
}

/** An hour in which nothing is held divides a sum of 0 by this: it moves nothing. */
const NOTHING_HELD = 1e-300;

/** Counts a call into a cell, and gives the book of the cell, cleared for its first call. */
function bookOf({ own, books, laid }: FamilyDay, cell: number): Book {
  const book = own[cell] as Book;
  if (laid[cell] === 0) {
    books[cell] = book;
    book.sum.fill(0);
    // It is lost in the count where something is held.
    book.open.fill(NOTHING_HELD);
  }
  laid[cell] = Number(laid[cell]) + 1;
  return book;
}

/** Adds a cell of a day to that of another one. */
function addCell(from: FamilyDay, cell: number, to: FamilyDay): void {
  if (from.laid[cell] === 0) return;
  const [book, into] = [from.books[cell] as Book, to.own[cell] as Book];
  if (to.laid[cell] === 0) {
    into.sum.set(book.sum);
    into.open.set(book.open);
    to.books[cell] = into;
  } else addBooks(into, book, into);
  to.laid[cell] = Number(to.laid[cell]) + Number(from.laid[cell]);
}

/** Adds a combination to another one of its day. */
function addCombination({ own, books, laid }: FamilyDay, source: number, target: number): void {
  if (laid[source] === 0) return;
  const [book, into] = [books[source] as Book, own[target] as Book];
  if (laid[target] === 0) books[target] = book;
  else {
    addBooks(books[target] as Book, book, into);
    books[target] = into;
  }
  laid[target] = Number(laid[target]) + Number(laid[source]);
}

function addBooks(one: Book, other: Book, into: Book): void {
  addHours(one.sum, other.sum, into.sum);
  addHours(one.open, other.open, into.open);
}

function addHours(one: Float64Array, other: Float64Array, into: Float64Array): void {
  for (let hour = 0; hour < DAY_H; hour += 1) {
    into[hour] = Number(one[hour]) + Number(other[hour]);
  }
}

/**
 * Sums the cells to the combinations, by adding one to another: a conviction is reached by all that
 * reach a higher one, either direction is both of them, and all kinds are the kinds together.
 */
function sumCombinations(add: (source: number, target: number) => void): void {
  for (let kind = OF_KIND; kind < COMBINATIONS; kind += OF_KIND) {
    for (let bucket = BUCKETS - 1; bucket >= 0; bucket -= 1) {
      for (let side = BUCKETS; side < OF_KIND; side += BUCKETS) {
        if (bucket + 1 < BUCKETS) add(kind + side + bucket + 1, kind + side + bucket);
        add(kind + side + bucket, kind + bucket);
      }
    }
    for (let at = 0; at < OF_KIND; at += 1) add(kind + at, at);
  }
}

type DayOfFamily = {
  readonly span: Hours;
  /** By listed kind, whether its producers ran it. */
  readonly ran: readonly boolean[];
  /** Its place among the days. */
  readonly day: number;
};

/** Compounds each combination of a row by a day, as `compoundBook` does with a book of its own. */
function compoundDay(
  held: FamilyDay,
  { span: { from, to }, ran, day }: DayOfFamily,
  { value, daily, counts }: FamilyRow,
): void {
  sumCombinations((source, target) => addCombination(held, source, target));
  const { books, laid } = held;
  for (let at = 0; at < COMBINATIONS; at += 1) {
    const isHeld = laid[at] !== 0;
    if (!isHeld && ran[Math.floor(at / OF_KIND)] !== true) continue;
    const start = Number(value[at]);
    const end = isHeld ? compoundHours(books[at] as Book, to - from, start) : start;
    value[at] = end;
    if (to - from < DAY_H) continue;
    daily[day * COMBINATIONS + at] = start > 0 ? end / start - 1 : 0;
    counts[day * COMBINATIONS + at] = 1;
  }
}

/** What a value comes to over the first hours of a book. */
function compoundHours({ sum, open }: Book, hours: number, value: number): number {
  let grown = value;
  for (let hour = 0; hour < hours; hour += 1) {
    grown *= Math.max(0, 1 + Number(sum[hour]) / Number(open[hour]));
  }
  return grown;
}

/** A combination that has enough closed calls. */
type Measured = {
  readonly place: number;
  readonly closed: number;
  readonly sharpe: Moments | null;
};

function measureRow({ closed, daily, counts }: FamilyRow, row: number): readonly Measured[] {
  const sums = closed.slice();
  sumCombinations((source, target) => {
    sums[target] = Number(sums[target]) + Number(sums[source]);
  });
  const returns = new Float64Array(daily.length / COMBINATIONS);
  return [...sums.entries()].flatMap(([at, own]) => {
    if (own < LISTED_CLOSED_MIN) return [];
    let counted = 0;
    for (let day = at; day < daily.length; day += COMBINATIONS) {
      if (counts[day] !== 1) continue;
      returns[counted] = Number(daily[day]);
      counted += 1;
    }
    const sharpe = momentsOf(returns.subarray(0, counted));
    return [{ place: row * COMBINATIONS + at, closed: own, sharpe }];
  });
}

function gatherFamily(rows: readonly FamilyRow[]): Family {
  const measured = rows.flatMap(measureRow);
  const moments = new Float64Array(measured.length * MOMENTS.length);
  for (const [member, { sharpe }] of measured.entries()) {
    if (sharpe === null) continue;
    moments.set(
      MOMENTS.map((name) => sharpe[name]),
      member * MOMENTS.length,
    );
  }
  return {
    members: measured.length,
    assets: rows.map(({ asset }) => asset),
    places: Uint32Array.from(measured, ({ place }) => place),
    closed: Uint32Array.from(measured, ({ closed }) => closed),
    moments,
    variance: varianceOf(measured),
  };
}

const MOMENTS = ['n', 'mean', 'deviation', 'skew', 'kurtosis'] as const;

/** The members of a family, those of all assets first. */
export function familyMembers({ assets, places, closed, moments }: Family): FamilyMember[] {
  return Array.from(places, (place, member) => {
    const combination = LISTED[place % COMBINATIONS];
    const asset = assets[Math.floor(place / COMBINATIONS)];
    if (combination === undefined || asset === undefined) throw new RangeError('no such member');
    const moment = (at: number) => Number(moments[member * MOMENTS.length + at]);
    const [n, mean, deviation] = [moment(0), moment(1), moment(2)];
    const told = { n, mean, deviation, skew: moment(3), kurtosis: moment(4) };
    return { ...combination, asset, closed: Number(closed[member]), sharpe: n === 0 ? null : told };
  });
}

function varianceOf(members: readonly Measured[]): number | null {
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
  readonly reason: (typeof TEST_REASONS)[number] | null;
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
  // Which days count is asked for the daily returns, and only the path is taken here.
  const { path } = compoundBook(book, hours, () => false);
  const mean = rate(sum, closed.length);
  return {
    mean_return_bps: mean === null ? null : mean * BPS,
    total_return: isPriced ? Number(path.at(-1)) - 1 : null,
  };
}
