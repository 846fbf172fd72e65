// Does one declaration serve its messages over a WebSocket and as server-sent events, each reader
// from where it stands, and nobody who may not read?

import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createGate } from '../access/gate.ts';
import { PLANS } from '../access/plan.ts';
import { deriveSecrets, mintKey } from '../access/secret.ts';

import type { Message, StreamHandler, StreamSource } from '../contract/stream.ts';

import { accessIn, embeddedControl } from '../testing/control-store.ts';
import { type TicksRoute, ticksHandler } from '../testing/scratch-stream.ts';
import {
  ask,
  handshake,
  numbers,
  readEvents,
  readSocket,
  refusedHandshake,
  serveTicks,
  TOKENS,
  ticksIn,
} from './stream-service.suite.ts';

/** Within the time of a test; the machine may have much else to do. */
const PATIENT = { timeout: 20_000 };

const NOW = 1_790_000_000;
const BEARER = { headers: { authorization: 'Bearer pro-1' } };

describe('says', () => {
  test('a reader is welcomed and then told each event as its contract has it', async () => {
    const { base, log } = await serveTicks();
    const { until } = await readSocket(base);
    await until((read) => read.length === 1);
    log.add('first');
    const read = await until(({ length }) => length === 2);
    expect(read).toEqual([
      {
        type: 'welcome',
        seq: 0,
        heartbeat_s: 30,
        replay: { from: null, to: null, oldest: null },
        gap: null,
        of: 'all',
      },
      { type: 'tick', seq: 1, text: 'first' },
    ]);
  });

  test('its twin tells the same, each event under its number, closed to caches and frames', async () => {
    const { base, log } = await serveTicks();
    const { response, raw, until } = await readEvents(base, '', BEARER.headers);
    log.add('first');
    await until(({ length }) => length === 2);
    expect(raw).toEqual([
      'retry: 2000',
      'id: 0\ndata: {"type":"welcome","seq":0,"heartbeat_s":30,' +
        '"replay":{"from":null,"to":null,"oldest":null},"gap":null,"of":"all"}',
      'id: 1\ndata: {"type":"tick","seq":1,"text":"first"}',
    ]);
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    });
  });

  test('who resumes is told what it missed, once and in order, and then what comes', async () => {
    const { base, log } = await serveTicks();
    for (const _ of numbers(1, 500)) log.add();
    const socket = await readSocket(base, 'token=pro-1&since=3');
    const events = await readEvents(base, 'token=pro-1&since=490', { 'last-event-id': '4' });
    log.add('new');
    for (const [{ until }, from] of [
      [socket, 4],
      [events, 5],
    ] as const) {
      const read = await until((all) => all.some(({ text }) => text === 'new'));
      expect(read[0]).toMatchObject({ seq: from - 1, replay: { from, to: 500, oldest: 1 } });
      expect(ticksIn(read)).toEqual(numbers(from, 501));
    }
  });

  test('what can no longer be had is reported, and so is a place ahead of the newest', async () => {
    const { base, log } = await serveTicks({ keptMax: 10 });
    for (const _ of numbers(1, 30)) log.add();
    const behind = await readSocket(base, 'token=pro-1&since=5');
    const read = await behind.until((all) => ticksIn(all).length === 10);
    expect(read[0]).toMatchObject({ seq: 20, gap: { from: 6, to: 20 }, replay: { oldest: 21 } });
    expect(ticksIn(read)).toEqual(numbers(21, 30));
    const ahead = await readSocket(base, 'token=pro-1&since=99');
    const [welcome] = await ahead.until(({ length }) => length === 1);
    expect(welcome).toMatchObject({
      seq: 30,
      replay: { from: null, to: null },
      gap: { from: 31, to: 99 },
    });
  });

  test('a frame is answered by the handler, a ping by where the reader stands', async () => {
    const { base, log } = await serveTicks();
    const { ws, until } = await readSocket(base);
    ws.send('{"type":"choose","of":"even"}');
    await until((read) => read.some(({ type }) => type === 'chosen'));
    for (const _ of numbers(1, 3)) log.add();
    await until((read) => ticksIn(read).length === 1);
    ws.send('{"type":"ping"}');
    const read = await until((all) => all.some(({ type }) => type === 'heartbeat'));
    expect(read.slice(1)).toEqual([
      { type: 'chosen', of: 'even' },
      { type: 'tick', seq: 2, text: 'tick' },
      { type: 'heartbeat', seq: 3, at: expect.stringMatching(/^\d{4}-.*Z$/) },
    ]);
  });

  test('a frame that is not declared is answered with an error that echoes nothing', async () => {
    const { base } = await serveTicks();
    const { ws, until } = await readSocket(base);
    const sent = ['{"type":"choose","of":"secret"}', '{"type":"secret"}', 'secret', '[]', 'null'];
    for (const frame of sent) ws.send(frame);
    ws.send(Buffer.from('{"type":"ping"}'), { binary: true });
    const read = await until(({ length }) => length === 7);
    const codes = read.slice(1).map(({ type, code }) => [type, code]);
    const unknown = ['error', 'unknown_frame'];
    expect(codes).toEqual([['error', 'bad_frame'], unknown, unknown, unknown, unknown, unknown]);
    expect(JSON.stringify(read)).not.toContain('secret');
  });

  test('a quiet stream says that it is there, with the place up to which it has looked', async () => {
    const { base, log } = await serveTicks({ heartbeat_s: 1 });
    const even = 'token=pro-1&of=even';
    const readers = [await readSocket(base, even), await readEvents(base, even)];
    for (const _ of numbers(1, 5)) log.add();
    for (const { until } of readers) {
      const read = await until((all) => all.some(({ type }) => type === 'heartbeat'));
      expect(ticksIn(read)).toEqual([2, 4]);
      expect(read.find(({ type }) => type === 'heartbeat')).toMatchObject({ seq: 5 });
    }
  });

  function oneTick(route: TicksRoute, fault: boolean): StreamSource<Message<'ticks'>> {
    let isTold = false;
    return {
      next: () => {
        if (isTold && fault) throw new Error('the inside');
        if (isTold) return 'end';
        isTold = true;
        return route.event('tick', 1, { text: 'last' });
      },
      onMore: () => undefined,
    };
  }

  test('a source that ends, and one that faults, end the stream in so many words', async () => {
    const endings = (fault: boolean) => (route: TicksRoute) => async () => ({
      welcome: route.welcome({
        seq: 0,
        replay: { from: null, to: null, oldest: null },
        gap: null,
        of: 'all',
      }),
      messages: oneTick(route, fault),
      hear: () => null,
    });
    const quiet = await serveTicks({ handle: endings(false) });
    const ended = await readSocket(quiet.base);
    expect(await ended.closed).toEqual({ code: 1000, reason: 'source_ended' });
    expect(ticksIn(ended.read)).toEqual([1]);
    const broken = await serveTicks({ handle: endings(true) });
    const faulted = await readSocket(broken.base);
    expect(await faulted.closed).toEqual({ code: 1011, reason: 'fault' });
    expect(faulted.read.at(-1)).toMatchObject({ type: 'error', code: 'fault' });
    expect(JSON.stringify(faulted.read)).not.toContain('the inside');
    expect(broken.logged.join()).toContain('the inside');
  });

  test('every stream ends in order when the server stops, with what was said before', async () => {
    const { app, base, log } = await serveTicks();
    const socket = await readSocket(base);
    const events = await readEvents(base);
    for (const _ of numbers(1, 1_000)) log.add();
    await socket.until((read) => ticksIn(read).length > 0);
    await app.close();
    expect(await socket.closed).toEqual({ code: 1001, reason: 'going_away' });
    await events.ended;
    const at = ticksIn(socket.read).length;
    expect(ticksIn(socket.read)).toEqual(numbers(1, at));
    expect(ticksIn(events.read)).toEqual(numbers(1, ticksIn(events.read).length));
  });
});

describe('is opened', () => {
  test('by a bearer token, in the header or in the query; the header wins', async () => {
    const { base, port, app, logged } = await serveTicks();
    await readSocket(base, '', BEARER);
    await readSocket(base, 'token=unknown', BEARER);
    await readEvents(base, 'token=free-1');
    const { status } = await refusedHandshake(port, '/ws/ticks?token=pro-1', [
      'Authorization: Bearer unknown',
    ]);
    expect(status).toBe(401);
    expect((await app.inject('/sse/ticks?token=unknown')).statusCode).toBe(401);
    expect(logged).toEqual([]);
  });

  test('no longer by a token that was revoked: its streams are closed, and others stay', async () => {
    let revoked = false;
    const tokens: typeof TOKENS = async (sent) =>
      revoked && sent.queryToken === 'pro-1'
        ? { outcome: 'unknown', reason: 'The token is not known here.' }
        : TOKENS(sent);
    const { base, log } = await serveTicks({
      heartbeat_s: 1,
      guarding: { tokens },
      limits: { recheckMs: 1 },
    });
    const mine = await readSocket(base);
    const events = await readEvents(base);
    const others = await readSocket(base, 'token=pro-2');
    revoked = true;
    expect(await mine.closed).toEqual({ code: 1008, reason: 'credential' });
    expect(mine.read.at(-1)).toMatchObject({ type: 'error', code: 'unauthorized' });
    await events.ended;
    log.add();
    await others.until((read) => ticksIn(read).length === 1);
  });

  test('and stays open while nobody can say whether its token is good', async () => {
    let asked = 0;
    const tokens: typeof TOKENS = async (sent) => {
      asked += 1;
      return asked === 1 ? TOKENS(sent) : { outcome: 'unreachable', reason: 'Not now.' };
    };
    const { base, log } = await serveTicks({
      heartbeat_s: 1,
      guarding: { tokens },
      limits: { recheckMs: 1 },
    });
    const { until } = await readSocket(base);
    await until(() => asked > 3);
    log.add();
    await until((read) => ticksIn(read).length === 1);
  });

  test('to everybody, counted together, where the operator said so', async () => {
    const { base, metric } = await serveTicks({ guarding: { tokens: 'anonymous' } });
    await readSocket(base, '');
    expect(await metric('exhibit_stream_connections')).toEqual([
      'exhibit_stream_connections{route="ticks",tier="anonymous"} 1',
    ]);
  });

  const fresh = embeddedControl();

  test('by a plan, for one request of its allowance, and not when that is spent', async () => {
    const secrets = deriveSecrets('a root secret of the tests', null);
    const { memberships, keys, quota } = accessIn(fresh(), () => NOW * 1_000);
    await memberships.record({ membership_id: 'mem_1', plan: 'desk', status: 'active', at: NOW });
    const key = mintKey({ kind: 'sc', membership_id: 'mem_1' }, secrets, NOW);
    await keys.add(key.stored, 5);
    const gate = createGate({ keys, quota, secrets, durable: true }, () => NOW);
    const { base, port } = await serveTicks({ access: 'desk', guarding: { gate } });
    const authorization = `Bearer ${key.text}`;
    const { response } = await readEvents(base, '', { authorization });
    const limit = PLANS.desk.daily_requests;
    expect(response.headers['x-ratelimit-remaining']).toBe(String(limit - 1));
    await readSocket(base, '', { headers: { authorization } });
    const used = await quota.usage('membership:mem_1', '2026-09-21');
    expect(used.checked && used.value).toBe(2);

    const none = await refusedHandshake(port, '/ws/ticks');
    expect([none.status, none.body]).toEqual([
      402,
      { error: expect.any(String), reason: 'no_credential', entitlements_durable: true },
    ]);
    const inQuery = await refusedHandshake(port, `/ws/ticks?token=${key.text}`);
    expect(inQuery.status).toBe(402);
    const budget = { subject: 'membership:mem_1', period: '2026-09-21', limit };
    await Promise.all(numbers(3, limit).map(() => quota.charge(budget)));
    const spent = await refusedHandshake(port, '/ws/ticks', [`Authorization: ${authorization}`]);
    expect([spent.status, spent.body]).toMatchObject([429, { reason: 'quota_exhausted' }]);
  });
});

describe('leaves other requests alone', () => {
  test('an offer of h2c, and a handshake elsewhere, are answered as without streams', async () => {
    const { port } = await serveTicks();
    const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n';
    const plain = await ask(
      port,
      `GET /plain HTTP/1.1\r\nHost: tests\r\n${h2c}\r\n` +
        'GET /plain HTTP/1.1\r\nHost: tests\r\nConnection: close\r\n\r\n',
    );
    expect(plain.match(/HTTP\/1.1 200 /g)).toHaveLength(2);
    const posted = await ask(
      port,
      `POST /plain HTTP/1.1\r\nHost: tests\r\n${h2c}Content-Length: 2\r\n\r\n{}` +
        'GET /plain HTTP/1.1\r\nHost: tests\r\nConnection: close\r\n\r\n',
    );
    expect(posted.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 405', 'HTTP/1.1 200']);
    const elsewhere = handshake('/plain', []).replace('Upgrade\r\n', 'Upgrade, close\r\n');
    expect(await ask(port, elsewhere)).toMatch(/^HTTP\/1.1 200 /);
  });

  test('a reader that hangs up while its stream opens is forgotten', async () => {
    let opening = 0;
    let gone = 0;
    const handle = (route: TicksRoute, log: Parameters<typeof ticksHandler>[1]) => {
      const opens = ticksHandler(route, log);
      const slow: StreamHandler<TicksRoute> = async (asked) => {
        opening += 1;
        asked.signal.addEventListener('abort', () => {
          gone += 1;
        });
        if (opening === 1) await once(asked.signal, 'abort');
        return opens(asked);
      };
      return slow;
    };
    const { base, port, log } = await serveTicks({ handle, limits: { connectionsMax: 1 } });
    const sent = request({ port, path: '/sse/ticks?token=pro-1' });
    sent.on('error', () => undefined);
    sent.end();
    await expect.poll(() => opening, PATIENT).toBe(1);
    sent.destroy();
    await expect.poll(() => gone, PATIENT).toBe(1);
    const { until } = await readSocket(base);
    log.add();
    await until((read) => ticksIn(read).length === 1);
  });
});
