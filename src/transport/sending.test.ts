// An answer is the same whatever method or encoding it is asked in, and a page of a session is
// never compressed.

import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { InjectOptions } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bytes, html } from '../contract/reply.ts';
import { plainRoute } from '../contract/route.ts';
import type { Mounted } from './answer.ts';
import { createHttp } from './http.ts';
import { createMeters } from './metrics.ts';

const LONG = 'evidence '.repeat(500);
const FACTS = { surface: 'web', method: 'GET', summary: 'A route of the tests.' } as const;
const document = plainRoute({
  ...FACTS,
  name: 'document',
  path: '/document',
  access: 'open',
  keptS: 60,
  responses: { 200: z.strictObject({ text: z.string() }) },
});
const short = plainRoute({
  ...FACTS,
  name: 'short',
  path: '/short',
  access: 'open',
  responses: { 200: z.strictObject({ fine: z.boolean() }) },
});
const page = plainRoute({
  ...FACTS,
  name: 'page',
  path: '/page',
  access: 'visitor',
  responses: { 200: html() },
});
const posted = plainRoute({
  ...FACTS,
  method: 'POST',
  name: 'posted',
  path: '/posted',
  access: 'open',
  responses: { 200: z.strictObject({ fine: z.boolean() }) },
});
const STORED = Uint8Array.from([0, 255, 0xc3, 0x28, ...Buffer.alloc(2_000)]).subarray(1);
const tile = plainRoute({
  ...FACTS,
  name: 'tile',
  path: '/tile',
  access: 'open',
  keptS: 60,
  responses: { 200: bytes('application/octet-stream') },
});
const stored = plainRoute({
  ...FACTS,
  name: 'stored',
  path: '/stored',
  access: 'open',
  keptS: 60,
  responses: { 200: bytes('application/json') },
});
const unkept = plainRoute({
  ...FACTS,
  name: 'unkept',
  path: '/unkept',
  access: 'open',
  keptS: 60,
  query: z.strictObject({ kept: z.enum(['yes', 'no']).optional() }),
  responses: { 200: z.strictObject({ error: z.string() }) },
});
const named = plainRoute({
  ...FACTS,
  name: 'named',
  path: '/named',
  access: 'open',
  keptS: 60,
  responses: { 200: z.strictObject({ fine: z.boolean() }) },
  headers: { 200: { 'x-of': 'Of what.' } },
});
const OTHER_JSON = `{ "text": "${LONG}" }\n`;
const MOUNTED: Mounted[] = [
  { route: tile, handle: async () => tile.reply(200, STORED) },
  { route: stored, handle: async () => stored.reply(200, Buffer.from(OTHER_JSON)) },
  {
    route: unkept,
    handle: async ({ query }) => {
      const kept = Reflect.get(Object(query), 'kept');
      const body = { error: 'unread' };
      return kept === undefined
        ? unkept.reply(200, body)
        : unkept.reply(200, body, { kept: kept === 'yes' });
    },
  },
  {
    route: named,
    handle: async () => named.reply(200, { fine: true }, { 'x-of': 'this' }, { kept: false }),
  },
  { route: document, handle: async () => document.reply(200, { text: LONG }) },
  { route: short, handle: async () => short.reply(200, { fine: true }) },
  { route: page, handle: async () => page.reply(200, `<!doctype html><p>${LONG}</p>`) },
  { route: posted, handle: async () => posted.reply(200, { fine: true }) },
];

const apps: { close: () => Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

function ask(options: InjectOptions, hosts?: readonly string[]) {
  const nothing = () => undefined;
  const app = createHttp({
    mounted: MOUNTED,
    gate: null,
    meters: createMeters([]),
    log: { info: nothing, warn: nothing, error: nothing },
    now: () => 1_780_000_000,
    budgetMs: 1_000,
    trustProxy: false,
    ...(hosts === undefined ? {} : { hosts }),
    refusalPage: ({ code }) => `<!doctype html><p>${code}</p>`,
  });
  apps.push(app);
  return app.inject(options);
}

describe('HEAD', () => {
  test.each(['/document', '/short', '/page'])(
    'has the head of GET at %s, and no body',
    async (url) => {
      const got = await ask({ method: 'GET', url });
      const head = await ask({ method: 'HEAD', url });
      const { date: _, 'x-request-id': __, ...expected } = got.headers;
      expect(head.headers).toMatchObject(expected);
      expect([head.statusCode, head.body]).toEqual([200, '']);
    },
  );

  test('is no method of a route that changes something, and is named where it is one', async () => {
    const wrong = await ask({ method: 'HEAD', url: '/posted' });
    expect([wrong.statusCode, wrong.headers.allow]).toEqual([405, 'POST']);
    const other = await ask({ method: 'DELETE', url: '/short' });
    expect([other.statusCode, other.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});

describe('an encoding', () => {
  const asked = (url: string, accepted: string, more: { [name: string]: string } = {}) =>
    ask({ method: 'GET', url, headers: { 'accept-encoding': accepted, ...more } });

  test.each([
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.1, gzip;q=0.9', 'gzip'],
    ['*', 'br'],
  ])('of %s is %s: shorter, and the same text', async (accepted, encoding) => {
    const plain = await ask({ method: 'GET', url: '/document' });
    const packed = await asked('/document', accepted);
    expect(packed.headers['content-encoding']).toBe(encoding);
    expect(packed.headers['content-length']).toBe(String(packed.rawPayload.length));
    expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 10);
    const unpack = encoding === 'br' ? brotliDecompressSync : gunzipSync;
    expect(unpack(packed.rawPayload).toString()).toBe(plain.body);
    expect([plain.headers.vary, packed.headers.vary]).toEqual(Array(2).fill('Accept-Encoding'));
    expect(packed.headers.etag).toBe(`W/${String(plain.headers.etag)}`);
    const again = await asked('/document', accepted, {
      'if-none-match': String(packed.headers.etag),
    });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  test.each([
    ['a client that takes none', '/document', 'identity'],
    ['one that refuses both', '/document', 'gzip;q=0, br;q=0'],
    ['a short answer', '/short', 'gzip'],
  ])('is none for %s', async (_, url, accepted) => {
    expect((await asked(url, accepted)).headers['content-encoding']).toBeUndefined();
  });

  test('is none for a page of a session: its length would tell the token of its forms', async () => {
    const visitor = await asked('/page', 'gzip');
    expect(visitor.headers['content-encoding']).toBe('gzip');
    const member = await asked('/page', 'gzip', { cookie: 'exhibit_session=a' });
    expect(member.headers['content-encoding']).toBeUndefined();
    expect(member.headers.vary).toBe('Cookie, Accept-Encoding');
  });
});

test('a page of any origin reads what is open to all and is no page, and nothing else', async () => {
  const origins = await Promise.all(
    ['/document', '/short', '/page', '/nowhere'].map(async (url) => {
      const answer = await ask({ method: 'GET', url, headers: { origin: 'https://a.example' } });
      return answer.headers['access-control-allow-origin'];
    }),
  );
  expect(origins).toEqual(['*', '*', undefined, undefined]);
});

test('a port with names of its own, where callers are the operator, opens to no foreign page', async () => {
  const headers = { host: '127.0.0.1:9090', origin: 'https://a.example' };
  const answer = await ask({ method: 'GET', url: '/short', headers }, ['127.0.0.1']);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
});

describe('bytes', () => {
  test('leave as they were stored, under their type and their name', async () => {
    const { statusCode, headers, rawPayload } = await ask({ method: 'GET', url: '/tile' });
    expect([statusCode, rawPayload]).toEqual([200, Buffer.from(STORED)]);
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(STORED.length),
      'cache-control': 'public, max-age=60',
    });
    const again = await ask({
      method: 'GET',
      url: '/tile',
      headers: { 'if-none-match': String(headers['etag']) },
    });
    expect([again.statusCode, again.rawPayload.length]).toEqual([304, 0]);
  });

  test('of JSON are not written anew, and a client that takes it gets them compressed', async () => {
    const plain = await ask({ method: 'GET', url: '/stored' });
    expect([plain.headers['content-type'], plain.body]).toEqual(['application/json', OTHER_JSON]);
    const packed = await ask({
      method: 'GET',
      url: '/stored',
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.rawPayload).toString()).toBe(OTHER_JSON);
  });

  test('that are declared are bytes, and name their type', () => {
    const text: unknown = 'no bytes';
    expect(() => tile.reply(200, text as Uint8Array)).toThrow('not the bytes that are declared');
    expect(() =>
      plainRoute({
        ...FACTS,
        name: 'odd',
        path: '/odd',
        access: 'open',
        responses: { 200: bytes(null) },
      }),
    ).toThrow('bytes that are answered name their type');
  });
});

describe('a reply of a kept route', () => {
  test.each([
    ['/unkept', 'public, max-age=60'],
    ['/unkept?kept=yes', 'public, max-age=60'],
    ['/unkept?kept=no', 'no-store'],
    ['/named', 'no-store'],
  ])('%s says how long it holds: %s', async (url, keeping) => {
    const { statusCode, headers } = await ask({
      method: 'GET',
      url,
      headers: { 'if-none-match': '"another"' },
    });
    expect([statusCode, headers['cache-control']]).toEqual([200, keeping]);
    expect(headers['etag'] === undefined).toBe(keeping === 'no-store');
  });

  test('that is not kept has no name by which it could be asked for', async () => {
    const asked = { method: 'GET', url: '/unkept?kept=no', headers: { 'if-none-match': '*' } };
    const { statusCode, body } = await ask(asked as InjectOptions);
    expect([statusCode, body]).toEqual([200, '{"error":"unread"}']);
  });

  test('carries the headers that its status declares too', async () => {
    const { headers } = await ask({ method: 'GET', url: '/named' });
    expect(headers['x-of']).toBe('this');
  });
});
