// Answers one question: how does a command come to the stores that it needs.
// Embedded stores have one owner: the command runs in the process that owns them, or becomes their
// owner for its run. Shared stores are opened as they are.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, EXIT, type Io } from '../command/command.ts';
import type { Config } from '../config.ts';
import { type AskedCommand, callOwner, commandHandler, runCommand } from './dispatch.ts';
import { type Absence, doctorCommand } from './doctor.ts';
import type { Ownership } from './owner.ts';

/** The commands on stores that were opened for them. */
type OpenedCommands = {
  readonly commands: readonly Command<null>[];
  readonly close: () => Promise<void>;
};

/** What the composition gives: a seat at a data directory, and the stores of a configuration. */
export type Operations = {
  readonly takeSeat: (dataDir: string) => Promise<Ownership>;
  readonly openCommands: (config: Config) => Promise<OpenedCommands>;
  readonly absences: (config: Config) => readonly Absence[];
};

/** The configurations that a command may mean: what is set, and what `npm start` makes of it. */
export type Candidates = { readonly set: Config; readonly started: Config };

/** An owner that is about to end is asked again, or followed, so often and after so long. */
const TRIES_MAX = 50;
const RETRY_MS = 100;
const SOCKET_NAME = 'owner.sock';

/** Runs a command on the stores and returns its exit status. */
export async function operate(
  asked: AskedCommand<never>,
  io: Io,
  candidates: Candidates,
  operations: Operations,
): Promise<number> {
  const simulated = await simulatedOwner(candidates, operations);
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
async function simulatedOwner(
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
  asked: AskedCommand<never>,
  io: Io,
  operations: Operations,
): Promise<number> {
  let seat = first;
  const gone = left(io.signal);
  for (let tries = 1; !seat.owner; tries += 1) {
    const outcome = await Promise.race([callOwner(seat, asked, io), gone]);
    if ('status' in outcome) return outcome.status;
    if (tries === TRIES_MAX) throw outcome.fault;
    await sleep(RETRY_MS);
    seat = await operations.takeSeat(config.dataDir);
  }
  return runOnOwnStores(config, asked, io, operations, seat);
}

// The owner notices that its caller has left and ends the command there.
function left(signal: AbortSignal): Promise<{ readonly status: number }> {
  return new Promise((settle) => {
    signal.addEventListener('abort', () => settle({ status: EXIT.failed }), { once: true });
  });
}

async function runOnOwnStores(
  config: Config,
  asked: AskedCommand<never>,
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
  asked: AskedCommand<never>,
  io: Io,
  { absences }: Operations,
): Promise<number> {
  const says = fault instanceof Error ? fault.message : 'they could not be opened';
  if (asked.command.name !== doctorCommand.name) {
    io.err(`The stores could not be opened: ${says}`);
    return EXIT.couldNotCheck;
  }
  const checks = [{ name: 'stores', look: async () => ({ state: 'failed', says }) as const }];
  const services = { config, checks, absences: absences(config) };
  return runCommand({ ...asked, command: doctorCommand }, io, services);
}
