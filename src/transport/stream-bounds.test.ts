// What can a reader that reads slowly, says too much or is no longer there cost the others?

import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createSlots } from './stream.ts';
import { frameRate } from './stream-doors.ts';
import { STREAM_LIMITS } from './stream-reader.ts';
import {
  ALONE,
  numbers,
  openStalled,
  readEvents,
  readSocket,
  serveTicks,
  ticksIn,
} from './stream-service.suite.ts';

/** More than the sockets of both sides hold of unread bytes. */
const TICK_BYTES = 64 * 1024;
const TICKS = 300;
/** Within the time of a test; the machine may have much else to do. */
const PATIENT = { timeout: 20_000 };

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
