// Each tree is grown on what those before it left unexplained, on a seeded draw of the rows; the
// trees end where a later part of the rows is told no better for some time.

import { sharesFrom } from '../../evidence/random.ts';
import type { ModelTree } from '../../ports/boosted-trees.ts';
import { binValues, grownTree, type TreeLimits } from './grow.ts';
import { leafBy } from './trees.ts';

export type BoostingLimits = TreeLimits & {
  readonly treesMax: number;
  /** Share of the rows that each tree is grown on, drawn by the seed. */
  readonly rowShare: number;
  readonly binsMax: number;
  /** Trees after the best that are tried before it is held to be the best. */
  readonly patience: number;
  readonly seed: number;
};

/** What trees are grown for, over the rows that it was made of. */
export type Objective = {
  readonly rows: number;
  /** The margin that each row begins with. */
  readonly base: number;
  /** Writes the first and second derivatives of the loss by the margin, row by row. */
  readonly derive: (margins: Float64Array, gradients: Float64Array, hessians: Float64Array) => void;
  readonly loss: (margins: Float64Array) => number;
};

/** Rows as one column for each feature (NaN: missing), and what is learnt of them. */
export type Examples = {
  readonly columns: readonly Float64Array[];
  readonly objective: Objective;
};

/** Boosted trees and the margin that they start from. */
export type Boosted = { readonly base: number; readonly trees: readonly ModelTree[] };

type BoostingOrder = readonly [
  examples: Examples,
  stopping: Examples | null,
  monotone: readonly (0 | 1)[],
  limits: BoostingLimits,
];

/** Boosts trees. `monotone` says of each column whether the margin may only rise with it. */
export function boost(...order: BoostingOrder): Boosted {
  const rounds = boostByRounds(...order);
  for (;;) {
    const round = rounds.next();
    if (round.done === true) return round.value;
  }
}

/** The same, and stops after each tree, so that whoever serves meanwhile can answer. */
export function* boostByRounds(
  ...[{ columns, objective }, stopping, monotone, limits]: BoostingOrder
): Generator<undefined, Boosted> {
  const features = columns.map((column, at) => {
    const { cuts, bins } = binValues(column, limits.binsMax);
    return { cuts, bins, monotone: monotone[at] === 1 ? (1 as const) : (0 as const) };
  });
  const { rows, base } = objective;
  const margins = new Float64Array(rows).fill(base);
  const late = stopping === null ? null : watchLoss(stopping, base);
  const gradients = new Float64Array(rows);
  const hessians = new Float64Array(rows);
  const draw = sharesFrom(limits.seed);
  const trees: ModelTree[] = [];
  let best = { trees: 0, loss: late === null ? Infinity : late.loss() };
  for (let round = 1; round <= limits.treesMax; round += 1) {
    objective.derive(margins, gradients, hessians);
    for (let row = 0; row < rows; row += 1) {
      gradients[row] = exact(Number(gradients[row]));
      hessians[row] = exact(Number(hessians[row]));
    }
    const sample = drawSample(rows, limits.rowShare, draw);
    const tree = grownTree({ features, gradients, hessians, limits }, sample);
    trees.push(tree);
    addTree(tree, columns, margins);
    yield;
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

function drawSample(count: number, share: number, draw: () => number): Uint32Array {
  const all = Uint32Array.from({ length: count }, (_, row) => row);
  return share === 1 ? all : all.filter(() => draw() < share);
}

function addTree(tree: ModelTree, columns: readonly Float64Array[], margins: Float64Array): void {
  for (let row = 0; row < margins.length; row += 1) {
    const leaf = leafBy(tree, (feature) => Number(columns[feature]?.[row]));
    margins[row] = Number(margins[row]) + leaf;
  }
}

/** Rows that no tree is grown on, and the loss of the trees so far over them. */
function watchLoss({ columns, objective }: Examples, base: number) {
  const margins = new Float64Array(objective.rows).fill(base);
  return {
    add: (tree: ModelTree) => addTree(tree, columns, margins),
    loss: () => objective.loss(margins),
  };
}

/** Keeps a base of one outcome alone from being infinite. */
const SHARE_MIN = 1e-6;

/** The chance of an outcome: margins are log-odds, the loss is the mean log-loss. */
export function logisticObjective(outcomes: Uint8Array): Objective {
  const share = outcomes.reduce((sum, one) => sum + one, 0) / outcomes.length;
  const kept = Math.min(1 - SHARE_MIN, Math.max(SHARE_MIN, share));
  return {
    rows: outcomes.length,
    base: Math.log(kept / (1 - kept)),
    derive: (margins, gradients, hessians) => {
      for (const [row, margin] of margins.entries()) {
        const chance = 1 / (1 + Math.exp(-margin));
        gradients[row] = chance - Number(outcomes[row]);
        hessians[row] = chance * (1 - chance);
      }
    },
    loss: (margins) => {
      let sum = 0;
      for (const [row, margin] of margins.entries()) {
        const toward = outcomes[row] === 1 ? -margin : margin;
        sum += Math.max(0, toward) + Math.log1p(Math.exp(-Math.abs(toward)));
      }
      return sum / outcomes.length;
    },
  };
}
