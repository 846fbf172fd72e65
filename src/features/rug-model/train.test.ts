import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import type { RugModel } from '../../ports/rug-model.ts';
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
import { type TrainingOrder, trainModel } from './train.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ORDER: TrainingOrder = {
  seed: 7,
  splitAt: null,
  target: { horizon_h: 720, scored_within_h: 24 },
  simulated: false,
  codeVersion: '0.0.0',
};
/** SHA-256 of what the first service that had this model made of the rows. */
const GOLDEN = '1172fe3eb3af8ca5a91ffed2ab5c9b7bade52ad9600182932ed6a622292c2d4a';
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

  // Published versions are named by their bytes: who trains again on the same rows gets the same.
  test('gives the bytes that earlier versions of this service gave', () => {
    const { text } = artefactOf(whole);
    expect(createHash('sha256').update(text).digest('hex')).toBe(GOLDEN);
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
