// The warehouse on one machine: chDB under the data directory, in a child process of ours. Refuses
// to share its directory: one process owns it, the others are told so. A statement that a child
// still owed when it died is rejected as interrupted; nothing is answered for it.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import {
  CHILD_FD,
  type ChildOptions,
  type EngineJob,
  type EngineOrder,
  type Frame,
  frameReader,
  reply,
  writeFrame,
} from './engine-protocol.ts';
import {
  ANSWER_SETTINGS,
  bindParams,
  type Call,
  type CommandOptions,
  errorOfText,
  type InsertSource,
  identifier,
  type LocalFiles,
  openSlots,
  type QueryOptions,
  RESULT_ROWS_MAX,
  shapedRows,
  type Warehouse,
  type WarehouseLoad,
  WarehouseRefusal,
  WarehouseUnavailable,
} from './executor.ts';
import { chunksOf, fileInsert, fileTable, insertTarget, withSettings } from './insert-source.ts';

/** The embedded warehouse; `pid` is its child's process id, for whoever measures memory. */
export type EmbeddedWarehouse = Warehouse & LocalFiles & { pid(): number | undefined };

type ParquetSource = Extract<InsertSource, { format: 'Parquet' }>;

/** Opens the warehouse in a directory of its own. Rejects with `WarehouseRefusal`. */
export async function openEmbedded(
  directory: string,
  limits: EngineLimits = ENGINE_LIMITS,
): Promise<EmbeddedWarehouse> {
  const engine = await startWarehouseEngine(directory, limits);
  // Leftovers of a killed process; only the owner of the directory comes here.
  const spool = join(directory, 'spool');
  await rm(spool, { recursive: true, force: true });

  async function query<T>(sql: string, options: QueryOptions<T>): Promise<readonly T[]> {
    const rowsMax = options.rowsMax === undefined ? RESULT_ROWS_MAX : options.rowsMax;
    const format = options.tuples === true ? 'JSONCompact' : 'JSON';
    const job = { do: 'run', format, settings: { max_result_rows: rowsMax } } as const;
    const bytes = await engine.run(job, Buffer.from(bindParams(sql, options.params)), options);
    return shapedRows(bytes.toString('utf8'), options.row);
  }

  async function command(sql: string, options: CommandOptions): Promise<void> {
    const job = { do: 'run', format: NO_RESULT, settings: {} } as const;
    await engine.run(job, Buffer.from(bindParams(sql, options.params)), options);
  }

  async function insert(table: string, source: InsertSource, call: Call): Promise<void> {
    const columns = source.columns?.map(identifier);
    const target = insertTarget(identifier(table), columns);
    if ('format' in source && source.format === 'Parquet') {
      return insertParquet(target, source, call);
    }
    for await (const { format, payload } of chunksOf(table, source, query, call)) {
      const job = { do: 'insert', table, columns, format } as const;
      await engine.run(job, payload, call);
    }
  }

  /** Parquet has its index at its end: the engine reads it from a file, beside its own. */
  async function insertParquet(target: string, source: ParquetSource, call: Call): Promise<void> {
    await mkdir(spool, { recursive: true });
    const path = join(spool, `${randomUUID()}.parquet`);
    try {
      const bytes = Readable.from(source.bytes, { objectMode: false });
      // Opened first: a file that an aborted stream were still to make would outlive the removal.
      const file = await open(path, 'w');
      await pipeline(bytes, file.createWriteStream(), { signal: call.signal });
      await command(fileInsert(target, path), call);
    } catch (cause) {
      throw call.signal?.aborted === true ? new WarehouseUnavailable('aborted') : cause;
    } finally {
      await rm(path, { force: true });
    }
  }

  return {
    kind: 'embedded',
    query,
    insert,
    command,
    queryFile: (file, sql, { settings, ...options }) =>
      query(withSettings(sql(fileTable(file)), settings), options),
    commandFile: (file, sql, { settings, ...options }) =>
      command(withSettings(sql(fileTable(file)), settings), options),
    ping: async (call) => {
      await engine.run({ do: 'run', format: NO_RESULT, settings: {} }, PING, call);
    },
    load: engine.load,
    writes: engine.writes,
    pid: engine.pid,
    close: engine.close,
  };
}

const PING = Buffer.from('SELECT 1');

/** The resources that the embedded engine may use. */
export type EngineLimits = {
  /** Statements running at once. */
  readonly inFlightMax: number;
  /** Statements waiting for one of them to end. */
  readonly waitingMax: number;
  /** Threads of one statement. */
  readonly threadsMax: number;
  /** Bytes of memory of one statement, and of the whole engine. */
  readonly queryBytesMax: number;
  readonly engineBytesMax: number;
  /** Bytes of its cache of marks, which is what repeated reads of small ranges need. */
  readonly markCacheBytes: number;
  /** How long a given-up read or write may still run before the child is killed for it. */
  readonly readGraceMs: number;
  readonly writeGraceMs: number;
};

const MIB = 1024 * 1024;

/** Limits for a machine of two cores that runs other things too. */
export const ENGINE_LIMITS: EngineLimits = {
  inFlightMax: 4,
  waitingMax: 512,
  threadsMax: 2,
  queryBytesMax: 768 * MIB,
  engineBytesMax: 1280 * MIB,
  markCacheBytes: 128 * MIB,
  readGraceMs: 5_000,
  writeGraceMs: 30_000,
};

// The engine: a child process that is started again when it died, and slots for its statements.

/** The embedded engine: raw statements in, bytes of the asked format out. */
export type WarehouseEngine = {
  run(job: EngineJob, body: Uint8Array, call: Call): Promise<Buffer>;
  load(): WarehouseLoad;
  /** As `Warehouse` has it: this process alone has the directory, so that it sees every write. */
  writes(): number | null;
  /** The child's process id, or undefined while there is none. */
  pid(): number | undefined;
  close(): Promise<void>;
};

/** The pause before the first restart; each further one doubles it, up to the last. */
const RESTART_FIRST_MS = 100;
const RESTART_LAST_MS = 30_000;
/** A child that lived this long was not broken by its start: pauses begin anew. */
const STABLE_MS = 60_000;
/** How long close waits for statements in flight. */
const CLOSE_WAIT_MS = 5_000;
/** A dead owner's child needs a moment to let go of the directory. */
const LOCK_ATTEMPTS = 3;
const LOCK_PAUSE_MS = 300;
/** The longest statement text, bound values included. */
const QUERY_CHARS_MAX = 16 * MIB;
/** The format of a statement of which no rows come back. */
const NO_RESULT = 'Null';
/** Of the whole seconds given to the engine's own clock, which only backs up the caller's. */
const SECOND_MS = 1000;

/**
 * Opens the directory, which is made if it is not there. Rejects with `WarehouseRefusal`: `locked`
 * where another process has it, `broken` where the engine does not open it.
 */
export async function startWarehouseEngine(
  directory: string,
  limits = ENGINE_LIMITS,
): Promise<WarehouseEngine> {
  const options = childOptionsOf(directory, limits);
  const slots = openSlots(limits);
  const writes = countedWrites();
  let child: EngineChild | undefined = await firstChild(options);
  let restarts = 0;
  let pauseMs = RESTART_FIRST_MS;
  let restart: NodeJS.Timeout | undefined;
  let starting: Promise<void> | undefined;
  let closing = false;

  function watch(started: EngineChild): void {
    child = started;
    const bornMs = performance.now();
    void started.ended.then(() => {
      child = undefined;
      if (performance.now() - bornMs > STABLE_MS) pauseMs = RESTART_FIRST_MS;
      again();
    });
  }

  function again(): void {
    if (closing) return;
    restart = setTimeout(() => {
      restarts += 1;
      starting = startChild(options).then(watch, again);
    }, pauseMs);
    pauseMs = Math.min(pauseMs * 2, RESTART_LAST_MS);
  }

  function run(job: EngineJob, body: Uint8Array, call: Call): Promise<Buffer> {
    if (child === undefined && !closing) return Promise.reject(new WarehouseUnavailable('down'));
    return slots.run(call, async (stop, leftMs) => {
      if (child === undefined) throw new WarehouseUnavailable('down');
      if (job.do === 'insert')
        return writes.during(child.send(job, body, stop, limits.writeGraceMs));
      const seconds = Math.ceil(leftMs / SECOND_MS);
      const bounds = { max_execution_time: seconds, max_result_rows: RESULT_ROWS_MAX };
      const settings = { ...bounds, ...job.settings };
      const sent = child.send({ ...job, settings }, body, stop, limits.readGraceMs);
      return job.format === NO_RESULT ? writes.during(sent) : sent;
    });
  }

  async function close(): Promise<void> {
    await slots.close(CLOSE_WAIT_MS);
    closing = true;
    clearTimeout(restart);
    await starting;
    await child?.stop();
  }

  watch(child);
  return {
    run,
    load: () => ({ ...slots.load(), restarts }),
    writes: writes.count,
    pid: () => child?.pid,
    close,
  };
}

/** A statement without a result may write; it has ended when its slot is free again. */
function countedWrites() {
  let [begun, ended] = [0, 0];
  return {
    during: async (sent: Promise<Buffer>): Promise<Buffer> => {
      begun += 1;
      try {
        return await sent;
      } finally {
        ended += 1;
      }
    },
    count: () => (begun === ended ? begun : null),
  };
}

async function firstChild(options: ChildOptions): Promise<EngineChild> {
  for (let attempt = 1; attempt < LOCK_ATTEMPTS; attempt += 1) {
    try {
      return await startChild(options);
    } catch (cause) {
      if (!(cause instanceof WarehouseRefusal) || cause.code !== 'locked') throw cause;
      await new Promise((resolve) => setTimeout(resolve, LOCK_PAUSE_MS));
    }
  }
  return startChild(options);
}

function childOptionsOf(directory: string, limits: EngineLimits): ChildOptions {
  const settings: Record<string, string | number> = {
    ...ANSWER_SETTINGS,
    max_threads: limits.threadsMax,
    max_memory_usage: limits.queryBytesMax,
    max_server_memory_usage: limits.engineBytesMax,
    mark_cache_size: limits.markCacheBytes,
    index_mark_cache_size: limits.markCacheBytes,
    max_query_size: QUERY_CHARS_MAX,
  };
  const engineArgs = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  return { directory, connections: limits.inFlightMax, engineArgs };
}

// One life of the child: how it is started, asked, stopped and mourned.

type EngineChild = {
  readonly pid: number;
  /** Sends a statement. A told `stop` cancels it, and after `graceMs` kills the child for it. */
  send(job: EngineJob, body: Uint8Array, stop: AbortSignal, graceMs: number): Promise<Buffer>;
  /** Resolves when the process is gone, however it went. */
  readonly ended: Promise<void>;
  /** Asks it to leave, and kills it if it has not after `STOP_WAIT_MS`. */
  stop(): Promise<void>;
};

/** How long a child may take to open its directory: many parts load in seconds. */
const START_WAIT_MS = 120_000;
/** How long a child may take to leave. */
const STOP_WAIT_MS = 5_000;
/** The stored length of the engine's standard error, which explains why it did not open. */
const STDERR_CHARS_MAX = 4096;
/** Pool threads of the child: its connections, the one that cancels, and room for files. */
const CHILD_POOL_THREADS = 8;

// The same path from the sources and from the build; the child itself is always the built one.
const CHILD_URL = new URL(
  '../../../../dist/stores/warehouse/engine/embedded-child.js',
  import.meta.url,
);
const LOCKED = /Cannot lock file|Another server instance/;

type Pending = { resolve(bytes: Buffer): void; reject(error: Error): void };

/** Starts a child and waits until it answers; rejects with `WarehouseRefusal` where it cannot. */
async function startChild(options: ChildOptions): Promise<EngineChild> {
  const child = spawn(process.execPath, [fileURLToPath(CHILD_URL), JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    // Nothing of our environment: it holds secrets, and the engine needs none of it.
    env: { UV_THREADPOOL_SIZE: String(CHILD_POOL_THREADS), TZ: 'UTC' },
  });
  const words = lastWords(child);
  const channel = child.stdio[CHILD_FD];
  if (!(channel instanceof Duplex) || child.pid === undefined) {
    throw new WarehouseRefusal('broken', 'The process of the embedded warehouse did not start.');
  }
  const life = followChild(child, channel, child.pid);
  const timer = setTimeout(() => child.kill('SIGKILL'), START_WAIT_MS);
  const opened = await Promise.race([life.ready.then(() => true), life.child.ended]);
  clearTimeout(timer);
  if (opened !== true) throw notOpened(options.directory, words());
  return life.child;
}

function notOpened(directory: string, words: string): WarehouseRefusal {
  if (LOCKED.test(words)) {
    const message = `The warehouse in ${directory} is open in another process: stop that first.`;
    return new WarehouseRefusal('locked', message);
  }
  const lines = words.trim().split('\n');
  const telling = lines.find((line) => /Error|Exception/.test(line));
  const said = telling === undefined ? lines.at(-1) : telling;
  const message = `The embedded warehouse in ${directory} did not open: ${said}`;
  return new WarehouseRefusal('broken', message);
}

function lastWords(child: ChildProcess): () => string {
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-STDERR_CHARS_MAX);
  });
  child.on('error', (error) => {
    words = error.message;
  });
  return () => words;
}

async function listen(channel: Duplex, heard: (frame: Frame) => void): Promise<void> {
  const read = frameReader(heard);
  for await (const piece of channel) if (Buffer.isBuffer(piece)) read(piece);
}

function followChild(child: ChildProcess, channel: Duplex, pid: number) {
  const pending = new Map<number, Pending>();
  let isReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  let last = 0;

  const ended = new Promise<void>((resolve) => {
    const onGone = () => {
      channel.destroy();
      for (const owed of pending.values()) owed.reject(new WarehouseUnavailable('interrupted'));
      pending.clear();
      resolve();
    };
    child.once('close', onGone);
    child.once('error', onGone);
  });

  function hear({ head, body }: Frame): void {
    const said = reply.parse(head);
    if (said.say === 'ready') {
      isReady();
      return;
    }
    const owed = pending.get(said.id);
    pending.delete(said.id);
    if (said.say === 'done') owed?.resolve(body);
    else owed?.reject(errorOfText(body.toString('utf8')));
  }

  function tell(message: EngineOrder, body: Uint8Array): void {
    if (channel.writable) writeFrame(channel, message, body);
  }

  const send: EngineChild['send'] = (job, body, stop, graceMs) => {
    if (!channel.writable) return Promise.reject(new WarehouseUnavailable('down'));
    last += 1;
    const id = last;
    let overdue: NodeJS.Timeout | undefined;
    const cancel = () => {
      tell({ do: 'cancel', id }, Buffer.alloc(0));
      overdue = setTimeout(() => child.kill('SIGKILL'), graceMs);
    };
    stop.addEventListener('abort', cancel, { once: true });
    const answered = new Promise<Buffer>((resolve, reject) => {
      pending.set(id, { resolve, reject });
      tell({ ...job, id }, body);
    });
    return answered.finally(() => {
      stop.removeEventListener('abort', cancel);
      clearTimeout(overdue);
    });
  };

  async function stop(): Promise<void> {
    tell({ do: 'close' }, Buffer.alloc(0));
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WAIT_MS);
    await ended;
    clearTimeout(timer);
  }

  // A child that says nonsense is killed; its death is told by 'close' like any other.
  listen(channel, hear).then(
    () => undefined,
    () => child.kill('SIGKILL'),
  );
  return { child: { pid, send, ended, stop }, ready };
}
