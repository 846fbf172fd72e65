// The guarantees of every engine of the control store. database.test.ts runs them.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsAs } from '../../../testing/rows-as.ts';
import { type Database, SqlError, StoreUnavailable } from './database.ts';
import { type Deployment, MigrationRefused, migrate } from './migrate.ts';

const LIVE: Deployment = {
  simulated: false,
  secret_fingerprint: 'aaaa',
  previous_fingerprint: null,
};

/** So many that each waits for nearly three seconds, on as many sessions as the engine has. */
const CALLERS_EACH = { pglite: 8, postgres: 64 } as const;

/** Runs the promises of a database. `fresh` gives an empty store each time it is called. */
export function databaseKeeps(name: string, fresh: () => Promise<Database>): void {
  describe(`${name}: statements`, () => {
    let database: Database;
    beforeAll(async () => {
      database = await fresh();
    });
    afterAll(() => database.close());

    test('says that all wait too long, and not once they had their turn', async () => {
      let wasLate = false;
      // Of callers that always ask again, each waits until all the others had their turn.
      const callers = Array.from({ length: CALLERS_EACH[database.kind] }, async () => {
        while (!wasLate) {
          await database.query('select pg_sleep(0.4)');
          wasLate ||= database.isLate();
        }
      });
      expect(database.isLate()).toBe(false);
      await Promise.all(callers);
      expect(database.isLate()).toBe(false);
    }, 60_000);

    test('gives each type the same value on either engine', async () => {
      const [row] = await database.query(
        `select $1::int8 as eight, $2::bytea as bytes, $3::timestamptz as at, $4::text[] as texts,
                $5::int8[] as eights, $6::jsonb as json, $7::numeric as exact, $8::bool as yes,
                $9::date as day, $10::int4 as four, null::int8 as nothing, 1.5::float8 as float,
                '2026-11-21 10:00:00'::timestamp as plain, array[1.10::numeric] as exacts`,
        [
          9_007_199_254_740_993n,
          new Uint8Array([0, 92, 255]),
          new Date('2026-11-21T10:00:00.123Z'),
          ['a', null, 'b,"\\c'],
          [1n, 9_007_199_254_740_993n],
          '{"x":[1,null]}',
          '123456789012345678901234567890.10',
          true,
          '2026-11-21',
          7,
        ],
      );
      expect(row).toEqual({
        eight: 9_007_199_254_740_993n,
        bytes: new Uint8Array([0, 92, 255]),
        at: new Date('2026-11-21T10:00:00.123Z'),
        texts: ['a', null, 'b,"\\c'],
        eights: [1n, 9_007_199_254_740_993n],
        json: { x: [1, null] },
        exact: '123456789012345678901234567890.10',
        yes: true,
        day: '2026-11-21',
        four: 7,
        nothing: null,
        float: 1.5,
        plain: '2026-11-21 10:00:00',
        exacts: ['1.10'],
      });
    });

    test('a statement asked often gives the same, also after it was refused once', async () => {
      const sql = `select $1::int8 as eight, $2::bytea as bytes, $3::text[] as texts,
                     $4::int4 as four, 10 / $4::int4 as share, $5::timestamptz as at, n.n
                   from generate_series(1, 2) as n(n) order by n.n`;
      const bytes = new Uint8Array([0, 92, 255]);
      const at = new Date('2026-11-21T10:00:00.123Z');
      const asked = (four: number | null, howOften: 'often' | 'now and then') =>
        database.query(sql, [1n, bytes, ['a', null, 'b,"\\c'], four, at], howOften);
      for (const four of [2, null, 5]) {
        expect(await asked(four, 'often')).toEqual(await asked(four, 'now and then'));
        expect(await asked(four, 'often')).toHaveLength(2);
      }
      await expect(asked(0, 'often')).rejects.toThrow(SqlError);
      expect(await asked(2, 'often')).toMatchObject([
        { eight: 1n, bytes, four: 2, share: 5, n: 1, at },
        { n: 2 },
      ]);
    });

    test('a statement that comes again gives what the tables hold by then, also once they changed', async () => {
      const all = () => database.query('select * from changing where n > $1::int order by n', [0]);
      const change = (sql: string) => database.transaction((session) => session.script(sql));
      await change('create table changing (n int); insert into changing values (1)');
      for (let time = 0; time < 3; time += 1) expect(await all()).toEqual([{ n: 1 }]);
      await change('alter table changing add column eight int8 default 8');
      for (let time = 0; time < 3; time += 1) expect(await all()).toEqual([{ n: 1, eight: 8n }]);
      const undone = database.transaction(async (session) => {
        await session.script('alter table changing add column text text');
        for (let time = 0; time < 3; time += 1) {
          expect(await session.query('select * from changing where n > $1::int', [0])).toEqual([
            { n: 1, eight: 8n, text: null },
          ]);
        }
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      const one = () => database.query('select * from changing where n > $1::int', [0]);
      for (let time = 0; time < 3; time += 1) expect(await one()).toEqual([{ n: 1, eight: 8n }]);
    });

    test('a wrong statement is a bug with its SQLSTATE, and the next statement works', async () => {
      await expect(database.query('select * from nowhere')).rejects.toMatchObject({
        name: 'SqlError',
        code: '42P01',
      });
      await expect(database.query('select $1::int4', [2 ** 40])).rejects.toBeInstanceOf(SqlError);
      expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
    });

    test('a transaction that throws leaves nothing, one that returns leaves all', async () => {
      await database.query('create table kept (n int primary key)');
      const undone = database.transaction(async (session) => {
        await session.query('insert into kept values (1)');
        throw new Error('on purpose');
      });
      await expect(undone).rejects.toThrow('on purpose');
      await database.transaction(async (session) => {
        await session.query('insert into kept values (2)');
        await session.script('insert into kept values (3); insert into kept values (4)');
      });
      expect(await database.query('select n from kept order by n')).toEqual([
        { n: 2 },
        { n: 3 },
        { n: 4 },
      ]);
    });

    test('a transaction that swallowed a failed statement is not called stored', async () => {
      await database.query('create table swallowed (n int primary key)');
      const swallowing = database.transaction(async (session) => {
        await session.query('insert into swallowed values (1)');
        await session.query('insert into swallowed values (1)').catch(() => undefined);
        return 'done';
      });
      await expect(swallowing).rejects.toMatchObject({ code: '23505' });
      expect(await database.query('select n from swallowed')).toEqual([]);
    });

    test('a transaction past its time is undone, its later statements refused', async () => {
      await database.query('create table late (n int)');
      let lateStatement: Promise<unknown> = Promise.resolve();
      const late = database.transaction(
        async (session) => {
          await session.query('insert into late values (1)');
          await new Promise((resolve) => setTimeout(resolve, 300));
          lateStatement = session.query('insert into late values (2)');
          await lateStatement;
        },
        { timeoutMs: 50 },
      );
      await expect(late).rejects.toBeInstanceOf(StoreUnavailable);
      await new Promise((resolve) => setTimeout(resolve, 400));
      await expect(lateStatement).rejects.toBeInstanceOf(StoreUnavailable);
      expect(await database.query('select n from late')).toEqual([]);
    });

    test('twenty transactions at once on one counter lose no increment', async () => {
      await database.query('create table counter (n int)');
      await database.query('insert into counter values (0)');
      await Promise.all(
        Array.from({ length: 20 }, () =>
          database.transaction(async (session) => {
            const [row] = await rowsAs<{ n: number }>(session, 'select n from counter for update');
            await session.query('update counter set n = $1', [Number(row?.n) + 1]);
          }),
        ),
      );
      expect(await database.query('select n from counter')).toEqual([{ n: 20 }]);
    });

    test('a closed store is unavailable, not a bug', async () => {
      const other = await fresh();
      await other.query('select 1');
      await other.close();
      await expect(other.query('select 1')).rejects.toBeInstanceOf(StoreUnavailable);
    });
  });

  describe(`${name}: migrations and the stamp`, () => {
    let directory: string;
    let database: Database;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'exhibit-migrations-'));
      await writeFile(
        join(directory, '0001_first.sql'),
        `create table deployment (only_one boolean primary key default true check (only_one),
           simulated boolean not null, secret_fingerprint text not null);
         create table first (n int);`,
      );
      database = await fresh();
    });
    afterAll(async () => {
      await database.close();
      await rm(directory, { recursive: true, force: true });
    });
    const tables = () =>
      database.query(
        `select tablename from pg_tables where schemaname = 'public' order by tablename`,
      );

    test('applies each file once, in order, however many start at once', async () => {
      const runs = await Promise.all([
        migrate(database, directory, LIVE),
        migrate(database, directory, LIVE),
        migrate(database, directory, LIVE),
      ]);
      expect(runs.flat()).toEqual(['0001_first.sql']);
      await writeFile(join(directory, '0002_second.sql'), 'create table second (n int);');
      expect(await migrate(database, directory, LIVE)).toEqual(['0002_second.sql']);
      expect(await migrate(database, directory, LIVE)).toEqual([]);
    });

    test('a file that fails leaves nothing of itself', async () => {
      const before = await tables();
      await writeFile(
        join(directory, '0003_third.sql'),
        'create table third (n int); select * from nowhere;',
      );
      await expect(migrate(database, directory, LIVE)).rejects.toMatchObject({ code: '42P01' });
      expect(await tables()).toEqual(before);
      await rm(join(directory, '0003_third.sql'));
    });

    test('refuses a store of the other world before it writes anything', async () => {
      const before = await tables();
      await writeFile(join(directory, '0003_third.sql'), 'create table third (n int);');
      const simulated = { ...LIVE, simulated: true };
      await expect(migrate(database, directory, simulated)).rejects.toThrow(
        'This control store holds live data and is never opened for the simulated world.',
      );
      const otherSecret = { ...LIVE, secret_fingerprint: 'bbbb' };
      await expect(migrate(database, directory, otherSecret)).rejects.toThrow(
        /EXHIBIT_SECRET is not the secret .* \(its fingerprint is bbbb, the store has aaaa\)/,
      );
      expect(await tables()).toEqual(before);
      await rm(join(directory, '0003_third.sql'));
    });

    test('takes a new secret where the stamped one is given as the previous', async () => {
      const rotated = {
        simulated: false,
        secret_fingerprint: 'bbbb',
        previous_fingerprint: 'aaaa',
      };
      expect(await migrate(database, directory, rotated)).toEqual([]);
      await expect(migrate(database, directory, LIVE)).rejects.toBeInstanceOf(MigrationRefused);
    });

    test('goes on over what a newer version added, and not over what it took away', async () => {
      const now = { ...LIVE, secret_fingerprint: 'bbbb' };
      const file = (name: string) => join(directory, name);
      await writeFile(file('0003_added.sql'), 'create table added (n int);');
      await writeFile(
        file('0004_gone.sql'),
        '-- Oldest program: 0003\nalter table second drop column n;',
      );
      await migrate(database, directory, now);
      await rm(file('0004_gone.sql'));
      expect(await migrate(database, directory, now)).toEqual([]);
      await rm(file('0003_added.sql'));
      await expect(migrate(database, directory, now)).rejects.toThrow(
        '0004_gone.sql was applied by a newer version: run that version.',
      );
      await database.query(`delete from migrations where name = '0004_gone.sql'`);
      expect(await migrate(database, directory, now)).toEqual([]);
      await database.query(`delete from migrations where name = '0003_added.sql'`);
    });

    test('refuses a changed file, and one of a version that did not say who may go on', async () => {
      const now = { ...LIVE, secret_fingerprint: 'bbbb' };
      await writeFile(join(directory, '0002_second.sql'), 'create table second (n bigint);');
      await expect(migrate(database, directory, now)).rejects.toThrow(
        '0002_second.sql was changed after it was applied: restore it.',
      );
      await rm(join(directory, '0002_second.sql'));
      expect(await migrate(database, directory, now)).toEqual([]);
      await database.query('update migrations set oldest = null');
      await expect(migrate(database, directory, now)).rejects.toThrow(
        '0002_second.sql was applied by a newer version: run that version.',
      );
    });
  });
}
