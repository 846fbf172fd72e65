// npm run chaos [-- --only PATTERN_OF_FAULTS] [--kinds] [--jobs N] [--all-addresses]: starts the
// simulated world in each fault of each source (`--kinds`: those of the table of kinds), asks it
// what a service without faults was asked, lifts the fault while it runs and waits until it says
// the same again. A cell is one answer. What is printed is the table of docs/reliability.md.

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type Ask, askingAt, askUntilRead, type Request } from './answers-recorder.ts';
import { ADDRESSES, type Operation, operationsOf, readingRequests } from './answers-requests.ts';
import { NOW_MS } from './answers-service.ts';
import { misnamed, type NamedFault, rounds } from './chaos-faults.ts';
import { type Answers, falseIn, isAsWhole, type Said, saidBy } from './chaos-judge.ts';
import type { ChaosOrder, Demo } from './chaos-worker.ts';
import { askChild, endChild, OWN_BUILD } from './children.ts';
import { TIME_SETTING } from './fixed-process.ts';

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
/** A process that has served so often is replaced. */
const SERVICES_MAX = 12;
const ASKED_TOGETHER = 4;
const RECOVERY_MS_MAX = 60_000;
const RECOVERY_EACH_MS = 500;
const RECOVERING_MAX = 5;
/** A process that has just ended may still have written. */
const REMOVED = { recursive: true, force: true, maxRetries: 10, retryDelay: 200 } as const;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '.' },
    kinds: { type: 'boolean', default: false },
    jobs: { type: 'string', default: String(availableParallelism()) },
    'all-addresses': { type: 'boolean', default: false },
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

type Question = { readonly operation: Operation; readonly request: Request };

async function questionsOf(ask: Ask, demo: Demo): Promise<Question[]> {
  const credentials = { key: demo.api_key, token: demo.stream_token, partner: 'none' };
  const document = await ask({ name: '', path: '/openapi.json' });
  return operationsOf(JSON.parse(document.body) as unknown).flatMap((operation) => {
    const { method, scheme, path } = operation;
    if (method !== 'GET' || scheme === 'partner' || /^\/(ws|sse)\//.test(path)) return [];
    const requests = readingRequests(operation, credentials).filter(isAsked);
    return requests.map((request) => ({ operation, request }));
  });
}

type Row = {
  readonly answers: Answers;
  readonly lies: readonly string[];
  readonly changed: number;
  /** Until what had changed was said again; `null`: nothing had, or not within the minute. */
  readonly recoveredMs: number | null;
  /** What did not say the same again. */
  readonly unlike: string | null;
};

const wholeRow = { changed: 0, recoveredMs: null, unlike: null };

const told = z.object({ said: z.unknown(), fault: z.string().nullable() });

/** A process that serves one fault after the other. */
function workers(fixed: URL) {
  let child: ChildProcess | null = null;
  let served = 0;
  const order = async (one: ChaosOrder) => {
    child ??= fork(new URL('chaos-worker.js', OWN_BUILD), {
      execArgv: [...process.execArgv, '--import', fixed.href],
      env: { ...process.env, [TIME_SETTING]: String(NOW_MS), EXHIBIT_TEST_SEED: 'chaos' },
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

async function askAll(port: number, demo: Demo, isWhole: boolean) {
  const asking = Array.from({ length: ASKED_TOGETHER }, () => askingAt(port));
  const [first] = asking;
  if (first === undefined) throw new Error('nobody asks');
  try {
    const questions = await questionsOf(first.ask, demo);
    const said = new Map<string, Said>();
    const left = [...questions];
    const work = async ({ ask }: { readonly ask: Ask }) => {
      for (let one = left.pop(); one !== undefined; one = left.pop()) {
        const { operation, request } = one;
        // A source that fails is asked once: what is asked again would be let off.
        const answer = await (isWhole ? askUntilRead(ask, request) : ask(request));
        said.set(request.name, saidBy(operation.id, answer));
      }
    };
    await Promise.all(asking.map(work));
    return { questions, said };
  } finally {
    for (const { close } of asking) close();
  }
}

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
    const port = Number(new URL(demo.base_url).port);
    const { questions, said } = await askAll(port, demo, whole === null);
    const before = whole ?? said;
    const lies = [...said].flatMap(([name, one]) => falseIn(name, before.get(name), one));
    const changed = [...said].filter(([name, one]) => {
      const held = before.get(name);
      return held !== undefined && !isAsWhole(held, one);
    });
    if (fault === null) return { answers: said, lies, ...wholeRow };
    writeFileSync(join(folder, 'simulated', 'world-faults'), '\n');
    const names = new Set(changed.map(([name]) => name));
    const open = questions.filter(({ request }) => names.has(request.name));
    const back = await recover(port, open.slice(0, RECOVERING_MAX), before, lies);
    return { answers: said, lies, changed: changed.length, ...back };
  } finally {
    await worker.stop();
    rmSync(folder, REMOVED);
  }
}

async function recover(
  port: number,
  questions: readonly Question[],
  whole: Answers,
  lies: string[],
): Promise<Pick<Row, 'recoveredMs' | 'unlike'>> {
  const { ask, close } = askingAt(port);
  const began = performance.now();
  try {
    for (const { operation, request } of questions) {
      for (;;) {
        const said = saidBy(operation.id, await ask(request));
        const before = whole.get(request.name);
        lies.push(...falseIn(request.name, before, said));
        if (before === undefined || isAsWhole(before, said)) break;
        if (performance.now() - began > RECOVERY_MS_MAX) {
          const unlike = `${request.name}: ${said.state}, and ${before.state} before`;
          return { recoveredMs: null, unlike };
        }
        await sleep(RECOVERY_EACH_MS);
      }
    }
    return { recoveredMs: performance.now() - began, unlike: null };
  } finally {
    close();
  }
}

/** Furnishes a folder once, asks a service of it without faults, and keeps what it held before. */
async function furnish(worker: Worker, template: string): Promise<void> {
  await worker.start({ folder: template, from: null, fault: null, settings: SETTINGS });
  await worker.stop();
}

async function main(): Promise<void> {
  const wrong = misnamed();
  if (wrong.length > 0) throw new Error(`no such faults: ${wrong.join(', ')}`);
  const wanted = new RegExp(values.only);
  const isWanted = ({ source, fault, kinds }: NamedFault) =>
    wanted.test(`${source}:${fault}`) && (!values.kinds || kinds.length > 0);
  const all = rounds(isWanted);
  const template = mkdtempSync(join(tmpdir(), 'exhibit-chaos-'));
  const fixed = new URL('fixed-process.js', OWN_BUILD);
  const serving = Array.from({ length: Math.max(1, Number(values.jobs)) }, () => workers(fixed));
  const [first] = serving;
  if (first === undefined) throw new Error('no process serves');
  const count = all.flat().length;
  const machine = `${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`;
  say(`${count} faults in ${all.length} services; ${machine}`);
  let [cells, changed, lies, unrecovered, notRun] = [0, 0, 0, 0, 0];
  try {
    await furnish(first, template);
    const whole = await runFault(first, null, template, null);
    row(['faults', 'kinds', 'answers', 'changed', 'false', 'recovered']);
    row(['---', '---', '--:', '--:', '--:', '--:']);
    row(['none', '', whole.answers.size, '', whole.lies.length, '']);
    for (const lie of whole.lies) say(`  ${lie}`);
    const left = all.toReversed();
    const work = async (worker: Worker) => {
      for (let one = left.pop(); one !== undefined; one = left.pop()) {
        // A list that is held is served under any fault: those of the publisher begin with none.
        const from = one.some(({ source }) => source === 'publisher') ? null : template;
        const fault = one.map(({ source, fault: name }) => `${source}:${name}`).join(',');
        const done = await runFault(worker, fault, from, whole.answers).catch(async (failed) => {
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
  } finally {
    for (const one of serving) await one.end();
    rmSync(template, REMOVED);
  }
  const told = `${cells} answers, ${changed} changed, ${lies} false`;
  say(`${told}, ${unrecovered} not again as before, ${notRun} services did not run`);
  if (lies + unrecovered + notRun > 0) process.exitCode = 1;
}

await main();
