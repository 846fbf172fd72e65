// The guarantees of the control store when processes are killed, and when several share it.

import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  emptyPgliteDirectory,
  NO_POSTGRES,
  type TestPostgres,
  testPostgres,
} from '../../testing/postgres.ts';
import { rowsAs } from '../../testing/rows-as.ts';
import type { Database } from './engine/database.ts';
import { migrate } from './engine/migrate.ts';
import { openPglite } from './engine/pglite.ts';
import { openPostgres } from './engine/postgres.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const BUILT = join(import.meta.dirname, '../../../dist/stores/control');
const MIGRATIONS = join(import.meta.dirname, '../../../migrations/control');
const LIVE = { simulated: false, secret_fingerprint: 'test', previous_fingerprint: null };
const ACKNOWLEDGED_BEFORE_KILL = 3_000;

/** Opens the store that the arguments name, as `database`. */
const OPEN = `
  const [built, kind, where] = process.argv.slice(1);
  const { openPglite } = await import(built + '/engine/pglite.js');
  const { openPostgres } = await import(built + '/engine/postgres.js');
  const { quotaTable } = await import(built + '/quotas.js');
  const database = kind === 'pglite' ? await openPglite(where) : openPostgres(where);
  const quota = quotaTable(database, { simulated: false, nowMs: Date.now });
  const acknowledge = (line) => process.stdout.write(line + '\\n');
`;
/** Writes rows and charges from sixteen callers without end, and acknowledges each. */
const WRITE = `${OPEN}
  await Promise.all(Array.from({ length: 16 }, async (_, caller) => {
    for (let n = 0; ; n += 1) {
      const subject = 'caller-' + caller;
      const charge = await quota.charge({ subject, period: '2026-11-21', limit: 1e9 });
      acknowledge('charge ' + caller + ' ' + charge.value.used);
      if (n % 4 !== 0) continue;
      await database.query('insert into acknowledged values ($1, $2)', [caller, n]);
      acknowledge('row ' + caller + ' ' + n);
      if (n % 16 !== 0) continue;
      await database.transaction(async (session) => {
        await session.query('insert into acknowledged values ($1, $2)', [caller, -n - 1]);
        await session.query('insert into acknowledged values ($1, $2)', [caller + 100, -n - 1]);
      });
      acknowledge('pair ' + caller + ' ' + (-n - 1));
    }
  }));
`;
/** Charges one subject until it is refused a few times, and says how often it was granted. */
const EXHAUST = `${OPEN}
  let granted = 0;
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (let refused = 0; refused < 5; ) {
      const charge = await quota.charge({ subject: 'shared', period: '2026-11', limit: 5000 });
      if (!charge.checked) continue;
      if (charge.value.granted) granted += 1; else refused += 1;
      if (charge.value.used > 5000) throw new Error('over the limit');
    }
  }));
  acknowledge(String(granted));
  await database.close();
`;

function run(script: string, kind: string, where: string): ChildProcess {
  return spawn(process.execPath, ['--input-type=module', '-e', script, BUILT, kind, where], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function prepared(database: Database): Promise<void> {
  await migrate(database, MIGRATIONS, LIVE);
  await database.query('create table acknowledged (caller int, n int, primary key (caller, n))');
}

/** Lets the writer write, kills it, and gives the lines that it acknowledged whole. */
async function killedWhileWriting(kind: string, where: string): Promise<string[]> {
  const child = run(WRITE, kind, where);
  let text = '';
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (text.split('\n').length > ACKNOWLEDGED_BEFORE_KILL) child.kill('SIGKILL');
  });
  await closed;
  expect(child.signalCode).toBe('SIGKILL');
  return text.split('\n').slice(0, -1);
}

/** Every acknowledged row is there, no transaction is there by half, and no charge was lost. */
async function expectAllKept(database: Database, acknowledged: readonly string[]): Promise<void> {
  const rows = await rowsAs<{ caller: number; n: number }>(
    database,
    'select caller, n from acknowledged',
  );
  const kept = new Set(rows.map(({ caller, n }) => `${caller} ${n}`));
  const used = await rowsAs<{ subject: string; used: number }>(
    database,
    'select subject, used from quota_usage',
  );
  const usedBy = new Map(used.map((row) => [row.subject, row.used]));
  const lost: string[] = [];
  for (const line of acknowledged) {
    const [what, caller, value] = line.split(' ');
    if (what === 'charge') {
      if (!(Number(usedBy.get(`caller-${caller}`)) >= Number(value))) lost.push(line);
    } else if (!kept.has(`${caller} ${value}`)) lost.push(line);
  }
  const halves = rows.filter(({ caller, n }) => {
    const other = caller >= 100 ? caller - 100 : caller + 100;
    return n < 0 && !kept.has(`${other} ${n}`);
  });
  expect(acknowledged.length).toBeGreaterThanOrEqual(ACKNOWLEDGED_BEFORE_KILL);
  expect({ lost, halves }).toEqual({ lost: [], halves: [] });
}

describe('the embedded engine', () => {
  test('a process killed while it writes loses nothing that it acknowledged', async () => {
    const directory = await emptyPgliteDirectory();
    let database = await openPglite(directory);
    await prepared(database);
    await database.close();
    for (let round = 0; round < 3; round += 1) {
      const acknowledged = await killedWhileWriting('pglite', directory);
      database = await openPglite(directory);
      await expectAllKept(database, acknowledged);
      await database.query('truncate acknowledged, quota_usage');
      await database.close();
    }
    await rm(dirname(directory), { recursive: true });
  });
});

describe.skipIf(NO_POSTGRES !== null)(`a server ${NO_POSTGRES ?? ''}`, () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await testPostgres();
  });
  afterAll(() => server.stop());

  test('a client killed while it writes loses nothing that it acknowledged', async () => {
    const url = await server.freshDatabase();
    const database = openPostgres(url);
    await prepared(database);
    const acknowledged = await killedWhileWriting('postgres', url);
    await expectAllKept(database, acknowledged);
    await database.close();
  });

  test('three processes on one allowance are together granted exactly its limit', async () => {
    const url = await server.freshDatabase();
    const database = openPostgres(url);
    await prepared(database);
    const granted = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const child = run(EXHAUST, 'postgres', url);
        let text = '';
        child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        await new Promise((resolve) => child.once('close', resolve));
        expect(child.exitCode).toBe(0);
        return Number(text.trim());
      }),
    );
    expect(granted.reduce((sum, one) => sum + one)).toBe(5_000);
    expect(await database.query('select used from quota_usage')).toEqual([{ used: 5_000 }]);
    await database.close();
  });

  test('stores opened at once migrate one database, each file once', async () => {
    const url = await server.freshDatabase();
    const stores = [openPostgres(url), openPostgres(url), openPostgres(url)];
    const applied = await Promise.all(stores.map((store) => migrate(store, MIGRATIONS, LIVE)));
    expect(applied.flat().filter((name) => name === '0001_schema.sql')).toHaveLength(1);
    for (const store of stores) await store.close();
  });
});
