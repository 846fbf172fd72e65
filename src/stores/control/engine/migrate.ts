// One set of files for both engines, applied in order, each once, all or none.
// It refuses a changed file, and a store that belongs to another deployment. A file that only a
// newer version knows is passed over where that version said that programs without it may go on.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Database, onlyRow, type Session, StoreUnavailable } from './database.ts';

/** To whom a store belongs. The fingerprint is of the root secret; the secret is never stored. */
export type Deployment = {
  readonly simulated: boolean;
  readonly secret_fingerprint: string;
  /** The fingerprint of the secret before, during a rotation. */
  readonly previous_fingerprint: string | null;
};

/** The store cannot be used as it is. The message is one clear line for the operator. */
export class MigrationRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MigrationRefused';
  }
}

type Migration = {
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
  /** The oldest program that may run over the store after it, by the newest file it knows. */
  readonly oldest: string;
};

/** What additive files leave: whoever could run before can run after them. */
const ANY_PROGRAM = '0000';
/** In the head of a file that takes away what no program from that file on uses any more. */
const OLDEST_PROGRAM = /^-- Oldest program: ([0-9]{4})$/m;

/** All migrations together may take so long. */
const MIGRATION_TIMEOUT_MS = 600_000;
/** An arbitrary number, the same in every process: who holds it may change the tables. */
const MIGRATION_LOCK = 7_166_923_101;
const MIGRATION_NAME = /^[0-9]{4}_[a-z0-9_]+\.sql$/;

/**
 * Brings the store up to date and stamps it. Returns the names of the files applied now.
 * Throws MigrationRefused before anything is written where the store is not this deployment's.
 */
export async function migrate(
  database: Database,
  directory: string,
  deployment: Deployment,
): Promise<readonly string[]> {
  const files = await readMigrations(directory);
  return await database.transaction(
    async (session) => {
      await session.query('select pg_advisory_xact_lock($1::bigint)', [MIGRATION_LOCK]);
      const stamped = await checkStamp(session, deployment);
      const applied = await applyMissing(session, files);
      if (stamped !== 'current') {
        await session.query(
          'insert into deployment (simulated, secret_fingerprint) values ($1, $2) ' +
            'on conflict (only_one) do update set secret_fingerprint = excluded.secret_fingerprint',
          [deployment.simulated, deployment.secret_fingerprint],
        );
      }
      return applied;
    },
    { timeoutMs: MIGRATION_TIMEOUT_MS },
  );
}

async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const files: Migration[] = [];
  for (const name of names) {
    if (!MIGRATION_NAME.test(name)) {
      throw new MigrationRefused(`${name}: a migration is named like 0001_schema.sql`);
    }
    const sql = await readFile(join(directory, name), 'utf8');
    const sha256 = createHash('sha256').update(sql).digest('hex');
    const said = OLDEST_PROGRAM.exec(sql)?.[1];
    files.push({ name, sql, sha256, oldest: said === undefined ? ANY_PROGRAM : said });
  }
  if (files.length === 0) throw new MigrationRefused('no migrations were found beside the program');
  return files;
}

const existsRow = z.strictObject({ there: z.boolean() });
const stampRow = z.strictObject({ simulated: z.boolean(), secret_fingerprint: z.string() });
const appliedRow = z.strictObject({
  name: z.string(),
  sha256: z.string(),
  /** `null`: it was applied before files said so. */
  oldest: z.string().nullable(),
});

async function exists(session: Session, table: string): Promise<boolean> {
  const [row] = await session.query('select to_regclass($1::text) is not null as there', [table]);
  return existsRow.parse(row).there;
}

async function checkStamp(
  session: Session,
  deployment: Deployment,
): Promise<'none' | 'current' | 'previous'> {
  if (!(await exists(session, 'deployment'))) return 'none';
  const [held] = await session.query('select simulated, secret_fingerprint from deployment');
  if (held === undefined) return 'none';
  const stamp = stampRow.parse(held);
  if (stamp.simulated !== deployment.simulated) {
    throw new MigrationRefused(
      stamp.simulated
        ? 'This control store holds simulated data and is never opened live: name another one.'
        : 'This control store holds live data and is never opened for the simulated world.',
    );
  }
  if (stamp.secret_fingerprint === deployment.secret_fingerprint) return 'current';
  if (stamp.secret_fingerprint === deployment.previous_fingerprint) return 'previous';
  throw new MigrationRefused(
    'EXHIBIT_SECRET is not the secret that this control store was made with ' +
      `(its fingerprint is ${deployment.secret_fingerprint}, ` +
      `the store has ${stamp.secret_fingerprint}): ` +
      'set that one, or set it as EXHIBIT_SECRET_PREVIOUS to rotate.',
  );
}

/** Runs statements that change tables; a role that may not is told who does. */
async function change(session: Session, name: string, sql: string): Promise<void> {
  await session.script(sql).catch((fault: unknown): never => {
    if (!(fault instanceof StoreUnavailable) || fault.code !== NOT_ALLOWED) throw fault;
    throw new MigrationRefused(
      `${name} is not applied yet, and this role may change no table: ` +
        'run a command as the owner of the tables first.',
    );
  });
}

const NOT_ALLOWED = '42501';
const HAS_LEDGER = `
  select exists (select from pg_attribute
    where attrelid = to_regclass('migrations') and attname = 'oldest') as there`;

async function applyMissing(
  session: Session,
  files: readonly Migration[],
): Promise<readonly string[]> {
  // A role that may change no table starts over a store that lacks nothing.
  if (!existsRow.parse(onlyRow(await session.query(HAS_LEDGER))).there) {
    const made =
      'create table if not exists migrations (name text primary key, sha256 text not null, ' +
      'applied_at timestamptz not null default now(), oldest text)';
    const added = 'alter table migrations add column if not exists oldest text';
    await change(session, 'The first migration', `${made}; ${added}`);
  }
  const held = await session.query('select name, sha256, oldest from migrations order by name');
  const rows = z.array(appliedRow).parse(held);
  const recorded = new Map(rows.map((row) => [row.name, row.sha256]));
  const known = new Set(files.map((file) => file.name));
  const newest = String(files.at(-1)?.name).slice(0, ANY_PROGRAM.length);
  for (const { name, oldest } of rows) {
    if (!known.has(name) && (oldest === null || oldest > newest)) {
      throw new MigrationRefused(`${name} was applied by a newer version: run that version.`);
    }
  }
  const applied: string[] = [];
  for (const { name, sql, sha256, oldest } of files) {
    const before = recorded.get(name);
    if (before === sha256) continue;
    if (before !== undefined) {
      throw new MigrationRefused(`${name} was changed after it was applied: restore it.`);
    }
    await change(session, name, sql);
    await session.query('insert into migrations (name, sha256, oldest) values ($1, $2, $3)', [
      ...[name, sha256, oldest],
    ]);
    applied.push(name);
  }
  return applied;
}
