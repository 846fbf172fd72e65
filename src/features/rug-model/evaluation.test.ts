import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { levelOf } from '../../testing/rug-models.ts';
import {
  aucOf,
  brierOf,
  lowestLevel,
  precisionOf,
  type Scored,
  scoreGroups,
  shareOf,
  tiesOf,
} from './evaluation.ts';

const anyScored = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 8 }), fc.boolean(), fc.integer({ min: 0, max: 3 })), {
    minLength: 1,
    maxLength: 150,
  })
  .map(
    (rows): Scored => ({
      scores: Float64Array.from(rows, ([score]) => score / 8),
      died: Uint8Array.from(rows, ([, died]) => Number(died)),
      deployer: Uint32Array.from(rows, ([, , deployer]) => deployer),
    }),
  );

/** The AUC by every pair of one that died and one that did not. */
function aucByPairs({ scores, died }: Scored): number | null {
  let [sum, pairs] = [0, 0];
  for (const [a, dead] of died.entries()) {
    for (const [b, alive] of died.entries()) {
      if (dead !== 1 || alive !== 0) continue;
      const difference = Number(scores[a]) - Number(scores[b]);
      sum += difference > 0 ? 1 : difference === 0 ? 0.5 : 0;
      pairs += 1;
    }
  }
  return pairs === 0 ? null : sum / pairs;
}

describe('measures', () => {
  test('the AUC is what every pair says, and null without one', () => {
    fc.assert(
      fc.property(anyScored, (scored) => {
        const found = aucOf(tiesOf(scored.scores), scored.died, null);
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
          died: Uint8Array.from(rows, (row) => Number(scored.died[row])),
          deployer: Uint32Array.from(rows, (row) => Number(scored.deployer[row])),
        };
        const weighed = aucOf(tiesOf(scored.scores), scored.died, times);
        const counted = aucOf(tiesOf(repeated.scores), repeated.died, null);
        if (counted === null) expect(weighed).toBeNull();
        else expect(weighed).toBeCloseTo(counted, 12);
        expect(brierOf(scored, times)).toBeCloseTo(brierOf(repeated, null), 12);
      }),
    );
  });

  test('of a tie at the last place each row counts alike', () => {
    const scored: Scored = {
      scores: Float64Array.from({ length: 150 }, (_, at) => (at < 60 ? 0.9 : 0.5)),
      died: Uint8Array.from({ length: 150 }, (_, at) => Number(at < 60 || at % 3 === 0)),
      deployer: Uint32Array.from({ length: 150 }, (_, at) => at),
    };
    const found = precisionOf(tiesOf(scored.scores), scored);
    expect(found).toMatchObject({ k: 100, tied_at_k: 90 });
    expect(found.value).toBeCloseTo((60 + 40 * (30 / 90)) / 100, 12);
  });

  test('a share over one deployer’s launches is worth one launch, not many', () => {
    const rows = Array.from({ length: 40 }, (_, row) => ({ row, weight: 1 }));
    const of = (deployer: (at: number) => number): Scored => ({
      scores: new Float64Array(40),
      died: new Uint8Array(40).fill(1),
      deployer: Uint32Array.from({ length: 40 }, (_, at) => deployer(at)),
    });
    const apart = shareOf(
      rows,
      of((at) => at),
    );
    const alike = shareOf(
      rows,
      of(() => 0),
    );
    expect(apart.low).toBeCloseTo(0.9124, 3);
    expect(alike.low).toBeCloseTo(0.2065, 3);
  });

  test('the reliability table counts every launch once, ties together', () => {
    fc.assert(
      fc.property(anyScored, ({ scores }) => {
        const groups = scoreGroups(tiesOf(scores));
        expect(groups.flat().sort((a, b) => a - b)).toEqual([...scores.keys()]);
        const ends = groups.map((rows) => rows.map((row) => Number(scores[row])));
        for (const [at, own] of ends.entries()) {
          expect(Math.min(...own)).toBeGreaterThan(Math.max(-1, ...(ends[at - 1] ?? [])));
        }
      }),
    );
  });
});

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
