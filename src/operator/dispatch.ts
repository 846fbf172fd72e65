// Answers one question: which command do these words ask for, and in which process does it run.
// A command that needs the embedded stores runs in the process that owns them: this one, for its
// run, or the one that is alive.

import { type Command, EXIT, type ExitStatus, type Io, UsageError } from '../command/command.ts';
import { commandHelp, usageLines } from './help.ts';
import type { Ownership } from './owner.ts';
import type { OwnerHandler, OwnerRequest } from './owner-protocol.ts';

/** Words that were understood as far as the command's name. */
export type AskedCommand<S> = {
  readonly command: Command<S>;
  readonly argv: readonly string[];
  readonly json: boolean;
  readonly help: boolean;
};

/** Finds the command that the first word or two name; `null` where none is named so. */
export function findCommand<S>(
  words: readonly string[],
  commands: readonly Command<S>[],
): AskedCommand<S> | null {
  for (const length of [3, 2, 1]) {
    const name = words.slice(0, length).join(' ');
    const command = commands.find((one) => one.name === name);
    if (command === undefined || words.length < length) continue;
    const rest = words.slice(length);
    const ends = rest.indexOf('--');
    const [before, after] = ends < 0 ? [rest, []] : [rest.slice(0, ends), rest.slice(ends)];
    const argv = before.filter((word) => word !== '--json' && word !== '--help' && word !== '-h');
    return {
      command,
      argv: [...argv, ...after],
      json: before.includes('--json'),
      help: before.includes('--help') || before.includes('-h'),
    };
  }
  return null;
}

/** Runs a command, or prints its help. Bad usage is said with the usage; a bug is thrown on. */
export async function runCommand<S>(
  asked: AskedCommand<S>,
  io: Io,
  services: S,
): Promise<ExitStatus> {
  if (asked.help) {
    for (const line of commandHelp(asked.command)) io.out(line);
    return EXIT.done;
  }
  try {
    return await asked.command.run(asked.argv, io, services);
  } catch (fault) {
    if (!(fault instanceof UsageError)) throw fault;
    io.err(`${asked.command.name}: ${fault.message}`);
    for (const line of usageLines(asked.command.usage)) io.err(line);
    return EXIT.badUsage;
  }
}

// A line's first character says where it goes. BEGAN is sent before the command does anything, so
// that a caller knows whether asking again could do it twice.
const TO_OUT = '>';
const TO_ERR = '!';
const BEGAN = '.';
const JSON_WANTED = 'json';
const COLOUR_WANTED = 'colour';

/** Puts a command into words for the owner. */
export function ownerRequest(asked: AskedCommand<never>, io: Io): OwnerRequest {
  const how = [asked.json ? JSON_WANTED : '', io.colour ? COLOUR_WANTED : ''].join(',');
  return { command: asked.command.name, args: [io.cwd, how, ...asked.argv] };
}

/** Asks the owner to run a command. Throws where the owner was lost. */
export async function callOwner(
  seat: Extract<Ownership, { owner: false }>,
  asked: AskedCommand<never>,
  io: Io,
): Promise<{ readonly status: number } | { readonly began: false; readonly fault: unknown }> {
  let began = false;
  try {
    const status = await seat.call(ownerRequest(asked, io), (line) => {
      const text = line.slice(1);
      if (line.startsWith(TO_OUT)) io.out(text);
      else if (line.startsWith(TO_ERR)) io.err(text);
      else began = true;
    });
    return { status };
  } catch (fault) {
    if (!began) return { began, fault };
    throw fault;
  }
}

/** A handler for the owner's socket. `end` takes no more commands and waits for those that run. */
type CommandHandler = {
  readonly handler: OwnerHandler;
  readonly end: () => Promise<void>;
};

/** Runs the commands of other processes on this process's services. */
export function commandHandler<S>(commands: readonly Command<S>[], services: S): CommandHandler {
  const running = new Set<Promise<unknown>>();
  let ending = false;
  return {
    end: async () => {
      ending = true;
      while (running.size > 0) await Promise.allSettled(running);
    },
    handler: async function* answer(request, signal) {
      // The caller, who has not been told that it began, asks the next owner.
      if (ending) throw new Error('it is about to end');
      yield BEGAN;
      if (ending) throw new Error('it is about to end');
      const left = new AbortController();
      const lines = new LineQueue(() => left.abort());
      const told = AbortSignal.any([signal, left.signal]);
      const work = run(request, told, lines, commands, services).finally(() => lines.end());
      running.add(work);
      // A command whose caller has gone runs to its end; the owner waits for it.
      void work.then(
        () => running.delete(work),
        () => running.delete(work),
      );
      yield* lines.drained();
      return await work;
    },
  };
}

async function run<S>(
  request: OwnerRequest,
  signal: AbortSignal,
  lines: LineQueue,
  commands: readonly Command<S>[],
  services: S,
): Promise<ExitStatus> {
  const [cwd, how, ...argv] = request.args;
  const command = commands.find((one) => one.name === request.command);
  const err = (line: string) => lines.add(TO_ERR + line);
  if (command === undefined || cwd === undefined || how === undefined) {
    err('The running process does not know this command; is it of another version?');
    return EXIT.failed;
  }
  const wants = how.split(',');
  const json = wants.includes(JSON_WANTED);
  const io: Io = {
    out: (line) => lines.add(TO_OUT + line),
    err,
    room: () => lines.room(),
    json,
    colour: wants.includes(COLOUR_WANTED),
    cwd,
    signal,
  };
  return runCommand({ command, argv, json, help: false }, io, services);
}

/** Output that waits to be read, in characters; a caller that lets more wait is not reading. */
const WAITING_CHARS_MAX = 16 * 1024 * 1024;
/** Up to here a command that asks may write on. */
const ROOM_CHARS = 1024 * 1024;

/** Lines written at once and read as they come. What nobody reads is not kept. */
class LineQueue {
  readonly #leave: () => void;
  #lines: string[] = [];
  #chars = 0;
  #state: 'open' | 'ended' | 'left' | 'overrun' = 'open';
  #wake: () => void = () => undefined;
  #roomy: () => void = () => undefined;

  /** `leave` is called once, when its reader has gone or has not read for too long. */
  constructor(leave: () => void) {
    this.#leave = leave;
  }

  add(line: string): void {
    if (this.#state !== 'open') return;
    this.#lines.push(line);
    this.#chars += line.length;
    if (this.#chars > WAITING_CHARS_MAX) this.#drop('overrun');
    this.#wake();
  }

  /** Resolves when little waits to be read, or nothing is kept any more. */
  async room(): Promise<void> {
    while (this.#state === 'open' && this.#chars > ROOM_CHARS) {
      await new Promise<void>((roomy) => {
        this.#roomy = roomy;
      });
    }
  }

  end(): void {
    if (this.#state === 'open') this.#state = 'ended';
    this.#wake();
  }

  #isOverrun(): boolean {
    return this.#state === 'overrun';
  }

  #drop(state: 'left' | 'overrun'): void {
    this.#state = state;
    this.#lines = [];
    this.#leave();
    this.#roomy();
  }

  async *drained(): AsyncGenerator<string, void> {
    try {
      for (;;) {
        const lines = this.#lines;
        this.#lines = [];
        for (const line of lines) {
          if (this.#isOverrun()) break;
          yield line;
          this.#chars -= line.length;
          if (this.#chars <= ROOM_CHARS) this.#roomy();
        }
        if (this.#isOverrun()) throw new Error(OVERRUN);
        if (this.#lines.length > 0) continue;
        if (this.#state === 'ended') return;
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
      }
    } finally {
      if (this.#state === 'open') this.#drop('left');
    }
  }
}

const OVERRUN =
  'its output was not read for too long and is not kept; the command was told to stop, and how ' +
  'it ended is not known';
