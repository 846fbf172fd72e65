import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  cuttable,
  emptyPgliteDirectory,
  NO_POSTGRES,
  type TestPostgres,
  testPostgres,
} from '../../../testing/postgres.ts';
import { rowsAs } from '../../../testing/rows-as.ts';
import { databaseKeeps } from './database.suite.ts';
import { batchQueue, StoreUnavailable } from './database.ts';
import { type Engine, openPglite, startEngine } from './pglite.ts';
import { openPostgres } from './postgres.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

describe('the embedded engine', () => {
  const directories: string[] = [];
  afterAll(async () => {
    for (const directory of directories) await rm(dirname(directory), { recursive: true });
  });
  const freshDirectory = async () => {
    const directory = await emptyPgliteDirectory();
    directories.push(directory);
    return directory;
  };

  databaseKeeps('PGlite', async () => openPglite(await freshDirectory()));

  test('creates a directory where there is none, and finds its rows again', async () => {
    const directory = await freshDirectory();
    await rm(directory, { recursive: true });
    const first = await openPglite(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    await first.query('create table kept (n int)');
    await first.query('insert into kept values (41)');
    await first.close();
    const second = await openPglite(directory);
    expect(await second.query('select n from kept')).toEqual([{ n: 41 }]);
    await second.close();
  });

  test('an engine that ends under load is silence, loses no row, and comes back', async () => {
    const engines: Engine[] = [];
    const database = await openPglite(await freshDirectory(), async (directory) => {
      const engine = await startEngine(directory);
      engines.push(engine);
      return engine;
    });
    await database.query('create table kept (n int primary key)');
    const acknowledged: number[] = [];
    const faults: unknown[] = [];
    const write = (n: number) =>
      database.query('insert into kept values ($1)', [n]).then(
        () => acknowledged.push(n),
        (error: unknown) => faults.push(error),
      );
    const writing = Promise.all(Array.from({ length: 400 }, (_, n) => write(n)));
    const halfDone = database.transaction(async (session) => {
      await session.query('insert into kept values (-1)');
      engines[0]?.kill();
      await session.query('insert into kept values (-2)');
    });
    await expect(halfDone).rejects.toBeInstanceOf(StoreUnavailable);
    await writing;
    // The transaction came after 400 rows; those asked for after it meet the ended engine.
    await Promise.all(Array.from({ length: 20 }, (_, n) => write(1_000 + n)));
    expect(acknowledged.length).toBeGreaterThanOrEqual(400);
    expect(faults.every((fault) => fault instanceof StoreUnavailable)).toBe(true);
    const kept = await vi.waitFor(
      () => rowsAs<{ n: number }>(database, 'select n from kept order by n'),
      { timeout: 20_000, interval: 100 },
    );
    const rows = new Set(kept.map((row) => row.n));
    expect(acknowledged.filter((n) => !rows.has(n))).toEqual([]);
    expect([rows.has(-1), rows.has(-2)]).toEqual([false, false]);
    expect(engines).toHaveLength(2);
    await database.close();
  });

  test('what is written between two checkpoints stays bounded', async () => {
    const database = await openPglite(await freshDirectory());
    await database.query('create table filler (n int, t text)');
    for (let round = 0; round < 12; round += 1) {
      await database.query(
        "insert into filler select g, repeat('x', 200) from generate_series(1, 60000) g",
      );
      await Promise.all(Array.from({ length: 65 }, () => database.query('select 1')));
      await database.query('truncate filler');
    }
    const [wal] = await rowsAs<{ bytes: number }>(
      database,
      'select sum(size)::float8 as bytes from pg_ls_waldir()',
    );
    expect(Number(wal?.bytes)).toBeLessThan(112 * 1024 * 1024);
    await database.close();
  });
});

describe.skipIf(NO_POSTGRES !== null)(`a server ${NO_POSTGRES ?? ''}`, () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await testPostgres();
  });
  afterAll(() => server.stop());

  databaseKeeps('PostgreSQL', async () => openPostgres(await server.freshDatabase()));

  test('a connection on which the server refused a statement is used again', async () => {
    const database = openPostgres(await server.freshDatabase());
    const backend = () => database.query('select pg_backend_pid() as pid');
    const before = await backend();
    for (const code of ['57014', '55P03', '23505']) {
      const refused = database.query(`do $$ begin raise sqlstate '${code}'; end $$`);
      await expect(refused).rejects.toMatchObject({ code });
      expect(await backend()).toEqual(before);
    }
    await database.close();
  });

  test('a statement of a long transaction has as long as the whole, and of a short one its own', async () => {
    const database = openPostgres(await server.freshDatabase());
    const timeoutWithin = (timeoutMs: number) =>
      database.transaction((session) => session.query('show statement_timeout'), { timeoutMs });
    expect(await timeoutWithin(25_000)).toEqual([{ statement_timeout: '25s' }]);
    expect(await timeoutWithin(5_000)).toEqual([{ statement_timeout: '10s' }]);
    expect(await database.query('show statement_timeout')).toEqual([{ statement_timeout: '10s' }]);
    await database.close();
  });

  test('a process that is paused inside a transaction holds its locks for a minute at most', async () => {
    const database = openPostgres(await server.freshDatabase());
    const told = await database.query('show idle_in_transaction_session_timeout');
    expect(told).toEqual([{ idle_in_transaction_session_timeout: '1min' }]);
    await database.query('create table held (n int primary key)');
    let tellHeld = () => {};
    const held = new Promise<void>((resolve) => {
      tellHeld = resolve;
    });
    const paused = database.transaction(async (session) => {
      await session.query('insert into held values (1)');
      // The same end, sooner.
      await session.query("set local idle_in_transaction_session_timeout = '50ms'");
      tellHeld();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await session.query('insert into held values (2)');
    });
    await held;
    // It waits for the row of the paused one, and has it once the server ended that.
    const other = database.query('insert into held values (1)');
    await expect(paused).rejects.toBeInstanceOf(StoreUnavailable);
    await other;
    expect(await database.query('select n from held')).toEqual([{ n: 1 }]);
    await database.close();
  });

  test('a server that goes away is silence, and one that comes back is used again', async () => {
    const wire = await cuttable(await server.freshDatabase());
    const database = openPostgres(wire.url);
    await database.query('create table kept (n int)');
    wire.cut();
    await expect(database.query('select 1')).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(database.transaction((s) => s.query('select 1'))).rejects.toBeInstanceOf(
      StoreUnavailable,
    );
    await wire.restore();
    expect(await database.query('select count(*)::int as n from kept')).toEqual([{ n: 0 }]);
    await database.close();
    wire.cut();
  });

  test('a connection lost inside a transaction is silence and stores nothing', async () => {
    const wire = await cuttable(await server.freshDatabase());
    const database = openPostgres(wire.url);
    await database.query('create table kept (n int)');
    const lost = database.transaction(async (session) => {
      await session.query('insert into kept values (1)');
      wire.cut();
      await session.query('insert into kept values (2)');
    });
    await expect(lost).rejects.toBeInstanceOf(StoreUnavailable);
    await wire.restore();
    expect(await database.query('select n from kept')).toEqual([]);
    await database.close();
    wire.cut();
  });

  test('what the URL holds is in no message: user, password, host, database', async () => {
    const real = new URL(await server.freshDatabase());
    const urls = [
      `postgres://exhibit@${real.host}/marker-database`,
      `postgres://marker-user:marker-password@${real.host}/postgres`,
      'postgres://marker-user:marker-password@127.0.0.1:1/marker-database',
      'postgres://u:marker-password@marker-host.invalid/x',
    ];
    for (const url of urls) {
      const database = openPostgres(url);
      const error: unknown = await database.query('select 1').catch((e: unknown) => e);
      expect(error, url).toBeInstanceOf(StoreUnavailable);
      expect(inspect(error, { depth: 5, showHidden: true }), url).not.toContain('marker-');
      await database.close();
    }
    expect(() => openPostgres('https://marker-host/')).toThrow(/must begin with postgres/);
  });
});

const LIMITS = { batchMax: 10, waitingMax: 25 };

describe('a queue of batches', () => {
  test('what comes in one tick goes together, what comes meanwhile goes next', async () => {
    const batches: number[][] = [];
    const double = batchQueue<number, number>(async (items) => {
      batches.push([...items]);
      await new Promise((resolve) => setImmediate(resolve));
      return items.map((item) => item * 2);
    }, LIMITS);
    const first = [double(1), double(2)];
    await new Promise((resolve) => setImmediate(resolve));
    const next = [double(3), double(4)];
    expect(await Promise.all([...first, ...next])).toEqual([2, 4, 6, 8]);
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test('a batch and the wait are bounded; past it callers are refused', async () => {
    const sizes: number[] = [];
    const same = batchQueue<number, number>(async (items) => {
      sizes.push(items.length);
      return items;
    }, LIMITS);
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, (_, n) => same(n)));
    expect(outcomes.slice(0, 25).every((one) => one.status === 'fulfilled')).toBe(true);
    for (const one of outcomes.slice(25)) {
      expect(one.status === 'rejected' && one.reason).toBeInstanceOf(StoreUnavailable);
    }
    expect(sizes).toEqual([10, 10, 5]);
  });

  test('a batch that fails fails for its own callers only, and the queue goes on', async () => {
    let calls = 0;
    const flaky = batchQueue<number, number>(async (items) => {
      calls += 1;
      if (calls === 1) throw new Error('first');
      return items;
    }, LIMITS);
    await expect(Promise.all([flaky(1), flaky(2)])).rejects.toThrow('first');
    expect(await flaky(3)).toBe(3);
  });

  test('an item that was not answered is an error, not a wait without end', async () => {
    const forgetful = batchQueue<number, number>(async (items) => items.slice(1), LIMITS);
    const outcomes = await Promise.allSettled([forgetful(1), forgetful(2)]);
    expect(outcomes.map((one) => one.status)).toEqual(['fulfilled', 'rejected']);
  });
});
