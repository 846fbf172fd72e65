// The screening of watched addresses in a test: a changeable world, over a real store.

import { randomUUID } from 'node:crypto';
import { Read, read } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { type RescreenParts, rescreenOnce } from '../features/watchlist/rescreen.job.ts';
import { watchlistTable, watchScreeningTable } from '../features/watchlist/watchlist.store.ts';
import type { FlaggedRow } from '../ports/rug-flags.ts';
import type { Versions } from '../ports/screening.ts';
import type { OtherListEntry } from '../ports/tables.ts';
import type { Database } from '../stores/control/engine/database.ts';
import { leaseTable } from '../stores/control/leases.ts';
import { STILL_NOW, stillClock } from './clock.ts';
import { type MemoryClusters, memoryEntityClusters } from './twins/entities.ts';
import { silentPorts } from './twins/ports.ts';
import { memoryFlaggedAddresses } from './twins/rug-flags.ts';
import { memoryOtherLists, OTHER_LIST } from './twins/tables.ts';
import { type WalkedWorld, walkedPorts } from './walked-world.ts';

const DATED = { as_of: STILL_NOW - 3_600, simulated: false } as const;
const ORIGIN = {
  port: 'served_versions',
  source: { name: 'Memory', url: 'memory:', kind: 'table', ...DATED },
} as const;

/** A world of a watch; what is left out holds nothing and hides nothing. */
export type WatchWorld = Partial<WalkedWorld> & {
  /** Names the version of everything. */
  readonly version: string;
  readonly otherEntries?: readonly OtherListEntry[];
  readonly flagged?: readonly FlaggedRow[];
  readonly clusters?: MemoryClusters['clusters'];
  /** Nothing of it can be read. */
  readonly silent?: boolean;
};

function portsOf(world: WatchWorld): RescreenParts['ports'] {
  const silent = silentPorts(why('store_unreadable', { what: 'A store', fault: 'it is down' }));
  if (world.silent === true) return silent;
  const walked = walkedPorts({
    now: STILL_NOW,
    transfers: [],
    labels: [],
    listed: [],
    ring: 'whole',
    ...world,
  });
  const { otherEntries: entries = [], flagged: rows = [], clusters = [] } = world;
  return {
    sanctionsList: walked.list,
    otherLists: memoryOtherLists({ ...DATED, names: [OTHER_LIST], entries }),
    exchangeLabels: walked.labels,
    flaggedAddresses: memoryFlaggedAddresses({ ...DATED, rows }),
    transferHistory: walked.history,
    counterpartyRing: walked.ring,
    entityClusters: memoryEntityClusters({ ...DATED, clusters, examined: 'everyone' }),
  };
}

function versionsOf({ version }: WatchWorld): Versions {
  const facts = {
    name: 'OFAC SDN List',
    published: '2026-09-20',
    addresses: 1,
    source: 'memory:',
    sha256: version.repeat(64).slice(0, 64),
    as_of: STILL_NOW,
    age_notes: [],
  };
  return { list: { read: true, facts, cut: null, simulated: false }, tables: [] };
}

/** A screening over a store, in a world that `be` changes. */
export function watchingIn(database: Database, context = { simulated: false, nowMs: Date.now }) {
  let world: WatchWorld = { version: '1' };
  let called = 0;
  const screening = watchScreeningTable(database, context, () => {
    called += 1;
  });
  const parts = (over: Partial<RescreenParts> = {}): RescreenParts => ({
    ports: portsOf(world),
    screening,
    versions: { now: async () => read(versionsOf(world), ORIGIN) },
    leases: leaseTable(database, randomUUID(), context),
    refresh: async () => undefined,
    simulated: false,
    now: stillClock(),
    clusterChains: ['ethereum'],
    walkMs: 10_000,
    ...over,
  });
  const watchlist = watchlistTable(database, context);
  return {
    watchlist,
    screening,
    parts,
    be: (next: WatchWorld) => {
      world = next;
    },
    called: () => called,
    round: async (over: Partial<RescreenParts> = {}) => {
      for (const of of ['tables', 'hops'] as const) {
        const failed = await rescreenOnce(parts(over), of, new AbortController().signal);
        if (failed !== null) throw new Error(failed.reason);
      }
    },
    /** Watches an address for a membership, whose plan allows it. */
    watch: async (membershipId: string, address: string) => {
      const added = await watchlist.add(membershipId, address, 10);
      if (!(added instanceof Read) || added.value === 'full') throw new Error('not watched');
      return added.value.watched;
    },
    changes: async (membershipId: string) => {
      const told = await watchlist.after(membershipId, 0, 500);
      if (!(told instanceof Read)) throw new Error(told.why.reason);
      return told.value.changes;
    },
  };
}
