// Is everybody who may not read a stream answered before the upgrade, with the declared body?

import { describe, expect, test } from 'vitest';
import { Refusal } from '../contract/refusals.ts';
import type { TicksRoute } from '../testing/scratch-stream.ts';
import {
  ask,
  handshake,
  numbers,
  readEvents,
  readSocket,
  refusedHandshake,
  serveTicks,
} from './stream-service.suite.ts';

/** Within the time of a test; the machine may have much else to do. */
const PATIENT = { timeout: 20_000 };

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
    ['an unknown name', 'token=pro-1&x=1', 400, { error: expect.stringContaining('"x"') }],
    ['a wrong value', 'token=pro-1&of=odd', 400, { error: expect.stringContaining('of: ') }],
    ['no place', 'token=pro-1&since=', 400, { error: expect.stringContaining('since: ') }],
    ['no number', 'token=pro-1&since=-1', 400, { error: expect.stringContaining('since: ') }],
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
      { error: 'Last-Event-ID: expected the id of an event of this stream' },
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
      expect([reply.statusCode, reply.headers.allow]).toEqual([405, 'GET']);
    }
  });
});
