// Answers one question: is the worker that holds the embedded PostgreSQL answering.
// A worker that ends, breaks or stalls is silence for its callers, and is not used again.

import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { compiledEntry } from './compiled-entry.ts';
import { fromSqlState, type Param, StoreUnavailable } from './database.ts';
import { READY_ID } from './pglite-settings.ts';
import type { EngineReply } from './pglite-worker.ts';

/** What the engine is asked to run. */
type EngineStatement =
  | { readonly kind: 'query' | 'often'; readonly sql: string; readonly params: Param[] }
  | { readonly kind: 'script'; readonly sql: string };

/** A started engine. */
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

type Waiter = {
  readonly resolve: (rows: object[]) => void;
  readonly reject: (error: Error) => void;
};

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
  const waiters = new Map<number, Waiter>();
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
