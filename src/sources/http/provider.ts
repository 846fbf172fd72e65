// A rate for each provider, a rest for one that keeps failing, a budget for each request. A
// question that was not asked never becomes an answer: whatever stops one is thrown.

import { setMaxListeners } from 'node:events';
import { MS_PER_S } from '../../chain/time.ts';
import { type Reading, read, type Unread, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import { type Asker, askerOf } from '../../evidence/waiting.ts';
import type { OnCallEnd } from '../../ports/providers.ts';
import { fetchJson, type JsonAsk, StatusFault } from './fetch.ts';
import { FetchFault } from './outbound-call.ts';
import { UNWATCHED } from './provider-watch.ts';

/** A provider did not give a usable answer, in product text without any part of a URL. */
export class ProviderFault extends Error {
  readonly fault: string;
  /** Whether the same question may soon be answered: a passing failure, unlike a refusal. */
  readonly passing: boolean;
  /** How long it asked to wait, in milliseconds; `null` where it did not. */
  readonly waitMs: number | null;
  constructor(fault: string, kind: 'passing' | 'lasting', waitMs: number | null = null) {
    super(fault);
    this.name = 'ProviderFault';
    this.fault = fault;
    this.passing = kind === 'passing';
    this.waitMs = waitMs;
  }
}

/**
 * The budget of a request ran out: its time, its calls, or what whoever it is for may ask. It is no
 * statement about the provider.
 */
export class BudgetSpent extends Error {
  readonly of: 'time' | 'calls' | 'asker';
  readonly why: Why;
  constructor(of: 'time' | 'calls' | 'asker', reason: Why) {
    super(`the budget of ${of} is spent`);
    this.name = 'BudgetSpent';
    this.of = of;
    this.why = reason;
  }
}

/** Counts a call for whom a signal names; throws `BudgetSpent` where it may not be made. */
export function countCallOf(signal: AbortSignal): void {
  const asker = askerOf(signal);
  const refused = asker === null ? null : asker.countCall();
  if (refused !== null) throw new BudgetSpent('asker', refused);
}

/** A source that is dated by the moment at which it is asked: it has no date of its own. */
export function observation(
  { name, url, simulated }: Pick<Source, 'name' | 'url' | 'simulated'>,
  now: () => number,
): Source {
  return { name, url, as_of: now(), kind: 'observation', simulated };
}

/**
 * The same of what is past, such as a price of last year: it is dated by the moment at which it was
 * asked, and makes no answer older, since it does not change any more.
 */
export function observationOfPast(
  named: Parameters<typeof observation>[0],
  asked_at: number,
): Source {
  return { ...observation(named, () => asked_at), kind: 'table' };
}

/**
 * Runs work, and returns its value, or the failure of the named kind that ended it, so that the
 * caller's types require a look at it. Any other failure is thrown on.
 */
export async function attempt<T, F extends Error>(
  kind: abstract new (...made: never[]) => F,
  work: () => Promise<T>,
): Promise<T | F> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
}

/** The budget of one request for outbound calls. */
export type CallBudget = {
  /** For whom the calls are made; `null`: for a caller who waits for the answer. */
  readonly asker: Asker | null;
  /** Aborted once the time is over, or once nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Counts one call; throws `BudgetSpent` where none is left. */
  readonly spend: () => void;
  /** Lets go of the timer. */
  readonly end: () => void;
};

/**
 * A budget that ends with its time, its calls or the given signal, whichever comes first. Where no
 * caller waits, the calls wait for their turns as long as the signal lets them.
 */
export function callBudget(limits: {
  readonly callsMax: number;
  readonly timeMs: number;
  readonly signal: AbortSignal;
}): CallBudget {
  const { callsMax, timeMs, signal } = limits;
  const asker = askerOf(signal);
  const ended = new AbortController();
  // Every call of the request listens: node would take as many for a leak and print a warning.
  setMaxListeners(0, ended.signal);
  const stop = (): void => ended.abort(new BudgetSpent('time', why('time_budget')));
  const timer = asker === null ? setTimeout(stop, timeMs) : undefined;
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let calls = 0;
  // One for all that are refused: the trace of each would cost more than the call.
  let spent: BudgetSpent | null = null;
  return {
    get asker() {
      return askerOf(signal);
    },
    signal: ended.signal,
    spend: () => {
      ended.signal.throwIfAborted();
      if (calls >= callsMax) {
        spent ??= new BudgetSpent('calls', why('call_budget', { limit: String(callsMax) }));
        throw spent;
      }
      countCallOf(signal);
      calls += 1;
    },
    end: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    },
  };
}

/** The budget of one request for a provider, and the source of its answers. */
export type ProviderTerms = {
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
  readonly callsMax: number;
  readonly simulated: boolean;
};

/** The budget of one request, and the signal of its caller. */
export type CallLimits = Parameters<typeof callBudget>[0];

/** Does work under a budget of its own, which ends with it. */
export async function withBudget<T>(
  limits: CallLimits,
  work: (budget: CallBudget) => Promise<T>,
): Promise<T> {
  const budget = callBudget(limits);
  try {
    return await work(budget);
  } finally {
    budget.end();
  }
}

/** A provider behind a port: its name as a source, and its faults as reasons. */
export type Provider = Pick<Source, 'name' | 'url' | 'simulated'> & {
  /** Unix seconds. */
  readonly now: () => number;
  /** Names it beside its fault where that is more than its name as a source. */
  readonly toReason?: (fault: string) => Why;
};

/**
 * Runs work, and returns its value, or the reason why its port is unread; `toWhy` throws a bug on.
 */
export async function tryReading<R, P extends string>(
  port: P,
  toWhy: (error: unknown) => Why,
  work: () => Promise<R>,
): Promise<R | Unread<P>> {
  try {
    return await work();
  } catch (error) {
    return unread(port, toWhy(error));
  }
}

/**
 * Runs work, and returns its value as read from the provider; a missing answer of the provider is
 * unread.
 */
export function readAnswer<T, P extends string>(
  port: P,
  { now, toReason, ...named }: Provider,
  work: () => Promise<T>,
): Promise<Reading<T, P>> {
  const byName = (fault: string) => why('provider_failed', { provider: named.name, fault });
  const toWhy = (error: unknown) =>
    whyUnanswered(error, toReason === undefined ? byName : toReason);
  return tryReading(port, toWhy, async () =>
    read(await work(), { port, source: observation(named, now) }),
  );
}

/** The same of work under a budget of its own. */
export function readProvider<T, P extends string>(
  port: P,
  provider: Provider,
  limits: CallLimits,
  work: (budget: CallBudget) => Promise<T>,
): Promise<Reading<T, P>> {
  return readAnswer(port, provider, () => withBudget(limits, work));
}

/** How often and how long a passing fault is waited out. */
type RetryBounds = {
  readonly retriesMax: number;
  /** The wait before the first of them, doubled for each further one. */
  readonly backoffMs: number;
  readonly waitMaxMs: number;
  readonly pause: (ms: number) => Promise<void>;
  /** The failure of a wait that is too long. */
  readonly tooLong: (fault: ProviderFault, waitMs: number) => ProviderFault;
};

/** Asks, and asks again after a passing fault, as long as the provider asked to wait at least. */
export async function retry<T>(
  { retriesMax, backoffMs, waitMaxMs, pause, tooLong }: RetryBounds,
  once: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const tried = await attempt(ProviderFault, async () => ({ answer: await once() }));
    if (!(tried instanceof ProviderFault)) return tried.answer;
    if (!tried.passing || tries >= retriesMax) throw tried;
    const backoff = backoffMs * 2 ** tries;
    const wait = tried.waitMs === null ? backoff : Math.max(tried.waitMs, backoff);
    if (wait > waitMaxMs) throw tooLong(tried, wait);
    await pause(wait);
  }
}

/** The limits of calls to a provider. */
export type GuardLimits = {
  /** Its plan's rate. */
  readonly callsPerS: number;
  /** How often a question is asked again after a passing failure. */
  readonly retriesMax: number;
  /** The wait before the first of them, doubled for each further one. */
  readonly backoffMs: number;
  /** After so many failures in a row it is left alone, for so long. */
  readonly failuresMax: number;
  readonly restMs: number;
};

/** The guard of a provider: `ask` runs a request within its rate and the caller's budget. */
export type ProviderGuard = {
  /**
   * Throws `ProviderFault` where the provider gave no answer or is being left alone, `BudgetSpent`
   * where the request may not ask further, and whatever else is a bug.
   */
  readonly ask: <T>(
    budget: CallBudget,
    question: (signal: AbortSignal) => Promise<T>,
  ) => Promise<T>;
};

/** A wait that a provider asks for is kept up to here; past it the question has failed. */
const WAIT_MAX_MS = 10_000;

/**
 * Guards one provider. `nowMs` is a clock that does not go back. `onCallEnd` is called with the end
 * of each call that was made: a provider that is left alone is not called.
 */
export function providerGuard(
  limits: GuardLimits,
  nowMs: () => number,
  onCallEnd: OnCallEnd = UNWATCHED,
): ProviderGuard {
  const turn = turnsAt(limits.callsPerS, nowMs);
  let failures = 0;
  let lastFault = '';
  let restsUntil = 0;

  const once = async <T>(
    budget: CallBudget,
    question: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    if (nowMs() < restsUntil) {
      const { failuresMax, restMs } = limits;
      const rest = `is left alone for ${restMs / MS_PER_S} s after ${failuresMax} failures`;
      throw new ProviderFault(`${rest} in a row, the last of which was: ${lastFault}`, 'lasting');
    }
    budget.spend();
    await turn(budget);
    try {
      const answer = await question(budget.signal);
      failures = 0;
      onCallEnd({ outcome: 'answered' });
      return answer;
    } catch (error) {
      if (budget.signal.aborted) onCallEnd({ outcome: 'stopped' });
      budget.signal.throwIfAborted();
      const fault = asProviderFault(error);
      onCallEnd({ outcome: 'failed', fault: fault.fault });
      failures = fault.passing ? failures + 1 : 0;
      lastFault = fault.fault;
      if (failures >= limits.failuresMax) restsUntil = nowMs() + limits.restMs;
      throw fault;
    }
  };

  return {
    ask: (budget, question) =>
      retry(
        {
          ...limits,
          waitMaxMs: WAIT_MAX_MS,
          pause: (ms) => pause(ms, budget.signal),
          tooLong: (fault) => fault,
        },
        () => once(budget, question),
      ),
  };
}

/** Asks for JSON under a guard. What `read` throws of a fault counts as the provider's. */
export function askJson<T>(
  {
    guard,
    budget,
    ...question
  }: Omit<JsonAsk, 'signal'> & {
    readonly guard: ProviderGuard;
    readonly budget: CallBudget;
  },
  read: (answer: unknown) => T,
): Promise<T> {
  return guard.ask(budget, async (signal) => read(await fetchJson({ ...question, signal })));
}

/** Why a question under a guard has no answer; a bug is thrown on. */
export function whyUnanswered(error: unknown, toReason: (fault: string) => Why): Why {
  if (error instanceof ProviderFault) return toReason(error.fault);
  if (!(error instanceof BudgetSpent)) throw error;
  return error.why;
}

/** The statuses that the same question may outlive. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 520]);

/** The fault that an error of a question means; a bug is thrown on. */
function asProviderFault(error: unknown): ProviderFault {
  if (error instanceof ProviderFault) return error;
  if (error instanceof StatusFault) {
    const limited = error.status === 429 ? 'answered 429: its rate limit is reached' : error.fault;
    const kind = PASSING_STATUSES.has(error.status) ? 'passing' : 'lasting';
    return new ProviderFault(limited, kind, error.retryAfterMs);
  }
  if (error instanceof FetchFault) return new ProviderFault(error.fault, 'passing');
  throw error;
}

/** After a late timer, turns that were missed for so long are given at once. */
const CATCH_UP_MS = 100;
/** Callers are there for so long after their last call. */
const CALLERS_SEEN_MS = 10_000;
/** While callers are there, all others together have every second turn at most. */
const OTHERS_STEPS = 2;

type Turn = Pick<CallBudget, 'asker' | 'signal'>;
type Begin = () => void;

/**
 * Gives each call its turn, evenly apart, since plans count each second. Callers who wait for an
 * answer go first, in the order of their coming. What they leave, the others take by turns: one
 * call of each asker, however many it waits with. Whoever stops waiting gives its turn to the next.
 */
function turnsAt(callsPerS: number, nowMs: () => number): (turn: Turn) => Promise<void> {
  const stepMs = MS_PER_S / callsPerS;
  const callers = new Set<Begin>();
  // In the order in which askers have their next turn.
  const others = new Map<string, Set<Begin>>();
  let freeAt = Number.NEGATIVE_INFINITY;
  let othersFreeAt = Number.NEGATIVE_INFINITY;
  let callersAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const takeOther = (now: number): Begin | undefined => {
    const [first] = others;
    if (first === undefined || othersFreeAt > now) return undefined;
    const [name, waiting] = first;
    const [begin] = waiting;
    others.delete(name);
    if (begin !== undefined) waiting.delete(begin);
    if (waiting.size > 0) others.set(name, waiting);
    const steps = now - callersAt < CALLERS_SEEN_MS ? OTHERS_STEPS : 1;
    othersFreeAt = Math.max(othersFreeAt, now - CATCH_UP_MS) + steps * stepMs;
    return begin;
  };
  const takeNext = (now: number): Begin | undefined => {
    const [caller] = callers;
    if (caller === undefined) return takeOther(now);
    callers.delete(caller);
    return caller;
  };
  const give = (now: number): void => {
    clearTimeout(timer);
    timer = undefined;
    freeAt = Math.max(freeAt, now - CATCH_UP_MS);
    while (freeAt <= now) {
      const begin = takeNext(now);
      if (begin === undefined) break;
      freeAt += stepMs;
      begin();
    }
    if (callers.size === 0 && others.size === 0) return;
    const dueAt = callers.size > 0 ? freeAt : Math.max(freeAt, othersFreeAt);
    timer = setTimeout(() => give(Math.max(nowMs(), dueAt)), dueAt - now);
  };
  const wait = (asker: Asker | null): Set<Begin> => {
    if (asker === null) return callers;
    const known = others.get(asker.name);
    if (known !== undefined) return known;
    const waiting = new Set<Begin>();
    others.set(asker.name, waiting);
    return waiting;
  };

  return async ({ asker, signal }) => {
    signal.throwIfAborted();
    const now = nowMs();
    if (asker === null) callersAt = now;
    if (timer === undefined) {
      // A rate that nobody used is no credit.
      freeAt = Math.max(freeAt, now);
      othersFreeAt = Math.max(othersFreeAt, now);
    }
    await new Promise<void>((resolve, reject) => {
      const waiting = wait(asker);
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.delete(begin);
        if (asker !== null && waiting.size === 0) others.delete(asker.name);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.add(begin);
      if (timer === undefined || asker === null) give(now);
    });
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms <= 0) return;
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
