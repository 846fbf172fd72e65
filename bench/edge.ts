// The edge: how often noise looks like an edge, over all records, and what a question costs over
// a year of hours, 30 assets and 100,000 calls, beside the same sums in plain typed arrays. It
// exits 1 where noise looks like an edge more often than the product says.
// Arguments: --records N (1,000), --calls N (100,000), --questions N (200).

import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { wilsonInterval } from '../src/evidence/statistics.ts';
import { BPS } from '../src/features/edge/backtest.ts';
import { startThreads, WORK_APART } from '../src/features/edge/feature.ts';
import type { Filter } from '../src/features/edge/filters.ts';
import { prepareAnswer, runBacktest } from '../src/features/edge/question.ts';
import type { EdgeRecord } from '../src/features/edge/record.ts';
import { measureNoise } from '../src/testing/edge-noise.ts';
import { noiseRecord } from '../src/testing/edge-records.ts';
import { latenciesOf } from './latencies.ts';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000' },
    calls: { type: 'string', default: '100000' },
    questions: { type: 'string', default: '200' },
  },
});
const [records, calls, questions] = [values.records, values.calls, values.questions].map(Number);

const HOURS = 24 * 365;
const ASSETS = 30;
/** A burst of the noise has three calls in the mean. */
const BURST = 3;
const MIB = 2 ** 20;
const FIRST = 6;
/** The threads of a process compile their code within this. */
const COMPILED_MS = 5_000;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function share(count: number, of: number): string {
  const ends = wilsonInterval(count, of);
  const percent = (part: number) => `${(100 * part).toFixed(1)}%`;
  return ends === null
    ? 'none'
    : `${percent(count / of)} (${percent(ends.low)}–${percent(ends.high)})`;
}

/** The same sums without any of the product: one pass over calls and hours. */
function plainSums({ columns, prices, fromHour }: EdgeRecord, from: number): number {
  const sum = new Float64Array(HOURS);
  const held = new Uint32Array(HOURS);
  let [hits, mean] = [0, 0];
  for (let at = 0; at < columns.kind.length; at += 1) {
    if (columns.state[at] !== 1 || Number(columns.emitted[at]) <= from) continue;
    const net = Number(columns.gross[at]) - Number(columns.funding[at]) - 1 / BPS;
    hits += net > 0 ? 1 : 0;
    mean += net;
    const moves = prices[Number(columns.instrument[at])]?.moves;
    const side = Number(columns.direction[at]);
    for (let hour = Number(columns.entryHour[at]); hour < Number(columns.exitHour[at]); hour += 1) {
      const place = hour - fromHour;
      sum[place] = Number(sum[place]) + side * Number(moves?.[place]);
      held[place] = Number(held[place]) + 1;
    }
  }
  let value = 1;
  for (let hour = 0; hour < HOURS; hour += 1) {
    if (Number(held[hour]) > 0) value *= 1 + Number(sum[hour]) / Number(held[hour]);
  }
  return value + hits + mean;
}

/** Times answers, and how long each held the thread in which everybody is answered. */
async function timed(name: string, count: number, run: (n: number) => unknown): Promise<void> {
  const [taken, held]: [number[], number[]] = [[], []];
  const began = performance.now();
  for (let n = 0; n < count; n += 1) {
    const [from, loop] = [performance.now(), performance.eventLoopUtilization()];
    await run(n);
    taken.push(performance.now() - from);
    held.push(performance.eventLoopUtilization(loop).active);
    // The next one begins in a turn of its own.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { p50, p99 } = latenciesOf(taken, performance.now() - began);
  const own = latenciesOf(held, performance.now() - began);
  say(
    `${name}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms over ${count}; of that in the ` +
      `thread that answers p50 ${own.p50.toFixed(1)} ms, p99 ${own.p99.toFixed(1)} ms`,
  );
}

const before = process.memoryUsage();
const began = performance.now();
const bursts = Math.round(Number(calls) / ASSETS / BURST);
const record = noiseRecord(29, { assets: ASSETS, hours: HOURS, bursts });
const after = process.memoryUsage();
say(
  `${record.calls.length} calls, ${ASSETS} assets, ${HOURS} hours: made in ` +
    `${Math.round(performance.now() - began)} ms; heap ` +
    `${Math.round((after.heapUsed - before.heapUsed) / MIB)} MiB, arrays ` +
    `${Math.round((after.arrayBuffers - before.arrayBuffers) / MIB)} MiB`,
);
const filterOf = (n: number): Filter => ({
  kinds: null,
  asset: n % 4 === 3 ? `A${n % ASSETS}` : null,
  direction: n % 3 === 2 ? 'long' : null,
  horizon_h: null,
  days: 365,
  // Each is a question that nobody asked before.
  cost_bps: 1 + n / 1_000,
  min_conviction: null,
});
async function askCold(n: number) {
  await prepareAnswer(record, filterOf(n), WORK_APART, { signal: new AbortController().signal });
  return runBacktest(record, filterOf(n));
}
const threads = startThreads();
await timed('cold, while the threads begin', FIRST, (n) => askCold(Number(questions) + n));
// As in a service that runs for a while when the first question comes.
await pause(COMPILED_MS);
await timed('cold, the first after that', FIRST, (n) => askCold(Number(questions) + FIRST + n));
await timed('cold, a question that was never asked', Number(questions), askCold);
await timed('warm, a question that was asked before', Number(questions), () =>
  runBacktest(record, filterOf(Number(questions) - 1)),
);
await timed('plain typed arrays', Number(questions), () => plainSums(record, 0));
const grown = process.memoryUsage();
await threads.stop();
say(
  `after the questions: heap ${Math.round(grown.heapUsed / MIB)} MiB, arrays ` +
    `${Math.round(grown.arrayBuffers / MIB)} MiB, resident ${Math.round(grown.rss / MIB)} MiB`,
);

const noise = measureNoise(Number(records));
say(`${records} records of noise:`);
say(`  random entries with p under 5%: ${share(noise.lowP, Number(records))}`);
say(`  intervals of the hit rate that hold a half: ${share(noise.holdsHalf, Number(records))}`);
say(`  the same, each call alone: ${share(noise.holdsHalfAlone, Number(records))}`);
say(`  the best listed filter over zero, alone: ${share(noise.bestLooksGood, Number(records))}`);
say(`  the same, deflated: ${share(noise.bestDeflated, Number(records))}`);
const low = wilsonInterval(noise.lowP, Number(records));
const isHonest =
  low !== null &&
  low.high <= 0.07 &&
  noise.holdsHalf / Number(records) >= 0.93 &&
  noise.holdsHalfAlone / Number(records) < 0.93 &&
  noise.bestDeflated / Number(records) <= 0.05;
if (!isHonest) process.exitCode = 1;
