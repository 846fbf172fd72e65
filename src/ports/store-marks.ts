// Whether the control store was put back to an earlier state, and what had ended since: each
// machine keeps in a file of its own what it saw last.

import { z } from 'zod';
import { DAY_S, type UnixSeconds } from '../chain/time.ts';
import type { Reading } from '../evidence/reading.ts';

/** The name of this port in readings. */
export type StoreMarksPort = 'store_marks';

/** Marks, and what ended, are remembered so long: a backup that is older is not told of. */
export const SEEN_KEPT_S = 40 * DAY_S;

/** Access that was ended. `name` is a key's or token's prefix, or the id of a membership. */
export const endedAccess = z.strictObject({
  what: z.enum(['key', 'token', 'membership']),
  id: z.string(),
  name: z.string(),
  ended_at: z.number(),
});
export type EndedAccess = z.output<typeof endedAccess>;

/** What a machine saw last: its mark, and what had ended by then. */
export const seenStore = z.strictObject({
  mark: z.strictObject({ id: z.string(), at: z.number() }).nullable(),
  ended: z.array(endedAccess),
});
export type SeenStore = z.output<typeof seenStore>;

/** A store that was put back. Times in Unix seconds; `held_to` is null where nothing tells it. */
export type StoreRestore = {
  readonly held_to: UnixSeconds | null;
  readonly seen_to: UnixSeconds;
  readonly noticed_at: UnixSeconds;
  readonly accepted_at: UnixSeconds | null;
  readonly accepted_why: string | null;
};

/** The marks in the control store. */
export type StoreMarks = {
  /** The time of the store. */
  readonly now: () => Promise<Reading<UnixSeconds, StoreMarksPort>>;
  /** Leaves a mark of this name; its time is the store's. */
  readonly mark: (id: string) => Promise<Reading<UnixSeconds, StoreMarksPort>>;
  /** Whether a mark that was left is not there; it is noted that the store was put back. */
  readonly noteLost: (
    mark: NonNullable<SeenStore['mark']>,
  ) => Promise<Reading<boolean, StoreMarksPort>>;
  /** What ended in the last days, and after a time of the store. */
  readonly ended: (since: UnixSeconds) => Promise<Reading<readonly EndedAccess[], StoreMarksPort>>;
  /** Which of these opens again. */
  readonly openAgain: (
    of: readonly EndedAccess[],
  ) => Promise<Reading<readonly EndedAccess[], StoreMarksPort>>;
  /** Each time that it was put back, the newest first. */
  readonly restores: () => Promise<Reading<readonly StoreRestore[], StoreMarksPort>>;
  /** An operator takes the store as it is; how many restores that was about. */
  readonly accept: (
    because: string,
    leftOpen: readonly EndedAccess[],
  ) => Promise<Reading<number, StoreMarksPort>>;
};

/** The file of this machine. It holds no secret. */
export type SeenStoreFile = {
  readonly read: () => Promise<Reading<SeenStore, StoreMarksPort>>;
  readonly write: (seen: SeenStore) => Promise<Reading<true, StoreMarksPort>>;
};
