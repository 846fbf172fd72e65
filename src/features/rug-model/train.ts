// The rows are split by time: to learn, to stop, to calibrate, and last the test, which is looked
// at once. In every part a launch is scored by the facts that were known when it was scored.

import { setImmediate } from 'node:timers/promises';
import { HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { sharesFrom } from '../../evidence/random.ts';
import { aucOf, tiesOf } from '../../evidence/statistics.ts';
import {
  type CardFeature,
  type FeatureName,
  hoursText,
  type ModelNode,
  type ModelPart,
  type ModelTarget,
  type ModelTree,
  RUG_FEATURES,
  type RugModel,
} from '../../ports/rug-model.ts';
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
import { leafOf, marginOf, rowOf, type Scorer } from './predict.ts';

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
/** The least log-odds that the evidence of a flag adds. */
const EVIDENCE_MIN = 0.1;

/** Why no model can be trained on these rows. The message is a sentence. */
export class TrainingFault extends Error {}

type Parts = { readonly [name in 'train' | 'stop' | 'calibrate' | 'test']: readonly Lesson[] } & {
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
  for (const name of ['train', 'stop', 'calibrate', 'test'] as const) {
    requirePart(name, parts[name]);
  }
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

// Each tree is grown on what those before it left unexplained, on a seeded draw of the rows; the
// trees end where a later part of the rows is told no better for some time.

export type BoostingLimits = TreeLimits & {
  readonly treesMax: number;
  /** Share of the rows that each tree is grown on, drawn by the seed. */
  readonly rowShare: number;
  readonly binsMax: number;
  /** Trees after the best that are tried before it is held to be the best. */
  readonly patience: number;
  readonly seed: number;
};

/** Launches as one column for each feature (NaN: missing), and whether each died (1) or not (0). */
export type Examples = {
  readonly columns: readonly Float64Array[];
  readonly died: Uint8Array;
};

/** Boosted trees and the log-odds that they start from. */
export type Boosted = { readonly base: number; readonly trees: readonly ModelTree[] };

/** Keeps a base of one outcome alone from being infinite. */
const SHARE_MIN = 1e-6;

/** Boosts trees. `monotone` says of each column whether the score may only rise with it. */
export function boost(
  examples: Examples,
  stopping: Examples | null,
  monotone: readonly (0 | 1)[],
  limits: BoostingLimits,
): Boosted {
  const { columns, died } = examples;
  const features = columns.map((column, at) => {
    const { cuts, bins } = binValues(column, limits.binsMax);
    return { cuts, bins, monotone: monotone[at] === 1 ? (1 as const) : (0 as const) };
  });
  const base = logOddsOf(died);
  const margins = new Float64Array(died.length).fill(base);
  const late = stopping === null ? null : watchLoss(stopping, base);
  const gradients = new Float64Array(died.length);
  const hessians = new Float64Array(died.length);
  const draw = sharesFrom(limits.seed);
  const trees: ModelTree[] = [];
  let best = { trees: 0, loss: late === null ? Infinity : late.loss() };
  for (let round = 1; round <= limits.treesMax; round += 1) {
    for (const [row, margin] of margins.entries()) {
      const chance = 1 / (1 + Math.exp(-margin));
      gradients[row] = exact(chance - Number(died[row]));
      hessians[row] = exact(chance * (1 - chance));
    }
    const rows = drawSample(died.length, limits.rowShare, draw);
    const tree = grownTree({ features, gradients, hessians, limits }, rows);
    trees.push(tree);
    addTree(tree, columns, margins);
    if (late === null) continue;
    late.add(tree);
    const loss = late.loss();
    if (loss < best.loss) best = { trees: round, loss };
    if (round - best.trees >= limits.patience) break;
  }
  return { base, trees: late === null ? trees : trees.slice(0, best.trees) };
}

/**
 * A derivative on a grid so coarse that sums of millions of them are exact: then no split rests on
 * the order of the rows.
 */
function exact(derivative: number): number {
  return Math.round(derivative * GRID) / GRID;
}

const GRID = 2 ** 30;

function logOddsOf(died: Uint8Array): number {
  const share = died.reduce((sum, one) => sum + one, 0) / died.length;
  const kept = Math.min(1 - SHARE_MIN, Math.max(SHARE_MIN, share));
  return Math.log(kept / (1 - kept));
}

function drawSample(count: number, share: number, draw: () => number): Uint32Array {
  const all = Uint32Array.from({ length: count }, (_, row) => row);
  return share === 1 ? all : all.filter(() => draw() < share);
}

function addTree(tree: ModelTree, columns: readonly Float64Array[], margins: Float64Array): void {
  const row = new Float64Array(columns.length);
  for (const [at] of margins.entries()) {
    for (const [feature, column] of columns.entries()) row[feature] = Number(column[at]);
    margins[at] = Number(margins[at]) + leafOf(tree, row);
  }
}

/** Rows that no tree is grown on, and the log-loss of the trees so far over them. */
function watchLoss({ columns, died }: Examples, base: number) {
  const margins = new Float64Array(died.length).fill(base);
  return {
    add: (tree: ModelTree) => addTree(tree, columns, margins),
    loss: () => {
      let sum = 0;
      for (const [row, margin] of margins.entries()) {
        const toward = died[row] === 1 ? -margin : margin;
        sum += Math.max(0, toward) + Math.log1p(Math.exp(-Math.abs(toward)));
      }
      return sum / died.length;
    },
  };
}

// Histograms of gradients over bins, second-order gains with a ridge on leaves (as in XGBoost), a
// direction of its own for missing values at each split, and bounds that keep monotone features so.

export type TreeLimits = {
  readonly depthMax: number;
  /** The ridge on leaf values. */
  readonly lambda: number;
  /** The least sum of second derivatives in a child: about four times its undecided rows. */
  readonly hessianMin: number;
  readonly shrinkage: number;
};

/** The rows and gradients that a tree is grown on. */
export type Growing = {
  readonly features: readonly (Binned & { readonly monotone: 0 | 1 })[];
  /** First and second derivatives of the loss by the margin, row by row. */
  readonly gradients: Float64Array;
  readonly hessians: Float64Array;
  readonly limits: TreeLimits;
};

type Sums = { readonly g: number; readonly h: number };
type Bounds = { readonly low: number; readonly high: number };
/** A node to be: its rows, their sums, and between which values its leaves may lie. */
type Site = { readonly rows: Uint32Array; readonly sums: Sums; readonly bounds: Bounds };
type Split = {
  readonly feature: number;
  readonly bin: number;
  readonly missing: 'left' | 'right';
  readonly gain: number;
  readonly left: Sums;
  readonly right: Sums;
};

/** Gains under this are rounding. */
const GAIN_MIN = 1e-9;

/** Grows a tree on some of the rows. */
export function grownTree(growing: Growing, rows: Uint32Array): ModelTree {
  const nodes: ModelNode[] = [];
  const { shrinkage, depthMax } = growing.limits;
  const place = (site: Site, depth: number): number => {
    const at = nodes.length;
    const leaf = shrinkage * leafValue(site.sums, site.bounds, growing.limits);
    nodes.push({ leaf, rows: site.rows.length });
    const split = depth === depthMax ? null : bestSplit(growing, site);
    if (split === null) return at;
    const { cuts } = featureAt(growing, split.feature);
    const [left, right] = sitesOf(growing, site, split);
    nodes[at] = {
      feature: split.feature,
      at_most: isApart(split, cuts) ? Number.MAX_VALUE : Number(cuts[split.bin]),
      missing: split.missing,
      left: place(left, depth + 1),
      right: place(right, depth + 1),
      rows: site.rows.length,
      gain: split.gain,
    };
    return at;
  };
  const bounds = { low: -Infinity, high: Infinity };
  place({ rows, sums: sumsOf(growing, rows), bounds }, 0);
  return nodes;
}

function featureAt({ features }: Growing, at: number) {
  const feature = features[at];
  if (feature === undefined) throw new Error(`there is no feature ${at}`);
  return feature;
}

function sumsOf({ gradients, hessians }: Growing, rows: Uint32Array): Sums {
  let [g, h] = [0, 0];
  for (const row of rows) {
    g += Number(gradients[row]);
    h += Number(hessians[row]);
  }
  return { g, h };
}

/** The leaf value that lowers the loss most within its bounds. */
function leafValue({ g, h }: Sums, { low, high }: Bounds, { lambda }: TreeLimits): number {
  return Math.min(high, Math.max(low, -g / (h + lambda)));
}

/** By how much a leaf of such a value lowers the loss, doubled. */
function reductionOf(sums: Sums, bounds: Bounds, limits: TreeLimits): number {
  const value = leafValue(sums, bounds, limits);
  return -(2 * sums.g * value + (sums.h + limits.lambda) * value * value);
}

function bestSplit(growing: Growing, site: Site): Split | null {
  let best: Split | null = null;
  for (const [feature] of growing.features.entries()) {
    const split = bestOf(growing, site, feature);
    if (split !== null && (best === null || split.gain > best.gain)) best = split;
  }
  return best;
}

/** The best split of a site by one feature. */
function bestOf(growing: Growing, site: Site, at: number): Split | null {
  const { limits } = growing;
  const { cuts, monotone } = featureAt(growing, at);
  const { g, h, count } = histogramOf(growing, site.rows, at);
  const absent = cuts.length + 1;
  const missing: Sums = { g: Number(g[absent]), h: Number(h[absent]) };
  const isMissing = Number(count[absent]) > 0;
  const before = reductionOf(site.sums, site.bounds, limits);
  let best: Split | null = null;
  let [goneG, goneH, gone] = [0, 0, 0];
  for (let bin = 0; bin <= cuts.length; bin += 1) {
    goneG += Number(g[bin]);
    goneH += Number(h[bin]);
    gone += Number(count[bin]);
    // Where nothing is missing here, what will be missing goes with the larger part.
    const larger = 2 * gone >= site.rows.length ? 'left' : 'right';
    const apart = isApart({ bin }, cuts);
    for (const way of apart ? (['right'] as const) : isMissing ? WAYS : ([larger] as const)) {
      const withLeft = way === 'left' ? missing : NO_SUMS;
      const left = { g: goneG + withLeft.g, h: goneH + withLeft.h };
      const right = { g: site.sums.g - left.g, h: site.sums.h - left.h };
      if (left.h < limits.hessianMin || right.h < limits.hessianMin) continue;
      const { bounds } = site;
      const falls = leafValue(left, bounds, limits) > leafValue(right, bounds, limits);
      if (monotone === 1 && !apart && falls) continue;
      const after = reductionOf(left, bounds, limits) + reductionOf(right, bounds, limits);
      const gain = (after - before) / 2;
      if (gain > GAIN_MIN && (best === null || gain > best.gain)) {
        best = { feature: at, bin, missing: way, gain, left, right };
      }
    }
  }
  return best;
}

/** Whether a split sends what was measured to the left and what is missing to the right. */
function isApart({ bin }: Pick<Split, 'bin'>, cuts: readonly number[]): boolean {
  return bin === cuts.length;
}

const WAYS = ['left', 'right'] as const;
const NO_SUMS: Sums = { g: 0, h: 0 };

function histogramOf(growing: Growing, rows: Uint32Array, at: number) {
  const { cuts, bins } = featureAt(growing, at);
  const { gradients, hessians } = growing;
  const g = new Float64Array(cuts.length + 2);
  const h = new Float64Array(cuts.length + 2);
  const count = new Uint32Array(cuts.length + 2);
  for (const row of rows) {
    const bin = Number(bins[row]);
    g[bin] = Number(g[bin]) + Number(gradients[row]);
    h[bin] = Number(h[bin]) + Number(hessians[row]);
    count[bin] = Number(count[bin]) + 1;
  }
  return { g, h, count };
}

/** The two sites that a split makes of one, each bounded where the feature is monotone. */
function sitesOf(growing: Growing, site: Site, split: Split): readonly [Site, Site] {
  const { bins, cuts, monotone } = featureAt(growing, split.feature);
  const goesLeft = (row: number) => {
    const bin = Number(bins[row]);
    return bin === cuts.length + 1 ? split.missing === 'left' : bin <= split.bin;
  };
  const left = site.rows.filter(goesLeft);
  const right = site.rows.filter((row) => !goesLeft(row));
  const { low, high } = site.bounds;
  if (monotone === 0 || isApart(split, cuts)) {
    return [
      { rows: left, sums: split.left, bounds: site.bounds },
      { rows: right, sums: split.right, bounds: site.bounds },
    ];
  }
  const { limits } = growing;
  const middle =
    (leafValue(split.left, site.bounds, limits) + leafValue(split.right, site.bounds, limits)) / 2;
  return [
    { rows: left, sums: split.left, bounds: { low, high: middle } },
    { rows: right, sums: split.right, bounds: { low: middle, high } },
  ];
}

// Into which bins do the values of a feature fall, so that a split is looked for among few?

/** A feature's values in bins: row by row the bin, the last of which holds what is missing. */
export type Binned = {
  /** Where each bin of measured values but the last ends, ascending. */
  readonly cuts: readonly number[];
  /** `cuts.length` is the bin over the last cut, one more that of missing values. */
  readonly bins: Uint16Array;
};

/** Bins of about equal numbers of rows, or one for each value where there are few. */
export function binValues(values: Float64Array, binsMax: number): Binned {
  const cuts = cutsOf(values, binsMax);
  const bins = Uint16Array.from(values, (value) =>
    Number.isNaN(value) ? cuts.length + 1 : binOf(cuts, value),
  );
  return { cuts, bins };
}

function cutsOf(values: Float64Array, binsMax: number): readonly number[] {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort();
  const distinct = sorted.filter((value, at) => value !== sorted[at - 1]);
  if (distinct.length <= binsMax) return [...distinct.keys()].slice(1).map(betweenAt(distinct));
  const quantiles = Array.from({ length: binsMax - 1 }, (_, at) =>
    Number(sorted[Math.floor(((at + 1) * sorted.length) / binsMax)]),
  );
  const places = [...new Set(quantiles)].map((quantile) => 1 + binOf(distinct, quantile));
  // Nothing is split over the largest value.
  return places.filter((place) => place < distinct.length).map(betweenAt(distinct));
}

/** Half-way between a value and the one before it: what was never seen falls to the nearer one. */
function betweenAt(distinct: Float64Array): (place: number) => number {
  return (place) => (Number(distinct[place - 1]) + Number(distinct[place])) / 2;
}

/** The first bin whose cut is not under the value. */
function binOf(cuts: readonly number[] | Float64Array, value: number): number {
  let [low, high] = [0, cuts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value <= Number(cuts[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}
