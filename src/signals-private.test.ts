// What somebody asked, watched or recorded is in no feed, no leaf, no metric and no line of the
// producer after its round: every private door is asked by a process that produces nothing, and a
// second one over the same stores runs the first round.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { addressNamed, evm } from './testing/addresses.ts';
import { createStoresIn } from './testing/fresh-warehouse.ts';
import { connectClient } from './testing/mcp-clients.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { type Program, startProgram, untilSaid } from './testing/program.ts';
import { SANDBOX_DEPLOYERS } from './world/deployers.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 600_000 });

const ADMIN = 'an-operator-token-that-nobody-guesses';
/** Two of whom nothing is held, and a launcher whose record a question looks up. */
const ASKED = [
  evm('asked about'),
  SANDBOX_DEPLOYERS.mixed,
  addressNamed('solana', 'asked about'),
] as const;

/** The fields of a query that can name somebody. */
const ABOUT = ['address', 'target', 'explain', 'q'];
/** The bodies that name them otherwise than as one address. */
const BODIES: { readonly [path: string]: object | undefined } = {
  '/api/v1/bulk/wallet-screen': { addresses: ASKED },
  '/api/v1/screens/bulk': { addresses: ASKED },
  '/api/v1/scan/{address}': {},
  '/integrations/{chat_platform}/connect': {
    webhook_id: '123456789012345678',
    webhook_token: 'd'.repeat(68),
    rules: { kinds: ['signal'], addresses: ASKED },
  },
};
const chainOf = (address: string) => (address.startsWith('0x') ? 'ethereum' : 'solana');
/** A door that no question passed would show nothing. */
const OPENED = [200, 201, 303];

/** Some doors of each kind, so that none of the kinds was left out. */
const DOORS = [
  'get /api/v1/wallet/{address}/ofac',
  'post /api/v1/bulk/wallet-screen',
  'post /api/v1/screens',
  'post /api/v1/watchlist',
  'post /api/v1/scan/{address}',
  'get /api/signals',
  'tool wallet_ofac',
  'page /address',
  'form of /watchlist',
  'command look',
  'command screen',
];

const openapiShape = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
});
const operationShape = z.looseObject({
  parameters: z
    .array(z.looseObject({ name: z.string().optional(), in: z.string().optional() }))
    .optional(),
  requestBody: z.unknown().optional(),
});
const linkShape = z.looseObject({ url: z.string() });
const memberShape = z.looseObject({ membership_id: z.string() });
const keyShape = z.looseObject({ key: z.string() });
const feedShape = z.looseObject({
  signals: z.array(
    z.looseObject({ signal_id: z.string(), target: z.object({ address: z.string() }) }),
  ),
  data_mode: z.string(),
  generated_at: z.string().nullable(),
  next_cursor: z.string().nullable(),
});

describe('after a round of the producer', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'exhibit-private-'));
  const env = {
    EXHIBIT_SIMULATE: 'true',
    EXHIBIT_PORT: '0',
    EXHIBIT_DATA_DIR: join(cwd, 'data'),
    EXHIBIT_ADMIN_TOKEN: ADMIN,
    EXHIBIT_ALLOW_ANONYMOUS: 'true',
  };
  const statuses: { readonly door: string; readonly status: number }[] = [];
  const started: Program[] = [];
  let producer: Program;
  let base = '';

  async function run(words: string): Promise<string> {
    const said = await startProgram(words.split(' '), { cwd, env }).ended;
    if (said.status !== 0) throw new Error(`test: ${words}: ${said.err}`);
    return said.out;
  }

  async function serve(words: readonly string[]): Promise<Program> {
    const program = startProgram(words, { cwd, env });
    started.push(program);
    await untilSaid(program, 'http://127.0.0.1:');
    base = String(/http:\/\/127\.0\.0\.1:\d+/.exec(program.out() + program.err())?.[0]);
    return program;
  }

  const text = async (path: string, headers: { readonly [name: string]: string } = {}) => {
    const answer = await fetchPatiently(base + path, { headers });
    return { status: answer.status, body: await answer.text() };
  };

  /** Asks by one door, and notes how it answered. */
  async function ask(door: string, path: string, init: RequestInit): Promise<string> {
    const answer = await fetchPatiently(base + path, { ...init, redirect: 'manual' });
    const said = await answer.text();
    statuses.push({ door, status: answer.status });
    return said;
  }

  /** Every declared request that can name an address: in its path, its query or its body. */
  async function askEveryRoute(keys: { readonly member: string; readonly partner: string }) {
    const { paths } = openapiShape.parse(JSON.parse((await text('/openapi.json')).body));
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        const told = operationShape.safeParse(operation);
        if (!told.success) continue;
        const { parameters, requestBody } = told.data;
        const query = (parameters ?? []).flatMap((one) =>
          one.in === 'query' && ABOUT.includes(String(one.name)) ? [String(one.name)] : [],
        );
        const names = /"address(es)?"/.test(JSON.stringify(requestBody ?? {}));
        if (!path.includes('{address}') && query.length === 0 && !names) continue;
        const key = path.includes('/scan/') ? keys.partner : keys.member;
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const askAbout = async (address: string): Promise<void> => {
          const asked = new URLSearchParams(query.map((name) => [name, address]));
          const filled = path
            .replace('{address}', address)
            .replace('{chain}', chainOf(address))
            .replace('{chat_platform}', 'discord');
          const body = BODIES[path] ?? { address };
          await ask(`${method} ${path}`, `${filled}?${asked}`, {
            method: method.toUpperCase(),
            headers,
            ...(requestBody === undefined ? {} : { body: JSON.stringify(body) }),
          });
        };
        await Promise.all(ASKED.map(askAbout));
      }
    }
  }

  async function askEveryTool(key: string): Promise<void> {
    const headers = { authorization: `Bearer ${key}` };
    const tools = await connectClient('2026-07-28', { url: `${base}/mcp`, headers });
    try {
      for (const { name, inputSchema } of await tools.list()) {
        if (!JSON.stringify(inputSchema).includes('"address')) continue;
        const isChained = JSON.stringify(inputSchema).includes('"chain"');
        const callAbout = async (address: string): Promise<void> => {
          const chain = isChained ? { chain: chainOf(address) } : {};
          const said = await tools.call(name, { address, ...chain });
          statuses.push({ door: `tool ${name}`, status: said.isError ? 400 : 200 });
        };
        await Promise.all(ASKED.map(callAbout));
      }
    } finally {
      await tools.close();
    }
  }

  /** The pages that a member sees signed in, and the form of the watchlist. */
  async function askEveryPage(membership_id: string): Promise<void> {
    const { url } = linkShape.parse(JSON.parse(await run(`members link ${membership_id} --json`)));
    const form = (fields: { readonly [name: string]: string }, cookie = '') => ({
      method: 'POST',
      headers: {
        origin: base,
        cookie,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(fields).toString(),
    });
    const link = String(new URL(url).searchParams.get('link'));
    const opened = await fetchPatiently(`${base}/activate`, {
      ...form({ link }),
      redirect: 'manual',
    });
    const cookie = String(opened.headers.getSetCookie()[0]).split(';')[0] as string;
    const own = { headers: { cookie } };
    for (const address of ASKED) {
      await ask('page /address', `/address/${address}`, own);
      const page = await ask('page /watchlist', '/watchlist', own);
      const form_token = String(/name="form_token" value="([^"]+)"/.exec(page)?.[1]);
      await ask('form of /watchlist', '/watchlist', form({ form_token, address }, cookie));
    }
  }

  /** The commands that ask about an address. */
  async function askEveryCommand(): Promise<void> {
    const about = ASKED.flatMap((address) => [`look ${address}`, `screen ${address}`]);
    const runOne = async (words: string): Promise<void> => {
      const { status } = await startProgram(words.split(' '), { cwd, env }).ended;
      statuses.push({ door: `command ${words.split(' ')[0]}`, status: status === 2 ? 400 : 200 });
    };
    await Promise.all(about.map(runOne));
  }

  async function askEveryDoor(): Promise<void> {
    const { membership_id } = memberShape.parse(
      JSON.parse(await run('members add --plan desk --json')),
    );
    const made = keyShape.parse(
      JSON.parse(await run(`keys create --membership ${membership_id} --json`)),
    );
    const partner = keyShape.parse(
      JSON.parse(await run('keys create --partner asks --budget 100 --json')),
    );
    await askEveryRoute({ member: made.key, partner: partner.key });
    await askEveryTool(made.key);
    await askEveryPage(membership_id);
    await askEveryCommand();
  }

  beforeAll(async () => {
    await createStoresIn(join(cwd, 'data/simulated'));
    const asked = await serve(['serve']);
    await askEveryDoor();
    asked.child.kill('SIGTERM');
    await asked.ended;
    producer = await serve(['up']);
    await vi.waitFor(
      async () => {
        const feed = feedShape.parse(JSON.parse((await text('/api/signals')).body));
        expect([feed.data_mode, feed.signals.length > 0]).toEqual(['simulated', true]);
        expect(feed.generated_at).not.toBe(null);
      },
      { timeout: 180_000, interval: 500 },
    );
  });
  afterAll(async () => {
    for (const { child, ended } of started) {
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(cwd, { recursive: true, force: true });
  });

  test('every door was asked, and opened to some question', () => {
    const doors = new Map<string, number[]>();
    for (const { door, status } of statuses) doors.set(door, [...(doors.get(door) ?? []), status]);
    const shut = [...doors].filter(([, all]) => !all.some((one) => OPENED.includes(one)));
    // The simulated world holds no list of another authority, and nobody had these analysed.
    expect(shut.map(([door]) => door).toSorted()).toEqual([
      'get /api/traders/{address}/temporal',
      'get /api/v1/registry/lists/changes',
    ]);
    expect([...doors.keys()]).toEqual(expect.arrayContaining(DOORS));
  });

  test('no signal, no bundle and no page names whom somebody asked about', async () => {
    const said: string[] = [(await text('/signals')).body];
    let path = '/api/signals?limit=100';
    for (let pages = 0; pages < 50; pages += 1) {
      const { body } = await text(path);
      said.push(body);
      const feed = feedShape.parse(JSON.parse(body));
      for (const { signal_id, target } of feed.signals) {
        expect(ASKED.map((one) => one.toLowerCase())).not.toContain(target.address.toLowerCase());
        said.push((await text(`/api/signals/${signal_id}/evidence`)).body);
      }
      if (feed.next_cursor === null) break;
      path = `/api/signals?limit=100&cursor=${feed.next_cursor}`;
    }
    const all = said.join('\n').toLowerCase();
    expect(ASKED.filter((one) => all.includes(one.toLowerCase()))).toEqual([]);
  });

  test('no metric and no line of the process names them', async () => {
    const metrics = await text('/metrics', { authorization: `Bearer ${ADMIN}` });
    expect(metrics.status).toBe(200);
    const all = [metrics.body, producer.out(), producer.err()].join('\n').toLowerCase();
    expect(ASKED.filter((one) => all.includes(one.toLowerCase()))).toEqual([]);
    expect(producer.out() + producer.err()).toContain('signals: a round ended');
  });

  test('the path that no route has is 404', async () => {
    const { status } = await text('/api/signals/sig_00000000000000000000000000000000/verify');
    expect(status).toBe(404);
  });
});
