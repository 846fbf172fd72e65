// Is what a client on a socket gets what an injected request gets, however odd its path is?

import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from '../access/gate.ts';
import { deriveSecrets, mintKey } from '../access/secret.ts';

import { evidenceRoute } from '../contract/route.ts';
import { unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import type { AnyHandler } from './answer.ts';
import { createHttp } from './http.ts';
import { createMeters } from './metrics.ts';

const NOW = 1_780_000_000;
const SECRETS = deriveSecrets('a root secret of the tests', null);

const probe = evidenceRoute({
  name: 'probe',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/probe/{address}/look',
  summary: 'A route of the tests.',
  access: 'analyst',
  params: z.strictObject({ address: z.string() }),
  query: z.strictObject({ on: z.string().optional() }),
  data: z.strictObject({ caveat: z.string() }),
  absences: ['not_deployed'],
  tool: null,
});

const take = evidenceRoute({
  name: 'take',
  surface: 'hosted',
  method: 'POST',
  path: '/api/v1/probe/take',
  summary: 'A route of the tests that takes a body.',
  access: 'analyst',
  body: z.strictObject({ items: z.array(z.string()) }),
  data: z.strictObject({ caveat: z.string() }),
  absences: ['not_deployed'],
  tool: null,
});

const apps: { close: () => Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

const fresh = embeddedControl();

async function served(handle?: AnyHandler) {
  const { memberships, keys, quota } = accessIn(fresh(), () => NOW * 1000);
  await memberships.record({ membership_id: 'mem_1', plan: 'desk', status: 'active', at: NOW });
  const minted = mintKey({ kind: 'sc', membership_id: 'mem_1' }, SECRETS, NOW);
  await keys.add(minted.stored, 5);
  const logged: string[] = [];
  const keep = (facts: object, message: string) => {
    logged.push(`${message} ${JSON.stringify(facts)}`);
  };
  const says: AnyHandler = async ({ params, query }) =>
    probe.absent.not_deployed({
      subject: JSON.stringify([params, query]),
      silent: unread('list', why('not_configured', { what: 'The list' })),
    });
  const app = createHttp({
    mounted: [
      { route: probe, handle: handle === undefined ? says : handle },
      { route: take, handle: says },
    ],
    gate: createGate({ keys, quota, secrets: SECRETS, durable: true }, () => NOW),
    meters: createMeters([]),
    log: { info: keep, warn: keep, error: keep },
    now: () => NOW,
    budgetMs: 1000,
    trustProxy: false,
  });
  apps.push(app);
  const base = await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, base, logged, quota, authorization: `Bearer ${minted.text}` };
}
type Served = Awaited<ReturnType<typeof served>>;

type Told = { status: number; body: string; headers: { [name: string]: unknown } };

const VARYING = ['date', 'x-request-id', 'x-ratelimit-remaining', 'connection', 'keep-alive'];

function told(status: number, body: string, headers: object): Told {
  const kept = Object.entries(headers).filter(([name]) => !VARYING.includes(name));
  return { status, body, headers: Object.fromEntries(kept) };
}

function overSocket({ base }: Served, path: string, headers: object, method = 'GET') {
  return new Promise<Told>((resolve, reject) => {
    const asked = request(`${base}${path}`, { method, headers: { ...headers } }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      answer.on('end', () => resolve(told(Number(answer.statusCode), body, answer.headers)));
    });
    asked.on('error', reject);
    asked.end();
  });
}

async function injected({ app }: Served, path: string, headers: object, method = 'GET') {
  const known = ['POST', 'HEAD', 'GET'] as const;
  const reply = await app.inject({
    method: known.find((one) => one === method) ?? 'GET',
    url: path,
    headers: { ...headers },
  });
  return told(reply.statusCode, reply.body, reply.headers);
}

describe('over a socket and injected', () => {
  const PATHS: readonly (readonly [string, number, string])[] = [
    ['/api/v1/probe/0xAbC/look', 200, '{\\"address\\":\\"0xAbC\\"},{}'],
    ['/api/v1/probe/0xabc/look?on=today', 200, '{\\"on\\":\\"today\\"}'],
    ['/api/v1/probe/0xabc/look?', 200, '{\\"address\\":\\"0xabc\\"},{}'],
    ['/api/v1/probe/a%20b/look', 200, '{\\"address\\":\\"a b\\"}'],
    ['/api/v1/probe/a%3Ab/look', 200, '{\\"address\\":\\"a:b\\"}'],
    ['/api/v1/probe/%/look', 400, 'path'],
    ['/api/v1/probe//look', 200, '{\\"address\\":\\"\\"}'],
    ['/api/v1/probe/0xabc/look/', 404, 'No such route'],
    ['/api/v1/probe/0xabc', 404, 'No such route'],
    ['/api/v1/probe/0xabc/look?colour=red', 400, 'colour'],
    [`/api/v1/probe/${'a'.repeat(128)}/look`, 200, 'aaa'],
    [`/api/v1/probe/${'a'.repeat(129)}/look`, 200, 'aaa'],
    [`/api/v1/probe/${'a'.repeat(300)}/look`, 400, '256'],
  ];

  test.each(PATHS)('%s is answered alike', async (path, status, says) => {
    const by = await served();
    const headers = { authorization: by.authorization };
    const got = await overSocket(by, path, headers);
    expect(got.status).toBe(status);
    expect(got.body).toContain(says);
    expect(got).toEqual(await injected(by, path, headers));
  });

  test('a caller without a key, with an unknown or a spent one is refused alike', async () => {
    const by = await served();
    const path = '/api/v1/probe/0xabc/look';
    const strange = { 'x-service-membership': 'sc_strange' };
    for (const [headers, status] of [
      [{}, 402],
      [strange, 402],
    ] as const) {
      const got = await overSocket(by, path, headers);
      expect(got.status).toBe(status);
      expect(got).toEqual(await injected(by, path, headers));
    }
    const budget = { subject: 'membership:mem_1', period: '2026-05-28', limit: 10_000 };
    await Promise.all(Array.from({ length: budget.limit }, () => by.quota.charge(budget)));
    const headers = { authorization: by.authorization };
    const got = await overSocket(by, path, headers);
    expect(got.status).toBe(429);
    expect(got).toEqual(await injected(by, path, headers));
  });

  test('another method is refused alike', async () => {
    const by = await served();
    const path = '/api/v1/probe/0xabc/look';
    const got = await overSocket(by, path, {}, 'POST');
    expect([got.status, got.headers['allow']]).toEqual([405, 'GET, HEAD']);
    expect(got).toEqual(await injected(by, path, {}, 'POST'));
  });

  test('HEAD is answered and charged as GET is, without the body', async () => {
    const by = await served();
    const path = '/api/v1/probe/0xabc/look';
    const headers = { authorization: by.authorization };
    const got = await overSocket(by, path, headers, 'HEAD');
    const whole = await overSocket(by, path, headers);
    expect([got.status, got.body]).toEqual([200, '']);
    expect(got.headers['content-length']).toBe(whole.headers['content-length']);
    const used = await by.quota.usage('membership:mem_1', '2026-05-28');
    expect(used.checked && used.value).toBe(2);
  });

  test('a fault is a 500 with the id of its log line, and is not charged', async () => {
    const by = await served(async () => {
      throw new Error('the inside');
    });
    const headers = { authorization: by.authorization };
    const got = await overSocket(by, '/api/v1/probe/0xabc/look', headers);
    expect(got.status).toBe(500);
    expect(got.body).not.toContain('the inside');
    const id = /"request_id":"([^"]+)"/.exec(got.body)?.[1];
    expect(by.logged.join()).toContain(`"request_id":"${id}"`);
    const used = await by.quota.usage('membership:mem_1', '2026-05-28');
    expect(used.checked && used.value).toBe(0);
  });
});

test('the signal of a request ends when its client hangs up', async () => {
  let ended: (said: boolean) => void = () => undefined;
  const aborted = new Promise<boolean>((resolve) => {
    ended = resolve;
  });
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const by = await served(async (_input, { signal }) => {
    signal.addEventListener('abort', () => ended(signal.aborted));
    begin();
    await aborted;
    throw new Error('nobody waits');
  });
  const headers = { authorization: by.authorization };
  const asked = request(`${by.base}/api/v1/probe/0xabc/look`, { headers });
  asked.on('error', () => undefined);
  asked.end();
  await begun;
  asked.destroy();
  expect(await aborted).toBe(true);
});

test('a request in flight is answered when the server closes', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const by = await served(async () => {
    begin();
    await held;
    return probe.absent.not_deployed({
      subject: 's',
      silent: unread('list', why('not_configured', { what: 'The list' })),
    });
  });
  const answer = overSocket(by, '/api/v1/probe/0xabc/look', { authorization: by.authorization });
  await begun;
  const closed = by.app.close();
  release();
  expect((await answer).status).toBe(200);
  await closed;
});

test('requests of one connection are answered in their order, each by its own', async () => {
  const by = await served(async ({ params }) => {
    const subject = JSON.stringify(params);
    if (subject.includes('slow')) await new Promise((resolve) => setTimeout(resolve, 20));
    return probe.absent.not_deployed({
      subject,
      silent: unread('list', why('not_configured', { what: 'The list' })),
    });
  });
  const socket = connect(Number(new URL(by.base).port), '127.0.0.1');
  const head = `Host: tests\r\nAuthorization: ${by.authorization}\r\n`;
  const ask = (name: string, end = '') =>
    `GET /api/v1/probe/${name}/look HTTP/1.1\r\n${head}${end}\r\n`;
  socket.write(ask('slow') + ask('%') + ask('quick') + ask('last', 'Connection: close\r\n'));
  let said = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  await once(socket, 'close');
  const order = /HTTP\/1\.1 (\d+)|\{\\"address\\":\\"(\w+)/g;
  const met = [...said.matchAll(order)].map(([, status, name]) => status ?? name);
  expect(met).toEqual(['200', 'slow', '400', '200', 'quick', '200', 'last']);
});

test('a body that is larger than the route reads ends its connection', async () => {
  const by = await served();
  const socket = connect(Number(new URL(by.base).port), '127.0.0.1');
  socket.write(
    'POST /api/v1/probe/take HTTP/1.1\r\nHost: tests\r\ncontent-type: application/json\r\n' +
      `Authorization: ${by.authorization}\r\ncontent-length: 999999\r\n\r\n{`,
  );
  let said = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  await once(socket, 'close');
  expect(said).toMatch(/^HTTP\/1\.1 413 /);
  expect(said).toMatch(/^connection: close\r$/im);
});
