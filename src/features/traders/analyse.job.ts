// Analyses whoever is due, one after the other, in whichever process takes the address.

import { MS_PER_S } from '../../chain/time.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type BoundedTask,
  signalFor,
  untilStopped,
  type WatchRun,
  WITHOUT_WATCH,
} from '../../evidence/waiting.ts';
import type { TraderWork } from '../../ports/traders.ts';
import type { TraderAttempt } from './analyse.ts';
import type { TraderAnalysis, Unanalysable } from './shapes.ts';

/** An analysis takes no longer; whoever took it later may be taken over. */
const ANALYSIS_MAX_S = 600;
const TAKEN_S = ANALYSIS_MAX_S + 60;

type QueueDependencies = {
  readonly work: TraderWork<TraderAnalysis, Unanalysable>;
  readonly analyse: (address: string, signal: AbortSignal) => Promise<TraderAttempt>;
  /** How often an empty queue is looked at. */
  readonly pollMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onFailure: (why: Why) => void;
  readonly onBug: (fault: unknown) => void;
  readonly watch?: WatchRun;
};

/** Starts analysing. `stop` ends the analysis under way and waits for it. */
export function analyseQueue(given: QueueDependencies): BoundedTask {
  return untilStopped(async (signal) => {
    while (!signal.aborted) {
      const end = await analyseNext(given, signal).catch((fault: unknown) => {
        given.onBug(fault);
        return 'idle';
      });
      if (end === 'idle') await given.sleep(given.pollMs, signal);
    }
  });
}

/**
 * Analyses the next address that is due. A bug in one ends no other, and is a failed attempt; what
 * a stop breaks off is due again at once. @internal
 */
export async function analyseNext(
  given: QueueDependencies,
  signal: AbortSignal,
): Promise<'done' | 'idle'> {
  const next = await given.work.take(TAKEN_S);
  if (!next.checked) {
    given.onFailure(next.why);
    return 'idle';
  }
  const address = next.value;
  if (address === null) return 'idle';
  const { watch = WITHOUT_WATCH } = given;
  const outcome = await watch(
    () => attempt(given, address, signal),
    ({ end }) => (end === 'failed' ? 'failed' : 'done'),
  );
  const kept = signal.aborted
    ? await given.work.putBack(address)
    : await given.work.settle(address, outcome);
  if (!kept.checked) given.onFailure(kept.why);
  if (signal.aborted) return 'idle';
  if (outcome.end === 'failed') given.onFailure(outcome.why);
  return 'done';
}

async function attempt(
  { analyse, onBug }: QueueDependencies,
  address: string,
  signal: AbortSignal,
): Promise<TraderAttempt> {
  const timed = AbortSignal.any([signal, AbortSignal.timeout(ANALYSIS_MAX_S * MS_PER_S)]);
  try {
    return await analyse(address, signalFor('analyses of traders', timed));
  } catch (fault) {
    if (!signal.aborted) onBug(fault);
    return { end: 'failed', why: why('analysis_broken'), outside: false };
  }
}
