// Publishes signals, round after round, in one process at a time by a lease. A target comes from a
// public event or had a signal before; what is logged and counted names none.

import { DAY_S, type UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { type BoundedTask, type RoundPace, repeatRounds } from '../../evidence/waiting.ts';
import type { Leases } from '../../ports/indexing.ts';
import {
  type KeptSignal,
  type NewestSignal,
  type NewSignal,
  SIGNAL_LEASE,
  type SignalProduction,
  type SignalTarget,
} from '../../ports/signals.ts';
import type { Bundle, Judgement } from '../collectors/shapes.ts';
import type { CallPurse } from './call-purse.ts';
import { contentHashOf, makeEnd, makeSignal, signalDispatches } from './signal.ts';

/** What a signal is made with. */
export type MakingParts = {
  readonly production: Pick<SignalProduction, 'newestOf' | 'emit'>;
  readonly collect: (target: SignalTarget, signal: AbortSignal) => Promise<Bundle>;
  readonly judge: (bundle: Bundle, signal: AbortSignal) => Promise<Reading<Judgement, never>>;
  /** The rules in force, by their version. */
  readonly rulesVersion: () => Promise<Reading<string, never>>;
  readonly mintRunId: () => string;
  readonly simulated: boolean;
  /** Whether what is not asked for lack of calls is asked another day. */
  readonly waitsForCalls: boolean;
  readonly now: () => UnixSeconds;
};

/** The dependencies of a round. */
export type ProducerParts = Omit<MakingParts, 'production'> & {
  readonly production: SignalProduction;
  readonly leases: Leases;
  /** The calls outside that `collect` may make. */
  readonly purse: CallPurse;
  /** Whatever a bug does to one target; it is asked again later. */
  readonly onBug: (fault: unknown) => void;
};

/** Targets of one round. */
export const ROUND_TARGETS_MAX = 500;
const LEASE_S = 120;
/** It is taken anew after so long, since a deployment may bound it to a second. */
const RENEW_LEASE_S = 1;
const ROUND_EACH_S = 600;
/** A round looks at no further target after so long, so that it ends while it is current. */
const ROUND_S = 480;
/** A signal is made anew after so long, whatever changed. */
export const RENEWED_S = 7 * DAY_S;
/** A target whose ground could not be read is asked again after so long. */
const AGAIN_S = 1_800;

/**
 * What became of a target. `waits`: what its signal rests on was not read, so it stands.
 * `unreached`: no call was left for it, and without calls there is nothing new to say.
 */
type Outcome =
  | { readonly state: 'published'; readonly signal_id: string; readonly isWhole: boolean }
  | { readonly state: 'unchanged'; readonly signal_id: string }
  | { readonly state: 'waits'; readonly sources: readonly string[] }
  | { readonly state: 'overtaken' }
  | { readonly state: 'unreached' };

/** The lease of a round, `null` of a command; and the rules that judge. */
export type Under = { readonly epoch: number | null; readonly rules_version: string };

/** Looks at a target and publishes a signal where there is something new to say. */
export async function publishTarget(
  parts: MakingParts,
  target: SignalTarget,
  { epoch, rules_version }: Under,
  signal: AbortSignal,
): Promise<Outcome | Why> {
  const held = await parts.production.newestOf(target);
  if (!held.checked) return held.why;
  const before = held.value;
  const bundle = await parts.collect(target, signal);
  const isWhole = !parts.waitsForCalls || !lacksCalls(bundle);
  const content_hash = contentHashOf(bundle);
  const same = isSame(before, content_hash, rules_version) ? before : null;
  if (same !== null && !isDueAgain(same.signal, parts.now())) {
    const { signal_id } = same.signal;
    return isWhole ? { state: 'unchanged', signal_id } : { state: 'unreached' };
  }
  const judged = same === null ? await parts.judge(bundle, signal) : judgementOf(same);
  if (!judged.checked) return judged.why;
  const judgement = judged.value;
  if (!isWhole && !isNews(judgement, before)) return { state: 'unreached' };
  const unread = before === null ? [] : unreadGrounds(before.signal, judgement, bundle);
  if (unread.length > 0) return { state: 'waits', sources: unread };
  const { simulated } = parts;
  const now = parts.now();
  const made = makeSignal({
    bundle,
    judgement,
    rules_version,
    simulated,
    now,
    run_id: parts.mintRunId(),
    cached: same !== null,
  });
  const kept = await parts.production.emit({
    signal: made,
    newest: before === null ? null : before.signal.signal_id,
    end: before === null ? null : endOf(before, made, now),
    dispatches: same !== null ? [] : signalDispatches(made, before === null ? null : before.signal),
    round: epoch === null ? null : { epoch, againS: isWhole ? null : nextDayS(now) },
  });
  if (!kept.checked) return kept.why;
  const { signal_id } = made;
  return kept.value ? { state: 'published', signal_id, isWhole } : { state: 'overtaken' };
}

function lacksCalls({ sources }: Bundle): boolean {
  return sources.some(({ code }) => code === 'signal_calls_spent');
}

/** Whether a verdict stands on what is held, and is another than the one that is public. */
function isNews({ verdict }: Judgement, before: NewestSignal | null): boolean {
  if (verdict === 'no_opinion') return false;
  return before === null || (before.signal.end === null && before.signal.verdict !== verdict);
}

function isSame(before: NewestSignal | null, content_hash: string, rules_version: string): boolean {
  return before?.content_hash === content_hash && before.rules_version === rules_version;
}

/** What was withdrawn is not said again of the same content; what stands is, after a while. */
function isDueAgain({ end, generated_at_unix }: KeptSignal, now: UnixSeconds): boolean {
  return end === null && now - generated_at_unix >= RENEWED_S;
}

/** The judgement that a signal was made of: of the same content it is the same. */
function judgementOf({ signal }: NewestSignal) {
  const { verdict, confidence_millionths, confidence_basis, confidence_n } = signal;
  const { reasoning, evidence_used, model, prompt_version } = signal;
  const value: Judgement = {
    verdict,
    confidence_millionths,
    confidence_basis,
    confidence_n,
    reasoning,
    evidence_used,
    model,
    prompt_version,
    cost_usd: 0,
  };
  return { checked: true, value } as const;
}

/**
 * The sources that a standing verdict cites and that were not read now. A verdict does not fall
 * because nobody answered.
 */
function unreadGrounds(
  { verdict, end, evidence_used }: KeptSignal,
  judgement: Judgement,
  { sources }: Bundle,
): readonly string[] {
  if (end !== null || verdict === 'no_opinion' || judgement.verdict === verdict) return [];
  const cited = new Set(evidence_used.map((key) => key.slice(0, key.indexOf('.'))));
  return sources
    .filter(({ source, status }) => cited.has(source) && status !== 'present')
    .map(({ source }) => source);
}

function endOf(
  { signal }: NewestSignal,
  made: Pick<NewSignal, 'signal_id' | 'verdict' | 'model' | 'rules_version'>,
  now: UnixSeconds,
) {
  if (signal.end !== null) return null;
  // The rules say what is supported; a language model that gives no verdict takes nothing back.
  const isByRules = made.model === made.rules_version;
  const isGone = signal.verdict !== 'no_opinion' && made.verdict === 'no_opinion' && isByRules;
  return isGone
    ? makeEnd(signal.signal_id, {
        state: 'withdrawn',
        reason: `What it cites was read again and does not support its verdict: ${made.signal_id}.`,
        by: 'producer',
        now,
      })
    : makeEnd(signal.signal_id, {
        state: 'superseded',
        reason: 'A newer signal of its target stands.',
        by: made.signal_id,
        now,
      });
}

/** What a round did, in numbers; a target that was published in part is unreached as well. */
export type RoundCounts = { readonly [state in Outcome['state'] | 'failed']: number };

/** A round that is due, to its end; `null`: none was, or another process holds the lease. */
export async function produceOnce(
  parts: ProducerParts,
  signal: AbortSignal,
): Promise<RoundCounts | Why | null> {
  const taken = await parts.leases.take(SIGNAL_LEASE, LEASE_S);
  if (!taken.checked) return taken.why;
  if (taken.value === null) return null;
  try {
    return await produceAs(parts, taken.value.epoch, signal);
  } finally {
    await parts.purse.giveBack();
    await parts.leases.release(SIGNAL_LEASE);
  }
}

async function produceAs(
  parts: ProducerParts,
  epoch: number,
  signal: AbortSignal,
): Promise<RoundCounts | Why | null> {
  const { production, leases } = parts;
  const queued = await production.queueEvents(epoch);
  if (!queued.checked) return queued.why;
  const isDue = await production.isRoundDue(ROUND_EACH_S);
  if (!isDue.checked) return isDue.why;
  if (!isDue.value) return null;
  const rules = await parts.rulesVersion();
  if (!rules.checked) return rules.why;
  const rules_version = rules.value;
  const due = await production.due(ROUND_TARGETS_MAX, RENEWED_S, rules_version);
  if (!due.checked) return due.why;
  const under = { epoch, rules_version };
  const counts = { published: 0, unchanged: 0, waits: 0, overtaken: 0, unreached: 0, failed: 0 };
  const began = parts.now();
  let renewed = began;
  for (const [looked, target] of due.value.entries()) {
    if (signal.aborted) return null;
    if (parts.now() - began >= ROUND_S) {
      counts.unreached += due.value.length - looked;
      break;
    }
    // Each write looks whether the lease is held; it only has to last until the next renewal.
    if (Math.abs(parts.now() - renewed) >= RENEW_LEASE_S) {
      renewed = parts.now();
      const held = await leases.take(SIGNAL_LEASE, LEASE_S);
      if (!held.checked) return held.why;
      if (held.value?.epoch !== epoch) return null;
    }
    const unfilled = await parts.purse.fill();
    if (unfilled !== null) return unfilled;
    const outcome = await publishTarget(parts, target, under, signal).catch((fault: unknown) => {
      parts.onBug(fault);
      return { state: 'failed' } as const;
    });
    if (!('state' in outcome)) return outcome;
    counts[outcome.state] += 1;
    if (outcome.state === 'published' && !outcome.isWhole) counts.unreached += 1;
    // A published one was settled in the transaction of its signal.
    if (outcome.state === 'published') continue;
    const again = againAfter(outcome, parts.now());
    const settled = await production.settle(target, again, epoch);
    if (!settled.checked) return settled.why;
    if (!settled.value) return null;
  }
  const ended = await production.endRound(epoch);
  if (!ended.checked) return ended.why;
  return ended.value ? counts : null;
}

/** After how many seconds a target is looked at again; `null`: at the next event about it. */
function againAfter({ state }: { readonly state: keyof RoundCounts }, now: UnixSeconds) {
  if (state === 'unchanged') return null;
  return state === 'unreached' ? nextDayS(now) : AGAIN_S;
}

/** How long it is until calls are there again: the next day (UTC). */
function nextDayS(now: UnixSeconds): number {
  return DAY_S - (now % DAY_S);
}

type Rounds = ProducerParts & RoundPace<Why> & { readonly onRound: (counts: RoundCounts) => void };

/** Looks again and again whether a round is due, until it is stopped. */
export function produceRounds(parts: Rounds): BoundedTask {
  return repeatRounds(parts, async (signal) => {
    const outcome = await produceOnce(parts, signal);
    if (outcome !== null && 'reason' in outcome) return outcome;
    if (outcome !== null) parts.onRound(outcome);
    return null;
  });
}
