// The control store that all test files of a process share. Opening one takes a second, emptying it
// some milliseconds; the end of the process closes it, and the end of the run removes its files.

import { describe } from 'vitest';
import type { ClusterStore } from '../ports/entities.ts';
import type { FollowReports, Leases } from '../ports/indexing.ts';
import type { ListChanges, PublicationStore } from '../ports/sanctions.ts';
import { clusterStore } from '../stores/control/clusters.ts';
import { type Database, StoreUnavailable } from '../stores/control/engine/database.ts';
import { migrate } from '../stores/control/engine/migrate.ts';
import { openPglite } from '../stores/control/engine/pglite.ts';
import { openPostgres } from '../stores/control/engine/postgres.ts';
import { followReportTable } from '../stores/control/follow-reports.ts';
import { keyTable, tokenTable } from '../stores/control/keys.ts';
import { leakTable } from '../stores/control/leak-reports.ts';
import { leaseTable } from '../stores/control/leases.ts';
import { accessLog, membershipTable, paymentTable } from '../stores/control/memberships.ts';
import { listChangeStore, publicationStore } from '../stores/control/publications.ts';
import { quotaTable } from '../stores/control/quotas.ts';
import { sessionTable, signInTable, unshownKeyTable } from '../stores/control/sessions.ts';
import { STILL_NOW } from './clock.ts';
import { freshPgliteDirectory, MIGRATIONS, NO_POSTGRES, testPostgres } from './postgres.ts';
import { rowsAs } from './rows-as.ts';

/** To whom a store of the tests belongs. */
export const LIVE = { simulated: false, secret_fingerprint: 'aaaa', previous_fingerprint: null };

/** Leaves what a migration wrote; a table that was never written to has no file to look into. */
const EMPTY = `
  do $$ declare name text; begin
    for name in select relname from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace
        and relname not in ('migrations', 'deployment', 'sanctions_current', 'usage_counting')
        and pg_relation_size(oid) > 0 loop
      execute format('truncate %I restart identity cascade', name);
    end loop;
    -- A table whose rows were rolled back or deleted is empty, and its numbers have gone on.
    for name in select sequencename from pg_sequences
      where schemaname = 'public' and last_value is not null loop
      execute format('alter sequence %I restart', name);
    end loop;
  end $$;
  insert into sanctions_current default values on conflict do nothing;
  update usage_counting set since = 'epoch';`;

/** The statement that has a store's clock stand at a second. */
export function clockAt(seconds: number): string {
  return `create or replace function control_now() returns timestamptz language sql stable
    as 'select to_timestamp(${seconds})'`;
}

/** A store that can be made silent, with a fault, until it is given `null`. */
export type TestStore = Database & {
  readonly silence: (fault: string | null) => void;
  /** Has the store's clock stand at a second, until it is set again. */
  readonly setClock: (seconds: number) => Promise<void>;
};

/** Gives the store as a new one each time; it is emptied before its first statement. */
export type FreshStore = () => TestStore;

/** A store of this process that has its tables. */
export type SharedStore = {
  readonly database: Database;
  /** Empties it for its next user, now or at `clock`; earlier users are refused. */
  readonly empty: (user: object, clock?: string) => Promise<void>;
  /** Whether nobody has emptied it since. */
  readonly isOf: (user: object) => boolean;
};

/** The embedded engine of this process, opened when it is first used. */
export const sharedEmbedded = openOnce(async () => openPglite(await freshPgliteDirectory()));
/** A database of this process on a server, opened when it is first used. */
export const sharedOnServer = openOnce(async () => {
  return openPostgres(await (await testPostgres()).freshDatabase());
});

/** The embedded engine, at a still clock. */
export function embeddedControl(): FreshStore {
  return freshOf(sharedEmbedded);
}

/** A server where there is one, else the embedded engine; at a still clock. */
export function controlOnServer(): FreshStore {
  return freshOf(NO_POSTGRES === null ? sharedOnServer : sharedEmbedded);
}

/** Has the tests run on the embedded engine and, where there is one, on a server. */
export function onEachEngine(tests: (engine: string, fresh: FreshStore) => void): void {
  describe('on the embedded engine', () => tests('PGlite', embeddedControl()));
  describe.skipIf(NO_POSTGRES !== null)(`on a server ${NO_POSTGRES ?? ''}`, () => {
    tests('PostgreSQL', freshOf(sharedOnServer));
  });
}

/** How many leaks a network may report in tests, and in how many seconds. */
export const LEAK_BOUNDS = { ofNetworkMax: 60, windowS: 900 };

/** The stores of who may ask, over one control store. */
export function accessIn(database: Database, nowMs: () => number) {
  const context = { simulated: false, nowMs };
  const keys = keyTable(database, context);
  const tokens = tokenTable(database, context);
  return {
    memberships: membershipTable(database, context),
    keys,
    tokens,
    leaks: leakTable(database, context, LEAK_BOUNDS, () => {
      keys.forget();
      tokens.forget();
    }),
    sessions: sessionTable(database, context),
    quota: quotaTable(database, context),
    payments: paymentTable(database, context),
    signIns: signInTable(database, context),
    unshownKeys: unshownKeyTable(database, context),
    accessLog: accessLog(database, context),
  };
}

/** The store of ties over one control store, at the still time of the tests. */
export function clustersIn(database: Database, simulated = false): ClusterStore {
  return clusterStore(database, { simulated, nowMs: () => STILL_NOW * 1_000 });
}

/** The leases of one holder over one control store, by the store's own clock. */
export function leasesIn(database: Database, holder: string): Leases {
  return leaseTable(database, holder, { simulated: false, nowMs: Date.now });
}

/** The reports of followers, over one control store. */
export function followReportsIn(database: Database): FollowReports {
  return followReportTable(database, { simulated: false, nowMs: Date.now });
}

/** The store of the sanctions list over one control store. Its time dates its readings only. */
export function publicationsIn(database: Database): PublicationStore {
  return publicationStore(database, () => STILL_NOW);
}

/** The log of what each list changed, over one control store. */
export function listChangesIn(database: Database): ListChanges {
  return listChangeStore(database, { simulated: false, now: () => STILL_NOW });
}

function openOnce(open: () => Promise<Database>): () => Promise<SharedStore> {
  let opened: Promise<SharedStore> | null = null;
  return () => {
    if (opened === null) opened = open().then(prepare);
    return opened;
  };
}

async function prepare(database: Database): Promise<SharedStore> {
  await migrate(database, MIGRATIONS, LIVE);
  const sql = "select pg_get_functiondef('control_now()'::regprocedure) as clock";
  const [row] = await rowsAs<{ clock: string }>(database, sql);
  if (row === undefined) throw new Error('the store has no clock');
  let newest: object | null = null;
  return {
    database,
    empty: async (user, clock = row.clock) => {
      newest = user;
      await database.transaction((session) => session.script(`${EMPTY} ${clock}`));
    },
    isOf: (user) => newest === user,
  };
}

function freshOf(open: () => Promise<SharedStore>): FreshStore {
  return () => {
    let fault: string | null = null;
    let emptied: Promise<void> | null = null;
    const self = {};
    const reach = async (): Promise<Database> => {
      if (fault !== null) throw new StoreUnavailable(fault, 'ESILENT');
      const { database, empty, isOf } = await open();
      if (emptied === null) emptied = empty(self, clockAt(STILL_NOW));
      await emptied;
      if (!isOf(self)) throw new StoreUnavailable('a newer one took its place', 'EREPLACED');
      return database;
    };
    return {
      kind: 'pglite',
      durable: true,
      query: async (...call) => (await reach()).query(...call),
      transaction: async (...call) => (await reach()).transaction(...call),
      isLate: () => false,
      close: async () => undefined,
      silence: (next) => {
        fault = next;
      },
      setClock: async (seconds) => {
        await (await reach()).transaction((session) => session.script(clockAt(seconds)));
      },
    };
  };
}
