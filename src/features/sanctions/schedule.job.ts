// Answers one question: when is the publisher asked for a newer list.
// One refresh at a time in a process, at once after the start and then at a jittered interval; what
// may pass soon is asked again within minutes. Validation is in weighing.ts.

import { HOUR_S, MS_PER_S } from '../../chain/time.ts';
import { type Running, untilStopped } from '../../evidence/until-stopped.ts';
import type { Acceptance, Publisher, RefreshOutcome } from '../../ports/sanctions/publisher.ts';

/** Refreshes one after another, whoever asks. */
export type Refresher = (
  acceptance: Acceptance | null,
  signal: AbortSignal,
  /** Who is asked, where it is not the publisher that is configured. */
  from?: Publisher,
) => Promise<RefreshOutcome>;

/** Makes callers wait for each other, so that one process never reads two files at a time. */
export function oneAtATime(refresh: Refresher): Refresher {
  let last: Promise<unknown> = Promise.resolve();
  return (acceptance, signal, from) => {
    const mine = last.then(() => refresh(acceptance, signal, from));
    last = mine.then(
      () => undefined,
      () => undefined,
    );
    return mine;
  };
}

/** How much an interval is drawn out or cut, so that many processes do not ask together. */
const JITTER_SHARE = 0.1;
/** The first wait after a fault that may pass soon; it doubles up to the interval. */
const RETRY_S = 60;
const DOUBLINGS_MAX = 20;
/** A publisher that asks to be left alone for longer is asked again after this all the same. */
const AFTER_S_MAX = 6 * HOUR_S;

/** The parts and times of a schedule. */
type ScheduleOptions = {
  readonly refresh: Refresher;
  readonly intervalS: number;
  /** At least 0, under 1. */
  readonly random: () => number;
  /** Resolves after so many milliseconds, or at once when the signal ends it. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onOutcome: (outcome: RefreshOutcome) => void;
  readonly onBug: (error: unknown) => void;
};

/** Seconds until the next refresh. `failures` counts those in a row that may pass soon. */
export function delayS(intervalS: number, failures: number, random: number): number {
  const jitter = 1 - JITTER_SHARE + 2 * JITTER_SHARE * random;
  const wait = failures === 0 ? intervalS : RETRY_S * 2 ** Math.min(failures - 1, DOUBLINGS_MAX);
  return Math.min(wait, intervalS) * jitter;
}

/** Starts refreshing. `stop` ends a download that is under way and waits for it. */
export function scheduleRefresh(options: ScheduleOptions): Running {
  return untilStopped((signal) => rounds(options, signal));
}

async function rounds(options: ScheduleOptions, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    let afterS = 0;
    try {
      const outcome = await options.refresh(null, signal);
      failures = outcome.retry === 'soon' ? failures + 1 : 0;
      if (outcome.after_s !== undefined) afterS = Math.min(outcome.after_s, AFTER_S_MAX);
      if (!signal.aborted) options.onOutcome(outcome);
    } catch (error) {
      // A bug in one round is told and does not end the schedule: the next list may be readable.
      failures += 1;
      options.onBug(error);
    }
    const waitS = Math.max(delayS(options.intervalS, failures, options.random()), afterS);
    await options.sleep(waitS * MS_PER_S, signal);
  }
}
