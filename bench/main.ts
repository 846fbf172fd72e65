// Ratios are what counts: the machine's speed drifts, and everything here drifts with it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formsLottery } from '../src/testing/forms-lottery.ts';
import { lotteryOf } from '../src/testing/lottery.ts';
import {
  BULK_CONNECTIONS,
  BULK_SIZE,
  bearer,
  bulkBodies,
  bulkBody,
  bulkRequests,
  drawEvm,
  load,
  sameBytes,
  startService,
} from './asking.ts';
import type { SameBytes } from './bare-server.ts';
import { askChild, child, endChild, treePssMib } from './children.ts';
import type { LoadResult } from './closed-loop.ts';
import { type Furnished, furnish, KEYS, storedUse } from './furnish.ts';
import { askTwice, repeatedExplorer, settingsOf } from './repeated.ts';

const CONNECTIONS = 32;
const ROUNDS = 3;
const ROUND_MS = 4_000;
const REQUESTS = 20_000;
/** A server that has just been started is still being compiled; none is measured before this. */
const WARM_MS = 5_000;
const REST_MS = 60_000;
/** Addresses that are asked about twice. */
const REPEATED = 15;

const args = process.argv.slice(2);
const quick = args.includes('--quick');
const warmMs = quick ? 1_000 : WARM_MS;

function screenRequests(furnished: Furnished): string[] {
  return Array.from(
    { length: REQUESTS },
    () =>
      `GET /api/v1/wallet/${drawEvm(furnished.listed)}/ofac HTTP/1.1\r\nHost: bench\r\n` +
      `${bearer(furnished.keys)}\r\n`,
  );
}

type Row = { name: string; answers_s: number; p50_ms: number; p99_ms: number };

function rowOf(name: string, results: readonly LoadResult[]): Row {
  const middle = [...results].sort((a, b) => rateOf(a) - rateOf(b))[Math.floor(results.length / 2)];
  if (middle === undefined) throw new Error(`${name}: no result`);
  return { name, answers_s: rateOf(middle), p50_ms: middle.p50_ms, p99_ms: middle.p99_ms };
}

function rateOf({ answers, seconds }: LoadResult): number {
  return answers / seconds;
}

async function screens(furnished: Furnished) {
  const requests = screenRequests(furnished);
  const durationMs = quick ? 1_500 : ROUND_MS;
  const results: Record<'bare' | 'charged' | 'uncharged', LoadResult[]> = {
    bare: [],
    charged: [],
    uncharged: [],
  };
  let received = 1;
  const same = await screenBytes(furnished);
  for (let round = 0; round < (quick ? 1 : ROUNDS); round += 1) {
    for (const charging of [true, false]) {
      const one = await startService(furnished.env, charging);
      const warm = await load({
        port: one.port,
        connections: CONNECTIONS,
        durationMs: warmMs,
        requests,
      });
      if (charging) received += twoHundreds(warm);
      const result = await load({ port: one.port, connections: CONNECTIONS, durationMs, requests });
      if (charging) received += twoHundreds(result);
      results[charging ? 'charged' : 'uncharged'].push(result);
      await endChild(one.process_, 'SIGTERM');
    }
    const bare = child('bare-server');
    const port = Number(await askChild(bare, same));
    await load({ port, connections: CONNECTIONS, durationMs: warmMs, requests });
    results.bare.push(await load({ port, connections: CONNECTIONS, durationMs, requests }));
    await endChild(bare, 'SIGKILL');
  }
  return { results, received };
}

async function screenBytes(furnished: Furnished): Promise<SameBytes> {
  const one = await startService(furnished.env, true);
  const path = '/api/v1/wallet/0x00000000219ab540356cbb839cbe05303d7705fa/ofac';
  const authorization = `Bearer ${furnished.keys[0]}`;
  const same = await sameBytes(`http://127.0.0.1:${one.port}${path}`, { authorization });
  await endChild(one.process_, 'SIGTERM');
  return same;
}

function twoHundreds(result: LoadResult): number {
  const count = result.byStatus['200'];
  if (result.broken > 0) throw new Error('connections broke: the count of answers is not exact');
  return count === undefined ? 0 : count;
}

async function killUnderLoad(
  furnished: Furnished,
  before: number,
): Promise<{ received: number; stored: number }> {
  const one = await startService(furnished.env, true);
  const requests = screenRequests(furnished);
  const loading = load({ port: one.port, connections: CONNECTIONS, durationMs: 4_000, requests });
  await sleep(2_000);
  await endChild(one.process_, 'SIGKILL');
  const result = await loading;
  const count = result.byStatus['200'];
  const stored = (await storedUse(furnished.env)) - before;
  return { received: count === undefined ? 0 : count, stored };
}

// The loop that a user would write instead: one look-up in a Map for each address of the body.
function mapLoop(furnished: Furnished): number {
  const map = new Map(furnished.listed.map((address) => [address.toLowerCase(), true]));
  const bodies = Array.from({ length: 50 }, () => bulkBody(() => drawEvm(furnished.listed)));
  let seen = 0;
  const started = performance.now();
  while (performance.now() - started < 1_000) {
    for (const body of bodies) {
      const parsed: unknown = JSON.parse(body);
      const { addresses } = parsed as { addresses: string[] };
      const results = addresses.map((address) => ({
        address,
        listed: map.has(address.toLowerCase()),
      }));
      seen += JSON.stringify(results).length > 0 ? results.length : 0;
    }
  }
  return (seen / (performance.now() - started)) * 1000;
}

async function memory(): Promise<{ rest_mib: number; load_mib: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'exhibit-bench-'));
  try {
    const furnished = await furnish(join(directory, 'data'));
    const one = await startService(furnished.env, true);
    const { pid } = one;
    const { request } = await import('undici');
    const ready = await request(`http://127.0.0.1:${one.port}/ready`);
    await ready.body.dump();
    await sleep(quick ? 5_000 : REST_MS);
    const rest = treePssMib(pid);
    const requests = screenRequests(furnished);
    const loading = load({ port: one.port, connections: CONNECTIONS, durationMs: 5_000, requests });
    await sleep(4_000);
    const underLoad = treePssMib(pid);
    await loading;
    await endChild(one.process_, 'SIGTERM');
    return { rest_mib: rest, load_mib: underLoad };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function line({ name, answers_s, p50_ms, p99_ms }: Row): string {
  const cells = [answers_s.toFixed(0), p50_ms.toFixed(2), p99_ms.toFixed(2)];
  return `  ${name.padEnd(34)}${cells.map((cell) => cell.padStart(10)).join('')}`;
}

const NAME_CHARS = 34;

function fact(name: string, value: string, target: string): void {
  say(
    `  ${name.padEnd(NAME_CHARS)}${value.padStart(10)}${target === '' ? '' : `  target ${target}`}`,
  );
}

async function bulkRow(furnished: Furnished, draw: () => string): Promise<Row> {
  const one = await startService(furnished.env, true);
  const order = {
    port: one.port,
    connections: BULK_CONNECTIONS,
    durationMs: quick ? 1_500 : ROUND_MS,
    requests: bulkRequests(bulkBodies(draw), furnished.keys),
  };
  await load({ ...order, durationMs: warmMs });
  const results: LoadResult[] = [];
  for (let round = 0; round < (quick ? 1 : ROUNDS); round += 1) results.push(await load(order));
  await endChild(one.process_, 'SIGTERM');
  return rowOf('bulk of 500', results);
}

async function bulkSection(furnished: Furnished): Promise<void> {
  const row = await bulkRow(furnished, () => drawEvm(furnished.listed));
  const mixed = await bulkRow(furnished, formsLottery(lotteryOf(1), 0).draw);
  const screened = { service: row.answers_s * BULK_SIZE, loop: mapLoop(furnished) };
  say('Bulk screen, 500 addresses a request');
  fact('EVM addresses a second', screened.service.toFixed(0), '250000');
  fact('a loop over a Map, in process', screened.loop.toFixed(0), '');
  fact('ratio', (screened.service / screened.loop).toFixed(3), '');
  fact('addresses of all forms a second', (mixed.answers_s * BULK_SIZE).toFixed(0), '120000');
}

async function repeatedSection(furnished: Furnished): Promise<void> {
  const explorer = await repeatedExplorer();
  const one = await startService({ ...furnished.env, ...settingsOf(explorer) }, true);
  try {
    const [key = ''] = furnished.keys;
    const base = `http://127.0.0.1:${one.port}`;
    const count = quick ? 3 : REPEATED;
    const [first, second] = await askTwice(explorer, base, key, { from: 0, count });
    say('Two questions (ofac, score) about an address that an explorer tells, twice in a row');
    fact('calls, the first time', first.calls.toFixed(0), '');
    fact('calls, the second time', second.calls.toFixed(0), '0');
    fact('ms, the first time', first.ms.toFixed(1), '');
    fact('ms, the second time', second.ms.toFixed(1), '');
  } finally {
    await endChild(one.process_, 'SIGTERM');
    await explorer.close();
  }
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'exhibit-bench-'));
  try {
    say('Preparing a list, tables and a hundred keys …');
    const furnished = await furnish(join(directory, 'data'));
    if (args.includes('--repeated')) {
      await repeatedSection(furnished);
      return;
    }
    say(`Direct screen over HTTP: ${CONNECTIONS} connections, ${KEYS} keys, 1% listed, no cache`);
    const { results, received } = await screens(furnished);
    const bare = rowOf('node:http, the same bytes', results.bare);
    const charged = rowOf('screen, charged durably', results.charged);
    const free = rowOf('screen, charging switched off', results.uncharged);
    const heads = ['answers/s', 'p50 ms', 'p99 ms'].map((head) => head.padStart(10)).join('');
    say(`  ${''.padEnd(NAME_CHARS)}${heads}`);
    for (const row of [bare, charged, free]) say(line(row));
    fact('ratio to node:http', (charged.answers_s / bare.answers_s).toFixed(2), '0.35');
    fact('ratio to charging switched off', (charged.answers_s / free.answers_s).toFixed(2), '');
    const stored = await storedUse(furnished.env);
    fact('stored charges / answers of 2xx', `${stored}/${received}`, 'equal');
    const crash = await killUnderLoad(furnished, stored);
    fact('the same after kill -9', `${crash.stored}/${crash.received}`, 'none lost');
    const exact = stored === received && crash.stored >= crash.received;
    await bulkSection(furnished);
    await repeatedSection(furnished);
    const weighed = await memory();
    say('Memory, proportional set size of all processes');
    fact('MiB at rest', weighed.rest_mib.toFixed(0), 'under 858 (900 MB)');
    fact('MiB under load', weighed.load_mib.toFixed(0), '');
    if (!exact) process.exitCode = 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
