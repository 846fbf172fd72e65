// How well do a model's scores tell what died, beside scores that need no model?
// Intervals come of seeded resamples by deployer; those of differences are wide enough to hold for
// all comparisons together (Bonferroni).

import { setImmediate } from 'node:timers/promises';
import type { Baseline, Evaluation, Figure, Measures } from '../../ports/flags/rug-model.ts';
import { deployerOf, type Example, ROWS_AT_ONCE } from './examples.ts';
import {
  aucOf,
  brierOf,
  precisionOf,
  reliabilityOf,
  type Scored,
  shareOf,
  type Ties,
  tiesOf,
} from './measures.ts';
import { chanceOf, logOddsOf, rowOf, type Scorer } from './predict.ts';
import { sharesFrom } from './random.ts';

const RESAMPLES = 2_000;
/** Rows that are looked at in resamples before others get their turn. */
const VISITS_AT_ONCE = 100_000;
const MISSED = 0.05;
/** Two baselines, each by its AUC and its Brier score. */
const COMPARISONS = 4;

/** Scores under one name, ready to be measured. */
type Ready = { readonly scored: Scored; readonly ties: Ties };
/** The AUC and the Brier score of each kind of score in one resample. */
type Drawn = readonly { readonly auc: number | null; readonly brier: number }[];

/**
 * Holds a model's scores against what became of launches. `baseRate` is the share that died among
 * the launches it learnt from.
 */
export async function evaluated(
  model: Scorer,
  baseRate: number,
  examples: readonly Example[],
  seed: number,
): Promise<Evaluation> {
  const score = (example: Example) =>
    chanceOf(logOddsOf(model, rowOf(model.features, example.features)));
  const byRate = ({ features }: Example) => {
    const rate = features.deployer_death_rate_before;
    return rate === null ? baseRate : rate;
  };
  const own = await readyOf(examples, score);
  const others = [await readyOf(examples, () => baseRate), await readyOf(examples, byRate)];
  const draws = await resampled([own, ...others], seed);
  const baselines = others.map((ready, at): Baseline => {
    const told = at === 0 ? BASE_RATE : DEATH_RATE;
    const measures = measuresOf(ready, draws, at + 1);
    return { ...told, ...measures, ...gainsOf(own, ready, draws, at + 1) };
  });
  const rows = examples.map((_, row) => ({ row, weight: 1 }));
  return {
    rows: examples.length,
    deployers: new Set(own.scored.deployer).size,
    died: own.scored.died.reduce((sum, one) => sum + one, 0),
    died_share: shareOf(rows, own.scored),
    model: measuresOf(own, draws, 0),
    reliability: reliabilityOf(own.ties, own.scored),
    baselines,
    resamples: RESAMPLES,
    seed,
    comparisons: COMPARISONS,
  };
}

const BASE_RATE = {
  name: 'base_rate',
  statement: 'Always the share that died among the launches that the model learnt from.',
} as const;
const DEATH_RATE = {
  name: 'deployer_death_rate',
  statement:
    'The deployer’s past death rate alone; where none is known, the share that died among the ' +
    'launches that the model learnt from.',
} as const;

async function readyOf(
  examples: readonly Example[],
  make: (one: Example) => number,
): Promise<Ready> {
  const numbers = new Map<string, number>();
  const deployer = Uint32Array.from(examples, ({ row }) => {
    const key = deployerOf(row);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, numbers.size);
    return numbers.size - 1;
  });
  const scores = new Float64Array(examples.length);
  for (const [at, example] of examples.entries()) {
    scores[at] = make(example);
    if (at % ROWS_AT_ONCE === 0) await setImmediate();
  }
  const died = Uint8Array.from(examples, ({ row }) => Number(row.outcome === 'died'));
  return { scored: { scores, died, deployer }, ties: tiesOf(scores) };
}

/** Draws deployers, with all of their launches, and measures each kind of score anew. */
async function resampled(kinds: readonly Ready[], seed: number): Promise<readonly Drawn[]> {
  const [first] = kinds;
  if (first === undefined) throw new Error('there is nothing to draw from');
  const { deployer } = first.scored;
  const deployers = deployer.reduce((most, one) => Math.max(most, one), -1) + 1;
  const draw = sharesFrom(seed);
  const draws: Drawn[] = [];
  const times = new Float64Array(deployers);
  const weights = new Float64Array(deployer.length);
  let visits = 0;
  for (let turn = 0; turn < RESAMPLES; turn += 1) {
    times.fill(0);
    for (let drawn = 0; drawn < deployers; drawn += 1) {
      const one = Math.floor(draw() * deployers);
      times[one] = Number(times[one]) + 1;
    }
    for (const [row, one] of deployer.entries()) weights[row] = Number(times[one]);
    draws.push(
      kinds.map(({ scored, ties }) => ({
        auc: aucOf(ties, scored.died, weights),
        brier: brierOf(scored, weights),
      })),
    );
    visits += deployer.length;
    if (visits < VISITS_AT_ONCE) continue;
    visits = 0;
    await setImmediate();
  }
  return draws;
}

function measuresOf({ scored, ties }: Ready, draws: readonly Drawn[], at: number): Measures {
  const auc = aucOf(ties, scored.died, null);
  const aucs = draws.map((drawn) => drawn[at]?.auc ?? null);
  const briers = draws.map((drawn) => Number(drawn[at]?.brier));
  return {
    auc: auc === null ? null : figureOf(auc, aucs, MISSED),
    precision_at_k: precisionOf(ties, scored),
    brier: figureOf(brierOf(scored, null), briers, MISSED),
  };
}

/** By how much the model is over a baseline in AUC, and under it in Brier score. */
function gainsOf(
  own: Ready,
  other: Ready,
  draws: readonly Drawn[],
  at: number,
): Pick<Baseline, 'auc_gain' | 'brier_gain'> {
  const difference = (a: number | null | undefined, b: number | null | undefined) =>
    a === null || a === undefined || b === null || b === undefined ? null : a - b;
  const missed = MISSED / COMPARISONS;
  const auc = difference(
    aucOf(own.ties, own.scored.died, null),
    aucOf(other.ties, other.scored.died, null),
  );
  const aucs = draws.map((drawn) => difference(drawn[0]?.auc, drawn[at]?.auc));
  const brier = brierOf(other.scored, null) - brierOf(own.scored, null);
  const briers = draws.map((drawn) => difference(drawn[at]?.brier, drawn[0]?.brier));
  return {
    auc_gain: auc === null ? null : figureOf(auc, aucs, missed),
    brier_gain: figureOf(brier, briers, missed),
  };
}

/** A figure with the quantiles of its resamples; a resample of one outcome alone tells none. */
function figureOf(value: number, drawn: readonly (number | null)[], missed: number): Figure {
  const sorted = drawn.filter((one) => one !== null).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))];
  const [low, high] = [at(missed / 2), at(1 - missed / 2)];
  return { value, low: low === undefined ? null : low, high: high === undefined ? null : high };
}
