// Is the first real answer one command away? `start --live` against a publisher over HTTP, without
// a key or an account anywhere.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createStoresIn } from './testing/fresh-warehouse.ts';
import { MAIN, onlySettings } from './testing/program.ts';
import { WORLD_SEED, worldPublicationAt } from './world/listed-parties.ts';
import { sdnAdvancedXml } from './world/sdn-publication.ts';

const list = worldPublicationAt(Math.floor(Date.now() / 1_000), WORLD_SEED);

let cwd: string;
let publisher: Server;
let service: ChildProcess;
let env: NodeJS.ProcessEnv;
const output = () => readFileSync(join(cwd, 'said'), 'utf8');
const run = (words: string[]) =>
  spawnSync(process.execPath, [MAIN, ...words], { cwd, env, encoding: 'utf8', timeout: 60_000 });

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'exhibit-live-'));
  publisher = createServer((_, response) => response.end(sdnAdvancedXml(list)));
  await new Promise<void>((ready) => publisher.listen(0, '127.0.0.1', ready));
  const { port } = publisher.address() as AddressInfo;
  env = onlySettings({
    EXHIBIT_PORT: '0',
    EXHIBIT_DATA_DIR: join(cwd, 'data'),
    EXHIBIT_SDN_URL: `http://127.0.0.1:${port}/SDN_ADVANCED.XML`,
  });
  await createStoresIn(join(cwd, 'data'));
  const said = openSync(join(cwd, 'said'), 'a');
  // The flag says more than a setting does: without it this would be the simulated world.
  service = spawn(process.execPath, [MAIN, 'start', '--live'], {
    cwd,
    env: { ...env, EXHIBIT_SIMULATE: 'true' },
    stdio: ['ignore', said, said],
  });
  await vi.waitFor(() => expect(output()).toContain('"msg":"sanctions list: updated"'), {
    timeout: 150_000,
    interval: 200,
  });
}, 160_000);
afterAll(() => {
  service.kill('SIGKILL');
  publisher.closeAllConnections();
  publisher.close();
  rmSync(cwd, { recursive: true, force: true });
});

test("serves the publisher's list, and answers of it in one command", () => {
  expect(output()).not.toContain('SIMULATED');
  const listed = String(list.parties.flatMap((party) => party.addresses).at(0)?.address);
  const stranger = 'LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnJ';
  const { status, stdout } = run(['sanctions', 'check', listed, stranger, '--json']);
  expect(status).toBe(0);
  const [hit, miss] = stdout
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(hit).toMatchObject({ address: listed, listed: true });
  expect(miss).toMatchObject({
    address: stranger,
    listed: false,
    list: { published: list.published },
  });
  expect(stdout).not.toContain('"simulated":true');
});

/** The output of a command, as JSON. */
function said(words: string[]): { readonly [name: string]: unknown } {
  const { status, stdout, stderr } = run([...words, '--json']);
  if (status !== 0) throw new Error(stderr);
  return z.record(z.string(), z.unknown()).parse(JSON.parse(stdout));
}

test('serves the labels that come with the product, until an operator imports others', async () => {
  const binance = '0x28c6c06298d514db089934071355e5743bf21d60';
  const base = String(/http:\/\/127\.0\.0\.1:\d+/.exec(output())?.[0]);
  const membership = String(said(['members', 'add', '--plan', 'desk'])['membership_id']);
  const key = String(said(['keys', 'create', '--membership', membership])['key']);
  const asked = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await fetch(`${base}${path}`, { headers, ...sent })).json();
  };
  const screened = () => asked('/api/v1/bulk/wallet-screen', { addresses: [binance] });
  const named = { name: expect.stringMatching(/^Exchange wallet table that comes with/) };
  const sources = expect.arrayContaining([expect.objectContaining(named)]);
  const checked = { exchange_table: true };
  expect(await screened()).toMatchObject({
    sources,
    data: { results: [{ exchange: { entity: 'Binance' }, checked }] },
  });
  const cex = await asked(`/api/v1/wallet/${binance}/cex`);
  expect(cex).toMatchObject({ state: 'ok', sources, data: { direct: { entity: 'Binance' } } });

  writeFileSync(join(cwd, 'labels.csv'), `address,entity\n0x${'12'.repeat(20)},Exemplar\n`);
  said(['labels', 'import', join(cwd, 'labels.csv'), '--source', 'tests']);
  await vi.waitFor(
    async () => expect(await screened()).toMatchObject({ data: { results: [{ exchange: null }] } }),
    { timeout: 25_000, interval: 500 },
  );
  expect(JSON.stringify(await screened())).not.toContain('comes with the product');
});

test('/health names both doors of each stream, and calls no history fresh that nobody can read', async () => {
  const base = String(/http:\/\/127\.0\.0\.1:\d+/.exec(output())?.[0]);
  // A source that takes longer than a second, as on a busy machine, is told as one that did.
  const inTime = { timeout: 90_000, interval: 1_000 };
  await vi.waitFor(async () => {
    const health: unknown = await (await fetch(`${base}/health`)).json();
    expect(health).toMatchObject({
      routes: { 'GET /ws/flags': { access: 'bearer' }, 'GET /sse/flags': { access: 'bearer' } },
      streaming: {
        paths: expect.arrayContaining(['/ws/flags', '/sse/flags']),
        heartbeat_s: 15,
        bus: { kind: 'in_process', ok: true },
        connections: { free: 0, pro: 0, desk: 0 },
        source: { kind: 'flag_log', ok: true },
      },
      data_freshness: {
        transfer_history: { state: 'never_loaded', as_of: null, reason: NO_HISTORY },
      },
    });
  }, inTime);
  await vi.waitFor(async () => {
    expect(await (await fetch(`${base}/status`)).text()).toContain(NO_HISTORY);
  }, inTime);
  await vi.waitFor(() => expect(run(['doctor']).stdout).toContain(NO_HISTORY), inTime);
});

const NO_HISTORY =
  'This deployment holds no transfer history and reads none live, so no path was looked for.';

test('--live is for start alone', () => {
  const { status, stderr } = run(['up', '--live']);
  expect(status).toBe(2);
  expect(stderr).toContain('--live is for exhibit start');
});
