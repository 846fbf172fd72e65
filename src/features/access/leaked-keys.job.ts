// Ends what reports name, in every process, so that a process that fell right after it took a
// report leaves it to another.

import { Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  type BoundedTask,
  type RoundPace,
  repeatRounds,
  type WatchRun,
  WITHOUT_WATCH,
} from '../../evidence/waiting.ts';
import type { EndedByLeak, LeakStore } from '../../ports/access.ts';

/** Reports wait so long at most for a process that looks at them: ended within five seconds. */
export const SETTLE_EACH_S = 1;

type LeakParts = Omit<RoundPace<Why>, 'everyS'> & {
  readonly settle: LeakStore['settle'];
  /** Hears of each key and token that a report ended. */
  readonly onEnded: (ended: EndedByLeak) => void;
};

/** The rounds, and what has the next one begin at once. */
export function leakRounds({ settle, onEnded, sleep, ...pace }: LeakParts): {
  readonly start: (watch?: WatchRun) => BoundedTask;
  readonly wake: () => void;
} {
  let isCalled = false;
  let stopSleep: (() => void) | null = null;
  const round = async (): Promise<Why | null> => {
    isCalled = false;
    const settled = await settle();
    if (settled instanceof Unread) return settled.why;
    for (const one of settled.value.ended) onEnded(one);
    // A full round may have left some.
    if (settled.value.taken > 0) isCalled = true;
    return null;
  };
  const sleepUntilCalled = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (isCalled) return;
    const called = new AbortController();
    stopSleep = () => called.abort();
    await sleep(ms, AbortSignal.any([signal, called.signal]));
  };
  return {
    start: (watch = WITHOUT_WATCH) => {
      const everyS = SETTLE_EACH_S;
      return repeatRounds({ ...pace, everyS, sleep: sleepUntilCalled, watch }, round);
    },
    wake: () => {
      isCalled = true;
      stopSleep?.();
    },
  };
}
