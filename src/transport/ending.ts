// Answers one question: when does the work for a request end.

import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Asked } from '../contract/route.ts';

/** What a handler is told, and how to let go of what watches for the end. */
export type Asking = { readonly asked: Asked; readonly done: () => void };

/** Begins to answer through a response. `now` is Unix seconds. */
export function askedOf(response: ServerResponse, now: () => number, budgetMs: number): Asking {
  return asking(now, budgetMs, (end) => {
    if (response.destroyed) end();
    response.once('close', end);
    return () => response.off('close', end);
  });
}

/** Begins to answer until a signal says that nobody waits. `now` is Unix seconds. */
export function askedUntil(gone: AbortSignal, now: () => number, budgetMs: number): Asking {
  return asking(now, budgetMs, (end) => {
    if (gone.aborted) end();
    gone.addEventListener('abort', end, { once: true });
    return () => gone.removeEventListener('abort', end);
  });
}

/** Calls `end` when whoever waits has gone, until what it returns is called. */
type Watch = (end: () => void) => () => void;

// The signal ends when the client hangs up or the time is spent. Most answers come from memory and
// never look at it, so it is made when it is first asked for; it is a field of its own, because
// engines pass on what they are told with limits of their own beside it.
function asking(now: () => number, budgetMs: number, watch: Watch): Asking {
  let ending: Ending | null = null;
  const asked = {
    now,
    get signal(): AbortSignal {
      if (ending === null) ending = endingWith(watch, budgetMs);
      return ending.signal;
    },
  };
  return { asked, done: () => ending?.stop() };
}

type Ending = { readonly signal: AbortSignal; readonly stop: () => void };

function endingWith(watch: Watch, budgetMs: number): Ending {
  const controller = new AbortController();
  // Every look-up of one request listens: node would take as many for a leak and print a warning.
  setMaxListeners(0, controller.signal);
  const end = () => controller.abort();
  const unwatch = watch(end);
  const timer = setTimeout(end, budgetMs);
  const stop = () => {
    clearTimeout(timer);
    unwatch();
  };
  return { signal: controller.signal, stop };
}
