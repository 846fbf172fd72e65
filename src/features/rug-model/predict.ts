// Computes a model's probability of death for a launch, with its strongest evidence. The
// contributions are log-odds and add up, with `base`, to the log-odds of the score.

import type { TopEvidence } from '../../ports/rug-flags.ts';
import {
  type FeatureName,
  type Features,
  hoursText,
  type ModelNode,
  type ModelTarget,
  type ModelTree,
  RUG_FEATURES,
  type RugModel,
} from '../../ports/rug-model.ts';

/** The contribution of one feature to a score; `value` is `null` if it was not measured. */
export type Contribution = TopEvidence & { readonly feature: FeatureName };

/** A score with what it is made of. */
export type Prediction = {
  /** The chance, from 0 to 1, of what the model's card names as its target. */
  readonly score: number;
  /** Log-odds of a launch of which nothing is told. */
  readonly base: number;
  /** Every feature of the model, what raises the score most first. */
  readonly contributions: readonly Contribution[];
  /**
   * The largest contribution that raises the score, of a feature that was measured: what nobody
   * read is no evidence. `null` where nothing that was measured raises it.
   */
  readonly strongest: Contribution | null;
};

/** The chance that log-odds stand for. */
export function sigmoid(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

/** The part of a model that scores. */
export type Scorer = Omit<RugModel, 'card'>;

/** The calibrated log-odds of a launch, without what they are made of. */
export function logOddsOf(model: Scorer, row: readonly number[]): number {
  const { slope, intercept } = model.calibration;
  return slope * marginOf(model.base, model.trees, row) + intercept;
}

/** A launch as the trees of a model take it. */
export function rowOf(names: readonly string[], features: Features): number[] {
  return names.map((name) => {
    const value = features[knownFeature(name)];
    return value === null ? Number.NaN : value;
  });
}

/** Scores a launch, and tells what the score is made of as moves of the target's chance. */
export function predict(
  model: Scorer,
  features: Features,
  { horizon_h }: Pick<ModelTarget, 'horizon_h'>,
): Prediction {
  const { slope, intercept } = model.calibration;
  const row = rowOf(model.features, features);
  const logOdds = logOddsOf(model, row);
  const shares = new Float64Array(row.length);
  let expected = model.base;
  for (const tree of model.trees) expected += addShares(tree, row, shares);
  const contributions = model.features.map((name, at): Contribution => {
    const feature = knownFeature(name);
    const contribution = slope * Number(shares[at]);
    const moved = moveText({ logOdds, contribution }, horizon_h);
    const statement = `${featureText(feature, features)}, which ${moved}.`;
    return { feature, value: features[feature], contribution, statement };
  });
  contributions.sort((a, b) => b.contribution - a.contribution);
  const raising = contributions.find((one) => one.value !== null && one.contribution > 0);
  return {
    score: sigmoid(logOdds),
    base: slope * expected + intercept,
    contributions,
    strongest: raising === undefined ? null : raising,
  };
}

/** A model is held to names that are known when its artefact is read. */
function knownFeature(name: string): FeatureName {
  const feature = RUG_FEATURES.find((one) => one.name === name);
  if (feature === undefined) throw new Error(`a model names an unknown feature: ${name}`);
  return feature.name;
}

// Evaluates the trees for a launch, and attributes the result to features. The shares are Shapley
// values over each tree's own splits (an unknown feature is averaged over the training rows on
// either side), so they add up exactly.

/** A launch as trees take it: one number for each feature, NaN where it is missing. */
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

/** The leaf that a launch comes to. */
export function leafOf(tree: ModelTree, row: FeatureRow): number {
  let node = nodeAt(tree, 0);
  while ('feature' in node) node = nodeAt(tree, childOf(node, Number(row[node.feature])));
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
  /** Whether the launch goes this way. */
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

// Describes the share of one feature in a score, in words and numbers: the measured value and its
// direction, without advice.

const HOURS_A_DAY = 24;
const DAYS_FROM_H = 72;

/** The value of a launch's feature, in words. */
function featureText(name: FeatureName, features: Features): string {
  const value = features[name];
  if (value !== null) return SENTENCES[name](value, features);
  const feature = RUG_FEATURES.find((one) => one.name === name);
  return `Not measured: ${feature?.title} (${feature?.missing.replace(/\.$/, '')})`;
}

type Move = { readonly logOdds: number; readonly contribution: number };

/** By how much a contribution moves the log-odds, and by how many points the score. */
function moveText({ logOdds, contribution }: Move, horizonH: number): string {
  const points = 100 * (sigmoid(logOdds) - sigmoid(logOdds - contribution));
  const way = contribution >= 0 ? 'raises' : 'lowers';
  const amount = Math.abs(contribution).toFixed(2);
  return (
    `${way} the log-odds of its death within ${hoursText(horizonH)} of launch by ${amount} ` +
    `and the score by ${Math.abs(points).toFixed(1)} points`
  );
}

const SENTENCES: { readonly [name in FeatureName]: (value: number, all: Features) => string } = {
  deployer_launches_before: (value) =>
    `${value} earlier ${launches(value)} by its deployer ${value === 1 ? 'was' : 'were'} read`,
  deployer_launches_in_week_before: (value) =>
    `${value} ${launches(value)} by its deployer fell into the week before`,
  deployer_settled_before: (value) =>
    `Of ${value} earlier ${launches(value)} by its deployer the fate was known`,
  deployer_died_before: (value, all) => `${settledShareText(value, all)} had died`,
  deployer_death_rate_before: (value, all) =>
    `${settledShareText(all.deployer_died_before, all)} had died (${percent(value)})`,
  deployer_hours_since_launch: (value) =>
    `Its deployer launched another token ${span(value)} before`,
  deployer_hours_since_first: (value) =>
    `The earliest launch read of its deployer was ${span(value)} before`,
  deployer_funded_hours_before: (value) =>
    `Its deployer’s address was first funded ${span(value)} before the launch`,
  liquidity_usd: (value) =>
    `It was launched with ${Math.round(value).toLocaleString('en')} USD of pooled liquidity`,
  ether_pooled_whole: (value) =>
    `The ether pooled when it was launched ${value === 0 ? 'is no' : 'is a'} whole number`,
  holder_top10_share: (value) => `Its ten largest holders held ${percent(value)} of the supply`,
  owner_can_mint: (value) => `Somebody ${can(value)} make more of the token`,
  owner_can_block: (value) => `Somebody ${can(value)} stop holders from transferring`,
  ownership_renounced: (value) =>
    value === 0 ? 'Its contract names an owner' : 'Its contract names nobody as its owner',
  token_hours: (value) => `It was ${span(value)} old when it was scored`,
};

function settledShareText(
  died: number | null,
  { deployer_settled_before: settled }: Features,
): string {
  const of = settled === null ? 'an unknown number of' : settled;
  return `${died} of ${of} earlier ${launches(settled)} by its deployer whose fate was known`;
}

function launches(count: number | null): string {
  return count === 1 ? 'launch' : 'launches';
}

function can(value: number): string {
  return value === 0 ? 'cannot' : 'can';
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

function span(hours: number): string {
  return hours < DAYS_FROM_H
    ? `${hours.toFixed(1)} hours`
    : `${(hours / HOURS_A_DAY).toFixed(0)} days`;
}
