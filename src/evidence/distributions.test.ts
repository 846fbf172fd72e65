// The distributions give the published figures: tables of the normal one, and R's and SciPy's of
// the beta one.

import { expect, test } from 'vitest';
import { betaCdf, betaQuantile, logGamma, normalCdf, normalQuantile } from './distributions.ts';

test.each([
  [0, 0.5],
  [1, 0.8413447460685429],
  [-1.959963984540054, 0.025],
  [3, 0.9986501019683699],
  [-6, 9.865876450376946e-10],
  [-10, 7.61985302416047e-24],
])('the normal distribution at %d', (x, p) => {
  expect(Math.abs(normalCdf(x) / p - 1)).toBeLessThan(1e-12);
  expect(Math.abs(normalQuantile(p) - x)).toBeLessThan(x > 0 ? 1e-11 : 1e-12);
});

test.each([
  [0.5, 0.5723649429247001],
  [1, 0],
  [10, 12.801827480081469],
  [100_000, 1051287.7089736569],
])('the logarithm of the gamma function of %d', (x, value) => {
  expect(Math.abs(logGamma(x) - value)).toBeLessThan(1e-13 * Math.max(1, value));
});

test('the interval at 95% of Beta(8, 4)', () => {
  expect(Math.abs(betaQuantile(0.025, { a: 8, b: 4 }) - 0.390257440427579)).toBeLessThan(1e-12);
  expect(Math.abs(betaQuantile(0.975, { a: 8, b: 4 }) - 0.890736556180902)).toBeLessThan(1e-12);
  // 1 - 232/2048: of eleven throws at least eight show heads with this chance.
  expect(Math.abs(1 - betaCdf(0.5, { a: 8, b: 4 }) - 0.88671875)).toBeLessThan(1e-14);
});

test.each([
  [0.3, 0.5, 0.5, 0.36901011956554536],
  [0.52, 5_200.5, 4_800.25, 0.499015153582231],
  [0.999, 1, 3, 0.999999999],
])('the beta distribution at %d with %d and %d', (x, a, b, p) => {
  expect(betaCdf(x, { a, b })).toBeCloseTo(p, 10);
});

test('a quantile gives its chance back, whatever the counts', () => {
  for (const a of [1, 2.5, 40, 3_000, 60_000]) {
    for (const b of [1, 7.25, 300, 50_000]) {
      for (const p of [0.025, 0.5, 0.975]) {
        const back = betaCdf(betaQuantile(p, { a, b }), { a, b });
        expect(Math.abs(back - p)).toBeLessThan(1e-9);
      }
    }
  }
});
