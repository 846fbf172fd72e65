// A server that EXHIBIT_TEST_POSTGRES_URL names, or one started here from the installed binaries;
// and directories of the embedded engine, empty or with all tables, copied from a template.

import { execFileSync, fork, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { migrate } from '../stores/control/engine/migrate.ts';
import { openPglite } from '../stores/control/engine/pglite.ts';
import { freePort } from './free-port.ts';
import { oncePerRun } from './once-per-run.ts';

/** A server with room for databases of the tests. */
export type TestPostgres = {
  /** Creates an empty database and gives its URL. */
  readonly freshDatabase: () => Promise<string>;
  readonly stop: () => Promise<void>;
};

/** Where the migrations of the control store lie. */
export const MIGRATIONS = join(import.meta.dirname, '../../migrations/control');

const BINARIES = '/usr/lib/postgresql';
const START_TIMEOUT_MS = 30_000;
const START_POLL_MS = 50;

/** Why there is no server to test against, or `null` where there is one. */
export const NO_POSTGRES: string | null =
  process.env['EXHIBIT_TEST_POSTGRES_URL'] !== undefined || binaries() !== null
    ? null
    : 'skipped: no PostgreSQL server (install postgresql-15)';

let shared: Promise<TestPostgres> | null = null;

/**
 * The named server, or one on 127.0.0.1 that all tests of this process share; with `name=value`
 * settings one of its own.
 */
export async function testPostgres(settings: readonly string[] = []): Promise<TestPostgres> {
  const named = process.env['EXHIBIT_TEST_POSTGRES_URL'];
  if (named !== undefined) return serverAt(named, async () => undefined);
  const bin = binaries();
  if (bin === null) throw new Error(String(NO_POSTGRES));
  if (settings.length > 0) return await startServer(bin, settings);
  if (shared === null) shared = startServer(bin, []);
  return { ...(await shared), stop: async () => undefined };
}

/** The programs of the newest installed server and its client. */
export function binaries(): string | null {
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

/** Runs a program until its input ends, which it does with the process that holds the other end. */
const UNTIL_INPUT_ENDS =
  'exec 3<&0; "$@" & server=$!; (cat <&3 >/dev/null; kill -QUIT $server) & wait $server';

/** No test takes the power away, and none has a statement long enough to be compiled. */
const UNSAVED = ['fsync=off', 'synchronous_commit=off', 'jit=off'];

async function startServer(bin: string, settings: readonly string[]): Promise<TestPostgres> {
  const home = mkdtempSync(join(tmpdir(), 'exhibit-test-postgres-'));
  const port = await freePort();
  createCluster(bin, home);
  const server = await launch(bin, { home, port, settings });
  return serverAt(server.url, async () => {
    await server.end();
    rmSync(home, { recursive: true, force: true });
  });
}

/** A server whose files lie in a folder: it ends at once, and starts again at the same URL. */
export async function restartablePostgres(home: string, settings: readonly string[]) {
  const bin = binaries();
  if (bin === null) throw new Error(String(NO_POSTGRES));
  const port = await freePort();
  createCluster(bin, home);
  const place = { home, port, settings };
  let server = await launch(bin, place);
  return {
    ...serverAt(server.url, () => server.end()),
    /** As `pg_ctl restart -m immediate`: what was not committed is gone. */
    restart: async () => {
      await server.end();
      server = await launch(bin, place);
    },
    /** Whether the server ended by itself, as one does whose disk is full. */
    hasEnded: () => server.hasEnded(),
  };
}

function createCluster(bin: string, home: string): void {
  const user = serverUser();
  if (user !== null) chownSync(home, user.uid, user.gid);
  execFileSync(
    join(bin, 'initdb'),
    [
      ...['-D', join(home, 'data'), '-U', 'exhibit', '-A', 'trust', '-E', 'UTF8'],
      ...['--no-sync', '--no-instructions'],
    ],
    { ...user, cwd: home, stdio: 'ignore' },
  );
}

type Place = {
  readonly home: string;
  readonly port: number;
  readonly settings: readonly string[];
};

async function launch(bin: string, { home, port, settings }: Place) {
  const words = [
    ...[join(bin, 'postgres'), '-D', join(home, 'data'), '-p', String(port)],
    ...['-h', '127.0.0.1', '-k', home],
    ...['max_connections=200', ...UNSAVED, ...settings].flatMap((one) => ['-c', one]),
  ];
  const server = spawn('sh', ['-c', UNTIL_INPUT_ENDS, 'sh', ...words], {
    ...serverUser(),
    cwd: home,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  // The pipe of a server that ended by itself is broken.
  server.stdin.on('error', () => undefined);
  const url = `postgres://exhibit@127.0.0.1:${port}/postgres`;
  await answering(url, () => server.exitCode !== null);
  return {
    url,
    hasEnded: () => server.exitCode !== null,
    end: async () => {
      server.stdin.end();
      await ended;
    },
  };
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

/** A server seen through a wire that can be cut, joined again and held still, at one URL. */
export async function cuttable(url: string) {
  const target = new URL(url);
  const near = new URL(url);
  const sockets = new Map<Socket, Socket>();
  let isFrozen = false;
  const server = createServer((caller) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of new Map([
      [caller, far],
      [far, caller],
    ])) {
      sockets.set(from, to);
      from.on('error', () => undefined);
      if (isFrozen) from.pause();
      else from.pipe(to);
    }
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the wire has no port');
  near.host = `127.0.0.1:${address.port}`;
  return {
    url: near.href,
    cut: () => {
      server.close();
      for (const socket of sockets.keys()) socket.destroy();
      sockets.clear();
    },
    restore: () => listen(address.port),
    /** Carries nothing, its connections open, until it is told otherwise. */
    freeze: (frozen: boolean) => {
      isFrozen = frozen;
      for (const [from, to] of sockets) {
        if (frozen) from.unpipe(to).pause();
        else from.pipe(to);
      }
    },
  };
}

/** An empty directory of the embedded engine, ready to open. The caller removes it. */
export async function emptyPgliteDirectory(): Promise<string> {
  const control = join(mkdtempSync(join(tmpdir(), 'exhibit-test-pglite-')), 'control');
  copyPrivately(await oncePerRun('pglite-directory', createTemplate), control);
  return control;
}

/** A directory of the embedded engine with all tables, which belongs to nobody yet. */
export async function freshPgliteDirectory(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'exhibit-test-pglite-'));
  await createControlIn(folder);
  return join(folder, 'control');
}

/**
 * Creates the embedded control store of a data directory: a start finds its tables there, and
 * stamps it as its own.
 */
export async function createControlIn(dataDir: string): Promise<void> {
  copyPrivately(await oncePerRun('control-directory', migrateTemplate), join(dataDir, 'control'));
}

const OWNER_ONLY = 0o700;

function copyPrivately(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  chmodSync(to, OWNER_ONLY);
}

/** The migrations take a second of processors, as many times as there are stores in a run. */
async function migrateTemplate(): Promise<string> {
  const directory = await emptyPgliteDirectory();
  const database = await openPglite(directory);
  const nobody = { simulated: false, secret_fingerprint: '', previous_fingerprint: null };
  await migrate(database, MIGRATIONS, nobody);
  await database.query('delete from deployment');
  await database.close();
  return directory;
}

/** Creating takes seconds, so that it is done once. */
async function createTemplate(): Promise<string> {
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
  return join(home, 'control');
}
