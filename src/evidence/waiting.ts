// Waiting for answers within a time, for answers that are mostly there, and for work that ends on a
// signal.

import { slices } from './measure.ts';
import { type Partly, type Unread, unread } from './reading.ts';
import { type Why, why } from './reasons.ts';

// Time that ran out is told from every answer, so that nobody takes silence for one.

/** Why an examination that ran out of time was stopped. */
export const STOPPED_BY_TIME: Why = why('time_budget');

/** Said in place of an answer that did not come before the time ran out. */
export const OUT_OF_TIME = Symbol('out of time');

/** Waits for a port no longer than the signal lets; a port that was not asked yet is not asked. */
export async function inTime<T>(
  ask: () => Promise<T>,
  signal: AbortSignal,
): Promise<T | typeof OUT_OF_TIME> {
  if (signal.aborted) return OUT_OF_TIME;
  let stop = (): void => undefined;
  const ended = new Promise<typeof OUT_OF_TIME>((resolve) => {
    stop = () => resolve(OUT_OF_TIME);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([ask(), ended]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

// Calls outside are made for somebody. A signal goes with all work down to its calls, so it says
// for whom they are; one that says nothing is that of a caller who waits for an answer.

/** For whom work is done for which no caller waits. */
export type Asker = {
  /** Such as one membership's watchlist. */
  readonly name: string;
  /** Counts a call before it is made; a reason: it may not be made. */
  readonly countCall: () => Why | null;
};

const ASKERS = new WeakMap<AbortSignal, () => Asker | null>();

const UNCOUNTED = (): null => null;

/**
 * A signal for work for which no caller waits: whoever it is for shares with the others like it
 * what callers leave of a provider. `countCall` may hold it to a number of calls.
 */
export function signalFor(
  name: string,
  signal: AbortSignal,
  countCall: Asker['countCall'] = UNCOUNTED,
): AbortSignal {
  const asker = { name, countCall };
  return signalAskedBy(() => asker, signal);
}

/** The same for work that several may come to wait for: who it is for may change meanwhile. */
export function signalAskedBy(asker: () => Asker | null, signal: AbortSignal): AbortSignal {
  const own = AbortSignal.any([signal]);
  ASKERS.set(own, asker);
  return own;
}

/** For whom the work of a signal is done; `null`: for a caller who waits. */
export function askerOf(signal: AbortSignal): Asker | null {
  const asker = ASKERS.get(signal);
  return asker === undefined ? null : asker();
}

/** A port whose methods answer one reading each, under its name; it may hold lists beside them. */
type ReadingPort<P extends string, M> = {
  readonly [K in keyof M]: M[K] extends readonly unknown[]
    ? M[K]
    : (...asked: never) => Promise<Partly<unknown, P>>;
};

/** The same port for one request: what it did not answer before the signal is unread. */
export function portInTime<P extends string, M extends ReadingPort<P, M>>(
  name: P,
  port: M,
  signal: AbortSignal,
): M {
  const methods = Object.entries<unknown>(port).map(([method, ask]) => {
    if (typeof ask !== 'function') return [method, ask];
    return [
      method,
      (...asked: unknown[]) => readInTime(name, () => ask.apply(port, asked), signal),
    ];
  });
  return Object.fromEntries(methods);
}

async function readInTime<P extends string, R>(
  port: P,
  ask: () => Promise<R>,
  signal: AbortSignal,
): Promise<R | Unread<P>> {
  const answer = await inTime(ask, signal);
  return answer === OUT_OF_TIME ? unread(port, STOPPED_BY_TIME) : answer;
}

/**
 * The same for a port that mostly answers from memory: an answer that is there within a few
 * microtasks needs no signal, and making one costs more than such an answer.
 */
export async function readSoonOrInTime<P extends string, R>(
  port: P,
  ask: () => Promise<R>,
  asked: { readonly signal: AbortSignal },
): Promise<R | Unread<P>> {
  const asking = ask();
  let answered: R | typeof NOT_YET = NOT_YET;
  // A fault is met below, where the asking itself is awaited.
  asking.then(
    (answer) => {
      answered = answer;
    },
    () => undefined,
  );
  for (let step = 0; step < MICROTASKS_MAX && answered === NOT_YET; step += 1) await null;
  return answered === NOT_YET ? await readInTime(port, () => asking, asked.signal) : answered;
}

const NOT_YET = Symbol('not yet');
/** As many steps as an answer takes that is passed on by a few wrappers of its port. */
const MICROTASKS_MAX = 12;

// For readings that each request asks for and that are mostly known: a promise of what is at hand
// costs more than to look at it. A caller that awaits it need not tell the two apart.

/** An answer, or the promise of one. */
export type Soon<T> = T | Promise<T>;

/** Goes on with an answer as soon as it is there: at once where it is there now. */
export function whenThere<T, U>(answer: Soon<T>, goOn: (value: T) => Soon<U>): Soon<U> {
  return answer instanceof Promise ? answer.then(goOn) : goOn(answer);
}

// A long list is worked through in slices, so that whoever else is served waits for one alone.

/** Slices of a list, each in a tick of the event loop of its own. */
export async function* slicesByTick<T>(
  list: readonly T[],
  size: number,
): AsyncGenerator<readonly T[]> {
  for (const some of slices(list, size)) {
    yield some;
    await new Promise<void>((next) => setImmediate(next));
  }
}

/** Work that goes on. `stop` tells it to end, and waits until it has. */
export type BoundedTask = { readonly stop: () => Promise<void> };

/** Begins work at once; it has to end soon after the signal. */
export function untilStopped(work: (signal: AbortSignal) => Promise<unknown>): BoundedTask {
  const ended = new AbortController();
  const running = work(ended.signal);
  return {
    stop: async () => {
      ended.abort();
      await running;
    },
  };
}

/** How a run of a job ended; `idle`: it found nothing to do. */
export type RunEnd = 'done' | 'idle' | 'failed';

/** Does one run of a job where somebody looks at how long it takes and how it ends. */
export type WatchRun = <T>(run: () => Promise<T>, endOf: (result: T) => RunEnd) => Promise<T>;

/** Nobody looks. */
export const WITHOUT_WATCH: WatchRun = (run) => run();

/** The pace of rounds, and who hears of what went wrong in one. */
export type RoundPace<W> = {
  /** The pause after each round. */
  readonly everyS: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Hears of a lasting fault once, not at every round. */
  readonly onFault: (why: W) => void;
  /** A bug ends its round alone. */
  readonly onBug: (fault: unknown) => void;
  readonly watch?: WatchRun;
};

const MS_PER_S = 1_000;

/** Round after round until it is stopped. A round gives why it could not be done, or `null`. */
export function repeatRounds<W extends Pick<Why, 'reason'>>(
  { everyS, sleep, onFault, onBug, watch = WITHOUT_WATCH }: RoundPace<W>,
  round: (signal: AbortSignal) => Promise<W | null>,
): BoundedTask {
  return untilStopped(async (signal) => {
    let before: string | null = null;
    while (!signal.aborted) {
      try {
        const why = await watch(() => round(signal), endOfRound);
        if (why !== null && why.reason !== before) onFault(why);
        before = why === null ? null : why.reason;
      } catch (error) {
        onBug(error);
      }
      await sleep(everyS * MS_PER_S, signal);
    }
  });
}

function endOfRound(why: object | null): RunEnd {
  return why === null ? 'done' : 'failed';
}
