// Answers one question: how is the control store kept in a directory of ours.
// One worker thread holds the engine, so that no statement blocks the event loop.
// It survives a killed process, not a power loss: the engine runs without fsync.
// It refuses to guess who owns the directory: owner.ts settles that before this opens it.

import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiledEntry } from './compiled-entry.ts';
import { type Database, type Session, StoreUnavailable, timeoutOf } from './database.ts';
import { type Engine, startEngine } from './pglite-engine.ts';
import { type OwnSession, transact } from './transaction.ts';

/** Creating the directory takes seconds; past this something is wrong. */
const CREATE_TIMEOUT_MS = 120_000;
/** How much of what a failing creation wrote is kept for the error. */
const CREATE_OUTPUT_MAX_CHARS = 2_000;
/** How many callers may wait for the one session. */
const WAITING_MAX = 10_000;
/** After the engine failed to start, callers are refused for so long before the next attempt. */
const REOPEN_AFTER_MS = 1_000;

/**
 * Opens the store in a directory, which is created where it is absent. `start` starts the engine,
 * now and again after it ended by a fault.
 */
export async function openPglite(
  directory: string,
  start: (directory: string) => Promise<Engine> = startEngine,
): Promise<Database> {
  if (!existsSync(join(directory, 'PG_VERSION'))) await create(directory);
  const session = heldSession(() => start(directory));
  await session.open();
  let tail: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  const exclusively = async <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting >= WAITING_MAX) throw new StoreUnavailable('too many callers wait', 'EBUSY');
    waiting += 1;
    const mine = tail.then(work);
    tail = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      waiting -= 1;
    }
  };

  return {
    kind: 'pglite',
    durable: true,
    query: <T extends object>(...call: Parameters<Session['query']>) =>
      exclusively(() => session.query<T>(...call)),
    transaction: (work, limits) =>
      exclusively(() => transact(session.own(), work, timeoutOf(limits))),
    close: () => exclusively(() => session.close()),
  };
}

type HeldSession = Session & {
  readonly open: () => Promise<void>;
  /** The same session, which notices when another engine has taken the place of this one. */
  readonly own: () => OwnSession;
  readonly close: () => Promise<void>;
};

/** One session over an engine that is started again after it ended by a fault. */
function heldSession(start: () => Promise<Engine>): HeldSession {
  let engine: Engine | null = null;
  let closed = false;
  let refuseUntil = 0;

  async function running(): Promise<Engine> {
    if (closed) throw new StoreUnavailable('it has been closed', 'ECLOSED');
    if (engine !== null && !engine.ended()) return engine;
    if (Date.now() < refuseUntil) {
      throw new StoreUnavailable('the embedded engine is being restarted', 'ERESTART');
    }
    engine = null;
    refuseUntil = Date.now() + REOPEN_AFTER_MS;
    engine = await start();
    return engine;
  }

  const session: Session = {
    query: async <T extends object>(...[sql, given, howOften]: Parameters<Session['query']>) => {
      const kind = howOften === 'often' ? howOften : 'query';
      const params = given === undefined ? [] : [...given];
      const rows = await (await running()).run({ kind, sql, params });
      return rows as T[];
    },
    script: async (sql) => void (await (await running()).run({ kind: 'script', sql })),
  };

  return {
    ...session,
    open: async () => void (await running()),
    own: () => {
      let mine: Engine | null = null;
      return {
        ...session,
        script: async (sql) => {
          await session.script(sql);
          if (mine === null) mine = engine;
        },
        alive: () => mine !== null && mine === engine && !mine.ended(),
      };
    },
    close: async () => {
      closed = true;
      if (engine !== null && !engine.ended()) await engine.stop();
    },
  };
}

/** Creates the directory in a process of its own, whose memory its exit gives back. */
async function create(directory: string): Promise<void> {
  await mkdir(dirname(directory), { recursive: true });
  const child = fork(fileURLToPath(compiledEntry('pglite-create')), [directory], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: CREATE_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output = (output + chunk).slice(-CREATE_OUTPUT_MAX_CHARS);
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => {
      if (status === 0) resolve();
      else {
        const how = signal === null ? `status ${status}` : `signal ${signal}`;
        reject(new Error(`the embedded database could not be created (${how}): ${output}`));
      }
    });
  });
}
