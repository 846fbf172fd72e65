// The twin of the market series: rows, revisions and coverage in memory.

import { type Origin, part, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  identityOf,
  type Kept,
  SERIES_ROWS,
  type SeriesHeld,
  type SeriesKind,
  type SeriesName,
  type SeriesObserved,
  type SeriesPort,
  type SeriesRow,
  type SeriesSpan,
  type SeriesStore,
} from '../../ports/series.ts';
import {
  holesOf,
  joinSpans,
  seriesText,
  spansWithin,
  whyHoles,
  whyNotHeld,
} from '../../ports/series-coverage.ts';
import { type Dated, memorySource, UNDATED } from './dated.ts';

type Coverage = Pick<SeriesObserved, 'covered' | 'received_at' | 'origin'> & {
  readonly gone: readonly SeriesSpan[];
};
type Held = {
  readonly name: SeriesName;
  /** By identity, the revisions in their order. */
  readonly rows: Map<string, Kept<SeriesRow<SeriesKind>>[]>;
  readonly coverages: Coverage[];
};

/** Market series in memory. */
export function memorySeriesStore({ as_of }: Dated = UNDATED): SeriesStore {
  const held = new Map<string, Held>();
  const originOf = (simulated: boolean): Origin<SeriesPort> => {
    return { port: 'market_series', source: memorySource('Memory', 'table', { as_of, simulated }) };
  };
  const origin = originOf(false);
  return {
    read: async <S extends SeriesKind>(
      name: SeriesName<S>,
      span: SeriesSpan,
      { asOf = Number.POSITIVE_INFINITY }: { readonly asOf?: number },
    ) => {
      const one = held.get(seriesText(name));
      const known = one === undefined ? [] : one.coverages.filter((of) => of.received_at <= asOf);
      const covered = joinSpans(known.flatMap((of) => of.covered));
      const gone = joinSpans(known.flatMap((of) => of.gone));
      if (one === undefined || spansWithin(span, covered).length === 0) {
        return unread('market_series', whyNotHeld(name, span));
      }
      const holes = holesOf(span, { covered, gone });
      const rows = [...one.rows.values()]
        .flatMap((revisions) => revisions.filter((row) => row.received_at <= asOf).slice(-1))
        .filter(({ at }) => at >= span.from && at < span.to)
        .sort((a, b) => a.at - b.at)
        .map(({ received_at, revision, ...row }): Kept<SeriesRow<S>> => {
          const told = SERIES_ROWS[name.series].parse(row) as SeriesRow<S>;
          return { ...told, received_at, revision };
        });
      const value = { ...span, rows, holes };
      const isMadeUp = known.some(
        (of) => of.origin === 'simulated' && spansWithin(span, of.covered).length > 0,
      );
      if (holes.length > 0) return part(value, originOf(isMadeUp), whyHoles(name, holes));
      return isMadeUp ? part(value, originOf(true), why('simulated')) : read(value, origin);
    },
    add: async <S extends SeriesKind>(
      name: SeriesName<S>,
      rows: readonly SeriesRow<S>[],
      { covered, gone = [], received_at, origin: made }: SeriesObserved,
    ) => {
      const key = seriesText(name);
      const one: Held = held.get(key) ?? { name, rows: new Map(), coverages: [] };
      held.set(key, one);
      const told = { added: 0, revised: 0, unchanged: 0 };
      const identities = new Set(rows.map((row) => identityOf(name.series, row)));
      if (identities.size < rows.length) throw new RangeError('one identity stands in rows twice');
      for (const row of rows) {
        const revisions = one.rows.get(identityOf(name.series, row)) ?? [];
        one.rows.set(identityOf(name.series, row), revisions);
        const last = revisions.at(-1);
        if (last !== undefined && isSame(row, last)) told.unchanged += 1;
        else {
          revisions.push({ ...row, received_at, revision: revisions.length });
          told[last === undefined ? 'added' : 'revised'] += 1;
        }
      }
      one.coverages.push({ covered, gone, received_at, origin: made });
      return read(told, origin);
    },
    held: async () => {
      const sorted = [...held].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
      return read(
        sorted.map(([, one]) => summaryOf(one)),
        origin,
      );
    },
  };
}

function isSame(row: SeriesRow<SeriesKind>, kept: Kept<SeriesRow<SeriesKind>>): boolean {
  const { received_at: _, revision: __, ...told } = kept;
  return JSON.stringify(sortFields(row)) === JSON.stringify(sortFields(told));
}

function sortFields(row: object): unknown {
  return Object.entries(row).sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
}

function summaryOf({ name, rows, coverages }: Held): SeriesHeld {
  const revisions = [...rows.values()].flat();
  return {
    name,
    rows: rows.size,
    revisions: revisions.length,
    covered: joinSpans(coverages.flatMap((of) => of.covered)),
    gone: joinSpans(coverages.flatMap((of) => of.gone)),
    origin: coverages.some((of) => of.origin === 'simulated') ? 'simulated' : 'observed',
    received_at: Math.max(...coverages.map((of) => of.received_at)),
  };
}

export type SeriesPorts = { readonly marketSeries: SeriesStore };

/** Every series, silent for one reason. */
export function silentSeries(cause: Why): SeriesPorts {
  const silent = async () => unread('market_series', cause);
  return { marketSeries: { read: silent, add: silent, held: silent } };
}
