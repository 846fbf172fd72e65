// Runs the program as a user starts it: `dist/exhibit.js` in a process and a directory of its own,
// with only the settings of the test.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import { createStoresIn } from './fresh-warehouse.ts';

/** The program's own file. */
export const MAIN = fileURLToPath(new URL('../../dist/exhibit.js', import.meta.url));
const START_TIMEOUT_MS = 150_000;
const LOOK_EVERY_MS = 100;

type Settings = { readonly [name: string]: string };
type Place = { readonly cwd: string; readonly env?: Settings };
type Ended = { readonly status: number | null; readonly out: string; readonly err: string };

/** A running program: what it said so far, and how it ended. */
export type Program = {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<Ended>;
};

/** The environment of these tests without a setting of the product, and with the ones given. */
export function onlySettings(settings: Settings = {}): { [name: string]: string } {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('EXHIBIT_'));
  const plain = Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
  return { ...plain, ...settings };
}

/** Starts the program with these words. */
export function startProgram(words: readonly string[], { cwd, env }: Place): Program {
  const child = spawn(process.execPath, [MAIN, ...words], {
    cwd,
    env: onlySettings(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (bytes) => {
    out += String(bytes);
  });
  child.stderr.on('data', (bytes) => {
    err += String(bytes);
  });
  const ended = new Promise<Ended>((settle) => {
    child.once('close', (status) => settle({ status, out, err }));
  });
  return { child, out: () => out, err: () => err, ended };
}

/** Waits until the program says something; rejects with all that it said where it ends before. */
export async function untilSaid(program: Program, words: string): Promise<void> {
  await vi.waitFor(
    () => {
      if (program.child.exitCode !== null) throw new Error(program.out() + program.err());
      expect(program.out() + program.err()).toContain(words);
    },
    { timeout: START_TIMEOUT_MS, interval: LOOK_EVERY_MS },
  );
}

/** The output of a command that must succeed, one JSON object. */
export async function runPrinting<S extends z.ZodType>(
  shape: S,
  words: readonly string[],
  place: Place,
): Promise<z.output<S>> {
  const { status, out, err } = await startProgram([...words, '--json'], place).ended;
  if (status !== 0) throw new Error(`${words.join(' ')} ended ${status}: ${err}`);
  return shape.parse(JSON.parse(out));
}

const DEMO = z.object({ base_url: z.url(), api_key: z.string(), stream_token: z.string() });

/** A running service of the simulated world, where it runs, and the credentials it wrote. */
export type Simulated = Awaited<ReturnType<typeof startSimulated>>;

/**
 * The service of the simulated world, as `npm start` runs it, with the credentials it wrote. Its
 * first start finds the tables of its stores there.
 */
export async function startSimulated({ cwd, env }: Place) {
  const data = join(cwd, 'data/simulated');
  if (!existsSync(data)) await createStoresIn(data);
  const program = startProgram(['start'], { cwd, env: { EXHIBIT_PORT: '0', ...env } });
  await untilSaid(program, 'Base URL');
  const file = join(cwd, 'data/simulated/demo-credentials.json');
  await vi.waitFor(() => expect(existsSync(file)).toBe(true), { interval: LOOK_EVERY_MS });
  return { program, cwd, ...DEMO.parse(JSON.parse(readFileSync(file, 'utf8'))) };
}
