// Computes a model's probability of death for a launch, with its strongest evidence. The
// contributions are log-odds and add up, with `base`, to the log-odds of the score.

import type { TopEvidence } from '../../ports/rug-flags.ts';
import {
  type FeatureName,
  type Features,
  hoursText,
  type ModelTarget,
  RUG_FEATURES,
  type RugModel,
} from '../../ports/rug-model.ts';
import { addShares, marginOf } from '../boosting/trees.ts';

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
