// Which trees, one after the other, tell best which launches died?
// Each tree is grown on what those before it left unexplained, on a seeded draw of the rows; the
// trees end where a later part of the rows is told no better for some time.

import type { ModelTree } from '../../ports/flags/rug-model.ts';
import { binned } from './bins.ts';
import { grownTree, type TreeLimits } from './grow-tree.ts';
import { sharesFrom } from './random.ts';
import { leafOf } from './trees.ts';

/** How trees are boosted. */
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
export function boosted(
  examples: Examples,
  stopping: Examples | null,
  monotone: readonly (0 | 1)[],
  limits: BoostingLimits,
): Boosted {
  const { columns, died } = examples;
  const features = columns.map((column, at) => {
    const { cuts, bins } = binned(column, limits.binsMax);
    return { cuts, bins, monotone: monotone[at] === 1 ? (1 as const) : (0 as const) };
  });
  const base = logOddsOf(died);
  const margins = new Float64Array(died.length).fill(base);
  const late = stopping === null ? null : watched(stopping, base);
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
    const rows = drawn(died.length, limits.rowShare, draw);
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

function drawn(count: number, share: number, draw: () => number): Uint32Array {
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
function watched({ columns, died }: Examples, base: number) {
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
