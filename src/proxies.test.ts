// Behind nginx and HAProxy, with the usual lines of their manuals, every door of the service opens:
// pages, compression, sign-in, events, WebSocket, tools, signed answers, signals, the log and the
// health check of a load balancer.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { hashBundle } from './chain/call-hash.ts';
import { parseCheckpoint, parseNote } from './chain/signed-note.ts';
import { formatTilePath, tileWidth } from './chain/tile-tree.ts';
import { createClient } from './client/client.ts';
import { requestSigned } from './client/signed.ts';
import { type SavedAnswer, verifySavedAnswer } from './contract/saved-answer.ts';
import { freePort } from './testing/free-port.ts';
import { connectClient } from './testing/mcp-clients.ts';
import { runPrinting, type Simulated, startSimulated } from './testing/program.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });
const START = { timeout: 30_000, interval: 100 };
/** The first round of the producer, and the first checkpoint after it. */
const ROUND = { timeout: 120_000, interval: 500 };
const FEED = z.object({ signals: z.array(z.unknown()) });
const LINK = z.object({ url: z.url() });
const FORGED = '203.0.113.9';

type Ports = { readonly front: number; readonly service: number; readonly home: string };

// nginx.org/en/docs/http/websocket.html, and the guide of reverse proxies beside it.
const nginx = ({ front, service, home }: Ports) => `
  daemon off; pid ${home}/nginx.pid; error_log stderr crit; worker_processes 1;
  events { worker_connections 64; }
  http {
    access_log off;
    client_body_temp_path ${home}/body; proxy_temp_path ${home}/proxy;
    fastcgi_temp_path ${home}/f; uwsgi_temp_path ${home}/u; scgi_temp_path ${home}/s;
    map $http_upgrade $connection_upgrade { default upgrade; '' close; }
    server {
      listen 127.0.0.1:${front};
      location / {
        proxy_pass http://127.0.0.1:${service};
        proxy_http_version 1.1;
        proxy_set_header Host $http_host;
        proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection $connection_upgrade;
      }
    }
  }`;

// The configuration manual of HAProxy 2.6: the defaults of its first example, `option forwardfor`,
// and a check by HEAD.
const haproxy = ({ front, service }: Ports) => `
global
  maxconn 64
defaults
  mode http
  option forwardfor
  timeout connect 5s
  timeout client 50s
  timeout server 50s
  timeout check 10s
  timeout tunnel 1h
frontend web
  bind 127.0.0.1:${front}
  default_backend exhibit
backend exhibit
  option httpchk HEAD /health
  server one 127.0.0.1:${service} check inter 1s fall 3 rise 1
`;

const PROXIES = [
  {
    name: 'nginx',
    program: '/usr/sbin/nginx',
    config: nginx,
    words: (file: string) => ['-c', file, '-e', 'stderr'],
  },
  {
    name: 'HAProxy',
    program: '/usr/sbin/haproxy',
    config: haproxy,
    words: (file: string) => ['-f', file],
  },
] as const;

const ALL = PROXIES.map((one) => ({
  ...one,
  title: existsSync(one.program) ? one.name : `${one.name} (skipped: not installed)`,
}));

/** One service for all: each proxy stands in front of it at the same port, one after the other. */
const isAny = ALL.some(({ program }) => existsSync(program));
const home = mkdtempSync(join(tmpdir(), 'exhibit-proxy-'));
let ports: Ports;
let service: Simulated | undefined;
let origin = '';
beforeAll(async () => {
  if (!isAny) return;
  ports = { front: await freePort(), service: await freePort(), home };
  origin = `http://127.0.0.1:${ports.front}`;
  const env = {
    EXHIBIT_PORT: String(ports.service),
    EXHIBIT_PUBLIC_URL: origin,
    EXHIBIT_TRUST_PROXY: 'true',
  };
  service = await startSimulated({ cwd: home, env });
  // While the first round of the producer keeps the store busy, a page may answer 503.
  await vi.waitFor(async () => {
    const signals = await fetch(`http://127.0.0.1:${ports.service}/api/signals?limit=1`);
    expect(await signals.text()).toContain('"state":"running"');
  }, ROUND);
});
afterAll(async () => {
  service?.program.child.kill('SIGKILL');
  await service?.program.ended;
  rmSync(home, { recursive: true, force: true });
});

describe.each(ALL)('behind $title', ({ name, program, config, words }) => {
  const isThere = existsSync(program);
  let proxy: ChildProcess | undefined;
  beforeAll(async () => {
    if (!isThere) return;
    const file = join(home, `${name}.conf`);
    writeFileSync(file, config(ports));
    proxy = spawn(program, words(file), { stdio: 'ignore' });
    await vi.waitFor(async () => expect((await fetch(`${origin}/health`)).status).toBe(200), START);
  });
  afterAll(async () => {
    if (proxy === undefined) return;
    const ended = once(proxy, 'close');
    // Its workers end with it, so that the next one finds the port free.
    proxy.kill('SIGTERM');
    await ended;
  });

  function started(): Simulated {
    if (service === undefined) throw new Error(`${name}: the service did not start`);
    return service;
  }
  const get = (path: string, headers: { [name: string]: string } = {}, method = 'GET') =>
    fetch(origin + path, { method, headers, redirect: 'manual' });

  test.skipIf(!isThere)('pages, assets and answers come, compressed where asked', async () => {
    const { api_key, base_url } = started();
    expect(base_url).toBe(origin);
    for (const path of ['/', '/docs', '/openapi.json']) {
      const answer = await get(path, { 'accept-encoding': 'gzip' });
      const seen = [answer.status, answer.headers.get('content-encoding')];
      expect([path, ...seen]).toEqual([path, 200, 'gzip']);
      expect((await answer.text()).length).toBeGreaterThan(1_000);
      expect((await get(path, {}, 'HEAD')).status).toBe(200);
    }
    const address = `0x${'2'.repeat(40)}`;
    const screened = await get(`/api/v1/wallet/${address}/ofac`, {
      authorization: `Bearer ${api_key}`,
    });
    expect(await screened.json()).toMatchObject({ subject: address });
    const dossier = await get(`/address/${address}`);
    expect(await dossier.text()).toContain('</html>');
  });

  test.skipIf(!isThere)(
    'a member signs in by the link, and is seen by the proxy’s word alone',
    async () => {
      const { program, cwd } = started();
      const printed = /(http:\S+\/activate\?\S+)/.exec(program.out())?.[1];
      expect(printed).toContain(`${origin}/activate?`);
      // The one that is printed opens once, and there are two proxies.
      const words = ['members', 'link', 'mem_simulated_demo'];
      const { url } = await runPrinting(LINK, words, { cwd });
      expect(url).toContain(`${origin}/activate?`);
      const form = new URLSearchParams({ link: String(new URL(url).searchParams.get('link')) });
      const post = (from: string) =>
        fetch(`${origin}/activate`, {
          method: 'POST',
          body: form,
          redirect: 'manual',
          headers: { origin: from, 'x-forwarded-for': FORGED },
        });
      expect((await post('https://elsewhere.example')).status).toBe(403);
      const signed = await post(origin);
      expect([signed.status, signed.headers.get('location')]).toEqual([303, '/settings']);
      const cookie = signed.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ');
      const sessions = await (await get('/settings/sessions', { cookie })).text();
      expect(sessions).toContain('127.0.0');
      expect(sessions).not.toContain('203.0.113');
    },
  );

  test.skipIf(!isThere)('flags come by events and by WebSocket, tools by MCP', async () => {
    const { stream_token: token, api_key } = started();
    const events = await get('/sse/flags', { authorization: `Bearer ${token}` });
    expect(events.headers.get('content-type')).toContain('text/event-stream');
    const reader = events.body?.getReader();
    const first = await reader?.read();
    const second = await reader?.read();
    const heard = [first, second].map((one) => new TextDecoder().decode(one?.value)).join('');
    await reader?.cancel();
    expect(heard).toContain('"type":"welcome"');
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/ws/flags?token=${token}`);
    const welcome = await new Promise<string>((resolve, reject) => {
      socket.once('message', (bytes) => resolve(String(bytes)));
      socket.once('error', reject);
    });
    socket.close();
    expect(welcome).toContain('"type":"welcome"');
    const headers = { authorization: `Bearer ${api_key}` };
    const client = await connectClient('2026-07-28', { url: `${origin}/mcp`, headers });
    expect((await client.list()).length).toBeGreaterThan(5);
    const { isError } = await client.call('wallet_ofac', { address: `0x${'2'.repeat(40)}` });
    expect(isError).not.toBe(true);
    await client.close();
  });

  test.skipIf(!isThere)(
    'an answer that the service signed holds where a client asked',
    async () => {
      const files: SavedAnswer[] = [];
      const keys = await (await get('/.well-known/exhibit-keys.json')).json();
      const signed = requestSigned({ keys, save: (file) => void files.push(file) });
      const client = createClient({ baseUrl: origin, key: started().api_key });
      const address = `0x${'2'.repeat(40)}`;
      expect(await client.wallet_ofac({ address }, { signed })).toMatchObject({ subject: address });
      const said = verifySavedAnswer(JSON.stringify(files[0]), JSON.stringify(keys), {
        now: Math.floor(Date.now() / 1_000),
      });
      if (said.state !== 'holds') throw new Error(said.says);
      expect(said.signed.url).toBe(`${origin}/api/v1/wallet/${address}/ofac`);
    },
  );

  test.skipIf(!isThere)(
    'signals and tiles of the log come byte for byte, and by HEAD',
    async () => {
      const { signal_id, evidence_hash } = await vi.waitFor(async () => {
        const { signals } = FEED.parse(await (await get('/api/signals?limit=1')).json());
        return z.object({ signal_id: z.string(), evidence_hash: z.string() }).parse(signals[0]);
      }, ROUND);
      const path = `/api/signals/${signal_id}/evidence`;
      for (const encoding of ['identity', 'gzip']) {
        const bundle = await get(path, { 'accept-encoding': encoding });
        expect(hashBundle(new Uint8Array(await bundle.arrayBuffer()))).toBe(evidence_hash);
      }
      expect((await get(`/signals/${signal_id}`, {}, 'HEAD')).status).toBe(200);
      const size = await vi.waitFor(async () => {
        const note = parseNote(await (await get('/log/1/checkpoint')).text());
        const signed = Number(parseCheckpoint(String(note?.text))?.size);
        expect(signed).toBeGreaterThan(0);
        return signed;
      }, ROUND);
      const width = tileWidth(0, 0, size);
      const tile = formatTilePath({ of: 'hashes', level: 0, index: 0, width });
      const hashes = await get(`/log/1/tile/${tile}`);
      expect((await hashes.arrayBuffer()).byteLength).toBe(32 * width);
      expect((await get(`/log/1/tile/${tile}`, {}, 'HEAD')).status).toBe(200);
      expect((await get('/log/0x1/checkpoint')).status).toBe(400);
    },
  );

  test.skipIf(!isThere).each([
    ['/edge', 200],
    ['/edge/backtest.json?list=filters', 200],
    ['/edge/rules.json', 400],
    ['/api/ml-rank?pair=NOBODY', 404],
    ['/providers', 200],
    ['/api/leaderboard/providers', 200],
    ['/methodology/traders', 200],
    [`/api/traders/0x${'3'.repeat(40)}/temporal`, 404],
  ])('%s answers %i, to HEAD and compressed too', async (path, status) => {
    const plain = await get(path, { 'accept-encoding': 'identity' });
    expect([plain.status, plain.headers.get('content-encoding')]).toEqual([status, null]);
    const type = plain.headers.get('content-type');
    for (const method of ['GET', 'HEAD']) {
      const answer = await get(path, { 'accept-encoding': 'gzip' }, method);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type]);
      expect((await answer.text()).length > 0).toBe(method === 'GET');
    }
    expect((await plain.text()).length).toBeGreaterThan(0);
  });
});
