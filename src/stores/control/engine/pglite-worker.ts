// A worker thread holds the engine and runs one statement at a time, in the order received.
// It refuses to go on after a fault of the engine itself: it says so and ends.

import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import type { Param } from './database.ts';
import {
  describedStatements,
  ENGINE_PARAMETERS,
  preparedStatements,
  READY_ID,
  TYPE_ID,
} from './pglite-prepared.ts';

/**
 * The requests to the worker. An `often` statement is planned once and kept; `close` writes a
 * checkpoint and ends the worker.
 */
type EngineRequest =
  | {
      readonly id: number;
      readonly kind: 'query' | 'often';
      readonly sql: string;
      readonly params: Param[];
    }
  | { readonly id: number; readonly kind: 'script'; readonly sql: string }
  | { readonly id: number; readonly kind: 'close' };

/** The answers of the worker. After `fatal` it answers nothing more. */
export type EngineReply =
  | { readonly id: number; readonly kind: 'rows'; readonly rows: object[] }
  | {
      readonly id: number;
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
    }
  | { readonly id: number; readonly kind: 'fatal'; readonly message: string };

/** The engine writes no checkpoint by itself (it has no background processes): after this much. */
const CHECKPOINT_AFTER_BYTES = 32 * 1024 * 1024;
/** Nor does it vacuum: after this much. */
const VACUUM_AFTER_BYTES = 256 * 1024 * 1024;
/** How often the amount written is looked at, in statements. */
const UPKEEP_EVERY_STATEMENTS = 64;

const port = parentPort;
if (port === null) throw new Error('pglite-worker: runs as a worker thread only');

const text = (value: string): string => value;
const engine = await PGlite.create({
  dataDir: String(workerData),
  startParams: [...PGlite.defaultStartParams, ...ENGINE_PARAMETERS],
  parsers: { [TYPE_ID.int8]: BigInt, [TYPE_ID.date]: text, [TYPE_ID.timestamp]: text },
});

const often = preparedStatements(engine);
const described = describedStatements(engine);
let statements = 0;
let writtenSinceVacuumBytes = 0;
let inTransaction = false;

function reply(message: EngineReply): void {
  port?.postMessage(message);
}

async function upkeep(): Promise<void> {
  statements += 1;
  if (statements < UPKEEP_EVERY_STATEMENTS || inTransaction) return;
  statements = 0;
  const wal = await engine.query<{ bytes: number }>(
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes ' +
      'from pg_control_checkpoint()',
  );
  const written = wal.rows[0]?.bytes;
  if (written === undefined || written < CHECKPOINT_AFTER_BYTES) return;
  writtenSinceVacuumBytes += written;
  if (writtenSinceVacuumBytes >= VACUUM_AFTER_BYTES) {
    writtenSinceVacuumBytes = 0;
    await engine.exec('vacuum (analyze)');
  }
  await engine.exec('checkpoint');
}

async function answer(request: EngineRequest): Promise<EngineReply> {
  const { id } = request;
  switch (request.kind) {
    case 'query':
      return { id, kind: 'rows', rows: await described.run(request.sql, request.params) };
    case 'often':
      return { id, kind: 'rows', rows: await often(request.sql, request.params) };
    case 'script':
      described.noteScript(request.sql);
      await engine.exec(request.sql);
      return { id, kind: 'rows', rows: [] };
    case 'close':
      await engine.close();
      return { id, kind: 'rows', rows: [] };
  }
}

function track(request: EngineRequest): void {
  if (request.kind !== 'script') return;
  if (request.sql === 'begin') inTransaction = true;
  if (request.sql === 'commit' || request.sql === 'rollback') inTransaction = false;
}

async function faultOf(id: number, error: unknown): Promise<EngineReply> {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (typeof code === 'string' && code.length === 5) return { id, kind: 'refused', code, message };
  // Not a word of the engine's: a parameter it could not write, or the engine is broken.
  try {
    await engine.query('select 1');
  } catch (broken) {
    const stillAnswers = broken instanceof Error && 'code' in broken && broken.code === '25P02';
    if (!stillAnswers) return { id, kind: 'fatal', message };
  }
  return { id, kind: 'refused', code: '22023', message };
}

async function serve(request: EngineRequest): Promise<void> {
  track(request);
  try {
    reply(await answer(request));
  } catch (error) {
    const fault = await faultOf(request.id, error);
    reply(fault);
    if (fault.kind === 'fatal') process.exit(1);
    return;
  }
  if (request.kind === 'close') process.exit(0);
  await upkeep();
}

let busy: Promise<void> = Promise.resolve();
port.on('message', (request: EngineRequest) => {
  busy = busy.then(() => serve(request));
});
reply({ id: READY_ID, kind: 'rows', rows: [] });
