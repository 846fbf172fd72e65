// Answers one question: against which PostgreSQL do the tests of the control store run.
// A server that EXHIBIT_TEST_POSTGRES_URL names, or one started here from the installed binaries;
// and empty directories of the embedded engine, copied from one that is created once.

import { execFileSync, fork, spawn } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';

/** A server with room for databases of the tests. */
export type TestPostgres = {
  /** Creates an empty database and gives its URL. */
  readonly freshDatabase: () => Promise<string>;
  readonly stop: () => Promise<void>;
};

const BINARIES = '/usr/lib/postgresql';
const START_TIMEOUT_MS = 30_000;
const START_POLL_MS = 50;

/** Why there is no server to test against, or `null` where there is one. */
export const NO_POSTGRES: string | null =
  process.env['EXHIBIT_TEST_POSTGRES_URL'] !== undefined || binaries() !== null
    ? null
    : 'skipped: no PostgreSQL server (install postgresql-15)';

/** The named server, or one of our own on 127.0.0.1, with `name=value` settings beside. */
export async function testPostgres(settings: readonly string[] = []): Promise<TestPostgres> {
  const named = process.env['EXHIBIT_TEST_POSTGRES_URL'];
  if (named !== undefined) return serverAt(named, async () => undefined);
  const bin = binaries();
  if (bin === null) throw new Error(String(NO_POSTGRES));
  return await startServer(bin, settings);
}

function binaries(): string | null {
  if (!existsSync(BINARIES)) return null;
  const versions = readdirSync(BINARIES).sort((a, b) => Number(b) - Number(a));
  const version = versions.find((v) => existsSync(join(BINARIES, v, 'bin', 'initdb')));
  return version === undefined ? null : join(BINARIES, version, 'bin');
}

/** PostgreSQL refuses to run as root: there it runs as the user of its own package. */
function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function startServer(bin: string, settings: readonly string[]): Promise<TestPostgres> {
  const user = serverUser();
  const home = mkdtempSync(join(tmpdir(), 'exhibit-test-postgres-'));
  if (user !== null) chownSync(home, user.uid, user.gid);
  const data = join(home, 'data');
  const as = user === null ? {} : user;
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'exhibit', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions'],
    { ...as, cwd: home, stdio: 'ignore' },
  );
  const port = await freePort();
  const server = spawn(
    join(bin, 'postgres'),
    [
      ...['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', home],
      ...['max_connections=60', ...settings].flatMap((one) => ['-c', one]),
    ],
    { ...as, cwd: home, stdio: 'ignore' },
  );
  const kill = () => void server.kill('SIGQUIT');
  process.once('exit', kill);
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const url = `postgres://exhibit@127.0.0.1:${port}/postgres`;
  await answering(url, () => server.exitCode !== null);
  return serverAt(url, async () => {
    process.removeListener('exit', kill);
    server.kill('SIGINT');
    await ended;
    rmSync(home, { recursive: true, force: true });
  });
}

function serverAt(url: string, stop: () => Promise<void>): TestPostgres {
  return {
    freshDatabase: async () => {
      const name = `exhibit_${process.pid}_${Math.random().toString(36).slice(2)}`;
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      const fresh = new URL(url);
      fresh.pathname = `/${name}`;
      return fresh.href;
    },
    stop,
  };
}

async function answering(url: string, failed: () => boolean): Promise<void> {
  const end = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < end && !failed()) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    client.on('error', () => undefined);
    const up = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => undefined);
    if (up) return;
    await new Promise((resolve) => setTimeout(resolve, START_POLL_MS));
  }
  throw new Error('the PostgreSQL server for the tests did not start');
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port was given');
  return address.port;
}

let template: Promise<string> | null = null;

/** An empty directory of the embedded engine, ready to open. The caller removes it. */
export async function freshPgliteDirectory(): Promise<string> {
  if (template === null) template = createTemplate();
  const made = await template;
  const copy = join(mkdtempSync(join(tmpdir(), 'exhibit-test-pglite-')), 'control');
  cpSync(made, copy, { recursive: true });
  return copy;
}

/** Creating takes seconds, so one directory is kept for all tests on this version of the engine. */
async function createTemplate(): Promise<string> {
  const kept = join(tmpdir(), `exhibit-test-template-${engineVersion()}-${process.getuid?.()}`);
  if (existsSync(kept)) return join(kept, 'control');
  const home = mkdtempSync(join(tmpdir(), 'exhibit-test-pglite-'));
  const entry = join(import.meta.dirname, '../../dist/stores/control/engine/pglite-create.js');
  const child = fork(entry, [join(home, 'control')], { execArgv: [], stdio: 'inherit' });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      if (status === 0) resolve();
      else reject(new Error('the embedded engine did not create its directory: is dist/ built?'));
    });
  });
  try {
    renameSync(home, kept);
  } catch {
    // Another run was first: its directory is as good.
    rmSync(home, { recursive: true, force: true });
  }
  return join(kept, 'control');
}

function engineVersion(): string {
  const path = join(import.meta.dirname, '../../node_modules/@electric-sql/pglite/package.json');
  const version = /"version": "([0-9a-z.-]+)"/.exec(readFileSync(path, 'utf8'))?.[1];
  if (version === undefined) throw new Error('the embedded engine has no version');
  return version;
}
