// Does work go on after its request, within its bounds, told to its beginner alone, and honestly?

import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { longRoute } from '../contract/long.ts';
import { openapiDocument } from '../contract/openapi.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import { createHttp } from './http.ts';
import { type DoWork, longHandlers } from './long-work.ts';
import { createMeters } from './metrics.ts';

const count = longRoute({
  name: 'count',
  surface: 'intelligence',
  path: '/counts',
  summary: 'Counts, of the tests.',
  access: 'bearer',
  body: z.strictObject({ to: z.int() }),
  result: z.strictObject({ counted: z.int() }),
  bounds: { runningMax: 2, keptMax: 4, deadlineMs: 60_000 },
});

const fresh = embeddedControl();
const apps: { close: () => Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function serve(run: DoWork, database = fresh(), long = count, heardEachMs = 50) {
  const { work } = accessIn(database, Date.now);
  const logged: object[] = [];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (facts: object) => void logged.push(facts),
  };
  const handlers = longHandlers(long, run, { work, log, heardEachMs });
  const app = createHttp({
    mounted: (['begin', 'poll', 'cancel'] as const).map((step) => {
      return { route: long[step], handle: handlers[step] };
    }),
    gate: null,
    tokens: async ({ authorization }) =>
      authorization === undefined
        ? { outcome: 'missing', reason: 'none' }
        : { outcome: 'opens', tier: 'pro', id: authorization },
    meters: createMeters([]),
    log,
    now: () => 1_790_000_000,
    budgetMs: 1_000,
    trustProxy: false,
  });
  apps.push(app);
  const base = await app.listen({ host: '127.0.0.1', port: 0 });
  const ask = async (method: string, path: string, who = 'alice', body?: object) => {
    const headers = { authorization: who, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const bare = { authorization: who };
    const reply = await fetch(base + path, { method, headers: body ? headers : bare, ...sent });
    return { status: reply.status, headers: reply.headers, body: Object(await reply.json()) };
  };
  const begin = (who?: string) => ask('POST', '/counts', who, { to: 3 });
  const at = async (path: string, state: string) => {
    const told = await ask('GET', path);
    expect([told.status, told.body.state]).toEqual([200, state]);
    return told.body;
  };
  const ended = (path: string, state: string) =>
    expect.poll(async () => (await ask('GET', path)).body.state, { timeout: 10_000 }).toBe(state);
  return { ask, begin, at, ended, logged, database };
}

/** Work that goes on until it is let go, or told to stop. */
function held() {
  const releases: (() => void)[] = [];
  const stopped: string[] = [];
  const run: DoWork = (_body, signal) =>
    new Promise((resolve, reject) => {
      releases.push(() => resolve({ counted: 3 }));
      signal.addEventListener('abort', () => {
        stopped.push('stopped');
        reject(new Error('was stopped'));
      });
    });
  return { run, stopped, release: () => releases.shift()?.() };
}

describe('says', () => {
  test('202 and where to ask; then that it runs; then what it came to', async () => {
    const { run, release } = held();
    const { begin, at, ended } = await serve(run);
    const begun = await begin();
    expect([begun.status, begun.body.state, begun.body.result]).toEqual([202, 'running', null]);
    const path = String(begun.headers.get('location'));
    expect(path).toBe(`/counts/${begun.body.id}`);
    expect(begun.headers.get('retry-after')).toBe('2');
    await at(path, 'running');
    release();
    await ended(path, 'done');
    expect(await at(path, 'done')).toMatchObject({ result: { counted: 3 }, reason: null });
  });

  test('that it was cancelled, and stops it, also where another process does the work', async () => {
    const { run, stopped } = held();
    const here = await serve(run);
    const there = await serve(run, here.database);
    for (const asked of [here, there]) {
      const path = String((await here.begin()).headers.get('location'));
      const cancelled = await asked.ask('DELETE', path);
      expect([cancelled.status, cancelled.body.state]).toEqual([200, 'cancelled']);
      await here.at(path, 'cancelled');
    }
    await expect.poll(() => stopped.length, { timeout: 10_000 }).toBe(2);
  });

  test('that it failed, where it throws or is not as declared, and nothing of the inside', async () => {
    for (const run of [
      () => Promise.reject(new Error('the inside')),
      async () => ({ counted: 'the inside' }),
    ] satisfies DoWork[]) {
      const { begin, ended, at, logged } = await serve(run);
      const path = String((await begin()).headers.get('location'));
      await ended(path, 'failed');
      expect(JSON.stringify(await at(path, 'failed'))).not.toContain('the inside');
      expect(logged).toHaveLength(1);
    }
  });

  test('that it failed when its time was over', async () => {
    const { run, stopped } = held();
    const short = { ...count, bounds: { ...count.bounds, deadlineMs: 1 } };
    const { begin, ended } = await serve(run, fresh(), short);
    await ended(String((await begin()).headers.get('location')), 'failed');
    expect(stopped).toEqual(['stopped']);
  });

  test('that it is lost when whoever worked is gone, and never that it still runs', async () => {
    const { run } = held();
    // It speaks of its work so seldom that it is as good as gone.
    const { begin, at, database } = await serve(run, fresh(), count, 3_600_000);
    const path = String((await begin()).headers.get('location'));
    const restarted = await serve(run, database);
    await database.query("update long_work set heard_at = now() - interval '1 h'");
    const told = await restarted.at(path, 'lost');
    expect([told.result, told.reason]).toEqual([null, expect.stringContaining('not known')]);
    await at(path, 'lost');
  });

  test('the same of itself in the document: 202 with Location, and what is refused', () => {
    const { paths } = openapiDocument([count.begin, count.poll, count.cancel], {
      title: 't',
      version: '0',
      description: 'd',
      serverUrl: 'http://127.0.0.1',
    });
    const begin = paths['/counts']?.['post'];
    expect(Object.keys(begin?.responses['202']?.headers ?? {})).toContain('location');
    expect(Object.keys(begin?.responses ?? {})).toEqual(expect.arrayContaining(['401', '503']));
    expect(Object.keys(paths['/counts/{id}'] ?? {})).toEqual(['get', 'delete']);
  });
});

describe('refuses', () => {
  test('anybody but its beginner to see or to cancel it, as if it were not there', async () => {
    const { run } = held();
    const { begin, ask, at } = await serve(run);
    const path = String((await begin('alice')).headers.get('location'));
    for (const method of ['GET', 'DELETE']) {
      expect((await ask(method, path, 'mallory')).status).toBe(404);
      expect((await ask(method, '/counts/unknown', 'alice')).status).toBe(404);
    }
    await at(path, 'running');
  });

  test('more at once than its bound, and takes more when one has ended', async () => {
    const { run, release } = held();
    const { begin, ended } = await serve(run);
    const first = await begin();
    const those = await Promise.all([begin('bob'), begin('carol'), begin('dave')]);
    expect(those.map(({ status }) => status).sort()).toEqual([202, 503, 503]);
    release();
    await ended(String(first.headers.get('location')), 'done');
    expect((await begin('bob')).status).toBe(202);
  });

  test('more than one caller may have kept', async () => {
    const { begin, ended } = await serve(async () => ({ counted: 1 }));
    for (let i = 0; i < 4; i += 1) {
      await ended(String((await begin()).headers.get('location')), 'done');
    }
    const full = await begin();
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await begin('bob')).status).toBe(202);
  });

  test('to begin, to tell or to cancel while the store is silent', async () => {
    const { run } = held();
    const { begin, ask, database } = await serve(run);
    const path = String((await begin()).headers.get('location'));
    database.silence('it was silenced');
    expect((await begin()).status).toBe(503);
    expect((await ask('GET', path)).status).toBe(503);
    expect((await ask('DELETE', path)).status).toBe(503);
  });
});
