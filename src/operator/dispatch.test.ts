import { describe, expect, test } from 'vitest';
import {
  type Command,
  EXIT,
  fileArgument,
  type Io,
  readArgs,
  UsageError,
} from '../command/command.ts';
import { ran, recordingIo, wordsAsked } from '../testing/recording-io.ts';
import { callOwner, commandHandler, findCommand, ownerRequest } from './operate.ts';
import type { OwnerHandler } from './owner.ts';

type Echo = { readonly word: string };
const echo: Command<Echo> = {
  name: 'echo say',
  summary: 'Say it.',
  usage: 'exhibit echo say [WORDS]',
  example: 'exhibit echo say hello',
  run: async (argv, io, { word }) => {
    const { positionals } = readArgs(argv, { options: {}, positionals: [], many: true });
    io.out(`${word} ${positionals.join(' ')}`);
    io.out(`${io.json} ${io.colour} ${fileArgument('file', io)}`);
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

  test('lines, streams, status, JSON, colour and the caller’s directory arrive as typed', async () => {
    const io = recordingIo({ colour: true, cwd: '/home/op' });
    const owner = commandHandler(COMMANDS, SERVICES);
    expect(await callOwner(seatOf(owner.handler), asked, io)).toEqual({ status: 3 });
    expect(io.lines).toEqual(['said: a b', 'true true /home/op/file']);
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
