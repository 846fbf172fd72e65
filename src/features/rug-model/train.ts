// The rows are split by time: to learn, to stop, to calibrate, and last the test, which is looked
// at once. In every part a launch is scored by the facts that were known when it was scored.

import { setImmediate } from 'node:timers/promises';
import { HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { aucOf, tiesOf } from '../../evidence/statistics.ts';
import type { ModelTree } from '../../ports/boosted-trees.ts';
import {
  type CardFeature,
  type FeatureName,
  hoursText,
  MODEL_PARTS,
  type ModelPart,
  type ModelTarget,
  RUG_FEATURES,
  type RugModel,
} from '../../ports/rug-model.ts';
import { type BoostingLimits, boost, type Examples, logisticObjective } from '../boosting/boost.ts';
import { marginOf } from '../boosting/trees.ts';
import { calibrateModel, evaluateModel } from './evaluation.ts';
import {
  deployerOf,
  examplesOf,
  featuresAt,
  futureFeatures,
  type Lesson,
  lessonsOf,
  rowsSha256,
  type TrainingExample,
  type TrainingRow,
} from './examples.ts';
import { rowOf, type Scorer } from './predict.ts';

export type TrainingOrder = {
  readonly seed: number;
  /** Where the test part begins; `null`: at the time under which most rows lie. */
  readonly splitAt: UnixSeconds | null;
  readonly target: Omit<ModelTarget, 'statement'>;
  /** Whether the rows are made up. */
  readonly simulated: boolean;
  readonly codeVersion: string;
};

/** The default options of training. */
export const DEFAULTS = {
  seed: 1,
  target: { horizon_h: 168, scored_within_h: 24 },
} as const;

/** How the trees of a model grow; the seed is the order's. */
export const LIMITS: Omit<BoostingLimits, 'seed'> = {
  treesMax: 400,
  depthMax: 3,
  leavesMax: null,
  lambda: 1,
  hessianMin: 1,
  rowsMin: 0,
  shrinkage: 0.05,
  rowShare: 0.8,
  binsMax: 64,
  patience: 40,
};
const TEST_FROM = 0.7;
const [TRAIN_TO, STOP_TO] = [0.7, 0.85];
/** The least rows of a part, from which nothing is told otherwise. */
const PART_ROWS_MIN = 50;
/** The least log-odds that the evidence of a flag adds. */
const EVIDENCE_MIN = 0.1;

/** Why no model can be trained on these rows. The message is a sentence. */
export class TrainingFault extends Error {}

type Parts = { readonly [name in (typeof MODEL_PARTS)[number]]: readonly Lesson[] } & {
  readonly at: UnixSeconds;
  readonly left_out: RugModel['card']['split']['left_out'];
};

/** Trains a model. Throws `TrainingFault`. */
export async function trainModel(
  rows: readonly TrainingRow[],
  order: TrainingOrder,
): Promise<RugModel> {
  const { seed, target } = order;
  const later = futureFeatures(rows, featuresAt, { horizonH: target.horizon_h, seed });
  if (later.length > 0) throw new Error(`known only later: ${later.join(', ')}`);
  const examples = await examplesOf(rows, target.horizon_h);
  const parts = partsOf(examples, order);
  const features = RUG_FEATURES.map(({ name }) => name);
  const monotone = RUG_FEATURES.map((one) => one.monotone);
  const limits = { ...LIMITS, seed };
  const { base, trees } = boost(
    asColumns(parts.train, features),
    asColumns(parts.stop, features),
    monotone,
    limits,
  );
  await setImmediate();
  const margins = parts.calibrate.map((one) => {
    return marginOf(base, trees, rowOf(features, one.features));
  });
  const calibration = calibrateModel(
    margins,
    parts.calibrate.map(({ died }) => died),
  );
  const scorer: Scorer = { features, base, trees, calibration };
  const { rows: taught, died } = partOf(parts.train);
  const judged = { model: scorer, baseRate: died / taught, seed };
  const { evaluation, level } = await evaluateModel(judged, parts.test);
  const card = {
    data: {
      sha256: rowsSha256(rows),
      rows: examples.length,
      deployers: new Set(examples.map(({ row }) => deployerOf(row))).size,
      chains: [...new Set(examples.map(({ row }) => row.chain))].sort(),
      from: partOf(parts.train).from,
      to: partOf(parts.test).to,
      simulated: order.simulated,
    },
    target: { statement: targetText(target), ...target },
    split: {
      at: parts.at,
      train: partOf(parts.train),
      stop: partOf(parts.stop),
      calibrate: partOf(parts.calibrate),
      test: partOf(parts.test),
      left_out: parts.left_out,
    },
    training: {
      seed,
      trees: trees.length,
      depth_max: LIMITS.depthMax,
      shrinkage: LIMITS.shrinkage,
      row_share: LIMITS.rowShare,
      lambda: LIMITS.lambda,
      hessian_min: LIMITS.hessianMin,
      bins: LIMITS.binsMax,
      patience: LIMITS.patience,
    },
    features: featuresTold(features, trees, parts),
    test: evaluation,
    level,
    evidence_min: EVIDENCE_MIN,
    code_version: order.codeVersion,
  };
  return { ...scorer, card };
}

function targetText({ horizon_h, scored_within_h }: TrainingOrder['target']): string {
  return (
    `That the launch dies within ${hoursText(horizon_h)} of its launch, as scored within ` +
    `${hoursText(scored_within_h)} of it.`
  );
}

/**
 * Later and later parts. What is learnt and calibrated was known at the split: a launch before it
 * whose horizon ends after it stands in no part. Launches of one second are in one part.
 */
function partsOf(examples: readonly TrainingExample[], order: TrainingOrder): Parts {
  const { lessons: all, ...left } = lessonsOf(examples, order.target);
  // The facts of a launch are as old as its scoring.
  const lessons = [...all].sort((a, b) => a.row.scored_at - b.row.scored_at);
  const at = order.splitAt === null ? timeAt(lessons, TEST_FROM) : order.splitAt;
  const before = lessons.filter(({ row }) => row.scored_at < at);
  const learnt = before.filter(
    ({ row }) => row.launched_at + order.target.horizon_h * HOUR_S <= at,
  );
  const stopAt = timeAt(learnt, TRAIN_TO);
  const calibrateAt = timeAt(learnt, STOP_TO);
  const parts = {
    at,
    train: learnt.filter(({ row }) => row.scored_at < stopAt),
    stop: learnt.filter(({ row }) => row.scored_at >= stopAt && row.scored_at < calibrateAt),
    calibrate: learnt.filter(({ row }) => row.scored_at >= calibrateAt),
    test: lessons.filter(({ row }) => row.scored_at >= at),
    left_out: { ...left, settled_after_split: before.length - learnt.length },
  };
  for (const name of MODEL_PARTS) requirePart(name, parts[name]);
  return parts;
}

/** When the launch was scored before which this share of all were. */
function timeAt(lessons: readonly Lesson[], share: number): UnixSeconds {
  const lesson = lessons[Math.floor(share * lessons.length)];
  if (lesson === undefined) throw new TrainingFault('No launch is left to learn from.');
  return lesson.row.scored_at;
}

/** Holds a part to what can be learnt from. */
function requirePart(name: string, part: readonly Lesson[]): void {
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
    objective: logisticObjective(Uint8Array.from(lessons, ({ died }) => Number(died))),
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
    auc_alone: aucAlone(name, test),
  }));
}

/** The AUC of a feature alone, over the launches that have it measured. */
function aucAlone(name: FeatureName, test: readonly Lesson[]): number | null {
  const measured = test.filter(({ features }) => features[name] !== null);
  const scores = Float64Array.from(measured, ({ features }) => Number(features[name]));
  const died = Uint8Array.from(measured, (one) => Number(one.died));
  const auc = aucOf(tiesOf(scores), died, null);
  return auc === null ? null : Math.max(auc, 1 - auc);
}
