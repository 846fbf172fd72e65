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
import type { EdgeRecord } from './record.ts';

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

const DIRECTIONS_COUNT = 2;
const BUCKETS = LISTED_CONVICTIONS.length;
const CELLS = DETECTOR_KINDS.length * DIRECTIONS_COUNT * BUCKETS;

type Cell = { readonly book: Book; closed: number };

/**
 * Measures every listed combination over some closed calls at once: the calls are laid into books
 * by kind, direction and conviction, of which each combination is a sum.
 */
export function measureFamily(
  record: EdgeRecord,
  closed: Uint32Array,
  { cost_bps, hours }: { readonly cost_bps: number; readonly hours: Hours },
  hasRun: (kind: ListedFilter['kind'], day: number) => boolean,
): Family {
  const byAsset = new Map<string, number[]>();
  for (const at of closed) {
    const instrument = record.instruments[Number(record.columns.instrument[at])];
    if (instrument === undefined) throw new RangeError('a call without an instrument');
    const own = byAsset.get(instrument.asset);
    if (own === undefined) byAsset.set(instrument.asset, [at]);
    else own.push(at);
  }
  const whole = emptyCells(hours);
  // Books of one asset after the other, and the path of one combination after the other.
  const cells = emptyCells(hours);
  const path = new Float64Array(hours.to - hours.from + 1);
  const members: FamilyMember[] = [];
  const assets = [...byAsset.keys()].sort();
  for (const asset of assets) {
    for (const cell of cells) clearCell(cell);
    for (const at of byAsset.get(asset) as number[]) {
      const cell = cells[cellOf(record, at)] as Cell;
      layCall(record, at, cost_bps / BPS, hours, cell.book);
      cell.closed += 1;
    }
    // Before the cells are summed among themselves.
    for (const [place, cell] of cells.entries()) addCell(whole[place] as Cell, cell);
    const own = { cells, asset, hours, path };
    for (const one of measureCells(own, hasRun)) members.push(one);
  }
  const own = { cells: whole, asset: null, hours, path };
  const all = [...measureCells(own, hasRun), ...members];
  return { members: all, variance: varianceOf(all) };
}

function emptyCells(hours: Hours): Cell[] {
  return Array.from({ length: CELLS }, () => ({ book: emptyBook(hours), closed: 0 }));
}

function cellOf({ columns }: EdgeRecord, at: number): number {
  const conviction = Number(columns.conviction[at]);
  let bucket = 0;
  for (const [place, least] of LISTED_CONVICTIONS.entries()) {
    if (least !== null && conviction >= least) bucket = place;
  }
  const isShort = columns.direction[at] === -1 ? 1 : 0;
  return (Number(columns.kind[at]) * DIRECTIONS_COUNT + isShort) * BUCKETS + bucket;
}

function clearCell(cell: Cell): void {
  cell.book.sum.fill(0);
  cell.book.open.fill(0);
  cell.closed = 0;
}

function addCell(to: Cell, from: Cell): void {
  if (from.closed === 0) return;
  to.closed += from.closed;
  for (let hour = 0; hour < from.book.sum.length; hour += 1) {
    to.book.sum[hour] = Number(to.book.sum[hour]) + Number(from.book.sum[hour]);
    to.book.open[hour] = Number(to.book.open[hour]) + Number(from.book.open[hour]);
  }
}

type MeasuredCells = {
  readonly cells: readonly Cell[];
  readonly asset: string | null;
  readonly hours: Hours;
  /** What each combination's path is written into. */
  readonly path: Float64Array;
};

/** The combinations of some cells, each a sum of two or four others: nothing is added twice. */
function* measureCells(
  { cells, asset, hours, path }: MeasuredCells,
  hasRun: (kind: ListedFilter['kind'], day: number) => boolean,
): Generator<FamilyMember> {
  // A conviction is reached by all that reach a higher one.
  for (let place = cells.length - 1; place >= 0; place -= 1) {
    if (place % BUCKETS < BUCKETS - 1) addCell(cells[place] as Cell, cells[place + 1] as Cell);
  }
  const byKind = DETECTOR_KINDS.map((_, kind) => {
    const own = cells.slice(
      kind * DIRECTIONS_COUNT * BUCKETS,
      (kind + 1) * DIRECTIONS_COUNT * BUCKETS,
    );
    const [long, short] = [own.slice(0, BUCKETS), own.slice(BUCKETS)];
    const either = long.map((cell, bucket) => sumOf([cell, short[bucket] as Cell], hours));
    return [either, long, short];
  });
  const together = LISTED_DIRECTIONS.map((_, side) =>
    LISTED_CONVICTIONS.map((_least, bucket) =>
      sumOf(
        byKind.map((sides) => sides[side]?.[bucket] as Cell),
        hours,
      ),
    ),
  );
  for (const [row, kind] of LISTED_KINDS.entries()) {
    const sides = row === 0 ? together : (byKind[row - 1] as Cell[][]);
    for (const [side, direction] of LISTED_DIRECTIONS.entries()) {
      for (const [bucket, min_conviction] of LISTED_CONVICTIONS.entries()) {
        const cell = sides[side]?.[bucket];
        if (cell === undefined || cell.closed < LISTED_CLOSED_MIN) continue;
        const { book, closed } = cell;
        const { daily } = compoundBook(book, hours, (day) => hasRun(kind, day), path);
        yield { kind, asset, direction, min_conviction, closed, sharpe: momentsOf(daily) };
      }
    }
  }
}

/** A cell that holds what some others do; one that alone holds anything is itself. */
function sumOf(cells: readonly Cell[], hours: Hours): Cell {
  const filled = cells.filter(({ closed }) => closed > 0);
  const [first] = filled;
  if (first !== undefined && filled.length === 1) return first;
  const sum: Cell = { book: emptyBook(hours), closed: 0 };
  for (const cell of filled) addCell(sum, cell);
  return sum;
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
  record: EdgeRecord,
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
  { columns }: EdgeRecord,
  closed: Uint32Array,
  { from, to }: Hours,
): Map<number, Float64Array> {
  const exposures = new Map<number, Float64Array>();
  for (const at of closed) {
    const place = Number(columns.instrument[at]);
    let own = exposures.get(place);
    if (own === undefined) {
      own = new Float64Array(to - from);
      exposures.set(place, own);
    }
    const direction = Number(columns.direction[at]);
    const end = Math.min(to, Number(columns.exitHour[at]));
    for (let hour = Math.max(from, Number(columns.entryHour[at])); hour < end; hour += 1) {
      own[hour - from] = Number(own[hour - from]) + direction;
    }
  }
  return exposures;
}

function readShare({ prices, fromHour }: EdgeRecord, place: number, { from, to }: Hours): number {
  const before = prices[place]?.unreadBefore;
  if (before === undefined) throw new RangeError('an instrument without prices');
  const unread = Number(before[to - fromHour]) - Number(before[from - fromHour]);
  return 1 - unread / (to - from);
}

/** What the calls gain if all of them are moved by so many hours, around the span. */
function movedGains(
  { prices, fromHour }: EdgeRecord,
  exposures: ReadonlyMap<number, Float64Array>,
  { from, to }: Hours,
): Float64Array {
  const length = to - from;
  const size = 2 ** Math.ceil(Math.log2(2 * length));
  const turns = turnsOf(size);
  const total = { re: new Float64Array(size), im: new Float64Array(size) };
  for (const [place, exposure] of exposures) {
    const moves = prices[place]?.moves;
    if (moves === undefined) throw new RangeError('an instrument without prices');
    // Two real sequences in one complex one: the moves of the span twice, and the exposure.
    const pair = { re: new Float64Array(size), im: new Float64Array(size) };
    for (let hour = 0; hour < length; hour += 1) {
      const move = Math.log1p(Math.max(LOST_WHOLE, Number(moves[from - fromHour + hour])));
      pair.re[hour] = move;
      pair.re[hour + length] = move;
    }
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
  record: EdgeRecord,
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
