// Which times of a market series are known: spans, the slots of candles and settlements, and what
// is left open.

import { formatIsoTime, MS_PER_S } from '../chain/time.ts';
import { type Why, why } from '../evidence/reasons.ts';
import {
  CANDLE_MS,
  type FundingPoint,
  type SeriesHole,
  type SeriesName,
  type SeriesSpan,
} from './series.ts';

/** The same time in spans that neither touch nor overlap, in order. */
export function joinSpans(spans: readonly SeriesSpan[]): SeriesSpan[] {
  const joined: { from: number; to: number }[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    if (to <= from) continue;
    const last = joined.at(-1);
    if (last === undefined || last.to < from) joined.push({ from, to });
    else last.to = Math.max(last.to, to);
  }
  return joined;
}

/** The times of a span that none of the others holds. */
export function spansWithout(span: SeriesSpan, held: readonly SeriesSpan[]): SeriesSpan[] {
  const left: SeriesSpan[] = [];
  let { from } = span;
  for (const one of joinSpans(held)) {
    if (one.from >= span.to) break;
    if (one.from > from) left.push({ from, to: one.from });
    from = Math.max(from, one.to);
  }
  if (from < span.to) left.push({ from, to: span.to });
  return left;
}

/** The times of a span that one of the others holds. */
export function spansWithin(span: SeriesSpan, held: readonly SeriesSpan[]): SeriesSpan[] {
  return joinSpans(
    held.map(({ from, to }) => ({ from: Math.max(from, span.from), to: Math.min(to, span.to) })),
  );
}

/** What coverage leaves open of a span; what the venue does not give any more is told apart. */
export function holesOf(
  span: SeriesSpan,
  held: { readonly covered: readonly SeriesSpan[]; readonly gone: readonly SeriesSpan[] },
): SeriesHole[] {
  const missing = spansWithout(span, held.covered);
  const gone = missing.flatMap((hole) => spansWithin(hole, held.gone));
  const open = missing.flatMap((hole) => spansWithout(hole, held.gone));
  return [
    ...gone.map((hole) => ({ ...hole, gone: true })),
    ...open.map((hole) => ({ ...hole, gone: false })),
  ].sort((a, b) => a.from - b.from);
}

/** Holes named in a reason; the others are counted. */
const HOLES_NAMED = 3;

/** Why a span that no coverage touches is not read. */
export function whyNotHeld(name: SeriesName, span: SeriesSpan): Why {
  return why('series_not_held', { series: seriesText(name), span: spanText(span) });
}

/** Why a span with holes is read in part. */
export function whyHoles(name: SeriesName, holes: readonly SeriesHole[]): Why {
  const named = holes.slice(0, HOLES_NAMED).map(spanText).join(', ');
  const more = holes.length > HOLES_NAMED ? ` and ${holes.length - HOLES_NAMED} more` : '';
  return why('series_in_part', { series: seriesText(name), holes: `${named}${more}` });
}

/** A series in words. */
export function seriesText({ venue, series, of }: SeriesName): string {
  return `${series} of ${of} at ${venue}`;
}

function spanText({ from, to }: SeriesSpan): string {
  return `${formatIsoTime(from / MS_PER_S)} to ${formatIsoTime(to / MS_PER_S)}`;
}

/** The times of candles, each of which knows its own hour. */
export function candleSpans(candles: readonly { readonly at: number }[]): SeriesSpan[] {
  return joinSpans(candles.map(({ at }) => ({ from: at, to: at + CANDLE_MS })));
}

/** The hour in which a settlement is stamped: venues stamp up to half an hour late. */
export function settledHour(at: number): number {
  return Math.floor(at / CANDLE_MS) * CANDLE_MS;
}

/** So many equal distances in a row make an interval: a few that are missing make none. */
const EQUAL_DISTANCES_MIN = 3;

/**
 * Settlements in the order of time, each with its interval: the distance from the one before where
 * that stands in a row of equal ones, or is smaller than the interval in force, else that interval.
 * So an interval may be told too short, which leaves holes, and never too long, which hides them.
 * `null` where no row of equal distances tells an interval, or two fall into one hour.
 */
export function withIntervals(
  points: readonly Pick<FundingPoint, 'at' | 'rate'>[],
): readonly FundingPoint[] | null {
  const sorted = [...points].sort((a, b) => a.at - b.at);
  const hours = sorted.map(({ at }) => settledHour(at));
  const gaps = hours.slice(1).map((hour, i) => hour - Number(hours[i]));
  const isRow = equalRows(gaps);
  let inForce = gaps.find((_, i) => isRow[i] === true);
  if (inForce === undefined || gaps.some((gap) => gap <= 0)) return null;
  const told: FundingPoint[] = [];
  for (const [i, { at, rate }] of sorted.entries()) {
    const gap = gaps[i - 1];
    if (gap !== undefined && (isRow[i - 1] === true || gap < inForce)) inForce = gap;
    told.push({ at, rate, interval_s: inForce / MS_PER_S });
  }
  return told;
}

/** Which of some distances stand in a row of equal ones. */
function equalRows(gaps: readonly number[]): readonly boolean[] {
  const told: boolean[] = [];
  while (told.length < gaps.length) {
    const from = told.length;
    let to = from + 1;
    while (to < gaps.length && gaps[to] === gaps[from]) to += 1;
    while (told.length < to) told.push(to - from >= EQUAL_DISTANCES_MIN);
  }
  return told;
}

/** The times of settlements: from the hour of each up to when the next one is due. */
export function fundingSpans(points: readonly FundingPoint[]): SeriesSpan[] {
  return joinSpans(
    points.map(({ at, interval_s }, i) => {
      const from = settledHour(at);
      const next = points[i + 1];
      const due = from + (next === undefined ? interval_s : next.interval_s) * MS_PER_S;
      return { from, to: next === undefined ? due : Math.min(due, settledHour(next.at)) };
    }),
  );
}
