// Collects and settles launches in rounds until it is stopped. A round that fails, or has a bug, is
// reported and ends no other round.

import type { Why } from '../../evidence/reasons.ts';
import {
  type BoundedTask,
  untilStopped,
  type WatchRun,
  WITHOUT_WATCH,
} from '../../evidence/waiting.ts';
import { type CollectLimits, collectAccount, creditAgain } from './collect.ts';
import { type SettleParts, settleRound } from './settle.ts';

type Rounds = {
  /** How long it waits after a round that left nothing to do. */
  readonly pollMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onFailure: (what: string, why: Why) => void;
  readonly onBug: (error: unknown) => void;
  readonly watch?: WatchRun;
};

/** A service that starts answers first. */
const BEGINS_AFTER_MS = 3_000;

/** Repeats a round; `true` from it: there is more to do. `stop` waits for the one under way. */
function repeatRounds(
  { pollMs, sleep, onBug }: Rounds,
  round: (signal: AbortSignal) => Promise<boolean>,
): BoundedTask {
  return untilStopped(async (signal) => {
    await sleep(BEGINS_AFTER_MS, signal);
    while (!signal.aborted) {
      let isMore = false;
      try {
        isMore = await round(signal);
      } catch (error) {
        onBug(error);
      }
      if (!isMore) await sleep(pollMs, signal);
    }
  });
}

type Collecting = Rounds &
  Parameters<typeof collectAccount>[0] & {
    readonly accounts: readonly string[];
    readonly limits: CollectLimits;
    readonly onCollected: (account: string, launches: number, gaps: number) => void;
  };

/** Starts collecting: each account in turn, so that a busy one leaves room to the others. */
export function collectLaunches(parts: Collecting): BoundedTask {
  const { watch = WITHOUT_WATCH } = parts;
  return repeatRounds(parts, async (signal) => {
    let isMore = false;
    const uncredited = await creditAgain(parts, signal);
    if (uncredited !== null && !signal.aborted) parts.onFailure('crediting again', uncredited);
    for (const account of parts.accounts) {
      if (signal.aborted) return false;
      const { launches, gaps, whole, failed } = await watch(
        () => collectAccount(parts, account, signal),
        (end) => (end.failed === null ? 'done' : 'failed'),
      );
      if (launches > 0 || gaps > 0) parts.onCollected(account, launches, gaps);
      if (failed !== null && !signal.aborted) parts.onFailure(account, failed);
      if (!whole && failed === null) isMore = true;
    }
    return isMore;
  });
}

/** Starts settling what is due. */
export function settleLaunches(parts: Rounds & SettleParts): BoundedTask {
  const { watch = WITHOUT_WATCH } = parts;
  return repeatRounds(parts, async (signal) => {
    const { listed, gone, silent, failed } = await watch(
      () => settleRound(parts, signal),
      (end) => (end.failed === null && end.silent.size === 0 ? 'done' : 'failed'),
    );
    if (signal.aborted) return false;
    if (failed !== null) parts.onFailure('settling', failed);
    for (const [reason, count] of silent) {
      parts.onFailure(`${count} launches wait`, { code: 'provider_failed', reason });
    }
    return failed === null && listed + gone >= parts.limits.launchesMax;
  });
}
