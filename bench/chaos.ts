// npm run chaos [-- --only PATTERN] [--kinds|--observed|--stores|--planted] [--jobs N]: a world
// starts in each fault of each source (`--kinds`: of the table of kinds; `--observed`: of those of
// a service that simulates nothing) and is asked what a service without faults was, until, the
// fault lifted, it says the same again. A cell is one answer of docs/reliability.md.

import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { FAULTS_FILE } from '../src/compose/world-faults.ts';
import {
  type Answers,
  type Calls,
  falseIn,
  isCounted,
  isWalked,
  lessThan,
  sourcesOverasked,
} from '../src/testing/chaos-judge.ts';
import { freePort } from '../src/testing/free-port.ts';
import { askingAt, type Request } from './answers-recorder.ts';
import { ADDRESSES } from './answers-requests.ts';
import { NOW_MS } from './answers-service.ts';
import { askAll, changedAmong, RECOVERY_EACH_MS, type Recovery, recover } from './chaos-asking.ts';
import { misnamed, type NamedFault, rounds } from './chaos-faults.ts';
import { type Demo, OBSERVED_ASKED, OBSERVED_SOURCES } from './chaos-observed.ts';
import { copyBuild, PLANTS, type Plant } from './chaos-planted.ts';
import { runStoreFaults } from './chaos-stores.ts';
import type { ChaosOrder, ServiceOrder, World } from './chaos-worker.ts';
import { askChild, endChild, OWN_BUILD } from './children.ts';
import { SINCE_SETTING, TIME_SETTING } from './fixed-process.ts';

/** Nothing is held, so that each question reaches its source, and no machine is out of time. */
const SETTINGS = { EXHIBIT_LIVE_BUDGET_S: '30', EXHIBIT_LIVE_HOLD: '0' };
/** Addresses of each kind of fact; `--all-addresses` takes those of the whole guide. */
const SAMPLED: Readonly<Record<World, readonly string[]>> = {
  simulated: ['listed-evm', 'one-hop', 'bridger', 'entity', 'deployer-died', 'launcher-flagged'],
  observed: OBSERVED_ASKED,
};
/** When the clock of every service stood at `NOW_MS`: it goes on from there. */
const BEGAN_MS = Date.now();
/** A process that has served so often is replaced. */
const SERVICES_MAX = 12;
/** A list that is held is served under any fault: those of its source begin with none. */
const PUBLISHER = 'publisher';
const COUNTED_MS_MAX = 120_000;
/** A process that has just ended may still have written. */
const REMOVED = { recursive: true, force: true, maxRetries: 10, retryDelay: 200 } as const;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '.' },
    kinds: { type: 'boolean', default: false },
    observed: { type: 'boolean', default: false },
    jobs: { type: 'string', default: String(availableParallelism()) },
    'all-addresses': { type: 'boolean', default: false },
    stores: { type: 'boolean', default: false },
    planted: { type: 'boolean', default: false },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);
const row = (cells: readonly (string | number)[]) => say(`| ${cells.join(' | ')} |`);

function isAskedIn(world: World): (request: Request) => boolean {
  return ({ name }) => {
    if (name.includes('@')) return false;
    const who = name.slice(name.lastIndexOf('/') + 1);
    // Of what no source of that world tells, an empty service has nothing to say.
    if (who === 'plain') return world === 'simulated';
    // Its launches have many transfers: what else is told of it takes longer than an answer may.
    const isLong = world === 'observed' && who === 'deployer-died' && !name.includes('/deployer_');
    return values['all-addresses'] ? who in ADDRESSES : SAMPLED[world].includes(who) && !isLong;
  };
}

function portOf({ base_url }: Demo): number {
  return Number(new URL(base_url).port);
}

type Row = {
  readonly answers: Answers;
  readonly calls: Calls;
  readonly lies: readonly string[];
  readonly changed: number;
  /** The questions that were answered otherwise though no fault was set. */
  readonly unsettled: readonly string[];
} & Recovery;

const told = z.object({ said: z.unknown(), fault: z.string().nullable() });

/** A process that serves one fault after the other. */
function workers(build: URL = OWN_BUILD) {
  let child: ChildProcess | null = null;
  let served = 0;
  const order = async (one: ChaosOrder) => {
    child ??= fork(new URL('chaos-worker.js', build), {
      execArgv: [...process.execArgv, '--import', new URL('fixed-process.js', build).href],
      env: {
        ...process.env,
        [TIME_SETTING]: String(NOW_MS),
        [SINCE_SETTING]: String(BEGAN_MS),
        EXHIBIT_TEST_SEED: 'chaos',
      },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const { said, fault } = told.parse(await askChild(child, { order: one }));
    if (fault !== null) throw new Error(fault);
    return said;
  };
  const end = async () => {
    if (child !== null) await endChild(child, 'SIGKILL');
    child = null;
    served = 0;
  };
  return {
    start: async (one: Omit<ServiceOrder, 'port'>) => {
      served += 1;
      // Chosen here: the random numbers of that process are those of every other run.
      return (await order({ ...one, port: await freePort() })) as Demo;
    },
    count: async () => (await order('count')) as Calls,
    stop: async () => {
      await order(null);
      if (served >= SERVICES_MAX) await end();
    },
    end,
  };
}

type Worker = ReturnType<typeof workers>;

/** A world, and what is said in it without faults: over a furnished folder, and without one. */
type Bed = {
  readonly world: World;
  readonly template: string;
  readonly whole: Said;
  readonly fresh: Said;
  readonly lies: number;
};

/** What a service said, and how often its sources were asked for it. */
type Said = { readonly answers: Answers; readonly calls: Calls };

/** What a service starts with: its world, the furnished folder, its fault. */
type Start = {
  readonly world: World;
  readonly from: string | null;
  readonly fault: string | null;
};

/** Asks a service in a fault everything, and again what had changed once it is lifted. */
async function runFault(
  worker: Worker,
  { world, from, fault }: Start,
  whole: Said | null,
): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'exhibit-chaos-'));
  try {
    const demo = await worker.start({ folder, from, fault, world, settings: SETTINGS });
    const port = portOf(demo);
    if (world === 'simulated') await untilCounted(port, demo);
    const credentials = { key: demo.api_key, token: demo.stream_token, partner: 'none' };
    const isAsked = isAskedIn(world);
    // At the rate of an explorer's plan, more at once are only longer under way.
    const asking = { port, credentials, isAsked, ...(world === 'observed' && { together: 2 }) };
    const { questions, said } = await askAll(asking, whole === null);
    const calls = await worker.count();
    const before = whole === null ? said : whole.answers;
    const lies = [...said].flatMap(([name, one]) => falseIn(name, before.get(name), one));
    lies.push(...sourcesOverasked(whole === null ? calls : whole.calls, calls, said.size));
    const changed = changedAmong(questions, before, said);
    if (fault === null) {
      const unsettled = changed.map(({ request: { name } }) => {
        const [one, other] = [before.get(name), said.get(name)];
        const what = one === undefined || other === undefined ? null : lessThan(one, other);
        return `${name}: ${what}`;
      });
      const none = { recoveredMs: null, unlike: null, unsettled };
      return { answers: said, calls, lies, changed: changed.length, ...none };
    }
    writeFileSync(join(folder, world, FAULTS_FILE), '\n');
    const back = await recover(port, questions, before, lies);
    const counts = { changed: changed.length, unsettled: [] };
    return { answers: said, calls, lies: [...new Set(lies)], ...counts, ...back };
  } finally {
    await worker.stop();
    rmSync(folder, REMOVED);
  }
}

const BOARDS = ['/api/leaderboard/providers', '/api/v1/leaderboard'];

/**
 * Waits for what jobs bring: the first rounds of the boards, each of which is empty before, and the
 * record of each address that is asked for as a deployer, which a question has walked.
 */
async function untilCounted(port: number, { api_key }: Demo): Promise<boolean> {
  const { ask, close } = askingAt(port);
  const began = performance.now();
  const awaited = [
    ...BOARDS.map((path) => ({ path, isThere: isCounted })),
    ...deployerPaths().map((path) => ({ path, isThere: isWalked })),
  ];
  try {
    for (const { path, isThere } of awaited) {
      const question = { name: '', path, headers: { authorization: `Bearer ${api_key}` } };
      while (!isThere(await ask(question))) {
        if (performance.now() - began > COUNTED_MS_MAX) return false;
        await sleep(RECOVERY_EACH_MS);
      }
    }
    return true;
  } finally {
    close();
  }
}

function deployerPaths(): string[] {
  const asked = Object.entries(ADDRESSES).filter(([name]) => SAMPLED.simulated.includes(name));
  return asked.flatMap(([, address]) =>
    address.startsWith('0x') ? [`/api/v1/evm/deployer/ethereum/${address}`] : [],
  );
}

/** Furnishes a folder once, until each job whose rows are asked for has had its first round. */
async function furnish(worker: Worker, world: World, template: string): Promise<void> {
  const order = { folder: template, from: null, fault: null, world, settings: SETTINGS };
  const demo = await worker.start(order);
  const isWhole = world === 'observed' || (await untilCounted(portOf(demo), demo));
  await worker.stop();
  if (!isWhole) throw new Error('the furnished service counted nothing, or walked nobody');
}

/** What the faults that are to be run begin with: a furnished folder, an empty one, or both. */
type Begins = { readonly isHeld: boolean; readonly isEmpty: boolean };

/** Furnishes a world and asks it without faults. */
async function makeBed(worker: Worker, world: World, { isHeld, isEmpty }: Begins): Promise<Bed> {
  const template = mkdtempSync(join(tmpdir(), 'exhibit-chaos-'));
  templates.add(template);
  let lies = 0;
  const ask = async (name: string, from: string | null, before: Said | null) => {
    const one = await runFault(worker, { world, from, fault: null }, before);
    row([name, world, one.answers.size, before === null ? '' : one.changed, one.lies.length, '']);
    for (const lie of one.lies) say(`  ${lie}`);
    for (const unsettled of one.unsettled) say(`  otherwise without a fault: ${unsettled}`);
    lies += one.lies.length;
    return one;
  };
  // What a service holds decides what it may deny: one that begins with nothing has its own.
  const fresh = isEmpty ? await ask('none, from nothing', null, null) : null;
  if (isHeld) await furnish(worker, world, template);
  const whole = isHeld ? await ask('none', template, null) : fresh;
  if (isHeld) await ask('none, once more', template, whole);
  if (whole === null) throw new Error(`nothing is asked of the ${world} world`);
  return { world, template, whole, fresh: fresh ?? whole, lies };
}

/** Furnished folders; they go with this process. */
const templates = new Set<string>();

/** A list that is held is served under any fault: those of the publisher begin with none. */
async function runIn(worker: Worker, fault: string, { world, ...bed }: Bed): Promise<Row> {
  const isEmpty = fault.split(',').some((one) => one.startsWith(`${PUBLISHER}:`));
  const from = isEmpty ? null : bed.template;
  return runFault(worker, { world, from, fault }, isEmpty ? bed.fresh : bed.whole);
}

async function runAll(
  all: readonly NamedFault[][],
  serving: readonly Worker[],
  bed: Bed,
): Promise<void> {
  let [cells, changed, lies, unrecovered, notRun] = [0, 0, bed.lies, 0, 0];
  const left = all.toReversed();
  const work = async (worker: Worker) => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      const fault = one.map(({ source, fault: name }) => `${source}:${name}`).join(',');
      const done = await runIn(worker, fault, bed).catch(async (failed) => {
        await worker.end();
        say(`  ${fault} did not run: ${String(failed)}`);
        return null;
      });
      if (done === null) {
        notRun += 1;
        continue;
      }
      const kinds = one.map(({ source, kinds: own }) => `${source}: ${own.join(', ')}`);
      const seconds = done.recoveredMs === null ? null : Math.ceil(done.recoveredMs / 1_000);
      const back = done.changed === 0 ? '' : seconds === null ? 'no' : `${seconds} s`;
      const counts = [done.answers.size, done.changed, done.lies.length];
      row([fault.replace(',', ', '), kinds.join('; '), ...counts, back]);
      for (const lie of done.lies) say(`  ${lie}`);
      if (done.unlike !== null) say(`  not again: ${done.unlike}`);
      cells += done.answers.size;
      changed += done.changed;
      lies += done.lies.length;
      unrecovered += back === 'no' ? 1 : 0;
    }
  };
  await Promise.all(serving.map(work));
  const told = `${cells} answers, ${changed} changed, ${lies} false`;
  say(`${told}, ${unrecovered} not again as before, ${notRun} services did not run`);
  if (lies + unrecovered + notRun > 0) process.exitCode = 1;
}

/** Puts one fault of the product after the other into a copy of the build, and looks for it. */
async function runPlanted(plants: readonly Plant[], beds: ReadonlyMap<World, Bed>): Promise<void> {
  const copy = copyBuild();
  let found = 0;
  row(['planted', 'under', 'found by']);
  row(['---', '---', '---']);
  try {
    for (const plant of plants) {
      const undo = copy.plant(plant);
      const { under } = plant;
      const by =
        'store' in under
          ? await findInStores(copy.benches, under.store)
          : await findInSources(copy.benches, under.source, bedOf(beds, under.world));
      undo();
      const where = 'store' in under ? under.store : `${under.source}, ${under.world}`;
      row([plant.name, where, by === null ? '**nothing**' : by]);
      found += by === null ? 0 : 1;
    }
  } finally {
    copy.remove();
  }
  say(`${found} of ${plants.length} found`);
  if (found < plants.length) process.exitCode = 1;
}

function bedOf(beds: ReadonlyMap<World, Bed>, world: World): Bed {
  const bed = beds.get(world);
  if (bed === undefined) throw new Error(`nothing was asked of the ${world} world`);
  return bed;
}

/** The first thing that is wrong about a build under a fault of a source; `null`: nothing is. */
async function findInSources(build: URL, under: string, bed: Bed): Promise<string | null> {
  const worker = workers(build);
  try {
    const { lies, unlike } = await runIn(worker, under, bed);
    // What is denied says the most.
    const [first] = lies.toSorted(
      (a, b) => Number(b.includes(': denies')) - Number(a.includes(': denies')),
    );
    if (first !== undefined) return `${lies.length} false, the first ${first}`;
    return unlike === null ? null : `not again: ${unlike}`;
  } catch (failed) {
    return `it did not run: ${String(failed).split('\n')[0]}`;
  } finally {
    await worker.end();
  }
}

/** The same under a fault of a store, by a run of its own. */
async function findInStores(build: URL, under: string): Promise<string | null> {
  const words = [new URL('chaos.js', build), '--stores', '--only', `^${under}$`].map(String);
  const [file, ...rest] = words;
  const given = [fileURLToPath(String(file)), ...rest];
  const { status, stdout } = spawnSync(process.execPath, given, { encoding: 'utf8' });
  const lines = stdout
    .split('\n')
    .filter((line) => /^ {2}.*(denie|stream|lost|not again)/.test(line));
  return status === 0 ? null : String(lines[0]).trim().slice(0, FOUND_CHARS_MAX);
}
const FOUND_CHARS_MAX = 160;

async function main(): Promise<void> {
  const wrong = misnamed();
  if (wrong.length > 0) throw new Error(`no such faults: ${wrong.join(', ')}`);
  const wanted = new RegExp(values.only);
  const isWanted = ({ source, fault, kinds }: NamedFault) => {
    const isThere = !values.observed || OBSERVED_SOURCES.has(source);
    const isOfKind = !values.kinds || kinds.length > 0;
    return isThere && isOfKind && wanted.test(`${source}:${fault}`);
  };
  const all = values.planted ? [] : rounds(isWanted);
  const plants = values.planted ? PLANTS.filter(({ name }) => wanted.test(name)) : [];
  const serving = Array.from({ length: Math.max(1, Number(values.jobs)) }, () => workers());
  const [first] = serving;
  if (first === undefined) throw new Error('no process serves');
  const count = values.planted ? plants.length : all.flat().length;
  const machine = `${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`;
  say(`${count} faults; ${machine}`);
  const ofTable = all.flat().map(({ source }) => source);
  const ofPlants = plants.flatMap(({ under }) => ('source' in under ? [under] : []));
  const sourceOf = ({ source }: { readonly source: string }) => source;
  const worlds: readonly World[] = values.planted
    ? [...new Set(ofPlants.map(({ world }) => world))]
    : [values.observed ? 'observed' : 'simulated'];
  const beds = new Map<World, Bed>();
  try {
    row(['faults', 'kinds', 'answers', 'changed', 'false', 'recovered']);
    row(['---', '---', '--:', '--:', '--:', '--:']);
    for (const world of worlds) {
      const own = [...ofTable, ...ofPlants.filter((one) => one.world === world).map(sourceOf)];
      const isEmpty = own.some((one) => one.startsWith(PUBLISHER));
      const isHeld = own.length === 0 || own.some((one) => !one.startsWith(PUBLISHER));
      beds.set(world, await makeBed(first, world, { isHeld, isEmpty }));
    }
    if (values.planted) await runPlanted(plants, beds);
    else for (const bed of beds.values()) await runAll(all, serving, bed);
  } finally {
    for (const one of serving) await one.end();
    for (const template of templates) rmSync(template, REMOVED);
  }
}

if (values.stores) await runStoreFaults({ only: values.only, say });
else await main();
