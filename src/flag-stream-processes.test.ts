// Two processes that serve one stream over a real PostgreSQL: who moves between them misses
// nothing, whatever is killed, and a token has one cap over both.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { followStream } from './client/stream.ts';
import { flagStreamRoute } from './features/flag-stream/flag-stream.route.ts';
import { openPostgres } from './stores/control/engine/postgres.ts';
import { APPENDER, DIST, flagEventsIn } from './testing/flag-events.ts';
import { NO_POSTGRES, type TestPostgres, testPostgres } from './testing/postgres.ts';
import { type Program, startProgram, untilSaid } from './testing/program.ts';
import { WORLD_SEED, worldPublicationAt } from './world/listed-parties.ts';
import { sdnXml } from './world/sdn-publication.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** Within the time of a test; the machine may have much else to do. */
const PATIENT = { timeout: 60_000, interval: 50 };
const SECRET = 'a-secret-that-both-processes-know';
const TOKENS = { desk: 'a-token-of-a-desk', free: 'a-token-that-is-free' };

type Service = { readonly program: Program; readonly url: string };

describe.skipIf(NO_POSTGRES !== null)(`two processes ${NO_POSTGRES ?? ''}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'exhibit-flags-'));
  const listFile = join(home, 'sdn.xml');
  const services = new Map<string, Service>();
  const killing: (() => void)[] = [];
  let postgres: TestPostgres;
  let database: string;

  async function serve(name: string, more: { [setting: string]: string } = {}): Promise<void> {
    const program = startProgram(['serve'], {
      cwd: home,
      env: {
        EXHIBIT_DATA_DIR: join(home, name),
        EXHIBIT_DATABASE_URL: database,
        EXHIBIT_SECRET: SECRET,
        EXHIBIT_SDN_URL: pathToFileURL(listFile).href,
        EXHIBIT_SURFACES: 'intelligence',
        EXHIBIT_INTELLIGENCE_TOKENS: `desk:${TOKENS.desk},free:${TOKENS.free}`,
        EXHIBIT_PORT: '0',
        ...more,
      },
    });
    killing.push(() => program.child.kill('SIGKILL'));
    await untilSaid(program, 'Serving http');
    const url = String(/Serving (http:\/\/\S+)/.exec(program.out() + program.err())?.[1]);
    services.set(name, { program, url });
  }

  async function kill(name: string): Promise<void> {
    const { program } = serviceOf(name);
    program.child.kill('SIGKILL');
    await program.ended;
  }

  function serviceOf(name: string): Service {
    const service = services.get(name);
    if (service === undefined) throw new Error(`test: ${name} does not serve`);
    return service;
  }

  /** Starts what appends without end; it is killed by what this gives. */
  function appending(): () => Promise<void> {
    const words = ['--input-type=module', '-e', APPENDER, DIST, database];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = once(child, 'close');
    killing.push(() => child.kill('SIGKILL'));
    return async () => {
      child.kill('SIGKILL');
      await ended;
    };
  }

  beforeAll(async () => {
    writeFileSync(listFile, sdnXml(worldPublicationAt(Math.floor(Date.now() / 1e3), WORLD_SEED)));
    postgres = await testPostgres();
    database = await postgres.freshDatabase();
    await serve('one');
    await serve('two');
  });
  afterAll(async () => {
    for (const end of killing) end();
    await postgres.stop();
    rmSync(home, { recursive: true, force: true });
  });

  test('a client that moves between them has every event once, whatever is killed', async () => {
    const seqs: number[] = [];
    /** Reads on from one of them until it has so many more events, or all up to a number. */
    const readOn = async (name: string, isEnough: (read: number) => boolean) => {
      const before = seqs.length;
      const since = before === 0 ? 0 : Number(seqs.at(-1));
      const stop = new AbortController();
      const items = followStream({
        baseUrl: serviceOf(name).url,
        stream: flagStreamRoute,
        token: TOKENS.desk,
        since,
        signal: stop.signal,
        backoffMs: 20,
        ...(before % 2 === 0 ? { WebSocket } : null),
      });
      for await (const item of items) {
        expect(item.kind).not.toBe('gap');
        if (item.kind === 'event') seqs.push(item.seq);
        if (isEnough(seqs.length - before)) break;
      }
      stop.abort();
    };
    const some = (read: number) => read >= 40;
    let stopAppending = appending();
    for (const name of ['one', 'two', 'one']) await readOn(name, some);
    await stopAppending();
    stopAppending = appending();
    await readOn('two', some);
    await kill('one');
    await readOn('two', some);
    await serve('one');
    for (const name of ['one', 'two']) await readOn(name, some);
    await stopAppending();
    const control = openPostgres(database);
    const bounds = await flagEventsIn(control).bounds();
    await control.close();
    if (!bounds.checked) throw new Error(bounds.why.reason);
    const { newest } = bounds.value;
    if (seqs.length < newest) await readOn('one', () => seqs.at(-1) === newest);
    expect(seqs).toEqual(Array.from({ length: newest }, (_, i) => i + 1));
  });

  test('one that is told to stop says so first, then its streams move, then nobody listens', async () => {
    await serve('three', { EXHIBIT_DRAIN: '5m' });
    const { program, url } = serviceOf('three');
    const ready = async () => {
      const answer = await fetch(`${url}/ready`, { headers: { connection: 'close' } });
      return [answer.status, await answer.text()];
    };
    const ws = new WebSocket(`${url.replace('http', 'ws')}/ws/flags?token=${TOKENS.desk}`);
    const closed = once(ws, 'close');
    await once(ws, 'open');
    expect(await ready()).toEqual([200, 'ready']);
    program.child.kill('SIGTERM');
    await vi.waitFor(async () => expect(await ready()).toEqual([503, 'draining']), PATIENT);
    // Whoever is sent to it all the same is served, by an open stream too.
    const late = new WebSocket(`${url.replace('http', 'ws')}/ws/flags?token=${TOKENS.desk}`);
    late.on('error', () => undefined);
    await once(late, 'open');
    const answer = await fetch(`${url}/health`, { headers: { connection: 'close' } });
    expect([answer.status, ws.readyState]).toEqual([200, WebSocket.OPEN]);
    late.terminate();
    // A second signal ends the wait; the streams of a process that waits to its end are told.
    program.child.kill('SIGTERM');
    await closed;
    await program.ended;
    await serve('four', { EXHIBIT_DRAIN: '1s' });
    const four = serviceOf('four');
    const moved = new WebSocket(`${four.url.replace('http', 'ws')}/ws/flags?token=${TOKENS.desk}`);
    await once(moved, 'open');
    four.program.child.kill('SIGTERM');
    const [code, reason] = await once(moved, 'close');
    expect([code, String(reason)]).toEqual([1001, 'going_away']);
    expect((await four.program.ended).status).toBe(0);
    await expect(fetch(`${four.url}/ready`)).rejects.toThrow();
  });

  const health = z.object({
    streaming: z.object({
      paths: z.array(z.string()),
      heartbeat_s: z.number(),
      bus: z.object({ kind: z.string(), ok: z.boolean(), reason: z.string().nullable() }),
      connections: z.record(z.string(), z.number()),
      limits_per_token: z.record(z.string(), z.number()),
      connections_of: z.string(),
      source: z.object({ kind: z.string(), ok: z.boolean() }),
    }),
  });
  async function streamingOf(name: string) {
    const answer = await fetch(`${serviceOf(name).url}/health`);
    const text = await answer.text();
    expect(text).not.toContain(TOKENS.free);
    const body: unknown = JSON.parse(text);
    return health.parse(body).streaming;
  }

  test('a token holds its cap over both, and those of a process that was killed are given back', async () => {
    const open = async (name: string) => {
      const url = `${serviceOf(name).url.replace('http', 'ws')}/ws/flags?token=${TOKENS.free}`;
      const ws = new WebSocket(url);
      killing.push(() => ws.terminate());
      ws.on('error', () => undefined);
      return await Promise.race([
        once(ws, 'open').then(() => 101),
        once(ws, 'unexpected-response').then(([, { statusCode }]) => Number(statusCode)),
      ]);
    };
    const answering = (name: string) =>
      vi.waitFor(async () => expect((await streamingOf(name)).bus.ok).toBe(true), PATIENT);
    await Promise.all([answering('one'), answering('two')]);
    for (const name of ['one', 'two', 'one', 'two', 'one', 'two', 'one', 'two', 'one', 'two']) {
      expect(await open(name)).toBe(101);
    }
    for (const name of ['one', 'two']) {
      const refused = await fetch(`${serviceOf(name).url}/sse/flags?token=${TOKENS.free}`);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await refused.json()).toEqual({
        state: 'at_capacity',
        error: 'too_many_connections',
        scope: 'free',
        limit: 10,
        current: 10,
        reason:
          'A credential of the tier free may hold 10 streams open; close one, or try again later.',
      });
      const shown = {
        paths: expect.arrayContaining(['/ws/flags', '/sse/flags']),
        heartbeat_s: 15,
        bus: { kind: 'postgres', ok: true, reason: null },
        connections: { free: 10, pro: 0 },
        limits_per_token: { free: 10, pro: 100, desk: 1_000 },
        connections_of: 'all_processes',
        source: { kind: 'flag_log', ok: true },
      };
      // `/health` is made once a second.
      await vi.waitFor(async () => expect(await streamingOf(name)).toMatchObject(shown), PATIENT);
    }
    await kill('one');
    expect(await open('two')).toBe(503);
    await vi.waitFor(async () => {
      expect((await streamingOf('two')).connections).toMatchObject({ free: 5 });
    }, PATIENT);
    expect(await open('two')).toBe(101);
  });
});
