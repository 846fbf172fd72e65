// Answers one question: when does the work for a request end.

import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Asked } from '../contract/route.ts';

/** What a handler is told, and how to let go of what watches for the end. */
export type Asking = { readonly asked: Asked; readonly done: () => void };

// The signal ends when the client hangs up or the time is spent. Most answers come from memory and
// never look at it, so it is made when it is first asked for; it is a field of its own, because
// engines pass on what they are told with limits of their own beside it.
/** Begins to answer through a response. `now` is Unix seconds. */
export function askedOf(response: ServerResponse, now: () => number, budgetMs: number): Asking {
  let ending: Ending | null = null;
  const asked = {
    now,
    get signal(): AbortSignal {
      if (ending === null) ending = endingWith(response, budgetMs);
      return ending.signal;
    },
  };
  return { asked, done: () => ending?.stop() };
}

type Ending = { readonly signal: AbortSignal; readonly stop: () => void };

function endingWith(response: ServerResponse, budgetMs: number): Ending {
  const controller = new AbortController();
  // Every look-up of one request listens: node would take as many for a leak and print a warning.
  setMaxListeners(0, controller.signal);
  const end = () => controller.abort();
  if (response.destroyed) end();
  response.once('close', end);
  const timer = setTimeout(end, budgetMs);
  const stop = () => {
    clearTimeout(timer);
    response.off('close', end);
  };
  return { signal: controller.signal, stop };
}
