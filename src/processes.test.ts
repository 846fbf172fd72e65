// Several processes on one control store: what one stores, refuses or revokes holds for all.

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { NO_POSTGRES, type TestPostgres, testPostgres } from './testing/postgres.ts';
import { type Program, startProgram, untilSaid } from './testing/program.ts';
import { SANDBOX_PARTY, WORLD_SEED, worldPublicationAt } from './world/listed-parties.ts';
import { sdnXml } from './world/sdn-publication.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });
const DAY_S = 86_400;
const home = mkdtempSync(join(tmpdir(), 'exhibit-processes-'));
const listFile = join(home, 'sdn.xml');
const programs: Program[] = [];
const agent = new Agent({ keepAlive: true, maxSockets: 16 });
let postgres: TestPostgres;
let database: string;

const env = (name: string) => ({
  EXHIBIT_DATA_DIR: join(home, name),
  EXHIBIT_DATABASE_URL: database,
  EXHIBIT_SECRET: 'a-secret-that-all-processes-know',
  EXHIBIT_SDN_URL: pathToFileURL(listFile).href,
  EXHIBIT_SDN_MAX_AGE: 'none',
  EXHIBIT_PORT: '0',
});

function publish(daysAgo: number): void {
  const at = Math.floor(Date.now() / 1000) - daysAgo * DAY_S;
  writeFileSync(listFile, sdnXml(worldPublicationAt(at, WORLD_SEED)));
}

type Service = { readonly program: Program; readonly url: string };

async function serving(name: string, role: string): Promise<Service> {
  const program = startProgram([role], { cwd: home, env: env(name) });
  programs.push(program);
  await untilSaid(program, 'Pages to open');
  return {
    program,
    url: String(/Serving (http:\/\/\S+)/.exec(program.out() + program.err())?.[1]),
  };
}

async function exhibit(name: string, ...words: string[]): Promise<string> {
  const { status, out } = await startProgram(words, { cwd: home, env: env(name) }).ended;
  expect(status).toBe(0);
  return out;
}

async function screen(url: string, address: string, key: string) {
  return ask(`${url}/api/v1/wallet/${address}/ofac`, key, 'GET');
}

async function ask(url: string, key: string, method: 'GET' | 'POST') {
  const asked = request(url, { agent, method, headers: { authorization: `Bearer ${key}` } });
  asked.end();
  const [answer] = await once(asked, 'response');
  let text = '';
  for await (const piece of answer) text += String(piece);
  const body: unknown = JSON.parse(text);
  return { status: Number(answer.statusCode), headers: answer.headers, body };
}

const BUSY = 503;
const BUSY_WAIT_MS = 20;
const BUSY_WAITS_MAX = 1_000;

/** Asks again while more is under way than the allowance has left: nothing was decided then. */
async function settled(asked: () => ReturnType<typeof ask>): ReturnType<typeof ask> {
  for (let waits = 0; waits < BUSY_WAITS_MAX; waits += 1) {
    const said = await asked();
    if (said.status !== BUSY) return said;
    expect(said.headers['retry-after']).toBe('1');
    await new Promise((done) => setTimeout(done, BUSY_WAIT_MS));
  }
  throw new Error('test: the service stayed busy');
}

describe.skipIf(NO_POSTGRES !== null)(`two processes on PostgreSQL ${NO_POSTGRES ?? ''}`, () => {
  let one: Service;
  let two: Service;
  let membership: string;
  let key: string;
  let prefix: string;
  const [listed] = SANDBOX_PARTY.addresses.map(({ address }) => address);

  beforeAll(async () => {
    postgres = await testPostgres();
    database = await postgres.freshDatabase();
    publish(6);
    one = await serving('one', 'up');
    two = await serving('two', 'serve');
    const added: unknown = JSON.parse(
      await exhibit('three', 'members', 'add', '--plan', 'analyst', '--json'),
    );
    membership = String(Object(added).membership_id);
    const made: unknown = JSON.parse(
      await exhibit('three', 'keys', 'create', '--membership', membership, '--json'),
    );
    key = String(Object(made).key);
    prefix = String(Object(made).prefix);
  });
  afterAll(async () => {
    for (const { child } of programs) child.kill('SIGKILL');
    agent.destroy();
    await postgres.stop();
    rmSync(home, { recursive: true, force: true });
  });

  test('the same list answers in both, and a newer one reaches the second within 60 s', async () => {
    const published = async (url: string) => {
      const { body } = await screen(url, String(listed), key);
      return Object(body).data?.list.published;
    };
    await vi.waitFor(
      async () => expect(await published(two.url)).toBe(await published(one.url)),
      60_000,
    );
    const before = await published(two.url);
    publish(0);
    await exhibit('three', 'sanctions', 'refresh');
    const started = Date.now();
    await vi.waitFor(async () => expect(await published(two.url)).not.toBe(before), {
      timeout: 60_000,
      interval: 500,
    });
    expect(Date.now() - started).toBeLessThan(60_000);
  });

  test('together they answer exactly as often as the plan allows, and say 429 from then on', async () => {
    const used =
      1_000 - Number((await screen(one.url, String(listed), key)).headers['x-ratelimit-remaining']);
    const statuses: number[] = [];
    const ask = async (url: string) => {
      for (let i = 0; i < 75; i += 1)
        statuses.push((await settled(() => screen(url, String(listed), key))).status);
    };
    await Promise.all(Array.from({ length: 14 }, (_, i) => ask(i % 2 === 0 ? one.url : two.url)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1_000 - used);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1_050 - (1_000 - used));
    // What they were for is counted with them, by both together.
    const uses = (await exhibit('three', 'keys', 'usage', prefix, '--json')).trim().split('\n');
    const counted = uses.map((line): unknown => JSON.parse(line));
    expect(counted.reduce((sum: number, one) => sum + Number(Object(one).requests), 0)).toBe(1_000);
    expect(new Set(counted.map((one) => Object(one).route))).toEqual(new Set(['wallet_ofac']));
    const spent = await screen(two.url, String(listed), key);
    expect(spent.headers['x-ratelimit-remaining']).toBe('0');
    expect(spent.headers['retry-after']).toBe(spent.headers['x-ratelimit-reset']);
  });

  test('together they scan exactly as often as a partner’s month allows, and say 429 from then on', async () => {
    const BUDGET = 90;
    const ASKED = 140;
    const made: unknown = JSON.parse(
      await exhibit('three', 'keys', 'create', '--partner', 'acme', '--budget', '90', '--json'),
    );
    const partners = String(Object(made).key);
    const scan = (i: number) => {
      const { url } = i % 2 === 0 ? one : two;
      return settled(() => ask(`${url}/api/v1/scan/${listed}`, partners, 'POST'));
    };
    const answers = await Promise.all(Array.from({ length: ASKED }, (_, i) => scan(i)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(BUDGET);
    expect(statuses.filter((status) => status === 429)).toHaveLength(ASKED - BUDGET);
    for (const { url } of [one, two]) {
      const { status, headers, body } = await ask(`${url}/api/v1/scan/${listed}`, partners, 'POST');
      expect([status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).toEqual([
        ...[429, String(BUDGET), '0'],
      ]);
      expect(Object(body)).toMatchObject({ reason: 'quota_exhausted' });
    }
    const { prefix } = Object(made);
    await exhibit('three', 'keys', 'revoke', String(prefix));
    await vi.waitFor(
      async () => {
        const { status, body } = await ask(`${two.url}/api/v1/scan/${listed}`, partners, 'POST');
        expect([status, Object(body).reason]).toEqual([402, 'unknown_membership']);
      },
      { timeout: 5_000, interval: 200 },
    );
  });

  test('a key revoked through one opens the other no longer within 5 s', async () => {
    const made: unknown = JSON.parse(
      await exhibit('three', 'keys', 'create', '--membership', membership, '--json'),
    );
    const second = String(Object(made).key);
    expect((await screen(two.url, String(listed), second)).status).toBe(429);
    await exhibit('three', 'keys', 'revoke', String(Object(made).prefix));
    await vi.waitFor(
      async () => {
        const { status, body } = await screen(two.url, String(listed), second);
        expect([status, Object(body).reason]).toEqual([402, 'unknown_membership']);
      },
      { timeout: 5_000, interval: 200 },
    );
  });

  test('a key that anybody reports as leaked opens neither within 5 s, and its owner is told', async () => {
    const added: unknown = JSON.parse(
      await exhibit('three', 'members', 'add', '--plan', 'analyst', '--json'),
    );
    const owner = String(Object(added).membership_id);
    const made: unknown = JSON.parse(
      await exhibit('three', 'keys', 'create', '--membership', owner, '--json'),
    );
    const leaked = String(Object(made).key);
    for (const { url } of [one, two]) {
      expect((await screen(url, String(listed), leaked)).status).toBe(200);
    }
    const reported = await fetch(`${two.url}/api/v1/keys/leaked`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key: leaked }),
    });
    expect(reported.status).toBe(202);
    for (const { url } of [one, two]) {
      await vi.waitFor(
        async () => {
          const { status, body } = await screen(url, String(listed), leaked);
          expect([status, Object(body).reason]).toEqual([402, 'unknown_membership']);
        },
        { timeout: 5_000, interval: 200 },
      );
    }
    const keys = await exhibit('three', 'keys', 'list', '--membership', owner, '--json');
    const told: unknown = keys
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
      .find((one) => Object(one).prefix === Object(made).prefix);
    expect(told).toMatchObject({ leaked_at: expect.any(String), revoked_at: expect.any(String) });
  });

  test('a killed process loses no answered charge, and the others go on', async () => {
    one.program.child.kill('SIGKILL');
    await one.program.ended;
    expect((await screen(two.url, String(listed), key)).status).toBe(429);
  });
});
