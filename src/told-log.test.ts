// The service as it is composed tells what needs a hand: its jobs and its webhook write by the log
// that they were given. Its ports answer as they are configured.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { freePort } from './testing/free-port.ts';
import { createStoresIn } from './testing/fresh-warehouse.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import {
  deliveryHeaders,
  membershipEvent,
  type SentMembership,
} from './testing/payment-platform.ts';
import { type Program, startProgram, untilSaid } from './testing/program.ts';

vi.setConfig({ testTimeout: 240_000 });
const SECRET = 'ws_a1b2c3d4e5f6a7b8';
/** Nothing listens there: every source is silent, and every job says so. */
const NOWHERE = 'http://127.0.0.1:9/';
const ERROR_LEVEL = 50;
const directory = mkdtempSync(join(tmpdir(), 'exhibit-told-'));
let program: Program | null = null;
afterAll(() => {
  program?.child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

/** What a port answers to whoever asks for it by a name. */
async function ask(port: number, path: string, host: string) {
  const request = get({ host: '127.0.0.1', port, path, headers: { host } });
  const [response] = await once(request, 'response');
  response.resume();
  return { status: Number(response.statusCode), headers: Object(response.headers) };
}

const line = z.looseObject({ level: z.number(), msg: z.string() });

function linesOf(err: string) {
  return err
    .split('\n')
    .filter((text) => text.startsWith('{'))
    .map((text) => line.parse(JSON.parse(text)));
}

test('a held and an unreadable payment event are taken and told, and every silent job is told', async () => {
  await createStoresIn(directory);
  const [port, opsPort] = [await freePort(), await freePort()];
  const service = startProgram(['up'], {
    cwd: directory,
    env: {
      EXHIBIT_PORT: String(port),
      EXHIBIT_OPS_PORT: String(opsPort),
      EXHIBIT_PUBLIC_URL: 'https://exhibit.example',
      EXHIBIT_DATA_DIR: directory,
      EXHIBIT_ALLOW_ANONYMOUS: 'true',
      EXHIBIT_PAYMENT_WEBHOOK_SECRET: SECRET,
      EXHIBIT_PLANS: 'plan_desk:desk',
      EXHIBIT_SDN_URL: NOWHERE,
      EXHIBIT_EXPLORER_URL: NOWHERE,
      EXHIBIT_VENUE_URL: NOWHERE,
      EXHIBIT_PRICES_URL: NOWHERE,
      EXHIBIT_RPC_ETHEREUM: NOWHERE,
      EXHIBIT_RPC_SOLANA: NOWHERE,
    },
  });
  program = service;
  await untilSaid(service, 'Pages to open');
  const base = `http://127.0.0.1:${port}`;
  const now = Math.floor(Date.now() / 1_000);
  let sent = 0;
  const post = async (told: SentMembership) => {
    const body = membershipEvent(told);
    sent += 1;
    const reply = await fetchPatiently(`${base}/webhooks/payments`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        ...deliveryHeaders([SECRET], `msg_${sent}`, now, body),
      },
    });
    return [reply.status, await reply.json()];
  };
  expect(await post({ at: now, plan: 'plan_unnamed', product: 'prod_unnamed' })).toEqual([
    200,
    { received: true, outcome: 'no_plan' },
  ]);
  expect(await post({ at: now, id: 'no id of a membership' })).toEqual([
    200,
    { received: true, outcome: 'unreadable' },
  ]);
  expect(await post({ at: now })).toEqual([200, { received: true, outcome: 'applied' }]);
  for (const words of ['A purchase is held', 'asks what cannot be done']) {
    expect(service.err()).toContain(words);
  }
  for (const words of ['sanctions list: unreachable', 'launches: not read', 'rugs: not scored']) {
    await untilSaid(service, words);
  }
  const secure = 'strict-transport-security';
  for (const path of ['/', '/health', '/nothing', '/api/v1/nothing']) {
    const said = await ask(port, path, 'exhibit.example');
    expect([path, said.headers[secure]]).toEqual([path, 'max-age=31536000']);
  }
  for (const host of ['localhost', `127.0.0.1:${opsPort}`, `[::1]:${opsPort}`, 'LOCALHOST:1']) {
    expect([host, (await ask(opsPort, '/metrics', host)).status]).toEqual([host, 200]);
  }
  const metrics = await (await fetchPatiently(`http://127.0.0.1:${opsPort}/metrics`)).text();
  for (const of of ['nodejs_eventloop_lag_p99_seconds', 'nodejs_heap_size_used_bytes']) {
    expect(metrics).toMatch(new RegExp(`^${of} [\\d.e-]+$`, 'm'));
  }
  expect(metrics).toContain('\nexhibit_requests_under_way ');
  for (const host of ['rebound.example', `rebound.example:${opsPort}`, 'localhost.evil']) {
    expect([host, (await ask(opsPort, '/metrics', host)).status]).toEqual([host, 403]);
  }
  expect(linesOf(service.err()).filter(({ level }) => level >= ERROR_LEVEL)).toEqual([]);
});
