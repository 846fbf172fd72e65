// Answers /api/v1/watchlist. Whose watchlist it is follows from the key alone.

import { describeMisform } from '../../chain/address.ts';
import { formatIsoTime } from '../../chain/time.ts';
import type { Caller } from '../../contract/caller.ts';
import { badInput, type Refusal } from '../../contract/refusals.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { given, present } from '../../evidence/measure.ts';
import { decided, seen, Unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type Finding,
  type PartStanding,
  WATCH_PARTS,
  type WatchBounds,
  type WatchChange,
  type Watched,
  type Watchlist,
  type WatchPart,
} from '../../ports/watchlist/watchlist.ts';
import { listSubject } from '../sanctions/direct-check.ts';
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
    if (typeof known !== 'string') return known;
    const added = await desk.watchlist.add(membership_id, known, desk.watchedMax[plan]);
    if (added instanceof Unread) return watchAddress.reply(503, unavailable(added.why));
    if (added.value === 'full') return watchAddress.reply(409, { error: FULL });
    const shown = watchedShown(added.value.watched);
    return added.value.added ? watchAddress.reply(201, shown) : watchAddress.reply(200, shown);
  };
}

/** What is said where a plan watches as many as it may. */
export const FULL = 'This membership watches as many addresses as its plan does.';

/** The address that a text names, as it is watched: one of a known form. */
export function addressOf(text: string): string | Refusal {
  const subject = listSubject(text);
  if (subject?.recognised === true) return subject.address;
  const misform = describeMisform(text);
  return badInput([why(misform === null ? 'form_not_recognised' : misform).reason]);
}

export function unwatchAddressHandler(desk: WatchDesk): PlainHandler<typeof unwatchAddress> {
  return async ({ params: { id } }, _asked, caller) => {
    const removed = await desk.watchlist.remove(memberOf(caller).membership_id, id);
    if (removed instanceof Unread) return unwatchAddress.reply(503, unavailable(removed.why));
    if (!removed.value) return unwatchAddress.reply(404, { error: UNKNOWN });
    return unwatchAddress.reply(200, { removed: id });
  };
}

/** What is said of an id that is nobody's, and of one that is another's. */
export const UNKNOWN = 'This membership watches nothing under this id.';

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

/** A watched address as routes and pages show it. */
export function watchedShown({ id, address, added_at, parts }: Watched) {
  return {
    id,
    address,
    added_at: formatIsoTime(added_at),
    parts: present(WATCH_PARTS.map((part) => partShown(part, parts[part]))),
  };
}

function partShown(part: WatchPart, standing: PartStanding | undefined) {
  if (standing === undefined) return null;
  const { findings, version, read_at, not_read } = standing;
  return {
    part,
    found: findings === null ? null : findings.map(findingShown),
    version,
    read_at: read_at === null ? null : formatIsoTime(read_at),
    not_read,
  };
}

/** A change as routes, streams and pages show it, without its number. */
export function changeShown({ seq: _, before, after, at, not_read, ...change }: WatchChange) {
  return {
    ...change,
    before: before === null ? null : before.map(findingShown),
    after: after.map(findingShown),
    not_read: [...not_read],
    at: formatIsoTime(at),
  };
}

function findingShown({ source, address, entity, ref, detail }: Finding) {
  return { source, address, entity, ref, detail };
}
