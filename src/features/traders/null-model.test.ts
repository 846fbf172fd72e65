import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sharesFrom } from '../../evidence/random.ts';
import { cellOf, WINDOWS } from './concentration.ts';
import { meanBlockLength, permutationPValues, scoreOutcomes } from './null-model.ts';

const HOUR_MS = 3_600_000;
const SESSIONS = WINDOWS.session.map(({ cells }) => cells);

/** Outcomes every five hours, each sign drawn; of the US session more by `edge`. */
function drawnOutcomes(count: number, edge: number) {
  const draw = sharesFrom(7);
  const times = Array.from({ length: count }, (_, n) => Date.UTC(2026, 0, 5) + n * 5 * HOUR_MS);
  const cells = Uint8Array.from(times, cellOf);
  const us = WINDOWS.session[2]?.cells;
  const outcomes = [...cells].map((cell) => draw() - 0.5 + (us?.has(cell) === true ? edge : 0));
  return { cells, outcomes };
}

describe('the p-value of a bucket', () => {
  const { cells, outcomes } = drawnOutcomes(300, 0.2);
  const sequence = { cells, scores: scoreOutcomes(outcomes) };
  const moves = { seed: 41, permutations: 500, block_mean: 10 };

  test('is small where the bucket has more, and large where it has less', () => {
    const [asia, europe, us] = permutationPValues(sequence, SESSIONS, moves);
    expect(us).toBeLessThan(0.01);
    expect(asia).toBeGreaterThan(0.5);
    expect(europe).toBeGreaterThan(0.5);
  });

  test('is never 0, and a whole number of arrangements', () => {
    const certain = { cells, scores: Int32Array.from(cells, (cell) => (cell % 24 >= 16 ? 9 : -9)) };
    const found = permutationPValues(certain, SESSIONS, moves);
    expect(found[2]).toBe(1 / 501);
    for (const p of found) expect(Number.isInteger(Math.round(p * 501 * 1e6) / 1e6)).toBe(true);
  });

  test('does not change with the buckets that are tested beside it', () => {
    const all = permutationPValues(sequence, SESSIONS, moves);
    const alone = SESSIONS.map(
      (cellsOfOne) => permutationPValues(sequence, [cellsOfOne], moves)[0],
    );
    expect(alone).toEqual([...all]);
  });

  test('is 1 where all outcomes are one', () => {
    const flat = { cells, scores: new Int32Array(cells.length).fill(5) };
    expect(permutationPValues(flat, SESSIONS, moves)).toEqual([1, 1, 1]);
  });

  test('is the one that another implementation gives, of the same seed and generator', () => {
    const asked = {
      ...moves,
      permutations: 60,
      cells: [...cells],
      outcomes,
      buckets: SESSIONS.map((one) => [...one]),
    };
    const { status, stdout, stderr } = spawnSync('python3', ['bench/permutation_p.py'], {
      input: JSON.stringify(asked),
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect([status, stderr]).toEqual([0, '']);
    const own = permutationPValues(sequence, SESSIONS, { ...moves, permutations: 60 });
    expect(JSON.parse(stdout)).toEqual(own);
  });
});

describe('scores', () => {
  test('keep the order and the sign of outcomes up to the limit, and are integers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 60 }),
        (outcomes) => {
          const scores = scoreOutcomes(outcomes);
          const order = outcomes.map((_, at) => at);
          order.sort((a, b) => Number(outcomes[a]) - Number(outcomes[b]));
          const inOrder = order.map((at) => Number(scores[at]));
          expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
          expect(Math.max(...inOrder.map(Math.abs))).toBeLessThanOrEqual(2 ** 18);
        },
      ),
    );
  });

  test('of nothing but zeros are zeros, and one outcome among zeros counts whole', () => {
    expect([...scoreOutcomes([0, 0])]).toEqual([0, 0]);
    expect([...scoreOutcomes([...new Array(20).fill(0), -3])].at(-1)).toBe(-(2 ** 18));
  });
});

describe('the length of blocks', () => {
  test('is 10 where outcomes do not hang together, and grows where they do', () => {
    const draw = sharesFrom(3);
    const alone = Array.from({ length: 2_000 }, () => draw() - 0.5);
    expect(meanBlockLength(scoreOutcomes(alone))).toBe(10);
    let kept = 0;
    const together = Array.from({ length: 2_000 }, () => {
      kept = 0.95 * kept + draw() - 0.5;
      return kept;
    });
    expect(meanBlockLength(scoreOutcomes(together))).toBeGreaterThan(40);
  });

  test('leaves at least ten blocks of a long memory, and is 10 of a short sequence', () => {
    const drift = Array.from({ length: 400 }, (_, at) => at);
    expect(meanBlockLength(scoreOutcomes(drift))).toBeLessThanOrEqual(40);
    expect(meanBlockLength(scoreOutcomes([1, 2, 3]))).toBe(10);
    expect(meanBlockLength(new Int32Array(100))).toBe(10);
  });
});
