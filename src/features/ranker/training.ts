// The order of calls is learnt by weeks: each week is a query, and a call is worth the fifth of its
// net return among the calls of its week. Later weeks, which nothing was learnt of, are the
// hold-out, which is looked at once.

import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { DAY_S, HOUR_S, MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import { collect } from '../../evidence/measure.ts';
import { sharesFrom } from '../../evidence/random.ts';
import { ndcgOf } from '../../evidence/ranking.ts';
import { estimateBy, meanOf } from '../../evidence/statistics.ts';
import type { Artefact, ModelTree } from '../../ports/boosted-trees.ts';
import { type CountedEmission, DETECTOR_KINDS } from '../../ports/emitted-calls.ts';
import {
  RANKER_FORMAT,
  type Ranker,
  type RankerHoldout,
  type RankerPart,
} from '../../ports/ranker.ts';
import { makeArtefact } from '../boosting/artefact.ts';
import { type BoostingLimits, boostByRounds, type Examples } from '../boosting/boost.ts';
import { rankObjective } from '../boosting/lambdarank.ts';
import { marginOf } from '../boosting/trees.ts';

/** Closed calls in so many weeks are the least that an order is learnt of. */
export const CALLS_MIN = 300;
export const WEEKS_MIN = 20;
/** A week with fewer closed calls has no fifths. */
const WEEK_CALLS_MIN = 5;
const FIFTHS = 5;
/** Of the weeks, those that are learnt of; and of these, those that tell when to stop. */
const TEST_FROM = 0.7;
const STOP_FROM = 0.8;
/** How many places of a week its order is judged by. */
const PLACES = 5;
const RESAMPLES = 2_000;
const MISSED = 0.05;

/** How the trees of a ranker grow; the seed is the order's. */
const LIMITS: Omit<BoostingLimits, 'seed'> = {
  treesMax: 200,
  depthMax: 4,
  leavesMax: 8,
  lambda: 1,
  hessianMin: 0.1,
  rowsMin: 20,
  shrinkage: 0.05,
  rowShare: 0.8,
  binsMax: 64,
  patience: 20,
};

export type RankingOrder = {
  readonly seed: number;
  /** When the hold-out begins; `null`: where 70% of the weeks are over. */
  readonly splitAt: UnixSeconds | null;
  readonly codeVersion: string;
};

/** Why no ranker can be trained on a record. The message is a sentence. */
export class RankingFault extends Error {}

const WEEK_S = 7 * DAY_S;
/** 1970 began on a Thursday, and weeks begin on Mondays. */
const MONDAY_S = 3 * DAY_S;

/** The number of the week of a time, in UTC. */
export function weekOf(at: UnixSeconds): number {
  return Math.floor((at + MONDAY_S) / WEEK_S);
}

function weekStart(week: number): UnixSeconds {
  return week * WEEK_S - MONDAY_S;
}

/** What a ranker may know of a call when it is emitted; `null` is unmeasured. */
export function rankInputs(call: CountedEmission): ReadonlyMap<string, number | null> {
  const own: readonly (readonly [string, number])[] = [
    ['conviction', Number(call.conviction)],
    ['horizon_h', call.horizon_h],
    ['is_long', Number(call.direction === 'long')],
    ...DETECTOR_KINDS.map((kind) => [`kind_${kind}`, Number(call.kind === kind)] as const),
  ];
  const told = Object.entries(call.features).map(
    ([name, value]) => [name, value === null ? null : Number(value)] as const,
  );
  return new Map([...told, ...own]);
}

/** A call as trees of these features take it. */
export function rowOfCall(names: readonly string[], call: CountedEmission): number[] {
  const inputs = rankInputs(call);
  return names.map((name) => {
    const value = inputs.get(name);
    return value === undefined || value === null ? Number.NaN : value;
  });
}

/** A closed call with what is learnt of it. */
type Closed = {
  readonly call: CountedEmission;
  readonly week: number;
  readonly exit_at: UnixSeconds;
  readonly net: number;
};

/** The calls that closed at a price, in the order of their emission. */
function closingsOf(calls: readonly CountedEmission[]): readonly Closed[] {
  return calls
    .flatMap((call): Closed[] => {
      const { outcome } = call;
      if (outcome.state !== 'closed') return [];
      const net = Number(outcome.gross_return) - Number(outcome.funding_paid);
      const exit_at = outcome.exit_at_ms / MS_PER_S;
      return [{ call, week: weekOf(call.emitted_at), exit_at, net }];
    })
    .sort(
      (a, b) => a.call.emitted_at - b.call.emitted_at || (a.call.call_id < b.call.call_id ? -1 : 1),
    );
}

/** How many closed calls there are, and in how many weeks they were emitted. */
export function countClosed(calls: readonly CountedEmission[]): { calls: number; weeks: number } {
  const closed = closingsOf(calls);
  return { calls: closed.length, weeks: new Set(closed.map(({ week }) => week)).size };
}

/** Calls by week, each with the fifth of its return: rows of one query stand together. */
type Weeks = {
  readonly rows: readonly Closed[];
  readonly labels: Uint8Array;
  readonly sizes: readonly number[];
  readonly small: number;
};

function weeksOf(closed: readonly Closed[]): Weeks {
  const byWeek = new Map<number, Closed[]>();
  for (const one of closed) collect(byWeek, one.week, one);
  const all = [...byWeek.values()];
  const weeks = all.filter(({ length }) => length >= WEEK_CALLS_MIN);
  return {
    rows: weeks.flat(),
    labels: Uint8Array.from(weeks.flatMap(fifthsOf)),
    sizes: weeks.map(({ length }) => length),
    small: all.length - weeks.length,
  };
}

/** The fifth of each return among all of them, from 0; equal returns have the lower one. */
function fifthsOf(week: readonly Closed[]): readonly number[] {
  const sorted = Float64Array.from(week, ({ net }) => net).sort();
  return week.map(({ net }) => Math.floor((FIFTHS * sorted.indexOf(net)) / sorted.length));
}

/**
 * The calls whose outcome was known at a time: closed by then, and out of reach of the longest
 * horizon.
 */
function selectKnown(
  closed: readonly Closed[],
  at: UnixSeconds,
  embargoS: number,
): readonly Closed[] {
  return closed.filter(({ call, exit_at }) => exit_at <= at && call.emitted_at + embargoS <= at);
}

/** @internal Names what of a training part was not known at a time. */
export function leakedCalls(
  taught: readonly CountedEmission[],
  at: UnixSeconds,
): readonly string[] {
  return closingsOf(taught)
    .filter(({ call, exit_at }) => exit_at > at || call.emitted_at + call.horizon_h * HOUR_S > at)
    .map(({ call }) => call.call_id);
}

/** Trains a ranker on a record of calls. Throws `RankingFault`. */
export function trainRanker(calls: readonly CountedEmission[], order: RankingOrder): Ranker {
  const steps = trainBySteps(calls, order);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same in a process that serves: requests are answered between two trees. */
export async function trainWhileServing(
  calls: readonly CountedEmission[],
  order: RankingOrder,
): Promise<Ranker> {
  const steps = trainBySteps(calls, order);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

function* trainBySteps(
  calls: readonly CountedEmission[],
  order: RankingOrder,
): Generator<undefined, Ranker> {
  const closed = closingsOf(calls);
  const weeks = [...new Set(closed.map(({ week }) => week))];
  const [first, last] = [closed[0], closed.at(-1)];
  if (first === undefined || last === undefined || isTooFew(closed.length, weeks.length)) {
    throw new RankingFault(fewText(closed.length, weeks.length));
  }
  const at = order.splitAt === null ? startAt(weeks, TEST_FROM) : order.splitAt;
  const embargoS = HOUR_S * closed.reduce((most, { call }) => Math.max(most, call.horizon_h), 0);
  const known = selectKnown(closed, at, embargoS);
  const stopAt = startAt([...new Set(known.map(({ week }) => week))], STOP_FROM);
  const train = weeksOf(selectKnown(known, stopAt, embargoS));
  const stop = weeksOf(known.filter(({ call }) => call.emitted_at >= stopAt));
  const test = weeksOf(closed.filter(({ call }) => call.emitted_at >= at));
  for (const [name, part] of Object.entries({ train, stop, test })) requireWeeks(name, part);
  const leaked = leakedCalls(
    [...train.rows, ...stop.rows].map(({ call }) => call),
    at,
  );
  if (leaked.length > 0) throw new Error(`known only later: ${leaked.join(', ')}`);
  const names = [...new Set(train.rows.flatMap(({ call }) => [...rankInputs(call).keys()]))].sort();
  const limits = { ...LIMITS, seed: order.seed };
  yield;
  const examples = asColumns(names, train);
  yield;
  const { base, trees } = yield* boostByRounds(examples, asColumns(names, stop), [], limits);
  const scorer = { features: names, base, trees };
  const before = closed.filter(({ call }) => call.emitted_at < at).length;
  return {
    ...scorer,
    card: {
      data: {
        sha256: digestOf(closed),
        calls: closed.length,
        weeks: weeks.length,
        from: first.call.emitted_at,
        to: last.call.emitted_at,
        simulated: closed.some(({ call }) => call.simulated),
      },
      split: {
        at,
        embargo_h: embargoS / HOUR_S,
        train: partOf(train),
        stop: partOf(stop),
        test: partOf(test),
        left_out: {
          embargoed: before - known.length,
          small_weeks: train.small + stop.small + test.small,
        },
      },
      training: {
        seed: order.seed,
        trees: trees.length,
        leaves: Number(LIMITS.leavesMax),
        depth_max: LIMITS.depthMax,
        shrinkage: LIMITS.shrinkage,
        row_share: LIMITS.rowShare,
        lambda: LIMITS.lambda,
        hessian_min: LIMITS.hessianMin,
        rows_min: LIMITS.rowsMin,
        bins: LIMITS.binsMax,
        patience: LIMITS.patience,
      },
      features: featuresTold(names, trees, train),
      holdout: judgeOrder(scorer, test, order.seed),
      code_version: order.codeVersion,
    },
  };
}

/** The artefact of a ranker. */
export function rankerArtefact(ranker: Ranker): Artefact<Ranker> {
  return makeArtefact(ranker, RANKER_FORMAT);
}

export function isTooFew(calls: number, weeks: number): boolean {
  return calls < CALLS_MIN || weeks < WEEKS_MIN;
}

export function fewText(calls: number, weeks: number): string {
  return (
    `${calls} closed calls in ${weeks} weeks are on record; ${CALLS_MIN} in ${WEEKS_MIN} weeks ` +
    'are the least that an order is learnt of.'
  );
}

/** The beginning of the week before which this share of the weeks lies. */
function startAt(weeks: readonly number[], share: number): UnixSeconds {
  const week = weeks[Math.floor(share * weeks.length)];
  if (week === undefined) throw new RankingFault('No closed call is left to learn from.');
  return weekStart(week);
}

function requireWeeks(name: string, { sizes }: Weeks): void {
  if (sizes.length > 0) return;
  const least = `a week of ${WEEK_CALLS_MIN} closed calls`;
  throw new RankingFault(`The part to ${name} lacks ${least}.`);
}

function asColumns(names: readonly string[], { rows, labels, sizes }: Weeks): Examples {
  const all = rows.map(({ call }) => rowOfCall(names, call));
  return {
    columns: names.map((_, at) => Float64Array.from(all, (row) => Number(row[at]))),
    objective: rankObjective({ labels, sizes }),
  };
}

function partOf({ rows, sizes }: Weeks): RankerPart {
  const times = rows.map(({ call }) => call.emitted_at);
  const [from, to] = [times[0], times.at(-1)];
  if (from === undefined || to === undefined) throw new TypeError('a part holds no call');
  return { calls: rows.length, weeks: sizes.length, from, to };
}

function digestOf(closed: readonly Closed[]): string {
  const hash = createHash('sha256');
  for (const { call, exit_at, net } of closed) {
    const inputs = [...rankInputs(call)].sort(([a], [b]) => (a < b ? -1 : 1));
    hash.update(`${JSON.stringify([call.call_id, call.emitted_at, exit_at, net, inputs])}\n`);
  }
  return hash.digest('hex');
}

function featuresTold(names: readonly string[], trees: readonly ModelTree[], { rows }: Weeks) {
  const splits = trees.flat().flatMap((node) => ('feature' in node ? [node] : []));
  const all = splits.reduce((sum, { gain }) => sum + gain, 0);
  return names.map((name, at) => {
    const own = splits.filter(({ feature }) => feature === at);
    const gain = own.reduce((sum, one) => sum + one.gain, 0);
    const measured = rows.filter(
      ({ call }) => typeof rankInputs(call).get(name) === 'number',
    ).length;
    return { name, measured, splits: own.length, gain: all === 0 ? 0 : gain / all };
  });
}

/** The part of a ranker that scores. */
export type CallScorer = Pick<Ranker, 'features' | 'base' | 'trees'>;

/** What a model makes of a call; only the order of such numbers means anything. */
export function scoreCall({ features, base, trees }: CallScorer, call: CountedEmission): number {
  return marginOf(base, trees, rowOfCall(features, call));
}

/**
 * Holds the order of a model against calls that were emitted from a time on. `null`: there is no
 * week to judge by. Throws where the model could have learnt from them.
 */
export function evaluateRanker(
  model: Ranker,
  calls: readonly CountedEmission[],
  from: UnixSeconds,
): RankerHoldout | null {
  const { split, training } = model.card;
  if (from < split.at) throw new RankingFault('The ranker learnt from calls of that time.');
  const weeks = weeksOf(closingsOf(calls).filter(({ call }) => call.emitted_at >= from));
  return weeks.sizes.length === 0 ? null : judgeOrder(model, weeks, training.seed);
}

function judgeOrder(model: CallScorer, weeks: Weeks, seed: number): RankerHoldout {
  const scores = Float64Array.from(weeks.rows, ({ call }) => scoreCall(model, call));
  const own: number[] = [];
  const byLot: number[] = [];
  let from = 0;
  for (const size of weeks.sizes) {
    const labels = weeks.labels.subarray(from, from + size);
    const ndcg = ndcgOf(scores.subarray(from, from + size), labels, PLACES);
    const random = ndcgOf(new Float64Array(size), labels, PLACES);
    from += size;
    // In a week whose calls all came to the same, every order is as good.
    if (ndcg === null || random === null) continue;
    own.push(ndcg);
    byLot.push(random);
  }
  if (own.length === 0) throw new RankingFault('In each week all calls came to the same.');
  const draw = sharesFrom(seed);
  const draws = Array.from({ length: RESAMPLES }, () =>
    meanOf(own.map(() => Number(own[Math.floor(draw() * own.length)]))),
  );
  return {
    ndcg: estimateBy(meanOf(own), draws, MISSED),
    random: meanOf(byLot),
    places: PLACES,
    queries: own.length,
    calls: weeks.rows.length,
    resamples: RESAMPLES,
    seed,
  };
}
