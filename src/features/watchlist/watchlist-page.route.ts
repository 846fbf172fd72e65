// Answers /watchlist: what a member sees of its watchlist, and what it changes of it.
// Whose it is follows from the session alone.

import type { Caller } from '../../contract/caller.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { map, type Reading, seen, Unread } from '../../evidence/reading.ts';
import type { PlanName } from '../../ports/access/membership-store.ts';
import type { Watchlist } from '../../ports/watchlist/watchlist.ts';
import { addressOf, changeShown, FULL, UNKNOWN, watchedShown } from './shown.ts';
import {
  type DrawWatchlist,
  unwatchForm,
  watchForm,
  watchlistPage,
} from './watchlist-page.contract.ts';

/** What the pages rest on. `planOf` is told the membership of a session, which is always there. */
export type WatchPageDesk = {
  readonly watchlist: Watchlist;
  readonly planOf: (membershipId: string) => Promise<Reading<PlanName, never>>;
  readonly watchedMax: { readonly [P in PlanName]: number };
};

const PATH = '/watchlist';
const TITLE = 'Watchlist';
/** So many changes are shown, the newest. */
const CHANGES_SHOWN = 50;
const NOT_WATCHED = 'The address is not watched';
const NO_STORE =
  'The watchlist cannot be read or changed just now. This is a fault of the service; try again ' +
  'later.';

function sessionOf(caller: Caller): Extract<Caller, { kind: 'session' }> {
  if (caller.kind !== 'session') throw new Error('the guard let in a browser without a session');
  return caller;
}

export function watchlistPageHandler(
  desk: WatchPageDesk,
  draw: DrawWatchlist,
): PlainHandler<typeof watchlistPage> {
  return async ({ query: { done } }, _asked, caller) => {
    const { membership_id, form_token } = sessionOf(caller);
    const [listed, newest, plan] = await Promise.all([
      desk.watchlist.list(membership_id, null),
      desk.watchlist.newest(membership_id, CHANGES_SHOWN),
      desk.planOf(membership_id),
    ]);
    if (listed instanceof Unread) {
      return watchlistPage.reply(503, draw.message(TITLE, listed.why.reason));
    }
    if (plan instanceof Unread) {
      return watchlistPage.reply(503, draw.message(TITLE, plan.why.reason));
    }
    const changes =
      newest instanceof Unread
        ? { unread: newest.why.reason }
        : seen(map(newest, (all) => all.map((one) => ({ seq: one.seq, ...changeShown(one) }))));
    const shown = {
      form_token,
      done: done === undefined ? null : done,
      watched: seen(map(listed, (all) => all.map(watchedShown))),
      whole: listed.checked,
      watched_max: desk.watchedMax[plan.value],
      changes,
    };
    return watchlistPage.reply(200, draw.whole(shown));
  };
}

export function watchFormHandler(
  desk: WatchPageDesk,
  draw: DrawWatchlist,
): PlainHandler<typeof watchForm> {
  return async ({ body: { address } }, _asked, caller) => {
    const { membership_id } = sessionOf(caller);
    const known = addressOf(address.trim());
    if (typeof known !== 'string') {
      return watchForm.reply(400, draw.message(NOT_WATCHED, known.reason));
    }
    const plan = await desk.planOf(membership_id);
    if (plan instanceof Unread) return watchForm.reply(503, draw.message(NOT_WATCHED, NO_STORE));
    const added = await desk.watchlist.add(membership_id, known, desk.watchedMax[plan.value]);
    if (added instanceof Unread) return watchForm.reply(503, draw.message(NOT_WATCHED, NO_STORE));
    if (added.value === 'full') return watchForm.reply(409, draw.message(NOT_WATCHED, FULL));
    return watchForm.reply(303, undefined, { location: `${PATH}?done=added` });
  };
}

export function unwatchFormHandler(
  { watchlist }: WatchPageDesk,
  draw: DrawWatchlist,
): PlainHandler<typeof unwatchForm> {
  return async ({ params: { id } }, _asked, caller) => {
    const removed = await watchlist.remove(sessionOf(caller).membership_id, id);
    if (removed instanceof Unread) return unwatchForm.reply(503, draw.message(TITLE, NO_STORE));
    if (!removed.value) return unwatchForm.reply(404, draw.message(TITLE, UNKNOWN));
    return unwatchForm.reply(303, undefined, { location: `${PATH}?done=removed` });
  };
}
