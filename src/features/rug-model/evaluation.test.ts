import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  aucOf,
  brierOf,
  precisionOf,
  reliabilityOf,
  type Scored,
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
      fc.property(anyScored, (scored) => {
        const rows = reliabilityOf(tiesOf(scored.scores), scored);
        const sum = (of: 'launches' | 'died') => rows.reduce((all, one) => all + one[of], 0);
        expect(sum('launches')).toBe(scored.scores.length);
        expect(sum('died')).toBe(scored.died.reduce((all, one) => all + one, 0));
        for (const [at, row] of rows.entries()) {
          expect(row.mean_score).toBeGreaterThanOrEqual(row.score_from - 1e-12);
          expect(row.mean_score).toBeLessThanOrEqual(row.score_to + 1e-12);
          expect(row.score_from).toBeGreaterThan(rows[at - 1]?.score_to ?? -1);
        }
      }),
    );
  });
});
