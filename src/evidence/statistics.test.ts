import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  aucOf,
  brierOf,
  effectiveCount,
  falseDiscoveryRates,
  precisionOf,
  reliabilityOf,
  type Scored,
  scoreGroups,
  shareGap,
  shareOf,
  tiesOf,
  wilsonInterval,
} from './statistics.ts';

const anyScored = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 8 }), fc.boolean(), fc.integer({ min: 0, max: 3 })), {
    minLength: 1,
    maxLength: 150,
  })
  .map(
    (rows): Scored => ({
      scores: Float64Array.from(rows, ([score]) => score / 8),
      outcomes: Uint8Array.from(rows, ([, outcome]) => Number(outcome)),
      clusters: Uint32Array.from(rows, ([, , cluster]) => cluster),
    }),
  );

/** The AUC by every pair of one with the outcome and one without it. */
function aucByPairs({ scores, outcomes }: Scored): number | null {
  let [sum, pairs] = [0, 0];
  for (const [a, here] of outcomes.entries()) {
    for (const [b, there] of outcomes.entries()) {
      if (here !== 1 || there !== 0) continue;
      const difference = Number(scores[a]) - Number(scores[b]);
      sum += difference > 0 ? 1 : difference === 0 ? 0.5 : 0;
      pairs += 1;
    }
  }
  return pairs === 0 ? null : sum / pairs;
}

describe('intervals', () => {
  // Newcombe 1998, Statistics in Medicine 17, table I; the digits beyond it are those of scipy
  // 1.17.1 (`binomtest(k, n).proportion_ci(method='wilson')`).
  test.each([
    [81, 263, 0.2552885198782742, 0.36620957698280004],
    [15, 148, 0.06238639953073629, 0.16048724172330803],
    [0, 20, 0, 0.16112515805281935],
    [1, 29, 0.006113214292762667, 0.17175521879320282],
    [20, 20, 0.8388748419471808, 1],
    [5_288, 5_367, 0.981693942787903, 0.9881727047269111],
    [1, 1, 0.20654931437723745, 1],
  ])('of %i in %i are Wilson’s', (hits, of, low, high) => {
    const interval = wilsonInterval(hits, of);
    expect(interval?.low).toBeCloseTo(low, 12);
    expect(interval?.high).toBeCloseTo(high, 12);
  });

  test('of a difference are Newcombe’s', () => {
    // Newcombe 1998, Statistics in Medicine 17, table II, method 10.
    const gap = shareGap({ hits: 56, of: 70 }, { hits: 48, of: 80 });
    expect(gap?.value).toBeCloseTo(0.2, 12);
    expect(gap?.low).toBeCloseTo(0.0524, 4);
    expect(gap?.high).toBeCloseTo(0.3339, 4);
  });

  test('of nothing counted are null, on either side', () => {
    expect(wilsonInterval(0, 0)).toBeNull();
    expect(shareGap({ hits: 0, of: 0 }, { hits: 1, of: 2 })).toBeNull();
    expect(shareGap({ hits: 1, of: 2 }, { hits: 0, of: 0 })).toBeNull();
  });
});

describe('several tests at once', () => {
  // Benjamini and Hochberg 1995, the example of 15 endpoints of a trial.
  const P = [
    ...[0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324],
    ...[0.4262, 0.5719, 0.6528, 0.759, 1],
  ];

  test('four of the example are under 5%', () => {
    const q = falseDiscoveryRates(P);
    expect(q.filter((one) => one <= 0.05)).toHaveLength(4);
    expect(q[3]).toBeCloseTo((0.0095 * 15) / 4, 12);
  });

  test('the order of the tests changes no rate, and no rate is under its p or over 1', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 }), (p) => {
        const q = falseDiscoveryRates(p);
        expect(falseDiscoveryRates([...p].reverse())).toEqual([...q].reverse());
        for (const [at, one] of q.entries()) {
          expect(one).toBeGreaterThanOrEqual(Number(p[at]));
          expect(one).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

describe('measures', () => {
  test('of four forecasts are those made by hand', () => {
    const scored = {
      scores: Float64Array.of(0.1, 0.9, 0.8, 0.3),
      outcomes: Uint8Array.of(0, 1, 1, 0),
      clusters: Uint32Array.of(0, 1, 2, 3),
    };
    expect(brierOf(scored, null)).toBeCloseTo(0.0375, 12);
    expect(aucOf(tiesOf(scored.scores), scored.outcomes, null)).toBe(1);
    expect(reliabilityOf([1, 2], scored)).toMatchObject({
      score_from: 0.8,
      score_to: 0.9,
      rows: 2,
      hits: 2,
      share: { value: 1, high: 1 },
    });
  });

  test('of no row are null', () => {
    const none = {
      scores: new Float64Array(),
      outcomes: new Uint8Array(),
      clusters: new Uint32Array(),
    };
    expect(brierOf(none, null)).toBeNull();
    expect(aucOf([], none.outcomes, null)).toBeNull();
    expect(shareOf([], none)).toBeNull();
    expect(precisionOf([], none, 100)).toBeNull();
    expect(reliabilityOf([], none)).toBeNull();
    expect(effectiveCount([], none.clusters)).toBe(0);
  });

  test('the AUC is what every pair says, and null without one', () => {
    fc.assert(
      fc.property(anyScored, (scored) => {
        const found = aucOf(tiesOf(scored.scores), scored.outcomes, null);
        const byHand = aucByPairs(scored);
        if (byHand === null) expect(found).toBeNull();
        else expect(found).toBeCloseTo(byHand, 12);
      }),
    );
  });

  test('weights count a row as often as if it stood there so often', () => {
    fc.assert(
      fc.property(anyScored, (scored) => {
        const times = Float64Array.from(scored.scores, (_, at) => at % 3);
        const rows = [...times.keys()].flatMap((row) => Array(times[row]).fill(row) as number[]);
        if (rows.length === 0) return;
        const repeated: Scored = {
          scores: Float64Array.from(rows, (row) => Number(scored.scores[row])),
          outcomes: Uint8Array.from(rows, (row) => Number(scored.outcomes[row])),
          clusters: Uint32Array.from(rows, (row) => Number(scored.clusters[row])),
        };
        const weighed = aucOf(tiesOf(scored.scores), scored.outcomes, times);
        const counted = aucOf(tiesOf(repeated.scores), repeated.outcomes, null);
        if (counted === null) expect(weighed).toBeNull();
        else expect(weighed).toBeCloseTo(counted, 12);
        expect(brierOf(scored, times)).toBeCloseTo(Number(brierOf(repeated, null)), 12);
      }),
    );
  });

  test('of a tie at the last place each row counts alike', () => {
    const scored: Scored = {
      scores: Float64Array.from({ length: 150 }, (_, at) => (at < 60 ? 0.9 : 0.5)),
      outcomes: Uint8Array.from({ length: 150 }, (_, at) => Number(at < 60 || at % 3 === 0)),
      clusters: Uint32Array.from({ length: 150 }, (_, at) => at),
    };
    const found = precisionOf(tiesOf(scored.scores), scored, 100);
    expect(found).toMatchObject({ k: 100, tied_at_k: 90 });
    expect(found?.value).toBeCloseTo((60 + 40 * (30 / 90)) / 100, 12);
  });

  test('a share over the rows of one cluster is worth one row, not many', () => {
    const rows = Array.from({ length: 40 }, (_, row) => ({ row, weight: 1 }));
    const of = (cluster: (at: number) => number): Scored => ({
      scores: new Float64Array(40),
      outcomes: new Uint8Array(40).fill(1),
      clusters: Uint32Array.from({ length: 40 }, (_, at) => cluster(at)),
    });
    const apart = shareOf(
      rows,
      of((at) => at),
    );
    const together = shareOf(
      rows,
      of(() => 0),
    );
    expect(apart?.low).toBeCloseTo(0.9124, 3);
    expect(together?.low).toBeCloseTo(0.2065, 3);
  });

  test('the reliability table counts every row once, ties together', () => {
    fc.assert(
      fc.property(anyScored, ({ scores }) => {
        const groups = scoreGroups(tiesOf(scores), 10);
        expect(groups.flat().sort((a, b) => a - b)).toEqual([...scores.keys()]);
        const ends = groups.map((rows) => rows.map((row) => Number(scores[row])));
        for (const [at, own] of ends.entries()) {
          expect(Math.min(...own)).toBeGreaterThan(Math.max(-1, ...(ends[at - 1] ?? [])));
        }
      }),
    );
  });
});
