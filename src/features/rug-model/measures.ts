// How well do scores tell what died from what did not?
// Launches of one deployer are alike, so that intervals count deployers: resamples are drawn by
// deployer, and shares count as many rows as they would be worth if each stood alone.

import { wilsonInterval } from '../../evidence/measure.ts';
import type { Figure, Measures, ReliabilityRow } from '../../ports/flags/rug-model.ts';

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
