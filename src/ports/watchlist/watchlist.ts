// Answers one question: which addresses does a membership watch, what was last found of each, and
// what changed? A watchlist belongs to one membership: to another it is not there.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';
import type { NewDispatch } from '../chat/dispatches.ts';

/** The name of this port in readings. */
export type WatchlistPort = 'watchlist';

/** What an address is held against. */
export const WATCH_PARTS = [
  'sanctions_list',
  'other_lists',
  'exchange_labels',
  'flagged_addresses',
  'entity_clusters',
  'hops',
] as const;
export type WatchPart = (typeof WATCH_PARTS)[number];

/** The parts that are tables in memory; the others rest on transfers. */
export type TablePart = Exclude<WatchPart, 'entity_clusters' | 'hops'>;

/** One thing that is on record of an address. */
export type Finding = {
  /** The list, the table, or the chain. */
  readonly source: string;
  /** The address as it stands there; of a path, the listed one at its end. */
  readonly address: string;
  readonly entity: string | null;
  /** The entry, or the transaction. */
  readonly ref: string | null;
  /** Programmes, the role of a label, the path. */
  readonly detail: string | null;
};

/** What a part last found. `findings` is `null` while it was never read. */
export type PartStanding = {
  readonly findings: readonly Finding[] | null;
  readonly version: string | null;
  readonly read_at: UnixSeconds | null;
  /** Why the last screening did not read it to its end; `null` where it did. */
  readonly not_read: string | null;
};

/** The parts that were screened so far. */
export type WatchStanding = { readonly [P in WatchPart]?: PartStanding };

/** A watched address. */
export type Watched = {
  readonly id: string;
  readonly address: string;
  readonly added_at: UnixSeconds;
  readonly parts: WatchStanding;
};

/** What came of a screening: something stood there at the first look, or came, changed, went. */
export const WATCH_CHANGES = ['first_seen', 'entered', 'changed', 'left'] as const;

/** A change to tell. */
export type NewWatchChange = {
  readonly part: WatchPart;
  readonly change: (typeof WATCH_CHANGES)[number];
  readonly before: readonly Finding[] | null;
  readonly after: readonly Finding[];
  readonly version_before: string | null;
  readonly version_after: string;
  readonly not_read: readonly string[];
  readonly simulated: boolean;
  readonly at: UnixSeconds;
};

/** A change under its number, of an address. */
export type WatchChange = NewWatchChange & {
  readonly seq: number;
  readonly watch_id: string;
  readonly address: string;
};

/** Both ends of a membership's changes: `newest` is 0 while there was none. */
export type WatchBounds = { readonly newest: number; readonly oldest: number | null };

/** Changes that follow each other, and both ends when they were read. */
export type WatchChunk = WatchBounds & { readonly changes: readonly WatchChange[] };

/** What can be had again: so many of the newest, and none that is older. */
export const WATCH_CHANGES_KEPT = { changesMax: 10_000, ageMaxS: 90 * 86_400 } as const;
/** The most changes that are read at once. */
export const WATCH_CHANGES_AT_ONCE_MAX = 500;

/** The watchlists, to whom they belong. */
export type Watchlist = {
  /** Adds an address; one that is there stays as it is. `full`: the membership watches as many. */
  readonly add: (
    membershipId: string,
    address: string,
    watchedMax: number,
  ) => Promise<
    Reading<{ readonly watched: Watched; readonly added: boolean } | 'full', WatchlistPort>
  >;
  /** The addresses in the order in which they were added; a part where there are more. */
  readonly list: (
    membershipId: string,
    after: string | null,
  ) => Promise<Partly<readonly Watched[], WatchlistPort>>;
  readonly remove: (membershipId: string, id: string) => Promise<Reading<boolean, WatchlistPort>>;
  /** The first changes after a number, `limit` of them at most. */
  readonly after: (
    membershipId: string,
    seq: number,
    limit: number,
  ) => Promise<Reading<WatchChunk, WatchlistPort>>;
  /** The newest changes, newest first. */
  readonly newest: (
    membershipId: string,
    limit: number,
  ) => Promise<Reading<readonly WatchChange[], WatchlistPort>>;
};

/** An address that is due, of one membership. */
export type DueWatch = Watched & { readonly membership_id: string; readonly revision: number };

/** What a screening came to, for one membership. */
export type WatchCommit = {
  readonly watch: Pick<DueWatch, 'id' | 'membership_id' | 'revision' | 'address'>;
  readonly parts: WatchStanding;
  readonly signature: { readonly of: 'tables' | 'hops'; readonly is: string };
  readonly changes: readonly NewWatchChange[];
  readonly dispatches: readonly NewDispatch[];
  /** The lease under which it was screened. */
  readonly epoch: number;
};

/** The lease of whoever screens. */
export const WATCH_LEASE = 'watchlist';

/** The watchlists, to whoever screens them. */
export type WatchScreening = {
  /** Addresses of active memberships that were not held against this signature, or not lately. */
  readonly due: (asked: {
    readonly of: 'tables' | 'hops';
    readonly signature: string;
    /** Seconds after which hops are walked again although no list changed. */
    readonly againS: number;
    readonly limit: number;
  }) => Promise<Reading<readonly DueWatch[], WatchlistPort>>;
  /**
   * Keeps a screening with its changes, and tells them, all or nothing. `false`: the address was
   * screened, or taken out, since it was read, or another process has the lease.
   */
  readonly commit: (screened: WatchCommit) => Promise<Reading<boolean, WatchlistPort>>;
};
