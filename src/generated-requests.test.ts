// Whatever is sent to a route is answered as its declaration says, and never by a fault: requests
// from a seed, drawn from each route's own schema in the document that is served. Each answer of
// the hosted API is signed, and its signature verifies. A quarter of the 5,000 in the suite, all in
// `npm run test:all`, each route as often as any other. `EXHIBIT_TEST_REQUESTS` sets how many,
// `EXHIBIT_TEST_SEED` which: `npm run fuzz` sets both.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { requestSigned } from './client/signed.ts';
import type { OpenapiDocument } from './contract/openapi.ts';
import { generatedTraffic, type SentRequest, type TakenAnswer } from './generated-traffic.suite.ts';
import { noBytesBreak } from './hostile-requests.suite.ts';
import { programsAreMadeOf } from './openapi-programs.suite.ts';
import { everyStatusIsSigned } from './signed-statuses.suite.ts';
import { lotteryOf } from './testing/lottery.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { createControlIn } from './testing/postgres.ts';
import { runPrinting, type Simulated, startSimulated } from './testing/program.ts';
import { trialsOf } from './testing/trials.ts';

const SEED = Number(process.env['EXHIBIT_TEST_SEED'] ?? 20_261_125);
const REQUESTS = trialsOf('EXHIBIT_TEST_REQUESTS', 1_250, 5_000);
vi.setConfig({ testTimeout: Math.max(600_000, REQUESTS * 120), hookTimeout: 240_000 });
const TOGETHER = 8;

const home = mkdtempSync(join(tmpdir(), 'exhibit-generated-'));
let service: Simulated;
let partner: string;
/** The key set of the service, under which each hosted answer is signed. */
let keys: string;
beforeAll(async () => {
  await createControlIn(join(home, 'data/simulated'));
  service = await startSimulated({ cwd: home });
  const words = ['keys', 'create', '--partner', 'acme', '--budget', '100000'];
  const place = { cwd: home, env: { EXHIBIT_SIMULATE: 'true' } };
  partner = (await runPrinting(z.object({ key: z.string() }), words, place)).key;
  keys = await (await fetchPatiently(`${service.base_url}/.well-known/exhibit-keys.json`)).text();
  // The leaderboard of a service that has just started holds nothing until its first round.
  const [url, headers] = [`${service.base_url}/api/leaderboard/rugs`, bearer(service.stream_token)];
  await vi.waitFor(async () => expect((await fetchPatiently(url, { headers })).status).toBe(200), {
    timeout: 120_000,
    interval: 500,
  });
});
afterAll(() => {
  service.program.child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

programsAreMadeOf(() => ({ ...service, partner }));
everyStatusIsSigned(() => service);
noBytesBreak(() => service);

function addresses(): string[] {
  const guide = readFileSync('docs/guides/simulated-world.md', 'utf8');
  const named = [...guide.matchAll(/`([0-9A-Za-z]{26,100})`/g)].map(([, text]) => String(text));
  return [...new Set(named)];
}

async function answerTo({ method, operation, request }: SentRequest): Promise<TakenAnswer> {
  const ways = operation.security.flatMap(Object.keys);
  const key = ways.includes('partner') ? partner : service.api_key;
  const credential = ways.includes('token') ? service.stream_token : key;
  const { body, contentType } = request;
  const url = new URL(service.base_url + request.url);
  const signed = requestSigned({ keys }).begin();
  const headers = {
    authorization: `Bearer ${credential}`,
    'accept-signature': signed.header,
    ...(contentType === null ? {} : { 'content-type': contentType }),
  };
  const init = { method: method.toUpperCase(), headers, ...(body === null ? {} : { body }) };
  const reply = await fetchPatiently(url, init);
  const { status, headers: received } = reply;
  const bytes = new Uint8Array(await reply.arrayBuffer());
  const isHosted = url.pathname.startsWith('/api/v1/');
  const taken = { method: init.method, url, status, headers: received, bytes };
  return {
    status,
    type: received.get('content-type'),
    text: new TextDecoder().decode(bytes),
    isHosted,
    unsigned: isHosted ? await signed.take(taken) : null,
  };
}

test('of all generated requests none is answered by a fault or outside its schema', async () => {
  const document = (await (
    await fetchPatiently(`${service.base_url}/openapi.json`)
  ).json()) as OpenapiDocument;
  const { faults, statuses, asked, hosted } = await generatedTraffic(document, { isWhole: true })({
    requests: REQUESTS,
    together: TOGETHER,
    addresses: addresses(),
    lottery: lotteryOf(SEED),
    ask: answerTo,
  });
  expect(faults).toEqual([]);
  expect([...statuses.values()].reduce((sum, count) => sum + count)).toBe(asked);
  expect(hosted).toBeGreaterThan(REQUESTS / 4);
  // Both what is taken and what is refused is drawn.
  for (const status of [200, 400]) expect(statuses.get(status)).toBeGreaterThan(REQUESTS / 5);
});

test('a day that no calendar has, NUL and half a character are refused, and no body is none', async () => {
  const ask = async (method: string, path: string, body?: string) => {
    const headers = {
      authorization: `Bearer ${service.api_key}`,
      'content-type': 'application/json',
    };
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    const reply = await fetchPatiently(service.base_url + path, init);
    return [reply.status, await reply.text()] as const;
  };
  const address = '0x64144967c175997FC8526ba694021ae36965331c';
  const noDay = JSON.stringify({ address, on: '2026-11-31' });
  const [status, text] = await ask('POST', '/api/v1/screens', noDay);
  const says = 'expected a day of the calendar, written YYYY-MM-DD';
  expect(JSON.parse(text)).toEqual({ error: `on: ${says}`, fields: [{ path: ['on'], says }] });
  expect(status).toBe(400);
  const half = '{"address":"\\ud800"}';
  for (const asked of [
    await ask('DELETE', '/api/v1/watchlist/%00'),
    await ask('GET', '/api/v1/screens/a%00'),
    await ask('POST', '/api/v1/watchlist', half),
  ]) {
    expect(asked).toEqual([400, expect.stringContaining('whole Unicode characters')]);
  }
  expect(await ask('DELETE', '/api/v1/watchlist/wch_unknown')).toEqual([
    404,
    expect.stringContaining('error'),
  ]);
});
