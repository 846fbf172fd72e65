import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Command } from '../command/command.ts';
import { type Config, parseConfig, withStartDefaults } from '../config.ts';
import { recordingIo, wordsAsked } from '../testing/recording-io.ts';
import { type Absence, doctorCommand } from './doctor.ts';
import { type Candidates, type Operations, operate } from './operate.ts';
import type { OwnerHandler, Ownership } from './owner.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'exhibit-operate-'));
});
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

const MEMBERS_LIST: Command<never> = {
  ...doctorCommand,
  name: 'members list',
  run: async () => 0,
};
const DOCTOR = wordsAsked('doctor --json', [doctorCommand, MEMBERS_LIST]);
const MEMBERS = wordsAsked('members list', [doctorCommand, MEMBERS_LIST]);
const ABSENT: readonly Absence[] = [{ name: 'explorer', state: 'absent', says: 'no live read' }];

function configOf(env: { readonly [name: string]: string }): Config {
  const parsed = parseConfig(env, { cwd });
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.config;
}

function candidates(env: { readonly [name: string]: string } = {}): Candidates {
  const started = { ...env, ...withStartDefaults(env) };
  return {
    set: configOf(env),
    started: configOf(
      started['EXHIBIT_SIMULATE'] === 'true' ? { ...env, EXHIBIT_SIMULATE: '1' } : env,
    ),
  };
}

type Log = string[];

/** A machine: its owners by directory, and a log of what was opened and closed. */
function machine(owners: { [dir: string]: OwnerHandler }, log: Log): Operations {
  return {
    takeSeat: async (dir): Promise<Ownership> => {
      const handler = owners[dir];
      if (handler === undefined) {
        log.push(`owner of ${dir.slice(cwd.length)}`);
        return {
          owner: true,
          serve: () => void log.push('serves others'),
          close: async () => void log.push('leaves'),
        };
      }
      return {
        owner: false,
        call: async (request, onLine) => {
          const steps = handler(request, new AbortController().signal);
          for (;;) {
            const step = await steps.next();
            if (step.done === true) return step.value;
            onLine(step.value);
          }
        },
      };
    },
    openCommands: async (config) => {
      log.push(`opens ${config.store.kind}`);
      const services = { config, checks: [], absences: ABSENT };
      const run: Command<null>['run'] = (argv, io) => doctorCommand.run(argv, io, services);
      return {
        commands: [{ ...doctorCommand, run }],
        close: async () => void log.push('closes'),
      };
    },
    absences: () => ABSENT,
  };
}

describe('where a command runs', () => {
  test('without an owner it becomes the owner for its run, and leaves in order', async () => {
    const log: Log = [];
    const io = recordingIo({ json: true });
    expect(await operate(DOCTOR, io, candidates(), machine({}, log))).toBe(0);
    expect(log).toEqual(['owner of /data', 'opens embedded', 'serves others', 'closes', 'leaves']);
  });

  test('with an owner it runs there, and nothing is opened here', async () => {
    const log: Log = [];
    const io = recordingIo();
    const owners = {
      [join(cwd, 'data')]: async function* say() {
        yield '.';
        yield '>from the owner';
        return 3;
      },
    };
    expect(await operate(MEMBERS, io, candidates(), machine(owners, log))).toBe(3);
    expect(io.lines).toEqual(['from the owner']);
    expect(log).toEqual([]);
  });

  test('shared stores have no owner: they are opened as they are', async () => {
    const log: Log = [];
    const shared = candidates({
      EXHIBIT_DATABASE_URL: 'postgres://db/x',
      EXHIBIT_WAREHOUSE_URL: 'http://ch/',
      EXHIBIT_SECRET: 'a-secret-of-the-deployment',
    });
    await operate(DOCTOR, recordingIo(), shared, machine({}, log));
    expect(log).toEqual(['opens postgres', 'closes']);
  });

  test('an owner that ends before the command began is followed', async () => {
    const log: Log = [];
    const dir = join(cwd, 'data');
    const owners: { [dir: string]: OwnerHandler } = {};
    owners[dir] = async function* ending() {
      delete owners[dir];
      yield* [];
      throw new Error('it is about to end');
    };
    expect(await operate(DOCTOR, recordingIo(), candidates(), machine(owners, log))).toBe(0);
    expect(log[0]).toBe('owner of /data');
  });

  test('a caller that is told to stop does not wait for the owner', async () => {
    const stop = new AbortController();
    const owners = {
      [join(cwd, 'data')]: async function* slow(): AsyncGenerator<string, number> {
        yield '.';
        stop.abort();
        return new Promise<number>(() => undefined);
      },
    };
    const io = recordingIo({ signal: stop.signal });
    expect(await operate(MEMBERS, io, candidates(), machine(owners, []))).toBe(1);
  });
});

describe('the simulated world beside it', () => {
  const simulated = () => join(cwd, 'data', 'simulated');
  function socketIn(dir: string): void {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'owner.sock'), '');
  }

  test('a command means the simulated world that runs, where nothing is set', async () => {
    socketIn(simulated());
    const io = recordingIo();
    const owners = {
      [simulated()]: async function* say() {
        yield* ['.', '>simulated'];
        return 0;
      },
    };
    expect(await operate(MEMBERS, io, candidates(), machine(owners, []))).toBe(0);
    expect(io.lines).toEqual(['simulated']);
    expect(io.errors).toEqual(['(the simulated world that runs here)']);
  });

  test('not where its owner is dead, a live one runs, or a source is set', async () => {
    socketIn(simulated());
    const dead: Log = [];
    await operate(DOCTOR, recordingIo(), candidates(), machine({}, dead));
    expect(dead.slice(0, 3)).toEqual(['owner of /data/simulated', 'leaves', 'owner of /data']);
    const set: Log = [];
    const source = candidates({ EXHIBIT_SDN_URL: 'file:/x' });
    await operate(DOCTOR, recordingIo(), source, machine({}, set));
    expect(set[0]).toBe('owner of /data');
    socketIn(join(cwd, 'data'));
    const live: Log = [];
    await operate(DOCTOR, recordingIo(), candidates(), machine({}, live));
    expect(live[0]).toBe('owner of /data');
  });
});

describe('stores that do not open', () => {
  function closed(log: Log): Operations {
    return {
      ...machine({}, log),
      openCommands: async () => {
        throw new Error('stamped as simulated');
      },
    };
  }

  test('a command could not check, and the seat is left', async () => {
    const log: Log = [];
    const io = recordingIo();
    expect(await operate(MEMBERS, io, candidates(), closed(log))).toBe(3);
    expect(io.errors).toEqual(['The stores could not be opened: stamped as simulated']);
    expect(log).toEqual(['owner of /data', 'leaves']);
  });

  test('doctor says so among everything else', async () => {
    const io = recordingIo({ json: true });
    expect(await operate(DOCTOR, io, candidates(), closed([]))).toBe(1);
    expect(io.lines).toContain('{"name":"stores","state":"failed","says":"stamped as simulated"}');
    const others = ['Node.js', 'data directory', 'free disk', 'explorer'];
    for (const name of others) expect(io.lines.join('\n')).toContain(`{"name":"${name}",`);
  });
});
