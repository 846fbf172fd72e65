// The measures that all features share: intervals of shares, and how well scores told outcomes.
// Rows that hang together stand in one cluster, so that intervals count clusters, not rows.

import { rate, tally } from './measure.ts';

/** The quantile of the normal distribution between whose two signs 95% lie. */
const Z_95 = 1.959963984540054;

/** A figure with its interval at 95%; the ends are `null` where none can be told. */
export type Estimate = {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
};

/** Wilson's interval at 95% of a share, both ends from 0 to 1; `null` where nothing was counted. */
export function wilsonInterval(
  hits: number,
  of: number,
): { readonly low: number; readonly high: number } | null {
  if (of === 0) return null;
  const p = hits / of;
  const z2 = (Z_95 * Z_95) / of;
  const spread = Z_95 * Math.sqrt((p * (1 - p)) / of + z2 / (4 * of));
  const end = (side: number) => Math.min(1, Math.max(0, (p + z2 / 2 + side) / (1 + z2)));
  return { low: end(-spread), high: end(spread) };
}

type Share = { readonly hits: number; readonly of: number };

/**
 * By how much a share lies over another, with Newcombe's interval at 95%, which is made of both of
 * Wilson's; `null` where nothing was counted on a side.
 */
export function shareGap(
  one: Share,
  other: Share,
): { readonly value: number; readonly low: number; readonly high: number } | null {
  const [wide, against] = [wilsonInterval(one.hits, one.of), wilsonInterval(other.hits, other.of)];
  if (wide === null || against === null) return null;
  const [p, q] = [one.hits / one.of, other.hits / other.of];
  const value = p - q;
  return {
    value,
    low: value - Math.hypot(p - wide.low, against.high - q),
    high: value + Math.hypot(wide.high - p, q - against.low),
  };
}

/**
 * The false discovery rate at which each of several tests would be found (Benjamini and Hochberg),
 * in the order of their p-values.
 */
export function falseDiscoveryRates(pValues: readonly number[]): readonly number[] {
  const order = pValues.map((_, at) => at).sort((a, b) => Number(pValues[b]) - Number(pValues[a]));
  const rates = new Array<number>(pValues.length);
  let least = 1;
  for (const [before, at] of order.entries()) {
    const rank = pValues.length - before;
    least = Math.min(least, Number(pValues[at]) * (pValues.length / rank));
    rates[at] = least;
  }
  return rates;
}

/** Scores from 0 to 1, what came of each row (1: what the score tells), and each row's cluster. */
export type Scored = {
  readonly scores: Float64Array;
  readonly outcomes: Uint8Array;
  readonly clusters: Uint32Array;
};

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
 * The chance that a row with the outcome has a higher score than one without it, ties by half.
 * `null` where there is no such pair. `weights` count rows several times; `null` counts each once.
 */
export function aucOf(
  ties: Ties,
  outcomes: Uint8Array,
  weights: Float64Array | null,
): number | null {
  let [pairs, having, lacking] = [0, 0, 0];
  for (const tie of ties) {
    let [havingHere, lackingHere] = [0, 0];
    for (let at = 0; at < tie.length; at += 1) {
      const row = Number(tie[at]);
      const weight = weights === null ? 1 : Number(weights[row]);
      if (outcomes[row] === 1) havingHere += weight;
      else lackingHere += weight;
    }
    pairs += havingHere * (lacking + lackingHere / 2);
    having += havingHere;
    lacking += lackingHere;
  }
  return having === 0 || lacking === 0 ? null : pairs / (having * lacking);
}

/** The mean squared distance of scores from outcomes; `null` without a row that counts. */
export function brierOf(
  { scores, outcomes }: Pick<Scored, 'scores' | 'outcomes'>,
  weights: Float64Array | null,
): number | null {
  let [sum, count] = [0, 0];
  // By place: an iterator of entries costs several times what is computed here.
  for (let row = 0; row < scores.length; row += 1) {
    const weight = weights === null ? 1 : Number(weights[row]);
    sum += weight * (Number(scores[row]) - Number(outcomes[row])) ** 2;
    count += weight;
  }
  return rate(sum, count);
}

/** Rows with the part of each that counts. */
export type Weighed = { readonly row: number; readonly weight: number };

/** Rows of which each counts whole. */
export function alike(rows: readonly number[]): readonly Weighed[] {
  return rows.map((row) => ({ row, weight: 1 }));
}

/** As many rows of a cluster each as these are worth (Kish's effective n); 0 without a row. */
export function effectiveCount(rows: readonly Weighed[], clusters: Uint32Array): number {
  const byCluster = new Map<number, number>();
  for (const { row, weight } of rows) tally(byCluster, Number(clusters[row]), weight);
  const weights = [...byCluster.values()];
  const of = weights.reduce((sum, one) => sum + one, 0);
  return of === 0 ? 0 : of ** 2 / weights.reduce((sum, one) => sum + one * one, 0);
}

/**
 * The share of some rows that had the outcome, with Wilson's interval over what they are worth;
 * `null` without a row.
 */
export function shareOf(
  rows: readonly Weighed[],
  { outcomes, clusters }: Omit<Scored, 'scores'>,
): Estimate | null {
  let [hits, of] = [0, 0];
  for (const { row, weight } of rows) {
    hits += weight * Number(outcomes[row]);
    of += weight;
  }
  return estimateShare(rate(hits, of), effectiveCount(rows, clusters));
}

/** A share with Wilson's interval over what its rows are worth; `null` without one. */
export function estimateShare(value: number | null, worth: number): Estimate | null {
  const interval = value === null ? null : wilsonInterval(value * worth, worth);
  return value === null || interval === null ? null : { value, ...interval };
}

/**
 * The precision among the `most` highest scores; of a tie at the end a part counts, each row alike.
 * `null` without a row.
 */
export function precisionOf(
  ties: Ties,
  scored: Scored,
  most: number,
): (Estimate & { readonly k: number; readonly tied_at_k: number }) | null {
  const k = Math.min(most, scored.scores.length);
  const top: Weighed[] = [];
  let tied = 0;
  for (const tie of [...ties].reverse()) {
    const room = k - Math.round(top.reduce((sum, { weight }) => sum + weight, 0));
    if (room <= 0) break;
    const weight = Math.min(1, room / tie.length);
    if (weight < 1) tied = tie.length;
    for (const row of tie) top.push({ row, weight });
  }
  const share = shareOf(top, scored);
  return share === null ? null : { ...share, k, tied_at_k: tied };
}

/** Rows of like scores, in `most` groups of about one size; rows of one score stay together. */
export function scoreGroups(ties: Ties, most: number): readonly (readonly number[])[] {
  const groups: number[][] = [];
  const size = ties.reduce((sum, tie) => sum + tie.length, 0) / most;
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
  return groups.filter((rows) => rows.length > 0);
}

/** A row of a table of reliability: what scores said of some rows, and what came of them. */
export type Reliability = {
  readonly score_from: number;
  readonly score_to: number;
  readonly rows: number;
  readonly mean_score: number;
  readonly hits: number;
  readonly share: Estimate;
};

/** What the scores of some rows said, beside what came of them; `null` without a row. */
export function reliabilityOf(rows: readonly number[], scored: Scored): Reliability | null {
  const share = shareOf(alike(rows), scored);
  if (share === null) return null;
  const scores = rows.map((row) => Number(scored.scores[row]));
  return {
    score_from: scores.reduce((least, one) => Math.min(least, one)),
    score_to: scores.reduce((most, one) => Math.max(most, one)),
    rows: rows.length,
    mean_score: meanOf(scores),
    hits: rows.reduce((sum, row) => sum + Number(scored.outcomes[row]), 0),
    share,
  };
}

/** The mean of values, of which there is at least one. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length;
}

/** A figure with the quantiles of its resamples; one in which it cannot be told tells nothing. */
export function estimateBy(
  value: number,
  drawn: readonly (number | null | undefined)[],
  missed: number,
): Estimate {
  const sorted = drawn.filter((one) => one !== null && one !== undefined).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))];
  const [low, high] = [at(missed / 2), at(1 - missed / 2)];
  return { value, low: low === undefined ? null : low, high: high === undefined ? null : high };
}
