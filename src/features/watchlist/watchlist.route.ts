// Answers /api/v1/watchlist. Whose watchlist it is follows from the key alone.

import type { Caller } from '../../contract/caller.ts';
import { badInput } from '../../contract/refusals.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { given } from '../../evidence/measure.ts';
import { decided, seen, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { WatchBounds, Watchlist } from '../../ports/watchlist/watchlist.ts';
import { addressOf, changeShown, FULL, UNKNOWN, watchedShown } from './shown.ts';
import {
  CHANGES_DEFAULT,
  unwatchAddress,
  watchAddress,
  watchlist,
  watchlistChanges,
} from './watchlist.contract.ts';

type Plan = Extract<Caller, { kind: 'member' }>['plan'];

/** What the routes rest on. */
export type WatchDesk = {
  readonly watchlist: Watchlist;
  readonly watchedMax: { readonly [P in Plan]: number };
};

/** What a reader of the changes must know. */
const CAVEAT =
  'A change tells what a look at a list, a table or two hops of transfers found that the look ' +
  'before did not, or found no more; each with its version. What could not be read is named in ' +
  'not_read and changes nothing: an address of which little is told was not thereby shown to be ' +
  'anything.';

function memberOf(caller: Caller): Extract<Caller, { kind: 'member' }> {
  if (caller.kind !== 'member') throw new Error('a watchlist needs a membership');
  return caller;
}

function unavailable({ reason }: Why) {
  return { error: 'unavailable', reason };
}

export function watchlistHandler(desk: WatchDesk): PlainHandler<typeof watchlist> {
  return async ({ query: { after } }, _asked, caller) => {
    const { membership_id, plan } = memberOf(caller);
    const listed = await desk.watchlist.list(membership_id, after === undefined ? null : after);
    // A page of a longer list is whole as a page: it is full, and names what follows.
    const whole = decided(listed, (all) => all.length > 0);
    if (whole instanceof Unread) return watchlist.reply(503, unavailable(whole.why));
    const page = seen(whole);
    const last = page === null ? undefined : page.at(-1);
    return watchlist.reply(200, {
      watched: given(page).map(watchedShown),
      next_after: listed.checked || last === undefined ? null : last.id,
      watched_max: desk.watchedMax[plan],
      caveat: CAVEAT,
    });
  };
}

export function watchAddressHandler(desk: WatchDesk): PlainHandler<typeof watchAddress> {
  return async ({ body: { address } }, _asked, caller) => {
    const { membership_id, plan } = memberOf(caller);
    const known = addressOf(address);
    if (typeof known !== 'string') return badInput([known.reason]);
    const added = await desk.watchlist.add(membership_id, known, desk.watchedMax[plan]);
    if (added instanceof Unread) return watchAddress.reply(503, unavailable(added.why));
    if (added.value === 'full') return watchAddress.reply(409, { error: FULL });
    const shown = watchedShown(added.value.watched);
    return added.value.added ? watchAddress.reply(201, shown) : watchAddress.reply(200, shown);
  };
}

export function unwatchAddressHandler(desk: WatchDesk): PlainHandler<typeof unwatchAddress> {
  return async ({ params: { id } }, _asked, caller) => {
    const removed = await desk.watchlist.remove(memberOf(caller).membership_id, id);
    if (removed instanceof Unread) return unwatchAddress.reply(503, unavailable(removed.why));
    if (!removed.value) return unwatchAddress.reply(404, { error: UNKNOWN });
    return unwatchAddress.reply(200, { removed: id });
  };
}

export function watchlistChangesHandler(desk: WatchDesk): PlainHandler<typeof watchlistChanges> {
  return async ({ query: { since, limit } }, _asked, caller) => {
    const from = since === undefined ? FROM_THE_FIRST : since;
    const many = limit === undefined ? CHANGES_DEFAULT : limit;
    const read = await desk.watchlist.after(memberOf(caller).membership_id, from, many);
    if (read instanceof Unread) return watchlistChanges.reply(503, unavailable(read.why));
    const { changes, newest, oldest } = read.value;
    const last = changes.at(-1);
    return watchlistChanges.reply(200, {
      changes: changes.map((change) => ({ seq: change.seq, ...changeShown(change) })),
      newest,
      oldest,
      next_since: last === undefined ? newest : last.seq,
      gap: gapOf(from, { newest, oldest }),
      caveat: CAVEAT,
    });
  };
}

/** The number before all changes. */
const FROM_THE_FIRST = 0;

/** What follows a number and is gone; or, of a number ahead of the log, all up to it. */
function gapOf(since: number, { newest, oldest }: WatchBounds) {
  const first = oldest === null ? newest + 1 : oldest;
  if (since > newest) return { from: newest + 1, to: since };
  return since < first - 1 ? { from: since + 1, to: first - 1 } : null;
}
