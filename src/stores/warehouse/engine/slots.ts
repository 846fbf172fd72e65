// How many calls run at once, how many wait, and when is a caller let go?
// A caller that gives up is released at once; its slot only when the work has really ended.
// Refuses an unbounded queue: a full one answers "overloaded" without waiting.
import { type Call, WarehouseUnavailable } from './executor.ts';

/** The work of one call: told by its signal when nobody waits any more, and what time is left. */
type Work<T> = (signal: AbortSignal, leftMs: number) => Promise<T>;

/** A bounded set of slots with a bounded queue, first come first served. */
export type Slots = {
  run<T>(call: Call, work: Work<T>): Promise<T>;
  load(): { readonly inFlight: number; readonly waiting: number };
  /** Refuses new calls, waits up to `waitMs` for the old ones, then lets their callers go. */
  close(waitMs: number): Promise<void>;
};

type Visit = { start(): void; leave(error: WarehouseUnavailable): void };
type Events = {
  /** The caller gives up; whether the work had not begun. */
  dropped(visit: Visit): boolean;
  ended(visit: Visit): void;
};

/** Opens a set of slots; `inFlightMax` and `waitingMax` are counts of calls. */
export function openSlots(limits: { inFlightMax: number; waitingMax: number }): Slots {
  const waiting = new Set<Visit>();
  const running = new Set<Visit>();
  let closing = false;
  let whenIdle: (() => void) | undefined;

  function next(): void {
    for (const visit of waiting) {
      if (running.size >= limits.inFlightMax) break;
      waiting.delete(visit);
      running.add(visit);
      visit.start();
    }
    if (running.size === 0 && waiting.size === 0) whenIdle?.();
  }

  const events: Events = {
    dropped: (visit) => waiting.delete(visit),
    ended: (visit) => {
      running.delete(visit);
      next();
    },
  };

  function run<T>(call: Call, work: Work<T>): Promise<T> {
    if (closing) return Promise.reject(new WarehouseUnavailable('closed'));
    if (call.signal?.aborted === true) return Promise.reject(new WarehouseUnavailable('aborted'));
    if (running.size >= limits.inFlightMax && waiting.size >= limits.waitingMax) {
      return Promise.reject(new WarehouseUnavailable('overloaded'));
    }
    const { visit, answer } = visitOf(call, work, events);
    waiting.add(visit);
    next();
    return answer;
  }

  async function close(waitMs: number): Promise<void> {
    closing = true;
    if (running.size === 0 && waiting.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      whenIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    for (const visit of [...waiting, ...running]) visit.leave(new WarehouseUnavailable('closed'));
  }

  const load = () => ({ inFlight: running.size, waiting: waiting.size });
  return { run, load, close };
}

/** One call from its entry to the end of its work, which may be later than its answer. */
function visitOf<T>(call: Call, work: Work<T>, events: Events) {
  const stop = new AbortController();
  const deadlineMs = performance.now() + call.timeoutMs;
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const answer = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  const onAbort = () => visit.leave(new WarehouseUnavailable('aborted'));
  const onTime = () => visit.leave(new WarehouseUnavailable('timeout'));
  const timer = setTimeout(onTime, call.timeoutMs);
  call.signal?.addEventListener('abort', onAbort, { once: true });

  function forget(): void {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', onAbort);
  }
  const visit: Visit = {
    start: () => {
      const end = () => {
        forget();
        events.ended(visit);
      };
      const leftMs = Math.max(1, deadlineMs - performance.now());
      work(stop.signal, leftMs).finally(end).then(resolve, reject);
    },
    leave: (error) => {
      forget();
      reject(error);
      if (!events.dropped(visit)) stop.abort(error);
    },
  };
  return { visit, answer };
}
