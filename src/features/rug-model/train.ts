// Which model do launches teach, and how well does it tell the later ones?
// The rows are split by time: to learn, to stop, to calibrate, and last the test, which is looked
// at once. What a launch is scored by is what was known when it was scored, in every part.

import { setImmediate } from 'node:timers/promises';
import { DAY_S, type UnixSeconds } from '../../chain/time.ts';
import { type FeatureName, RUG_FEATURES } from '../../ports/flags/rug-features.ts';
import type { CardFeature, ModelPart, ModelTree, RugModel } from '../../ports/flags/rug-model.ts';
import { type BoostingLimits, boosted, type Examples } from './boosting.ts';
import { calibrationOf } from './calibration.ts';
import { evaluated } from './evaluation.ts';
import { deployerOf, type Example, examplesOf, featuresAt, futureFeatures } from './examples.ts';
import { SETTLE_DAYS } from './features.ts';
import type { TrainingRow } from './layout.ts';
import { aucOf, tiesOf } from './measures.ts';
import { rowOf, type Scorer } from './predict.ts';
import { marginOf } from './trees.ts';

/**
 * Which fates are learnt. `last_seen`: what became of a launch when the file looked last, as in the
 * test. `at_split`: what was visible at the split, of launches that had settled by then; what is
 * found of it later is as if the model had been trained on that day.
 */
export const FATES = ['last_seen', 'at_split'] as const;
type Fates = (typeof FATES)[number];

/** How a model is trained. */
export type TrainingOrder = {
  readonly seed: number;
  /** Where the test part begins; `null`: at the time under which most rows lie. */
  readonly splitAt: UnixSeconds | null;
  readonly settleDays: number;
  readonly fates: Fates;
  /** SHA-256 of the file that the rows came from, and whether they are made up. */
  readonly sha256: string;
  readonly simulated: boolean;
  readonly codeVersion: string;
};

/** What a model is trained with where nobody says otherwise. */
export const DEFAULTS = { seed: 1, settleDays: SETTLE_DAYS, fates: 'last_seen' } as const;

const LIMITS: Omit<BoostingLimits, 'seed'> = {
  treesMax: 400,
  depthMax: 3,
  lambda: 1,
  hessianMin: 1,
  shrinkage: 0.05,
  rowShare: 0.8,
  binsMax: 64,
  patience: 40,
};
const TEST_FROM = 0.7;
const [TRAIN_TO, STOP_TO] = [0.7, 0.85];
/** The least rows of a part, from which nothing is told otherwise. */
const PART_ROWS_MIN = 50;

/** Why no model can be trained on these rows. The message is a sentence. */
export class TrainingFault extends Error {}

/** A launch with the fate that is learnt of it, or that it is tested by. */
type Lesson = Example & { readonly died: boolean };
type Parts = {
  readonly at: UnixSeconds;
  readonly train: readonly Lesson[];
  readonly stop: readonly Lesson[];
  readonly calibrate: readonly Lesson[];
  readonly test: readonly Lesson[];
  readonly leftOut: number;
};

/** Trains a model. Throws `TrainingFault`. */
export async function trained(
  rows: readonly TrainingRow[],
  order: TrainingOrder,
): Promise<RugModel> {
  const { seed, settleDays } = order;
  const later = futureFeatures(rows, featuresAt, { settleDays, seed });
  if (later.length > 0) throw new Error(`known only later: ${later.join(', ')}`);
  const examples = await examplesOf(rows, settleDays);
  const parts = partsOf(examples, order);
  const features = RUG_FEATURES.map(({ name }) => name);
  const monotone = RUG_FEATURES.map((one) => one.monotone);
  const limits = { ...LIMITS, seed };
  const { base, trees } = boosted(
    asColumns(parts.train, features),
    asColumns(parts.stop, features),
    monotone,
    limits,
  );
  await setImmediate();
  const margins = parts.calibrate.map((one) => {
    return marginOf(base, trees, rowOf(features, one.features));
  });
  const calibration = calibrationOf(
    margins,
    parts.calibrate.map(({ died }) => died),
  );
  const scorer: Scorer = { features, base, trees, calibration };
  const { rows: taught, died } = partOf(parts.train);
  const test = await evaluated(scorer, died / taught, parts.test, seed);
  const { codeVersion: code_version } = order;
  const card = {
    ...cardFacts(examples, parts, order),
    training: trainingFacts(seed, trees),
    features: featuresTold(features, trees, parts),
    test,
    code_version,
  };
  return { ...scorer, card };
}

function partsOf(examples: readonly Example[], order: TrainingOrder): Parts {
  const at = order.splitAt === null ? usualSplit(examples) : order.splitAt;
  const isStrict = order.fates === 'at_split';
  const until = isStrict ? at - order.settleDays * DAY_S : at;
  const lessons = byScoring(examples).map((one): Lesson => {
    const { died_at, outcome, scored_at } = one.row;
    const visible = died_at !== null && died_at <= at;
    return { ...one, died: isStrict && scored_at < at ? visible : outcome === 'died' };
  });
  const learnt = lessons.filter(({ row }) => row.scored_at < until);
  const test = lessons.filter(({ row }) => row.scored_at >= at);
  const [first, second] = [TRAIN_TO, STOP_TO].map((share) => Math.floor(share * learnt.length));
  const parts = {
    at,
    train: learnt.slice(0, first),
    stop: learnt.slice(first, second),
    calibrate: learnt.slice(second),
    test,
    leftOut: lessons.length - learnt.length - test.length,
  };
  for (const name of ['train', 'stop', 'calibrate', 'test'] as const) held(name, parts[name]);
  return parts;
}

/** In the order in which they were scored: what is known of a launch is as old as its scoring. */
function byScoring(examples: readonly Example[]): readonly Example[] {
  return [...examples].sort((a, b) => a.row.scored_at - b.row.scored_at);
}

function usualSplit(examples: readonly Example[]): UnixSeconds {
  const example = byScoring(examples)[Math.floor(TEST_FROM * examples.length)];
  if (example === undefined) throw new TrainingFault('The file holds no launch.');
  return example.row.scored_at;
}

/** Holds a part to what can be learnt from. */
function held(name: string, part: readonly Lesson[]): void {
  if (part.length < PART_ROWS_MIN) {
    const least = `${PART_ROWS_MIN} are the least`;
    throw new TrainingFault(`The part to ${name} holds ${part.length} launches; ${least}.`);
  }
  const dead = part.filter(({ died }) => died).length;
  if (dead > 0 && dead < part.length) return;
  const all = dead === 0 ? 'none of them died' : 'all of them died';
  throw new TrainingFault(`Nothing can be told apart in the part to ${name}: ${all}.`);
}

function asColumns(lessons: readonly Lesson[], names: readonly FeatureName[]): Examples {
  return {
    columns: names.map((name) =>
      Float64Array.from(lessons, ({ features }) => {
        const value = features[name];
        return value === null ? Number.NaN : value;
      }),
    ),
    died: Uint8Array.from(lessons, ({ died }) => Number(died)),
  };
}

function partOf(lessons: readonly Lesson[]): ModelPart {
  const [first, last] = [lessons[0], lessons.at(-1)];
  if (first === undefined || last === undefined) throw new Error('a part holds no row');
  return {
    rows: lessons.length,
    died: lessons.filter(({ died }) => died).length,
    from: first.row.scored_at,
    to: last.row.scored_at,
  };
}

function cardFacts(examples: readonly Example[], parts: Parts, order: TrainingOrder) {
  const { from } = partOf(parts.train);
  const { to } = partOf(parts.test);
  return {
    data: {
      sha256: order.sha256,
      rows: examples.length,
      deployers: new Set(examples.map(({ row }) => deployerOf(row))).size,
      chains: [...new Set(examples.map(({ row }) => row.chain))].sort(),
      from,
      to,
      simulated: order.simulated,
    },
    target: TARGET,
    split: {
      at: parts.at,
      settle_days: order.settleDays,
      fates: order.fates,
      train: partOf(parts.train),
      stop: partOf(parts.stop),
      calibrate: partOf(parts.calibrate),
      test: partOf(parts.test),
      left_out: parts.leftOut,
    },
  };
}

const TARGET =
  'That the launch is dead (its outcome in the file is `died`) when it is last looked at.';

function trainingFacts(seed: number, trees: readonly ModelTree[]): RugModel['card']['training'] {
  return {
    seed,
    trees: trees.length,
    depth_max: LIMITS.depthMax,
    shrinkage: LIMITS.shrinkage,
    row_share: LIMITS.rowShare,
    lambda: LIMITS.lambda,
    hessian_min: LIMITS.hessianMin,
    bins: LIMITS.binsMax,
    patience: LIMITS.patience,
  };
}

function featuresTold(
  names: readonly FeatureName[],
  trees: readonly ModelTree[],
  { train, test }: Parts,
): readonly CardFeature[] {
  const gains = names.map(() => 0);
  const splits = names.map(() => 0);
  for (const node of trees.flat()) {
    if (!('feature' in node)) continue;
    gains[node.feature] = Number(gains[node.feature]) + node.gain;
    splits[node.feature] = Number(splits[node.feature]) + 1;
  }
  const all = gains.reduce((sum, one) => sum + one, 0);
  return RUG_FEATURES.map(({ name, unit }, at) => ({
    name,
    unit,
    measured: train.filter(({ features }) => features[name] !== null).length,
    splits: Number(splits[at]),
    gain: all === 0 ? 0 : Number(gains[at]) / all,
    auc_alone: aloneOf(name, test),
  }));
}

/** How well a feature alone tells what died among the launches of which it was measured. */
function aloneOf(name: FeatureName, test: readonly Lesson[]): number | null {
  const measured = test.filter(({ features }) => features[name] !== null);
  const scores = Float64Array.from(measured, ({ features }) => Number(features[name]));
  const died = Uint8Array.from(measured, (one) => Number(one.died));
  const auc = aucOf(tiesOf(scores), died, null);
  return auc === null ? null : Math.max(auc, 1 - auc);
}
