// npm run chaos [-- --only PATTERN_OF_FAULTS] [--kinds|--stores] [--jobs N] [--all-addresses]: the
// simulated world starts in each fault of each source (`--kinds`: of the table of kinds) and is
// asked what a service without faults was, until, the fault lifted, it says the same again.
// `--stores` breaks real stores under a fleet. A cell is one answer of docs/reliability.md.

import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type Answers, falseIn, isCounted } from '../src/testing/chaos-judge.ts';
import { askingAt, type Request } from './answers-recorder.ts';
import { ADDRESSES } from './answers-requests.ts';
import { NOW_MS } from './answers-service.ts';
import { askAll, changedAmong, RECOVERY_EACH_MS, type Recovery, recover } from './chaos-asking.ts';
import { misnamed, type NamedFault, rounds } from './chaos-faults.ts';
import { copyBuild, PLANTS, type Plant } from './chaos-planted.ts';
import { runStoreFaults } from './chaos-stores.ts';
import type { ChaosOrder, Demo } from './chaos-worker.ts';
import { askChild, endChild, OWN_BUILD } from './children.ts';
import { SINCE_SETTING, TIME_SETTING } from './fixed-process.ts';

/** Nothing is held, so that each question reaches its source, and no machine is out of time. */
const SETTINGS = { EXHIBIT_LIVE_BUDGET_S: '30', EXHIBIT_LIVE_HOLD: '0' };
/** Addresses of each kind of fact; `--all-addresses` takes those of the whole guide. */
const SAMPLED: readonly string[] = [
  'listed-evm',
  'one-hop',
  'bridger',
  'entity',
  'deployer-died',
  'launcher-flagged',
];
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
    jobs: { type: 'string', default: String(availableParallelism()) },
    'all-addresses': { type: 'boolean', default: false },
    stores: { type: 'boolean', default: false },
    planted: { type: 'boolean', default: false },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);
const row = (cells: readonly (string | number)[]) => say(`| ${cells.join(' | ')} |`);

function isAsked({ name }: Request): boolean {
  if (name.includes('@')) return false;
  const who = name.slice(name.lastIndexOf('/') + 1);
  const isOfWorld = values['all-addresses'] ? who in ADDRESSES : SAMPLED.includes(who);
  return who === 'plain' || isOfWorld;
}

function portOf({ base_url }: Demo): number {
  return Number(new URL(base_url).port);
}

type Row = {
  readonly answers: Answers;
  readonly lies: readonly string[];
  readonly changed: number;
} & Recovery;

const wholeRow = { changed: 0, recoveredMs: null, unlike: null };

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
    start: async (one: ChaosOrder) => {
      served += 1;
      return (await order(one)) as Demo;
    },
    stop: async () => {
      await order(null);
      if (served >= SERVICES_MAX) await end();
    },
    end,
  };
}

type Worker = ReturnType<typeof workers>;

/** Asks a service in a fault everything, and again what had changed once it is lifted. */
async function runFault(
  worker: Worker,
  fault: string | null,
  from: string | null,
  whole: Answers | null,
): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'exhibit-chaos-'));
  try {
    const demo = await worker.start({ folder, from, fault, settings: SETTINGS });
    const port = portOf(demo);
    await untilCounted(port, demo);
    const credentials = { key: demo.api_key, token: demo.stream_token, partner: 'none' };
    const asking = { port, credentials, isAsked };
    const { questions, said } = await askAll(asking, whole === null);
    const before = whole ?? said;
    const lies = [...said].flatMap(([name, one]) => falseIn(name, before.get(name), one));
    const changed = changedAmong(questions, before, said);
    if (fault === null) return { answers: said, lies, ...wholeRow };
    writeFileSync(join(folder, 'simulated', 'world-faults'), '\n');
    const back = await recover(port, changed, before, lies);
    return { answers: said, lies: [...new Set(lies)], changed: changed.length, ...back };
  } finally {
    await worker.stop();
    rmSync(folder, REMOVED);
  }
}

const BOARDS = ['/api/leaderboard/providers', '/api/v1/leaderboard'];

/** Waits for the first rounds of the boards: each is empty before, whoever is silent. */
async function untilCounted(port: number, { api_key }: Demo): Promise<boolean> {
  const { ask, close } = askingAt(port);
  const began = performance.now();
  try {
    for (const path of BOARDS) {
      const board = { name: '', path, headers: { authorization: `Bearer ${api_key}` } };
      while (!isCounted(await ask(board))) {
        if (performance.now() - began > COUNTED_MS_MAX) return false;
        await sleep(RECOVERY_EACH_MS);
      }
    }
    return true;
  } finally {
    close();
  }
}

/** Furnishes a folder once, until each job whose rows are asked for has had its first round. */
async function furnish(worker: Worker, template: string): Promise<void> {
  const demo = await worker.start({
    folder: template,
    from: null,
    fault: null,
    settings: SETTINGS,
  });
  const isWhole = await untilCounted(portOf(demo), demo);
  await worker.stop();
  if (!isWhole) throw new Error('the furnished service counted nothing on its boards');
}

/** What is said without faults: over the furnished folder, and by a service without one. */
type References = { readonly whole: Answers; readonly fresh: Answers; readonly lies: number };

async function askReferences(
  worker: Worker,
  template: string,
  isEmpty: boolean,
): Promise<References> {
  await furnish(worker, template);
  const first = await runFault(worker, null, template, null);
  // What a service holds decides what it may deny: one that begins with nothing has its own.
  const fresh = isEmpty ? await runFault(worker, null, null, null) : first;
  const again = await runFault(worker, null, template, first.answers);
  row(['faults', 'kinds', 'answers', 'changed', 'false', 'recovered']);
  row(['---', '---', '--:', '--:', '--:', '--:']);
  const asked = [['none', first] as const, ['none, once more', again] as const];
  for (const [name, one] of [
    ...asked,
    ...(isEmpty ? [['none, from nothing', fresh] as const] : []),
  ]) {
    row([name, '', one.answers.size, '', one.lies.length, '']);
    for (const lie of one.lies) say(`  ${lie}`);
  }
  const lies = first.lies.length + again.lies.length + (isEmpty ? fresh.lies.length : 0);
  return { whole: first.answers, fresh: fresh.answers, lies };
}

/** A list that is held is served under any fault: those of the publisher begin with none. */
async function runIn(worker: Worker, fault: string, template: string, references: References) {
  const isEmpty = fault.split(',').some((one) => one.startsWith(`${PUBLISHER}:`));
  const { fresh, whole } = references;
  return runFault(worker, fault, isEmpty ? null : template, isEmpty ? fresh : whole);
}

async function runAll(
  all: readonly NamedFault[][],
  serving: readonly Worker[],
  template: string,
  references: References,
): Promise<void> {
  let [cells, changed, lies, unrecovered, notRun] = [0, 0, references.lies, 0, 0];
  const left = all.toReversed();
  const work = async (worker: Worker) => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      const fault = one.map(({ source, fault: name }) => `${source}:${name}`).join(',');
      const done = await runIn(worker, fault, template, references).catch(async (failed) => {
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
async function runPlanted(
  plants: readonly Plant[],
  template: string,
  references: References,
): Promise<void> {
  const copy = copyBuild();
  let found = 0;
  row(['planted', 'under', 'found by']);
  row(['---', '---', '---']);
  try {
    for (const plant of plants) {
      const undo = copy.plant(plant);
      const under = 'store' in plant.under ? plant.under.store : plant.under.source;
      const by =
        'store' in plant.under
          ? await findInStores(copy.benches, under)
          : await findInSources(copy.benches, under, template, references);
      undo();
      row([plant.name, under, by === null ? '**nothing**' : by]);
      found += by === null ? 0 : 1;
    }
  } finally {
    copy.remove();
  }
  say(`${found} of ${plants.length} found`);
  if (found < plants.length) process.exitCode = 1;
}

/** The first thing that is wrong about a build under a fault of a source; `null`: nothing is. */
async function findInSources(
  build: URL,
  under: string,
  template: string,
  references: References,
): Promise<string | null> {
  const worker = workers(build);
  try {
    const { lies, unlike } = await runIn(worker, under, template, references);
    const [first] = lies;
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
  const isWanted = ({ source, fault, kinds }: NamedFault) =>
    wanted.test(`${source}:${fault}`) && (!values.kinds || kinds.length > 0);
  const all = values.planted ? [] : rounds(isWanted);
  const plants = values.planted ? PLANTS.filter(({ name }) => wanted.test(name)) : [];
  const template = mkdtempSync(join(tmpdir(), 'exhibit-chaos-'));
  const serving = Array.from({ length: Math.max(1, Number(values.jobs)) }, () => workers());
  const [first] = serving;
  if (first === undefined) throw new Error('no process serves');
  const count = values.planted ? plants.length : all.flat().length;
  const machine = `${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`;
  say(`${count} faults; ${machine}`);
  const sources = all.flat().map(({ source }) => source);
  const under = plants.flatMap((one) => ('source' in one.under ? [one.under.source] : []));
  const isEmpty = [...sources, ...under].some((one) => one.startsWith(PUBLISHER));
  try {
    const references = await askReferences(first, template, isEmpty);
    if (values.planted) await runPlanted(plants, template, references);
    else await runAll(all, serving, template, references);
  } finally {
    for (const one of serving) await one.end();
    rmSync(template, REMOVED);
  }
}

if (values.stores) await runStoreFaults({ only: values.only, say });
else await main();
