// Of many requests at once a bounded number begins, and the others are refused without a charge.

import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createGate } from '../access/gate.ts';
import { PLANS } from '../access/plan.ts';
import { deriveSecrets, mintKey } from '../access/secret.ts';
import { plainRoute } from '../contract/route.ts';
import { tally } from '../evidence/measure.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import { createTestHttp } from '../testing/http-server.ts';
import { type AnyHandler, OF_ONE_ALLOWANCE_MAX, REQUESTS_MAX, requestsUnderWay } from './answer.ts';
import { createMeters } from './metrics.ts';

const NOW = 1_780_000_000;
const DAY = '2026-05-28';
const SECRETS = deriveSecrets('a root secret of the tests', null);
const MEMBERS = ['mem_1', 'mem_2'] as const;
const SOLD = PLANS.enterprise.daily_requests;

const work = plainRoute({
  name: 'work',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/work',
  summary: 'A route of the tests.',
  access: 'analyst',
  responses: { 200: z.strictObject({ fine: z.boolean() }) },
});
const upload = plainRoute({
  name: 'upload',
  surface: 'hosted',
  method: 'POST',
  path: '/api/v1/upload',
  summary: 'A route of the tests that takes a body.',
  access: 'analyst',
  body: z.strictObject({ text: z.string() }),
  responses: { 200: z.strictObject({ fine: z.boolean() }) },
});

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
const fresh = embeddedControl();

/** A promise that a test settles. */
function gateway() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** A server whose handler is the test's, with a key for each member. */
async function served(handle: AnyHandler, isLate = () => false) {
  const store = fresh();
  const { memberships, keys, quota } = accessIn(store, () => NOW * 1_000);
  const bearers: string[] = [];
  for (const membership_id of MEMBERS) {
    await memberships.record({ membership_id, plan: 'enterprise', status: 'active', at: NOW });
    const { text, stored } = mintKey({ kind: 'sc', membership_id }, SECRETS, NOW);
    await keys.add(stored, 5);
    bearers.push(`Bearer ${text}`);
  }
  const gate = createGate({ keys, quota, secrets: SECRETS, durable: true }, () => NOW);
  const meters = createMeters([]);
  const app = createTestHttp({
    mounted: [
      { route: work, handle },
      { route: upload, handle: async () => upload.reply(200, { fine: true }) },
    ],
    gate,
    meters,
    isLate,
    now: () => NOW,
    budgetMs: 20_000,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  closing.push(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const allowance = (member = 0) => {
    return { subject: `membership:${MEMBERS[member]}`, period: DAY, limit: SOLD };
  };
  const used = async (member = 0) => {
    const reading = await quota.usage(allowance(member).subject, DAY);
    return reading.checked ? reading.value : null;
  };
  const spend = async (count: number) => {
    await store.query(
      `insert into quota_usage (subject, period, used, granted, ceiling)
       values ($1, $2, $3, 0, $4)`,
      [allowance().subject, DAY, count, SOLD],
    );
  };
  const get = (member = 0) => {
    const headers = { authorization: String(bearers[member]) };
    const asked = request({ host: '127.0.0.1', port, path: '/api/v1/work', headers, agent: false });
    return new Promise<{ status: number; body: string; left: unknown; retry: unknown }>(
      (settle, refuse) => {
        asked.once('error', refuse).once('response', async (answer) => {
          let body = '';
          for await (const chunk of answer) body += String(chunk);
          const { 'x-ratelimit-remaining': left, 'retry-after': retry } = answer.headers;
          settle({ status: Number(answer.statusCode), body, left, retry });
        });
        asked.end();
      },
    );
  };
  const hungUp = async () => {
    const text = await meters.registry.metrics();
    return /refusals_total\{route="work",reason="hung_up"\} (\d+)/.exec(text)?.[1];
  };
  const gauge = async () => {
    const text = await meters.registry.metrics();
    return Number(/^exhibit_requests_under_way (\d+)$/m.exec(text)?.[1]);
  };
  return { port, bearers, store, used, spend, get, hungUp, gauge };
}

const fine: AnyHandler = async () => work.reply(200, { fine: true });

describe('2,000 requests at once with a key that has one left', () => {
  test('are one answer and no more work than one at a time, and leave no place taken', async () => {
    let begun = 0;
    let most = 0;
    let now = 0;
    const by = await served(async () => {
      begun += 1;
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 50));
      now -= 1;
      return work.reply(200, { fine: true });
    });
    await by.spend(SOLD - 1);
    const said = await Promise.all(Array.from({ length: 2_000 }, () => by.get()));
    const statuses = new Map<string, number>();
    for (const { status } of said) tally(statuses, String(status));
    expect([statuses.get('200'), begun, most]).toEqual([1, 1, 1]);
    expect([...statuses.keys()].every((status) => ['200', '429', '503'].includes(status))).toBe(
      true,
    );
    expect(await by.used()).toBe(SOLD);
    // Nothing holds a place: another member is answered, and this one's refusal is the quota's.
    expect((await by.get(1)).status).toBe(200);
    const next = await by.get();
    expect([next.status, next.body]).toEqual([429, expect.stringContaining('"quota_exhausted"')]);
  }, 60_000);

  test('are told by 503, not by 429, while the last one may still be free', async () => {
    const { open, opened } = gateway();
    const begun = gateway();
    const by = await served(async () => {
      begun.open();
      await opened;
      throw new Error('it failed, and its place in the allowance is free');
    });
    await by.spend(SOLD - 1);
    const first = by.get();
    await begun.opened;
    const second = await by.get();
    expect(second).toMatchObject({ status: 503, left: '1', retry: '1' });
    expect(JSON.parse(second.body)).toEqual({
      error: expect.stringContaining('The 1 requests that this allowance has left are under way'),
    });
    open();
    expect((await first).status).toBe(500);
    expect(await by.used()).toBe(SOLD - 1);
    // The place is back at once.
    expect((await by.get()).status).toBe(500);
  });
});

describe('places', () => {
  test('of one member are bounded however much it has left, and another’s stay free', async () => {
    const { open, opened } = gateway();
    let begun = 0;
    const by = await served(async () => {
      begun += 1;
      await opened;
      return work.reply(200, { fine: true });
    });
    const held = Array.from({ length: OF_ONE_ALLOWANCE_MAX }, () => by.get());
    await vi.waitFor(() => expect(begun).toBe(OF_ONE_ALLOWANCE_MAX), { timeout: 10_000 });
    expect(await by.get()).toMatchObject({ status: 503, left: String(SOLD), retry: '1' });
    const other = by.get(1);
    await vi.waitFor(() => expect(begun).toBe(OF_ONE_ALLOWANCE_MAX + 1));
    expect(await by.gauge()).toBe(OF_ONE_ALLOWANCE_MAX + 1);
    open();
    for (const one of await Promise.all([...held, other])) expect(one.status).toBe(200);
    expect((await by.get()).status).toBe(200);
    expect(await by.used()).toBe(OF_ONE_ALLOWANCE_MAX + 1);
    expect(await by.gauge()).toBe(0);
  });

  test('of a server are bounded whoever asks, and each that ends lets one in', () => {
    const underWay = requestsUnderWay(null);
    const nobody = { kind: 'uncharged', caller: { kind: 'nobody' } } as const;
    const routes = Array.from({ length: REQUESTS_MAX }, (_, i) => `route_${i}`);
    for (const route of routes) expect(underWay.begin(nobody, route, 0)).toBeNull();
    expect(underWay.begin(nobody, 'one_more', 0)).toMatchObject({
      code: 'overloaded',
      status: 503,
    });
    underWay.end(nobody, 'route_7');
    expect(underWay.begin(nobody, 'one_more', 0)).toBeNull();
    expect(() => underWay.end(nobody, 'route_7')).toThrow('was not under way');
  });
});

test('a member is refused while requests wait too long, with its own figures and no charge', async () => {
  let isLate = false;
  let begun = 0;
  const by = await served(
    async () => {
      begun += 1;
      return work.reply(200, { fine: true });
    },
    () => isLate,
  );
  await by.get();
  isLate = true;
  const refused = await by.get();
  expect(refused).toMatchObject({ status: 503, left: String(SOLD - 1), retry: '1' });
  expect(JSON.parse(refused.body)).toEqual({
    error: 'Requests wait too long now; try again in a second. Nothing was charged.',
  });
  expect([begun, await by.used(), await by.gauge()]).toEqual([1, 1, 0]);
  // Whoever would have to be looked up first is refused before that, without figures.
  expect(await by.get(1)).toMatchObject({ status: 503, left: '0', retry: '1' });
  isLate = false;
  expect((await by.get()).status).toBe(200);
  expect(await by.used()).toBe(2);
});

describe('a client that hangs up', () => {
  /** Sends the bytes, and gives the socket. */
  function sent(port: number, text: string) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(text);
    return socket;
  }
  const head = (bearer: string, more = '') =>
    `GET /api/v1/work HTTP/1.1\r\nHost: tests\r\nAuthorization: ${bearer}\r\n${more}\r\n`;

  test('before its request is whole pays nothing', async () => {
    const by = await served(fine);
    const bearer = String(by.bearers[0]);
    for (const text of [
      head(bearer).slice(0, 60),
      head(bearer)
        .replace('GET /api/v1/work', 'POST /api/v1/upload')
        .replace('\r\n\r\n', '\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{'),
    ]) {
      const socket = sent(by.port, text);
      await once(socket, 'connect');
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket.destroy();
      await once(socket, 'close');
    }
    expect((await by.get()).status).toBe(200);
    expect(await by.used()).toBe(1);
  });

  test('while its key is looked up begins no work and pays nothing', async () => {
    let begun = 0;
    const by = await served(async () => {
      begun += 1;
      return work.reply(200, { fine: true });
    });
    const found = gateway();
    // The store's first answer, which is the key's, waits until the client has gone.
    const { query } = by.store;
    Object.assign(by.store, {
      query: async (...asked: Parameters<typeof query>) => {
        await found.opened;
        return query(...asked);
      },
    });
    const socket = sent(by.port, head(String(by.bearers[0])));
    await once(socket, 'connect');
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    found.open();
    await vi.waitFor(async () => expect(await by.hungUp()).toBe('1'));
    Object.assign(by.store, { query });
    expect([begun, await by.used()]).toEqual([0, 0]);
  });

  test('while its answer is worked out pays nothing, and gives its place back', async () => {
    const begun = gateway();
    const by = await served(async (_input, { signal }) => {
      begun.open();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      return work.reply(200, { fine: true });
    });
    await by.spend(SOLD - 1);
    const socket = sent(by.port, head(String(by.bearers[0])));
    await begun.opened;
    socket.destroy();
    await vi.waitFor(async () => expect(await by.hungUp()).toBe('1'));
    expect(await by.used()).toBe(SOLD - 1);
  });

  test('while its charge is stored pays, since its answer was ready', async () => {
    const by = await served(fine);
    expect((await by.get()).status).toBe(200);
    const charging = gateway();
    const stored = gateway();
    const { query } = by.store;
    Object.assign(by.store, {
      query: async (...asked: Parameters<typeof query>) => {
        charging.open();
        await stored.opened;
        return query(...asked);
      },
    });
    const socket = sent(by.port, head(String(by.bearers[0])));
    await charging.opened;
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    stored.open();
    Object.assign(by.store, { query });
    await vi.waitFor(async () => expect(await by.used()).toBe(2));
    expect(await by.hungUp()).toBeUndefined();
  });

  test('while its answer is sent pays for it', async () => {
    const by = await served(fine);
    const socket = sent(by.port, head(String(by.bearers[0])));
    await once(socket, 'data');
    socket.destroy();
    expect(await by.used()).toBe(1);
  });
});
