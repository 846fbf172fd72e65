import { describe, expect, test } from 'vitest';
import { levelOf } from '../../testing/rug-models.ts';
import { lowestLevel } from './evaluation.ts';

describe('the level', () => {
  const gap = (low: number | null) => ({ value: 0.05, low, high: 0.1 });
  /** Rows from the lowest score up: the lower ends of their own gaps, and of all from them on. */
  const lowest = (...rows: readonly (readonly [own: number | null, fromHere: number])[]) =>
    lowestLevel(
      rows.map(([own]) => ({ gap: gap(own) })),
      rows.map(([, fromHere], at) => levelOf(at / 10, { gap: gap(fromHere) })),
    )?.score_from;

  test('is the lowest score from which on each row died more often than all', () => {
    expect(lowest([0.01, 0.01], [-0.01, 0.02], [0.01, 0.03], [0.02, 0.02])).toBe(0.2);
    expect(lowest([0.01, 0.01], [0.01, 0.02])).toBe(0);
  });

  test('is nowhere where the highest row did not, whatever the rows below it did', () => {
    expect(lowest([0.05, 0.05], [0.05, 0.05], [0, 0])).toBeUndefined();
    expect(lowest([0.05, 0.05], [null, 0.05])).toBeUndefined();
    expect(lowest()).toBeUndefined();
  });

  test('is not lower than where all rows from it on together died more often', () => {
    expect(lowest([0.01, -0.01], [0.01, 0.02])).toBe(0.1);
  });
});
