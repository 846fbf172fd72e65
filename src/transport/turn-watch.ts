// How long requests wait for their turn in the event loop of the process: how late it comes to a
// timer is how late it comes to a request.

import { type QueueWatch, watchQueue } from '../evidence/queue-watch.ts';

const LOOK_EACH_MS = 50;

export type TurnWatch = Pick<QueueWatch, 'isLate'> & { readonly end: () => void };

/** Looks at the event loop until it is ended. `nowMs` is of a clock that does not go back. */
export function watchTurns(nowMs: () => number = () => performance.now()): TurnWatch {
  const { noteTurn, isLate } = watchQueue(nowMs);
  let dueMs = nowMs() + LOOK_EACH_MS;
  const timer = setInterval(() => {
    noteTurn(nowMs() - dueMs);
    dueMs = nowMs() + LOOK_EACH_MS;
  }, LOOK_EACH_MS).unref();
  return { isLate, end: () => clearInterval(timer) };
}
