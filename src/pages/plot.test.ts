// Axes tell round values within their bounds, and enough of them to read a picture by.

import { expect, test } from 'vitest';
import { sharesFrom } from '../evidence/random.ts';
import { boundsOf, ticksOf } from './plot.tsx';

test.each([
  [
    [0.77, 1.35],
    [0.8, 1, 1.2],
  ],
  [
    [30_200, 35_900],
    [32_000, 34_000],
  ],
  [
    [0.164, 0.3119],
    [0.2, 0.25, 0.3],
  ],
  [
    [-0.2, 0.1],
    [-0.2, -0.1, 0, 0.1],
  ],
] as const)('%s: %s', (bounds, ticks) => {
  expect(ticksOf(bounds)).toEqual(ticks);
});

test('between two and six round values of any bounds, in their order and within them', () => {
  const shares = sharesFrom(1);
  for (let n = 0; n < 10_000; n += 1) {
    const middle = (shares() - 0.5) * 10 ** Math.floor(10 * shares() - 5);
    const half = Math.abs(middle) * (0.001 + shares()) + 1e-9;
    const [low, high] = [middle - half, middle + half];
    const ticks = ticksOf([low, high]);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(6);
    expect([...ticks].sort((a, b) => a - b)).toEqual(ticks);
    const rounding = 1e-9 * Math.max(Math.abs(low), Math.abs(high));
    expect(ticks[0]).toBeGreaterThanOrEqual(low - rounding);
    expect(ticks.at(-1)).toBeLessThanOrEqual(high + rounding);
  }
});

test('values that do not differ have bounds around them', () => {
  const [low, high] = boundsOf([1, 1]);
  expect([low < 1, high > 1, ticksOf([low, high]).includes(1)]).toEqual([true, true, true]);
});
