// Was the store put back to an earlier state? Each round compares it with what this machine saw
// last, and then keeps what it sees now.

import { HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { type Reading, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  type EndedAccess,
  SEEN_KEPT_S,
  type SeenStore,
  type SeenStoreFile,
  type StoreMarks,
  type StoreMarksPort,
  type StoreRestore,
} from '../../ports/store-marks.ts';

/** An end of access is kept here within so long. */
export const WATCHED_EACH_S = 5;
/** A mark is left so often. */
export const MARK_EACH_S = 60;
/** What ended before the mark is in the file, but for transactions that were under way then. */
const UNDER_WAY_MAX_S = HOUR_S;

export type WatchParts = {
  readonly marks: StoreMarks;
  readonly seen: SeenStoreFile;
  readonly makeId: () => string;
  readonly now: () => UnixSeconds;
};

/** Whether this round found a store that was put back. */
type Round = { readonly isPutBack: boolean };

/** Compares and keeps once. What ended once stays in the file, whatever the store says. */
export async function watchOnce({ marks, seen, makeId, now }: WatchParts): Promise<Round | Why> {
  const before = await seen.read();
  if (before instanceof Unread) return before.why;
  const { mark } = before.value;
  const lost = mark === null ? null : await marks.noteLost(mark);
  if (lost instanceof Unread) return lost.why;
  const isPutBack = lost !== null && lost.value === true;
  const ended = await marks.ended(mark === null ? 0 : mark.at - UNDER_WAY_MAX_S);
  if (ended instanceof Unread) return ended.why;
  const merged = mergeEnded(before.value.ended, ended.value, now() - SEEN_KEPT_S);
  const isDue = mark === null || isPutBack || now() - mark.at >= MARK_EACH_S || now() < mark.at;
  let next: SeenStore['mark'] = mark;
  if (isDue) {
    const id = makeId();
    const at = await marks.mark(id);
    if (at instanceof Unread) return at.why;
    next = { id, at: at.value };
  }
  if (isDue || merged.length !== before.value.ended.length) {
    const kept = await seen.write({ mark: next, ended: merged });
    if (kept instanceof Unread) return kept.why;
  }
  return { isPutBack };
}

function mergeEnded(
  known: readonly EndedAccess[],
  found: readonly EndedAccess[],
  after: UnixSeconds,
): EndedAccess[] {
  const nameOf = ({ what, id }: EndedAccess) => `${what} ${id}`;
  const all = new Map(known.map((one) => [nameOf(one), one]));
  for (const one of found) {
    const before = all.get(nameOf(one));
    // A membership can be opened and end anew; a key ends once, and the first word stands.
    const isLater = before === undefined || one.ended_at > before.ended_at;
    if (before === undefined || (isLater && one.what === 'membership')) all.set(nameOf(one), one);
  }
  return [...all.values()].filter(({ ended_at }) => ended_at > after);
}

/** What is known of a store that was put back. */
export type RestoreView = {
  /** Whether this machine keeps a mark of the last days, without which it cannot tell. */
  readonly isWatched: boolean;
  readonly restores: readonly StoreRestore[];
  /** What ended after the state that is held, and opens again. */
  readonly open_again: readonly EndedAccess[];
};

/** Looks without keeping anything, but that it was put back. */
export async function viewRestores({
  marks,
  seen,
}: Pick<WatchParts, 'marks' | 'seen'>): Promise<RestoreView | Why> {
  const file = await seen.read();
  if (file instanceof Unread) return file.why;
  const { mark, ended } = file.value;
  const lost: Reading<boolean, StoreMarksPort> | null =
    mark === null ? null : await marks.noteLost(mark);
  if (lost instanceof Unread) return lost.why;
  const restores = await marks.restores();
  if (restores instanceof Unread) return restores.why;
  const now = await marks.now();
  if (now instanceof Unread) return now.why;
  const isWatched = mark !== null && mark.at > now.value - SEEN_KEPT_S;
  const open = await marks.openAgain(ended);
  if (open instanceof Unread) return open.why;
  return { isWatched, restores: restores.value, open_again: open.value };
}
