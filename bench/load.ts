// npm run load [-- --rate N] [--seconds N] [--streams N] [--factor 3] [--soak] [--find]
// [--without-import] [--out FILE]: starts the simulated world, asks it a mix of everything from a
// second process at a rate that does not wait for answers, beside streams and an import, and
// prints by route what was answered. `--factor` asks so many times the rate, `--soak` for half an
// hour; `--find` looks for the highest rate that is held. Exits with 1 where a judge says no.

import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { child, endChild, treeCpuMs } from './children.ts';
import { metricsAt, type Slope, sampleIn, slopeOf, valuesOf, watchGauges } from './load-gauges.ts';
import { CHARGED_SHARE, listedNow } from './load-mix.ts';
import { startLoaded } from './load-service.ts';
import type { RouteRow, RunResult, SettleResult, TrafficOrder } from './load-traffic.ts';

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '20' },
    streams: { type: 'string', default: '1000' },
    factor: { type: 'string', default: '1' },
    soak: { type: 'boolean', default: false },
    find: { type: 'boolean', default: false },
    'p99-ms': { type: 'string', default: '1000' },
    'without-import': { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const SOAK_S = 1_800;
const SECONDS = values.soak ? SOAK_S : Number(values.seconds);
const RATE = Number(values.rate) * Number(values.factor);
const P99_MS = Number(values['p99-ms']);
const KEYS_MIN = 8;
const KEY_REQUESTS_MAX = 80_000;
const WARM = { rate: 20, seconds: 10 } as const;
const REST_MS_MAX = 30_000;
const FOUND_WITHIN = 1.1;
const FIND_FROM = 25;
/** A run shorter than this says nothing of growth. */
const JUDGED_FROM_S = 300;
const GROWTH_MIB_PER_MIN = 0.5;
const GIB = 1024 ** 3;

if (values.out !== undefined) writeFileSync(values.out, '');
function say(line: string): void {
  process.stdout.write(`${line}\n`);
  if (values.out !== undefined) appendFileSync(values.out, `${line}\n`);
}

/** An aligned table; all columns but the first are numbers, the last is text. */
function table(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  for (const row of rows) {
    const cells = row.map((cell, at) => {
      if (at === row.length - 1) return cell;
      return at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0);
    });
    say(`  ${cells.join('  ')}`.trimEnd());
  }
}

const ms = (value: number) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
const outcomesOf = ({ outcomes }: RouteRow) =>
  Object.entries(outcomes)
    .map(([outcome, count]) => `${count} × ${outcome}`)
    .join(', ');

function sayRun(result: RunResult): void {
  const row = (one: RouteRow) => [
    one.name,
    String(one.sent),
    ...[one.p50, one.p95, one.p99, one.max].map(ms),
    outcomesOf(one),
  ];
  const head = ['route', 'requests', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', 'answers'];
  table([head, ...[...result.rows, result.all, result.answered].map(row)]);
  if (result.refused.length === 0) return;
  say('');
  table([
    ['refused', 'status', 'count', 'reason'],
    ...result.refused.map(({ route, status, count, reason }) => [
      route,
      String(status),
      String(count),
      reason,
    ]),
  ]);
}

type Looks = Awaited<ReturnType<ReturnType<typeof watchGauges>['end']>>;

function sayGauges(looks: Looks): void {
  const of = (name: keyof Looks[number]) => {
    const all = valuesOf(looks, name);
    const at = (n: number) => (all[n] ?? Number.NaN).toFixed(1);
    const highest = Math.max(...all).toFixed(1);
    return [at(0), at(Math.floor(all.length / 2)), at(all.length - 1), highest];
  };
  const slope = (name: keyof Looks[number]) => slopeText(slopeOf(looks, name));
  say('');
  table([
    ['', 'begin', 'middle', 'end', 'highest', 'growth in a minute, 95%'],
    ['resident, MiB', ...of('rss_mib'), slope('rss_mib')],
    ['all processes, MiB', ...of('tree_mib'), slope('tree_mib')],
    ['heap in use, MiB', ...of('heap_mib'), slope('heap_mib')],
    ['event loop late, p99 ms', ...of('loop_p99_ms'), ''],
    ['requests under way', ...of('under_way'), ''],
    ['streams open', ...of('streams'), ''],
  ]);
}

function slopeText(slope: Slope | null): string {
  if (slope === null) return 'too short';
  const { middle, lower, upper } = slope;
  return `${middle.toFixed(2)} (${lower.toFixed(2)} to ${upper.toFixed(2)})`;
}

/** What the judges found wrong with a run. */
function wrongIn(result: RunResult, looks: Looks): string[] {
  const faults = result.rows.flatMap(({ name, outcomes }) =>
    Object.entries(outcomes)
      .filter(([outcome]) => !/^[234]\d\d|^503/.test(outcome))
      .map(([outcome, count]) => `${name}: ${count} × ${outcome}`),
  );
  const isJudged = result.seconds >= JUDGED_FROM_S;
  const grown = (isJudged ? (['rss_mib', 'heap_mib'] as const) : []).flatMap((name) => {
    const slope = slopeOf(looks, name);
    return slope !== null && slope.lower > GROWTH_MIB_PER_MIN
      ? [`${name} grows: ${slopeText(slope)} in a minute`]
      : [];
  });
  return [
    ...faults,
    ...result.undeclared.map((one) => `undeclared: ${one}`),
    ...result.denied.map((one) => `denied: ${one}`),
    ...grown,
  ];
}

/** Whether a rate was held: nothing refused, nothing broken, and soon. */
function isHeld({ all, refused }: RunResult): boolean {
  const answered = Object.keys(all.outcomes).every((outcome) => /^[23]\d\d/.test(outcome));
  return answered && refused.length === 0 && all.p99 <= P99_MS;
}

const home = mkdtempSync(join(tmpdir(), 'exhibit-load-'));
const charged = 2 * RATE * SECONDS * CHARGED_SHARE;
const keyCount = Math.max(KEYS_MIN, values.find ? 16 : Math.ceil(charged / KEY_REQUESTS_MAX));
const cores = `${availableParallelism()} cores, ${(totalmem() / GIB).toFixed(0)} GiB`;
say(`${cores}, Node.js ${process.version}, load of the machine ${loadavg()[0]?.toFixed(1)}`);
const wrong: string[] = [];
const traffic = child('load-traffic');
let service: Awaited<ReturnType<typeof startLoaded>> | null = null;
try {
  const running = await startLoaded(home, keyCount);
  service = running;
  const callers = { ...running.callers, listed: listedNow() };
  const order = async (what: TrafficOrder): Promise<unknown> => {
    const gone = once(traffic, 'exit').then(() => {
      throw new Error('the process that asks has ended');
    });
    const answer = once(traffic, 'message').then(([said]) => said as unknown);
    traffic.send(what);
    return Promise.race([answer, gone]);
  };
  const run = async (rate: number, seconds: number) =>
    (await order({ kind: 'run', rate, seconds })) as RunResult;
  /** Waits until nothing of a run is under way any more. */
  const rest = async () => {
    const until = performance.now() + REST_MS_MAX;
    for (;;) {
      const text = await metricsAt(running.opsPort);
      const left = text === null ? null : sampleIn(text, 'exhibit_requests_under_way');
      // The request that looks is one itself.
      if (left !== null && left <= 1) return;
      if (performance.now() > until) {
        wrong.push(`${left} requests are under way after a rest`);
        return;
      }
      await sleep(500);
    }
  };
  if (!running.callers.ranked) say('the board of flags had no round yet, and is not asked');
  await order({ kind: 'open', base: running.base, callers, streams: Number(values.streams) });
  await run(Math.min(WARM.rate, RATE), WARM.seconds);
  await rest();
  const imports = values['without-import'] ? null : running.startImports();
  if (values.find) {
    let [low, high] = [0, Number.POSITIVE_INFINITY];
    for (let rate = FIND_FROM; high / Math.max(low, 1) > FOUND_WITHIN; ) {
      const result = await run(rate, SECONDS);
      const { all } = result;
      const held = isHeld(result);
      const told = `p50 ${ms(all.p50)}, p99 ${ms(all.p99)} ms, ${outcomesOf(all)}`;
      say(`${rate} a second ${held ? 'held' : 'not held'}: ${told}`);
      wrong.push(...wrongIn(result, []));
      if (held) low = rate;
      else high = rate;
      if (high <= 1) break;
      rate = Math.round(Number.isFinite(high) ? (low + high) / 2 : low * 2);
      await rest();
    }
    say(`held: ${low} requests a second (p99 of all within ${P99_MS} ms, nothing refused)`);
  } else {
    const gauges = watchGauges(running.pid, running.opsPort);
    const before = [treeCpuMs(running.pid), treeCpuMs(Number(traffic.pid))] as const;
    const result = await run(RATE, SECONDS);
    const ofService = (treeCpuMs(running.pid) - before[0]) / result.all.sent;
    const ofTraffic = (treeCpuMs(Number(traffic.pid)) - before[1]) / result.all.sent;
    const looks = await gauges.end();
    say(`${RATE} requests a second for ${SECONDS} s, answered in ${result.seconds.toFixed(1)} s`);
    sayRun(result);
    sayGauges(looks);
    const cpu = `${ofService.toFixed(2)} ms of the service, ${ofTraffic.toFixed(2)} ms of who asks`;
    say(`  processor time for each request, with streams and jobs: ${cpu}`);
    say(`  the process that asks was itself late by ${ms(result.late_ms)} ms, p99`);
    wrong.push(...wrongIn(result, looks));
    await rest();
  }
  if (imports !== null) {
    const { rows, ended, faults } = await imports.end();
    say(`imports: ${ended} ended beside it, ${rows} rows, ${faults.length} failed`);
    wrong.push(...faults.map((fault) => `import: ${fault}`));
  }
  const settled = (await order({ kind: 'settle' })) as SettleResult;
  say(
    `read back: ${settled.watches} watches and ${settled.records} records, ` +
      `${settled.denied.length} denied`,
  );
  say(
    `streams ${settled.streams}, ${settled.events} events, came back ${settled.moves} times, ` +
      `lost or doubled in ${settled.lost.length}`,
  );
  wrong.push(...settled.denied, ...settled.stream_refusals);
  wrong.push(...settled.lost.map((one) => `stream of ${one}`));
} finally {
  await endChild(traffic, 'SIGKILL');
  await service?.end();
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
for (const one of wrong.slice(0, 40)) say(`WRONG: ${one}`);
say(wrong.length === 0 ? 'every judge says yes' : `${wrong.length} things are wrong`);
process.exitCode = wrong.length === 0 ? 0 : 1;
