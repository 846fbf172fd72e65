// Does what a route declares of its replies leave as declared: content types, headers, keeping?

import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { html, noBody, text } from '../contract/reply.ts';
import { plainRoute } from '../contract/route.ts';
import type { Mounted } from './answer.ts';
import { createHttp } from './http.ts';
import { createMeters } from './metrics.ts';

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
