// Collects what providers say of each launch that is recorded here, scores what has come to its
// end, and makes the board, round after round, in one process at a time by a lease.

import { MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import type { Why } from '../../evidence/reasons.ts';
import { type BoundedTask, type RoundPace, repeatRounds } from '../../evidence/waiting.ts';
import type { Leases } from '../../ports/indexing.ts';
import type { AskEnd, CallProduction, DueAsk } from '../../ports/provider-calls.ts';
import type { TokenRisk } from '../../ports/token-risk.ts';
import { type BoardParts, makeBoard } from './board.ts';
import { hashRules, launchCall, ownCall } from './call.ts';
import { readRisk, ruleInForce } from './rules.ts';
import { type ScoreParts, scoreCalls } from './score.ts';

/** Questions to one provider in a round. With rounds a minute apart it is 14,400 a day at most. */
export const ROUND_ASKS_MAX = 10;
const OWN_MAX = 500;
/** Scoring leaves the rest to the next round after so long: questions to providers cannot wait. */
const SCORING_MAX_S = 60;
const LEASE = 'provider calls';
const LEASE_S = 180;

export type CollectParts = ScoreParts &
  BoardParts & {
    readonly calls: CallProduction;
    readonly leases: Leases;
    readonly risks: readonly TokenRisk[];
    readonly now: () => UnixSeconds;
  };

/** What a round did, in numbers. */
export type CollectCounts = {
  readonly launches: number;
  readonly calls: number;
  readonly scored: number;
};

/** One round; `null`: another process holds the lease. */
export async function collectOnce(
  parts: CollectParts,
  signal: AbortSignal,
): Promise<CollectCounts | Why | null> {
  const taken = await parts.leases.take(LEASE, LEASE_S);
  if (!taken.checked) return taken.why;
  if (taken.value === null) return null;
  try {
    return await collectAs(parts, taken.value.epoch, signal);
  } finally {
    await parts.leases.release(LEASE);
  }
}

async function collectAs(
  parts: CollectParts,
  epoch: number,
  signal: AbortSignal,
): Promise<CollectCounts | Why | null> {
  const { calls, risks, now } = parts;
  const ruled = await calls.publishRules(hashRules(), now());
  if (!ruled.checked) return ruled.why;
  const noted = await calls.noteLaunches(risks);
  if (!noted.checked) return noted.why;
  let made = 0;
  for (const risk of risks) {
    const asked = await askProvider(parts, risk, epoch, signal);
    if (typeof asked !== 'number') return asked;
    made += asked;
  }
  const own = await addOwn(parts);
  if (typeof own !== 'number') return own;
  const held = await holdLease(parts, epoch);
  if (held !== true) return held;
  const timed = AbortSignal.any([signal, AbortSignal.timeout(SCORING_MAX_S * MS_PER_S)]);
  const scored = await scoreCalls(parts, timed);
  if ('reason' in scored) return scored;
  const failed = await makeBoard(parts);
  if (failed !== null) return failed;
  return { launches: noted.value, calls: made + own, scored: scored.scored };
}

/** Holds the lease for longer; why the store did not tell, `null`: another process took it. */
async function holdLease({ leases }: CollectParts, epoch: number): Promise<true | Why | null> {
  const held = await leases.take(LEASE, LEASE_S);
  if (!held.checked) return held.why;
  return held.value?.epoch === epoch ? true : null;
}

/** How many calls came of the questions that are due; `null`: another process asks now. */
async function askProvider(
  parts: CollectParts,
  risk: TokenRisk,
  epoch: number,
  signal: AbortSignal,
): Promise<number | Why | null> {
  const { calls } = parts;
  const due = await calls.dueAsks(risk.provider, ROUND_ASKS_MAX);
  if (!due.checked) return due.why;
  let made = 0;
  let unread = 0;
  for (const ask of due.value) {
    if (signal.aborted) return made;
    const held = await holdLease(parts, epoch);
    if (held !== true) return held;
    const end = await answerTo(parts, risk, ask, signal);
    if ('code' in end) return end;
    const kept = await calls.endAsk(ask, end);
    if (!kept.checked) return kept.why;
    if (end.state === 'unread') unread += 1;
    if (end.state === 'called' && kept.value) made += 1;
  }
  const isFailing = due.value.length > 0 && unread === due.value.length;
  const round = await calls.noteRound(risk.provider, isFailing);
  return round.checked ? made : round.why;
}

async function answerTo(
  { calls, now }: CollectParts,
  risk: TokenRisk,
  ask: DueAsk,
  signal: AbortSignal,
): Promise<AskEnd | Why> {
  const answer = await risk.fieldsOf(ask.token, signal);
  if (!answer.checked) return { state: 'unread', reason: answer.why.reason };
  const says = readRisk(risk.provider, answer.value);
  if (says === null) return { state: 'nothing_said' };
  const sightings = await calls.sightingsOf(ask);
  if (!sightings.checked) return sightings.why;
  const at = now();
  const said = {
    provider: risk.provider,
    says,
    probability: null,
    reference: null,
    rests_on: answer.value,
    called_at: at,
    received_at: at,
  };
  return { state: 'called', call: launchCall(ask, said, sightings.value) };
}

async function addOwn({ calls, now }: CollectParts): Promise<number | Why> {
  const statements = await calls.ownStatements(ruleInForce('token_risk').version, OWN_MAX);
  if (!statements.checked) return statements.why;
  const made = [];
  for (const statement of statements.value) {
    const sightings = await calls.sightingsOf(statement);
    if (!sightings.checked) return sightings.why;
    made.push(ownCall(statement, sightings.value, now()));
  }
  const added = await calls.add(made);
  return added.checked ? added.value : added.why;
}

type Rounds = CollectParts & RoundPace<Why> & { readonly onRound: (counts: CollectCounts) => void };

/** Rounds until it is stopped. */
export function collectRounds(parts: Rounds): BoundedTask {
  return repeatRounds(parts, async (signal) => {
    const outcome = await collectOnce(parts, signal);
    if (outcome !== null && 'reason' in outcome) return outcome;
    if (outcome !== null && outcome.calls > 0) parts.onRound(outcome);
    return null;
  });
}
