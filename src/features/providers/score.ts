// Scores the calls whose window has ended, by the rule under which they were received. A rule that
// this version does not know is a newer one's: its calls wait for whoever knows it.

import { HOUR_S, MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  CALL_KINDS,
  type CallProduction,
  type CallResult,
  type KeptCall,
} from '../../ports/provider-calls.ts';
import type { Candle, SeriesSpan } from '../../ports/series.ts';
import { launchOutcome, marketOutcome, marketWindow, OUTCOME_RULES } from './rules.ts';

/** Calls of a kind that one round scores: no kind waits for the other. */
const SCORED_MAX = 2_000;

/** The hourly candles that were read of a span, and the times of which none was. */
export type CandlesRead = {
  readonly rows: readonly Pick<Candle, 'at' | 'open'>[];
  readonly holes: readonly SeriesSpan[];
};

export type ScoreParts = {
  readonly calls: Pick<CallProduction, 'noteSightings' | 'sightingsOf' | 'undecided' | 'decide'>;
  /** The candles of an asset that begin within Unix seconds; `null`: nothing was read of them. */
  readonly candlesOf: (
    asset: string,
    from: UnixSeconds,
    to: UnixSeconds,
  ) => Promise<CandlesRead | null>;
  readonly now: () => UnixSeconds;
};

/** What a round scored, in numbers. */
export type ScoreCounts = {
  readonly scored: number;
  readonly unscorable: number;
  readonly pending: number;
};

/** Keeps the sightings of now, and scores whatever they decide. */
export async function scoreCalls(
  parts: ScoreParts,
  signal: AbortSignal,
): Promise<ScoreCounts | Why> {
  const { calls, now } = parts;
  const noted = await calls.noteSightings();
  if (!noted.checked) return noted.why;
  const counts = { scored: 0, unscorable: 0, pending: 0 };
  for (const kind of CALL_KINDS) {
    const due = await calls.undecided(kind, now(), SCORED_MAX);
    if (!due.checked) return due.why;
    const candlesOf = askByAsset(parts, due.value);
    for (const call of due.value) {
      if (signal.aborted) return counts;
      const outcome = await outcomeOf({ ...parts, candlesOf }, call);
      if ('reason' in outcome) return outcome;
      if (outcome.state !== 'pending') {
        const kept = await calls.decide(call.call_id, outcome);
        if (!kept.checked) return kept.why;
      }
      counts[outcome.state] += 1;
    }
  }
  return counts;
}

/** Reads the candles of an asset once, for all calls on it. */
function askByAsset({ candlesOf }: ScoreParts, due: readonly KeptCall[]) {
  const spans = new Map<string, { from: UnixSeconds; to: UnixSeconds }>();
  for (const { subject, called_at } of due) {
    if (subject.kind !== 'market_call') continue;
    const { from, to } = hoursOf(called_at, subject.horizon_h);
    const known = spans.get(subject.asset);
    if (known === undefined) spans.set(subject.asset, { from, to });
    else {
      known.from = Math.min(known.from, from);
      known.to = Math.max(known.to, to);
    }
  }
  const read = new Map<string, Promise<CandlesRead | null>>();
  return (asset: string): Promise<CandlesRead | null> => {
    const known = read.get(asset);
    if (known !== undefined) return known;
    const span = spans.get(asset);
    if (span === undefined) throw new Error('no call is about this asset');
    const asked = candlesOf(asset, span.from, span.to);
    read.set(asset, asked);
    return asked;
  };
}

/** The hours that decide a market call, the last of its candles with its end. */
function hoursOf(called_at: UnixSeconds, horizon_h: number) {
  const { entry, until } = marketWindow(called_at, horizon_h);
  return { from: entry, to: until + HOUR_S };
}

type OutcomeParts = Pick<ScoreParts, 'calls' | 'now'> & {
  readonly candlesOf: (asset: string) => Promise<CandlesRead | null>;
};

async function outcomeOf(
  { calls, candlesOf, now }: OutcomeParts,
  call: KeptCall,
): Promise<CallResult | Why> {
  if (!OUTCOME_RULES.some(({ version }) => version === call.rule_version)) {
    return { state: 'pending' };
  }
  const { subject, called_at } = call;
  if (subject.kind === 'token_risk') {
    const sightings = await calls.sightingsOf(subject);
    return sightings.checked ? launchOutcome(call, sightings.value, now()) : sightings.why;
  }
  const { from, to } = hoursOf(called_at, subject.horizon_h);
  const told = await candlesOf(subject.asset);
  const isOutside = (hole: SeriesSpan) => hole.to <= from * MS_PER_S || hole.from >= to * MS_PER_S;
  const rows = told === null || !told.holes.every(isOutside) ? null : told.rows;
  return marketOutcome(call, called_at, rows, now());
}
