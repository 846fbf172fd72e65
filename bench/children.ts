import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const ANSWER_MS_MAX = 300_000;

/** The compiled benches of this build. */
export const OWN_BUILD = new URL('./', import.meta.url);

/** The compiled benches of another checkout, in which `npm run bench -- size` ran. */
export function buildIn(checkout: string): URL {
  return pathToFileURL(join(resolve(checkout), 'dist', '.bench', 'bench', sep));
}

/** How `npm start` runs the service. */
export const NODE_FLAGS = ['--max-semi-space-size=32'];

/** Starts a compiled file of a build as a child. */
export function child(name: string, build: URL = OWN_BUILD): ChildProcess {
  return fork(new URL(`${name}.js`, build), {
    execArgv: [...process.execArgv, ...NODE_FLAGS],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** Sends one message and waits for the one that comes back. */
export async function askChild(to: ChildProcess, message: object | string): Promise<unknown> {
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
  const answer = once(to, 'message', { signal });
  const gone = once(to, 'exit', { signal }).then(([code]) => {
    throw new Error(`a measured process ended with ${String(code)}`);
  });
  to.send(message);
  try {
    const [said] = await Promise.race([answer, gone]);
    return said;
  } finally {
    done.abort();
  }
}

/** Ends a child and waits for its end. */
export async function endChild(one: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (one.exitCode !== null || one.signalCode !== null) return;
  const gone = once(one, 'exit');
  one.kill(signal);
  await gone;
}

/** The proportional set size of a process and all of its descendants, in MiB. Linux only. */
export function treePssMib(root: number): number {
  let kib = 0;
  for (const pid of treeOf(root)) {
    const rollup = fileText(`/proc/${pid}/smaps_rollup`);
    const pss = rollup === null ? null : /^Pss:\s+(\d+) kB/m.exec(rollup);
    if (pss !== null) kib += Number(pss[1]);
  }
  return kib / 1024;
}

const TICK_MS = 10;
/** Behind the name of a process: its state, ten fields, then its ticks as user and as system. */
const TICKS = /\) \S(?: \S+){10} (\d+) (\d+)/;

/** The processor time of a process and all of its descendants so far, in milliseconds. */
export function treeCpuMs(root: number): number {
  let ticks = 0;
  for (const pid of treeOf(root)) {
    const stat = fileText(`/proc/${pid}/stat`);
    const told = stat === null ? null : TICKS.exec(stat);
    if (told !== null) ticks += Number(told[1]) + Number(told[2]);
  }
  return ticks * TICK_MS;
}

function treeOf(root: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = fileText(`/proc/${name}/stat`);
    const parent = stat === null ? null : /\) \S (\d+)/.exec(stat);
    if (parent !== null) parents.set(Number(name), Number(parent[1]));
  }
  const all = new Set([...parents.keys(), root]);
  return [...all].filter((pid) => {
    let at: number | undefined = pid;
    for (let depth = 0; depth < DEPTH_MAX && at !== undefined; depth += 1) {
      if (at === root) return true;
      at = parents.get(at);
    }
    return false;
  });
}

const DEPTH_MAX = 64;

/** The most memory that some processes have had, together, in MiB. */
export function peakMib(pids: readonly (number | undefined)[]): number {
  const kib = pids.map((pid) => {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  });
  return kib.reduce((sum, one) => sum + one, 0) / 1024;
}

// A process may end between being named and being read.
function fileText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
