// What answers by time have in common, whoever gives them: rows of one identity say one thing, lie
// within what was asked, and are all there is of a time only once that time is settled.

import { DAY_S, MS_PER_S } from '../../chain/time.ts';
import {
  CANDLE_MS,
  type Candle,
  type FundingPoint,
  type InstrumentState,
  type MarketRows,
  type SeriesSpan,
} from '../../ports/series.ts';
import {
  candleSpans,
  fundingSpans,
  spansWithin,
  spansWithout,
  withIntervals,
} from '../../ports/series-coverage.ts';
import { ProviderFault } from './provider.ts';

/** What is younger may still be missing in an answer. */
export const ANSWER_SETTLE_MS = 60_000;
/** A candle that is the last of an answer is closed from so long after its end. */
const CLOSED_FOR_SURE_MS = 7_200_000;
/** Settlements were stamped up to 24 minutes after their hour. */
export const FUNDING_SETTLE_MS = 1_800_000;
/** So far before a span settlements are read, to tell their interval: four of eight hours do. */
export const FUNDING_LEAD_MS = 2 * DAY_S * MS_PER_S;

type Timed = { readonly at: number };

const NO_SPANS: readonly SeriesSpan[] = [];
const NO_POINTS: readonly FundingPoint[] = [];

/** Keeps a row under its identity. Two rows of one identity have to say the same. */
export function keepRow<R>(found: Map<string, R>, identity: string, row: R): void {
  const known = found.get(identity);
  if (known === undefined) found.set(identity, row);
  else if (JSON.stringify(known) !== JSON.stringify(row)) {
    throw new ProviderFault('answered one row in two ways', 'passing');
  }
}

/** Rows in the order of time. */
export function sortByTime<R extends Timed>(rows: readonly R[]): readonly R[] {
  return [...rows].sort((a, b) => a.at - b.at);
}

/** Rows of an answer, each from `from` to `to`; throws for one of another time. */
export function requireWithin<R extends Timed>(
  rows: readonly R[],
  from: number,
  to: number,
): readonly R[] {
  if (rows.every(({ at }) => at >= from && at <= to)) return rows;
  throw new ProviderFault('answered rows of another time', 'passing');
}

/** Pages of one question: five full ones of fills, each with both ends, and some to spare. */
const PAGES_MAX = 24;

/** How one kind of rows is read by time, and how full an answer may be. */
export type Paging<R> = {
  readonly ask: (from: number, to: number) => Promise<readonly R[]>;
  readonly identity: (row: R) => string;
  /** An answer of so many rows may be cut at either end. */
  readonly fullAt: number;
  /** Whether a shorter answer is the whole; else only one that brings nothing new is. */
  readonly endsOnShort: boolean;
};

/** Rows of a span: what the last page left is `cut`, a moment that fills a page alone `crowded`. */
export type PagedRows<R> = {
  readonly rows: readonly R[];
  readonly cut: readonly SeriesSpan[];
  readonly crowded: readonly SeriesSpan[];
};

/**
 * All rows of a span. A full answer is whole between its first and its last moment, so both ends
 * are asked again. No question tells more of a moment that fills an answer alone.
 */
export async function readPages<R extends { readonly at: number }>(
  span: SeriesSpan,
  { ask, identity, fullAt, endsOnShort }: Paging<R>,
): Promise<PagedRows<R>> {
  const found = new Map<string, R>();
  const cut: SeriesSpan[] = [];
  const crowded: SeriesSpan[] = [];
  const open: { readonly from: number; readonly to: number }[] = [];
  const leave = (from: number, to: number): void => {
    if (from <= to) open.push({ from, to });
  };
  leave(span.from, span.to - 1);
  for (let pages = 0; ; pages += 1) {
    const next = open.pop();
    if (next === undefined) return { rows: sortByTime([...found.values()]), cut, crowded };
    if (pages === PAGES_MAX) {
      for (const { from, to } of [next, ...open]) cut.push({ from, to: to + 1 });
      return { rows: sortByTime([...found.values()]), cut, crowded };
    }
    const page = await ask(next.from, next.to);
    const before = found.size;
    for (const row of page) keepRow(found, identity(row), row);
    const isFull = page.length >= fullAt;
    const isWhole = endsOnShort || found.size === before || next.from === next.to;
    if (page.length === 0 || (!isFull && isWhole)) continue;
    const times = page.map(({ at }) => at);
    const [first, last] = [Math.min(...times), Math.max(...times)];
    const isOneMoment = first === last;
    if (isFull && isOneMoment) crowded.push({ from: first, to: first + 1 });
    leave(next.from, isOneMoment ? first - 1 : first);
    leave(isOneMoment ? last + 1 : last, next.to);
  }
}

/** Where settlements are read from, so that their interval can be told. */
export function leadOf({ from }: SeriesSpan): number {
  return Math.max(0, from - FUNDING_LEAD_MS);
}

/** Settlements of a span and of what lies before it, as far as they are settled at `asked`. */
export function settledFunding(
  told: readonly Pick<FundingPoint, 'at' | 'rate'>[],
  span: SeriesSpan,
  asked: number,
): MarketRows<FundingPoint> {
  const points = withIntervals(told);
  if (points === null) return { rows: NO_POINTS, covered: NO_SPANS, gone: NO_SPANS };
  const settled = { from: span.from, to: Math.min(span.to, asked - FUNDING_SETTLE_MS) };
  return {
    rows: points.filter(({ at }) => at >= span.from && at < span.to),
    covered: spansWithin(settled, fundingSpans(points)),
    gone: NO_SPANS,
  };
}

/**
 * The candles of an answer that are closed at `asked`: by the venue's own clock where a later one
 * has begun.
 */
export function closedCandles(told: readonly Candle[], asked: number): readonly Candle[] {
  const last = Math.max(...told.map(({ at }) => at));
  const found = new Map<string, Candle>();
  for (const one of told) {
    const closedMs = asked - one.at - CANDLE_MS;
    const isClosed = closedMs >= (one.at < last ? ANSWER_SETTLE_MS : CLOSED_FOR_SURE_MS);
    if (isClosed) keepRow(found, String(one.at), one);
  }
  return sortByTime([...found.values()]);
}

/** Candles and what they cover; before `kept` the venue holds none any more. */
export function candleRows(
  rows: readonly Candle[],
  span: SeriesSpan,
  kept: number,
): MarketRows<Candle> {
  const covered = candleSpans(rows);
  const gone = spansWithout({ from: span.from, to: Math.min(span.to, kept) }, covered);
  return { rows, covered, gone };
}

/** What is told of an asset that a venue does not list. */
export function absentRow(of: string): InstrumentState {
  return { of, state: 'absent', price: null, funding_rate: null, open_interest: null };
}

/**
 * The instrument of an asset that venues write in US dollars of Tether: `BTCUSDT`. A thousand of a
 * small token is `kPEPE` here, `1000PEPEUSDT` there.
 */
export function tetherSymbol(asset: string): string {
  return `${asset.replace(/^k(?=[A-Z])/, '1000')}USDT`;
}
