// Which tree lowers the log-loss most, given each row's gradient?
// Histograms of gradients over bins, second-order gains with a ridge on leaves (as in XGBoost), a
// direction of its own for missing values at each split, and bounds that keep monotone features so.

import type { ModelNode, ModelTree } from '../../ports/flags/rug-model.ts';
import type { Binned } from './bins.ts';

/** How a tree may grow. */
export type TreeLimits = {
  readonly depthMax: number;
  /** The ridge on leaf values. */
  readonly lambda: number;
  /** The least sum of second derivatives in a child: about four times its undecided rows. */
  readonly hessianMin: number;
  readonly shrinkage: number;
};

/** What a tree is grown on. */
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
