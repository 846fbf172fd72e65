// Equal readings under way are one, and a live reading holds for a while after it began: the same
// question costs no second call. Each caller gets what it would have got alone, or is told that it
// was not read in its time; whoever leaves ends the reading for nobody else.

import { setMaxListeners } from 'node:events';
import { map, Part, type Partly, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { ReasonCode, Why } from '../../evidence/reasons.ts';
import { signalAskedBy } from '../../evidence/waiting.ts';
import { attempt, BudgetSpent, type CallBudget, withBudget } from './provider.ts';

/** The bounds of what is held, and a clock in milliseconds that does not go back. */
type HoldBounds = {
  readonly entriesMax: number;
  readonly bytesMax: number;
  readonly nowMs: () => number;
};

type Holding<R> = HoldBounds & {
  /**
   * How long a result holds from the moment at which its reading began; 0: not at all.
   * `wasStopped`: the last caller left before its end.
   */
  readonly holdMs: (result: R, wasStopped: boolean) => number;
  /** About how many bytes it takes. */
  readonly bytesOf: (result: R) => number;
  /**
   * Whether a result says how far the limits of its first caller went. It is no answer for others,
   * who then ask themselves.
   */
  readonly isCutShort: (result: R) => boolean;
  /** The key that finds the result; without it, the key that was asked for. */
  readonly heldUnder?: (key: string, result: R) => string;
};

/** Readings of one kind, by key. */
export type SharedReadings<R> = {
  /**
   * The reading of a key: the held one, the one under way, or the one that `work` makes. Each
   * caller pays for the calls that are made while it waits. Throws what `work` throws, and
   * `BudgetSpent` for a caller whose own budget ended before the reading.
   */
  readonly ask: (
    key: string,
    budget: CallBudget,
    work: (budget: CallBudget) => Promise<R>,
  ) => Promise<R>;
  /** The held reading, if there is one. */
  readonly find: (key: string) => { readonly result: R } | null;
};

/** A reading is joined for so long after it began: what it saw first is no older than that. */
const JOINED_MS_MAX = 30_000;

/** Shares and holds readings. */
export function sharedReadings<R>(holding: Holding<R>): SharedReadings<R> {
  const held = heldResults<R>(holding);
  const underWay = new Map<string, SharedWork<R>>();

  const begin = (key: string, work: (budget: CallBudget) => Promise<R>): SharedWork<R> => {
    const began = holding.nowMs();
    const shared: SharedWork<R> = shareWork(work, began, {
      onDoomed: () => {
        if (underWay.get(key) === shared) underWay.delete(key);
      },
      onResult: (result, wasStopped) => {
        const { holdMs, heldUnder } = holding;
        const under = heldUnder === undefined ? key : heldUnder(key, result);
        held.hold(under, result, began + holdMs(result, wasStopped));
      },
    });
    underWay.set(key, shared);
    return shared;
  };

  return {
    find: held.find,
    ask: async (key, budget, work) => {
      for (;;) {
        const known = held.find(key);
        if (known !== null) return known.result;
        const other = underWay.get(key);
        budget.signal.throwIfAborted();
        if (other === undefined || holding.nowMs() - other.began >= JOINED_MS_MAX) {
          return await begin(key, work).join(budget);
        }
        const result = await other.join(budget);
        if (!holding.isCutShort(result)) return result;
      }
    },
  };
}

type HeldResult<R> = { readonly result: R; readonly until: number; readonly bytes: number };

/** Results by key. The oldest goes first where there is no room. */
function heldResults<R>({ entriesMax, bytesMax, nowMs, bytesOf }: Holding<R>) {
  const all = new Map<string, HeldResult<R>>();
  let bytesHeld = 0;
  const drop = (key: string): void => {
    const one = all.get(key);
    if (one === undefined) return;
    all.delete(key);
    bytesHeld -= one.bytes;
  };
  return {
    find: (key: string): { readonly result: R } | null => {
      const one = all.get(key);
      if (one === undefined) return null;
      if (nowMs() < one.until) return one;
      drop(key);
      return null;
    },
    hold: (key: string, result: R, until: number): void => {
      const now = nowMs();
      if (until <= now) return;
      const before = all.get(key);
      if (before !== undefined && before.until > until) return;
      const bytes = bytesOf(result) + CHAR_BYTES * key.length;
      if (bytes > bytesMax) return;
      drop(key);
      all.set(key, { result, until, bytes });
      bytesHeld += bytes;
      for (const [oldest, one] of all) {
        const isOver = all.size > entriesMax || bytesHeld > bytesMax;
        if (!isOver && one.until > now) break;
        drop(oldest);
      }
    },
  };
}

type SharedWork<R> = {
  readonly began: number;
  readonly join: (budget: CallBudget) => Promise<R>;
};

type Waiter<R> = {
  readonly budget: CallBudget;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
};

type WorkEnd<R> = {
  /** The work ends, or nobody who came so far can pay for more of it: others begin anew. */
  readonly onDoomed: () => void;
  readonly onResult: (result: R, wasStopped: boolean) => void;
};

/** Begins work that those who join wait for together. The first of them has to join at once. */
function shareWork<R>(
  work: (budget: CallBudget) => Promise<R>,
  began: number,
  { onDoomed, onResult }: WorkEnd<R>,
): SharedWork<R> {
  const waiters = new Map<Waiter<R>, () => void>();
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const leave = (waiter: Waiter<R>): void => {
    waiters.get(waiter)?.();
    waiters.delete(waiter);
  };
  const budget: CallBudget = {
    get asker() {
      const askers = [...waiters.keys()].map((one) => one.budget.asker);
      const [first] = askers;
      return first === undefined || askers.includes(null) ? null : first;
    },
    signal: ended.signal,
    spend: () => {
      ended.signal.throwIfAborted();
      const failures = [...waiters.keys()].flatMap((waiter) => {
        const failure = failureOf(waiter.budget.spend);
        return failure === null ? [] : [{ waiter, failure }];
      });
      const [first] = failures;
      if (first !== undefined && failures.length === waiters.size) {
        onDoomed();
        throw first.failure;
      }
      for (const { waiter, failure } of failures) {
        leave(waiter);
        waiter.reject(failure);
      }
    },
    end: () => undefined,
  };
  const settle = (tell: (waiter: Waiter<R>) => void): void => {
    onDoomed();
    for (const waiter of [...waiters.keys()]) {
      leave(waiter);
      tell(waiter);
    }
  };
  // The work begins once its first caller is there, who pays for it.
  void Promise.resolve()
    .then(() => work(budget))
    .then(
      (result) => {
        onResult(result, ended.signal.aborted);
        settle(({ resolve }) => resolve(result));
      },
      (error: unknown) => settle(({ reject }) => reject(error)),
    );
  return {
    began,
    join: (own) =>
      new Promise<R>((resolve, reject) => {
        const waiter = { budget: own, resolve, reject };
        const stop = (): void => {
          if (waiters.size === 1) {
            // Nobody else waits: the work ends, and says to its last caller how far it came.
            onDoomed();
            ended.abort(own.signal.reason);
            return;
          }
          leave(waiter);
          reject(own.signal.reason);
        };
        own.signal.addEventListener('abort', stop, { once: true });
        waiters.set(waiter, () => own.signal.removeEventListener('abort', stop));
      }),
  };
}

function failureOf(spend: () => void): BudgetSpent | null {
  try {
    spend();
    return null;
  } catch (error) {
    if (error instanceof BudgetSpent) return error;
    throw error;
  }
}

// Which readings hold, and how much room they take.

/** Reasons by which a reading says how far a caller's own limits went. */
const CUT_SHORT: readonly ReasonCode[] = [
  'time_budget',
  'arrivals_out_of_time',
  'signal_calls_spent',
];
/** Reasons of an unread fact that a provider answered: it was asked, and knows of none. */
const ANSWERED: readonly ReasonCode[] = ['creation_not_found'];

type AnyReading = Partly<unknown, never>;
/** The result of a method: a reading, or one for each thing asked. */
type HeldResultOf = AnyReading | ReadonlyMap<string, AnyReading>;

function readingsIn(result: HeldResultOf): readonly AnyReading[] {
  return isReading(result) ? [result] : [...result.values()];
}

function isReading(value: unknown): value is AnyReading {
  return value instanceof Read || value instanceof Part || value instanceof Unread;
}

/** Whether a reading says no more than that its caller's time was over. */
export function isCutShort(result: HeldResultOf): boolean {
  return readingsIn(result).some(
    (one) => !(one instanceof Read) && CUT_SHORT.includes(one.why.code),
  );
}

/** Whether a reading may hold: whatever a source answered, a part too, and no silence. */
export function mayHold(result: HeldResultOf): boolean {
  if (isCutShort(result)) return false;
  return readingsIn(result).every((one) => {
    return !(one instanceof Unread) || ANSWERED.includes(one.why.code);
  });
}

const OVERHEAD_BYTES = 64;
const CHAR_BYTES = 2;

/** About how many bytes a value takes: its texts, and something for each object and member. */
export function roughBytes(value: unknown): number {
  if (typeof value === 'string') return OVERHEAD_BYTES / 4 + CHAR_BYTES * value.length;
  if (typeof value !== 'object' || value === null) return OVERHEAD_BYTES / 4;
  let bytes = OVERHEAD_BYTES;
  if (isReading(value)) {
    const inner = rowsSeen(map(value, (known) => [roughBytes(known)]));
    return inner === null ? bytes : bytes + inner[0];
  }
  const members = value instanceof Map || value instanceof Set ? value : Object.values(value);
  for (const member of members) bytes += roughBytes(member);
  return bytes;
}

/** The entries and bytes of one method's held readings. */
const METHOD_BOUNDS = { entriesMax: 5_000, bytesMax: 16 * 2 ** 20 };

/** How long live readings hold; 0: they are shared alone. */
export type LiveHolding = Pick<HoldBounds, 'nowMs'> & { readonly heldMs: number };

/** The same, and how long one caller waits for one. */
export type PortHolding = LiveHolding & { readonly timeMs: number };

type Ask<A extends readonly unknown[], R> = (asked: A, signal: AbortSignal) => Promise<R>;

/**
 * A method of a port whose equal readings are shared and held. `silent` is the answer to a caller
 * whose time was over before that of others.
 */
export function heldMethod<A extends readonly unknown[], R extends HeldResultOf>(
  { timeMs, heldMs, nowMs }: PortHolding,
  ask: Ask<A, R>,
  silent: (reason: Why, asked: A) => NoInfer<R>,
): Ask<A, R> {
  const shared = sharedReadings<R>({
    ...METHOD_BOUNDS,
    nowMs,
    holdMs: (result, wasStopped) => (!wasStopped && mayHold(result) ? heldMs : 0),
    bytesOf: roughBytes,
    isCutShort,
  });
  return async (asked, signal) => {
    const key = keyOf(asked);
    const known = shared.find(key);
    if (known !== null) return known.result;
    const limits = { timeMs, callsMax: Number.POSITIVE_INFINITY, signal };
    const told = await attempt(BudgetSpent, () =>
      withBudget(limits, (budget) =>
        shared.ask(key, budget, (of) =>
          ask(
            asked,
            signalAskedBy(() => of.asker, of.signal),
          ),
        ),
      ),
    );
    return told instanceof BudgetSpent ? silent(told.why, asked) : told;
  };
}

/** The name of a question among those of one method. */
function keyOf(asked: readonly unknown[]): string {
  return JSON.stringify(asked, (_, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    if (value instanceof Map || value instanceof Set) return [...value];
    return value;
  });
}
