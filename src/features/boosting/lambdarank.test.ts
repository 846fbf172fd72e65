import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ndcgOf } from '../../evidence/ranking.ts';
import { LIGHTGBM_EXAMPLE, RANK_DATA, rankingFile } from '../../testing/rank-data.ts';
import { boost } from './boost.ts';
import { rankObjective } from './lambdarank.ts';
import { marginOf } from './trees.ts';

vi.setConfig({ testTimeout: 120_000 });

const label = fc.integer({ min: 0, max: 4 });
const margin = fc.double({ min: -4, max: 4, noNaN: true });
const anyQueries = fc.array(fc.array(fc.tuple(label, margin), { minLength: 1, maxLength: 8 }), {
  minLength: 1,
  maxLength: 4,
});
type Rows = readonly (readonly (readonly [number, number])[])[];

function derivedOf(queries: Rows) {
  const rows = queries.flat();
  const objective = rankObjective({
    labels: Uint8Array.from(rows, ([one]) => one),
    sizes: queries.map(({ length }) => length),
  });
  const margins = Float64Array.from(rows, ([, one]) => one);
  const [gradients, hessians] = [new Float64Array(rows.length), new Float64Array(rows.length)];
  objective.derive(margins, gradients, hessians);
  return { objective, margins, gradients, hessians };
}

describe('the derivatives of an order', () => {
  test('are what a hand reckons for a pair in the wrong order', () => {
    const { gradients, hessians } = derivedOf([
      [
        [0, 1],
        [1, 0],
      ],
    ]);
    // The better row stands second: exchanging the two changes the NDCG by 1 − 1 / log2 3.
    const change = 1 - 1 / Math.log2(3);
    const wrong = 1 / (1 + Math.exp(-1));
    expect([...gradients]).toEqual([
      expect.closeTo(change * wrong, 12),
      expect.closeTo(-change * wrong, 12),
    ]);
    for (const one of hessians) expect(one).toBeCloseTo(change * wrong * (1 - wrong), 12);
  });

  test('pull as much up as down in each query, and not at rows of one label', () => {
    fc.assert(
      fc.property(anyQueries, (queries) => {
        const { gradients, hessians } = derivedOf(queries);
        let at = 0;
        for (const query of queries) {
          const own = gradients.subarray(at, at + query.length);
          expect(own.reduce((sum, one) => sum + one, 0)).toBeCloseTo(0, 9);
          if (new Set(query.map(([one]) => one)).size === 1) {
            expect([...own].every((one) => Math.abs(one) === 0)).toBe(true);
          }
          at += query.length;
        }
        expect(hessians.every((one) => one >= 0)).toBe(true);
      }),
    );
  });

  test('pull each row on its own by what the weighted pairs lose, as differences tell', () => {
    fc.assert(
      fc.property(anyQueries, (queries) => {
        const { margins, gradients } = derivedOf(queries);
        const step = 1e-5;
        let from = 0;
        for (const query of queries) {
          const labels = query.map(([one]) => one);
          const own = [...margins.subarray(from, from + query.length)];
          for (const at of own.keys()) {
            const moved = (by: number) => own.map((one, row) => (row === at ? one + by : one));
            const slope =
              (pairLoss(labels, own, moved(step)) - pairLoss(labels, own, moved(-step))) /
              (2 * step);
            expect(gradients[from + at]).toBeCloseTo(slope, 5);
          }
          from += query.length;
        }
      }),
    );
  });

  test('lose one less the mean NDCG of the queries that have an order', () => {
    const { objective, margins } = derivedOf([
      [
        [3, 6],
        [2, 5],
        [3, 4],
        [0, 3],
        [1, 2],
        [2, 1],
      ],
      [
        [0, 1],
        [0, 2],
      ],
    ]);
    expect(objective.loss(margins)).toBeCloseTo(1 - 0.948811, 6);
    expect(() => derivedOf([[[0, 1]]]).objective.loss(Float64Array.of(1))).toThrow('no query');
  });
});

/** The loss of all pairs at some margins, each weighed by the places at the margins `before`. */
function pairLoss(
  labels: readonly number[],
  before: readonly number[],
  margins: readonly number[],
): number {
  const order = [...labels.keys()].sort((a, b) => Number(before[b]) - Number(before[a]) || a - b);
  const place = new Map(order.map((row, at) => [row, at]));
  const gain = (row: number) => 2 ** Number(labels[row]) - 1;
  const keeps = (row: number) => 1 / Math.log2(Number(place.get(row)) + 2);
  const ideal = [...labels]
    .sort((a, b) => b - a)
    .reduce((sum, one, at) => sum + (2 ** one - 1) / Math.log2(at + 2), 0);
  let loss = 0;
  for (const better of labels.keys()) {
    for (const worse of labels.keys()) {
      if (Number(labels[better]) <= Number(labels[worse])) continue;
      const change =
        ((gain(better) - gain(worse)) * Math.abs(keeps(better) - keeps(worse))) / ideal;
      loss += change * Math.log1p(Math.exp(Number(margins[worse]) - Number(margins[better])));
    }
  }
  return loss;
}

const absent = !existsSync(RANK_DATA);
const title = absent ? 'LightGBM’s example (skipped: no shared data)' : 'LightGBM’s example';

describe.skipIf(absent)(title, () => {
  test('is ranked as its settings should rank it', async () => {
    const [train, later] = [await rankingFile('rank.train'), await rankingFile('rank.test')];
    expect([train.sizes.length, train.labels.length]).toEqual([201, 3_005]);
    expect([later.sizes.length, later.labels.length]).toEqual([50, 768]);
    const { base, trees } = boost(
      { columns: train.columns, objective: rankObjective(train) },
      null,
      [],
      { ...LIGHTGBM_EXAMPLE, seed: 1 },
    );
    const row = (at: number) => later.columns.map((column) => Number(column[at]));
    const scores = Float64Array.from(later.labels, (_, at) => marginOf(base, trees, row(at)));
    const means = [1, 3, 5].map((most) => {
      let [sum, queries, from] = [0, 0, 0];
      for (const size of later.sizes) {
        const to = from + size;
        const ndcg = ndcgOf(scores.subarray(from, to), later.labels.subarray(from, to), most);
        if (ndcg !== null) [sum, queries] = [sum + ndcg, queries + 1];
        from = to;
      }
      return sum / queries;
    });
    // The mean over five seeds is printed by `npm run bench:rank`.
    expect(means[0]).toBeGreaterThan(0.59);
    expect(means[1]).toBeGreaterThan(0.59);
    expect(means[2]).toBeGreaterThan(0.64);
  });
});
