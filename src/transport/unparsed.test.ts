// Does every response of the hosted surface say what is left, whoever refuses: the parser of the
// runtime, the framework, a route? And is a body that is not read refused?

import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from '../access/gate.ts';
import { PLANS } from '../access/plan.ts';
import { deriveSecrets, mintKey } from '../access/secret.ts';

import { plainRoute } from '../contract/route.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import { createHttp } from './http.ts';
import { createMeters } from './metrics.ts';

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
  await memberships.record({ membership_id: 'mem_1', plan: 'analyst', status: 'active', at: NOW });
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

/** What a connection says until it ends, of bytes as they are sent. */
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
    ['two lengths of a body', (key) => post(`${key}transfer-encoding: chunked\r\n`, ''), 400, ZERO],
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
