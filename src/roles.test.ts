// The roles of deploy/roles.sql: the service works whole with a role for each process, and none of
// them can do more than its process needs.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { openPostgres } from './stores/control/engine/postgres.ts';
import { evm } from './testing/addresses.ts';
import {
  type Credentials,
  credentialsOf,
  READ_ROUTES,
  requestPathOf,
  SERVES_EVERY_ROUTE,
  SUBJECT,
} from './testing/every-route.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { type LiveProgram, startLive } from './testing/live-program.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { deliveryHeaders, membershipEvent } from './testing/payment-platform.ts';
import { NO_POSTGRES, type TestPostgres, testPostgres } from './testing/postgres.ts';
import { type Program, startProgram, untilSaid } from './testing/program.ts';
import { rowsAs } from './testing/rows-as.ts';
import { type StartedChats, startChats } from './world/chat-api.ts';
import { startExplorer } from './world/explorer-api.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });
const ROLES = new URL('../deploy/roles.sql', import.meta.url).pathname;
const MIGRATIONS = new URL('../migrations/control/', import.meta.url);
const SECRET = 'a-secret-that-all-processes-know';
const WEBHOOK_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const BLOCKS = 30_000;

const home = mkdtempSync(join(tmpdir(), 'exhibit-roles-'));
let postgres: TestPostgres;
let database: string;
let live: LiveProgram;
let serve: Program;
let chats: StartedChats;
let credentials: Credentials;

const as = (role: string) => {
  const url = new URL(database);
  url.username = role;
  return url.href;
};

/** Runs a statement as a role; the SQLSTATE of a refusal. */
async function tried(role: string, sql: string): Promise<string> {
  const opened = openPostgres(as(role));
  const undone = new Error('done');
  const refused = await opened
    .transaction(async (session) => {
      await session.script(sql);
      throw undone;
    })
    .catch((fault: unknown) => fault);
  await opened.close();
  return refused === undone ? 'done' : String(Object(refused).code);
}
const DENIED = '42501';

const giveRoles = () =>
  execFileSync('psql', ['--set=ON_ERROR_STOP=1', '--quiet', `--file=${ROLES}`, database], {
    stdio: 'pipe',
    encoding: 'utf8',
  });

const env = (role: string, name: string) => ({
  EXHIBIT_DATABASE_URL: as(role),
  EXHIBIT_DATA_DIR: join(home, name),
  EXHIBIT_SECRET: SECRET,
  EXHIBIT_PORT: '0',
});

/** The refused statements of the server's own log, with the role of each. */
async function refusals(): Promise<string[]> {
  const opened = openPostgres(database);
  const rows = await rowsAs<{ said: string }>(
    opened,
    'select pg_read_file(pg_current_logfile()) as said',
  );
  await opened.close();
  const lines = rows.flatMap(({ said }) => said.split('\n'));
  return lines.filter((line) => line.includes('permission denied'));
}

describe.skipIf(NO_POSTGRES !== null)(`a role for each process ${NO_POSTGRES ?? ''}`, () => {
  beforeAll(async () => {
    postgres = await testPostgres([...['logging_collector=on', 'log_line_prefix=%u ']]);
    database = await postgres.freshDatabase();
    giveRoles();
    const migrated = { cwd: home, env: env('exhibit_owner', 'owner') };
    const { status, out, err } = await startProgram(['migrate'], migrated).ended;
    expect([status, err]).toEqual([0, '']);
    expect(out).toContain('up to date');
    giveRoles();
    chats = await startChats();
    const explorer = await startExplorer({
      headOf: () => BLOCKS,
      timeOf: (_, block) => Math.floor(Date.now() / 1_000) - (BLOCKS - block) * 12,
      rowsOf: () => [],
      rowsOfToken: () => [],
    });
    live = await startLive({
      words: ['work'],
      listed: [evm('listed')],
      explorer,
      settings: {
        ...SERVES_EVERY_ROUTE,
        ...env('exhibit_work', 'work'),
        EXHIBIT_SLACK_URL: chats.roots.slack,
        EXHIBIT_PAYMENT_WEBHOOK_SECRET: WEBHOOK_SECRET,
        EXHIBIT_LOG_ORIGIN: 'log.example',
      },
    });
    serve = startProgram(['serve'], {
      cwd: home,
      env: { ...live.env, ...env('exhibit_serve', 'serve') },
    });
    await untilSaid(serve, 'Pages to open');
    const base = String(/Serving (http:\/\/\S+)/.exec(serve.out() + serve.err())?.[1]);
    live = { ...live, base: () => base };
    credentials = await credentialsOf(live);
  });
  afterAll(async () => {
    serve?.child.kill('SIGKILL');
    await serve?.ended;
    await live?.close();
    await chats?.close();
    await postgres?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const ask = async (access: string, path: string, init: RequestInit = {}) => {
    const headers = { ...credentials[access], ...init.headers };
    const answer = await fetchPatiently(live.base() + path, {
      ...init,
      headers,
      redirect: 'manual',
    });
    return { status: answer.status, text: await answer.text() };
  };
  const post = (access: string, path: string, body: object, method = 'POST') => {
    const init = { method, headers: { 'content-type': 'application/json' } };
    return ask(access, path, { ...init, body: JSON.stringify(body) });
  };

  test('every route answers, and what callers leave is kept', async () => {
    for (const route of READ_ROUTES) {
      const { status, text } = await ask(route.access, requestPathOf(route));
      const isFine = status < 500 || route.name === 'rugs_leaderboard';
      expect([route.name, isFine ? '' : text]).toEqual([route.name, '']);
    }
    const many = { addresses: [SUBJECT] };
    expect((await post('desk', '/api/v1/bulk/wallet-screen', many)).status).toBe(200);
    expect((await post('desk', '/api/v1/screens', { address: SUBJECT })).status).toBe(201);
    const added = await post('desk', '/api/v1/watchlist', { address: SUBJECT });
    expect(added.status).toBe(201);
    const id = /wch_[0-9a-f]+/.exec(added.text)?.[0];
    expect((await ask('desk', `/api/v1/watchlist/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await post('partner', `/api/v1/scan/${SUBJECT}`, {})).status).toBe(200);
    const hook = 'https://hooks.slack.com/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx';
    const chat = await post('desk', '/integrations/slack/connect', { webhook_url: hook });
    expect(chat.status).toBe(201);
    const made: unknown = JSON.parse(chat.text);
    const chatId = String(Object(made).id);
    expect((await post('desk', `/integrations/${chatId}/test`, {})).status).toBe(200);
    const gone = await ask('desk', `/integrations/${chatId}`, { method: 'DELETE' });
    expect(gone.status).toBe(200);
    const at = Math.floor(Date.now() / 1_000);
    const event = membershipEvent({ at });
    const paid = await fetchPatiently(`${live.base()}/webhooks/payments`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...deliveryHeaders([WEBHOOK_SECRET], 'msg_1', at, event),
      },
      body: event,
    });
    expect(paid.status).toBe(200);
  });

  test('the paths of the probes answer in a process that is ready', async () => {
    const cluster = readFileSync(ROLES.replace('roles.sql', 'kubernetes.yaml'), 'utf8');
    const paths = [...cluster.matchAll(/httpGet: \{ path: (\S+),/g)].map(([, path]) => path);
    expect(paths).toEqual(['/ready', '/ready', '/health']);
    for (const path of paths) {
      expect([path, (await fetchPatiently(live.base() + path)).status]).toEqual([path, 200]);
    }
  });

  test('a key that is reported as leaked is ended by a process that only answers', async () => {
    const key = String(credentials['desk']?.['authorization']).replace('Bearer ', '');
    expect((await post('open', '/api/v1/keys/leaked', { key })).status).toBe(202);
    await vi.waitFor(
      async () => expect((await ask('desk', `/api/v1/wallet/${SUBJECT}/ofac`)).status).toBe(402),
      { timeout: 10_000, interval: 200 },
    );
  });

  test('no statement of any process was refused for want of a right', async () => {
    await vi.waitFor(() => expect(live.err()).not.toContain('the role lacks'), 1_000);
    expect(await refusals()).toEqual([]);
  });

  test.each([
    ['exhibit_serve', 'create table mine (n int)'],
    ['exhibit_serve', 'create temporary table mine (n int)'],
    ['exhibit_serve', 'alter table api_keys add column mine int'],
    ['exhibit_serve', 'drop table api_keys'],
    ['exhibit_serve', 'truncate api_keys'],
    ['exhibit_serve', 'delete from sanctions_entries'],
    ['exhibit_serve', 'update sanctions_current set publication_id = null'],
    ['exhibit_serve', 'insert into exchange_labels default values'],
    ['exhibit_serve', 'insert into signals default values'],
    ['exhibit_serve', 'insert into log_leaves default values'],
    ['exhibit_serve', 'insert into log_checkpoints default values'],
    ['exhibit_serve', 'insert into emitted_calls default values'],
    ['exhibit_serve', 'insert into rug_models default values'],
    ['exhibit_serve', 'update leases set epoch = epoch + 1'],
    ['exhibit_serve', 'delete from api_keys'],
    ['exhibit_serve', 'delete from access_changes'],
    ['exhibit_serve', 'delete from memberships'],
    ['exhibit_serve', 'select raw from anchor_transactions'],
    ['exhibit_serve', 'select * from walk_callers'],
    ['exhibit_work', 'create table mine (n int)'],
    ['exhibit_work', 'alter table signals disable trigger all'],
    ['exhibit_work', 'truncate signals'],
    ['exhibit_work', 'update deployment set simulated = true'],
    ['exhibit_work', 'delete from migrations'],
    ['exhibit_read', 'select hash from api_keys'],
    ['exhibit_read', 'select * from sessions'],
    ['exhibit_read', 'select sealed from integrations'],
    ['exhibit_read', 'select * from signing_keys'],
    ['exhibit_read', 'select * from screening_records'],
    ['exhibit_read', 'select * from watched_addresses'],
    ['exhibit_read', 'select * from key_usage'],
    ['exhibit_read', 'select dispatch_id from deliveries'],
    ['exhibit_read', 'delete from signals'],
  ])('%s may not: %s', async (role, sql) => {
    expect(await tried(role, sql)).toBe(DENIED);
  });

  test('a dashboard reads what waits', async () => {
    const waiting = 'select count(*) from deliveries where dead_at is null';
    expect(await tried('exhibit_read', waiting)).toBe('done');
    expect(await tried('exhibit_read', 'select count(*) from signals')).toBe('done');
  });

  test('a process that may change no table says who does, where a migration is missing', async () => {
    const other = new URL(await postgres.freshDatabase());
    other.username = 'exhibit_serve';
    const given = { ...env('exhibit_serve', 'other'), EXHIBIT_DATABASE_URL: other.href };
    const { status, err } = await startProgram(['serve'], { cwd: home, env: given }).ended;
    expect(status).not.toBe(0);
    expect(err).toContain('run a command as the owner of the tables first');
  });
});

test('the file names each table of the migrations, and no other, once for those that answer', () => {
  const files = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql'));
  const text = files.map((name) => readFileSync(new URL(name, MIGRATIONS), 'utf8')).join('\n');
  const made = [...text.matchAll(/^create (?:unlogged )?table (\w+)/gm)].map(([, name]) => name);
  const gone = [...text.matchAll(/^drop table (\w+)/gm)].map(([, name]) => name);
  const tables = [...made.filter((name) => !gone.includes(name)), 'migrations'].sort();
  const sql = readFileSync(ROLES, 'utf8');
  const [, serves = '', unserved = ''] =
    /serves constant[^[]*\[(.*?)\];.*?unserved constant text := (.*?);/s.exec(sql) ?? [];
  const named = [...serves.matchAll(/\['[a-z, ]+', '([a-z_ ]+)'\]/g)].map(([, words]) => words);
  const others = [...unserved.matchAll(/'([^']*)'/g)].map(([, words]) => words);
  const all = [...named, ...others].flatMap((words) => String(words).trim().split(' '));
  expect(all.sort()).toEqual(tables);
});

test('the statements for ClickHouse are statements of its grammar', async () => {
  const warehouse = await freshWarehouse();
  const text = readFileSync(ROLES.replace('roles.sql', 'clickhouse-roles.sql'), 'utf8');
  const statements = text
    .replaceAll(/^--.*\n/gm, '')
    .split(';')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  expect(statements.length).toBeGreaterThan(8);
  const row = z.looseObject({});
  for (const one of statements) {
    const asked = warehouse.query(`EXPLAIN AST ${one}`, { timeoutMs: 10_000, row });
    await expect(asked, one).resolves.not.toHaveLength(0);
  }
  await warehouse.close();
});
