import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Command,
  EXIT,
  fileArgument,
  type Io,
  readArgs,
  UsageError,
} from '../command/command.ts';
import { type Config, parseConfig, withStartDefaults } from '../config.ts';
import { ran, recordingIo, wordsAsked } from '../testing/recording-io.ts';
import { findCommand } from './command-line.ts';
import { doctorCommand, type PortAbsence } from './doctor.ts';
import {
  type Candidates,
  callOwner,
  commandHandler,
  type Operations,
  operate,
  ownerRequest,
} from './operate.ts';
import type { OwnerHandler, Ownership } from './owner.ts';

describe('operate', () => {
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
  const ABSENT: readonly PortAbsence[] = [
    { name: 'explorer', state: 'absent', says: 'no live read' },
  ];

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
      absences: async () => ABSENT,
    };
  }

  describe('where a command runs', () => {
    test('without an owner it becomes the owner for its run, and leaves in order', async () => {
      const log: Log = [];
      const io = recordingIo({ json: true });
      expect(await operate(DOCTOR, io, candidates(), machine({}, log))).toBe(0);
      expect(log).toEqual([
        'owner of /data',
        'opens embedded',
        'serves others',
        'closes',
        'leaves',
      ]);
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
      expect(io.lines).toContain(
        '{"name":"stores","state":"failed","says":"stamped as simulated"}',
      );
      const others = ['Node.js', 'data directory', 'free disk', 'explorer'];
      for (const name of others) expect(io.lines.join('\n')).toContain(`{"name":"${name}",`);
    });
  });
});

type Echo = { readonly word: string };
const echo: Command<Echo> = {
  completes: { argument: [], options: [] },
  name: 'echo say',
  summary: 'Say it.',
  usage: 'exhibit echo say [WORDS]',
  example: 'exhibit echo say hello',
  run: async (argv, io, { word }) => {
    const { positionals } = readArgs(argv, { options: {}, positionals: [], many: true });
    io.out(`${word} ${positionals.join(' ')}`);
    io.out(`${io.json} ${io.colour} ${io.width} ${fileArgument('file', io)}`);
    io.err('to the side');
    return EXIT.couldNotCheck;
  },
};
const wrong: Command<Echo> = {
  ...echo,
  name: 'wrong',
  run: async () => {
    throw new UsageError('--x is missing.');
  },
};
const broken: Command<Echo> = {
  ...echo,
  name: 'broken',
  run: async () => {
    throw new TypeError('a bug');
  },
};
const COMMANDS = [echo, wrong, broken];
const SERVICES = { word: 'said:' };

describe('words', () => {
  test('one word or two name a command; the rest are its arguments', () => {
    expect(findCommand(['echo', 'say', 'a', '--json', 'b'], COMMANDS)).toMatchObject({
      argv: ['a', 'b'],
      json: true,
      help: false,
    });
    expect(findCommand(['wrong', '-h'], COMMANDS)).toMatchObject({ help: true });
    expect(findCommand(['echo'], COMMANDS)).toBeNull();
    expect(findCommand([], COMMANDS)).toBeNull();
  });

  test('what follows -- is never an option', () => {
    expect(findCommand(['echo', 'say', '--', '--json'], COMMANDS)).toMatchObject({
      argv: ['--', '--json'],
      json: false,
    });
  });

  test('bad usage is said with the usage, exit status 2', async () => {
    expect(await ran('wrong', COMMANDS, SERVICES)).toEqual({
      status: 2,
      lines: [],
      errors: ['wrong: --x is missing.', 'usage: exhibit echo say [WORDS]'],
    });
  });

  test('a bug is not bad usage', async () => {
    await expect(ran('broken', COMMANDS, SERVICES)).rejects.toThrow('a bug');
  });
});

describe('through the owner', () => {
  // As the owner's socket does: lines one by one, then the status.
  function seatOf(handler: OwnerHandler) {
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
    } satisfies Parameters<typeof callOwner>[0];
  }
  const asked = wordsAsked('echo say a b --json', COMMANDS);

  test('lines, streams, status, JSON, colour, width and the caller’s directory arrive as typed', async () => {
    const io = recordingIo({ colour: true, width: 72, cwd: '/home/op' });
    const owner = commandHandler(COMMANDS, SERVICES);
    expect(await callOwner(seatOf(owner.handler), asked, io)).toEqual({ status: 3 });
    expect(io.lines).toEqual(['said: a b', 'true true 72 /home/op/file']);
    expect(io.errors).toEqual(['to the side']);
  });

  test('a command that the owner does not know exits 1', async () => {
    const io = recordingIo();
    const owner = commandHandler([wrong], SERVICES);
    expect(await callOwner(seatOf(owner.handler), asked, io)).toEqual({ status: 1 });
    expect(io.errors[0]).toContain('another version');
  });

  test('bad usage there is bad usage here', async () => {
    const io = recordingIo();
    const owner = commandHandler(COMMANDS, SERVICES);
    const bad = wordsAsked('wrong', COMMANDS);
    expect(await callOwner(seatOf(owner.handler), bad, io)).toEqual({ status: 2 });
  });

  test('an owner that ends before a command began lets it be asked again', async () => {
    const owner = commandHandler(COMMANDS, SERVICES);
    await owner.end();
    const outcome = await callOwner(seatOf(owner.handler), asked, recordingIo());
    expect(outcome).toMatchObject({ began: false });
  });

  test('a failure after it began is not asked again', async () => {
    const owner = commandHandler(COMMANDS, SERVICES);
    const bug = wordsAsked('broken', COMMANDS);
    await expect(callOwner(seatOf(owner.handler), bug, recordingIo())).rejects.toThrow('a bug');
  });

  test('the owner ends only when the commands of others have', async () => {
    let finish: () => void = () => undefined;
    const slow: Command<Echo> = {
      ...echo,
      run: () =>
        new Promise((settle) => {
          finish = () => settle(EXIT.done);
        }),
    };
    const owner = commandHandler([slow], SERVICES);
    const called = callOwner(seatOf(owner.handler), asked, recordingIo());
    await new Promise((settle) => setImmediate(settle));
    let ended = false;
    const ending = owner.end().then(() => {
      ended = true;
    });
    await new Promise((settle) => setImmediate(settle));
    expect(ended).toBe(false);
    finish();
    await ending;
    expect(await called).toEqual({ status: 0 });
  });

  describe('output that nobody reads', () => {
    const LINE = 'x'.repeat(1024 * 1024);
    const seen: { io?: Io } = {};
    const talks: Command<Echo> = {
      ...echo,
      run: async (_, io) => {
        seen.io = io;
        await new Promise<void>((settle) => io.signal.addEventListener('abort', () => settle()));
        return EXIT.failed;
      },
    };
    async function begun() {
      const owner = commandHandler([talks], SERVICES);
      const request = ownerRequest(asked, recordingIo());
      const steps = owner.handler(request, new AbortController().signal);
      await steps.next();
      const first = steps.next();
      if (seen.io === undefined) throw new Error('it did not begin');
      return { owner, steps, first, io: seen.io };
    }

    test('is dropped past its bound, the command told to stop, its caller that it was cut', async () => {
      const { owner, steps, first, io } = await begun();
      for (let i = 0; i < 18; i += 1) io.out(LINE);
      expect(io.signal.aborted).toBe(true);
      await expect(first).rejects.toThrow('was not read for too long');
      expect((await steps.next()).done).toBe(true);
      await owner.end();
    });

    test('makes a command that asks wait for its reader, however much it says', async () => {
      const { owner, steps, first, io } = await begun();
      let written = 0;
      const writing = (async () => {
        for (; written < 40; written += 1) {
          io.out(LINE);
          await io.room?.();
        }
      })();
      await new Promise((settle) => setImmediate(settle));
      expect(written).toBeLessThan(3);
      await first;
      for (let read = 1; read < 40; read += 1) await steps.next();
      const rest = steps.next();
      await writing;
      expect(io.signal.aborted).toBe(false);
      // Nobody reads any more: there is nothing to wait for.
      for (let i = 0; i < 3; i += 1) io.out(LINE);
      const waiting = io.room?.();
      await rest;
      await steps.return(1);
      await waiting;
      expect(io.signal.aborted).toBe(true);
      await owner.end();
    });

    test('tells the command when its reader leaves, and is kept no longer', async () => {
      const { owner, steps, first, io } = await begun();
      io.out('a line');
      await first;
      await steps.return(1);
      expect(io.signal.aborted).toBe(true);
      io.out('nobody reads this');
      await owner.end();
    });
  });

  test('a request holds the directory and the wishes before the words', () => {
    const io = recordingIo({ cwd: '/d', colour: false });
    expect(ownerRequest(asked, io)).toEqual({
      command: 'echo say',
      args: ['/d', 'json,', 'a', 'b'],
    });
  });
});
