import fc from 'fast-check';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import type { ModelTree, RugModel } from '../../ports/rug-model.ts';
import { inventLaunches } from '../../testing/rug-models.ts';
import { artefactOf } from './artefact.ts';
import { evaluateModel } from './evaluation.ts';
import {
  examplesOf,
  type FeaturesAt,
  featuresAt,
  futureFeatures,
  lessonsOf,
  type TrainingRow,
} from './examples.ts';
import { leafOf, marginOf } from './predict.ts';
import {
  type Boosted,
  type BoostingLimits,
  binValues,
  boost,
  type Examples,
  grownTree,
  type TrainingOrder,
  trainModel,
} from './train.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ORDER: TrainingOrder = {
  seed: 7,
  splitAt: null,
  target: { horizon_h: 720, scored_within_h: 24 },
  simulated: false,
  codeVersion: '0.0.0',
};
const ROWS = inventLaunches(1_200, 11);

let whole: RugModel;
beforeAll(async () => {
  whole = await trainModel(ROWS, ORDER);
});

describe('training', () => {
  test('gives the same bytes for the same rows and seed, in whatever order the rows come', async () => {
    const [turned, other] = await Promise.all([
      trainModel([...ROWS].reverse(), ORDER),
      trainModel(ROWS, { ...ORDER, seed: 8 }),
    ]);
    const { text, version } = artefactOf(whole);
    expect(artefactOf(turned).text).toBe(text);
    expect(artefactOf(other).version).not.toBe(version);
  });

  test('splits by time, counts every row, and tells later launches better than both baselines', () => {
    const { card } = whole;
    const { train, stop, calibrate, test: later, left_out } = card.split;
    const parts = [train, stop, calibrate, later].reduce((sum, { rows }) => sum + rows, 0);
    expect(left_out).toMatchObject({ scored_late: 0, unsettled: 0 });
    expect(card.test).toMatchObject({ rows: later.rows, died: later.died });
    expect(left_out.settled_after_split).toBeGreaterThan(50);
    expect(parts + left_out.settled_after_split).toBe(ROWS.length);
    expect(train.to).toBeLessThanOrEqual(stop.from);
    expect(stop.to).toBeLessThanOrEqual(calibrate.from);
    expect(calibrate.to).toBeLessThan(later.from);
    expect(card.test.baselines.map(({ name }) => name)).toEqual([
      'base_rate',
      'deployer_death_rate',
    ]);
    for (const { auc_gain, brier_gain } of card.test.baselines) {
      expect(auc_gain?.low).toBeGreaterThan(0);
      expect(brier_gain.low).toBeGreaterThan(0);
    }
  });

  test('learns no fate that was seen after the split', async () => {
    const { card, ...model } = whole;
    const { at } = card.split;
    expect(card.split.calibrate.to).toBeLessThanOrEqual(at - 30 * DAY_S);
    // The trees do not depend on the outcomes of earlier launches after the split.
    const later = ROWS.map((row): TrainingRow => {
      if (row.launched_at >= at || (row.died_at !== null && row.died_at <= at)) return row;
      return { ...row, outcome: 'died', died_at: row.observed_until };
    });
    const { card: _, ...again } = await trainModel(later, { ...ORDER, splitAt: at });
    expect(again).toEqual(model);
  });

  test('learns whether a launch died within the horizon, and of none that nobody saw so far', async () => {
    const within = 10 * DAY_S;
    const short = { ...ORDER, target: { horizon_h: 240, scored_within_h: 24 } };
    const { card } = await trainModel(ROWS, { ...short, splitAt: whole.card.split.at });
    const tested = ROWS.filter(({ launched_at }) => launched_at >= card.split.at);
    const died = tested.filter(
      (row) => Number(row.died_at ?? Infinity) <= row.launched_at + within,
    );
    expect(card.split.test).toMatchObject({ rows: tested.length, died: died.length });
    expect(died.length).toBeLessThan(tested.filter(({ outcome }) => outcome === 'died').length);
    // Seen alive for five days and no longer: nobody knows of the tenth.
    const unseen = ROWS.map((row, place): TrainingRow => {
      if (place % 20 !== 0) return row;
      const seen = row.launched_at + 5 * DAY_S;
      return { ...row, outcome: 'live', died_at: null, observed_until: seen };
    });
    expect((await trainModel(unseen, short)).card.split.left_out.unsettled).toBe(60);
  });

  test('leaves out what was scored later after its launch than the target says', async () => {
    const late = ROWS.map((row, place): TrainingRow => {
      const scoredAt = row.launched_at + DAY_S + 1;
      const lives = row.died_at === null || row.died_at > scoredAt;
      return place % 10 === 0 && lives ? { ...row, scored_at: scoredAt } : row;
    });
    const moved = late.filter((row) => row.scored_at > row.launched_at).length;
    expect(moved).toBeGreaterThan(20);
    expect((await trainModel(late, ORDER)).card.split.left_out.scored_late).toBe(moved);
  });

  test('knows no launch of the first part by what was read of it after the split', async () => {
    const { at } = whole.card.split;
    // One in ten launches from before the split was scored only after it.
    const longer = { ...ORDER, splitAt: at, target: { horizon_h: 720, scored_within_h: 9_600 } };
    const late = ROWS.map((row, place): TrainingRow => {
      const scoredAt = at + DAY_S;
      const lives = row.died_at === null || row.died_at > scoredAt;
      const moves = place % 10 === 0 && lives && row.launched_at < at;
      return moves ? { ...row, scored_at: scoredAt } : row;
    });
    const moved = late.filter((row) => row.scored_at > row.launched_at).length;
    expect(moved).toBeGreaterThan(20);
    const { split } = (await trainModel(late, longer)).card;
    expect(split.test.rows).toBe(whole.card.split.test.rows + moved);
    expect(split.calibrate.to).toBeLessThan(at);
  });

  test.each([
    ['no launch', [], 'No launch is left to learn from.'],
    [
      'too few launches',
      ROWS.slice(0, 200),
      'The part to train holds 14 launches; 50 are the least.',
    ],
    [
      'launches that all died',
      ROWS.map((row) => ({ ...row, outcome: 'died' as const, died_at: row.launched_at })),
      'Nothing can be told apart in the part to train: all of them died.',
    ],
  ])('of %s is refused', async (_, rows, message) => {
    await expect(trainModel(rows, ORDER)).rejects.toThrow(message);
  });
});

describe('a feature from the future', () => {
  const at = { horizonH: 720, seed: 1 };
  const planted = (make: (row: TrainingRow, all: readonly TrainingRow[]) => number): FeaturesAt => {
    return (row, ofDeployer, horizonH) => ({
      ...featuresAt(row, ofDeployer, horizonH),
      token_hours: make(row, ofDeployer),
    });
  };

  test('is not among those that a model learns from', () => {
    expect(futureFeatures(ROWS, featuresAt, at)).toEqual([]);
  });

  test.each<[string, FeaturesAt]>([
    ['its own fate', planted(({ outcome }) => Number(outcome === 'died'))],
    ['when it died', planted(({ died_at }) => (died_at === null ? 0 : died_at))],
    ['how long it was observed', planted((row) => row.observed_until - row.launched_at)],
    ['launches after it', planted((_, all) => all.length)],
    [
      'fates of its deployer’s launches that were seen later',
      planted((_, all) => all.filter(({ outcome }) => outcome === 'died').length),
    ],
  ])('is found where it tells %s', (_, make) => {
    expect(futureFeatures(ROWS, make, at)).toEqual(['token_hours']);
  });

  test('that hides in a column is named as suspect by what it tells alone', async () => {
    const leaking = ROWS.map((row) => ({
      ...row,
      holder_top10_share: row.outcome === 'died' ? 0.9 : 0.1,
    }));
    const { card } = await trainModel(leaking, ORDER);
    const found = card.features.filter(({ auc_alone }) => auc_alone !== null && auc_alone > 0.99);
    expect(found.map(({ name }) => name)).toEqual(['holder_top10_share']);
  });
});

test('the features of a launch do not change with what comes after it', async () => {
  const told = await examplesOf(ROWS, 720);
  const until = Number(told[500]?.row.launched_at);
  const cut = await examplesOf(
    ROWS.filter(({ launched_at }) => launched_at <= until).map((row) => {
      const died = row.died_at !== null && row.died_at <= until;
      return { ...row, observed_until: until, died_at: died ? row.died_at : null };
    }),
    720,
  );
  expect(cut.map(({ features }) => features)).toEqual(
    told.slice(0, cut.length).map(({ features }) => features),
  );
});

test('an evaluation is the same for the same seed, and its intervals hold its figures', async () => {
  const { card, ...model } = whole;
  const all = await examplesOf(ROWS, 720);
  const examples = all.filter(({ row }) => row.launched_at >= card.split.at);
  const baseRate = card.split.train.died / card.split.train.rows;
  const { lessons } = lessonsOf(examples, card.target);
  const found = await evaluateModel({ model, baseRate, seed: ORDER.seed }, lessons);
  expect(found).toEqual({ evaluation: card.test, level: card.level });
  const { auc, brier } = card.test.model;
  for (const figure of [auc, brier]) {
    expect(figure?.low).toBeLessThan(Number(figure?.value));
    expect(figure?.high).toBeGreaterThan(Number(figure?.value));
  }
});

describe('boosting', () => {
  const LIMITS: BoostingLimits = {
    treesMax: 12,
    depthMax: 3,
    lambda: 1,
    hessianMin: 0.5,
    shrinkage: 0.3,
    rowShare: 1,
    binsMax: 32,
    patience: 5,
    seed: 1,
  };
  const FREE = [0, 0] as const;

  const value = fc.option(fc.integer({ min: 0, max: 9 }), { nil: Number.NaN });
  const anyRows = fc.array(fc.tuple(value, value, fc.boolean()), { minLength: 8, maxLength: 60 });
  type Rows = readonly (readonly [number, number, boolean])[];

  function examplesOf(rows: Rows): Examples {
    return {
      columns: [0, 1].map((at) => Float64Array.from(rows, (row) => Number(row[at]))),
      died: Uint8Array.from(rows, ([, , died]) => Number(died)),
    };
  }

  function lossOf({ base, trees }: Boosted, rows: Rows): number {
    const losses = rows.map(([a, b, died]) => {
      const margin = marginOf(base, trees, [a, b]);
      return Math.log1p(Math.exp(died ? -margin : margin));
    });
    return losses.reduce((sum, one) => sum + one, 0) / rows.length;
  }

  function gainsOf(tree: ModelTree): number[] {
    return tree.flatMap((node) => ('feature' in node ? [node.gain] : []));
  }

  describe('boosted trees', () => {
    test('only split where it gains, and each tree lowers the loss over what it learnt from', () => {
      fc.assert(
        fc.property(anyRows, (rows) => {
          const { base, trees } = boost(examplesOf(rows), null, FREE, LIMITS);
          let before = lossOf({ base, trees: [] }, rows);
          for (const [at, tree] of trees.entries()) {
            expect(gainsOf(tree).every((gain) => gain > 0)).toBe(true);
            const after = lossOf({ base, trees: trees.slice(0, at + 1) }, rows);
            expect(after).toBeLessThanOrEqual(before + 1e-12);
            before = after;
          }
        }),
      );
    });

    test('split first where no other split of any feature gains more', () => {
      fc.assert(
        fc.property(anyRows, (rows) => {
          const { columns, died } = examplesOf(rows);
          const { gradients, hessians, tree } = firstTree(columns, died);
          const [root] = tree;
          const best = bestByHand(columns, gradients, hessians);
          if (root === undefined || !('feature' in root)) expect(best).toBeLessThan(1e-8);
          else expect(root.gain).toBeCloseTo(best, 9);
        }),
      );
    });

    test('are the same, to the last bit, for rows in any order', () => {
      fc.assert(
        fc.property(anyRows, fc.nat(), (rows, by) => {
          const turned = rows.map((_, at) => rows[(at + by) % rows.length]) as Rows;
          const here = boost(examplesOf(rows), null, FREE, LIMITS);
          expect(boost(examplesOf(turned), null, FREE, LIMITS)).toEqual(here);
        }),
      );
    });

    test('of rows of one fate alone have no split', () => {
      fc.assert(
        fc.property(anyRows, fc.boolean(), (rows, died) => {
          const alike = rows.map(([a, b]) => [a, b, died] as const);
          const { base, trees } = boost(examplesOf(alike), null, FREE, LIMITS);
          expect(trees.flatMap(gainsOf)).toEqual([]);
          expect(Math.sign(base)).toBe(died ? 1 : -1);
        }),
      );
    });

    test('rise with a feature that they may only rise with, whatever the rows say', () => {
      fc.assert(
        fc.property(anyRows, value, (rows, other) => {
          const { base, trees } = boost(examplesOf(rows), null, [1, 0], LIMITS);
          const margins = Array.from({ length: 12 }, (_, at) => marginOf(base, trees, [at, other]));
          for (const [at, margin] of margins.entries()) {
            expect(margin).toBeGreaterThanOrEqual((margins[at - 1] ?? -Infinity) - 1e-12);
          }
        }),
      );
    });

    test('learn what it means that a value is missing', () => {
      const rows: Rows = Array.from({ length: 80 }, (_, at) => {
        const missing = at % 4 === 0;
        // Of the second feature nothing tells but whether it was measured.
        return [at % 7, missing ? Number.NaN : 1, missing] as const;
      });
      const { base, trees } = boost(examplesOf(rows), null, FREE, LIMITS);
      expect(marginOf(base, trees, [0, Number.NaN])).toBeGreaterThan(1);
      for (const measured of [0, 1, 2])
        expect(marginOf(base, trees, [0, measured])).toBeLessThan(-1);
    });

    test('end where a later part is told no better', () => {
      const told: Rows = Array.from({ length: 60 }, (_, at) => [at % 6, 1, at % 6 > 2] as const);
      const turned: Rows = told.map(([a, b, died]) => [a, b, !died] as const);
      const limits = { ...LIMITS, treesMax: 60 };
      const same = boost(examplesOf(told), examplesOf(told), FREE, limits);
      const against = boost(examplesOf(told), examplesOf(turned), FREE, limits);
      expect(same.trees.length).toBeGreaterThan(10);
      expect(against.trees).toEqual([]);
    });
  });

  function firstTree(columns: readonly Float64Array[], died: Uint8Array) {
    const share = died.reduce((sum, one) => sum + one, 0) / died.length;
    const gradients = Float64Array.from(died, (one) => share - one);
    const hessians = new Float64Array(died.length).fill(share * (1 - share));
    const features = columns.map((column) => {
      const { cuts, bins } = binValues(column, LIMITS.binsMax);
      return { cuts, bins, monotone: 0 as const };
    });
    const rows = Uint32Array.from(died, (_, at) => at);
    const limits = { ...LIMITS, depthMax: 1 };
    return {
      gradients,
      hessians,
      tree: grownTree({ features, gradients, hessians, limits }, rows),
    };
  }

  /** The best gain of one split, by trying each value of a feature, missing left or right. */
  function bestByHand(
    columns: readonly Float64Array[],
    gradients: Float64Array,
    hessians: Float64Array,
  ): number {
    const score = (rows: readonly number[]) => {
      const g = rows.reduce((sum, row) => sum + Number(gradients[row]), 0);
      const h = rows.reduce((sum, row) => sum + Number(hessians[row]), 0);
      return h < LIMITS.hessianMin ? Number.NaN : (g * g) / (h + LIMITS.lambda);
    };
    const all = [...gradients.keys()];
    const whole = all.reduce((sum, row) => sum + Number(gradients[row]), 0);
    const weight = all.reduce((sum, row) => sum + Number(hessians[row]), 0);
    let best = 0;
    for (const column of columns) {
      for (const cut of new Set(column)) {
        for (const missingLeft of [true, false]) {
          const left = all.filter((row) => {
            const one = Number(column[row]);
            return Number.isNaN(one) ? missingLeft : one <= cut;
          });
          const right = all.filter((row) => !left.includes(row));
          if (right.length === 0 || Number.isNaN(cut)) continue;
          const gain =
            (score(left) + score(right) - (whole * whole) / (weight + LIMITS.lambda)) / 2;
          if (gain > best) best = gain;
        }
      }
    }
    return best;
  }

  describe('bins', () => {
    test('keep the order of values, and missing ones apart', () => {
      fc.assert(
        fc.property(
          fc.array(value, { minLength: 1 }),
          fc.integer({ min: 2, max: 6 }),
          (list, max) => {
            const values = Float64Array.from(list);
            const { cuts, bins } = binValues(values, max);
            expect(cuts.length).toBeLessThan(max);
            for (const [at, one] of values.entries()) {
              const bin = Number(bins[at]);
              if (Number.isNaN(one)) expect(bin).toBe(cuts.length + 1);
              else expect(bin).toBe(cuts.filter((cut) => cut < one).length);
            }
          },
        ),
      );
    });
  });

  test('a leaf is found by the way of each value', () => {
    const tree: ModelTree = [
      { feature: 0, at_most: 2, missing: 'right', left: 1, right: 2, rows: 2, gain: 1 },
      { leaf: -1, rows: 1 },
      { leaf: 1, rows: 1 },
    ];
    expect([2, 2.1, Number.NaN].map((one) => leafOf(tree, [one]))).toEqual([-1, 1, 1]);
  });
});
