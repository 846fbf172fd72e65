// Does a service that holds no history call it fresh? One whose explorer answers, hangs and fails.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createStoresIn } from './testing/fresh-warehouse.ts';
import { MAIN, onlySettings } from './testing/program.ts';

const HEAD = '0x1000000';
function answerCall(url = ''): string {
  const asked = new URL(url, 'http://explorer').searchParams;
  const block = { number: asked.get('tag'), timestamp: '0x69260000' };
  const result = asked.get('action') === 'eth_getBlockByNumber' ? block : HEAD;
  return JSON.stringify({ jsonrpc: '2.0', id: 1, result });
}
const FAULTS: {
  readonly [fault: string]: (response: ServerResponse, url?: string) => void;
} = {
  answers: (response, url) => response.end(answerCall(url)),
  fails: (response) => response.writeHead(500).end('upstream'),
  hangs: () => undefined,
  'is no JSON': (response) => response.end('<html>'),
};
const provider = z.object({
  name: z.string(),
  url: z.string(),
  state: z.string(),
  silent_since: z.number().nullable(),
  fault: z.string().nullable(),
  hours: z.array(z.object({ calls: z.object({ failed: z.number() }).nullable() })),
});
const healthBody = z.object({
  providers: z.array(provider),
  data_freshness: z.record(
    z.string(),
    z.object({
      state: z.string(),
      as_of: z.number().nullable(),
      age_s: z.number().nullable(),
      reason: z.string().nullable(),
    }),
  ),
});

let cwd: string;
let explorer: Server;
let service: ChildProcess;
let fault = 'answers';
const output = () => readFileSync(join(cwd, 'said'), 'utf8');
const base = () => String(/http:\/\/127\.0\.0\.1:\d+/.exec(output())?.[0]);

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'exhibit-health-'));
  explorer = createServer(({ url }, response) => FAULTS[fault]?.(response, url));
  await new Promise<void>((ready) => explorer.listen(0, '127.0.0.1', ready));
  const { port } = explorer.address() as AddressInfo;
  await createStoresIn(join(cwd, 'data'));
  const said = openSync(join(cwd, 'said'), 'a');
  service = spawn(process.execPath, [MAIN, 'start', '--live'], {
    cwd,
    env: onlySettings({
      EXHIBIT_PORT: '0',
      EXHIBIT_DATA_DIR: join(cwd, 'data'),
      EXHIBIT_EXPLORER_URL: `http://127.0.0.1:${port}/v2/api`,
      EXHIBIT_EXPLORER_KEY: 'key',
    }),
    stdio: ['ignore', said, said],
  });
  await vi.waitFor(() => expect(output()).toMatch(/http:\/\/127\.0\.0\.1:\d+/), {
    timeout: 150_000,
    interval: 200,
  });
}, 160_000);
afterAll(() => {
  service.kill('SIGKILL');
  explorer.closeAllConnections();
  explorer.close();
  rmSync(cwd, { recursive: true, force: true });
});

test.each(Object.keys(FAULTS))(
  'history that nobody holds has no age, and is never fresh, while the explorer %s',
  { timeout: 120_000 },
  async (now) => {
    fault = now;
    const health = healthBody.parse(await (await fetch(`${base()}/health`)).json());
    const { transfer_history: told } = health.data_freshness;
    expect(told).toMatchObject({ as_of: null, age_s: null, reason: expect.any(String) });
    expect(['per_answer', 'unreadable']).toContain(told?.state);
    const status = await (await fetch(`${base()}/status`)).text();
    const [, row = ''] = status.split('Transfer history');
    expect(row.slice(0, row.indexOf('</tr>'))).not.toMatch(/fresh|moments ago/);
  },
);

test('it says that none is held, and that it is asked live', { timeout: 120_000 }, async () => {
  fault = 'answers';
  await vi.waitFor(
    async () => {
      const health: unknown = await (await fetch(`${base()}/health`)).json();
      const reason = expect.stringMatching(/^No transfers are held; each answer asks live for /);
      const transfer_history = { state: 'per_answer', as_of: null, age_s: null, reason };
      expect(health).toMatchObject({ data_freshness: { transfer_history } });
      expect(await (await fetch(`${base()}/status`)).text()).toContain('No transfers are held; ');
    },
    { timeout: 90_000, interval: 1_000 },
  );
});

test('an explorer that failed is silent since then until it answers, and the list nobody asked is not', {
  timeout: 180_000,
}, async () => {
  const of = async (name: string) => {
    const health = healthBody.parse(await (await fetch(`${base()}/health`)).json());
    const found = health.providers.find((one) => one.name === name);
    if (found === undefined) throw new Error(`test: ${name} is no provider`);
    return found;
  };
  const page = async () => await (await fetch(`${base()}/status`)).text();
  const wait = { timeout: 85_000, interval: 1_000 };
  fault = 'fails';
  // A call that hung before may end in between: the newest fault is waited for.
  const silent = await vi.waitFor(async () => {
    const told = await of('Explorer');
    const silent_since: unknown = expect.any(Number);
    expect(told).toMatchObject({ state: 'silent', silent_since, fault: 'answered 500' });
    return told;
  }, wait);
  expect(silent.hours.some(({ calls }) => calls !== null && calls.failed > 0)).toBe(true);
  // The address of the explorer is its scheme and host: its path and its key are not told.
  expect(silent.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await page()).toMatch(/Explorer<\/strong>.*>silent<.* since .*It answered 500\./s);
  expect(await of('Telegram')).toMatchObject({ state: 'not_asked', silent_since: null });
  expect(await page()).toMatch(/Telegram<\/strong>.*>not asked<.*Not asked in /s);
  fault = 'answers';
  const answered = { state: 'answered', silent_since: null, fault: null };
  await vi.waitFor(async () => expect(await of('Explorer')).toMatchObject(answered), wait);
});
