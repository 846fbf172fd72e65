// Histograms of gradients over bins, second-order gains with a ridge on leaves (as in XGBoost), a
// direction of its own for missing values at each split, and bounds that keep monotone features so.

import type { ModelNode, ModelTree } from '../../ports/boosted-trees.ts';

export type TreeLimits = {
  readonly depthMax: number;
  /** Leaves of a tree, split where it gains most; `null`: each level is split whole. */
  readonly leavesMax: number | null;
  /** The ridge on leaf values. */
  readonly lambda: number;
  /** The least sum of second derivatives in a child: about four times its undecided rows. */
  readonly hessianMin: number;
  /** The least rows in a child. */
  readonly rowsMin: number;
  readonly shrinkage: number;
};

export type BinnedFeature = Binned & { readonly monotone: 0 | 1 };

/** The rows and gradients that a tree is grown on. */
export type Growing = {
  readonly features: readonly BinnedFeature[];
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

/** Sums of one feature by bin. */
type Histogram = {
  readonly g: Float64Array;
  readonly h: Float64Array;
  readonly count: Uint32Array;
};

/** What is grown on, with the one histogram that each look at a feature makes anew. */
type Grower = Growing & { readonly histogram: Histogram };

/** Grows a tree on some of the rows. */
export function grownTree(given: Growing, rows: Uint32Array): ModelTree {
  const most = given.features.reduce((bins, { cuts }) => Math.max(bins, cuts.length + 2), 0);
  const growing = { ...given, histogram: emptyHistogram(most) };
  const { leavesMax } = growing.limits;
  const bounds = { low: -Infinity, high: Infinity };
  const root = { rows, sums: sumsOf(growing, rows), bounds };
  return leavesMax === null ? growLevels(growing, root) : growByGain(growing, root, leavesMax);
}

/** Splits each node in turn, to the depth that a tree may have. */
function growLevels(growing: Grower, root: Site): ModelTree {
  const nodes: ModelNode[] = [];
  const place = (site: Site, depth: number): number => {
    const at = nodes.push(asLeaf(growing, site)) - 1;
    const split = depth === growing.limits.depthMax ? null : bestSplit(growing, site);
    if (split === null) return at;
    const [left, right] = sitesOf(growing, site, split);
    nodes[at] = asSplit(growing, site, split, {
      left: place(left, depth + 1),
      right: place(right, depth + 1),
    });
    return at;
  };
  place(root, 0);
  return nodes;
}

/** A leaf that gains if it is split. */
type Open = {
  readonly at: number;
  readonly site: Site;
  readonly split: Split;
  readonly depth: number;
};

/** Splits the leaf that gains most, until the tree has all of its leaves or none gains. */
function growByGain(growing: Grower, root: Site, leavesMax: number): ModelTree {
  const nodes: ModelNode[] = [];
  const open = new Set<Open>();
  const place = (site: Site, depth: number): number => {
    const at = nodes.push(asLeaf(growing, site)) - 1;
    const split = depth === growing.limits.depthMax ? null : bestSplit(growing, site);
    if (split !== null) open.add({ at, site, split, depth });
    return at;
  };
  place(root, 0);
  for (let leaves = 1; leaves < leavesMax; leaves += 1) {
    const [first, ...others] = open;
    if (first === undefined) break;
    const best = others.reduce((a, b) => (b.split.gain > a.split.gain ? b : a), first);
    open.delete(best);
    const [left, right] = sitesOf(growing, best.site, best.split);
    nodes[best.at] = asSplit(growing, best.site, best.split, {
      left: place(left, best.depth + 1),
      right: place(right, best.depth + 1),
    });
  }
  return nodes;
}

function asLeaf({ limits }: Grower, { rows, sums, bounds }: Site): ModelNode {
  return { leaf: limits.shrinkage * leafValue(sums, bounds, limits), rows: rows.length };
}

function asSplit(
  growing: Grower,
  { rows }: Site,
  split: Split,
  { left, right }: { readonly left: number; readonly right: number },
): ModelNode {
  const { cuts } = featureAt(growing, split.feature);
  return {
    feature: split.feature,
    at_most: isApart(split, cuts) ? Number.MAX_VALUE : Number(cuts[split.bin]),
    missing: split.missing,
    left,
    right,
    rows: rows.length,
    gain: split.gain,
  };
}

function featureAt({ features }: Grower, at: number) {
  const feature = features[at];
  if (feature === undefined) throw new Error(`there is no feature ${at}`);
  return feature;
}

function sumsOf({ gradients, hessians }: Grower, rows: Uint32Array): Sums {
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

function bestSplit(growing: Grower, site: Site): Split | null {
  let best: Split | null = null;
  for (const [feature] of growing.features.entries()) {
    const split = bestOf(growing, site, feature);
    if (split !== null && (best === null || split.gain > best.gain)) best = split;
  }
  return best;
}

/** The best split of a site by one feature. */
function bestOf(growing: Grower, site: Site, at: number): Split | null {
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
    // An empty bin splits as the one before it does.
    if (bin > 0 && bin < cuts.length && count[bin] === 0) continue;
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
      const leftRows = gone + (way === 'left' ? Number(count[absent]) : 0);
      if (Math.min(leftRows, site.rows.length - leftRows) < limits.rowsMin) continue;
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

function emptyHistogram(bins: number): Histogram {
  return {
    g: new Float64Array(bins),
    h: new Float64Array(bins),
    count: new Uint32Array(bins),
  };
}

function histogramOf(growing: Grower, rows: Uint32Array, at: number): Histogram {
  const { cuts, bins } = featureAt(growing, at);
  const { gradients, hessians, histogram } = growing;
  const { g, h, count } = histogram;
  for (const column of [g, h, count]) column.fill(0, 0, cuts.length + 2);
  for (let place = 0; place < rows.length; place += 1) {
    const row = Number(rows[place]);
    const bin = Number(bins[row]);
    g[bin] = Number(g[bin]) + Number(gradients[row]);
    h[bin] = Number(h[bin]) + Number(hessians[row]);
    count[bin] = Number(count[bin]) + 1;
  }
  return histogram;
}

/** The two sites that a split makes of one, each bounded where the feature is monotone. */
function sitesOf(growing: Grower, site: Site, split: Split): readonly [Site, Site] {
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
