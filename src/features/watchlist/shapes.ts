// The shapes of a watchlist, and the two ports over its tables. A watchlist belongs to one
// membership: to another it is not there.

import { z } from 'zod';
import { position } from '../../contract/stream.ts';
import {
  harmless,
  isoTime,
  oneOf,
  prose,
  rowFact,
  sharedShape,
  words,
} from '../../contract/wire.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';
import { WEIGHT_BASES, weightText } from '../../evidence/weight.ts';
import type { NewDispatch } from '../../ports/integrations.ts';

/** The name of this port in readings. */
export type WatchlistPort = 'watchlist';

export const WATCH_PARTS = [
  'sanctions_list',
  'other_lists',
  'exchange_labels',
  'flagged_addresses',
  'entity_clusters',
  'hops',
] as const;
export type WatchPart = (typeof WATCH_PARTS)[number];

/** The name of each part for people: on pages, in chats, and in what was not read. */
export const WATCH_PART_TITLES: { readonly [P in WatchPart]: string } = {
  sanctions_list: 'Sanctions list',
  other_lists: 'Lists of other authorities',
  exchange_labels: 'Exchange table',
  flagged_addresses: 'Flagged addresses',
  entity_clusters: 'Cluster of the address',
  hops: 'Two hops of transfers',
};

/** The parts that are tables in memory; the others rest on transfers. */
export type TablePart = Exclude<WatchPart, 'entity_clusters' | 'hops'>;

const inference = sharedShape(
  'WatchInference',
  z.strictObject({ weight: z.number().positive(), basis: oneOf(WEIGHT_BASES) }),
);

/** An entry of a list or a table, the end of a path, or a cluster. */
export const finding = sharedShape(
  'WatchFinding',
  z.strictObject({
    /** The list, the table, or the chain. */
    source: words(),
    /** The address as it stands there; of a path, the listed one at its end. */
    address: words(),
    entity: words().nullable(),
    /** The entry, or the transaction. */
    ref: words().nullable(),
    /** Programmes, the role of a label, the path. */
    detail: words().nullable(),
    inferred: inference
      .optional()
      .describe(
        'How likely a cluster is one controller’s. Left out of what was observed, and of ' +
          'clusters that were kept before findings had a weight.',
      ),
    version: words()
      .nullable()
      .describe('What it was last found in; `null` where it was kept before findings had one.'),
    read_at: isoTime
      .nullable()
      .describe('When it was last found; `null` where it was kept before findings had one.'),
  }),
);
export type WatchFinding = z.output<typeof finding>;

/** A finding of one look, which has one version and one time. */
export type SeenFinding = Omit<WatchFinding, 'version' | 'read_at'>;

const findings = harmless(
  z.array(finding).readonly(),
  'each was found in a version and at a time, both of which stand in it',
);

/** That a finding of a part is an inference, in words; `null`: it was observed. */
export function inferredText(
  part: WatchPart,
  { inferred }: Pick<WatchFinding, 'inferred'>,
): string | null {
  if (part !== 'entity_clusters') return null;
  const weight = inferred === undefined ? 'of a weight that was not kept' : weightText(inferred);
  return `inferred, ${weight}`;
}

/** The last findings of a part. */
export const watchedPart = sharedShape(
  'WatchedPart',
  z.strictObject({
    part: oneOf(WATCH_PARTS),
    found: findings.nullable().describe('`null`: what stands there is not known.'),
    version: words().nullable(),
    read_at: isoTime
      .nullable()
      .describe('When a look last read it to its end, or found something.'),
    not_read: prose().nullable().describe('Why the last look did not read it to its end.'),
  }),
);
export type WatchedPart = z.output<typeof watchedPart>;

/** A watched address, as it is kept and answered. */
export const watched = sharedShape(
  'WatchedAddress',
  z.strictObject({
    id: words(),
    address: words(),
    added_at: isoTime,
    parts: harmless(z.array(watchedPart).readonly(), 'what was not screened yet has no part'),
  }),
);
export type WatchedAddress = z.output<typeof watched>;

/** The possible changes of a finding. */
export const WATCH_CHANGES = ['first_seen', 'entered', 'changed', 'left'] as const;

/** A change without its number, as the log keeps it and the stream tells it. */
export const watchChange = z.strictObject({
  watch_id: words(),
  address: words(),
  part: oneOf(WATCH_PARTS),
  change: oneOf(WATCH_CHANGES),
  before: findings.nullable(),
  after: findings,
  version_before: words().nullable(),
  version_after: words(),
  not_read: harmless(
    z.array(prose()).readonly(),
    'it names what the same look did not read to its end, by the titles of the parts',
  ),
  simulated: rowFact(z.boolean()),
  at: isoTime,
});
export const numberedChange = watchChange.extend({ seq: position });
export type WatchChange = z.output<typeof numberedChange>;

/** A change to keep, whose address stands beside it. */
export type NewWatchChange = Omit<z.output<typeof watchChange>, 'watch_id' | 'address'>;

/** Both ends of a membership's changes: `newest` is 0 while there was none. */
export type WatchBounds = { readonly newest: number; readonly oldest: number | null };

/** Changes that follow each other, and both ends when they were read. */
export type WatchChunk = WatchBounds & { readonly changes: readonly WatchChange[] };

/** The retention of changes: a number of the newest, and a maximum age. */
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
    Reading<{ readonly watched: WatchedAddress; readonly added: boolean } | 'full', WatchlistPort>
  >;
  /** The addresses in the order in which they were added; a part where there are more. */
  readonly list: (
    membershipId: string,
    after: string | null,
  ) => Promise<Partly<readonly WatchedAddress[], WatchlistPort>>;
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

/** The two kinds of screening: tables are in memory, hops are walked. */
export type DueFor = 'tables' | 'hops';

/** An address that is due, of one membership. */
export type DueWatch = WatchedAddress & {
  readonly membership_id: string;
  readonly revision: number;
};

/** The result of a screening, for one membership. */
export type WatchCommit = {
  readonly watch: Pick<DueWatch, 'id' | 'membership_id' | 'revision' | 'address'>;
  readonly parts: readonly WatchedPart[];
  readonly signature: { readonly of: DueFor; readonly is: string };
  readonly changes: readonly NewWatchChange[];
  readonly dispatches: readonly NewDispatch[];
  /** The lease under which it was screened. */
  readonly epoch: number;
};

/** The leases of whoever screens: walks take long, and no table waits for them. */
export const WATCH_LEASES = { tables: 'watchlist', hops: 'watchlist walks' } as const;

/** The watchlists, to whoever screens them. */
export type WatchScreening = {
  /**
   * Addresses of active memberships that were not held against this signature, or not lately; of
   * hops one of each membership, and first of whom nothing was walked for longest.
   */
  readonly due: (request: {
    readonly of: DueFor;
    readonly signature: string;
    /** Seconds after which hops are walked again although no list changed. */
    readonly againS: number;
    readonly limit: number;
  }) => Promise<Reading<readonly DueWatch[], WatchlistPort>>;
  /**
   * Keeps a screening with its changes, and tells them, all or nothing. `false`: the address was
   * screened, or taken out, since it was read, or another process has the lease.
   */
  readonly commit: (screening: WatchCommit) => Promise<Reading<boolean, WatchlistPort>>;
};
