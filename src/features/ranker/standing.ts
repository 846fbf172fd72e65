// Where a call stands among those that were emitted in the week up to it. The record is held as one
// number a call, and goes on from the place up to which it was read.

import { HOUR_S } from '../../chain/time.ts';
import { map, Read, type Reading, type Unread } from '../../evidence/reading.ts';
import type {
  CountedEmission,
  EmittedCall,
  EmittedCalls,
  EmittedCallsPort,
} from '../../ports/emitted-calls.ts';
import type { PublishedRanker, PublishedRankerPort, PublishedRankers } from '../../ports/ranker.ts';
import { addShares } from '../boosting/trees.ts';
import { type CallScorer, rankInputs, rowOfCall, scoreCall, weekOf } from './training.ts';

/** A call is put among those of so many hours up to it. */
const WINDOW_S = 168 * HOUR_S;
const PAGE = 5_000;
/** Pages of one look; a longer record is read on with the next. */
const PAGES_MAX = 400;

/** Reads the whole record of calls, as it stands. */
export async function readRecord(
  emittedCalls: Pick<EmittedCalls, 'changedSince'>,
): Promise<Reading<readonly CountedEmission[], EmittedCallsPort>> {
  const calls = new Map<string, CountedEmission>();
  const end = await readChanges(emittedCalls, 0, (call) => calls.set(call.call_id, call));
  return end instanceof Read ? map(end, () => [...calls.values()]) : end;
}

/** Passes on what changed behind a place, and gives the place up to which it was read. */
async function readChanges(
  emittedCalls: Pick<EmittedCalls, 'changedSince'>,
  from: number,
  take: (call: CountedEmission) => void,
): Promise<Reading<number, EmittedCallsPort>> {
  let place = from;
  for (let page = 0; ; page += 1) {
    const changed = await emittedCalls.changedSince(place, PAGE);
    if (!(changed instanceof Read)) return changed;
    for (const call of changed.value.calls) take(call);
    const isEnd = changed.value.place === place || page === PAGES_MAX;
    place = changed.value.place;
    if (isEnd) return map(changed, () => place);
  }
}

type HeldCall = { readonly emitted_at: number; readonly score: number; readonly closed: boolean };
type Held = {
  readonly version: string | null;
  place: number;
  readonly calls: Map<string, HeldCall>;
};

/** What a score is made of: `base` and the contributions add up to it. */
export type RankScore = {
  readonly score: number;
  readonly base: number;
  readonly contributions: readonly { readonly feature: string; readonly contribution: number }[];
};

/** The newest call of an asset, and its place if a ranker puts it in one. */
export type CallStanding = {
  readonly call: EmittedCall;
  readonly ranker: PublishedRanker | null;
  readonly closed: { readonly calls: number; readonly weeks: number };
  /** `null`: there is no ranker, or it learnt from the call or could have. */
  readonly placed:
    | (RankScore & {
        /** From 1; calls of one score share the better place. */
        readonly rank: number;
        /** The calls that it is put among, itself included. */
        readonly of: number;
        /** The share of the others that score lower, ties by half; `null`: there is no other. */
        readonly percentile: number | null;
      })
    | null;
};

type Parts = {
  readonly emittedCalls: Pick<EmittedCalls, 'changedSince' | 'newestOf'>;
  readonly publishedRankers: Pick<PublishedRankers, 'inForce'>;
};
type Silence = Unread<EmittedCallsPort> | Unread<PublishedRankerPort>;

/** Tells where the newest call of an asset stands; `null`: none was emitted. */
export type FindStanding = (asset: string) => Promise<CallStanding | null | Silence>;

export function createStanding({ emittedCalls, publishedRankers }: Parts): FindStanding {
  let held: Held = { version: null, place: 0, calls: new Map() };
  // Whoever asks while the record is read on waits for the same reading.
  let underWay: Promise<Reading<number, EmittedCallsPort>> | null = null;
  const readOn = async (own: Held, ranker: PublishedRanker | null) => {
    const end = await readChanges(emittedCalls, own.place, (call) => {
      const score = ranker === null ? Number.NaN : scoreCall(ranker.model, call);
      const { emitted_at, outcome } = call;
      own.calls.set(call.call_id, { emitted_at, score, closed: outcome.state === 'closed' });
    });
    if (end instanceof Read) own.place = end.value;
    return end;
  };
  const holdRecord = (
    ranker: PublishedRanker | null,
  ): Promise<Reading<number, EmittedCallsPort>> => {
    const version = ranker === null ? null : ranker.version;
    if (held.version !== version) {
      held = { version, place: 0, calls: new Map() };
      underWay = null;
    }
    if (underWay !== null) return underWay;
    const own = readOn(held, ranker).finally(() => {
      if (underWay === own) underWay = null;
    });
    underWay = own;
    return own;
  };
  return async (asset) => {
    const newest = await emittedCalls.newestOf(asset);
    if (!(newest instanceof Read)) return newest;
    const call = newest.value;
    if (call === null) return null;
    const published = await publishedRankers.inForce();
    if (!(published instanceof Read)) return published;
    const ranker = published.value;
    const own = holdRecord(ranker);
    const { calls } = held;
    const end = await own;
    if (!(end instanceof Read)) return end;
    const all = [...calls.values()];
    const closed = all.filter((one) => one.closed);
    const weeks = new Set(closed.map(({ emitted_at }) => weekOf(emitted_at)));
    return {
      call,
      ranker,
      closed: { calls: closed.length, weeks: weeks.size },
      placed: ranker === null ? null : placeCall(ranker, call, all),
    };
  };
}

/** Puts a call among those of the week up to it, of which the ranker could have learnt none. */
function placeCall(
  { model }: PublishedRanker,
  call: EmittedCall,
  all: readonly HeldCall[],
): CallStanding['placed'] {
  const { at } = model.card.split;
  if (call.emitted_at < at) return null;
  const parts = partsOf(model, call);
  const scores = all
    .filter(
      ({ emitted_at }) =>
        emitted_at >= at &&
        emitted_at > call.emitted_at - WINDOW_S &&
        emitted_at <= call.emitted_at,
    )
    .map(({ score }) => score);
  const higher = scores.filter((score) => score > parts.score).length;
  const same = scores.filter((score) => score === parts.score).length;
  const others = scores.length - 1;
  const lower = scores.length - higher - same;
  return {
    ...parts,
    rank: higher + 1,
    of: scores.length,
    percentile: others === 0 ? null : (lower + (same - 1) / 2) / others,
  };
}

/** @internal A score, as the Shapley shares of its features make it. */
export function partsOf(model: CallScorer, call: CountedEmission): RankScore {
  const row = rowOfCall(model.features, call);
  const shares = new Float64Array(row.length);
  let base = model.base;
  for (const tree of model.trees) base += addShares(tree, row, shares);
  return {
    score: scoreCall(model, call),
    base,
    contributions: model.features.map((feature, at) => ({
      feature,
      contribution: Number(shares[at]),
    })),
  };
}

/** What is measured of a call, by the names of a ranker. */
export function readingsOf(
  names: readonly string[],
  call: CountedEmission,
): readonly { readonly feature: string; readonly value: number | null }[] {
  const inputs = rankInputs(call);
  return names.map((feature) => {
    const value = inputs.get(feature);
    return { feature, value: value === undefined ? null : value };
  });
}
