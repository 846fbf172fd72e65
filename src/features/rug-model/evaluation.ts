// Intervals come of seeded resamples by deployer; those of differences from baselines are wide
// enough to hold for all comparisons together (Bonferroni).

import { setImmediate } from 'node:timers/promises';
import { collect, present, tally } from '../../evidence/measure.ts';
import { sharesFrom } from '../../evidence/random.ts';
import {
  alike,
  aucOf,
  brierOf,
  effectiveCount,
  estimateBy,
  estimateShare,
  meanOf,
  precisionOf,
  reliabilityOf,
  type Scored,
  scoreGroups,
  shareOf,
  type Ties,
  tiesOf,
  type Weighed,
  wilsonInterval,
} from '../../evidence/statistics.ts';
import type { Figure } from '../../ports/boosted-trees.ts';
import { DEPLOYER_HISTORIES, type DeployerHistory } from '../../ports/rug-flags.ts';
import {
  type Baseline,
  type DeployerRow,
  DRIFT_FLAGS,
  DRIFT_FLAGS_OF_ONE,
  type Evaluation,
  type Features,
  type FlagLevel,
  type HistoryRow,
  type Measures,
  type ReliabilityRow,
} from '../../ports/rug-model.ts';
import { deployerOf, type Lesson, ROWS_AT_ONCE } from './examples.ts';
import { logOddsOf, rowOf, type Scorer, sigmoid } from './predict.ts';

const RESAMPLES = 2_000;
/** Rows that are looked at in resamples before others get their turn. */
const VISITS_AT_ONCE = 100_000;
const MISSED = 0.05;
/** Two baselines, each by its AUC and its Brier score. */
const COMPARISONS = 4;

/** Scores under one name, ready to be measured. */
type Ready = { readonly scored: Scored; readonly ties: Ties };
/** The figures of one resample, by kind of score, group of rows and kind of deployer. */
type Resample = {
  readonly kinds: readonly { readonly auc: number | null; readonly brier: number | null }[];
  readonly gaps: readonly (number | null)[];
  readonly histories: readonly (number | null)[];
};

/** Scores with the outcomes that they are compared with. */
type Comparison = {
  readonly model: Scorer;
  /** The share that died among the launches that the model learnt from. */
  readonly baseRate: number;
  /** The score from which on it flags; left out: the level is looked for. */
  readonly flagsFrom?: number | null;
  readonly seed: number;
  /** How often deployers are drawn anew for the intervals. */
  readonly resamples?: number;
};

/** Whether what became of an earlier launch of the deployer was known. */
export function historyOf({ deployer_settled_before: settled }: Features): DeployerHistory {
  return settled !== null && settled > 0 ? 'settled' : 'none';
}

/** Holds a model's scores against what became of launches. */
export async function evaluateModel(
  { model, baseRate, flagsFrom, seed, resamples = RESAMPLES }: Comparison,
  lessons: readonly Lesson[],
): Promise<{ readonly evaluation: Evaluation; readonly level: FlagLevel | null }> {
  const own = await readyOf(lessons, ({ features }) =>
    sigmoid(logOddsOf(model, rowOf(model.features, features))),
  );
  const always = await readyOf(lessons, () => baseRate);
  const byRate = await readyOf(lessons, ({ features: { deployer_death_rate_before: rate } }) =>
    rate === null ? baseRate : rate,
  );
  const { scored, ties } = own;
  const groups = scoreGroups(ties, RELIABILITY_ROWS);
  const tails =
    flagsFrom === undefined
      ? groups.map((_, at) => groups.slice(at).flat())
      : [
          [...scored.scores.keys()].filter(
            (row) => flagsFrom !== null && scoreAt(own, row) >= flagsFrom,
          ),
        ];
  const histories = lessons.map(({ features }) => historyOf(features));
  const tiesBy = DEPLOYER_HISTORIES.map((history) =>
    ties.map((tie) => tie.filter((row) => histories[row] === history)),
  );
  const draws: Resample[] = [];
  for await (const weights of drawDeployers(scored.clusters, seed, resamples)) {
    draws.push({
      kinds: [own, always, byRate].map((kind) => ({
        auc: aucOf(kind.ties, scored.outcomes, weights),
        brier: brierOf(kind.scored, weights),
      })),
      gaps: gapsOf([...groups, ...tails], scored.outcomes, weights),
      histories: tiesBy.map((one) => aucOf(one, scored.outcomes, weights)),
    });
  }
  const all = lessons.map((_, row) => ({ row, weight: 1 }));
  const measured = gapsOf([...groups, ...tails], scored.outcomes, null).map((gap, at) => {
    return gap === null
      ? null
      : estimateBy(
          gap,
          draws.map(({ gaps }) => gaps[at]),
          MISSED,
        );
  });
  const reliability = groups.map((rows, at) => reliabilityRow(rows, own, measured[at]));
  const levels = tails.map((rows, at): Tail | null => {
    const gap = measured[groups.length + at];
    return gap === null || gap === undefined ? null : { rows, gap };
  });
  const evaluation = {
    rows: lessons.length,
    deployers: new Set(scored.clusters).size,
    died: scored.outcomes.reduce((sum, one) => sum + one, 0),
    died_share: diedShare(all, scored),
    model: measuresOf(own, draws, 0),
    reliability,
    reliability_by_deployer: deployerRows(scored),
    by_history: DEPLOYER_HISTORIES.map((history, at) => {
      const rows = [...histories.keys()].filter((row) => histories[row] === history);
      const auc = aucOf(tiesBy[at] as Ties, scored.outcomes, null);
      const aucs = draws.map(({ histories: drawn }) => drawn[at]);
      return historyRow(history, rows, own, auc === null ? null : estimateBy(auc, aucs, MISSED));
    }),
    baselines: [
      { ...BASE_RATE, ...measuresOf(always, draws, 1), ...gainsOf(own, always, draws, 1) },
      { ...DEATH_RATE, ...measuresOf(byRate, draws, 2), ...gainsOf(own, byRate, draws, 2) },
    ],
    resamples,
    seed,
    comparisons: COMPARISONS,
  };
  const level = flagsFrom === undefined ? lowestLevel(reliability, levels) : levels[0];
  return { evaluation, level: level === undefined || level === null ? null : levelOf(level, own) };
}

/** Launches from a score on, and how far the share of them that died lies over that of all. */
type Tail = { readonly rows: readonly number[]; readonly gap: Figure };

/**
 * The lowest row of the table from which on each row, and all of them together, died more often
 * than all launches: by an interval over zero. `null` where the highest row does not.
 */
export function lowestLevel<T extends Pick<FlagLevel, 'gap'>>(
  rows: readonly Pick<ReliabilityRow, 'gap'>[],
  levels: readonly (T | null)[],
): T | null {
  let lowest: T | null = null;
  for (const [at, { gap }] of [...rows.entries()].reverse()) {
    if (!isOverZero(gap)) return lowest;
    const level = levels[at];
    if (level !== null && level !== undefined && isOverZero(level.gap)) lowest = level;
  }
  return lowest;
}

function isOverZero({ low }: Figure): boolean {
  return low !== null && low > 0;
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

async function readyOf(lessons: readonly Lesson[], make: (one: Lesson) => number): Promise<Ready> {
  const numbers = new Map<string, number>();
  const deployer = Uint32Array.from(lessons, ({ row }) => {
    const key = deployerOf(row);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, numbers.size);
    return numbers.size - 1;
  });
  const scores = new Float64Array(lessons.length);
  for (const [at, lesson] of lessons.entries()) {
    scores[at] = make(lesson);
    if (at % ROWS_AT_ONCE === 0) await setImmediate();
  }
  const died = Uint8Array.from(lessons, (one) => Number(one.died));
  return { scored: { scores, outcomes: died, clusters: deployer }, ties: tiesOf(scores) };
}

function scoreAt({ scored }: Ready, row: number): number {
  return Number(scored.scores[row]);
}

/** Draws deployers, with all of their launches: how often each row counts, resample by resample. */
async function* drawDeployers(
  deployer: Uint32Array,
  seed: number,
  resamples: number,
): AsyncGenerator<Float64Array> {
  const deployers = deployer.reduce((most, one) => Math.max(most, one), -1) + 1;
  const draw = sharesFrom(seed);
  const times = new Float64Array(deployers);
  let visits = 0;
  for (let turn = 0; turn < resamples; turn += 1) {
    times.fill(0);
    for (let drawn = 0; drawn < deployers; drawn += 1) {
      const one = Math.floor(draw() * deployers);
      times[one] = Number(times[one]) + 1;
    }
    const weights = new Float64Array(deployer.length);
    for (let row = 0; row < weights.length; row += 1) {
      weights[row] = Number(times[Number(deployer[row])]);
    }
    yield weights;
    visits += deployer.length;
    if (visits < VISITS_AT_ONCE) continue;
    visits = 0;
    await setImmediate();
  }
}

/** By how much more of each group died than of all rows; `null` of a group without a row. */
function gapsOf(
  groups: readonly (readonly number[])[],
  died: Uint8Array,
  weights: Float64Array | null,
): (number | null)[] {
  const share = (rows: ArrayLike<number>): number | null => {
    let [hits, of] = [0, 0];
    for (let at = 0; at < rows.length; at += 1) {
      const row = Number(rows[at]);
      const weight = weights === null ? 1 : Number(weights[row]);
      hits += weight * Number(died[row]);
      of += weight;
    }
    return of === 0 ? null : hits / of;
  };
  const all = share(Uint32Array.from(died.keys()));
  return groups.map((rows) => {
    const own = share(rows);
    return own === null || all === null ? null : own - all;
  });
}

function measuresOf({ scored, ties }: Ready, draws: readonly Resample[], at: number): Measures {
  const auc = aucOf(ties, scored.outcomes, null);
  const aucs = draws.map(({ kinds }) => kinds[at]?.auc);
  const briers = draws.map(({ kinds }) => kinds[at]?.brier);
  return {
    auc: auc === null ? null : estimateBy(auc, aucs, MISSED),
    precision_at_k: demand(precisionOf(ties, scored, PRECISION_AT)),
    brier: estimateBy(demand(brierOf(scored, null)), briers, MISSED),
  };
}

/** By how much the model is over a baseline in AUC, and under it in Brier score. */
function gainsOf(
  own: Ready,
  other: Ready,
  draws: readonly Resample[],
  at: number,
): Pick<Baseline, 'auc_gain' | 'brier_gain'> {
  const difference = (a: number | null | undefined, b: number | null | undefined) =>
    a === null || a === undefined || b === null || b === undefined ? null : a - b;
  const missed = MISSED / COMPARISONS;
  const auc = difference(
    aucOf(own.ties, own.scored.outcomes, null),
    aucOf(other.ties, other.scored.outcomes, null),
  );
  const aucs = draws.map(({ kinds }) => difference(kinds[0]?.auc, kinds[at]?.auc));
  const brier = demand(brierOf(other.scored, null)) - demand(brierOf(own.scored, null));
  const briers = draws.map(({ kinds }) => difference(kinds[at]?.brier, kinds[0]?.brier));
  return {
    auc_gain: auc === null ? null : estimateBy(auc, aucs, missed),
    brier_gain: estimateBy(brier, briers, missed),
  };
}

// Launches of one deployer are alike, so that intervals count deployers: resamples are drawn by
// deployer, and shares count as many rows as they would be worth if each stood alone.

/** Of how many launches at the top the precision is told. */
export const PRECISION_AT = 100;
const RELIABILITY_ROWS = 10;

/** The share of some launches that died; there is at least one. */
function diedShare(rows: readonly Weighed[], scored: Scored): Figure {
  return demand(shareOf(rows, scored));
}

/** A figure of rows that are there. */
function demand<T>(figure: T | null): T {
  if (figure === null) throw new Error('a group holds no row');
  return figure;
}

function reliabilityRow(
  rows: readonly number[],
  own: Ready,
  gap: Figure | null | undefined,
): ReliabilityRow {
  if (gap === null || gap === undefined) throw new Error('a group holds no row');
  const row = demand(reliabilityOf(rows, own.scored));
  return {
    score_from: row.score_from,
    score_to: row.score_to,
    launches: row.rows,
    mean_score: row.mean_score,
    died: row.hits,
    died_share: row.share,
    gap,
  };
}

/** The outcomes of launches from a score on. */
function levelOf({ rows, gap }: Tail, own: Ready): FlagLevel {
  const { clusters, outcomes } = own.scored;
  return {
    score_from: rows.reduce((least, row) => Math.min(least, scoreAt(own, row)), 1),
    launches: rows.length,
    deployers: new Set(rows.map((row) => clusters[row])).size,
    died: rows.reduce((sum, row) => sum + Number(outcomes[row]), 0),
    died_share: diedShare(alike(rows), own.scored),
    gap,
    expected: { flags: DRIFT_FLAGS, ...rangeOf(rows, own.scored) },
  };
}

/**
 * Between which shares `DRIFT_FLAGS` later flags die. So many vary by themselves too, as much as
 * those in a row of the test part are worth; what the test part itself has shown is no drift.
 */
function rangeOf(rows: readonly number[], scored: Scored): Omit<FlagLevel['expected'], 'flags'> {
  const { outcomes, clusters } = scored;
  const windows = windowsOf(rows, clusters);
  const worth = effectiveCount(alike(rows), clusters);
  const later =
    windows.length === 0
      ? (DRIFT_FLAGS * worth) / rows.length
      : meanOf(windows.map((one) => effectiveCount(alike(one), clusters)));
  const both = (worth * later) / (worth + later);
  const { value } = diedShare(alike(rows), scored);
  const shares = windows.map((one) => meanOf(one.map((row) => Number(outcomes[row]))));
  const interval = wilsonInterval(value * both, both);
  const ends = interval === null ? [value] : [interval.low, interval.high];
  return { low: Math.min(...ends, ...shares), high: Math.max(...ends, ...shares) };
}

/** The newest `DRIFT_FLAGS` flags as of each flag, of one deployer at most so many as count. */
function windowsOf(rows: readonly number[], deployer: Uint32Array): readonly number[][] {
  const inTime = [...rows].sort((a, b) => a - b);
  return inTime.flatMap((_, end) => {
    const window: number[] = [];
    const times = new Map<number, number>();
    for (let at = end; at >= 0 && window.length < DRIFT_FLAGS; at -= 1) {
      const row = Number(inTime[at]);
      const who = Number(deployer[row]);
      tally(times, who);
      if (Number(times.get(who)) <= DRIFT_FLAGS_OF_ONE) window.push(row);
    }
    return window.length === DRIFT_FLAGS ? [window] : [];
  });
}

function historyRow(
  history: DeployerHistory,
  rows: readonly number[],
  own: Ready,
  auc: Figure | null,
): HistoryRow {
  const { outcomes, clusters } = own.scored;
  const isEmpty = rows.length === 0;
  return {
    history,
    launches: rows.length,
    deployers: new Set(rows.map((row) => clusters[row])).size,
    died: rows.reduce((sum, row) => sum + Number(outcomes[row]), 0),
    died_share: shareOf(alike(rows), own.scored),
    mean_score: isEmpty ? null : meanOf(rows.map((row) => scoreAt(own, row))),
    auc,
  };
}

/** Deployers by the mean score of their launches, in groups of about one size. */
function deployerRows({ scores, outcomes, clusters }: Scored): readonly DeployerRow[] {
  const byDeployer = new Map<number, number[]>();
  for (const [row, who] of clusters.entries()) collect(byDeployer, who, row);
  const each = [...byDeployer.values()].map((rows) => ({
    score: meanOf(rows.map((row) => Number(scores[row]))),
    died: meanOf(rows.map((row) => Number(outcomes[row]))),
  }));
  const scoresOfEach = Float64Array.from(each, ({ score }) => score);
  const groups = scoreGroups(tiesOf(scoresOfEach), RELIABILITY_ROWS);
  return groups.map((group) => {
    const members = present(group.map((at) => each[at]));
    const own = members.map(({ score }) => score);
    const value = meanOf(members.map((one) => one.died));
    return {
      score_from: Math.min(...own),
      score_to: Math.max(...own),
      deployers: members.length,
      mean_score: meanOf(own),
      died_share: demand(estimateShare(value, members.length)),
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
