import { type EngineChild, startChild } from './engine-child.ts';
import type { ChildOptions, EngineJob } from './engine-protocol.ts';
import {
  type Call,
  RESULT_BYTES_MAX,
  RESULT_ROWS_MAX,
  type WarehouseLoad,
  WarehouseRefusal,
  WarehouseUnavailable,
} from './executor.ts';

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
export const NO_RESULT = 'Null';
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

/** The settings that make an answer exact and complete, on either executor. */
export const ANSWER_SETTINGS = {
  // Integers beyond 53 bits, decimals, infinities and NaN would otherwise lose digits or be null.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 1,
  output_format_write_statistics: 0,
  // A misspelt column must not be dropped, nor a null read as a default.
  input_format_skip_unknown_fields: 0,
  input_format_null_as_default: 0,
  // A result over its bound is an error, never its first part.
  result_overflow_mode: 'throw',
  max_result_rows: RESULT_ROWS_MAX,
  max_result_bytes: RESULT_BYTES_MAX,
} as const;

/** The work of one call. Its signal says that nobody waits any more. */
type Work<T> = (signal: AbortSignal, leftMs: number) => Promise<T>;

/** A bounded set of slots with a bounded queue, first come first served. */
export type QuerySlots = {
  run<T>(call: Call, work: Work<T>): Promise<T>;
  load(): { readonly inFlight: number; readonly waiting: number };
  /** Refuses new calls, waits up to `waitMs` for the old ones, then lets their callers go. */
  close(waitMs: number): Promise<void>;
};

type Visit = { start(): void; leave(error: WarehouseUnavailable): void };
type Events = {
  /** The caller gives up; whether the work had not begun. */
  dropped(visit: Visit): boolean;
  ended(visit: Visit): void;
};

/** Opens a set of slots; `inFlightMax` and `waitingMax` are counts of calls. */
export function openSlots(limits: { inFlightMax: number; waitingMax: number }): QuerySlots {
  const waiting = new Set<Visit>();
  const running = new Set<Visit>();
  let closing = false;
  let whenIdle: (() => void) | undefined;

  function next(): void {
    for (const visit of waiting) {
      if (running.size >= limits.inFlightMax) break;
      waiting.delete(visit);
      running.add(visit);
      visit.start();
    }
    if (running.size === 0 && waiting.size === 0) whenIdle?.();
  }

  const events: Events = {
    dropped: (visit) => waiting.delete(visit),
    ended: (visit) => {
      running.delete(visit);
      next();
    },
  };

  function run<T>(call: Call, work: Work<T>): Promise<T> {
    if (closing) return Promise.reject(new WarehouseUnavailable('closed'));
    if (call.signal?.aborted === true) return Promise.reject(new WarehouseUnavailable('aborted'));
    if (running.size >= limits.inFlightMax && waiting.size >= limits.waitingMax) {
      return Promise.reject(new WarehouseUnavailable('overloaded'));
    }
    const { visit, answer } = visitOf(call, work, events);
    waiting.add(visit);
    next();
    return answer;
  }

  async function close(waitMs: number): Promise<void> {
    closing = true;
    if (running.size === 0 && waiting.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      whenIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    for (const visit of [...waiting, ...running]) visit.leave(new WarehouseUnavailable('closed'));
  }

  const load = () => ({ inFlight: running.size, waiting: waiting.size });
  return { run, load, close };
}

/** One call from its entry to the end of its work, which may be later than its answer. */
function visitOf<T>(call: Call, work: Work<T>, events: Events) {
  const stop = new AbortController();
  const deadlineMs = performance.now() + call.timeoutMs;
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const answer = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  const onAbort = () => visit.leave(new WarehouseUnavailable('aborted'));
  const onTime = () => visit.leave(new WarehouseUnavailable('timeout'));
  const timer = setTimeout(onTime, call.timeoutMs);
  call.signal?.addEventListener('abort', onAbort, { once: true });

  function forget(): void {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', onAbort);
  }
  const visit: Visit = {
    start: () => {
      const end = () => {
        forget();
        events.ended(visit);
      };
      const leftMs = Math.max(1, deadlineMs - performance.now());
      work(stop.signal, leftMs).finally(end).then(resolve, reject);
    },
    leave: (error) => {
      forget();
      reject(error);
      if (!events.dropped(visit)) stop.abort(error);
    },
  };
  return { visit, answer };
}
