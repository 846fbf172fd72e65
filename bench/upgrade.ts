// Use: npm run upgrade -- CHECKOUT. Replaces two processes that serve and two that work, one after
// the other, by those of this build, and back again, under traffic and streams. CHECKOUT is of an
// earlier commit. Prints what was asked and answered; exits with 1 where a request failed that was
// not told to come again, where something that was acknowledged was denied, or a stream lost a
// number.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import { flagStreamRoute } from '../src/features/flag-stream/flag-stream.route.ts';
import { askOnce, startReader, startTraffic } from '../src/fleet-load.suite.ts';
import { postgresBus } from '../src/stores/bus/postgres.ts';
import { openPostgres } from '../src/stores/control/engine/postgres.ts';
import { append, flagOf } from '../src/testing/flag-events.ts';
import { makeFleet, settingsOfFleet, startOutsideOfFleet } from '../src/testing/fleet.ts';
import { lotteryOf } from '../src/testing/lottery.ts';
import { testPostgres } from '../src/testing/postgres.ts';
import { startWarehouseFront } from '../src/testing/warehouse-front.ts';
import { SANDBOX_PARTY } from '../src/world/listed-parties.ts';
import { build } from './answers-service.ts';
import { fleetTraffic } from './fleet-traffic.ts';

const { values, positionals } = parseArgs({
  options: {
    streams: { type: 'string', default: '200' },
    'rest-s': { type: 'string', default: '8' },
    'every-ms': { type: 'string', default: '100' },
  },
  allowPositionals: true,
});
const [checkout] = positionals;
if (checkout === undefined) throw new Error('use: npm run upgrade -- CHECKOUT');
const STREAMS = Number(values.streams);
const REST_MS = Number(values['rest-s']) * 1_000;
const EVERY_MS = Number(values['every-ms']);
const DRAIN_S = 3;
const READY_EACH_MS = 100;
const SETTLED_MS_MAX = 120_000;
const TOKEN = 'a-token-of-a-desk';
const ROLES = {
  'serve 1': 'serve',
  'serve 2': 'serve',
  'work 1': 'work',
  'work 2': 'work',
} as const;
const NAMES = Object.keys(ROLES);
const NEWER = fileURLToPath(new URL('../../main.js', import.meta.url));
const OLDER = join(resolve(checkout), 'dist/main.js');

const say = (line: string) => process.stdout.write(`${line}\n`);

await build(resolve(checkout));
const home = mkdtempSync(join(tmpdir(), 'exhibit-upgrade-'));
const postgres = await testPostgres();
const database = await postgres.freshDatabase();
const front = await startWarehouseFront(join(home, 'warehouse'));
const outside = await startOutsideOfFleet(home);
const own = Object.entries(process.env).filter(([name]) => !name.startsWith('EXHIBIT_'));
const env = {
  ...Object.fromEntries(own.map(([name, value]) => [name, String(value)])),
  ...settingsOfFleet({
    database,
    warehouse: front.url,
    list: outside.list,
    explorer: outside.explorer,
    token: TOKEN,
  }),
  EXHIBIT_DRAIN: `${DRAIN_S}s`,
  EXHIBIT_LEASE_MAX: '5s',
};
const fleet = await makeFleet({ roles: ROLES, main: OLDER, env, home });

/** A command of a build, over the stores of the fleet; what it printed. */
async function command<S extends z.ZodType>(main: string, shape: S, ...words: string[]) {
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...words, '--json'], {
    cwd: home,
    env: { ...env, EXHIBIT_DATA_DIR: join(home, 'operator') },
  });
  return shape.parse(JSON.parse(stdout));
}
const added = z.looseObject({ membership_id: z.string() });
const minted = z.looseObject({ key: z.string() });

/** Who says that it is ready, as a balancer asks. */
const ready = new Set<string>();
let isOver = false;
async function balance(): Promise<void> {
  while (!isOver) {
    for (const url of fleet.urls.values()) {
      const told = await askOnce(`${url}/ready`, { headers: { connection: 'close' } });
      if (!('fault' in told) && told.status === 200) ready.add(url);
      else ready.delete(url);
    }
    await wait(READY_EACH_MS);
  }
}

/** A request that failed: but 429 and 503 that say when to come again. */
const TOLD_AGAIN = ['429', '503'];
const ANSWERED = ['200', '201'];

try {
  await fleet.start('work 1');
  await Promise.all(NAMES.slice(0, 2).map((name) => fleet.start(name)));
  await fleet.start('work 2');
  const { membership_id } = await command(OLDER, added, 'members', 'add', '--plan', 'enterprise');
  const create = ['keys', 'create', '--membership', membership_id];
  const keys = [(await command(OLDER, minted, ...create)).key];
  const listed = SANDBOX_PARTY.addresses
    .map(({ address }) => address)
    .filter((address) => address.startsWith('0x'));
  const urls = () => [...ready];
  const balancing = balance();
  while (ready.size < 2) await wait(READY_EACH_MS);
  const { traffic, denied } = fleetTraffic({
    keys,
    listed,
    everyMs: EVERY_MS,
    mayBeSilent: false,
  });
  const running = startTraffic(traffic, { urls, lottery: lotteryOf(42) });
  const readers = Array.from({ length: STREAMS }, (_, n) => {
    const how = { urls, lottery: lotteryOf(100 + n), bySocket: n % 2 === 0 };
    return startReader({ ...how, stream: flagStreamRoute, token: TOKEN });
  });
  const control = openPostgres(database);
  const bus = postgresBus({ database: control, url: database, onFault: () => undefined });
  let flags = 0;
  const appending = (async () => {
    for (; !isOver; flags += 1) {
      await append(control, [flagOf(flags + 1)]);
      bus.callAll();
      await wait(EVERY_MS * 5);
    }
  })();
  const began = Date.now();
  const at = () => `${((Date.now() - began) / 1_000).toFixed(0).padStart(4)} s`;
  say(`${at()}  ${NAMES.length} processes of the older build, ${STREAMS} streams`);
  await wait(REST_MS);
  for (const [of, main] of [
    ['newer', NEWER],
    ['older', OLDER],
  ] as const) {
    for (const name of NAMES) {
      const status = await fleet.stop(name);
      await fleet.start(name, main);
      say(`${at()}  ${name} ended with ${status}, the ${of} build runs in its place`);
      await wait(REST_MS);
    }
    // A key that one build made opens the other.
    keys.push((await command(main, minted, ...create)).key);
    await wait(REST_MS);
  }
  await running.end();
  isOver = true;
  await Promise.all([appending, balancing]);
  const until = Date.now() + SETTLED_MS_MAX;
  while (readers.some(({ seqs }) => seqs.at(-1) !== flags) && Date.now() < until) await wait(100);

  let failed = 0;
  let asked = 0;
  say('');
  for (const [name, counts] of running.ledger) {
    for (const [outcome, n] of counts) {
      asked += n;
      if (!ANSWERED.includes(outcome) && !TOLD_AGAIN.includes(outcome)) failed += n;
    }
    const told = [...counts].map(([outcome, n]) => `${n} × ${outcome}`).join(', ');
    say(`  ${name.padEnd(40)} ${told}`);
  }
  const isWhole = (seqs: readonly number[]) =>
    seqs.length === flags && seqs.every((seq, n) => seq === n + 1);
  const lost = readers.filter(({ seqs, gaps }) => !isWhole(seqs) || gaps() > 0).length;
  const refused = readers.filter(({ refusals }) => refusals.length > 0).length;
  const moves = readers.reduce((sum, reader) => sum + reader.moves(), 0);
  const [load] = loadavg();
  say('');
  say(`requests ${asked}, failed ${failed}`);
  say(`acknowledged and denied ${denied.length}`);
  for (const one of denied.slice(0, 10)) say(`  ${one}`);
  say(`streams ${readers.length}, moved ${moves} times, lost ${lost}, refused ${refused}`);
  say(`flags ${flags}, read ${readers.reduce((sum, { seqs }) => sum + seqs.length, 0)} times`);
  say(`load of the machine ${load?.toFixed(1)}`);
  for (const reader of readers) await reader.end();
  await bus.close();
  await control.close();
  process.exitCode = failed + denied.length + lost + refused === 0 ? 0 : 1;
} finally {
  await fleet.close();
  await front.close();
  await outside.close();
  await postgres.stop();
  rmSync(home, { recursive: true, force: true });
}
// What PostgreSQL and the clients keep open ends with this process.
process.exit();
