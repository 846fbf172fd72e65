// A publishable key opens what is read of addresses to pages of the origins that it lists, and to
// nothing else: through the running service, and in a real browser with the typed client.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { launchBrowser, NO_BROWSER } from './testing/browser.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { runPrinting, type Simulated, startProgram, startSimulated } from './testing/program.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const CLIENT = new URL('../dist/client/', import.meta.url);
const ADDRESS = '0x00000000219ab540356cbb839cbe05303d7705fa';
const OFAC = `/api/v1/wallet/${ADDRESS}/ofac`;
const DEMO = 'mem_simulated_demo';
const FOREIGN = 'https://evil.example';

const home = mkdtempSync(join(tmpdir(), 'exhibit-publishable-'));
let service: Simulated;
let pages: Server;
let own = '';
let elsewhere = '';
let key = '';
const place = { cwd: home, env: {} };

beforeAll(async () => {
  // No key opens a route of signals, which cost the first minute of a service the most.
  const env = { EXHIBIT_SURFACES: 'edge,hosted,integrations,mcp,web' };
  service = await startSimulated({ cwd: home, env });
  // One server, asked by two names: pages of the listed origin, and of another one.
  pages = createServer(({ url }, response) => {
    const file = /^\/client\/([\w-]+\.js)$/.exec(String(url))?.[1];
    if (file === undefined) response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
    else {
      response.writeHead(200, { 'content-type': 'text/javascript' });
      response.end(readFileSync(new URL(file, CLIENT)));
    }
  });
  await new Promise<void>((ready) => pages.listen(0, '127.0.0.1', ready));
  const { port } = pages.address() as AddressInfo;
  [own, elsewhere] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
  const made = ['keys', 'create', '--membership', DEMO, '--origin', own, '--origin', OTHER_ORIGIN];
  ({ key } = await runPrinting(z.object({ key: z.string() }), made, place));
});
afterAll(async () => {
  service.program.child.kill('SIGKILL');
  await service.program.ended;
  pages.closeAllConnections();
  pages.close();
  rmSync(home, { recursive: true, force: true });
});
const OTHER_ORIGIN = 'https://app.example';

const json = z.object({ schema: z.object({ $ref: z.string().optional() }) });
const operation = z.object({
  responses: z.record(
    z.string(),
    z.object({ content: z.object({ 'application/json': json.optional() }).optional() }),
  ),
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z
    .array(z.object({ name: z.string(), in: z.string(), example: z.unknown().optional() }))
    .default([]),
});
const DOCUMENT = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), z.record(z.string(), z.unknown())) }),
});
type Operation = z.output<typeof operation>;

/** The operations of the document that a key opens, each with a path that its examples fill. */
async function routesWithKeys() {
  const document = await (await fetchPatiently(`${service.base_url}/openapi.json`)).json();
  const { paths, components } = DOCUMENT.parse(document);
  // Evidence is an answer or one of the absences that its route declares.
  const isEvidence = ({ responses }: Operation) => {
    const shape = responses['200']?.content?.['application/json']?.schema.$ref?.split('/').at(-1);
    return shape !== undefined && 'oneOf' in Object(components.schemas[shape]);
  };
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).flatMap(([method, one]) => {
      const { operationId: name, security, parameters } = one;
      const ways = security.flatMap(Object.keys);
      const examples = new Map(parameters.map((one) => [one.name, String(one.example)]));
      const path = template.replaceAll(/\{(\w+)\}/g, (_, of) => String(examples.get(String(of))));
      const route = {
        name,
        path,
        method: method.toUpperCase(),
        opens: ways.includes('publishable'),
        isEvidence: isEvidence(one),
      };
      return ways.includes('key') || ways.includes('partner') ? [route] : [];
    }),
  );
}

type Sent = { readonly [name: string]: string };

async function ask(path: string, headers: Sent, method = 'GET') {
  const reply = await fetchPatiently(service.base_url + path, { method, headers });
  const text = await reply.text();
  const said = z.record(z.string(), z.unknown()).parse(JSON.parse(text === '' ? '{}' : text));
  return { status: reply.status, headers: reply.headers, said };
}
const withKey = (origin: string, of = key): Sent => ({ authorization: `Bearer ${of}`, origin });
const allowed = ({ headers }: { headers: Headers }) => headers.get('access-control-allow-origin');
const left = ({ headers }: { headers: Headers }) => headers.get('x-ratelimit-remaining');
const preflight = (path: string, origin: string, method = 'GET') =>
  ask(path, { origin, 'access-control-request-method': method }, 'OPTIONS');

test('it opens to each origin that it lists, which alone may read the answer', async () => {
  expect(key).toMatch(/^sc_pub_[0-9A-Za-z]{49}$/);
  for (const origin of [own, OTHER_ORIGIN]) {
    const answer = await ask(OFAC, withKey(origin));
    expect([answer.status, allowed(answer)]).toEqual([200, origin]);
    expect(answer.headers.get('vary')).toContain('Origin');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('x-ratelimit-limit')).toBe('1000');
  }
});

test('it is refused without an origin and from another one, by the names of what it lists', async () => {
  const before = left(await ask(OFAC, withKey(own)));
  const none = await ask(OFAC, { authorization: `Bearer ${key}` });
  const wrong = [FOREIGN, `${own}.evil.example`, `${own}/`, 'null', 'https://app.example:8443'];
  for (const refused of [none, ...(await Promise.all(wrong.map((o) => ask(OFAC, withKey(o)))))]) {
    expect([refused.status, allowed(refused)]).toEqual([403, null]);
    expect(refused.said['error']).toContain(`${own} or ${OTHER_ORIGIN}`);
    expect(JSON.stringify(refused.said)).not.toContain(key);
  }
  const after = left(await ask(OFAC, withKey(own)));
  expect(Number(before) - Number(after)).toBe(1);
});

test('every hosted GET of evidence opens to it, and no other route does', async () => {
  const routes = await routesWithKeys();
  const opened = routes.filter(({ opens }) => opens).map(({ name }) => name);
  const evidence = routes.filter(({ method, isEvidence }) => method === 'GET' && isEvidence);
  expect(opened.sort()).toEqual(evidence.map(({ name }) => name).sort());
  expect(opened).toEqual(expect.arrayContaining(['leaderboard', 'wallet_ofac', 'wallet_score']));
  for (const { name, path, method, opens } of routes) {
    const said = await ask(path, withKey(own), method);
    const asked = await preflight(path, own, method);
    if (opens) {
      expect([name, said.status < 500 && said.status !== 402, allowed(said)]).toEqual([
        name,
        true,
        own,
      ]);
      expect([name, method, asked.status, allowed(asked)]).toEqual([name, 'GET', 200, own]);
    } else {
      expect([name, said.status, said.said['reason'], allowed(said)]).toEqual([
        name,
        402,
        'unknown_membership',
        null,
      ]);
      expect(said.said['error']).toContain('hosted GET routes that answer with evidence');
      expect([name, asked.status === 200, allowed(asked)]).toEqual([name, false, null]);
    }
  }
});

test('a page is told beforehand whether it may ask: by an origin that some key lists', async () => {
  const said = await preflight(OFAC, own);
  expect([said.status, allowed(said)]).toEqual([200, own]);
  expect(said.headers.get('access-control-allow-methods')).toBe('GET');
  expect(said.headers.get('access-control-allow-headers')).toBe('authorization, accept-signature');
  expect(said.headers.get('access-control-allow-credentials')).toBeNull();
  expect(said.headers.get('vary')).toContain('Origin');
  for (const origin of [FOREIGN, 'null', '*', `${own}:1`]) {
    const refused = await preflight(OFAC, origin);
    expect([origin, refused.status, allowed(refused)]).toEqual([origin, 403, null]);
  }
  const deleting = await preflight(OFAC, own, 'DELETE');
  expect([deleting.status, deleting.headers.get('allow'), allowed(deleting)]).toEqual([
    405,
    'GET',
    null,
  ]);
});

test('a secret key opens nothing to a page: its answer is not readable elsewhere', async () => {
  const answer = await ask(OFAC, withKey(own, service.api_key));
  expect([answer.status, allowed(answer)]).toEqual([200, null]);
});

test('it spends its own requests of the day and none of the membership, and nothing for a refusal', async () => {
  const [mine, members] = [await ask(OFAC, withKey(own)), await ask(OFAC, secret())];
  const bad = await ask('/api/v1/wallet/nonsense!/ofac?x=1', withKey(own));
  expect([bad.status, allowed(bad), left(bad)]).toEqual([400, own, left(mine)]);
  const again = await ask(OFAC, withKey(own));
  expect(Number(left(mine)) - Number(left(again))).toBe(1);
  expect(Number(left(members)) - Number(left(await ask(OFAC, secret())))).toBe(1);
});
const secret = () => ({ authorization: `Bearer ${service.api_key}` });

test('a revoked one opens nothing, and its origins no preflight, within seconds', async () => {
  const origin = 'https://gone.example';
  const made = ['keys', 'create', '--membership', DEMO, '--origin', origin];
  const { key: gone } = await runPrinting(z.object({ key: z.string() }), made, place);
  await vi.waitFor(async () => expect((await preflight(OFAC, origin)).status).toBe(200), WITHIN);
  expect((await ask(OFAC, withKey(origin, gone))).status).toBe(200);
  const revoked = await startProgram(['keys', 'revoke', gone.slice(0, 15)], place).ended;
  expect(revoked.status, revoked.err).toBe(0);
  await vi.waitFor(async () => {
    expect((await ask(OFAC, withKey(origin, gone))).status).toBe(402);
    expect((await preflight(OFAC, origin)).status).toBe(403);
  }, WITHIN);
});
const WITHIN = { timeout: 30_000, interval: 250 };

test.each(['https://*.example', 'http://app.example', 'https://app.example/', 'null', '*'])(
  'no key lists %s as an origin',
  async (origin) => {
    const words = ['keys', 'create', '--membership', DEMO, '--origin', origin];
    const { status, err } = await startProgram(words, place).ended;
    expect([status, err.includes('http://localhost:PORT')]).toEqual([2, true]);
  },
);

describe.skipIf(NO_BROWSER !== null)(`a page ${NO_BROWSER ?? 'in Chromium'}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  /** What the typed client tells a page of an origin. */
  async function told(origin: string, of: string) {
    const page = await browser.newPage();
    await page.goto(origin);
    const script = `(async () => {
      const { createClient } = await import('/client/client.js');
      const client = createClient({ baseUrl: '${service.base_url}', key: '${of}', retriesMax: 0 });
      const failed = ({ name, code, status, rateLimit }) => ({ name, code, status, rateLimit });
      const own = (answer) => answer.data ?? answer;
      const read = await client.wallet_ofac({ address: '${ADDRESS}' }).then(own, failed);
      const wrong = await client.wallet_ofac({ address: 'nonsense!' }).then(own, failed);
      return { read, wrong };
    })()`;
    const said: unknown = await page.evaluate(script);
    await page.close();
    return said;
  }

  test('of a listed origin reads answers, refusals and what is left by the typed client', async () => {
    expect(await told(own, key)).toMatchObject({
      read: { address: ADDRESS, sanctioned: false },
      wrong: { name: 'ExhibitRefusal', status: 400, rateLimit: { limit: 1_000 } },
    });
  });

  test('of another origin, or with a secret key, reads nothing', async () => {
    const nothing = { name: 'ExhibitFailure', code: 'network' };
    expect(await told(elsewhere, key)).toMatchObject({ read: nothing, wrong: nothing });
    expect(await told(own, service.api_key)).toMatchObject({ read: nothing, wrong: nothing });
  });
});
