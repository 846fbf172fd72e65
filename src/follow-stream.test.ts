// Does a program that follows a stream have every event once and in order, whatever breaks?

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { WebSocket } from 'ws';
import {
  type EventOf,
  type FollowOptions,
  followStream,
  type StreamItem,
} from './client/stream.ts';
import type { TicksRoute } from './testing/scratch-stream.ts';
import { numbers, serveTicks, TOKENS } from './transport/stream-service.suite.ts';

type Tick = EventOf<TicksRoute>;

const STREAM = { path: '/ws/ticks', eventsPath: '/sse/ticks' };
const DOORS: [string, Partial<FollowOptions>][] = [
  ['server-sent events', {}],
  ['WebSockets', { WebSocket }],
];

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

function follow(baseUrl: string, options: Partial<FollowOptions> = {}) {
  const controller = new AbortController();
  closing.push(() => controller.abort());
  return followStream<Tick>({
    baseUrl,
    stream: STREAM,
    token: 'pro-1',
    signal: controller.signal,
    backoffMs: 5,
    backoffMaxMs: 50,
    ...options,
  });
}

/** The items that a follower received, up to the event of a number, or to its end. */
async function followedTo(last: number, followed: AsyncGenerator<StreamItem<Tick>, void>) {
  const items: StreamItem<Tick>[] = [];
  for await (const item of followed) {
    items.push(item);
    if (item.kind === 'event' && item.seq >= last) break;
  }
  return items;
}

const seqsIn = (items: readonly StreamItem<Tick>[]) =>
  items.flatMap((item) => (item.kind === 'event' ? item.seq : []));

/** A line to a service that breaks on purpose: `cut` says how, for each connection. */
async function breakingLine(
  port: number,
  cut: (socket: Socket, bytes: number, text: string) => void,
) {
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const service = connect(port, '127.0.0.1');
    let bytes = 0;
    service.on('data', (chunk) => {
      bytes += chunk.length;
      client.write(chunk);
      cut(client, bytes, String(chunk));
    });
    client.on('data', (chunk) => service.write(chunk));
    for (const [one, other] of [
      [client, service],
      [service, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
    closing.push(() => {
      client.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { base: `http://127.0.0.1:${address.port}`, connections: () => connections };
}

describe.each(DOORS)('over %s', (_, door) => {
  test('100 forced disconnects lose nothing and tell nothing twice', async () => {
    const { port, log } = await serveTicks();
    let cuts = 0;
    const line = await breakingLine(port, (client, bytes) => {
      // After the head of the answer, its welcome and some events; in the middle of one, mostly.
      if (cuts >= 100 || bytes < 900 + 37 * (cuts % 11)) return;
      cuts += 1;
      client.destroy();
    });
    const adding = setInterval(() => {
      if (log.newest < 5_000) for (const _ of numbers(1, 5)) log.add('x'.repeat(30));
    }, 1);
    closing.push(() => clearInterval(adding));
    const seqs: number[] = [];
    for await (const item of follow(line.base, { ...door, since: 0 })) {
      expect(item.kind).not.toBe('gap');
      if (item.kind === 'event') seqs.push(item.seq);
      if (cuts >= 100 && seqs.at(-1) === log.newest) break;
    }
    expect(seqs).toEqual(numbers(1, seqs.length));
    expect(seqs.length).toBeGreaterThan(100);
    expect(line.connections()).toBeGreaterThanOrEqual(100);
  });

  test('a line that falls silent is left when its heartbeats are missing', async () => {
    const { port, log } = await serveTicks({ heartbeat_s: 1 });
    let first = true;
    const line = await breakingLine(port, (client, _bytes, text) => {
      if (!first || !text.includes('the last word')) return;
      first = false;
      client.write = () => true;
    });
    const followed = followedTo(2, follow(line.base, { ...door, since: 0 }));
    log.add('the last word');
    await expect.poll(() => first, { timeout: 20_000 }).toBe(false);
    log.add();
    expect(seqsIn(await followed)).toEqual([1, 2]);
    expect(line.connections()).toBeGreaterThan(1);
  });

  test('what can no longer be had is a value, in its place', async () => {
    const { base, log } = await serveTicks({ keptMax: 10 });
    for (const _ of numbers(1, 30)) log.add();
    const items = await followedTo(30, follow(base, { ...door, since: 5 }));
    expect(items.slice(1, 3)).toEqual([
      { kind: 'gap', from: 6, to: 20 },
      { kind: 'event', seq: 21, event: { type: 'tick', seq: 21, text: 'tick' } },
    ]);
    expect(seqsIn(items)).toEqual(numbers(21, 30));
  });

  test('a service whose log was put back is followed from where it is, after a gap', async () => {
    const { base, log } = await serveTicks();
    for (const _ of numbers(1, 30)) log.add();
    async function* addAfterGap(items: ReturnType<typeof follow>) {
      for await (const item of items) {
        if (item.kind === 'gap') log.add('new');
        yield item;
      }
    }
    const items = await followedTo(31, addAfterGap(follow(base, { ...door, since: 99 })));
    expect(items.slice(1)).toEqual([
      { kind: 'gap', from: 31, to: 99 },
      { kind: 'event', seq: 31, event: { type: 'tick', seq: 31, text: 'new' } },
    ]);
  });

  test('each break is told where it happened', async () => {
    const { port, log } = await serveTicks();
    let cuts = 0;
    const line = await breakingLine(port, (client, _bytes, text) => {
      if (cuts > 0 || !text.includes('"seq":2')) return;
      cuts += 1;
      client.end();
      log.add();
    });
    for (const _ of numbers(1, 2)) log.add();
    const items = await followedTo(3, follow(line.base, { ...door, since: 0 }));
    expect(items.filter(({ kind }) => kind === 'broken')).toEqual([
      { kind: 'broken', refusal: null },
    ]);
    expect(seqsIn(items)).toEqual([1, 2, 3]);
  });

  test('who follows part of a stream resumes from where it was looked, without a gap', async () => {
    const { port, log } = await serveTicks({ keptMax: 1, heartbeat_s: 1 });
    let cut = false;
    const line = await breakingLine(port, (client, _bytes, text) => {
      if (cut || !text.includes('"type":"heartbeat","seq":3')) return;
      cut = true;
      client.end();
      // Before it is back, what it did not ask for can no longer be had.
      log.add();
    });
    const items: StreamItem<Tick>[] = [];
    for await (const item of follow(line.base, { ...door, query: { of: 'even' } })) {
      items.push(item);
      if (item.kind === 'event' && item.seq === 4) break;
      if (cut || log.newest > 0) continue;
      log.add();
      setTimeout(() => log.add(), 20);
      setTimeout(() => log.add(), 40);
    }
    expect(seqsIn(items)).toEqual([2, 4]);
    expect(items.filter(({ kind }) => kind === 'gap')).toEqual([]);
    expect(line.connections()).toBeGreaterThan(1);
  });

  test('a refusal ends it, with what the service said, and is asked for once', async () => {
    const { base, metric } = await serveTicks();
    const items = await followedTo(1, follow(base, { ...door, token: 'wrong' }));
    const body = { error: 'unauthorized', reason: 'The token is not known here.' };
    expect(items.at(-1)).toEqual({ kind: 'stopped', status: 401, body });
    expect(items.filter(({ kind }) => kind !== 'broken')).toHaveLength(1);
    // A WebSocket that does not open is followed by one question to the twin.
    const asked = door.WebSocket === undefined ? 1 : 2;
    expect(await metric('exhibit_refusals_total')).toEqual([
      `exhibit_refusals_total{route="ticks",reason="${body.reason}"} ${asked}`,
    ]);
  });

  test('a credential that is revoked on the way ends it too', async () => {
    let revoked = false;
    const tokens: typeof TOKENS = async (sent) =>
      revoked ? { outcome: 'unknown', reason: 'The token is not known here.' } : TOKENS(sent);
    const limits = { recheckMs: 1 };
    const { base, log } = await serveTicks({ heartbeat_s: 1, guarding: { tokens }, limits });
    log.add();
    const items: StreamItem<Tick>[] = [];
    for await (const item of follow(base, { ...door, since: 0 })) {
      items.push(item);
      if (item.kind === 'event') revoked = true;
    }
    expect(items.at(-1)).toMatchObject({ kind: 'stopped', status: 401 });
    expect(items).toContainEqual({
      kind: 'notice',
      notice: expect.objectContaining({ type: 'error', code: 'unauthorized' }),
    });
    expect(seqsIn(items)).toEqual([1]);
  });

  test('a full service is waited for, and a restarted one is found again', async () => {
    const { base, log } = await serveTicks({ limits: { connectionsMax: 1 } });
    const first = follow(base, { ...door, since: 0 });
    log.add();
    expect((await first.next()).value).toMatchObject({ kind: 'notice' });
    const second = followedTo(1, follow(base, { ...door, since: 0 }));
    const early = await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 300))]);
    expect(early).toBeUndefined();
    await first.return(undefined);
    expect(seqsIn(await second)).toEqual([1]);
  });

  test('who stops following leaves nothing open', async () => {
    const { base, log, metric } = await serveTicks();
    for (const _ of numbers(1, 3)) log.add();
    await followedTo(2, follow(base, { ...door, since: 0 }));
    const controller = new AbortController();
    const waiting = follow(base, { ...door, signal: controller.signal });
    expect((await waiting.next()).value).toMatchObject({ kind: 'notice' });
    const next = waiting.next();
    controller.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    await expect
      .poll(() => metric('exhibit_stream_connections{'), { timeout: 20_000 })
      .toEqual(['exhibit_stream_connections{route="ticks",tier="pro"} 0']);
  });
});

test('where WebSockets do not open, the twin is read', async () => {
  const { base, log } = await serveTicks();
  log.add();
  class Closed extends WebSocket {
    constructor(url: string) {
      super(url.replace('/ws/', '/nowhere/'));
    }
  }
  const items = await followedTo(1, follow(base, { WebSocket: Closed, since: 0 }));
  expect(seqsIn(items)).toEqual([1]);
});

test('what is no stream is asked again, and is never given as a message', async () => {
  const bodies = [
    'data: {\n\n',
    'data: {"type":1}\n\n',
    'data: []\n\n',
    'data: {"type":"a","seq":"1"}\n\n',
  ];
  let asked = 0;
  const server = createServer((socket) => {
    socket.once('data', () => {
      const body = bodies[asked % bodies.length];
      asked += 1;
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n${body}`,
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const controller = new AbortController();
  const url = `http://127.0.0.1:${address.port}`;
  const followed = followedTo(1, follow(url, { signal: controller.signal }));
  await expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThan(4);
  controller.abort();
  const items = await followed;
  expect(new Set(items.map(({ kind }) => kind))).toEqual(new Set(['broken']));
});

test('an event has the type of its declaration', () => {
  expectTypeOf<Tick['type']>().toEqualTypeOf<'tick'>();
  expectTypeOf<Tick['text']>().toEqualTypeOf<string>();
  expectTypeOf<Tick['seq']>().toEqualTypeOf<number>();
});
