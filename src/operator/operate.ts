// Embedded stores have one owner: a command runs in the process that owns them, or becomes their
// owner for its run. Shared stores are opened as they are.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, EXIT, type ExitStatus, type Io } from '../command/command.ts';
import type { Config } from '../config.ts';
import { type CommandRequest, runCommand } from './command-line.ts';
import { doctorCommand, type PortAbsence } from './doctor.ts';
import { type OwnerHandler, type OwnerRequest, type Ownership, SOCKET_NAME } from './owner.ts';

/** The operations of compose: a seat at a data directory, and the stores of a configuration. */
export type Operations = {
  readonly takeSeat: (dataDir: string) => Promise<Ownership>;
  readonly openCommands: (config: Config) => Promise<{
    readonly commands: readonly Command<null>[];
    readonly close: () => Promise<void>;
  }>;
  readonly absences: (config: Config) => Promise<readonly PortAbsence[]>;
};

/** The configurations that a command may mean: what is set, and what `npm start` makes of it. */
export type Candidates = { readonly set: Config; readonly started: Config };

/** Whoever runs it finds the command by its name. */
type NamedCommand = Pick<Command<never>, 'name'>;

/** An owner that is about to end is asked again, or followed, so often and after so long. */
const TRIES_MAX = 50;
const RETRY_MS = 100;

/** Runs a command on the stores and returns its exit status. */
export async function operate(
  asked: CommandRequest<NamedCommand>,
  io: Io,
  candidates: Candidates,
  operations: Operations,
): Promise<number> {
  const simulated = await openSimulated(candidates, operations);
  if (simulated !== null) {
    io.err('(the simulated world that runs here)');
    return runInOwner(simulated, candidates.started, asked, io, operations);
  }
  const config = candidates.set;
  if (config.store.kind !== 'embedded' && config.warehouse.kind !== 'embedded') {
    return runOnOwnStores(config, asked, io, operations, null);
  }
  return runInOwner(await operations.takeSeat(config.dataDir), config, asked, io, operations);
}

// Where nothing is set, `npm start` serves the simulated world; a command typed beside it means
// that one, as long as nothing runs on the live directory.
async function openSimulated(
  { set, started }: Candidates,
  { takeSeat }: Operations,
): Promise<Ownership | null> {
  if (set.simulate || !started.simulate) return null;
  const runs = (config: Config) => existsSync(join(config.dataDir, SOCKET_NAME));
  if (runs(set) || !runs(started)) return null;
  const seat = await takeSeat(started.dataDir);
  if (!seat.owner) return seat;
  await seat.close();
  return null;
}

async function runInOwner(
  first: Ownership,
  config: Config,
  asked: CommandRequest<NamedCommand>,
  io: Io,
  operations: Operations,
): Promise<number> {
  let seat = first;
  // The owner notices that its caller has left and ends the command there.
  const gone = new Promise<{ readonly status: number }>((settle) => {
    io.signal.addEventListener('abort', () => settle({ status: EXIT.failed }), { once: true });
  });
  for (let tries = 1; !seat.owner; tries += 1) {
    const outcome = await Promise.race([callOwner(seat, asked, io), gone]);
    if ('status' in outcome) return outcome.status;
    if (tries === TRIES_MAX) throw outcome.fault;
    await sleep(RETRY_MS);
    seat = await operations.takeSeat(config.dataDir);
  }
  return runOnOwnStores(config, asked, io, operations, seat);
}

async function runOnOwnStores(
  config: Config,
  asked: CommandRequest<NamedCommand>,
  io: Io,
  operations: Operations,
  seat: Extract<Ownership, { owner: true }> | null,
): Promise<number> {
  try {
    const opened = await operations.openCommands(config).catch((fault: unknown) => ({ fault }));
    if ('fault' in opened) {
      return await reportUnopened(opened.fault, config, asked, io, operations);
    }
    const others = commandHandler(opened.commands, null);
    seat?.serve(others.handler);
    try {
      const command = opened.commands.find(({ name }) => name === asked.command.name);
      if (command === undefined) throw new Error(`${asked.command.name} is not opened`);
      return await runCommand({ ...asked, command }, io, null);
    } finally {
      await others.end();
      await opened.close();
    }
  } finally {
    await seat?.close();
  }
}

// Doctor is most needed where the stores do not open.
async function reportUnopened(
  fault: unknown,
  config: Config,
  asked: CommandRequest<NamedCommand>,
  io: Io,
  { absences }: Operations,
): Promise<number> {
  const says = fault instanceof Error ? fault.message : 'they could not be opened';
  if (asked.command.name !== doctorCommand.name) {
    io.err(`The stores could not be opened: ${says}`);
    return EXIT.couldNotCheck;
  }
  const checks = [{ name: 'stores', look: async () => ({ state: 'failed', says }) as const }];
  const services = { config, checks, absences: await absences(config) };
  return runCommand({ ...asked, command: doctorCommand }, io, services);
}

// A line's first character says where it goes. BEGAN is sent before the command does anything, so
// that a caller knows whether asking again could do it twice.
const TO_OUT = '>';
const TO_ERR = '!';
const BEGAN = '.';
const JSON_WANTED = 'json';
const COLOUR_WANTED = 'colour';
const WIDTH = 'width=';

/** Puts a command into words for the owner. */
export function ownerRequest(asked: CommandRequest<NamedCommand>, io: Io): OwnerRequest {
  const wants = [asked.json ? JSON_WANTED : '', io.colour ? COLOUR_WANTED : ''];
  if (io.width !== undefined) wants.push(`${WIDTH}${io.width}`);
  return { command: asked.command.name, args: [io.cwd, wants.join(','), ...asked.argv] };
}

/** Asks the owner to run a command. Throws where the owner was lost. */
export async function callOwner(
  seat: Extract<Ownership, { owner: false }>,
  asked: CommandRequest<NamedCommand>,
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

/**
 * Runs the commands of other processes on this process's services. `end` takes no more commands and
 * waits for those that run.
 */
export function commandHandler<S>(
  commands: readonly Command<S>[],
  services: S,
): { readonly handler: OwnerHandler; readonly end: () => Promise<void> } {
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
  const width = wants.find((one) => one.startsWith(WIDTH))?.slice(WIDTH.length);
  const io: Io = {
    out: (line) => lines.add(TO_OUT + line),
    err,
    room: () => lines.room(),
    json,
    colour: wants.includes(COLOUR_WANTED),
    width: width === undefined ? undefined : Number(width),
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
