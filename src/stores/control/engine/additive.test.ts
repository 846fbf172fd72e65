// A process of the version before runs on while a newer one changes the tables under it. So each
// file is applied to an engine, and the tables are compared before and after: nothing is dropped,
// renamed or narrowed, but by a file that says which programs do without what it takes away.

import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { emptyPgliteDirectory, MIGRATIONS } from '../../../testing/postgres.ts';
import { rowsAs } from '../../../testing/rows-as.ts';
import type { Database, Session } from './database.ts';
import { openPglite } from './pglite.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** The last file before older processes were promised that they may go on. */
const BEFORE_THE_PROMISE = '0027_log_hashes.sql';

type Column = { type: string; required: boolean; filled: boolean };
type Schema = {
  readonly columns: ReadonlyMap<string, Column>;
  /** Rules that a row has to keep: `table: definition`. */
  readonly rules: readonly string[];
};

async function schemaOf(session: Pick<Session, 'query'>): Promise<Schema> {
  const columns = await rowsAs<Column & { name: string }>(
    session as Database,
    `select c.relname || '.' || a.attname as name,
       format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required,
       (a.atthasdef or a.attidentity <> '') as filled
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind in ('r', 'p') and a.attnum > 0
       and not a.attisdropped`,
  );
  const rules = await rowsAs<{ rule: string }>(
    session as Database,
    `select c.relname || ': ' || pg_get_constraintdef(k.oid) as rule
     from pg_constraint k join pg_class c on c.oid = k.conrelid
     join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and k.contype <> 'n'
     union all
     select tablename || ': ' || indexdef from pg_indexes
     where schemaname = 'public' and indexdef like 'CREATE UNIQUE%'
     union all
     select c.relname || ': ' || pg_get_triggerdef(t.oid) from pg_trigger t
     join pg_class c on c.oid = t.tgrelid where not t.tgisinternal`,
  );
  return {
    columns: new Map(columns.map(({ name, ...column }) => [name, column])),
    rules: rules.map(({ rule }) => rule).sort(),
  };
}

const tableOf = (name: string) => String(/^\w+/.exec(name));

/** Everything by which a change of tables could fail a program that knows the tables before it. */
function narrowings(before: Schema, after: Schema): string[] {
  const tables = new Set([...before.columns.keys()].map(tableOf));
  const found: string[] = [];
  for (const [name, column] of before.columns) {
    const now = after.columns.get(name);
    if (now === undefined) found.push(`${name} is gone`);
    else {
      if (now.type !== column.type) found.push(`${name} is ${now.type}`);
      if (now.required && !column.required) found.push(`${name} is required`);
      if (now.required && column.filled && !now.filled) found.push(`${name} is not filled`);
    }
  }
  for (const [name, { required, filled }] of after.columns) {
    const isNew = tables.has(tableOf(name)) && !before.columns.has(name);
    if (isNew && required && !filled) found.push(`${name} is required`);
  }
  for (const rule of after.rules) {
    if (tables.has(tableOf(rule)) && !before.rules.includes(rule)) found.push(`rule ${rule}`);
  }
  return found;
}

let directory: string;
let database: Database;
beforeAll(async () => {
  directory = await emptyPgliteDirectory();
  database = await openPglite(directory);
});
afterAll(async () => {
  await database.close();
  await rm(dirname(directory), { recursive: true });
});

test('no file since the promise drops, renames or narrows anything unannounced', async () => {
  const files = readdirSync(MIGRATIONS).sort();
  expect(files).toContain(BEFORE_THE_PROMISE);
  for (const name of files) {
    const sql = readFileSync(join(MIGRATIONS, name), 'utf8');
    const isHeld = name > BEFORE_THE_PROMISE;
    const before = isHeld ? await schemaOf(database) : null;
    await database.transaction((session) => session.script(sql));
    if (before === null) continue;
    const [, oldest] = /^-- Oldest program: ([0-9]{4})$/m.exec(sql) ?? [];
    const found = narrowings(before, await schemaOf(database));
    if (oldest === undefined) expect(found, name).toEqual([]);
    else expect(oldest < name.slice(0, 4), `${name}: a version before it does without`).toBe(true);
  }
});

const HOLDS = 'create table held (a int not null default 1, b text, c int, unique (c))';
test.each([
  ['drop table held', ['held.a is gone', 'held.b is gone', 'held.c is gone']],
  ['alter table held drop column b', ['held.b is gone']],
  ['alter table held rename column b to d', ['held.b is gone']],
  ['alter table held alter column c type smallint', ['held.c is smallint']],
  ['alter table held alter column b set not null', ['held.b is required']],
  ['alter table held alter column a drop default', ['held.a is not filled']],
  ['alter table held add column d int not null', ['held.d is required']],
  ["alter table held add check (b <> '')", ["rule held: CHECK ((b <> ''::text))"]],
  [
    'create unique index on held (b)',
    ['rule held: CREATE UNIQUE INDEX held_b_idx ON public.held USING btree (b)'],
  ],
  ['alter table held add column d int not null default 2', []],
  ['alter table held add column d text; create index on held (d)', []],
  ['create table other (a int primary key, b text not null)', []],
  ['alter table held drop constraint held_c_key', []],
])('%s: %j', async (sql, expected) => {
  const undo = new Error('undone');
  const tried = database.transaction(async (session) => {
    await session.script(HOLDS);
    const before = await schemaOf(session);
    await session.script(sql);
    expect(narrowings(before, await schemaOf(session))).toEqual(expected);
    throw undo;
  });
  await expect(tried).rejects.toBe(undo);
});
