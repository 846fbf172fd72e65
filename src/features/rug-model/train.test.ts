import { beforeAll, describe, expect, test, vi } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import type { RugModel } from '../../ports/rug-model.ts';
import { madeUpLaunches } from '../../testing/rug-models.ts';
import { artefactOf } from './artefact.ts';
import { evaluated } from './evaluation.ts';
import {
  examplesOf,
  type FeaturesAt,
  featuresAt,
  futureFeatures,
  type TrainingRow,
} from './examples.ts';
import { type TrainingOrder, trained } from './train.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ORDER: TrainingOrder = {
  seed: 7,
  splitAt: null,
  settleDays: 30,
  fates: 'last_seen',
  sha256: 'b'.repeat(64),
  simulated: false,
  codeVersion: '0.0.0',
};
const ROWS = madeUpLaunches(900, 11);

let whole: RugModel;
beforeAll(async () => {
  whole = await trained(ROWS, ORDER);
});

describe('training', () => {
  test('gives the same bytes for the same rows and seed, in whatever order the rows come', async () => {
    const [turned, other] = await Promise.all([
      trained([...ROWS].reverse(), ORDER),
      trained(ROWS, { ...ORDER, seed: 8 }),
    ]);
    const { text, version } = artefactOf(whole);
    expect(artefactOf(turned).text).toBe(text);
    expect(artefactOf(other).version).not.toBe(version);
  });

  test('splits by time, counts every row, and tells later launches better than both baselines', () => {
    const { card } = whole;
    const { train, stop, calibrate, test: later, left_out } = card.split;
    expect([train, stop, calibrate, later].reduce((sum, { rows }) => sum + rows, left_out)).toBe(
      900,
    );
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

  test('as of the split learns no fate that was seen later', async () => {
    const strict = { ...ORDER, fates: 'at_split' as const };
    const { card, ...model } = await trained(ROWS, strict);
    const { at } = card.split;
    expect(card.split.calibrate.to).toBeLessThanOrEqual(at - 30 * DAY_S);
    expect(card.split.left_out).toBeGreaterThan(0);
    // Whatever becomes of earlier launches after the split, the trees are the same.
    const later = ROWS.map((row): TrainingRow => {
      if (row.launched_at >= at || (row.died_at !== null && row.died_at <= at)) return row;
      return { ...row, outcome: 'died', died_at: row.observed_until };
    });
    const { card: _, ...again } = await trained(later, strict);
    expect(again).toEqual(model);
  });

  test('knows no launch of the first part by what was read of it after the split', async () => {
    const { at } = whole.card.split;
    // One in ten launches from before the split was scored only after it.
    const late = ROWS.map((row, place): TrainingRow => {
      const scoredAt = at + DAY_S;
      const lives = row.died_at === null || row.died_at > scoredAt;
      const moves = place % 10 === 0 && lives && row.launched_at < at;
      return moves ? { ...row, scored_at: scoredAt } : row;
    });
    const moved = late.filter((row) => row.scored_at > row.launched_at).length;
    expect(moved).toBeGreaterThan(20);
    const { split } = (await trained(late, { ...ORDER, splitAt: at })).card;
    expect(split.test.rows).toBe(whole.card.split.test.rows + moved);
    expect(split.calibrate.to).toBeLessThan(at);
  });

  test.each([
    ['no launch', [], 'The file holds no launch.'],
    [
      'too few launches',
      ROWS.slice(0, 100),
      'The part to train holds 49 launches; 50 are the least.',
    ],
    [
      'launches that all died',
      ROWS.map((row) => ({ ...row, outcome: 'died' as const, died_at: row.observed_until })),
      'Nothing can be told apart in the part to train: all of them died.',
    ],
  ])('of %s is refused', async (_, rows, message) => {
    await expect(trained(rows, ORDER)).rejects.toThrow(message);
  });
});

describe('a feature from the future', () => {
  const at = { settleDays: 30, seed: 1 };
  const planted = (make: (row: TrainingRow, all: readonly TrainingRow[]) => number): FeaturesAt => {
    return (row, ofDeployer, settleDays) => ({
      ...featuresAt(row, ofDeployer, settleDays),
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
    const { card } = await trained(leaking, ORDER);
    const found = card.features.filter(({ auc_alone }) => auc_alone !== null && auc_alone > 0.99);
    expect(found.map(({ name }) => name)).toEqual(['holder_top10_share']);
  });
});

test('the features of a launch do not change with what comes after it', async () => {
  const told = await examplesOf(ROWS, 30);
  const until = Number(told[500]?.row.launched_at);
  const cut = await examplesOf(
    ROWS.filter(({ launched_at }) => launched_at <= until).map((row) => {
      const died = row.died_at !== null && row.died_at <= until;
      return { ...row, observed_until: until, died_at: died ? row.died_at : null };
    }),
    30,
  );
  expect(cut.map(({ features }) => features)).toEqual(
    told.slice(0, cut.length).map(({ features }) => features),
  );
});

test('an evaluation is the same for the same seed, and its intervals hold its figures', async () => {
  const { card, ...model } = whole;
  const all = await examplesOf(ROWS, 30);
  const examples = all.filter(({ row }) => row.launched_at >= card.split.at);
  const baseRate = card.split.train.died / card.split.train.rows;
  expect(await evaluated(model, baseRate, examples, ORDER.seed)).toEqual(card.test);
  const { auc, brier } = card.test.model;
  for (const figure of [auc, brier]) {
    expect(figure?.low).toBeLessThan(Number(figure?.value));
    expect(figure?.high).toBeGreaterThan(Number(figure?.value));
  }
});
