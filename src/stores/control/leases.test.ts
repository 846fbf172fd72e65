import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Unread } from '../../evidence/reading.ts';
import { leasesKeep } from '../../ports/indexing/leases.suite.ts';
import { type LeaseMemory, memoryLeases } from '../../testing/memory/leases.ts';
import {
  freshPgliteDirectory,
  NO_POSTGRES,
  type TestPostgres,
  testPostgres,
} from '../../testing/postgres.ts';
import type { Database } from './engine/database.ts';
import { migrate } from './engine/migrate.ts';
import { openPglite } from './engine/pglite.ts';
import { openPostgres } from './engine/postgres.ts';
import { leaseTable } from './leases.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const MIGRATIONS = join(import.meta.dirname, '../../../migrations/control');
const CONTEXT = { simulated: false, nowMs: Date.now };

async function migrated(database: Database): Promise<Database> {
  await migrate(database, MIGRATIONS, {
    simulated: false,
    secret_fingerprint: 'test',
    previous_fingerprint: null,
  });
  return database;
}

function keep(name: string, database: () => Database): void {
  leasesKeep(name, async () => {
    await database().query('truncate leases');
    return {
      one: leaseTable(database(), 'one', CONTEXT),
      other: leaseTable(database(), 'other', CONTEXT),
      letEnd: async () => {
        await database().query("update leases set held_until = now() - interval '1 second'");
      },
    };
  });
}

leasesKeep('memory', async () => {
  let at = 1_000;
  const table: LeaseMemory = new Map();
  const now = () => at;
  return {
    one: memoryLeases(table, 'one', now),
    other: memoryLeases(table, 'other', now),
    letEnd: async () => {
      at += 61;
    },
  };
});

describe('in PGlite', () => {
  let directory: string;
  let database: Database;
  beforeAll(async () => {
    directory = await freshPgliteDirectory();
    database = await migrated(await openPglite(directory));
  });
  afterAll(async () => {
    await database.close();
    await rm(dirname(directory), { recursive: true, force: true });
  });
  keep('PGlite', () => database);
});

describe.skipIf(NO_POSTGRES !== null)('in PostgreSQL', () => {
  let server: TestPostgres;
  let database: Database;
  beforeAll(async () => {
    server = await testPostgres();
    database = await migrated(openPostgres(await server.freshDatabase()));
  });
  afterAll(async () => {
    await database.close();
    await server.stop();
  });
  keep('PostgreSQL', () => database);

  test('a table that cannot be asked is silence, and never a lease', async () => {
    const gone = openPostgres('postgres://nobody@127.0.0.1:1/none');
    expect(await leaseTable(gone, 'one', CONTEXT).take('x', 1)).toBeInstanceOf(Unread);
    await gone.close();
  });
});
