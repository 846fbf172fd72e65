import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { Unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { clusterStoreKeeps } from '../../ports/entities/cluster-store.suite.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { memoryClusterStore } from '../../testing/memory/cluster-store.ts';
import { freshPgliteDirectory, NO_POSTGRES, testPostgres } from '../../testing/postgres.ts';
import { clusterStore } from './clusters.ts';
import type { Database } from './engine/database.ts';
import { migrate } from './engine/migrate.ts';
import { openPglite } from './engine/pglite.ts';
import { openPostgres } from './engine/postgres.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const MIGRATIONS = join(import.meta.dirname, '../../../migrations/control');
const LIVE = { simulated: false, secret_fingerprint: 'aaaa', previous_fingerprint: null };
const TABLES =
  'entity_ties, entity_services, entity_examinations, entity_members, entity_merges, ' +
  'entity_blocks, entity_paid';

clusterStoreKeeps('the memory', async (simulated) => {
  const { store } = memoryClusterStore(simulated, stillClock());
  return { store, close: async () => undefined };
});

async function emptied(database: Database): Promise<Database> {
  await migrate(database, MIGRATIONS, LIVE);
  await database.query(`truncate ${TABLES}`);
  return database;
}

function over(database: () => Promise<Database>) {
  return async (simulated: boolean) => {
    const opened = await emptied(await database());
    const context = { simulated, nowMs: () => STILL_NOW * 1_000 };
    return { store: clusterStore(opened, context), close: async () => undefined };
  };
}

describe('the control store', () => {
  let opened: { database: Database; directory: string } | null = null;
  afterAll(async () => {
    await opened?.database.close();
    if (opened !== null) await rm(dirname(opened.directory), { recursive: true });
  });
  const pglite = async () => {
    if (opened === null) {
      const directory = await freshPgliteDirectory();
      opened = { database: await openPglite(directory), directory };
    }
    return opened.database;
  };
  clusterStoreKeeps('PGlite', over(pglite));

  test('that cannot be asked is silence, whatever is asked of it', async () => {
    const directory = await freshPgliteDirectory();
    const database = await emptied(await openPglite(directory));
    const store = clusterStore(database, { simulated: false, nowMs: Date.now });
    await database.close();
    const limits = { addressesMax: 1, roundsMax: 1, keysMax: 1 };
    const perKeyMax = {
      deposit_reuse: 1,
      shared_funder: 1,
      lockstep: 1,
      same_deployer: 1,
      multi_input: 1,
      change: 1,
    };
    const nothing = { ties: [], services: [], examinations: [] };
    for (const reading of [
      await store.tiedTo('ethereum', ['a'], { ...limits, perKeyMax }),
      await store.keep('ethereum', nothing),
      await store.blocksHeld(),
      await store.paidBefore(['a']),
      await store.memberOf('a'),
      await store.keepBlocks({ ties: [], paid: new Map(), ranges: [] }),
    ]) {
      expect(reading).toBeInstanceOf(Unread);
    }
    await rm(dirname(directory), { recursive: true });
  });
});

describe.skipIf(NO_POSTGRES !== null)('a PostgreSQL server', () => {
  const closing: (() => Promise<unknown>)[] = [];
  let database: Database | null = null;
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });
  clusterStoreKeeps(
    'PostgreSQL',
    over(async () => {
      if (database === null) {
        const server = await testPostgres();
        database = openPostgres(await server.freshDatabase());
        closing.push(server.stop, database.close);
      }
      return database;
    }),
  );
});

test('a memory that was made silent says why', async () => {
  const memory = memoryClusterStore(false, stillClock());
  memory.fallSilent(why('no_history'));
  expect(await memory.store.blocksHeld()).toMatchObject({ why: why('no_history') });
});
