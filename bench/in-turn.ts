// Use: npm run bench -- in-turn CHECKOUT. What do a bulk screen, `/health` and a question that was
// asked before cost, in another build and in this one? Both are asked in turn, so that the drift of
// the machine hits both. CHECKOUT is of another commit, and `npm run bench -- size` has run in it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formsLottery } from '../src/testing/forms-lottery.ts';
import { lotteryOf } from '../src/testing/lottery.ts';
import {
  BULK_CONNECTIONS,
  BULK_SIZE,
  bulkBodies,
  bulkRequests,
  drawEvm,
  load,
  middle,
  type Started,
  sameBytes,
  startService,
} from './asking.ts';
import { askChild, buildIn, child, endChild, OWN_BUILD, treeCpuMs } from './children.ts';
import type { Load } from './closed-loop.ts';
import type { Furnished } from './furnish.ts';
import { askTwice, repeatedExplorer, SURFACES, settingsOf } from './repeated.ts';

const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 2 : 7;
const ROUND_MS = quick ? 1_000 : 3_000;
const WARM_MS = quick ? 1_000 : 5_000;
const HEALTH_CONNECTIONS = 32;
const REPEATED = quick ? 2 : 8;
const US_PER_MS = 1_000;

type Build = { readonly name: string; readonly url: URL; readonly furnished: Furnished };
type Measured = { readonly perS: number; readonly processorUs: number };
type Asked = Omit<Load, 'port' | 'durationMs'>;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Each build fills a data directory of its own: their stores are of different versions. */
async function buildOf(name: string, url: URL, directory: string): Promise<Build> {
  const { furnish } = (await import(new URL('furnish.js', url).href)) as {
    readonly furnish: (directory: string) => Promise<Furnished>;
  };
  const { env, ...furnished } = await furnish(join(directory, name));
  return { name, url, furnished: { ...furnished, env: { ...env, EXHIBIT_SURFACES: SURFACES } } };
}

/** Sends the same to each of some processes in turn; the middle of the rounds of each. */
async function inTurn(
  processes: readonly (Pick<Started, 'port' | 'pid'> & { readonly asked: Asked })[],
): Promise<Measured[]> {
  const rounds: Measured[][] = processes.map(() => []);
  for (const { port, asked } of processes) await load({ ...asked, port, durationMs: WARM_MS });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, { port, pid, asked }] of processes.entries()) {
      const before = treeCpuMs(pid);
      const said = await load({ ...asked, port, durationMs: ROUND_MS });
      const spent = treeCpuMs(pid) - before;
      if (said.byStatus['200'] !== said.answers) throw new Error(JSON.stringify(said.byStatus));
      const processorUs = (spent / said.answers) * US_PER_MS;
      rounds[at]?.push({ perS: said.answers / said.seconds, processorUs });
    }
  }
  return rounds.map((own) => ({
    perS: middle(own.map(({ perS }) => perS)),
    processorUs: middle(own.map(({ processorUs }) => processorUs)),
  }));
}

function row(name: string, values: readonly (string | number)[]): void {
  say(`  ${name.padEnd(40)}${values.map((one) => String(one).padStart(12)).join('')}`);
}

/** Two measures, and the second against the first. */
function compare(name: string, before: number, now: number, digits = 0): void {
  row(name, [before.toFixed(digits), now.toFixed(digits), (now / before).toFixed(2)]);
}

async function started(builds: readonly Build[]): Promise<(Started & { readonly of: Build })[]> {
  const all = [];
  for (const of of builds)
    all.push({ of, ...(await startService(of.furnished.env, true, of.url)) });
  return all;
}

async function bulkSection(services: Awaited<ReturnType<typeof started>>): Promise<void> {
  say('Bulk screens of 500 addresses, 16 callers');
  const [first] = services;
  const listed = first === undefined ? [] : first.of.furnished.listed;
  const draws = {
    'EVM addresses': () => drawEvm(listed),
    'addresses of all forms': formsLottery(lotteryOf(1), 0).draw,
  };
  for (const [name, draw] of Object.entries(draws)) {
    const bodies = bulkBodies(draw);
    const processes = services.map(({ port, pid, of }) => {
      const requests = bulkRequests(bodies, of.furnished.keys);
      return { port, pid, asked: { connections: BULK_CONNECTIONS, requests } };
    });
    const [before, now] = await inTurn(processes);
    if (before === undefined || now === undefined) throw new Error('a build was not measured');
    compare(`${name} a second`, before.perS * BULK_SIZE, now.perS * BULK_SIZE);
    const [was, is] = [before, now].map(({ processorUs }) => processorUs / BULK_SIZE);
    compare('processor time of one, µs', Number(was), Number(is), 2);
  }
}

async function healthSection(services: Awaited<ReturnType<typeof started>>): Promise<void> {
  const newest = services.at(-1);
  if (newest === undefined) throw new Error('nothing was started');
  const bare = child('bare-server');
  try {
    const same = await sameBytes(`http://127.0.0.1:${newest.port}/health`, {});
    const port = Number(await askChild(bare, same));
    const requests = ['GET /health HTTP/1.1\r\nHost: bench\r\n\r\n'];
    const asked = { connections: HEALTH_CONNECTIONS, requests };
    const all = [...services, { port, pid: Number(bare.pid) }];
    const [before, now, plain] = await inTurn(all.map(({ port, pid }) => ({ port, pid, asked })));
    if (before === undefined || now === undefined || plain === undefined) {
      throw new Error('a server was not measured');
    }
    say(`/health, ${HEALTH_CONNECTIONS} connections, ${same.body.length} bytes`);
    compare('answers a second', before.perS, now.perS);
    compare('processor time of an answer, µs', before.processorUs, now.processorUs);
    say('  now beside bare node:http that writes the same bytes');
    compare('answers a second', plain.perS, now.perS);
    compare('processor time of an answer, µs', plain.processorUs, now.processorUs);
  } finally {
    await endChild(bare, 'SIGKILL');
  }
}

/** The two builds take their turns address by address. */
async function repeatedSection(builds: readonly Build[]): Promise<void> {
  const rows = [];
  for (const { name, url, furnished } of builds) {
    const explorer = await repeatedExplorer();
    const env = { ...furnished.env, ...settingsOf(explorer) };
    const { process_, port } = await startService(env, true, url);
    const [key = ''] = furnished.keys;
    rows.push({ name, key, explorer, process_, base: `http://127.0.0.1:${port}` });
  }
  try {
    const costs = rows.map(() => ({ first: [] as number[], second: [] as number[] }));
    for (let n = 0; n < REPEATED; n += 1) {
      for (const [at, { explorer, base, key }] of rows.entries()) {
        const [first, second] = await askTwice(explorer, base, key, { from: n, count: 1 });
        costs[at]?.first.push(first.calls);
        costs[at]?.second.push(second.calls);
      }
    }
    say('Two questions (ofac, score) about an address that an explorer tells: calls');
    for (const time of ['first', 'second'] as const) {
      const [before, now] = costs.map((one) => middle(one[time]));
      row(`the ${time} time`, [String(before), String(now)]);
    }
  } finally {
    for (const { process_, explorer } of rows) {
      await endChild(process_, 'SIGTERM');
      await explorer.close();
    }
  }
}

async function main(): Promise<void> {
  const checkout = process.argv.slice(2).find((one) => !one.startsWith('--'));
  if (checkout === undefined) throw new Error('usage: npm run bench -- in-turn CHECKOUT [--quick]');
  const directory = mkdtempSync(join(tmpdir(), 'exhibit-bench-'));
  try {
    say('Preparing a list, tables and a hundred keys for each build …');
    const builds = [
      await buildOf('before', buildIn(checkout), directory),
      await buildOf('now', OWN_BUILD, directory),
    ];
    row('', ['before', 'now', 'ratio']);
    const services = await started(builds);
    await bulkSection(services);
    await healthSection(services);
    for (const { process_ } of services) await endChild(process_, 'SIGTERM');
    await repeatedSection(builds);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
