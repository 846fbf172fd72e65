// Do pages with forms and sessions, and bodies of other forms than JSON, hold against a browser's
// enemies? Asked of the real server over a socket.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { deriveSecrets } from '../access/secret.ts';
import { createSessions, type Sessions } from '../access/session.ts';
import { bytes, form, html, noBody } from '../contract/reply.ts';
import { plainRoute } from '../contract/route.ts';
import { Read } from '../evidence/reading.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import { createTestHttp } from '../testing/http-server.ts';
import type { AnyHandler, Mounted } from './answer.ts';

const NOW = 1_790_000_000;
const FORM = 'application/x-www-form-urlencoded';
const WEB = { surface: 'web', summary: 'A route of the tests.' } as const;

const signIn = plainRoute({
  ...WEB,
  name: 'sign_in',
  method: 'POST',
  path: '/sign-in',
  access: 'open',
  body: form(z.strictObject({ membership: z.string().max(20) })),
  responses: { 200: html(), 303: noBody() },
  headers: { 303: { location: 'The settings.', 'set-cookie': 'The session.' } },
});
const settings = plainRoute({
  ...WEB,
  name: 'settings',
  method: 'GET',
  path: '/settings/{part}',
  access: 'session',
  params: z.strictObject({ part: z.string() }),
  query: z.strictObject({ page: z.coerce.number().int().optional() }),
  responses: { 200: html() },
});
const rename = plainRoute({
  ...WEB,
  name: 'rename',
  method: 'POST',
  path: '/settings/{part}',
  access: 'session',
  bodyBytesMax: 2_048,
  params: z.strictObject({ part: z.string() }),
  body: form(z.strictObject({ name: z.string().min(1), tag: z.array(z.string()).optional() })),
  responses: { 200: html() },
});
const scripted = plainRoute({
  ...WEB,
  name: 'scripted',
  method: 'POST',
  path: '/settings/{part}/name',
  access: 'session',
  params: z.strictObject({ part: z.string() }),
  body: z.strictObject({ name: z.string() }),
  responses: { 200: z.strictObject({ name: z.string() }) },
});
const hook = plainRoute({
  ...WEB,
  name: 'hook',
  method: 'POST',
  path: '/hook',
  access: 'open',
  requestHeaders: z.strictObject({ 'hook-signature': z.string().max(100) }),
  bodyBytesMax: 1_024,
  body: bytes('application/json'),
  responses: {
    200: z.strictObject({ bytes: z.int() }),
    401: z.strictObject({ error: z.string() }),
  },
});

const fresh = embeddedControl();
const apps: { close: () => Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

type Sent = { readonly headers?: { readonly [name: string]: string }; readonly body?: string };

async function serve(ownOrigin?: string) {
  const { memberships, sessions: store } = accessIn(fresh(), () => NOW * 1_000);
  await memberships.record({ membership_id: 'mem_1', plan: 'desk', status: 'active', at: NOW });
  const secrets = deriveSecrets('a root secret of the tests', null);
  const sessions: Sessions = createSessions(store, secrets, false, () => NOW);
  const done: unknown[] = [];
  const mounted: Mounted[] = [
    {
      route: signIn,
      handle: async () => {
        const begun = await sessions.begin('mem_1', { agent: undefined, network: '192.0.2' });
        if (!(begun instanceof Read)) throw new Error('unread');
        const headers = { location: '/settings/keys', 'set-cookie': begun.value };
        return signIn.reply(303, undefined, headers);
      },
    },
    {
      route: settings,
      handle: async ({ params, query }, _asked, caller) => {
        const token = caller.kind === 'session' ? caller.form_token : '';
        const text = JSON.stringify({ params, query });
        return settings.reply(200, `<h1>Settings</h1>${text}<input value="${token}">`);
      },
    },
    ...[rename, scripted].map((route): Mounted => {
      const handle: AnyHandler = async ({ body }) => {
        done.push(body);
        return route === rename
          ? rename.reply(200, '<p>Done.')
          : scripted.reply(200, { name: 'done' });
      };
      return { route, handle };
    }),
    {
      route: hook,
      handle: async ({ body, headers }) => {
        const given = hook.requestHeaders?.parse(headers);
        const expected = createHmac('sha256', 'shared').update(Object(body)).digest();
        const sent = Buffer.from(String(given?.['hook-signature']), 'hex');
        const isRight = sent.length === expected.length && timingSafeEqual(sent, expected);
        return isRight
          ? hook.reply(200, { bytes: Object(body).length })
          : hook.reply(401, { error: 'not signed' });
      },
    },
  ];
  const app = createTestHttp({
    mounted,
    sessions,
    ...(ownOrigin === undefined ? {} : { ownOrigin }),
    refusalPage: ({ code, body }) => `<h1>${code}</h1>${JSON.stringify(body)}`,
    now: () => NOW,
  });
  apps.push(app);
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const send = async (method: string, path: string, { headers = {}, body }: Sent = {}) => {
    const sent = { method, headers, redirect: 'manual' as const };
    const reply = await fetch(origin + path, body === undefined ? sent : { ...sent, body });
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  };
  return { send, origin, done };
}

/** A browser that has signed in, and the token that its pages show. */
async function signedIn() {
  const served = await serve();
  const { send, origin } = served;
  const own = { origin, 'content-type': FORM };
  const begun = await send('POST', '/sign-in', { headers: own, body: 'membership=mem_1' });
  const cookie = String(begun.headers.get('set-cookie')).split(';')[0] ?? '';
  const page = await send('GET', '/settings/keys', { headers: { cookie } });
  const token = /value="([\w-]{43})"/.exec(page.text)?.[1] ?? '';
  return { ...served, begun, page, cookie, token, own: { ...own, cookie } };
}

describe('says', () => {
  test('a form signs in, leads on, and the page knows whose browser it is', async () => {
    const { begun, page, send, cookie } = await signedIn();
    expect([begun.status, begun.headers.get('location')]).toEqual([303, '/settings/keys']);
    expect(begun.headers.get('set-cookie')).toMatch(/^exhibit=.*; HttpOnly; SameSite=Lax$/);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(page.headers.get('vary')).toContain('Cookie');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    // Without a referrer browsers would hide the origin of a form.
    expect(page.headers.get('referrer-policy')).toBe('same-origin');
    const asked = await send('GET', '/settings/keys?page=2', { headers: { cookie } });
    expect(asked.text).toContain('{"params":{"part":"keys"},"query":{"page":2}}');
  });

  test('a form with the token of its session is done, without the token in its fields', async () => {
    const { send, own, token, done } = await signedIn();
    const body = `name=New+key&tag=a&tag=b%26&form_token=${token}`;
    const said = await send('POST', '/settings/keys', { headers: own, body });
    expect([said.status, said.text]).toEqual([200, '<p>Done.']);
    expect(done).toEqual([{ name: 'New key', tag: ['a', 'b&'] }]);
  });

  test('a browser that names its own site needs to name no origin', async () => {
    const { send, cookie, token } = await signedIn();
    const headers = { cookie, 'content-type': FORM, 'sec-fetch-site': 'same-origin' };
    const body = `name=n&form_token=${token}`;
    expect((await send('POST', '/settings/keys', { headers, body })).status).toBe(200);
  });

  test('a script of our own pages sends the token as a header', async () => {
    const { send, own, token, done } = await signedIn();
    const headers = { ...own, 'content-type': 'application/json', 'x-form-token': token };
    const sent = { headers, body: '{"name":"n"}' };
    expect((await send('POST', '/settings/keys/name', sent)).status).toBe(200);
    expect(done).toEqual([{ name: 'n' }]);
  });

  test('a raw body reaches its handler byte for byte, with the headers that it declares', async () => {
    const { send } = await serve();
    const body = '{"b":1,  "a":"\u00e9"}\r\n';
    const signature = createHmac('sha256', 'shared').update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'hook-signature': signature };
    const said = await send('POST', '/hook', { headers, body });
    expect([said.status, said.text]).toEqual([200, `{"bytes":${Buffer.byteLength(body)}}`]);
    const other = await send('POST', '/hook', { headers, body: '{"b":1,"a":"\u00e9"}' });
    expect(other.status).toBe(401);
  });
});

describe('refuses', () => {
  test.each<[string, { readonly [name: string]: string }]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['an origin that is hidden', { origin: 'null' }],
    ['nobody who says whence', {}],
  ])('%s, before the body is read, whatever the token', async (_, from) => {
    const { send, cookie, token, done } = await signedIn();
    const headers = { cookie, 'content-type': FORM, ...from };
    for (const body of [`name=n&form_token=${token}`, 'x'.repeat(5_000)]) {
      const said = await send('POST', '/settings/keys', { headers, body });
      expect([said.status, said.text.slice(0, 21)]).toEqual([403, '<h1>foreign_form</h1>']);
      expect(said.headers.get('content-type')).toBe('text/html; charset=utf-8');
    }
    const signing = { headers: { 'content-type': FORM, ...from }, body: 'membership=mem_1' };
    expect((await send('POST', '/sign-in', signing)).status).toBe(403);
    expect(done).toEqual([]);
  });

  test('a form without the token of its session, before its fields are looked at', async () => {
    const { send, own, token, done } = await signedIn();
    const wrong = `${token.slice(1)}${token.startsWith('A') ? 'B' : 'A'}`;
    for (const body of [
      'name=n',
      'name=n&form_token=',
      `name=n&form_token=${wrong}`,
      `colour=red&form_token=${wrong}`,
      `name=n&form_token=${token}&form_token=${token}`,
    ]) {
      const said = await send('POST', '/settings/keys', { headers: own, body });
      expect([body, said.status]).toEqual([body, 403]);
    }
    const headers = { ...own, 'content-type': 'application/json' };
    const sent = { headers, body: '{"name":"n"}' };
    expect((await send('POST', '/settings/keys/name', sent)).status).toBe(403);
    expect(done).toEqual([]);
  });

  test('who is not signed in, in a page that says what next', async () => {
    const { send, own, token } = await signedIn();
    const { cookie, ...bare } = own;
    for (const headers of [bare, { ...bare, cookie: `${cookie}x` }, { ...bare, cookie: 'a=b' }]) {
      const said = await send('GET', '/settings/keys', { headers });
      expect([said.status, said.text.slice(0, 21)]).toEqual([401, '<h1>unauthorized</h1>']);
      const body = `name=n&form_token=${token}`;
      expect((await send('POST', '/settings/keys', { headers, body })).status).toBe(401);
    }
  });

  test('another form of body, a field that is not declared, too many and too much', async () => {
    const { send, own, token, done } = await signedIn();
    const at = (body: string, type = FORM) =>
      send('POST', '/settings/keys', { headers: { ...own, 'content-type': type }, body });
    const json = await at('{"name":"n"}', 'application/json');
    expect([json.status, json.text]).toEqual([415, expect.stringContaining(FORM)]);
    expect((await at(`name=n&colour=red&form_token=${token}`)).status).toBe(400);
    expect((await at(`${'a=&'.repeat(600)}form_token=${token}`)).status).toBe(400);
    expect((await at(`name=${'n'.repeat(3_000)}&form_token=${token}`)).status).toBe(413);
    expect(done).toEqual([]);
    const { send: ask } = await serve();
    const form_ = { headers: { 'content-type': FORM, 'hook-signature': 'a' }, body: 'a=b' };
    expect((await ask('POST', '/hook', form_)).status).toBe(415);
    const unsigned = { headers: { 'content-type': 'application/json' }, body: '{}' };
    const said = await ask('POST', '/hook', unsigned);
    expect([said.status, said.text]).toEqual([400, expect.stringContaining('hook-signature')]);
  });

  test('an origin that is not the published one, where one is', async () => {
    const { send, origin } = await serve('https://exhibit.example');
    const sign = (from: string) => {
      const headers = { origin: from, 'content-type': FORM };
      return send('POST', '/sign-in', { headers, body: 'membership=mem_1' });
    };
    expect((await sign(origin)).status).toBe(403);
    expect((await sign('https://exhibit.example')).status).toBe(303);
  });
});
