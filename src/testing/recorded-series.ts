// Market series over a list of what arrived, in memory: read as the stores read them, by what was
// received until a time, and fast enough for months of hours.

import { part, read, unread } from '../evidence/reading.ts';
import {
  identityOf,
  type Kept,
  type SeriesKind,
  type SeriesName,
  type SeriesRow,
  type SeriesSpan,
  type SeriesStore,
} from '../ports/series.ts';
import { holesOf, joinSpans, seriesText, whyHoles, whyNotHeld } from '../ports/series-coverage.ts';
import type { SeriesBatch, SeriesRecord } from './look-ahead.ts';
import { memorySource, UNDATED } from './twins/dated.ts';

type Series<S extends SeriesKind = SeriesKind> = {
  readonly name: SeriesName<S>;
  /** In the order of time, and of one time in that of receipt. */
  readonly rows: Kept<SeriesRow<S>>[];
  readonly revisions: Map<string, number>;
  /** In the order of their beginnings. */
  readonly covered: { readonly at: number; readonly to: number; readonly received_at: number }[];
};

/** No coverage of a test is longer: older ones cannot reach into a span. */
const COVERED_MS_MAX = 24 * 3_600_000;

/** What arrived so far; `receive` takes in more, in the order of receipt. */
export type RecordedSeries = Pick<SeriesStore, 'read'> & {
  readonly receive: (batches: SeriesRecord) => void;
};

export function recordedSeries(batches: SeriesRecord): RecordedSeries {
  const held = new Map<string, Series>();
  const source = memorySource('Record', 'table', UNDATED);
  const origin = { port: 'market_series', source } as const;
  const receive = (more: SeriesRecord): void => {
    for (const batch of more) {
      const key = seriesText(batch.name);
      const known = held.get(key);
      const one: Series =
        known === undefined
          ? { name: batch.name, rows: [], revisions: new Map(), covered: [] }
          : known;
      held.set(key, one);
      keepBatch(one, batch);
    }
  };
  receive(batches);
  return {
    receive,
    read: async <S extends SeriesKind>(
      name: SeriesName<S>,
      span: SeriesSpan,
      { asOf = Number.POSITIVE_INFINITY }: { readonly asOf?: number },
    ) => {
      const one = held.get(seriesText(name));
      if (one === undefined || !isOf(one, name)) {
        return unread('market_series' as const, whyNotHeld(name, span));
      }
      const known = one.covered
        .slice(
          placeAfter(one.covered, span.from - COVERED_MS_MAX),
          placeAfter(one.covered, span.to - 1),
        )
        .filter((of) => of.received_at <= asOf && of.to > span.from);
      if (known.length === 0) return unread('market_series' as const, whyNotHeld(name, span));
      const covered = joinSpans(known.map(({ at, to }) => ({ from: at, to })));
      const holes = holesOf(span, { covered, gone: [] });
      const newest = new Map<string, Kept<SeriesRow<S>>>();
      const first = placeAfter(one.rows, span.from - 1);
      for (const row of one.rows.slice(first, placeAfter(one.rows, span.to - 1))) {
        if (row.received_at <= asOf) newest.set(identityOf(name.series, row), row);
      }
      const value = { ...span, rows: [...newest.values()], holes };
      return holes.length === 0 ? read(value, origin) : part(value, origin, whyHoles(name, holes));
    },
  };
}

function isOf<S extends SeriesKind>(one: Series, { series }: SeriesName<S>): one is Series<S> {
  return one.name.series === series;
}

function keepBatch<S extends SeriesKind>(one: Series<S>, batch: SeriesBatch<S>): void {
  const { name, received_at, rows, covered } = batch;
  for (const row of rows) {
    const identity = identityOf(name.series, row);
    const before = one.revisions.get(identity);
    const revision = before === undefined ? 0 : before + 1;
    one.revisions.set(identity, revision);
    one.rows.splice(placeAfter(one.rows, row.at), 0, { ...row, received_at, revision });
  }
  for (const { from: at, to } of covered) {
    if (to - at > COVERED_MS_MAX) throw new RangeError('test: too long a coverage');
    one.covered.splice(placeAfter(one.covered, at), 0, { at, to, received_at });
  }
}

/** Behind the last row that is not later than a time. */
function placeAfter(rows: readonly { readonly at: number }[], at: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row !== undefined && row.at <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
