// The ranker of calls: its artefact with the card, and the publications of versions. Returns are
// fractions, times are Unix seconds.

import { z } from 'zod';
import type { Reading } from '../evidence/reading.ts';
import { type Artefact, figure, type ModelFormat, modelTrees } from './boosted-trees.ts';

const FEATURES_MAX = 256;
const count = z.int().nonnegative();
const share = z.number().min(0).max(1);

/** Calls of one part, in the order of their emission. */
const part = z.strictObject({ calls: count, weeks: count, from: count, to: count });
export type RankerPart = Readonly<z.output<typeof part>>;

/** The order that a model gave to later weeks, held against the order of their returns. */
const holdout = z.strictObject({
  /** Mean NDCG of the first `places` of each week, over resamples of weeks. */
  ndcg: figure,
  /** The same of an order by lot. */
  random: z.number(),
  places: count.positive(),
  queries: count,
  calls: count,
  resamples: count,
  seed: count,
});
export type RankerHoldout = Readonly<z.output<typeof holdout>>;

export const rankerCard = z.strictObject({
  data: z.strictObject({
    sha256: z.string().length(64),
    /** Closed calls, and the weeks in which they were emitted. */
    calls: count,
    weeks: count,
    from: count,
    to: count,
    simulated: z.boolean(),
  }),
  split: z.strictObject({
    /** Calls emitted from here on are the hold-out; what was learnt had closed by then. */
    at: count,
    /** The longest horizon: nothing is learnt of calls that could still have been open. */
    embargo_h: count,
    train: part,
    stop: part,
    test: part,
    left_out: z.strictObject({ embargoed: count, small_weeks: count }),
  }),
  training: z.strictObject({
    seed: count,
    trees: count,
    leaves: count,
    depth_max: count,
    shrinkage: z.number(),
    row_share: share,
    lambda: z.number(),
    hessian_min: z.number(),
    rows_min: count,
    bins: count,
    patience: count,
  }),
  features: z
    .array(z.strictObject({ name: z.string(), measured: count, splits: count, gain: share }))
    .readonly(),
  holdout,
  code_version: z.string(),
});
export type RankerCard = Readonly<z.output<typeof rankerCard>>;

/** A trained ranker: what `base` and trees add up to puts calls in an order, and means no more. */
const rankerShape = z.strictObject({
  features: z
    .array(z.string().regex(/^[a-z0-9_]{1,64}$/))
    .min(1)
    .max(FEATURES_MAX)
    .readonly(),
  base: z.number(),
  trees: modelTrees,
  card: rankerCard,
});
export type Ranker = Readonly<z.output<typeof rankerShape>>;

export const RANKER_FORMAT: ModelFormat<Ranker> = {
  schema: 'exhibit-call-ranker/1',
  version: (sha256) => `rank-1-${sha256.slice(0, 12)}`,
  shape: rankerShape,
};

// Versions are kept for ever and never change, and each is a leaf of the log; the newest
// publication names the one in force.

/** The name of this port in readings and contracts. */
export type PublishedRankerPort = 'published_ranker';

export type PublishedRanker = Artefact<Ranker> & {
  readonly published_at: number;
  readonly leaf: number;
};

export type PublishedRankers = {
  /** The one in force; `null`: none was ever published. Unread where it cannot be used here. */
  readonly inForce: () => Promise<Reading<PublishedRanker | null, PublishedRankerPort>>;
  /** Keeps an artefact with its leaf, and puts it in force; one that is in force already stays. */
  readonly publish: (
    artefact: Artefact<Ranker>,
    now: number,
  ) => Promise<Reading<'published' | 'in_force_already', PublishedRankerPort>>;
};
