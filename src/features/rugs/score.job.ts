// Scores launches and stores the results. Each round finds wallets with new facts on record, scores
// their launches with the model in force, and records the run of each completed chain. Without a
// model there is no run.

import { MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import { map, type Reading } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  type BoundedTask,
  untilStopped,
  type WatchRun,
  WITHOUT_WATCH,
} from '../../evidence/waiting.ts';
import {
  type LaunchScoringPort,
  type PublishedModel,
  type PublishedModels,
  SCORED_CHAINS,
  type ScoredChainName,
  type ScoredLaunch,
  type ScorerRun,
  type ScoringParts,
  type WalletToScore,
} from '../../ports/rug-model.ts';
import { driftReason, scoreWallet } from './scoring.ts';

/** Wallets that are read at once, and how often that is done in one run. */
const WALLETS_AT_ONCE = 50;
const BATCHES_MAX = 200;

type ScorerParts = ScoringParts & {
  readonly inForce: PublishedModels['inForce'];
  readonly now: () => UnixSeconds;
};

/** Why a round, or a chain of it, was not scored; `null`: it was. */
export type NotScored = { readonly chain: ScoredChainName | null; readonly why: Why };

/** Scores once everything that is due, chain by chain, and tells what was not scored and why. */
export async function scoreOnce(parts: ScorerParts, signal: AbortSignal): Promise<NotScored[]> {
  const model = await parts.inForce();
  if (!model.checked) return [{ chain: null, why: model.why }];
  const failed: NotScored[] = [];
  const { chains } = model.value.model.card.data;
  const flagsFrom = await flagsFromOf(parts, model.value, signal);
  if (!flagsFrom.checked) return [{ chain: null, why: flagsFrom.why }];
  for (const chain of SCORED_CHAINS.filter((one) => chains.includes(one))) {
    const why = await scoreChain(parts, { ...model.value, level: flagsFrom.value }, chain, signal);
    if (why !== null) failed.push({ chain, why });
  }
  return failed;
}

type InForce = PublishedModel & { readonly level: number | null };

/** From which score on a model flags; the flags of one that drifted are withdrawn first. */
async function flagsFromOf(
  { scoring, now }: ScorerParts,
  { version, model: { card }, withdrawn }: PublishedModel,
  signal: AbortSignal,
): Promise<Reading<number | null, LaunchScoringPort>> {
  const fates = await scoring.fates(version);
  if (!fates.checked) return fates;
  const drift =
    withdrawn !== null ? withdrawn.reason : driftReason(version, card.level, fates.value);
  const { level } = card;
  if (drift === null) return map(fates, () => (level === null ? null : level.score_from));
  const withdrawn_at = now();
  for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
    const told = { version, reason: drift, withdrawn_at, fates: fates.value };
    const taken = await scoring.withdraw(told);
    if (!taken.checked) return taken;
    if (taken.value === 0) break;
  }
  return map(fates, () => null);
}

type Counts = { -readonly [K in Exclude<keyof ScorerRun, 'chain' | 'model_version'>]: number };

/** Scores what is due of a chain. A run that is stopped is not noted, what it wrote stays. */
async function scoreChain(
  parts: ScorerParts,
  model: InForce,
  chain: ScoredChainName,
  signal: AbortSignal,
): Promise<Why | null> {
  const counts: Counts = {
    began_at: parts.now(),
    wallets: 0,
    scored: 0,
    flagged: 0,
    suppressed: 0,
    unscored: 0,
    retracted: 0,
    waiting: 0,
  };
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const { scored_within_h } = model.model.card.target;
    const by = { version: model.version, scored_within_h };
    const due = await parts.scoring.due(chain, by, WALLETS_AT_ONCE);
    if (!due.checked) return due.why;
    const { wallets } = due.value;
    counts.waiting = due.value.due;
    for (const wallet of wallets) {
      if (signal.aborted) return null;
      const why = await scoreOne(parts, model, wallet, counts);
      if (why !== null) return why;
      counts.waiting -= 1;
    }
    // A look at many launches is dear: where it gave all that were due, no other is needed.
    if (wallets.length === due.value.due) break;
  }
  const ended = await parts.scoring.end({ ...counts, chain, model_version: model.version });
  return ended.checked ? null : ended.why;
}

async function scoreOne(
  { scoring, established, now }: ScorerParts,
  { version, model, level }: InForce,
  wallet: WalletToScore,
  counts: Counts,
): Promise<Why | null> {
  const { chain, address, observed_at } = wallet;
  const onChain = wallet.launches.map((launch) => ({ chain, token: launch.token }));
  const listed = await established.among(onChain);
  if (!listed.checked) return listed.why;
  const tokens = new Set([...listed.value].map(({ token }) => token));
  const by = {
    model,
    level,
    isListedToken: ({ token }: { readonly token: string }) => tokens.has(token),
  };
  const scored_at = now();
  const launches = scoreWallet(wallet, by, scored_at);
  const committed = await scoring.commit({
    chain,
    address,
    observed_at,
    model_version: version,
    scored_at,
    launches,
    record: wallet.record,
    on_record: wallet.launches.map(({ token }) => token),
    unlisted: wallet.launches.flatMap(({ token, listed }) => (listed === false ? [token] : [])),
    horizon_h: model.card.target.horizon_h,
    seen: wallet.launches.flatMap(({ token, seen }) => (seen === null ? [] : [{ token, ...seen }])),
  });
  if (!committed.checked) return committed.why;
  if (committed.value === false) return null;
  counts.wallets += 1;
  counts.retracted += committed.value.retracted;
  counts.flagged += countOf(launches, 'flagged');
  counts.suppressed += countOf(launches, 'suppressed');
  counts.unscored += countOf(launches, 'unscored');
  counts.scored += launches.length - countOf(launches, 'unscored');
  return null;
}

function countOf(launches: readonly ScoredLaunch[], outcome: ScoredLaunch['outcome']): number {
  return launches.filter((one) => one.outcome === outcome).length;
}

type JobParts = ScorerParts & {
  /** The pause between two rounds. */
  readonly everyS: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onNotScored: (failed: NotScored) => void;
  readonly onBug: (error: unknown) => void;
  readonly watch?: WatchRun;
};

/** Starts scoring round by round. `stop` ends the round under way and waits for it. */
export function scoreRounds(parts: JobParts): BoundedTask {
  return untilStopped((signal) => rounds(parts, signal));
}

async function rounds(parts: JobParts, signal: AbortSignal): Promise<void> {
  const { watch = WITHOUT_WATCH } = parts;
  let before = '';
  while (!signal.aborted) {
    try {
      const failed = await watch(
        () => scoreOnce(parts, signal),
        ({ length }) => (length === 0 ? 'done' : 'failed'),
      );
      // A lasting fault is logged once, not at every round.
      const now = JSON.stringify(failed);
      if (now !== before) for (const one of failed) parts.onNotScored(one);
      before = now;
    } catch (error) {
      parts.onBug(error);
    }
    await parts.sleep(parts.everyS * MS_PER_S, signal);
  }
}
