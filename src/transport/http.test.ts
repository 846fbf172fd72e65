import type { InjectOptions } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from '../access/gate.ts';
import { PLANS } from '../access/plan.ts';
import { deriveSecrets, mintKey } from '../access/secret.ts';

import { badInput } from '../contract/refusals.ts';
import { evidenceRoute, type Handler, plainRoute } from '../contract/route.ts';
import { negative } from '../contract/wire.ts';
import { claim } from '../evidence/claim.ts';
import { read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import type { AnyHandler, Mounted } from './answer.ts';
import { createHttp } from './http.ts';
import { createMeters } from './metrics.ts';

const NOW = 1_780_000_000;
const SECRETS = deriveSecrets('a root secret of the tests', null);
const SOLD = PLANS.desk.daily_requests;

const probe = evidenceRoute({
  name: 'probe',
  surface: 'hosted',
  method: 'POST',
  path: '/api/v1/probe/{address}',
  summary: 'A route of the tests.',
  access: 'analyst',
  bodyBytesMax: 4096,
  params: z.strictObject({ address: z.string() }),
  query: z.strictObject({ limit: z.coerce.number().int().max(100).optional() }),
  body: z.strictObject({ items: z.array(z.string().max(10)).min(1).max(100) }),
  data: z.strictObject({
    listed: negative(z.boolean(), { restsOn: ['list'] }),
    caveat: z.string(),
  }),
  absences: ['not_deployed'],
  tool: null,
});
const open = plainRoute({
  name: 'open',
  surface: 'intelligence',
  method: 'GET',
  path: '/open',
  summary: 'An open route of the tests.',
  access: 'open',
  responses: { 200: z.strictObject({ fine: z.boolean() }) },
});

const source = {
  name: 'List',
  url: 'https://list.example',
  as_of: 1_779_999_000,
  kind: 'observation',
  simulated: false,
} as const;

const says: Handler<typeof probe> = async ({ params }) =>
  probe.ok({
    subject: params.address,
    data: {
      listed: claim(read(false, { port: 'list', source }), (listed) => listed),
      caveat: 'A false is not a clearance.',
    },
  });

const fresh = embeddedControl();

async function member() {
  const store = fresh();
  const { memberships, keys, quota } = accessIn(store, () => NOW * 1000);
  await memberships.record({ membership_id: 'mem_1', plan: 'desk', status: 'active', at: NOW });
  const minted = mintKey({ kind: 'sc', membership_id: 'mem_1' }, SECRETS, NOW);
  await keys.add(minted.stored, 5);
  const gate = createGate({ keys, quota, secrets: SECRETS, durable: true }, () => NOW);
  const used = async () => {
    const reading = await quota.usage('membership:mem_1', '2026-05-28');
    return reading.checked ? reading.value : null;
  };
  return { gate, used, store, quota, authorization: `Bearer ${minted.text}` };
}
type Member = Awaited<ReturnType<typeof member>>;

const apps: { close: () => Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

type Serving = {
  readonly by: Member;
  readonly handle?: unknown;
  readonly more?: Mounted[];
  readonly logged?: string[];
};

function serve({ by, handle = says, more = [], logged = [] }: Serving) {
  const keep = (facts: object, message: string) => {
    logged.push(`${message} ${JSON.stringify(facts)}`);
  };
  const mounted: Mounted[] = [
    { route: probe, handle: handle as AnyHandler },
    { route: open, handle: async () => open.reply(200, { fine: true }) },
    ...more,
  ];
  const app = createHttp({
    mounted,
    gate: by.gate,
    meters: createMeters([]),
    log: { info: keep, warn: keep, error: keep },
    now: () => NOW,
    budgetMs: 1000,
    trustProxy: false,
  });
  apps.push(app);
  return app;
}

const asking = (by: Member) => ({
  method: 'POST' as const,
  url: '/api/v1/probe/0xabc',
  headers: { 'content-type': 'application/json', authorization: by.authorization },
  payload: '{"items":["a"]}',
});

describe('says', () => {
  test('an answer is the whole envelope, with the quota after its own charge', async () => {
    const by = await member();
    const reply = await serve({ by }).inject(asking(by));
    expect(reply.statusCode).toBe(200);
    expect(reply.json()).toEqual({
      state: 'ok',
      subject: '0xabc',
      sources: [{ name: 'List', url: 'https://list.example', as_of: 1_779_999_000 }],
      as_of: 1_779_999_000,
      data: { listed: false, caveat: 'A false is not a clearance.' },
    });
    expect(await by.used()).toBe(1);
    expect(reply.headers).toMatchObject({
      'x-ratelimit-limit': String(SOLD),
      'x-ratelimit-remaining': String(SOLD - 1),
      'x-ratelimit-reset': '12800',
      'cache-control': 'no-store',
      vary: 'Authorization, x-service-membership',
      'x-content-type-options': 'nosniff',
    });
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-/);
  });

  test('an absence is 200, is charged, and dates itself where it rests on nothing', async () => {
    const by = await member();
    const handle: Handler<typeof probe> = async () =>
      probe.absent.not_deployed({
        subject: '0xabc',
        silent: unread('list', why('not_configured', { what: 'The list' })),
      });
    const reply = await serve({ by, handle }).inject(asking(by));
    expect(reply.statusCode).toBe(200);
    expect(reply.json()).toEqual({
      state: 'not_deployed',
      subject: '0xabc',
      sources: [],
      as_of: NOW,
      data: null,
      reason: 'The list is not configured on this deployment; nothing was checked.',
    });
    expect(await by.used()).toBe(1);
  });

  test('a simulated source is named as that, and the caveat begins with it', async () => {
    const by = await member();
    const simulated = { ...source, simulated: true };
    const handle: Handler<typeof probe> = async () =>
      probe.ok({
        subject: '0xabc',
        data: {
          listed: claim(read(true, { port: 'list', source: simulated }), (listed) => listed),
          caveat: 'A false is not a clearance.',
        },
      });
    const body = (await serve({ by, handle }).inject(asking(by))).json();
    expect(body.sources[0].name).toBe('List (simulated)');
    expect(body.data.caveat).toMatch(/^Simulated: /);
  });

  test('an open route needs no key and carries no quota', async () => {
    const reply = await serve({ by: await member() }).inject({ method: 'GET', url: '/open' });
    expect(reply.statusCode).toBe(200);
    expect(reply.json()).toEqual({ fine: true });
    expect(reply.headers['x-ratelimit-limit']).toBeUndefined();
  });
});

describe('refuses', () => {
  const refused: [string, InjectOptions, number, string][] = [
    ['an unknown field of the body', { payload: '{"items":["a"],"more":1}' }, 400, 'more'],
    ['an empty list', { payload: '{"items":[]}' }, 400, 'items'],
    ['a number where text belongs', { payload: '{"items":["a",7]}' }, 400, 'items[1]'],
    ['broken JSON', { payload: '{"items":' }, 400, 'JSON'],
    ['no body', { payload: '' }, 400, 'JSON'],
    ['an unknown query name', { url: '/api/v1/probe/0xabc?colour=red' }, 400, 'colour'],
    ['a number out of range', { url: '/api/v1/probe/0xabc?limit=101' }, 400, 'limit'],
    ['a body too large', { payload: JSON.stringify({ items: ['a'.repeat(5000)] }) }, 413, 'body'],
    ['another content type', { payload: '<a/>' }, 415, 'application/json'],
    ['a wrong method', { method: 'GET', payload: '' }, 405, 'POST'],
    ['an unknown route', { url: '/api/v1/nothing' }, 404, 'route'],
  ];

  test.each(refused)('%s is refused by name and not charged', async (_, over, status, names) => {
    const by = await member();
    const sent = asking(by);
    const type = status === 415 ? 'application/xml' : 'application/json';
    const headers = { ...sent.headers, 'content-type': type };
    const reply = await serve({ by }).inject({ ...sent, headers, ...over });
    expect(reply.statusCode).toBe(status);
    expect(Object.keys(reply.json())).toEqual(['error']);
    expect(reply.json().error).toContain(names);
    expect(await by.used()).toBe(0);
    expect(reply.headers['x-request-id']).toBeDefined();
    expect(reply.headers['x-ratelimit-remaining']).toBe(String(SOLD));
    expect(reply.headers.allow).toBe(status === 405 ? 'POST' : undefined);
  });

  test('sixty problems make a short body that echoes nothing', async () => {
    const by = await member();
    const secret = 'do-not-echo-this-value';
    const payload = JSON.stringify({ items: Array.from({ length: 60 }, () => secret) });
    const reply = await serve({ by }).inject({ ...asking(by), payload });
    expect(reply.statusCode).toBe(400);
    expect(reply.json().error).toMatch(/; and 40 more$/);
    expect(reply.body).not.toContain(secret);
    expect(reply.body.length).toBeLessThan(8192);
  });

  test('the credential is looked at before the body, and 402 has its four reasons', async () => {
    const by = await member();
    const app = serve({ by });
    const broken = { ...asking(by), payload: '{' };
    const with_ = (headers: object, url = broken.url) =>
      app.inject({ ...broken, url, headers: { 'content-type': 'application/json', ...headers } });
    const none = await with_({});
    expect(none.statusCode).toBe(402);
    expect(none.json()).toEqual({
      error: expect.stringContaining('Bearer'),
      reason: 'no_credential',
      entitlements_durable: true,
    });
    expect(none.headers).toMatchObject({ 'x-ratelimit-limit': '0', 'x-ratelimit-reset': '12800' });
    const inUrl = await with_({}, `${broken.url}?token=sc_x`);
    expect([inUrl.statusCode, inUrl.json().reason]).toEqual([402, 'no_credential']);
    const wrong = await with_({ authorization: 'Bearer sc_wrong' });
    expect([wrong.statusCode, wrong.json().reason]).toEqual([402, 'unknown_membership']);
    by.store.silence('it was silenced');
    const down = await with_({ authorization: by.authorization });
    expect([down.statusCode, down.json().reason]).toEqual([402, 'store_unavailable']);
    expect(down.headers['retry-after']).toBe(down.headers['x-ratelimit-reset']);
  });

  test('a spent allowance is 429 before the body is read, and stays unspent by it', async () => {
    const by = await member();
    const budget = { subject: 'membership:mem_1', period: '2026-05-28', limit: SOLD };
    await Promise.all(Array.from({ length: SOLD }, () => by.quota.charge(budget)));
    const reply = await serve({ by }).inject({ ...asking(by), payload: '{' });
    expect(reply.statusCode).toBe(429);
    expect(reply.json()).toEqual({
      error: expect.any(String),
      reason: 'quota_exhausted',
      reset: 12800,
    });
    expect(reply.headers).toMatchObject({
      'retry-after': '12800',
      'x-ratelimit-limit': String(SOLD),
      'x-ratelimit-remaining': '0',
    });
    expect(await by.used()).toBe(SOLD);
  });

  test('a charge that is not granted takes the answer back', async () => {
    const by = await member();
    const budget = { subject: 'membership:mem_1', period: '2026-05-28', limit: SOLD };
    const handle: Handler<typeof probe> = async (input, asked, caller) => {
      await Promise.all(Array.from({ length: SOLD }, () => by.quota.charge(budget)));
      return await says(input, asked, caller);
    };
    const reply = await serve({ by, handle }).inject(asking(by));
    expect([reply.statusCode, reply.json().reason]).toEqual([429, 'quota_exhausted']);
  });

  test('a handler that refuses its input is not charged', async () => {
    const by = await member();
    const handle: Handler<typeof probe> = async () => badInput(['address: form not recognised']);
    const reply = await serve({ by, handle }).inject(asking(by));
    expect(reply.statusCode).toBe(400);
    expect(await by.used()).toBe(0);
  });

  test('a fault is 500 with an id that its log line has, and nothing of the inside', async () => {
    const by = await member();
    const logged: string[] = [];
    const handle = async () => {
      throw new Error('the inside');
    };
    const reply = await serve({ by, handle, logged }).inject(asking(by));
    expect(reply.statusCode).toBe(500);
    expect(reply.body).not.toContain('the inside');
    expect(logged.join()).toContain(reply.json().request_id);
    expect(reply.json().request_id).toBe(reply.headers['x-request-id']);
    expect(await by.used()).toBe(0);
  });

  test('an answer that is not as declared never leaves and is never paid for', async () => {
    const by = await member();
    const handle = async () => ({ state: 'ok', data: { listed: false } });
    const reply = await serve({ by, handle }).inject(asking(by));
    expect(reply.statusCode).toBe(500);
    expect(await by.used()).toBe(0);
  });
});
