// Traders and providers: `npm run bench -- traders`. Both routes from the store beside bare
// node:http with the same bytes, and one analysis of ten thousand fills, as the service makes it:
// how long it takes, what it costs, and how long the thread that serves works at one go meanwhile,
// by its own processor time, which other processes of the machine do not lengthen.
// `--analysis`: nothing but the analysis.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { slices } from '../src/evidence/measure.ts';
import { Read, type Reading } from '../src/evidence/reading.ts';
import { makeBoard } from '../src/features/providers/board.ts';
import { hashRules, launchCall } from '../src/features/providers/call.ts';
import { callProductionTable } from '../src/features/providers/calls.store.ts';
import { traders } from '../src/features/traders/feature.ts';
import { PERMUTATIONS } from '../src/features/traders/null-model.ts';
import { WORLD_TRADERS } from '../src/world/traders.ts';
import { load, sameBytes, startService } from './asking.ts';
import { askChild, child, endChild } from './children.ts';
import type { LoadResult } from './closed-loop.ts';
import { withParts } from './furnish.ts';

const CONNECTIONS = 32;
const WARM_MS = 3_000;
const ROUND_MS = 4_000;
const ANALYSIS_MAX_MS = 300_000;
const DAY_S = 86_400;
const GOES_SHOWN = 5;
const CALLS = 2_000;
const ADDED_AT_ONCE = 100;
const PROVIDERS = ['goplus', 'letter', 'desk', 'crier', 'exhibit'];

type Env = Readonly<Record<string, string>>;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function taken(kept: Reading<unknown, never>): void {
  if (!(kept instanceof Read)) throw new Error(kept.why.reason);
}

/** Calls of some providers, counted into a board. */
async function furnishBoard(env: Env): Promise<void> {
  await withParts(env, async ({ stores }) => {
    const now = () => Date.now() / 1_000;
    const calls = callProductionTable(stores.database, { simulated: false, nowMs: Date.now });
    const received_at = Math.floor(now()) - DAY_S;
    const made = Array.from({ length: CALLS }, (_, n) => {
      const token = `0x${n.toString(16).padStart(40, '0')}`;
      const launch = { chain: 'ethereum', token, launched_at: received_at - 60 } as const;
      const provider = String(PROVIDERS[n % PROVIDERS.length]);
      const said = { probability: (n % 100) / 100, says: n % 3 === 0 };
      const call = { provider, reference: `${n}`, rests_on: {}, called_at: received_at };
      const probability = String(said.probability);
      return launchCall(launch, { ...call, says: said.says, probability, received_at }, []);
    });
    taken(await calls.publishRules(hashRules(), received_at - DAY_S));
    for (const some of slices(made, ADDED_AT_ONCE)) taken(await calls.add(some));
    for (const [n, { call_id }] of made.entries()) {
      const happened = n % 2 === 0;
      const outcome = { state: 'scored', happened, rests_on: {}, scored_at: received_at } as const;
      taken(await calls.decide(call_id, outcome));
    }
    const failed = await makeBoard({ calls, now });
    if (failed !== null) throw new Error(failed.reason);
  });
}

/** Watches this thread; gives the most processor time that it took between two ticks, in ms. */
function longestGoes(): () => readonly number[] {
  const spent = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]);
  const goes: number[] = [];
  let before = spent();
  const timer = setInterval(() => {
    const now = spent();
    goes.push((now - before) / 1e6);
    before = now;
  }, 1);
  return () => {
    clearInterval(timer);
    return goes
      .sort((a, b) => b - a)
      .slice(0, GOES_SHOWN)
      .map(Math.round);
  };
}

/** Analyses an account of ten thousand fills twice: from its venue, and then from the store. */
async function analyse(env: Env, address: string): Promise<void> {
  await withParts(env, async ({ parts }) => {
    const { services } = parts.of(traders);
    for (const from of ['its venue', 'the store']) {
      const longest = longestGoes();
      const [began, cpu] = [performance.now(), process.cpuUsage()];
      const signal = AbortSignal.timeout(ANALYSIS_MAX_MS);
      const outcome = await services.traders.analyse(address, signal);
      const seconds = (performance.now() - began) / 1_000;
      const { user, system } = process.cpuUsage(cpu);
      const goes = longest();
      if (outcome.end !== 'analysed') throw new Error(`not analysed: ${JSON.stringify(outcome)}`);
      const { coverage, null_model } = outcome.analysis;
      say(
        `One analysis from ${from}: ${coverage.fills} fills, ${null_model.tests} tests, ` +
          `${PERMUTATIONS} permutations: ${seconds.toFixed(2)} s, ` +
          `${((user + system) / 1e6).toFixed(2)} s of processor (3), ` +
          `the serving thread at work at one go for ${goes.join(', ')} ms`,
      );
    }
  });
}

function loadPath(port: number, path: string, durationMs = ROUND_MS): Promise<LoadResult> {
  const requests = [`GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`];
  return load({ port, connections: CONNECTIONS, requests, durationMs });
}

function sayRow(name: string, { answers, seconds, p50_ms, p99_ms }: LoadResult): void {
  const cells = [(answers / seconds).toFixed(0), p50_ms.toFixed(2), p99_ms.toFixed(2)];
  say(`  ${name.padEnd(44)}${cells.map((cell) => cell.padStart(10)).join('')}`);
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'exhibit-bench-'));
  const trader = WORLD_TRADERS.find(({ kind }) => kind === 'past_horizon');
  if (trader === undefined) throw new Error('the world has no such trader');
  // The venue is a process of its own: what it computes holds up no answer.
  const venue = child('venue-server');
  try {
    // Without a list, so that no round of signals takes turns beside what is measured.
    const env = {
      EXHIBIT_DATA_DIR: join(directory, 'data'),
      EXHIBIT_PORT: '0',
      EXHIBIT_SIMULATE: 'false',
      EXHIBIT_HYPERLIQUID_URL: String(await askChild(venue, 'start')),
    };
    await analyse(env, trader.address);
    if (process.argv.includes('--analysis')) return;
    await furnishBoard(env);
    say(`${''.padEnd(46)} answers/s    p50 ms    p99 ms (50)`);
    const { process_, port } = await startService(env, true);
    const temporal = `/api/traders/${trader.address}/temporal`;
    const paths = {
      trader: temporal,
      'trader, one table': `${temporal}?mode=exposure&partition=session`,
      providers: '/api/leaderboard/providers',
    };
    for (const [name, path] of Object.entries(paths)) {
      const same = await sameBytes(`http://127.0.0.1:${port}${path}`, {});
      await loadPath(port, path, WARM_MS);
      sayRow(`${name}, ${(same.body.length / 1_024).toFixed(0)} KiB`, await loadPath(port, path));
      const bare = child('bare-server');
      const bareAt = Number(await askChild(bare, same));
      await loadPath(bareAt, path, WARM_MS);
      sayRow('node:http, the same bytes', await loadPath(bareAt, path));
      await endChild(bare, 'SIGKILL');
    }
    await endChild(process_, 'SIGTERM');
  } finally {
    await endChild(venue, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
