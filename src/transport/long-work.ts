// Answers one question: how does work go on after the request that began it has been answered?
// In this process, within its bounds; the store tells any process what became of it.

import type { Caller } from '../contract/caller.ts';
import type { LongRoute } from '../contract/long.ts';
import { Refusal } from '../contract/refusals.ts';
import { type Reading, Unread } from '../evidence/reading.ts';
import type { OwnWork, Work, WorkState, WorkStore } from '../ports/work/work-store.ts';
import type { AnyHandler, Log } from './mounted.ts';
import { describe } from './refusing.ts';

/** Does the work. It stops when the signal says so. */
export type DoWork = (body: unknown, signal: AbortSignal) => Promise<unknown>;

/** What long work rests on. `heardEachMs`: how often whoever works says that it goes on. */
export type LongParts = {
  readonly work: WorkStore;
  readonly log: Log;
  readonly heardEachMs: number;
};

const RETRY_AFTER_S = '2';
const WORDS: { readonly [state in WorkState]: string | null } = {
  running: null,
  done: null,
  failed: 'It failed; the log of the service has its id.',
  cancelled: 'It was cancelled.',
  lost: 'Whoever worked on it is gone; what it came to is not known. Begin it again.',
};

/** The handlers of declared work: of its beginning, its state and its cancelling. */
export function longHandlers(long: LongRoute, run: DoWork, parts: LongParts) {
  const { begin, poll, cancel, bounds } = long;
  const { work } = parts;
  const underWay = new Map<string, AbortController>();
  const ownOf = (params: unknown, caller: Caller): OwnWork => {
    return { id: String(Object(params).id), route: begin.name, owner: ownerOf(caller) };
  };
  const begun: AnyHandler = async ({ body }, _asked, caller) => {
    const own = ownOf({ id: crypto.randomUUID() }, caller);
    const noted = await work.begin(own, bounds);
    if (noted instanceof Unread) return busy('Work cannot be noted at the moment.');
    if (noted.value === null) {
      return busy('As much of this work as may be is under way or kept; cancel some, or wait.');
    }
    const controller = new AbortController();
    underWay.set(own.id, controller);
    goOn(own.id, controller, () => run(body, controller.signal), long, parts).finally(() =>
      underWay.delete(own.id),
    );
    const location = `${begin.path}/${own.id}`;
    const headers = { location, 'retry-after': RETRY_AFTER_S };
    return begin.reply(202, shown(noted.value), headers);
  };
  const told =
    (route: LongRoute['poll'], ask: (own: OwnWork) => ReturnType<WorkStore['find']>): AnyHandler =>
    async ({ params }, _asked, caller) => {
      const found: Reading<Work | null, never> = await ask(ownOf(params, caller));
      if (found instanceof Unread) return busy('Work cannot be looked up at the moment.');
      if (found.value !== null) return route.reply(200, shown(found.value));
      return route.reply(404, { error: 'No work of yours has this id here.' });
    };
  return {
    begin: begun,
    poll: told(poll, work.find),
    cancel: told(cancel, async (own) => {
      const ended = await work.cancel(own);
      if (!(ended instanceof Unread) && ended.value !== null) underWay.get(own.id)?.abort();
      return ended;
    }),
  };
}

function busy(error: string): Refusal {
  return new Refusal('overloaded', { error }, { 'retry-after': RETRY_AFTER_S });
}

// One that was cancelled elsewhere hears of it when it says that it goes on.
async function goOn(
  id: string,
  controller: AbortController,
  run: () => Promise<unknown>,
  { result, bounds }: LongRoute,
  { work, log, heardEachMs }: LongParts,
): Promise<void> {
  const stop = () => controller.abort();
  const deadline = setTimeout(stop, bounds.deadlineMs);
  const heard = setInterval(async () => {
    const goes = await work.goesOn(id);
    if (!(goes instanceof Unread) && !goes.value) stop();
  }, heardEachMs);
  try {
    const value = result.parse(await run());
    controller.signal.throwIfAborted();
    await work.end(id, 'done', JSON.stringify(value));
  } catch (fault) {
    log.error({ work: id, fault: describe(fault) }, 'work failed');
    await work.end(id, 'failed', null);
  } finally {
    clearTimeout(deadline);
    clearInterval(heard);
  }
}

function shown({ id, state, began_at, ended_at, result }: Work) {
  return {
    id,
    state,
    began_at: Math.floor(began_at),
    ended_at: ended_at === null ? null : Math.floor(ended_at),
    result: result === null ? null : parsed(result),
    reason: WORDS[state],
  };
}

function ownerOf(caller: Caller): string {
  switch (caller.kind) {
    case 'member':
    case 'session':
      return `member:${caller.membership_id}`;
    case 'partner':
      return `partner:${caller.key_id}`;
    case 'token':
      return `token:${caller.token_id}`;
    case 'operator':
    case 'nobody':
      return caller.kind;
  }
}

function parsed(json: string): unknown {
  const value: unknown = JSON.parse(json);
  return value;
}
