// Turns at a store that does one thing at a time. Requests go before jobs, since somebody waits for
// an answer; while both wait, jobs have a turn now and then, so that none waits without end.

import { watchQueue } from '../../../evidence/queue-watch.ts';
import { StoreUnavailable } from './database.ts';

/** How many may wait, of requests and of jobs each. */
const WAITING_MAX = 10_000;
/** While requests wait, whichever job has waited longest has a turn after so long without one. */
export const JOB_TURN_EACH_MS = 100;

type Waiter = { readonly cameMs: number; readonly begin: () => void };
/** Runs work when its turn has come. Throws StoreUnavailable where too many wait. */
export type TakeTurn = <T>(work: () => Promise<T>) => Promise<T>;

export type Turns = {
  readonly forRequest: TakeTurn;
  readonly forJob: TakeTurn;
  /** Whether all requests have waited for their turn for too long. */
  readonly isLate: () => boolean;
};

/** Turns by a clock that does not go back. */
export function takeTurns(nowMs: () => number): Turns {
  const [requests, jobs]: [Waiter[], Waiter[]] = [[], []];
  const watch = watchQueue(nowMs);
  let isTaken = false;
  let jobTurnMs = Number.NEGATIVE_INFINITY;

  function isJobDue(): boolean {
    const [first] = jobs;
    return first !== undefined && nowMs() - Math.max(first.cameMs, jobTurnMs) >= JOB_TURN_EACH_MS;
  }

  function passOn(): void {
    const next = requests.length === 0 || isJobDue() ? jobs.shift() : requests.shift();
    isTaken = next !== undefined;
    next?.begin();
  }

  async function takeTurn<T>(list: Waiter[], work: () => Promise<T>): Promise<T> {
    if (list.length >= WAITING_MAX) throw new StoreUnavailable('too many callers wait', 'EBUSY');
    const cameMs = nowMs();
    await new Promise<void>((begin) => {
      list.push({ cameMs, begin });
      if (!isTaken) passOn();
    });
    if (list === requests) watch.noteTurn(nowMs() - cameMs);
    try {
      return await work();
    } finally {
      if (list === jobs) jobTurnMs = nowMs();
      passOn();
    }
  }

  return {
    forRequest: (work) => takeTurn(requests, work),
    forJob: (work) => takeTurn(jobs, work),
    // An empty queue keeps nobody waiting, however long the last one in it had waited.
    isLate: () => requests.length > 0 && watch.isLate(),
  };
}
