// Builds a checkout by its own means and runs it as a black box: with one fixed time and one row of
// random numbers, in a folder of its own, over embedded stores and the simulated world.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TIME_SETTING } from './fixed-process.ts';

/** The moment at which everything happens: after the last review of what is shipped. */
export const NOW_MS = Date.UTC(2026, 10, 23, 12);
const FIXED = new URL('./fixed-process.js', import.meta.url).href;
const START_MS_MAX = 600_000;
const COMMAND_MS_MAX = 180_000;
const LOOK_EACH_MS = 200;

/** Where a checkout runs: its root, the folder of this run, the port, and its settings. */
export type Place = {
  readonly repo: string;
  readonly folder: string;
  readonly port: number;
  readonly settings: { readonly [name: string]: string };
};

/** The output of a program, and its exit status. */
export type Ended = { readonly status: number | null; readonly out: string; readonly err: string };

/** Builds the checkout. */
export async function build(repo: string): Promise<void> {
  const built = spawn(process.execPath, ['bin/exhibit', '--dev', 'build'], {
    cwd: repo,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [status] = await once(built, 'close');
  if (status !== 0) throw new Error(`${repo} could not be built`);
}

/** Child processes; they end with this process, however it ends. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

function start(place: Place, words: readonly string[]) {
  const { port, settings } = place;
  const seed = words.join(' ');
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('EXHIBIT_'));
  const child = spawn(process.execPath, [join(place.repo, 'dist/main.js'), ...words], {
    cwd: place.folder,
    env: {
      ...Object.fromEntries(own),
      NODE_OPTIONS: `--import ${FIXED}`,
      NO_COLOR: '1',
      TZ: 'UTC',
      [TIME_SETTING]: String(NOW_MS),
      EXHIBIT_TEST_SEED: seed,
      EXHIBIT_PORT: String(port),
      ...settings,
    },
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  const texts = { out: '', err: '' };
  child.stdout.on('data', (bytes) => {
    texts.out += String(bytes);
  });
  child.stderr.on('data', (bytes) => {
    texts.err += String(bytes);
  });
  const ended = new Promise<Ended>((settle) => {
    child.once('close', (status) => settle({ status, ...texts }));
  });
  return { child, texts, ended };
}

/** Runs a command to its end, or interrupts it after a time. */
export async function run(
  place: Place,
  words: readonly string[],
  { input, interruptMs = COMMAND_MS_MAX }: { input?: string; interruptMs?: number } = {},
): Promise<Ended> {
  const { child, ended } = start(place, words);
  child.stdin.end(input);
  const timer = setTimeout(() => child.kill('SIGINT'), interruptMs);
  const result = await ended;
  clearTimeout(timer);
  return result;
}

/** A service that runs: what it printed when it was ready, and how it is stopped. */
export type Running = { readonly said: string; readonly stop: () => Promise<Ended> };

/** Starts the service and waits until it has printed `until`. */
export async function serve(
  place: Place,
  words: readonly string[],
  until: string,
): Promise<Running> {
  const { child, texts, ended } = start(place, words);
  const endMs = performance.now() + START_MS_MAX;
  while (!texts.out.includes(until)) {
    if (child.exitCode !== null) throw new Error(`it ended: ${texts.out}${texts.err}`);
    if (performance.now() > endMs) throw new Error(`it does not start: ${texts.err}`);
    await sleep(LOOK_EACH_MS);
  }
  const said = texts.out;
  return {
    said,
    stop: async () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
