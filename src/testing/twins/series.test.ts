import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SeriesSpan } from '../../ports/series.ts';
import { holesOf, joinSpans, spansWithin, spansWithout } from '../../ports/series-coverage.ts';
import { seriesStoreKeeps } from '../../ports/series-store.suite.ts';
import { memorySeriesStore } from './series.ts';

seriesStoreKeeps('the memory', async () => memorySeriesStore());

const END = 40;
const spans = fc
  .array(fc.tuple(fc.integer({ min: 0, max: END }), fc.integer({ min: 0, max: END })))
  .map((pairs) => pairs.map(([from, to]): SeriesSpan => ({ from, to })));

function instants(held: readonly SeriesSpan[]): number[] {
  const all = Array.from({ length: END }, (_, at) => at);
  return all.filter((at) => held.some(({ from, to }) => from <= at && at < to));
}

test('spans hold the same instants joined, cut and left out as counted one by one', () => {
  fc.assert(
    fc.property(spans, spans, ([span = { from: 0, to: END }, ...held], gone) => {
      const own = instants([span]);
      const other = new Set(instants(held));
      const lost = new Set(instants(gone));
      expect(instants(joinSpans(held))).toEqual([...other]);
      expect(instants(spansWithin(span, held))).toEqual(own.filter((at) => other.has(at)));
      const missing = own.filter((at) => !other.has(at));
      expect(instants(spansWithout(span, held))).toEqual(missing);
      const holes = holesOf(span, { covered: held, gone });
      expect(instants(holes.filter((hole) => hole.gone))).toEqual(
        missing.filter((at) => lost.has(at)),
      );
      expect(instants(holes.filter((hole) => !hole.gone))).toEqual(
        missing.filter((at) => !lost.has(at)),
      );
      const joined = joinSpans(held);
      expect(joined.every(({ from }, i) => from > (joined[i - 1]?.to ?? -1))).toBe(true);
    }),
  );
});
