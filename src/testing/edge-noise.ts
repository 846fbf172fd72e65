// How often records of pure noise look like an edge. The suite measures a part of the records, and
// `npm run bench:edge` all.

import { wilsonInterval } from '../evidence/statistics.ts';
import { dailySharpe } from '../features/edge/backtest.ts';
import { deflateSharpe, familyMembers } from '../features/edge/luck.ts';
import { runBacktest } from '../features/edge/question.ts';
import { noiseRecord } from './edge-records.ts';

export type NoiseCounts = {
  /** Random entries with p under 5%. */
  readonly lowP: number;
  /** Intervals of the rate of hits, at 95%, that hold a half. */
  readonly holdsHalf: number;
  /** The same with each call counted as independent of the others. */
  readonly holdsHalfAlone: number;
  /** The best listed filter, taken alone, over zero at 95%. */
  readonly bestLooksGood: number;
  /** The same ratio deflated by the family. */
  readonly bestDeflated: number;
};

const EVERYTHING = {
  kinds: null,
  asset: null,
  direction: null,
  horizon_h: null,
  days: 3_650,
  cost_bps: 0,
  min_conviction: null,
} as const;
const NOISE = { assets: 3, hours: 24 * 90, bursts: 20 };

/** Counts over so many records of noise, by seeds from 1 on. */
export function measureNoise(records: number): NoiseCounts {
  const counts = { lowP: 0, holdsHalf: 0, holdsHalfAlone: 0, bestLooksGood: 0, bestDeflated: 0 };
  for (let seed = 1; seed <= records; seed += 1) {
    const told = runBacktest(noiseRecord(seed, NOISE), EVERYTHING);
    const { calls, entries, family } = told;
    counts.lowP += Number(Number(entries.p) < 0.05);
    counts.holdsHalf += Number(holdsHalf(calls.interval));
    counts.holdsHalfAlone += Number(holdsHalf(wilsonInterval(calls.hits, calls.closed)));
    const { members, variance } = family;
    const best = familyMembers(family)
      .flatMap(({ sharpe }) => (sharpe === null ? [] : [sharpe]))
      .reduce((most, one) => (dailySharpe(one) > dailySharpe(most) ? one : most));
    const ratio = dailySharpe(best);
    const spread = Number(variance);
    const alone = deflateSharpe(ratio, best, { trials: 1, variance: spread });
    const after = deflateSharpe(ratio, best, { trials: members, variance: spread });
    counts.bestLooksGood += Number(alone.probability > 0.95);
    counts.bestDeflated += Number(after.probability > 0.95);
  }
  return counts;
}

function holdsHalf(interval: { readonly low: number; readonly high: number } | null): boolean {
  return interval !== null && interval.low <= 0.5 && interval.high >= 0.5;
}
