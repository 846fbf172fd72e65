import type { Artefact } from '../ports/boosted-trees.ts';
import { RANKER_FORMAT, type Ranker } from '../ports/ranker.ts';
import { rankerIn } from '../sources/files/model-artefact.ts';
import { STILL_NOW } from './clock.ts';
import { artefactText } from './rug-models.ts';

const PART = { calls: 100, weeks: 8, from: STILL_NOW, to: STILL_NOW };

/** A ranker of one tree, which splits by conviction. */
export const SMALL_RANKER: Ranker = {
  features: ['conviction', 'is_long'],
  base: 0,
  trees: [
    [
      { feature: 0, at_most: 0.7, missing: 'left', left: 1, right: 2, rows: 10, gain: 3 },
      { leaf: -0.2, rows: 6 },
      { leaf: 0.3, rows: 4 },
    ],
  ],
  card: {
    data: {
      sha256: 'a'.repeat(64),
      calls: 300,
      weeks: 24,
      from: STILL_NOW,
      to: STILL_NOW,
      simulated: false,
    },
    split: {
      at: STILL_NOW,
      embargo_h: 72,
      train: PART,
      stop: PART,
      test: PART,
      left_out: { embargoed: 0, small_weeks: 0 },
    },
    training: {
      seed: 1,
      trees: 1,
      leaves: 2,
      depth_max: 1,
      shrinkage: 0.1,
      row_share: 1,
      lambda: 1,
      hessian_min: 1,
      rows_min: 1,
      bins: 8,
      patience: 2,
    },
    features: [],
    holdout: {
      ndcg: { value: 0.5, low: 0.4, high: 0.6 },
      random: 0.45,
      places: 5,
      queries: 8,
      calls: 100,
      resamples: 10,
      seed: 1,
    },
    code_version: '0.0.0',
  },
};

/** The text of a ranker, as its file holds it. */
export function rankerText(ranker: object = SMALL_RANKER): string {
  return artefactText(ranker, RANKER_FORMAT.schema);
}

/** A ranker as it is published; with other facts it is of another version. */
export function smallRanker(change: Partial<Ranker> = {}): Artefact<Ranker> {
  return rankerIn(rankerText({ ...SMALL_RANKER, ...change }));
}
