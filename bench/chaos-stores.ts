// Breaks the stores under processes of the program while they are asked and written to: what an
// answer denies, how it fails, when it says the same again, and what was lost of the acknowledged.

import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { z } from 'zod';
import { flagStreamRoute } from '../src/features/flag-stream/flag-stream.route.ts';
import { askOnce, bearer, startReader, startTraffic } from '../src/fleet-load.suite.ts';
import { openPostgres } from '../src/stores/control/engine/postgres.ts';
import { type Answers, falseIn } from '../src/testing/chaos-judge.ts';
import { append, flagOf } from '../src/testing/flag-events.ts';
import {
  type Fleet,
  makeFleet,
  settingsOfFleet,
  startOutsideOfFleet,
} from '../src/testing/fleet.ts';
import { lotteryOf } from '../src/testing/lottery.ts';
import { cuttable, restartablePostgres } from '../src/testing/postgres.ts';
import { rowsAs } from '../src/testing/rows-as.ts';
import { startWarehouseFront, type WarehouseFront } from '../src/testing/warehouse-front.ts';
import { SANDBOX_PARTY } from '../src/world/listed-parties.ts';
import type { Request } from './answers-recorder.ts';
import {
  type Asking,
  askAll,
  askEach,
  changedAmong,
  type Question,
  recover,
} from './chaos-asking.ts';
import { askUntilTold, fleetTraffic } from './fleet-traffic.ts';

const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
const TOKEN = 'a-token-of-a-desk';
const SAMPLED: readonly string[] = ['plain', 'listed-evm', 'unlisted', 'listed-solana'];
/** A fault lasts at least so long, however soon everything was asked. */
const FAULT_MS_MIN = 6_000;
const EVERY_MS = 250;
const READERS = 2;
const TOGETHER = 16;
const SETTLED_MS_MAX = 60_000;
/** Of the disk of a store; what a fault of it fills. */
const DISK_MIB = 600;
/** How long the line to a slow store carries nothing, and how long it then carries all. */
const SLOW_MS = { still: 900, moves: 100 };
const CUT_EACH_MS = 400;

/** A fault of a store: how it begins and ends. `again`: what goes on while it lasts. */
type StoreFault = {
  readonly name: string;
  readonly begin: () => Promise<void> | void;
  readonly end: () => Promise<void> | void;
  /** It lasts at least so long. */
  readonly msMin?: number;
};

type Row = {
  readonly cells: number;
  readonly changed: number;
  readonly lies: readonly string[];
  readonly recovered: string;
  /** What was acknowledged so far and read back after the fault. */
  readonly readBack: string;
};

type Options = { readonly only: string; readonly say: (line: string) => void };

/** File systems that are mounted; they go with this process, however it ends. */
const mounted = new Set<string>();

/** A file system of its own, which can be filled and made unwritable. */
function mountDisk(folder: string) {
  mkdirSync(folder, { recursive: true });
  mounted.add(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=755`, 'tmpfs', folder]);
  const filler = join(folder, 'filler');
  const remount = (how: string) => execFileSync('mount', ['-o', `remount,${how}`, folder]);
  return {
    fill: () => {
      const { bavail, bsize } = statfsSync(folder);
      // The last pages go one by one: what is written meanwhile has taken some.
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - 65_536)));
      try {
        for (;;) writeFileSync(filler, Buffer.alloc(4_096), { flag: 'a' });
      } catch {
        return;
      }
    },
    free: () => rmSync(filler, { force: true }),
    lock: () => remount('ro'),
    unlock: () => remount('rw'),
    close: () => {
      mounted.delete(folder);
      execFileSync('umount', ['-l', folder]);
    },
  };
}

/** Makes a disk unwritable as soon as the process that wrote to it has let go of its files. */
async function lockOnceClosed(disk: ReturnType<typeof mountDisk>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      disk.lock();
      return;
    } catch (busy) {
      if (tries === LOCK_TRIES_MAX) throw busy;
      await wait(EVERY_MS);
    }
  }
}
const LOCK_TRIES_MAX = 40;

/** Does something again and again until it is stopped. */
function repeat(work: () => Promise<void>) {
  let isOver = false;
  const done = (async () => {
    while (!isOver) await work();
  })();
  return async () => {
    isOver = true;
    await done;
  };
}

/** A fault that goes on: it is made anew until it ends. */
function lasting(name: string, work: () => Promise<void>): StoreFault {
  let stop: (() => Promise<void>) | null = null;
  return {
    name,
    begin: () => {
      stop = repeat(work);
    },
    end: async () => void (await stop?.()),
  };
}

function wantedOf(faults: readonly StoreFault[], { only }: Options): readonly StoreFault[] {
  const wanted = new RegExp(only);
  return faults.filter(({ name }) => wanted.test(name));
}

const isAsked = ({ name }: Request): boolean => {
  return !name.includes('@') && SAMPLED.includes(name.slice(name.lastIndexOf('/') + 1));
};

const added = z.looseObject({ membership_id: z.string() });
const minted = z.looseObject({ key: z.string() });

type SharedStores = {
  readonly database: string;
  readonly disks: Readonly<Record<'control' | 'warehouse', ReturnType<typeof mountDisk>>>;
  readonly front: WarehouseFront;
  readonly postgres: Awaited<ReturnType<typeof restartablePostgres>>;
  readonly wire: Awaited<ReturnType<typeof cuttable>>;
};

/** Every process of the program takes the database for readable alone, or no longer. */
async function takeWrites(database: string, isReadOnly: boolean): Promise<void> {
  const client = new Client({ connectionString: database });
  await client.connect();
  // What ends the others must itself be able to write.
  await client.query('set default_transaction_read_only = off');
  const to = isReadOnly ? "set default_transaction_read_only = 'on'" : 'reset all';
  await client.query(`alter database ${new URL(database).pathname.slice(1)} ${to}`);
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'exhibit' and pid <> pg_backend_pid()`,
  );
  await client.end();
}

/** Somebody else holds tables, as a migration does: whoever asks waits; keys are still found. */
function lockedTables(database: string): StoreFault {
  let holder: Client | null = null;
  return {
    name: 'control locked',
    // Longer than a question waits for a table: whoever asks in it learns that it was not read.
    msMin: 25_000,
    begin: async () => {
      holder = new Client({ connectionString: database });
      await holder.connect();
      await holder.query('begin');
      await holder.query(`lock table ${LOCKED} in access exclusive mode`);
    },
    end: async () => void (await holder?.end()),
  };
}
const LOCKED = 'watched_addresses, watch_changes, screening_records';

function sharedFaults({ database, disks, front, postgres, wire }: SharedStores): StoreFault[] {
  const control: StoreFault[] = [
    { name: 'control down', begin: wire.cut, end: wire.restore },
    lasting('control slow', async () => {
      wire.freeze(true);
      await wait(SLOW_MS.still);
      wire.freeze(false);
      await wait(SLOW_MS.moves);
    }),
    lasting('control cut', async () => {
      wire.cut();
      await wire.restore();
      await wait(CUT_EACH_MS);
    }),
    { name: 'control silent', begin: () => wire.freeze(true), end: () => wire.freeze(false) },
    {
      name: 'control read-only',
      begin: () => takeWrites(database, true),
      end: () => takeWrites(database, false),
    },
    lockedTables(database),
    { name: 'control restarted', begin: postgres.restart, end: () => undefined },
    {
      name: 'control disk full',
      begin: disks.control.fill,
      end: async () => {
        disks.control.free();
        // A server that has no room for its own log ends itself; whoever makes room starts it.
        if (postgres.hasEnded()) await postgres.restart();
      },
    },
  ];
  const warehouse: StoreFault[] = [
    {
      name: 'warehouse down',
      begin: () => front.fault({ kind: 'down' }),
      end: () => front.fault(undefined),
    },
    {
      name: 'warehouse slow',
      begin: () => front.fault({ kind: 'slow', ms: 3_000 }),
      end: () => front.fault(undefined),
    },
    {
      name: 'warehouse cut',
      begin: () => front.fault({ kind: 'cut' }),
      end: () => front.fault(undefined),
    },
    { name: 'warehouse disk full', begin: disks.warehouse.fill, end: disks.warehouse.free },
    {
      name: 'warehouse read-only',
      // A file that is open for writing keeps its disk writable: the engine begins anew.
      begin: async () => {
        process.kill(Number(front.pid()), 'SIGKILL');
        await lockOnceClosed(disks.warehouse);
      },
      end: disks.warehouse.unlock,
    },
    {
      name: 'warehouse restarted',
      begin: () => process.kill(Number(front.pid()), 'SIGKILL'),
      end: () => undefined,
    },
  ];
  return [...control, ...warehouse];
}

/** Breaks PostgreSQL and the warehouse under one process that serves and one that works. */
async function breakShared(options: Options): Promise<Row[]> {
  const home = mkdtempSync(join(tmpdir(), 'exhibit-chaos-stores-'));
  // A server that does not run as root has to reach its files.
  chmodSync(home, 0o755);
  const disks = { control: mountDisk(join(home, 'pg')), warehouse: mountDisk(join(home, 'ch')) };
  const postgres = await restartablePostgres(join(home, 'pg'), CAREFUL);
  const database = await postgres.freshDatabase();
  const wire = await cuttable(database);
  const front = await startWarehouseFront(join(home, 'ch', 'warehouse'));
  const outside = await startOutsideOfFleet(home);
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('EXHIBIT_'));
  const env = {
    ...Object.fromEntries(own.map(([name, value]) => [name, String(value)])),
    ...settingsOfFleet({
      database: wire.url,
      warehouse: front.url,
      list: outside.list,
      explorer: outside.explorer,
      token: TOKEN,
    }),
    EXHIBIT_LEASE_MAX: '5s',
  };
  const roles = { serve: 'serve', work: 'work' } as const;
  const fleet = await makeFleet({ roles, main: MAIN, env, home });
  const all = sharedFaults({ database, disks, front, postgres, wire });
  const faults = wantedOf(all, options);
  try {
    if (faults.length === 0) return [];
    await fleet.start('work');
    await fleet.start('serve');
    const direct = openPostgres(database);
    const rows = await breakEach({
      ...options,
      fleet,
      serving: 'serve',
      command: (words) =>
        printed({ ...env, EXHIBIT_DATA_DIR: join(home, 'operator') }, home, words),
      faults,
      // A flag that was not acknowledged may stand or not: what stands is counted at the end.
      appendFlag: async (n) => void (await append(direct, [flagOf(n)])),
      flags: async () => {
        const [row] = await rowsAs<{ n: number }>(
          direct,
          'select coalesce(max(seq), 0)::float8 as n from flag_events',
        );
        return Number(row?.n);
      },
      unexamined: async () => {
        const [row] = await rowsAs<{ n: number }>(
          direct,
          `select count(*)::int4 as n from watched_addresses
             where jsonb_array_length(parts) = 0`,
        );
        return Number(row?.n);
      },
    });
    await direct.close();
    return rows;
  } finally {
    await fleet.close();
    await front.close();
    await outside.close();
    wire.cut();
    await postgres.stop();
    for (const disk of Object.values(disks)) disk.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** A commit that was answered stays, whoever ends; the server keeps little beside its tables. */
const CAREFUL = ['synchronous_commit=on', 'max_wal_size=64MB', 'min_wal_size=32MB'];

/** Breaks the folder of one process that does everything over embedded stores. */
async function breakEmbedded(options: Options): Promise<Row[]> {
  const home = mkdtempSync(join(tmpdir(), 'exhibit-chaos-stores-'));
  const disk = mountDisk(join(home, 'up'));
  const outside = await startOutsideOfFleet(home);
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('EXHIBIT_'));
  const shared = settingsOfFleet({
    database: '',
    warehouse: '',
    list: outside.list,
    explorer: outside.explorer,
    token: TOKEN,
  });
  const {
    EXHIBIT_DATABASE_URL: _database,
    EXHIBIT_WAREHOUSE_URL: _warehouse,
    ...settings
  } = shared;
  const env = {
    ...Object.fromEntries(own.map(([name, value]) => [name, String(value)])),
    ...settings,
  };
  const fleet = await makeFleet({ roles: { up: 'up' }, main: MAIN, env, home });
  const all: StoreFault[] = [
    { name: 'folder disk full', begin: disk.fill, end: disk.free },
    {
      name: 'folder, its process killed',
      begin: () => fleet.kill('up'),
      end: () => fleet.start('up'),
    },
    {
      name: 'folder read-only',
      begin: async () => {
        await fleet.kill('up');
        await lockOnceClosed(disk);
        // It cannot start there, and says so.
        const refusal = await fleet.start('up').then(
          () => 'it started over a folder that it cannot write',
          () => null,
        );
        if (refusal !== null) options.say(`  ${refusal}`);
      },
      end: async () => {
        disk.unlock();
        await fleet.start('up');
      },
    },
  ];
  const faults = wantedOf(all, options);
  try {
    if (faults.length === 0) return [];
    await fleet.start('up');
    return await breakEach({
      ...options,
      fleet,
      serving: 'up',
      command: (words) => printed({ ...env, EXHIBIT_DATA_DIR: join(home, 'up') }, home, words),
      faults,
      appendFlag: null,
      flags: async () => 0,
      unexamined: async () => 0,
    });
  } finally {
    await fleet.close();
    await outside.close();
    disk.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function printed(env: { [name: string]: string }, cwd: string, words: readonly string[]) {
  const given = [MAIN, ...words, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, given, { cwd, env });
  return JSON.parse(stdout) as unknown;
}

type Broken = Options & {
  readonly fleet: Fleet;
  readonly serving: string;
  readonly command: (words: readonly string[]) => Promise<unknown>;
  readonly faults: readonly StoreFault[];
  /** `null`: nobody but the process may write. */
  readonly appendFlag: ((n: number) => Promise<void>) | null;
  readonly flags: () => Promise<number>;
  /** How many watched addresses no job has examined yet. */
  readonly unexamined: () => Promise<number>;
};

async function breakEach(broken: Broken): Promise<Row[]> {
  const { fleet, serving, command, say } = broken;
  const url = String(fleet.urls.get(serving));
  const port = Number(new URL(url).port);
  const { membership_id } = added.parse(await command(['members', 'add', '--plan', 'enterprise']));
  const { key } = minted.parse(await command(['keys', 'create', '--membership', membership_id]));
  const listed = SANDBOX_PARTY.addresses
    .map(({ address }) => address)
    .filter((address) => address.startsWith('0x'));
  const urls = () => [url];
  const { traffic, denied, watched, records, readBack } = fleetTraffic({
    keys: [key],
    listed,
    everyMs: EVERY_MS,
    mayBeSilent: true,
  });
  const asking = { port, credentials: { key, token: TOKEN, partner: 'none' }, isAsked };
  const { questions, whole } = await askUntilSettled(asking);
  const running = startTraffic(traffic, { urls, lottery: lotteryOf(42) });
  const readers = Array.from({ length: READERS }, (_, n) => {
    const how = { urls, lottery: lotteryOf(100 + n), bySocket: n % 2 === 0 };
    return startReader({ ...how, stream: flagStreamRoute, token: TOKEN });
  });
  const { appendFlag } = broken;
  let n = 0;
  const stopAppending = repeat(async () => {
    n += 1;
    await appendFlag?.(n).catch(() => undefined);
    await wait(EVERY_MS * 4);
  });
  // What was never acknowledged cannot be denied: the first fault waits for something of each kind.
  while (watched.size === 0 || records.length === 0) await wait(EVERY_MS);
  const rows: Row[] = [];
  /** Every key that was acknowledged. */
  const keys = [key];
  for (const fault of broken.faults) {
    const makeKey = async () => {
      const made = ['keys', 'create', '--membership', membership_id];
      const { key: fresh } = minted.parse(await command(made));
      keys.push(fresh);
    };
    const once = await breakOnce(fault, { port, questions, whole, broken, makeKey });
    const { counts, lost } = await readBack(url);
    const shut = await keysShut(url, keys);
    const lies = [...once.lies, ...[...lost, ...shut].map((one) => `lost: ${one}`)];
    const row = { ...once, lies, readBack: `${counts}, ${keys.length} keys` };
    rows.push(row);
    const { cells, changed, recovered } = row;
    say(`| ${[fault.name, cells, changed, lies.length, recovered, row.readBack].join(' | ')} |`);
    for (const lie of row.lies) say(`  ${lie}`);
  }
  await stopAppending();
  await running.end();
  const lost = await lostAtTheEnd(broken, readers);
  for (const [name, counts] of running.ledger) {
    say(`  ${name}: ${[...counts].map(([outcome, times]) => `${times} × ${outcome}`).join(', ')}`);
  }
  const lies = [...lost, ...denied.map((one) => `acknowledged and denied: ${one}`)];
  for (const lie of lies) say(`  ${lie}`);
  for (const reader of readers) await reader.end();
  return [...rows, { cells: 0, changed: 0, lies, recovered: '', readBack: '' }];
}

/** The keys that open nothing. */
async function keysShut(url: string, keys: readonly string[]): Promise<string[]> {
  const shut: string[] = [];
  for (const [n, key] of keys.entries()) {
    const { status } = await askUntilTold(`${url}/api/v1/usage`, { headers: bearer(key) });
    if (status !== 200) shut.push(`key ${n}: ${status}`);
  }
  return shut;
}

/** Asks until the same is said twice: a question may have something looked up. */
async function askUntilSettled(asking: Asking) {
  let { questions, said: whole } = await askAll(asking, true);
  for (let times = 0; times < SETTLING_MAX; times += 1) {
    await wait(SETTLING_EACH_MS);
    const said = await askEach(asking.port, questions, true);
    const isSame = changedAmong(questions, whole, said).length === 0;
    whole = said;
    if (isSame) return { questions, whole };
  }
  throw new Error('the service does not settle');
}
const SETTLING_MAX = 20;
const SETTLING_EACH_MS = 5_000;

type Once = {
  readonly port: number;
  readonly questions: readonly Question[];
  readonly whole: Answers;
  readonly broken: Broken;
  /** Has an operator make a key. */
  readonly makeKey: () => Promise<void>;
};

async function breakOnce(
  fault: StoreFault,
  { port, questions, whole, broken, makeKey }: Once,
): Promise<Omit<Row, 'readBack'>> {
  const began = performance.now();
  await fault.begin();
  // A refusal acknowledges nothing; a command may wait for its store until the fault is over.
  const making = makeKey().catch(() => undefined);
  const said = await askEach(port, questions, false, TOGETHER);
  const { msMin = FAULT_MS_MIN } = fault;
  await wait(Math.max(0, msMin - (performance.now() - began)));
  await fault.end();
  const lies = [...said].flatMap(([name, one]) => falseIn(name, whole.get(name), one));
  const changed = changedAmong(questions, whole, said);
  const ended = performance.now();
  const { recoveredMs, unlike } = await recover(port, questions, whole, lies);
  const jobs = await untilExamined(broken, ended);
  await making;
  const seconds = recoveredMs === null ? 'no' : `${Math.ceil(recoveredMs / 1_000)} s`;
  const late = [unlike, jobs].filter((one) => one !== null);
  const lines = late.map((one) => `not again: ${one}`);
  return {
    cells: said.size,
    changed: changed.length,
    lies: [...lies, ...lines],
    recovered: seconds,
  };
}

/** Why the job of watched addresses did not go on within the minute, or `null`. */
async function untilExamined({ unexamined }: Broken, since: number): Promise<string | null> {
  for (;;) {
    const waiting = await unexamined().catch(() => Number.POSITIVE_INFINITY);
    // Addresses come all the time: a few wait for their turn.
    if (waiting <= WAITING_MAX) return null;
    if (performance.now() - since > SETTLED_MS_MAX) return `${waiting} watched addresses wait`;
    await wait(EVERY_MS);
  }
}
const WAITING_MAX = 5;

/** What streams lost or told twice, and whether the service says that it is ready. */
async function lostAtTheEnd(
  { flags, fleet, serving }: Broken,
  readers: readonly ReturnType<typeof startReader>[],
): Promise<string[]> {
  const count = await flags();
  const until = performance.now() + SETTLED_MS_MAX;
  while (readers.some(({ seqs }) => seqs.length < count) && performance.now() < until) {
    await wait(EVERY_MS);
  }
  const lost = readers.flatMap(({ seqs, gaps, refusals }, at) => {
    const isWhole = seqs.length === count && seqs.every((seq, n) => seq === n + 1);
    const said = `stream ${at}: ${seqs.length} of ${count}, ${gaps()} gaps, ${refusals.join('; ')}`;
    return isWhole && gaps() === 0 && refusals.length === 0 ? [] : [said];
  });
  const ready = await askOnce(`${fleet.urls.get(serving)}/ready`, {});
  const isReady = !('fault' in ready) && ready.status === 200;
  return isReady ? lost : [...lost, `not ready: ${JSON.stringify(ready)}`];
}

/** Runs the faults of the stores and prints their table. */
export async function runStoreFaults(options: Options): Promise<void> {
  const { say } = options;
  process.once('exit', () => {
    for (const folder of mounted) execFileSync('umount', ['-l', folder]);
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
  say('| fault | answers | changed | false | as before after | read back |');
  say('| --- | --: | --: | --: | --: | --- |');
  const rows = [...(await breakShared(options)), ...(await breakEmbedded(options))];
  const cells = rows.reduce((sum, row) => sum + row.cells, 0);
  const lies = rows.reduce((sum, row) => sum + row.lies.length, 0);
  say(`${cells} answers, ${lies} false`);
  process.exit(lies > 0 ? 1 : 0);
}
