// How often would two strangers with these acts share so many moments by chance?
// The null model of lockstep: the second's acts on a target fall where anybody's do. Expected
// moments are summed over the first's acts, and the number seen is held against a Poisson law.

import { tally } from '../../evidence/measure.ts';
import type { AddressHistory } from '../history/address-history.ts';
import type { TiedBy } from './ties.ts';

/** An address acted on a target in a transaction of its own. */
export type Act = TiedBy & { readonly target: string };

/** Two acts on the same counterparty no further apart than this are one moment, in seconds. */
export const MOMENT_S = 600;

/**
 * The chance of at least `moments` shared moments. `targets` are the whole histories of what they
 * acted on: where others crowd into the same minutes, a moment shows little.
 */
export function chanceOf(
  [first, second]: readonly [readonly Act[], readonly Act[]],
  moments: number,
  own: readonly string[],
  targets: ReadonlyMap<string, AddressHistory>,
): number {
  const times = [...first, ...second].map(({ at }) => at);
  const span = Math.max(...times, 0) - Math.min(...times, Number.MAX_SAFE_INTEGER);
  const acts = new Map<string, number>();
  for (const { target } of second) tally(acts, target);
  let expected = 0;
  for (const { at, target } of first) {
    const others = othersOn(targets.get(target), own);
    const near = others.filter((time) => Math.abs(time - at) <= MOMENT_S).length;
    const even = (2 * MOMENT_S) / Math.max(span, 2 * MOMENT_S);
    const crowded = others.length === 0 ? 0 : near / others.length;
    const matching = acts.get(target);
    if (matching === undefined) continue;
    expected += Math.min(1, matching * Math.max(even, crowded));
  }
  return poissonTail(expected, moments);
}

/** When anybody else acted on a target. */
function othersOn(target: AddressHistory | undefined, own: readonly string[]): number[] {
  if (target === undefined) throw new Error('lockstep: acts on known targets only');
  const { address, transfers } = target;
  const inward = transfers.filter(({ from, to }) => to === address && !own.includes(from));
  return inward.map(({ at }) => at);
}

/** The chance that a Poisson variable of this mean is at least `count`. */
function poissonTail(mean: number, count: number): number {
  let term = Math.exp(-mean);
  let below = 0;
  for (let k = 0; k < count; k += 1) {
    below += term;
    term *= mean / (k + 1);
  }
  return Math.max(0, 1 - below);
}
