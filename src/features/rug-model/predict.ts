// What chance of death does a model give a launch, and what is the strongest evidence for it?
// The contributions are log-odds and add up, with `base`, to the log-odds of the score.

import { type FeatureName, type Features, RUG_FEATURES } from '../../ports/flags/rug-features.ts';
import type { RugModel } from '../../ports/flags/rug-model.ts';
import { statementOf } from './statements.ts';
import { addShares, marginOf } from './trees.ts';

/** What one feature had in a score; `value` is `null` where it was not measured. */
export type Contribution = {
  readonly feature: FeatureName;
  readonly value: number | null;
  readonly contribution: number;
  readonly statement: string;
};

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
export function chanceOf(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

/** What of a model scores. */
export type Scorer = Omit<RugModel, 'card'>;

/** The calibrated log-odds of a launch, without what they are made of. */
export function logOddsOf(model: Scorer, row: readonly number[]): number {
  const { slope, intercept } = model.calibration;
  return slope * marginOf(model.base, model.trees, row) + intercept;
}

/** A launch as the trees of a model take it. */
export function rowOf(names: readonly string[], features: Features): number[] {
  return names.map((name) => {
    const value = features[known(name)];
    return value === null ? Number.NaN : value;
  });
}

/** Scores a launch. */
export function predict(model: Scorer, features: Features): Prediction {
  const { slope, intercept } = model.calibration;
  const row = rowOf(model.features, features);
  const shares = new Float64Array(row.length);
  let expected = model.base;
  for (const tree of model.trees) expected += addShares(tree, row, shares);
  const contributions = model.features.map((name, at): Contribution => {
    const feature = known(name);
    const contribution = slope * Number(shares[at]);
    const statement = statementOf(feature, features, contribution);
    return { feature, value: features[feature], contribution, statement };
  });
  contributions.sort((a, b) => b.contribution - a.contribution);
  const raising = contributions.find((one) => one.value !== null && one.contribution > 0);
  return {
    score: chanceOf(logOddsOf(model, row)),
    base: slope * expected + intercept,
    contributions,
    strongest: raising === undefined ? null : raising,
  };
}

/** A model is held to names that are known when its artefact is read. */
function known(name: string): FeatureName {
  const feature = RUG_FEATURES.find((one) => one.name === name);
  if (feature === undefined) throw new Error(`a model names an unknown feature: ${name}`);
  return feature.name;
}
