// Which control store do the tests of one file share, and how does each of them find it new?
// Opening one takes a second, emptying it some milliseconds.

import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { ClusterStore } from '../ports/entities/cluster-store.ts';
import type { FollowReports } from '../ports/indexing/follow-reports.ts';
import type { Leases } from '../ports/indexing/leases.ts';
import type { ListChanges } from '../ports/sanctions/list-changes.ts';
import type { PublicationStore } from '../ports/sanctions/publication-store.ts';
import { accessLog } from '../stores/control/access-changes.ts';
import { clusterStore } from '../stores/control/clusters.ts';
import { type Database, StoreUnavailable } from '../stores/control/engine/database.ts';
import { migrate } from '../stores/control/engine/migrate.ts';
import { openPglite } from '../stores/control/engine/pglite.ts';
import { openPostgres } from '../stores/control/engine/postgres.ts';
import { followReportTable } from '../stores/control/follow-reports.ts';
import { keyTable } from '../stores/control/keys.ts';
import { leaseTable } from '../stores/control/leases.ts';
import { membershipTable } from '../stores/control/memberships.ts';
import { paymentTable } from '../stores/control/payments.ts';
import { listChangeStore } from '../stores/control/publication-changes.ts';
import { publicationStore } from '../stores/control/publications.ts';
import { quotaTable } from '../stores/control/quotas.ts';
import { sessionTable } from '../stores/control/sessions.ts';
import { signInTable } from '../stores/control/sign-ins.ts';
import { tokenTable } from '../stores/control/tokens.ts';
import { workTable } from '../stores/control/work.ts';
import { STILL_NOW } from './clock.ts';
import { freshPgliteDirectory, NO_POSTGRES, testPostgres } from './postgres.ts';

/** Where the migrations of the control store lie. */
export const MIGRATIONS = join(import.meta.dirname, '../../migrations/control');
/** To whom a store of the tests belongs. */
export const LIVE = { simulated: false, secret_fingerprint: 'aaaa', previous_fingerprint: null };
const OPEN_TIMEOUT_MS = 120_000;

/** Leaves what a migration wrote, at a still clock; a table without rows costs next to nothing. */
const EMPTY = `
  do $$ declare name text; filled boolean; begin
    for name in select tablename from pg_tables
      where schemaname = 'public'
        and tablename not in ('migrations', 'deployment', 'sanctions_current') loop
      execute format('select exists (select from %I)', name) into filled;
      if filled then execute format('truncate %I restart identity cascade', name); end if;
    end loop;
  end $$;
  insert into sanctions_current default values on conflict do nothing;
  ${clockAt(STILL_NOW)}`;

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

/** The embedded engine, open while the tests of this file or of this block run. */
export function embeddedControl(): FreshStore {
  return sharedControl(async () => {
    const directory = await freshPgliteDirectory();
    const remove = () => rm(dirname(directory), { recursive: true, force: true });
    return { database: await openPglite(directory), remove };
  });
}

/** Has the tests run on the embedded engine and, where there is one, on a server. */
export function onEachEngine(tests: (engine: string, fresh: FreshStore) => void): void {
  describe('on the embedded engine', () => tests('PGlite', embeddedControl()));
  describe.skipIf(NO_POSTGRES !== null)(`on a server ${NO_POSTGRES ?? ''}`, () => {
    const control = sharedControl(async () => {
      const server = await testPostgres();
      return { database: openPostgres(await server.freshDatabase()), remove: server.stop };
    });
    tests('PostgreSQL', control);
  });
}

/** The stores of who may ask, over one control store. */
export function accessIn(database: Database, nowMs: () => number) {
  const context = { simulated: false, nowMs };
  return {
    memberships: membershipTable(database, context),
    keys: keyTable(database, context),
    tokens: tokenTable(database, context),
    sessions: sessionTable(database, context),
    work: workTable(database, context),
    quota: quotaTable(database, context),
    payments: paymentTable(database, context),
    signIns: signInTable(database, context),
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

/** What followers told, over one control store. */
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

type Opened = { readonly database: Database; readonly remove: () => Promise<void> };

function sharedControl(open: () => Promise<Opened>): FreshStore {
  let opened: Opened | null = null;
  let newest: object | null = null;
  beforeAll(async () => {
    opened = await open();
    await migrate(opened.database, MIGRATIONS, LIVE);
  }, OPEN_TIMEOUT_MS);
  afterAll(async () => {
    await opened?.database.close();
    await opened?.remove();
  });
  return () => {
    let fault: string | null = null;
    let emptied: Promise<void> | null = null;
    const self = {};
    const reached = async (): Promise<Database> => {
      if (fault !== null) throw new StoreUnavailable(fault, 'ESILENT');
      if (opened === null) throw new Error('the store is open only while tests run');
      const { database } = opened;
      if (emptied === null) {
        newest = self;
        emptied = database.transaction((session) => session.script(EMPTY));
      }
      await emptied;
      if (newest !== self) throw new StoreUnavailable('a newer one took its place', 'EREPLACED');
      return database;
    };
    return {
      kind: 'pglite',
      durable: true,
      query: async (...call) => (await reached()).query(...call),
      transaction: async (...call) => (await reached()).transaction(...call),
      close: async () => undefined,
      silence: (next) => {
        fault = next;
      },
      setClock: async (seconds) => {
        await (await reached()).transaction((session) => session.script(clockAt(seconds)));
      },
    };
  };
}
