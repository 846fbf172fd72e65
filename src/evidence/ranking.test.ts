import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { discountAt, gainOf, idealGain, ndcgOf } from './ranking.ts';

describe('normalised discounted cumulative gain', () => {
  const inOrder = (labels: readonly number[], most = labels.length) =>
    ndcgOf(
      labels.map((_, at) => -at),
      labels,
      most,
    );

  test('is what a hand reckons', () => {
    expect(inOrder([3, 2, 3, 0, 1, 2])).toBeCloseTo(0.948811, 6);
    // 7 + 3 / log2 3 + 7 / 2, of 7 + 7 / log2 3 + 3 / 2.
    expect(inOrder([3, 2, 3, 0, 1, 2], 3)).toBeCloseTo(
      (7 + 3 / Math.log2(3) + 3.5) / (7 + 7 / Math.log2(3) + 1.5),
      12,
    );
    expect(inOrder([3, 3, 2, 2, 1, 0])).toBe(1);
    expect(inOrder([0, 1], 1)).toBe(0);
  });

  test('is null where no order is better than another', () => {
    expect(inOrder([0, 0, 0])).toBeNull();
    expect(inOrder([])).toBeNull();
  });

  test('is at most that of the best order, whatever the scores', () => {
    const rows = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 9 })));
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 6 }), (all, most) => {
        const labels = all.map(([label]) => label);
        const ndcg = ndcgOf(
          all.map(([, score]) => score),
          labels,
          most,
        );
        if (ndcg === null) return;
        expect(ndcg).toBeGreaterThanOrEqual(0);
        expect(ndcg).toBeLessThanOrEqual(1 + 1e-12);
        expect(ndcgOf(labels, labels, most)).toBeCloseTo(1, 12);
      }),
    );
  });

  test('counts rows of one score by the mean over all of their orders', () => {
    const labels = [3, 0, 1, 2];
    const scores = [5, 5, 5, 1];
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];
    for (const most of [1, 2, 3, 4]) {
      const sum = orders.reduce((all, order) => {
        const places = [...order, 3].slice(0, most);
        const gained = places.map((row, at) => gainOf(Number(labels[row])) * discountAt(at));
        return all + gained.reduce((a, b) => a + b, 0) / idealGain(labels, most);
      }, 0);
      expect(ndcgOf(scores, labels, most)).toBeCloseTo(sum / orders.length, 12);
    }
  });
});
