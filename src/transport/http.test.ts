import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { InjectOptions } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from '../access/gate.ts';
import { PLANS } from '../access/plan.ts';
import { deriveSecrets, mintKey } from '../access/secret.ts';
import { badField } from '../contract/refusals.ts';
import { html, noBody, text } from '../contract/reply.ts';
import { evidenceRoute, type Handler, plainRoute } from '../contract/route.ts';
import { negative } from '../contract/wire.ts';
import { claim } from '../evidence/claim.ts';
import { read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import { createTestHttp } from '../testing/http-server.ts';
import type { AnyHandler, Mounted } from './answer.ts';
import { createHttp } from './http.ts';
import { createMeters } from './metrics.ts';

describe('http', () => {
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
        simulated: false,
        data: { listed: false, caveat: 'A false is not a clearance.' },
      });
      expect(await by.used()).toBe(1);
      expect(reply.headers).toMatchObject({
        'x-ratelimit-limit': String(SOLD),
        'x-ratelimit-remaining': String(SOLD - 1),
        'x-ratelimit-reset': '12800',
        'cache-control': 'no-store',
        vary: 'Authorization, x-service-membership, Origin',
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
        simulated: false,
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
      ['no body', { payload: '' }, 400, 'body: expected an object, and nothing was sent'],
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
      const typed = status === 400 ? ['error', 'fields'] : ['error'];
      expect(Object.keys(reply.json())).toEqual(typed);
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
      expect(none.headers).toMatchObject({
        'x-ratelimit-limit': '0',
        'x-ratelimit-reset': '12800',
      });
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
      const handle: Handler<typeof probe> = async () => badField('address', 'form not recognised');
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

    test('an answer that a door began and lost the rest of is cut, and the next is served', async () => {
      const logged: string[] = [];
      const keep = (_: object, message: string) => void logged.push(message);
      const serveDoor = async (_: unknown, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/plain' }).write('the first part');
        throw new Error('the rest was lost');
      };
      const log = { info: keep, warn: keep, error: keep };
      const doors = [
        { path: '/door', bodyBytesMax: 4096, admit: async () => null, serve: serveDoor },
      ];
      const app = createTestHttp({ mounted: [], now: () => NOW, log, doors });
      apps.push(app);
      const base = await app.listen({ host: '127.0.0.1', port: 0 });
      const headers = { 'content-type': 'application/json' };
      for (const faults of [['fault'], ['fault', 'fault']]) {
        const said = await fetch(`${base}/door`, { method: 'POST', headers, body: '{}' });
        await expect(said.text()).rejects.toThrow('terminated');
        expect(logged.filter((message) => message === 'fault')).toEqual(faults);
      }
    });
  });
});

// Does what a route declares of its replies leave as declared: content types, headers, keeping?

describe('replies', () => {
  const OPEN = {
    surface: 'web',
    method: 'GET',
    access: 'open',
    summary: 'A route of the tests.',
  } as const;

  const feed = plainRoute({
    ...OPEN,
    name: 'feed',
    path: '/feed',
    keptS: 300,
    responses: {
      200: text('application/atom+xml; charset=utf-8'),
      503: z.strictObject({ error: z.string() }),
    },
  });
  const named = plainRoute({
    ...OPEN,
    name: 'named',
    path: '/named',
    responses: { 200: z.strictObject({ n: z.int() }) },
    headers: { 200: { etag: 'Names the version.' } },
  });
  const moved = plainRoute({
    ...OPEN,
    name: 'moved',
    path: '/moved',
    responses: { 303: noBody() },
    headers: { 303: { location: 'Where it is.', 'set-cookie': 'What the browser keeps.' } },
  });
  const shown = plainRoute({
    ...OPEN,
    name: 'shown',
    path: '/shown/{name}',
    params: z.strictObject({ name: z.string().max(5) }),
    query: z.strictObject({ on: z.string().optional() }),
    responses: { 200: html() },
  });

  const apps: { close: () => Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
  });

  function serve(...mounted: Mounted[]) {
    const quiet = () => undefined;
    const app = createHttp({
      mounted,
      gate: null,
      isOperator: (authorization) => authorization === 'Bearer right',
      refusalPage: ({ status, body }) => `<h1>${status}</h1>${JSON.stringify(body)}`,
      meters: createMeters([]),
      log: { info: quiet, warn: quiet, error: quiet },
      now: () => 1_780_000_000,
      budgetMs: 1_000,
      trustProxy: false,
    });
    apps.push(app);
    return (url: string, headers = {}) => app.inject({ method: 'GET', url, headers });
  }

  describe('says', () => {
    test('a text as the type that is declared, to be kept by anybody and asked for by its name', async () => {
      let said = '<feed/>';
      const get = serve({ route: feed, handle: async () => feed.reply(200, said) });
      const first = await get('/feed');
      expect([first.statusCode, first.body]).toEqual([200, '<feed/>']);
      const { etag } = first.headers;
      expect(first.headers).toMatchObject({
        'content-type': 'application/atom+xml; charset=utf-8',
        'cache-control': 'public, max-age=300',
        etag: expect.stringMatching(/^"[\w-]{43}"$/),
      });
      for (const held of [etag, `W/${etag}`, `"another", ${etag}`, '*']) {
        const again = await get('/feed', { 'if-none-match': held });
        expect([held, again.statusCode, again.body]).toEqual([held, 304, '']);
        expect(again.headers).toMatchObject({ etag, 'cache-control': 'public, max-age=300' });
      }
      said = '<feed><entry/></feed>';
      const changed = await get('/feed', { 'if-none-match': String(etag) });
      expect([changed.statusCode, changed.body]).toEqual([200, said]);
    });

    test('another status than 200 is kept by nobody and has no name', async () => {
      const get = serve({ route: feed, handle: async () => feed.reply(503, { error: 'no' }) });
      const { statusCode, headers } = await get('/feed', { 'if-none-match': '*' });
      expect([statusCode, headers['cache-control'], headers.etag]).toEqual([
        503,
        'no-store',
        undefined,
      ]);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
    });

    test("an ETag of the route's own is held against If-None-Match too", async () => {
      const handle = async () => named.reply(200, { n: 1 }, { etag: '"v1"' });
      const get = serve({ route: named, handle });
      expect((await get('/named', { 'if-none-match': '"v0"' })).json()).toEqual({ n: 1 });
      const again = await get('/named', { 'if-none-match': '"v1"' });
      expect([again.statusCode, again.headers['cache-control']]).toEqual([304, 'no-store']);
    });

    test('headers without a body; several of one name, or none, as the reply says', async () => {
      const cookies = ['a=1; Path=/', 'b=2; Path=/'];
      const handle = async () =>
        moved.reply(303, undefined, { location: '/', 'set-cookie': cookies });
      const both = await serve({ route: moved, handle })('/moved');
      expect([both.statusCode, both.body]).toEqual([303, '']);
      expect(both.headers).toMatchObject({ location: '/', 'set-cookie': cookies });
      expect(both.headers['content-type']).toBeUndefined();
      const one = async () => moved.reply(303, undefined, { location: '/', 'set-cookie': null });
      const { headers } = await serve({ route: moved, handle: one })('/moved');
      expect(headers['set-cookie']).toBeUndefined();
    });

    test('a page, with parameters and a query, under the policy of pages', async () => {
      const get = serve({ route: shown, handle: async () => shown.reply(200, '<p>Shown.') });
      const page = await get('/shown/one?on=today');
      expect([page.statusCode, page.body]).toEqual([200, '<p>Shown.']);
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(page.headers['cache-control']).toBe('no-store');
      expect(page.headers['content-security-policy']).toContain("form-action 'self'");
    });

    test('an open route tells its handler of the operator, and of nobody else', async () => {
      const get = serve({
        route: shown,
        handle: async (_input, _asked, { kind }) => shown.reply(200, kind),
      });
      expect((await get('/shown/one', { authorization: 'Bearer right' })).body).toBe('operator');
      expect((await get('/shown/one', { authorization: 'Bearer wrong' })).body).toBe('nobody');
    });
  });

  describe('refuses', () => {
    test.each([
      ['/shown/too-long', 400],
      ['/shown/one?colour=red', 400],
      ['/shown/%', 400],
      ['/shown/fault', 500],
    ])('%s in a page where a page was asked', async (url, status) => {
      const handle = () => Promise.reject(new Error('the inside'));
      const page = await serve({ route: shown, handle })(url, { accept: 'text/html' });
      expect(page.statusCode).toBe(status);
      expect(page.body).toMatch(new RegExp(`^<h1>${status}</h1>`));
      expect(page.body).not.toContain('the inside');
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(page.headers['cache-control']).toBe('no-store');
    });

    test('an unknown path in a page to a browser, and in JSON to a program', async () => {
      const get = serve();
      const page = await get('/nothing', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
      expect([page.statusCode, page.body.slice(0, 12)]).toEqual([404, '<h1>404</h1>']);
      expect((await get('/nothing', { accept: '*/*' })).json()).toHaveProperty('error');
    });

    test('whoever is not the operator at a route of the operator', async () => {
      const inside = plainRoute({
        ...OPEN,
        name: 'inside',
        path: '/inside',
        access: 'operator',
        responses: { 200: text('text/plain') },
      });
      const get = serve({ route: inside, handle: async () => inside.reply(200, 'state') });
      for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
        const closed = await get('/inside', headers);
        expect([closed.statusCode, closed.headers['www-authenticate']]).toEqual([401, 'Bearer']);
      }
      expect((await get('/inside', { authorization: 'Bearer right' })).body).toBe('state');
    });

    test('a header that could split the answer, as a fault', async () => {
      const handle = async () =>
        moved.reply(303, undefined, { location: '/\r\nx-a: b', 'set-cookie': null });
      expect((await serve({ route: moved, handle })('/moved')).statusCode).toBe(500);
    });

    test('to be mounted, by name: a page without a page of refusals, and one name twice', () => {
      const handle = async () => shown.reply(200, '');
      const bare = { gate: null, meters: createMeters([]) } as const;
      const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
      const rest = { now: () => 0, budgetMs: 1, trustProxy: false };
      const mounted = [{ route: shown, handle }];
      expect(() => createHttp({ ...bare, log, ...rest, mounted })).toThrow('shown needs a page');
      expect(() => serve({ route: shown, handle }, { route: shown, handle })).toThrow(
        'shown is mounted',
      );
    });

    test('to be declared, by name: what a route cannot say of its replies', () => {
      const body = z.strictObject({});
      const spec = { ...OPEN, name: 'odd', path: '/odd', responses: { 200: body } } as const;
      const odd = (change: object) => () => plainRoute({ ...spec, ...change });
      expect(odd({ access: 'analyst', keptS: 5 })).toThrow('odd: what is told to one caller');
      expect(odd({ headers: { 201: { location: 'x' } } })).toThrow('odd: headers of 201');
      expect(odd({ headers: { 200: { 'cache-control': 'x' } } })).toThrow(
        'cannot declare cache-control',
      );
      expect(odd({ headers: { 200: { Location: 'x' } } })).toThrow('cannot declare Location');
      expect(odd({ responses: { 204: noBody() } })).toThrow('cannot declare 204');
    });
  });
});

// Does every response of the hosted surface say what is left, whoever refuses: the parser of the
// runtime, the framework, a route? And is a body that is not read refused?

describe('unparsed', () => {
  const NOW = 1_780_000_000;
  const SECRETS = deriveSecrets('a root secret of the tests', null);
  const SOLD = String(PLANS.analyst.daily_requests);
  const ZERO = '0';

  const responses = { 200: z.strictObject({ text: z.string() }) };
  const given = plainRoute({
    name: 'given',
    surface: 'hosted',
    method: 'GET',
    path: '/api/v1/given/{name}',
    summary: 'A route of the tests.',
    access: 'analyst',
    params: z.strictObject({ name: z.string() }),
    responses,
  });
  const taken = plainRoute({
    name: 'taken',
    surface: 'hosted',
    method: 'POST',
    path: '/api/v1/taken',
    summary: 'A route of the tests that takes a body.',
    access: 'analyst',
    body: z.strictObject({ text: z.string() }),
    bodyBytesMax: 100,
    responses,
  });

  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  const fresh = embeddedControl();

  async function served() {
    const { memberships, keys, quota } = accessIn(fresh(), () => NOW * 1_000);
    await memberships.record({
      membership_id: 'mem_1',
      plan: 'analyst',
      status: 'active',
      at: NOW,
    });
    const { text, stored } = mintKey({ kind: 'sc', membership_id: 'mem_1' }, SECRETS, NOW);
    await keys.add(stored, 5);
    const held = { release: (): void => undefined };
    const begun = new Promise<void>((resolve) => {
      held.release = resolve;
    });
    const meters = createMeters([]);
    const quiet = () => undefined;
    const app = createHttp({
      mounted: [
        {
          route: given,
          handle: async ({ params }) => {
            const { name } = given.params.parse(params);
            if (name === 'broken') throw new Error('the inside');
            if (name === 'held') await begun;
            return given.reply(200, { text: name });
          },
        },
        { route: taken, handle: async () => taken.reply(200, { text: 'taken' }) },
      ],
      gate: createGate({ keys, quota, secrets: SECRETS, durable: true }, () => NOW),
      meters,
      log: { info: quiet, warn: quiet, error: quiet },
      now: () => NOW,
      budgetMs: 1_000,
      trustProxy: false,
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    closing.push(() => app.close());
    const { port } = app.server.address() as AddressInfo;
    const used = async () => {
      const reading = await quota.usage('membership:mem_1', '2026-05-28');
      return reading.checked ? reading.value : null;
    };
    return { app, port, meters, used, key: `Authorization: Bearer ${text}\r\n`, ...held };
  }

  /** The bytes of a connection until it ends, after these bytes are sent. */
  async function said(port: number, bytes: string | Buffer): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    socket.write(bytes);
    await once(socket, 'close');
    return text;
  }

  function headerIn(text: string, name: string): string | undefined {
    return new RegExp(`^${name}: (.*)\r$`, 'im').exec(text)?.[1];
  }

  const HOST = 'Host: tests\r\n';
  const CLOSE = 'Connection: close\r\n';
  const JSON_TYPE = 'content-type: application/json\r\n';
  const post = (headers: string, body: string) =>
    `POST /api/v1/taken HTTP/1.1\r\n${HOST}${CLOSE}${headers}` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

  describe('what is left is said', () => {
    // A request with a key or without, the status of its refusal, and what is left then.
    const cases: [string, (key: string) => string, number, string][] = [
      ['an unknown path', (key) => get('/api/v1/no', key), 404, SOLD],
      ['an unknown path without a key', () => get('/api/v1/no', ''), 404, ZERO],
      ['another method', (key) => get('/api/v1/taken', key), 405, SOLD],
      ['another method with no key', () => get('/api/v1/taken', ''), 405, ZERO],
      ['a path that cannot be read', (key) => get('/api/v1/given/%zz', key), 400, SOLD],
      ['a path too long', (key) => get(`/api/v1/given/${'a'.repeat(300)}`, key), 400, SOLD],
      ['a fault', (key) => get('/api/v1/given/broken', key), 500, SOLD],
      ['a body too large', (key) => post(key + JSON_TYPE, 'x'.repeat(101)), 413, SOLD],
      ['another content type', (key) => post(`${key}content-type: text/plain\r\n`, 'x'), 415, SOLD],
      ['a body that is no JSON', (key) => post(key + JSON_TYPE, '{'), 400, SOLD],
      ['no host', (key) => `GET /api/v1/given/a HTTP/1.1\r\n${CLOSE}${key}\r\n`, 400, SOLD],
      [
        'headers too large',
        (key) => get('/api/v1/no', `${key}x: ${'a'.repeat(20_000)}\r\n`),
        431,
        ZERO,
      ],
      ['a line too long', (key) => get(`/api/v1/${'a'.repeat(20_000)}`, key), 431, ZERO],
      ['no HTTP', () => 'HELO you\r\n\r\n', 400, ZERO],
      ['no length of a body', (key) => post(key, '').replace(/length: 0/, 'length: x'), 400, ZERO],
      [
        'two lengths of a body',
        (key) => post(`${key}transfer-encoding: chunked\r\n`, ''),
        400,
        ZERO,
      ],
    ];
    function get(path: string, headers: string): string {
      return `GET ${path} HTTP/1.1\r\n${HOST}${CLOSE}${headers}\r\n`;
    }

    test.each(cases)('of %s', async (_, ask, status, left) => {
      const by = await served();
      const text = await said(by.port, ask(by.key));
      expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(headerIn(text, 'x-ratelimit-remaining')).toBe(left);
      expect(headerIn(text, 'x-ratelimit-limit')).toBe(left);
      expect(Number(headerIn(text, 'x-ratelimit-reset'))).toBeGreaterThan(0);
      const [, body] = text.split('\r\n\r\n');
      expect(body).toMatch(/^\{"error":"[^"]+"/);
      expect(headerIn(text, 'x-content-type-options')).toBe('nosniff');
      expect(await by.used()).toBe(0);
      expect(await by.meters.registry.metrics()).toMatch(/exhibit_refusals_total\{[^}]+\} 1/);
    });

    test('of an expectation that nobody knows, which is answered', async () => {
      const by = await served();
      const text = await said(by.port, get('/api/v1/given/a', `${by.key}Expect: more\r\n`));
      expect(text).toMatch(/^HTTP\/1.1 200 /);
      expect(headerIn(text, 'x-ratelimit-remaining')).toBe(String(Number(SOLD) - 1));
    });

    test('while the service stops, to a request behind one that is still answered', async () => {
      const by = await served();
      const ask = (name: string) => `GET /api/v1/given/${name} HTTP/1.1\r\n${HOST}${by.key}\r\n`;
      const socket = connect(by.port, '127.0.0.1');
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
      });
      socket.write(ask('held'));
      await new Promise((resolve) => setTimeout(resolve, 50));
      const closed = by.app.close();
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.write(ask('late'));
      await new Promise((resolve) => setTimeout(resolve, 50));
      by.release();
      await Promise.all([once(socket, 'close'), closed]);
      const [first, second] = text.split(/(?=HTTP\/1\.1 )/);
      expect(first).toMatch(/^HTTP\/1.1 200 /);
      expect(second).toMatch(/^HTTP\/1.1 503 /);
      expect(headerIn(String(second), 'x-ratelimit-limit')).toBe(SOLD);
      expect(headerIn(String(second), 'retry-after')).toBe('1');
      expect(headerIn(String(second), 'connection')).toBe('close');
    });

    test('not of what is no part of the hosted surface', async () => {
      const by = await served();
      const text = await said(by.port, get('/nowhere', by.key));
      expect(text).toMatch(/^HTTP\/1.1 404 /);
      expect(headerIn(text, 'x-ratelimit-limit')).toBeUndefined();
    });
  });

  describe('a body in an encoding', () => {
    const plain = '{"text":"a"}';

    test.each(['gzip', 'br', 'deflate', 'gzip, identity', 'nonsense'])(
      '%s is refused, whatever it holds, and not charged',
      async (encoding) => {
        const by = await served();
        const headers = `${by.key}${JSON_TYPE}content-encoding: ${encoding}\r\n`;
        const text = await said(by.port, post(headers, plain));
        expect(text).toMatch(/^HTTP\/1.1 415 /);
        expect(text).toContain('content-encoding: expected none');
        expect(headerIn(text, 'accept-encoding')).toBe('identity');
        expect(headerIn(text, 'x-ratelimit-remaining')).toBe(SOLD);
        const packed = gzipSync(plain);
        const head = `POST /api/v1/taken HTTP/1.1\r\n${HOST}${CLOSE}${headers}`;
        const whole = Buffer.concat([
          Buffer.from(`${head}content-length: ${packed.length}\r\n\r\n`),
          packed,
        ]);
        expect(await said(by.port, whole)).toMatch(/^HTTP\/1.1 415 /);
        expect(await by.used()).toBe(0);
      },
    );

    test.each(['', 'content-encoding: identity\r\n'])('that is none is read', async (encoding) => {
      const by = await served();
      const text = await said(by.port, post(`${by.key}${JSON_TYPE}${encoding}`, plain));
      expect(text).toMatch(/^HTTP\/1.1 200 /);
      expect(await by.used()).toBe(1);
    });
  });

  test('a fault is counted among the refusals, and its answer is not among the answers', async () => {
    const by = await served();
    const path = '/api/v1/given/broken';
    await said(by.port, `GET ${path} HTTP/1.1\r\n${HOST}${CLOSE}${by.key}\r\n`);
    const metrics = await by.meters.registry.metrics();
    expect(metrics).toContain('exhibit_refusals_total{route="given",reason="fault"} 1');
    expect(metrics).not.toMatch(/exhibit_requests_total\{route="given"/);
  });
});
