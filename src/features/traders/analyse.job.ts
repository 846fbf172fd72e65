// Analyses whoever is due, one after the other, in whichever process takes the address.

import { MS_PER_S } from '../../chain/time.ts';
import type { Why } from '../../evidence/reasons.ts';
import { type BoundedTask, signalFor, untilStopped } from '../../evidence/waiting.ts';
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
};

/** Starts analysing. `stop` ends the analysis under way and waits for it. */
export function analyseQueue(given: QueueDependencies): BoundedTask {
  return untilStopped(async (signal) => {
    while (!signal.aborted) {
      if ((await analyseNext(given, signal)) === 'idle') await given.sleep(given.pollMs, signal);
    }
  });
}

/** Analyses the next address that is due. A bug in one ends no other. @internal */
export async function analyseNext(
  given: QueueDependencies,
  signal: AbortSignal,
): Promise<'done' | 'idle'> {
  try {
    const next = await given.work.take(TAKEN_S);
    if (!next.checked) {
      given.onFailure(next.why);
      return 'idle';
    }
    if (next.value === null) return 'idle';
    const timed = AbortSignal.any([signal, AbortSignal.timeout(ANALYSIS_MAX_S * MS_PER_S)]);
    const outcome = await given.analyse(next.value, signalFor('analyses of traders', timed));
    if (signal.aborted) return 'idle';
    const kept = await given.work.settle(next.value, outcome);
    if (outcome.end === 'failed') given.onFailure(outcome.why);
    if (!kept.checked) given.onFailure(kept.why);
    return 'done';
  } catch (fault) {
    given.onBug(fault);
    return 'idle';
  }
}
