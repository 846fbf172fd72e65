// Does one declaration serve its messages over a WebSocket and as server-sent events, each reader
// from where it stands, and nobody who may not read?

import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createGate } from '../access/gate.ts';
import { PLANS } from '../access/plan.ts';
import { deriveSecrets, mintKey } from '../access/secret.ts';
import { Refusal } from '../contract/refusals.ts';
import type { StreamHandler, StreamMessage, StreamSource } from '../contract/stream.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import { type TicksRoute, ticksHandler } from '../testing/scratch-stream.ts';
import { createSlots } from './stream.ts';
import { frameRate } from './stream-doors.ts';
import { STREAM_LIMITS } from './stream-reader.ts';
import {
  ALONE,
  ask,
  handshake,
  numbers,
  openStalled,
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

  function oneTick(route: TicksRoute, fault: boolean): StreamSource<StreamMessage<'ticks'>> {
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

// A slow, noisy or dead reader costs the others nothing.

/** More than the sockets of both sides hold of unread bytes. */
const TICK_BYTES = 64 * 1024;
const TICKS = 300;

describe('a reader that does not read', () => {
  test.each(['/ws/ticks?token=pro-1', '/sse/ticks?token=pro-1'])(
    'is told that it lags, from where it can resume, and costs the others nothing: %s',
    async (path) => {
      const limits = { lagMs: 1_000, closeMs: 20_000 };
      const { base, port, log, metric } = await serveTicks({ heartbeat_s: 1, limits });
      const stalled = await openStalled(port, path);
      const others = [await readSocket(base), await readEvents(base)];
      for (const _ of numbers(1, TICKS)) log.add('x'.repeat(TICK_BYTES));
      for (const { until } of others) await until((read) => ticksIn(read).length === TICKS);
      await expect
        .poll(() => metric('exhibit_stream_ends_total'), PATIENT)
        .toEqual(['exhibit_stream_ends_total{route="ticks",reason="lagged"} 1']);
      for (const { read } of others) expect(ticksIn(read)).toEqual(numbers(1, TICKS));
      let last = '';
      stalled.resume();
      stalled.on('data', (chunk) => {
        last = (last + String(chunk)).slice(-TICK_BYTES);
      });
      await expect.poll(() => /"type":"lagged","seq":\d+/.test(last), PATIENT).toBe(true);
    },
  );

  test.each(['/ws/ticks?token=pro-1', '/sse/ticks?token=pro-1'])(
    'not even its end is cut off, and its place is free: %s',
    async (path) => {
      const limits = { lagMs: 100, closeMs: 100 };
      const { port, log, metric } = await serveTicks({ heartbeat_s: 1, limits });
      await openStalled(port, path);
      for (const _ of numbers(1, TICKS)) log.add('x'.repeat(TICK_BYTES));
      await expect
        .poll(() => metric('exhibit_stream_connections'), PATIENT)
        .toEqual(['exhibit_stream_connections{route="ticks",tier="pro"} 0']);
      await expect.poll(() => log.waiting, PATIENT).toBe(0);
    },
  );

  test('and reads again in time finds the rest of a long past, complete and in order', async () => {
    const { base, log, metric } = await serveTicks({ limits: { queueBytesMax: 100_000 } });
    for (const _ of numbers(1, TICKS)) log.add('x'.repeat(TICK_BYTES));
    const { ws, until } = await readSocket(base, 'token=pro-1&since=0');
    await until((read) => read.length > 0);
    ws.pause();
    expect(await settled(queuedBy(metric))).toBeLessThan(TICKS);
    ws.resume();
    const read = await until((all) => ticksIn(all).length === TICKS);
    expect(ticksIn(read)).toEqual(numbers(1, TICKS));
  });

  test('is given nothing more to keep: its source is not asked beyond what may wait', async () => {
    const { port, log, metric } = await serveTicks({ limits: { queueMessagesMax: 50 } });
    for (const _ of numbers(1, 10_000)) log.add('x'.repeat(4_096));
    await openStalled(port, '/ws/ticks?token=pro-1&since=0');
    const queued = await settled(queuedBy(metric));
    expect(queued).toBeGreaterThan(50);
    expect(queued).toBeLessThan(5_000);
  });
});

/** How many messages were queued for readers. */
function queuedBy(metric: (name: string) => Promise<string[]>) {
  return async () => Number((await metric('exhibit_stream_messages'))[0]?.split(' ')[1]);
}

/** A count, once it is above zero and stays as it is. */
async function settled(count: () => Promise<number>): Promise<number> {
  let before = 0;
  await expect
    .poll(
      async () => {
        const was = before;
        before = await count();
        return before > 0 && before === was;
      },
      { ...PATIENT, interval: 100 },
    )
    .toBe(true);
  return before;
}

describe('a client that says too much', () => {
  test('in one frame is closed with 1009, and one that floods with 1008', async () => {
    const { base, metric } = await serveTicks({ limits: { framesAtOnceMax: 3 } });
    const large = await readSocket(base);
    large.ws.send(JSON.stringify({ type: 'ping', text: 'x'.repeat(STREAM_LIMITS.frameBytesMax) }));
    expect((await large.closed).code).toBe(1009);
    const flood = await readSocket(base);
    for (const _ of numbers(1, 5)) flood.ws.send('{"type":"ping"}');
    expect(await flood.closed).toEqual({ code: 1008, reason: 'too_many_frames' });
    expect(flood.read.filter(({ type }) => type === 'heartbeat')).toHaveLength(3);
    expect((await metric('exhibit_stream_ends_total')).sort()).toEqual([
      'exhibit_stream_ends_total{route="ticks",reason="frame_too_large"} 1',
      'exhibit_stream_ends_total{route="ticks",reason="too_many_frames"} 1',
    ]);
  });

  test('in parts is held to the same size, and one that breaks the protocol is closed', async () => {
    const { base, metric } = await serveTicks();
    const parts = await readSocket(base);
    for (const _ of numbers(1, 3)) parts.ws.send('x'.repeat(3_000), { fin: false });
    expect((await parts.closed).code).toBe(1009);
    const broken = await readSocket(base);
    Reflect.get(broken.ws, '_socket').write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
    expect((await broken.closed).code).toBe(1002);
    await expect
      .poll(async () => (await metric('exhibit_stream_ends_total')).length, PATIENT)
      .toBe(2);
  });

  test('is allowed so many frames at once, and so many more with each second', () => {
    const may = frameRate({ framesAtOnceMax: 2, framesPerSecondMax: 4 });
    const asked = [0, 0, 0, 250, 250, 10_000, 10_000, 10_000].map((nowMs) => may(nowMs));
    expect(asked).toEqual([true, true, false, true, false, true, true, false]);
  });
});

describe('a reader that is no longer there', () => {
  test('is found by the pong that it does not send; one that answers stays', async () => {
    const { base, log, metric } = await serveTicks({ heartbeat_s: 1 });
    const lost = await readSocket(base, 'token=pro-1', { autoPong: false });
    const there = await readSocket(base);
    await lost.closed;
    await there.until((read) => read.filter(({ type }) => type === 'heartbeat').length > 2);
    log.add();
    await there.until((read) => ticksIn(read).length === 1);
    expect(await metric('exhibit_stream_ends_total')).toEqual([
      'exhibit_stream_ends_total{route="ticks",reason="no_pong"} 1',
    ]);
  });

  test('and cannot be asked for a pong is let go after a life, and resumes', async () => {
    const { base, log } = await serveTicks({ heartbeat_s: 1, limits: { eventsLifeMs: 1 } });
    log.add();
    const first = await readEvents(base);
    await first.ended;
    expect(first.raw.at(-1)).toMatch(/^id: 1\n/);
    log.add();
    const second = await readEvents(base, 'token=pro-1', { 'last-event-id': '1' });
    await second.until((read) => ticksIn(read).length === 1);
    expect(ticksIn(second.read)).toEqual([2]);
  });

  test('leaves nothing behind: after 1,000 reconnects every place is free', async () => {
    const { base, log, metric, app } = await serveTicks({ limits: { connectionsMax: 20 } });
    const leave = [
      (one: Awaited<ReturnType<typeof readSocket>>) => one.ws.terminate(),
      (one: Awaited<ReturnType<typeof readSocket>>) => one.ws.close(),
    ];
    let seen = 0;
    const reconnect = async (i: number) => {
      if (i % 4 === 0) {
        const { until, leave } = await readEvents(base, `token=pro-1&since=${seen}`);
        await until(({ length }) => length > 0);
        leave();
        return;
      }
      const one = await readSocket(base, `token=pro-1&since=${seen}`);
      await one.until(({ length }) => length > 0);
      leave[i % 2]?.(one);
      await one.closed;
    };
    for (const i of numbers(1, 1_000)) {
      log.add();
      seen = log.newest - 1;
      await reconnect(i);
    }
    await expect
      .poll(() => metric('exhibit_stream_connections'), PATIENT)
      .toEqual(['exhibit_stream_connections{route="ticks",tier="pro"} 0']);
    await expect.poll(() => log.waiting, PATIENT).toBe(0);
    const held = await Promise.all(numbers(1, 20).map(() => readSocket(base)));
    log.add();
    await Promise.all(held.map(({ until }) => until((read) => ticksIn(read).length === 1)));
    expect(app.server.listenerCount('upgrade')).toBe(1);
  });

  test('and never asked for anything does not keep a stopping server waiting', async () => {
    const { app, port, base } = await serveTicks();
    const { closed } = await readSocket(base);
    const unused = connect(port, '127.0.0.1');
    await once(unused, 'connect');
    await app.inject('/plain');
    const gone = once(unused, 'close');
    await app.close();
    expect((await closed).code).toBe(1001);
    await gone;
  });

  test('gives its place back once, however often it is given back', async () => {
    const slots = createSlots(2, ALONE);
    const holder = { id: 'token:1', scope: 'free', limit: 1 } as const;
    const slot = await slots.take(holder);
    expect(await slots.take(holder)).toMatchObject({ code: 'at_capacity' });
    if (!('release' in slot)) throw new Error('no place');
    slot.release();
    slot.release();
    expect([slots.taken(), slots.takenBy('free')]).toEqual([0, 0]);
    expect(await slots.take(holder)).toHaveProperty('release');
    expect(await slots.take({ ...holder, id: 'token:2' })).toHaveProperty('release');
    const third = await slots.take({ ...holder, id: 'token:3' });
    expect(third).toMatchObject({ body: { scope: 'process' } });
  });

  test('is not opened where the streams of all processes are as many as they may be', async () => {
    const told: unknown[] = [];
    const elsewhere = 8;
    const slots = createSlots(100, {
      hold: async (held, max) => {
        told.push([held.own, max]);
        const granted = max === null || held.own + elsewhere <= max;
        return { checked: true, value: { granted, others: elsewhere } };
      },
    });
    const holder = { id: 'token:1', scope: 'free', limit: 10 } as const;
    for (const _ of numbers(1, 2)) expect(await slots.take(holder)).toHaveProperty('release');
    const third = await slots.take(holder);
    expect(third).toMatchObject({ body: { scope: 'free', limit: 10, current: 10 } });
    expect(slots.taken()).toBe(2);
    const atOnce = await Promise.all(numbers(1, 3).map(() => slots.take(holder)));
    expect(atOnce.filter((one) => 'release' in one)).toEqual([]);
    expect(told.at(-1)).toEqual([2, null]);
  });
});

// Is everybody who may not read a stream answered before the upgrade, with the declared body?

describe('refuses before the upgrade', () => {
  test('a plain GET, with where to go', async () => {
    const { base, app } = await serveTicks();
    const reply = await app.inject('/ws/ticks?token=pro-1');
    expect(reply.statusCode).toBe(426);
    expect(reply.headers).toMatchObject({ upgrade: 'websocket', 'sec-websocket-version': '13' });
    expect(reply.json()).toEqual({
      state: 'upgrade_required',
      reason: 'This path is a WebSocket: ask with Upgrade, or read the same events at sse_url.',
      websocket_url: `${base.replace('http', 'ws')}/ws/ticks`,
      sse_url: `${base}/sse/ticks`,
    });
  });

  test('a handshake that is none, as the plain request that it is', async () => {
    const { port } = await serveTicks();
    const whole = handshake('/ws/ticks?token=pro-1', ['Connection: close']);
    for (const line of [/Sec-WebSocket-Key.*\r\n/, /Sec-WebSocket-Version.*\r\n/]) {
      expect(await ask(port, whole.replace(line, ''))).toMatch(/^HTTP\/1.1 426 /);
    }
  });

  test.each([
    ['no token', '', 401, { error: 'unauthorized', reason: 'No token was sent.' }],
    ['a wrong one', 'token=x', 401, { error: 'unauthorized', reason: expect.any(String) }],
    ['one that cannot be checked', 'token=down', 503, { error: 'Tokens cannot be checked.' }],
    [
      'an unknown name',
      'token=pro-1&x=1',
      400,
      { error: expect.stringContaining('"x"'), fields: expect.any(Array) },
    ],
    [
      'a wrong value',
      'token=pro-1&of=odd',
      400,
      { error: expect.stringContaining('of: '), fields: expect.any(Array) },
    ],
    [
      'no place',
      'token=pro-1&since=',
      400,
      { error: expect.stringContaining('since: '), fields: expect.any(Array) },
    ],
    [
      'no number',
      'token=pro-1&since=-1',
      400,
      { error: expect.stringContaining('since: '), fields: expect.any(Array) },
    ],
  ])('%s, over both doors', async (_, query, status, body) => {
    const { port, app, metric } = await serveTicks();
    const refused = await refusedHandshake(port, `/ws/ticks?${query}`);
    expect([refused.status, refused.body]).toEqual([status, body]);
    expect(refused.head).toContain('x-request-id: ');
    const twin = await app.inject(`/sse/ticks?${query}`);
    expect([twin.statusCode, twin.json()]).toEqual([status, body]);
    expect(await metric('exhibit_stream_connections')).toEqual([]);
  });

  test('an event id that is none', async () => {
    const { app } = await serveTicks();
    const headers = { 'last-event-id': 'tick', authorization: 'Bearer pro-1' };
    const reply = await app.inject({ url: '/sse/ticks', headers });
    expect([reply.statusCode, reply.json()]).toEqual([
      400,
      {
        error: 'Last-Event-ID: expected the id of an event of this stream',
        fields: [{ path: ['Last-Event-ID'], says: 'expected the id of an event of this stream' }],
      },
    ]);
  });

  test('one stream more than a credential may hold, until one of them is gone', async () => {
    const { base, port, app, metric } = await serveTicks();
    const held = [];
    for (const _ of numbers(1, 9)) held.push(await readSocket(base, 'token=free-1'));
    await readEvents(base, 'token=free-1');
    const refused = await refusedHandshake(port, '/ws/ticks?token=free-1');
    expect([refused.status, refused.body]).toEqual([
      503,
      {
        state: 'at_capacity',
        error: 'too_many_connections',
        scope: 'free',
        limit: 10,
        current: 10,
        reason:
          'A credential of the tier free may hold 10 streams open; close one, or try again later.',
      },
    ]);
    expect(refused.head).toContain('retry-after: 5');
    expect((await app.inject('/sse/ticks?token=free-1')).statusCode).toBe(503);
    await readSocket(base, 'token=free-2');
    expect(await metric('exhibit_refusals_total{route="ticks"')).toEqual([
      'exhibit_refusals_total{route="ticks",reason="at_capacity"} 2',
    ]);
    held[0]?.ws.close();
    await held[0]?.closed;
    await expect
      .poll(() => metric('exhibit_stream_connections{route="ticks",tier="free"}'), PATIENT)
      .toEqual(['exhibit_stream_connections{route="ticks",tier="free"} 10']);
    await readSocket(base, 'token=free-1');
  });

  test('one stream more than the process may hold', async () => {
    const { base, port } = await serveTicks({ limits: { connectionsMax: 1 } });
    await readSocket(base);
    const { status, body } = await refusedHandshake(port, '/ws/ticks?token=desk-1');
    expect([status, body]).toMatchObject([503, { scope: 'process', limit: 1, current: 1 }]);
  });

  test('what its handler refuses, with a body that the route declares, and takes no place', async () => {
    const refusals = [
      (route: TicksRoute) => route.refuse(409, { error: 'no ticks yet' }),
      () => new Refusal('overloaded', { error: 'not now' }),
    ];
    for (const [i, refuse] of refusals.entries()) {
      const handle = (route: TicksRoute) => async () => refuse(route);
      const { port, app } = await serveTicks({ handle, limits: { connectionsMax: 1 } });
      const expected = [
        [409, { error: 'no ticks yet' }],
        [503, { error: 'not now' }],
      ][i];
      for (const _ of numbers(1, 3)) {
        const { status, body } = await refusedHandshake(port, '/ws/ticks?token=pro-1');
        expect([status, body]).toEqual(expected);
        const twin = await app.inject('/sse/ticks?token=pro-1');
        expect([twin.statusCode, twin.json()]).toEqual(expected);
      }
    }
  });

  test('a fault with the id that its log line has, and a handler that takes too long', async () => {
    const broken = await serveTicks({
      handle: () => async () => {
        throw new Error('the inside');
      },
    });
    const { status, body } = await refusedHandshake(broken.port, '/ws/ticks?token=pro-1');
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('the inside');
    expect(broken.logged.join()).toContain(Object(body).request_id);
    expect(broken.logged.join()).not.toContain('pro-1');
    const slow = await serveTicks({
      handle: () => () => new Promise(() => undefined),
      limits: { openMs: 1 },
    });
    expect((await refusedHandshake(slow.port, '/ws/ticks?token=pro-1')).status).toBe(503);
  });

  test('another method, by its name', async () => {
    const { app } = await serveTicks();
    for (const url of ['/ws/ticks', '/sse/ticks']) {
      const reply = await app.inject({ method: 'POST', url });
      expect([reply.statusCode, reply.headers.allow]).toEqual([405, 'GET, HEAD']);
    }
  });
});
