// Doctor tells what each absent dependency means for the answers of this deployment. It changes
// nothing, and calls nothing well that it could not check.

import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { defineCommand, EXIT, type Io } from '../command/command.ts';
import { NO_VALUE, paint, print, printable, printJson } from '../command/output.ts';
import type { Config } from '../config.ts';

/** The state of one dependency. `absent` is legal, and `says` is what it means. */
export type CheckResult = {
  readonly state: 'ok' | 'absent' | 'warning' | 'failed' | 'unchecked';
  readonly says: string;
};

/** One dependency and how to look at it. It answers in time or is called unchecked. */
export type DoctorCheck = {
  readonly name: string;
  readonly look: (signal: AbortSignal) => Promise<CheckResult>;
};

/** A source that is not set, and what this deployment answers without it. */
export type PortAbsence = {
  readonly name: string;
  readonly state: 'absent';
  readonly says: string;
};

/** The dependencies of doctor. Compose knows the opened parts; doctor checks the rest itself. */
export type DoctorServices = {
  readonly config: Config;
  readonly checks: readonly DoctorCheck[];
  readonly absences: readonly PortAbsence[];
};

const LOOK_MAX_MS = 10_000;
const DISK_LOW_BYTES = 2 * 1024 ** 3;
const GIB = 1024 ** 3;

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'Check every dependency, and say what each absent one answers.',
  example: 'exhibit doctor',
  notes: [
    'Exit status 0: everything that is configured answers; 1: something failed; 3: something',
    'could not be checked.',
  ],
  run: async (_values, io, { config, checks, absences }: DoctorServices) => {
    const all = [...ownChecks(config), ...checks];
    const found = await Promise.all(
      all.map(async (check) => ({ name: check.name, ...(await lookInTime(check, io.signal)) })),
    );
    const shown = [...found, ...absences];
    if (io.json) for (const one of shown) printJson(io, one);
    else print(io, findingLines(shown, io));
    if (shown.some(({ state }) => state === 'failed')) return EXIT.failed;
    return shown.some(({ state }) => state === 'unchecked') ? EXIT.couldNotCheck : EXIT.done;
  },
});

async function lookInTime(check: DoctorCheck, asked: AbortSignal): Promise<CheckResult> {
  const limit = AbortSignal.timeout(LOOK_MAX_MS);
  const signal = AbortSignal.any([limit, asked]);
  const late = new Promise<CheckResult>((settle) => {
    signal.addEventListener('abort', () => {
      settle({ state: 'unchecked', says: `no answer within ${LOOK_MAX_MS / 1000} s` });
    });
  });
  const looked = check.look(signal).catch((fault: unknown): CheckResult => {
    return { state: 'failed', says: fault instanceof Error ? fault.message : 'it failed' };
  });
  return Promise.race([looked, late]);
}

function ownChecks({ dataDir: dir }: Config): DoctorCheck[] {
  return [
    { name: 'Node.js', look: async () => ({ state: 'ok', says: process.versions.node }) },
    {
      name: 'data directory',
      look: async () => {
        const there = await nearestExisting(dir);
        await access(there, constants.R_OK | constants.W_OK);
        return {
          state: 'ok',
          says: there === dir ? `${dir} can be written` : `${dir} can be made`,
        };
      },
    },
    {
      name: 'free disk',
      look: async () => {
        const { bavail, bsize } = await statfs(await nearestExisting(dir));
        const free = bavail * bsize;
        const says = `${(free / GIB).toFixed(1)} GiB free at the data directory`;
        return { state: free < DISK_LOW_BYTES ? 'warning' : 'ok', says };
      },
    },
  ];
}

async function nearestExisting(dir: string): Promise<string> {
  const exists = await access(dir).then(
    () => true,
    () => false,
  );
  const above = dirname(dir);
  return exists || above === dir ? dir : nearestExisting(above);
}

const MARKS = {
  ok: ['ok', 'green'],
  absent: ['absent', 'dim'],
  warning: ['warning', 'yellow'],
  failed: ['failed', 'red'],
  unchecked: ['unchecked', 'yellow'],
} as const;

function findingLines(
  findings: readonly (CheckResult & { readonly name: string })[],
  io: Io,
): string[] {
  const names = Math.max(...findings.map(({ name }) => name.length));
  const words = Math.max(...Object.values(MARKS).map(([word]) => word.length));
  return findings.map(({ name, state, says }) => {
    const [word, colour] = MARKS[state];
    const mark = paint(word.padEnd(words), colour, io);
    return `${mark}  ${name.padEnd(names)}  ${says === '' ? NO_VALUE : printable(says)}`;
  });
}
