// Evaluates trees for a row, and attributes the result to features. The shares are Shapley
// values over each tree's own splits (an unknown feature is averaged over the training rows on
// either side), so they add up exactly.

import type { ModelNode, ModelTree } from '../../ports/boosted-trees.ts';

/** A row as trees take it: one number for each feature, NaN where it is missing. */
export type FeatureRow = readonly number[] | Float64Array;

type Split = Extract<ModelNode, { readonly feature: number }>;

/** Which child a value leads to. */
function childOf(node: Split, value: number): number {
  const left = Number.isNaN(value) ? node.missing === 'left' : value <= node.at_most;
  return left ? node.left : node.right;
}

function nodeAt(tree: ModelTree, at: number): ModelNode {
  const node = tree[at];
  if (node === undefined) throw new Error(`a tree has no node ${at}`);
  return node;
}

/** The leaf that a row comes to. */
export function leafOf(tree: ModelTree, row: FeatureRow): number {
  return leafBy(tree, (feature) => Number(row[feature]));
}

/** The same of a row that is told feature by feature. */
export function leafBy(tree: ModelTree, valueAt: (feature: number) => number): number {
  let node = nodeAt(tree, 0);
  while ('feature' in node) node = nodeAt(tree, childOf(node, valueAt(node.feature)));
  return node.leaf;
}

/** The sum of all trees and `base`. */
export function marginOf(base: number, trees: readonly ModelTree[], row: FeatureRow): number {
  let margin = base;
  for (const tree of trees) margin += leafOf(tree, row);
  return margin;
}

/** The combined splits of a feature on one path to a leaf. */
type OnPath = {
  readonly feature: number;
  /** Share of the training rows that went this way. */
  share: number;
  /** Whether the row goes this way. */
  goes: boolean;
};

/** Adds each feature's share in a tree to `shares`, and gives what the tree expects of anybody. */
export function addShares(tree: ModelTree, row: FeatureRow, shares: Float64Array): number {
  let expected = 0;
  const visit = (at: number, path: readonly OnPath[]): void => {
    const node = nodeAt(tree, at);
    if (!('feature' in node)) {
      expected += leafShares(node.leaf, path, shares);
      return;
    }
    const taken = childOf(node, Number(row[node.feature]));
    for (const child of [node.left, node.right]) {
      const share = nodeAt(tree, child).rows / node.rows;
      visit(child, withSplit(path, node.feature, share, child === taken));
    }
  };
  visit(0, []);
  return expected;
}

function withSplit(
  path: readonly OnPath[],
  feature: number,
  share: number,
  goes: boolean,
): readonly OnPath[] {
  const before = path.find((one) => one.feature === feature);
  if (before === undefined) return [...path, { feature, share, goes }];
  const joined = { feature, share: before.share * share, goes: before.goes && goes };
  return path.map((one) => (one === before ? joined : one));
}

/**
 * The Shapley shares of one leaf's value. A set of told features counts the leaf by the product of
 * what the told ones say (1 or 0) and the shares of rows of the others, so that the sum over all
 * sets of one size is a coefficient of a polynomial.
 */
function leafShares(value: number, path: readonly OnPath[], shares: Float64Array): number {
  const size = path.length;
  for (const [at, { feature, share, goes }] of path.entries()) {
    const others = setsBySize(path.filter((_, other) => other !== at));
    let weight = 0;
    for (const [told, sum] of others.entries()) weight += sum * shapleyWeight(told, size);
    shares[feature] = Number(shares[feature]) + value * (Number(goes) - share) * weight;
  }
  return path.reduce((product, { share }) => product * share, value);
}

/** For each number of told features, the sum over all sets of that size. */
function setsBySize(path: readonly OnPath[]): readonly number[] {
  let sums = [1];
  for (const { share, goes } of path) {
    const next = new Array<number>(sums.length + 1).fill(0);
    for (const [size, sum] of sums.entries()) {
      next[size] = Number(next[size]) + sum * share;
      next[size + 1] = Number(next[size + 1]) + sum * Number(goes);
    }
    sums = next;
  }
  return sums;
}

/** The share of all orders in which exactly `told` of the `size - 1` others stand before one. */
function shapleyWeight(told: number, size: number): number {
  let orders = size;
  for (let k = 1; k <= told; k += 1) orders *= (size - k) / k;
  return 1 / orders;
}
