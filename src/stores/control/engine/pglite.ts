// One worker thread holds the engine, so that no statement blocks the event loop.
// It survives a killed process, not a power loss: the engine runs without fsync.
// It refuses to guess who owns the directory: owner.ts settles that before this opens it.

import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { watchQueue } from '../../../evidence/queue-watch.ts';
import {
  type Database,
  fromSqlState,
  type OwnSession,
  type Param,
  type Session,
  StoreUnavailable,
  timeoutOf,
  transact,
} from './database.ts';
import { READY_ID } from './pglite-prepared.ts';
import type { EngineReply } from './pglite-worker.ts';

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
  const turns = watchQueue(() => performance.now());

  const exclusively = async <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting >= WAITING_MAX) throw new StoreUnavailable('too many callers wait', 'EBUSY');
    waiting += 1;
    const cameMs = performance.now();
    const mine = tail.then(() => {
      turns.noteTurn(performance.now() - cameMs);
      return work();
    });
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
    query: (...call) => exclusively(() => session.query(...call)),
    transaction: (work, limits) =>
      exclusively(() => transact(session.own(), work, timeoutOf(limits))),
    // An empty queue keeps nobody waiting, however long the last one in it had waited.
    isLate: () => waiting > 0 && turns.isLate(),
    close: () => exclusively(() => session.close()),
  };
}

/** One session over an engine that is started again after it ended by a fault. */
function heldSession(start: () => Promise<Engine>) {
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
    query: async (sql, given, howOften) => {
      const kind = howOften === 'often' ? howOften : 'query';
      const params = given === undefined ? [] : [...given];
      return (await running()).run({ kind, sql, params });
    },
    script: async (sql) => void (await (await running()).run({ kind: 'script', sql })),
  };

  return {
    ...session,
    open: async () => void (await running()),
    /** The same session, which notices when another engine has taken the place of this one. */
    own: (): OwnSession => {
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

// A worker that ends, breaks or stalls is silence for its callers, and is not used again.

type EngineStatement =
  | { readonly kind: 'query' | 'often'; readonly sql: string; readonly params: Param[] }
  | { readonly kind: 'script'; readonly sql: string };

export type Engine = {
  readonly run: (statement: EngineStatement) => Promise<object[]>;
  readonly ended: () => boolean;
  /** Ends the worker at once, as a kill would: what was acknowledged is on disk. */
  readonly kill: () => void;
  /** Writes a checkpoint and ends the worker. */
  readonly stop: () => Promise<void>;
};

/** Opening after a kill replays what was written since the last checkpoint. */
const START_TIMEOUT_MS = 60_000;
/** A statement cannot be cancelled inside the engine: past this the worker is ended. */
const STATEMENT_STALLED_MS = 60_000;

/**
 * How much a function of the engine does before it is compiled a second time, to run faster. With
 * the usual 1.8 million a start compiles most of what it passes through, for statements of a
 * migration that never come again: a third of its processor time.
 */
const OPTIMISED_AFTER = 100_000_000;

/** Starts a worker on the directory and waits until it answers. Rejects with StoreUnavailable. */
export async function startEngine(directory: string): Promise<Engine> {
  setFlagsFromString(`--wasm-tiering-budget=${OPTIMISED_AFTER}`);
  const worker = new Worker(compiledEntry('pglite-worker'), {
    workerData: directory,
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  const questions = openQuestions();
  const end = (fault: string, code: string, detail: string | null = null) => {
    questions.end(new StoreUnavailable(fault, code, detail));
    void worker.terminate();
  };
  worker.on('error', (error) => end('the embedded engine failed', 'EENGINE', String(error)));
  worker.on('exit', () => end('the embedded engine ended', 'EENDED'));
  worker.on('message', (reply: EngineReply) => {
    if (reply.kind === 'fatal') end('the embedded engine failed', 'EENGINE', reply.message);
    else questions.settle(reply);
  });

  const ask = (request: EngineStatement | { readonly kind: 'close' }) =>
    questions.ask((id) => {
      worker.postMessage({ ...request, id });
      return setTimeout(
        () => end('the embedded engine stalled', 'ETIMEDOUT'),
        STATEMENT_STALLED_MS,
      );
    });
  // The worker says by itself that it is ready, as the answer to a question that nobody sent.
  await questions.ask(() =>
    setTimeout(() => end('the embedded engine did not start', 'ETIMEDOUT'), START_TIMEOUT_MS),
  );
  return {
    run: ask,
    ended: questions.ended,
    kill: () => end('the embedded engine was ended', 'EENDED'),
    stop: async () => void (await ask({ kind: 'close' })),
  };
}

/** The questions that the worker has not answered yet; after `end` each is refused. */
function openQuestions() {
  const waiters = new Map<
    number,
    { readonly resolve: (rows: object[]) => void; readonly reject: (error: Error) => void }
  >();
  let nextId = READY_ID;
  let ending: StoreUnavailable | null = null;

  return {
    ended: () => ending !== null,
    /** Sends a question under a new id; `send` gives the timer that is stopped by the answer. */
    ask: (send: (id: number) => NodeJS.Timeout): Promise<object[]> =>
      new Promise((resolve, reject) => {
        if (ending !== null) throw ending;
        const id = nextId;
        nextId += 1;
        // Where sending throws, nothing was asked and nothing is kept.
        const timer = send(id);
        waiters.set(id, {
          resolve: (rows) => {
            clearTimeout(timer);
            resolve(rows);
          },
          reject: (error) => {
            clearTimeout(timer);
            reject(error);
          },
        });
      }),
    settle: (reply: Exclude<EngineReply, { kind: 'fatal' }>) => {
      const waiter = waiters.get(reply.id);
      waiters.delete(reply.id);
      if (reply.kind === 'rows') waiter?.resolve(reply.rows);
      else waiter?.reject(fromSqlState(reply.code, reply.message));
    },
    end: (error: StoreUnavailable) => {
      if (ending !== null) return;
      ending = error;
      for (const waiter of waiters.values()) waiter.reject(error);
      waiters.clear();
    },
  };
}

// Node runs no TypeScript in a worker, so that a run from src uses the build in dist.

/** The compiled entry of that name in this folder. Throws where the build does not hold it. */
export function compiledEntry(name: string): URL {
  const beside = new URL(`./${name}.js`, import.meta.url);
  if (!import.meta.url.endsWith('.ts')) return beside;
  const inSource = beside.href.lastIndexOf('/src/');
  const built = new URL(
    `${beside.href.slice(0, inSource)}/dist/${beside.href.slice(inSource + '/src/'.length)}`,
  );
  if (!existsSync(fileURLToPath(built))) {
    throw new Error(`dist/ does not hold ${name}.js: run "npm run build" first`);
  }
  return built;
}
