// npm run bench -- load-each [--times 40]: what one request of each kind of `npm run load` costs
// the service. Each kind is asked alone, one request after the other; what the service spends at
// rest is taken off.

import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import { lotteryOf } from '../src/testing/lottery.ts';
import { treeCpuMs } from './children.ts';
import { listedNow, type MixKind, mixOf } from './load-mix.ts';
import { startLoaded } from './load-service.ts';

const { values } = parseArgs({ options: { times: { type: 'string', default: '40' } } });
const TIMES = Number(values.times);
/** The first requests of a kind compile what the others run. */
const WARM = 10;
/** The first rounds of the jobs are over. */
const SETTLED_MS = 60_000;
const REST_MS = 20_000;
const ANSWERED_BELOW = 400;

const say = (line: string) => process.stdout.write(`${line}\n`);
const row = (cells: readonly string[]) => say(`| ${cells.join(' | ')} |`);

async function spendOf(pid: number, work: () => Promise<unknown>) {
  const [cpu, clock] = [treeCpuMs(pid), performance.now()];
  await work();
  return { cpuMs: treeCpuMs(pid) - cpu, clockMs: performance.now() - clock };
}

/** Asks for one kind so often; how many were answered with neither a refusal nor a fault. */
async function ask(base: string, kind: MixKind, times: number): Promise<number> {
  let answered = 0;
  for (let n = 0; n < times; n += 1) {
    const { path, onAnswer, ...asked } = kind.make();
    const { statusCode, body } = await request(`${base}${path}`, asked);
    onAnswer?.(statusCode, await body.text());
    if (statusCode < ANSWERED_BELOW) answered += 1;
  }
  return answered;
}

async function measure(home: string): Promise<void> {
  const { base, pid, callers, end } = await startLoaded(home, 2);
  try {
    const { kinds } = mixOf({ ...callers, listed: listedNow() }, lotteryOf(31));
    await sleep(SETTLED_MS);
    const rest = await spendOf(pid, () => sleep(REST_MS));
    const atRest = rest.cpuMs / rest.clockMs;
    say(`at rest the service takes ${atRest.toFixed(2)} of a processor; load ${loadavg()[0]}`);
    row(['kind', '% of the mix', 'ms of processor', 'ms on the clock', 'in the mix', 'answered']);
    row(['---', '--:', '--:', '--:', '--:', '--:']);
    const shares = kinds.reduce((sum, { share }) => sum + share, 0);
    let mean = 0;
    for (const kind of kinds) {
      await ask(base, kind, WARM);
      let answered = 0;
      const spent = await spendOf(pid, async () => {
        answered = await ask(base, kind, TIMES);
      });
      const each = (spent.cpuMs - atRest * spent.clockMs) / TIMES;
      const inMix = (each * kind.share) / shares;
      mean += inMix;
      const percent = ((100 * kind.share) / shares).toFixed(1);
      const clock = (spent.clockMs / TIMES).toFixed(0);
      const of = `${answered} of ${TIMES}`;
      row([kind.name, percent, each.toFixed(1), clock, inMix.toFixed(2), of]);
    }
    say(`a request of the mix takes ${mean.toFixed(1)} ms of processor`);
  } finally {
    await end();
  }
}

const home = mkdtempSync(join(tmpdir(), 'exhibit-load-each-'));
try {
  await measure(home);
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
