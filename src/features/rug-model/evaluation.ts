// Intervals come of seeded resamples by deployer; those of differences are wide enough to hold for
// all comparisons together (Bonferroni).

import { setImmediate } from 'node:timers/promises';
import { wilsonInterval } from '../../evidence/measure.ts';
import type {
  Baseline,
  Evaluation,
  Figure,
  Measures,
  ReliabilityRow,
} from '../../ports/rug-model.ts';
import { deployerOf, ROWS_AT_ONCE, type TrainingExample } from './examples.ts';
import { logOddsOf, rowOf, type Scorer, sigmoid } from './predict.ts';
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
type Resamples = readonly { readonly auc: number | null; readonly brier: number }[];

/**
 * Holds a model's scores against what became of launches. `baseRate` is the share that died among
 * the launches it learnt from.
 */
export async function evaluateModel(
  model: Scorer,
  baseRate: number,
  examples: readonly TrainingExample[],
  seed: number,
): Promise<Evaluation> {
  const score = (example: TrainingExample) =>
    sigmoid(logOddsOf(model, rowOf(model.features, example.features)));
  const byRate = ({ features }: TrainingExample) => {
    const rate = features.deployer_death_rate_before;
    return rate === null ? baseRate : rate;
  };
  const own = await readyOf(examples, score);
  const others = [await readyOf(examples, () => baseRate), await readyOf(examples, byRate)];
  const draws = await resampleKinds([own, ...others], seed);
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
  examples: readonly TrainingExample[],
  make: (one: TrainingExample) => number,
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
async function resampleKinds(kinds: readonly Ready[], seed: number): Promise<readonly Resamples[]> {
  const [first] = kinds;
  if (first === undefined) throw new Error('there is nothing to draw from');
  const { deployer } = first.scored;
  const deployers = deployer.reduce((most, one) => Math.max(most, one), -1) + 1;
  const draw = sharesFrom(seed);
  const draws: Resamples[] = [];
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

function measuresOf({ scored, ties }: Ready, draws: readonly Resamples[], at: number): Measures {
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
  draws: readonly Resamples[],
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

// Launches of one deployer are alike, so that intervals count deployers: resamples are drawn by
// deployer, and shares count as many rows as they would be worth if each stood alone.

/** Scores beside what became of the launches, and the number of each one's deployer. */
export type Scored = {
  readonly scores: Float64Array;
  readonly died: Uint8Array;
  readonly deployer: Uint32Array;
};

/** Of how many launches at the top the precision is told. */
export const PRECISION_AT = 100;
const RELIABILITY_ROWS = 10;

/** Rows of one score, from the lowest score up. */
export type Ties = readonly Uint32Array[];

/** The rows by their scores. */
export function tiesOf(scores: Float64Array): Ties {
  const order = Uint32Array.from(scores, (_, at) => at);
  order.sort((a, b) => Number(scores[a]) - Number(scores[b]) || a - b);
  const ties: Uint32Array[] = [];
  for (let from = 0; from < order.length; ) {
    const score = scores[Number(order[from])];
    let to = from + 1;
    while (to < order.length && scores[Number(order[to])] === score) to += 1;
    ties.push(order.subarray(from, to));
    from = to;
  }
  return ties;
}

/**
 * The chance that a launch that died has a higher score than one that did not, ties by half.
 * `null` where there is no such pair. `weights` count rows several times; `null` counts each once.
 */
export function aucOf(ties: Ties, died: Uint8Array, weights: Float64Array | null): number | null {
  let [pairs, dead, alive] = [0, 0, 0];
  for (const tie of ties) {
    let [deadHere, aliveHere] = [0, 0];
    for (const row of tie) {
      const weight = weights === null ? 1 : Number(weights[row]);
      if (died[row] === 1) deadHere += weight;
      else aliveHere += weight;
    }
    pairs += deadHere * (alive + aliveHere / 2);
    dead += deadHere;
    alive += aliveHere;
  }
  return dead === 0 || alive === 0 ? null : pairs / (dead * alive);
}

/** The mean squared distance of scores from outcomes. */
export function brierOf({ scores, died }: Scored, weights: Float64Array | null): number {
  let [sum, count] = [0, 0];
  for (const [row, score] of scores.entries()) {
    const weight = weights === null ? 1 : Number(weights[row]);
    sum += weight * (score - Number(died[row])) ** 2;
    count += weight;
  }
  return sum / count;
}

/** Rows with the share of each that counts. */
type Weighed = { readonly row: number; readonly weight: number };

/** The share of some rows that died, with Wilson's interval over what they are worth. */
export function shareOf(rows: readonly Weighed[], { died, deployer }: Scored): Figure {
  const byDeployer = new Map<number, number>();
  let [hits, of] = [0, 0];
  for (const { row, weight } of rows) {
    hits += weight * Number(died[row]);
    of += weight;
    const who = Number(deployer[row]);
    const before = byDeployer.get(who);
    byDeployer.set(who, before === undefined ? weight : before + weight);
  }
  const squares = [...byDeployer.values()].reduce((sum, one) => sum + one * one, 0);
  const worth = (of * of) / squares;
  const interval = wilsonInterval((hits / of) * worth, worth);
  const value = hits / of;
  return interval === null ? { value, low: null, high: null } : { value, ...interval };
}

/** The precision among the highest scores; of a tie at the end a part counts, each row alike. */
export function precisionOf(ties: Ties, scored: Scored): Measures['precision_at_k'] {
  const k = Math.min(PRECISION_AT, scored.scores.length);
  const top: Weighed[] = [];
  let tied = 0;
  for (const tie of [...ties].reverse()) {
    const room = k - Math.round(top.reduce((sum, { weight }) => sum + weight, 0));
    if (room <= 0) break;
    const weight = Math.min(1, room / tie.length);
    if (weight < 1) tied = tie.length;
    for (const row of tie) top.push({ row, weight });
  }
  return { ...shareOf(top, scored), k, tied_at_k: tied };
}

/** Launches of like scores, in groups of about one size; rows of one score stay together. */
export function reliabilityOf(ties: Ties, scored: Scored): readonly ReliabilityRow[] {
  const groups: number[][] = [];
  const size = scored.scores.length / RELIABILITY_ROWS;
  let group: number[] = [];
  for (const tie of ties) {
    for (const row of tie) group.push(row);
    if (group.length < size) continue;
    groups.push(group);
    group = [];
  }
  const last = groups.at(-1);
  if (last !== undefined && group.length < size / 2) last.push(...group);
  else groups.push(group);
  return groups
    .filter((rows) => rows.length > 0)
    .map((rows) => {
      const scores = rows.map((row) => Number(scored.scores[row]));
      return {
        score_from: Math.min(...scores),
        score_to: Math.max(...scores),
        launches: rows.length,
        mean_score: scores.reduce((sum, one) => sum + one, 0) / rows.length,
        died: rows.reduce((sum, row) => sum + Number(scored.died[row]), 0),
        died_share: shareOf(
          rows.map((row) => ({ row, weight: 1 })),
          scored,
        ),
      };
    });
}

// (Platt's scaling) The slope stays over zero, so that the order of scores and the signs of
// contributions are kept.

/** Makes calibrated log-odds of what the trees add up to. */
export type ModelCalibration = { readonly slope: number; readonly intercept: number };

const STEPS_MAX = 100;
const STEP_END = 1e-10;
const SLOPE_MIN = 0.01;
const RIDGE = 1e-9;

/** Fits the two numbers by Newton's method to Platt's softened targets. */
export function calibrateModel(
  margins: readonly number[],
  died: readonly boolean[],
): ModelCalibration {
  const count = died.filter(Boolean).length;
  const high = (count + 1) / (count + 2);
  const low = 1 / (died.length - count + 2);
  let [slope, intercept] = [1, 0];
  for (let step = 0; step < STEPS_MAX; step += 1) {
    let [gs, gi, hss, hsi, hii] = [0, 0, RIDGE, 0, RIDGE];
    for (const [at, margin] of margins.entries()) {
      const chance = 1 / (1 + Math.exp(-(slope * margin + intercept)));
      const off = chance - (died[at] === true ? high : low);
      const weight = chance * (1 - chance);
      gs += off * margin;
      gi += off;
      hss += weight * margin * margin;
      hsi += weight * margin;
      hii += weight;
    }
    const determinant = hss * hii - hsi * hsi;
    const bySlope = (hii * gs - hsi * gi) / determinant;
    const byIntercept = (hss * gi - hsi * gs) / determinant;
    slope = Math.max(SLOPE_MIN, slope - bySlope);
    intercept -= byIntercept;
    if (Math.abs(bySlope) + Math.abs(byIntercept) < STEP_END) break;
  }
  return { slope, intercept };
}
