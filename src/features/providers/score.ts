// Scores the calls whose window has ended, by the rule under which they were received. A rule that
// this version does not know is a newer one's: its calls wait for whoever knows it.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { CallProduction, CallResult, KeptCall } from '../../ports/provider-calls.ts';
import type { Candle } from '../../ports/series.ts';
import { launchOutcome, marketOutcome, marketWindow, OUTCOME_RULES } from './rules.ts';

/** Calls that one round scores. */
const SCORED_MAX = 2_000;

export type ScoreParts = {
  readonly calls: Pick<CallProduction, 'noteSightings' | 'sightingsOf' | 'undecided' | 'decide'>;
  /** The hourly candles of an asset within Unix seconds; `null`: they are not whole. */
  readonly candlesOf: (
    asset: string,
    from: UnixSeconds,
    to: UnixSeconds,
  ) => Promise<readonly Pick<Candle, 'at' | 'open'>[] | null>;
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
  const due = await calls.undecided(now(), SCORED_MAX);
  if (!due.checked) return due.why;
  const counts = { scored: 0, unscorable: 0, pending: 0 };
  for (const call of due.value) {
    if (signal.aborted) break;
    const outcome = await outcomeOf(parts, call);
    if ('reason' in outcome) return outcome;
    if (outcome.state !== 'pending') {
      const kept = await calls.decide(call.call_id, outcome);
      if (!kept.checked) return kept.why;
    }
    counts[outcome.state] += 1;
  }
  return counts;
}

async function outcomeOf(
  { calls, candlesOf, now }: ScoreParts,
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
  const { entry, until } = marketWindow(called_at, subject.horizon_h);
  const candles = await candlesOf(subject.asset, entry, until);
  return marketOutcome(call, called_at, candles, now());
}
