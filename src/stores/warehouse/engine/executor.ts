// The statements that a warehouse executor accepts, and its failures. One shape for both sizes of
// the same engine: chDB in a child process, or a ClickHouse server. A failure never becomes an
// empty result: a query returns all of its rows, or it rejects.

import { z } from 'zod';

/** Reads one row (an object, or a tuple where asked for) or throws; zod schemas fit as they are. */
export type RowShape<T> = { parse(row: unknown): T };

/** A value bound to a `{name:Type}` placeholder; bytes go as hex through `unhex({x:String})`. */
export type ParamValue = string | number | bigint | boolean | null | readonly ParamValue[];

/** The bound values by placeholder name; each must be used, and each placeholder be given. */
export type Params = Readonly<Record<string, ParamValue>>;

/** How long the caller waits, the queue included, and the signal with which it stops waiting. */
export type Call = {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether it waits for its turn behind a full queue too: for work of which there is little. */
  readonly waits?: boolean | undefined;
};

/** The options of a query; `tuples` gives rows as arrays, which are shorter. */
export type QueryOptions<T> = Call & {
  readonly row: RowShape<T>;
  readonly params?: Params | undefined;
  /** More rows than this is an error, never a cut list. `RESULT_ROWS_MAX` where absent. */
  readonly rowsMax?: number | undefined;
  readonly tuples?: boolean | undefined;
};

/** The options of a statement without result. */
export type CommandOptions = Call & { readonly params?: Params | undefined };

/** A value to insert; a bigint is written exactly, `null` only into a nullable column. */
export type InsertCell = string | number | bigint | boolean | null | readonly InsertCell[];

/** Formats of lines in which ready-made bytes may be inserted; their maker answers for nulls. */
export type LineFormat = 'JSONEachRow' | 'JSONCompactEachRow';

/** Rows as tuples in the order of `columns`, or bytes of a format; read no faster than written. */
export type InsertSource =
  | {
      readonly columns: readonly string[];
      readonly rows: Iterable<readonly InsertCell[]> | AsyncIterable<readonly InsertCell[]>;
    }
  | {
      readonly columns?: readonly string[] | undefined;
      readonly format: LineFormat;
      readonly bytes: AsyncIterable<Uint8Array>;
    }
  | {
      readonly columns?: readonly string[] | undefined;
      readonly format: 'Parquet';
      readonly bytes: AsyncIterable<Uint8Array>;
    };

/** A file of this machine with the columns to read of it, each with its type; all where empty. */
export type FileSource = {
  readonly path: string;
  readonly format: 'Parquet' | 'CSVWithNames' | 'JSONEachRow';
  readonly gzip: boolean;
  readonly columns: readonly (readonly [name: string, type: string])[];
};

/** The settings of reading a file, by ClickHouse's names. */
export type FileSettings = Readonly<Record<string, number>>;

/** The facts of a file that an engine of this machine can read without importing it. */
export type LocalFiles = {
  /** All rows of one statement, which is given the file as a table. */
  queryFile<T>(
    file: FileSource,
    sql: (table: string) => string,
    options: QueryOptions<T> & { readonly settings?: FileSettings | undefined },
  ): Promise<readonly T[]>;
};

/** The load of the executor; `restarts` counts the replacements of its child process. */
export type WarehouseLoad = {
  readonly inFlight: number;
  readonly waiting: number;
  readonly restarts: number;
};

/** Where a warehouse runs. */
export const WAREHOUSE_KINDS = ['embedded', 'remote'] as const;

/** The warehouse executor. It rejects with this file's errors; a source's own pass through. */
export type Warehouse = {
  readonly kind: (typeof WAREHOUSE_KINDS)[number];
  /** All rows of one statement. */
  query<T>(sql: string, options: QueryOptions<T>): Promise<readonly T[]>;
  /**
   * Writes in chunks of `INSERT_CHUNK_BYTES`, each whole or not at all, `timeoutMs` for each.
   * Resolved means every row survives a killed process; rejected may have left whole chunks.
   */
  insert(table: string, source: InsertSource, call: Call): Promise<void>;
  /** One statement without result: DDL, ALTER, OPTIMIZE, INSERT … SELECT. */
  command(sql: string, options: CommandOptions): Promise<void>;
  /** One INSERT … SELECT out of a file of this machine, which `sql` is given as a table. */
  commandFile(
    file: FileSource,
    sql: (table: string) => string,
    options: Call & { readonly settings: FileSettings },
  ): Promise<void>;
  /** Resolves when the engine has just answered a query. */
  ping(call: Call): Promise<void>;
  load(): WarehouseLoad;
  /**
   * A number that stays the same for as long as nothing can have been written; `null` while a write
   * is under way, and wherever others may write.
   */
  writes(): number | null;
  /** Lets queries in flight end for a bounded time, then closes; later calls are refused. */
  close(): Promise<void>;
};

/** The one row of an aggregate, as a tuple. */
export async function queryRow<T>(
  warehouse: Pick<Warehouse, 'query'>,
  sql: string,
  options: QueryOptions<T>,
): Promise<T> {
  const [row] = await warehouse.query(sql, { ...options, tuples: true });
  if (row === undefined) throw new RangeError('an aggregate has one row');
  return row;
}

const numberRow = z.tuple([z.coerce.number()]);

/** The one number of an aggregate. */
export async function queryNumber(
  warehouse: Pick<Warehouse, 'query'>,
  sql: string,
  options: CommandOptions,
): Promise<number> {
  return (await queryRow(warehouse, sql, { ...options, row: numberRow }))[0];
}

const anyRow = { parse: (row: unknown) => row };

/** Whether a statement finds any row. */
export async function hasRows(
  warehouse: Pick<Warehouse, 'query'>,
  sql: string,
  options: CommandOptions,
): Promise<boolean> {
  return (await warehouse.query(sql, { ...options, row: anyRow, tuples: true })).length > 0;
}

/** Rows of one result unless the caller says fewer. */
export const RESULT_ROWS_MAX = 1_000_000;
/** Bytes of one result as the engine counts them. */
export const RESULT_BYTES_MAX = 64 * 1024 * 1024;
/** Bytes of one insert chunk; a row may not be larger. */
export const INSERT_CHUNK_BYTES = 8 * 1024 * 1024;

const UNAVAILABLE = {
  down: 'The warehouse is not reachable.',
  interrupted: 'The warehouse stopped before it had answered.',
  timeout: 'The warehouse did not answer in time.',
  aborted: 'The caller stopped waiting for the warehouse.',
  overloaded: 'The warehouse has no room for this query now.',
  too_large: 'The statement alone needs more memory than the warehouse gives one.',
  replicas: 'Too few replicas of the warehouse can be written or read.',
  disk: 'The disk of the warehouse takes no more.',
  damaged: 'Parts of the warehouse are lost or damaged.',
  rejected: 'The warehouse refused our credentials.',
  closed: 'The warehouse has been closed.',
} as const;
/** Why the warehouse could not answer this time. */
export type UnavailableCode = keyof typeof UNAVAILABLE;
export const UNAVAILABLE_CODES = Object.keys(UNAVAILABLE) as UnavailableCode[];

/** An upstream failure: the same call may succeed later. Ports answer it with `unread`. */
export class WarehouseUnavailable extends Error {
  override readonly name = 'WarehouseUnavailable';
  readonly code: UnavailableCode;

  constructor(code: UnavailableCode) {
    super(UNAVAILABLE[code]);
    this.code = code;
  }
}

/**
 * A bug: the same call fails again. `code` is ClickHouse's, 0 where this side found it. The message
 * carries no data; the engine's own words, which may quote some, are in `detail`, never enumerable.
 */
export class WarehouseQueryError extends Error {
  override readonly name = 'WarehouseQueryError';
  readonly code: number;
  readonly reason: string;
  readonly #detail: string;

  constructor(code: number, reason: string, detail: string) {
    super(`The warehouse cannot run this statement: ${reason} (code ${code}).`);
    this.code = code;
    this.reason = reason;
    this.#detail = detail;
  }

  get detail(): string {
    return this.#detail;
  }
}

/** A refusal to start: the message is for the operator and names the remedy. */
export class WarehouseRefusal extends Error {
  override readonly name = 'WarehouseRefusal';
  readonly code:
    | 'locked'
    | 'broken'
    | 'migration_changed'
    | 'migration_unknown'
    | 'migration_malformed'
    | 'layout_differs'
    | 'mode_differs';

  constructor(code: WarehouseRefusal['code'], message: string) {
    super(message);
    this.code = code;
  }
}

// Quoted text and comments are matched first, so that nothing inside them is a placeholder.
const SQL_TOKEN = new RegExp(
  [
    /'(?:[^'\\]|\\[\s\S])*'/,
    /"(?:[^"\\]|\\[\s\S])*"/,
    /`(?:[^`\\]|\\[\s\S])*`/,
    /--[^\n]*/,
    /\/\*[\s\S]*?\*\//,
    /\{\s*([A-Za-z_]\w*)\s*:\s*([^{}]+?)\s*\}/,
  ]
    .map((token) => token.source)
    .join('|'),
  'g',
);

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['\0', '\\0'],
]);

/** A quoted SQL string: what it quotes can end it in no way. */
export function quoteSql(text: string): string {
  return `'${text.replace(/[\\'\0]/g, (character) => ESCAPES.get(character) ?? character)}'`;
}

/** The statement with each placeholder replaced by its literal. Throws `WarehouseQueryError`. */
export function bindParams(sql: string, params: Params | undefined): string {
  const used = new Set<string>();
  const given = new Map(params === undefined ? [] : Object.entries(params));
  const text = sql.replace(SQL_TOKEN, (token: string, name?: string, type?: string) => {
    if (name === undefined || type === undefined) return token;
    const value = given.get(name);
    if (value === undefined) throw new WarehouseQueryError(0, 'PARAM_MISSING', name);
    used.add(name);
    if (type === 'Identifier') return identifier(value);
    const text = value === null ? 'NULL' : quoteSql(valueText(value));
    return `_CAST(${text}, ${quoteSql(type)})`;
  });
  const unused = [...given.keys()].find((name) => !used.has(name));
  if (unused !== undefined) throw new WarehouseQueryError(0, 'PARAM_UNUSED', unused);
  return text;
}

const NAME = /^[A-Za-z_]\w*$/;

/** A plain table, column or setting name, or `WarehouseQueryError`. */
export function identifier(name: ParamValue): string {
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw new WarehouseQueryError(0, 'BAD_NAME', String(name));
}

function valueText(value: Exclude<ParamValue, null>): string {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new WarehouseQueryError(0, 'PARAM_NOT_FINITE', String(value));
  }
  if (typeof value === 'object') return `[${value.map(element).join(',')}]`;
  return String(value);
}

function element(value: ParamValue): string {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? quoteSql(value) : valueText(value);
}

/** One ClickHouse (or chDB), or a cluster whose nodes share their tables. */
export type ServerLayout = 'single' | 'cluster';

// Quoted text is one token, so that no character within it ends a statement or begins a comment.
const TOKEN = /'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|;/g;
const PLACEHOLDER = /\{\{(\w+)(?::([^{}]*))?\}\}/g;
const ENGINE = /^\s*(\w+)\s*\(([\s\S]*)\)\s*$/;
const DISTRIBUTED = /^\s*\{\{distributed:(\w+):([^{}]+)\}\}\s*$/;
const CLUSTER_ONLY = '{{cluster_only}}';

const SHARDED = ["'/clickhouse/tables/{shard}/{database}/{table}'", "'{replica}'"];
const EVERYWHERE = ["'/clickhouse/tables/{database}/{table}'", "'{shard}-{replica}'"];

/** The statements of a migration file in a layout, in order. Throws `WarehouseRefusal`. */
export function splitStatements(source: string, layout: ServerLayout): readonly string[] {
  return split(source).flatMap((statement) => {
    const distributed = DISTRIBUTED.exec(statement);
    if (distributed?.[1] !== undefined && distributed[2] !== undefined) {
      if (layout === 'single') return [];
      const [, table, key] = distributed;
      return [
        `CREATE TABLE IF NOT EXISTS ${table} ON CLUSTER '{cluster}' AS ${table}_local
ENGINE = Distributed('{cluster}', currentDatabase(), ${table}_local, ${key.trim()})`,
      ];
    }
    if (!/\bIF (NOT )?EXISTS\b|^CREATE OR REPLACE VIEW\b|\bMODIFY QUERY\b/i.test(statement)) {
      throw malformedMigration('holds neither IF NOT EXISTS nor IF EXISTS', statement);
    }
    if (!statement.includes('{{on_cluster}}')) {
      throw malformedMigration('does not say {{on_cluster}}', statement);
    }
    if (/(?<!\{)\bENGINE\b\s*=?\s*(?!\{\{engine|[\s={])/i.test(statement)) {
      throw malformedMigration('names an engine without a placeholder', statement);
    }
    if (!statement.startsWith(CLUSTER_ONLY)) return [renderStatement(statement, layout)];
    if (layout === 'single') return [];
    return [renderStatement(statement.slice(CLUSTER_ONLY.length), layout).trim()];
  });
}

function split(source: string): readonly string[] {
  const statements: string[] = [];
  let statement = '';
  let from = 0;
  for (const token of source.matchAll(TOKEN)) {
    const until = token.index + token[0].length;
    const comment = token[0].startsWith('--') || token[0].startsWith('/*');
    const kept = comment || token[0] === ';' ? token.index : until;
    statement += source.slice(from, kept);
    from = until;
    if (token[0] !== ';') continue;
    statements.push(statement.trim());
    statement = '';
  }
  statements.push((statement + source.slice(from)).trim());
  return statements.filter((text) => text !== '');
}

function malformedMigration(what: string, statement: string): WarehouseRefusal {
  const begin = statement.slice(0, 60).replace(/\s+/g, ' ');
  return new WarehouseRefusal('migration_malformed', `A migration ${what}: ${begin}`);
}

function renderStatement(statement: string, layout: ServerLayout): string {
  return statement
    .replace(PLACEHOLDER, (whole: string, name: string, of: string | undefined) => {
      if (name === 'on_cluster') return layout === 'single' ? '' : "ON CLUSTER '{cluster}'";
      if (name === 'local' && of !== undefined) return layout === 'single' ? of : `${of}_local`;
      const path = name === 'engine' ? SHARDED : EVERYWHERE;
      const engine = ENGINE.exec(String(of));
      if ((name !== 'engine' && name !== 'engine_everywhere') || engine === null) {
        throw malformedMigration(`has an unknown placeholder ${whole}`, statement);
      }
      const [, family, args] = engine;
      if (layout === 'single') return `${family}(${args})`;
      const all = args?.trim() === '' ? path : [...path, args];
      return `Replicated${family}(${all.join(', ')})`;
    })
    .replace(/[ \t]+$/gm, '');
}

/** The rows of a result document; `interrupted` where it is not one whole document. */
export function shapedRows<T>(document: string, row: RowShape<T>): readonly T[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(document);
  } catch {
    throw new WarehouseUnavailable('interrupted');
  }
  if (typeof parsed !== 'object' || parsed === null) throw new WarehouseUnavailable('interrupted');
  if (!('data' in parsed) || !Array.isArray(parsed.data) || !('rows' in parsed)) {
    throw new WarehouseUnavailable('interrupted');
  }
  if (parsed.data.length !== parsed.rows) throw new WarehouseUnavailable('interrupted');
  return parsed.data.map((value) => {
    try {
      return row.parse(value);
    } catch (cause) {
      throw new WarehouseQueryError(0, 'ROW_SHAPE', cause instanceof Error ? cause.message : '');
    }
  });
}

// Writing again is harmless in all of them: rows that come twice fall together, and a statement of
// a follower or an import is repeated from the position that is stored.
const CODES_OF: Readonly<
  Record<Exclude<UnavailableCode, 'aborted' | 'closed' | 'too_large'>, readonly number[]>
> = {
  // TIMEOUT_EXCEEDED, TOO_SLOW, SOCKET_TIMEOUT
  timeout: [159, 160, 209],
  interrupted: [
    // CANNOT_READ_FROM_SOCKET, CANNOT_WRITE_TO_SOCKET, ABORTED
    ...[95, 96, 236],
    // UNKNOWN_STATUS_OF_INSERT, UNFINISHED
    ...[319, 341],
    // PART_IS_TEMPORARILY_LOCKED, QUERY_WAS_CANCELLED, REPLICA_STATUS_CHANGED, DEADLOCK_AVOIDED
    ...[384, 394, 416, 473],
    // S3_ERROR, THREAD_WAS_CANCELED, ASYNC_LOAD_CANCELED, TABLE_IS_BEING_RESTARTED
    ...[499, 677, 696, 733],
    // QUERY_WAS_CANCELLED_BY_CLIENT, PART_IS_LOCKED
    ...[735, 738],
  ],
  overloaded: [
    // CANNOT_ALLOCATE_MEMORY, QUOTA_EXCEEDED, TOO_MANY_SIMULTANEOUS_QUERIES, NO_FREE_CONNECTION
    ...[173, 201, 202, 203],
    // MEMORY_LIMIT_EXCEEDED, TOO_MANY_PARTS, RECEIVED_ERROR_TOO_MANY_REQUESTS, CANNOT_SCHEDULE_TASK
    ...[241, 252, 364, 439],
    // DISTRIBUTED_TOO_MANY_PENDING_BYTES, TOO_MANY_MUTATIONS, USER_SESSION_LIMIT_EXCEEDED
    ...[574, 692, 700],
    // SERVER_OVERLOADED, TCP_CONNECTION_LIMIT_REACHED, HTTP_CONNECTION_LIMIT_REACHED
    ...[745, 749, 762],
    // SESSION_REFUSED, MEMORY_RESERVATION_KILLED, MEMORY_RESERVATION_FAILED
    ...[763, 777, 778],
  ],
  down: [
    // DNS_ERROR, NETWORK_ERROR, NO_ZOOKEEPER, UNEXPECTED_ZOOKEEPER_ERROR
    ...[198, 210, 225, 244],
    // ALL_CONNECTION_TRIES_FAILED, SHARD_HAS_NO_CONNECTIONS, TOO_MANY_UNAVAILABLE_SHARDS
    ...[279, 297, 904],
    // KEEPER_EXCEPTION
    999,
  ],
  replicas: [
    // NO_SUCH_DATA_PART, NO_REPLICA_HAS_PART, TABLE_IS_READ_ONLY, NO_ACTIVE_REPLICAS
    ...[232, 234, 242, 254],
    // TOO_MANY_RETRIES_TO_FETCH_PARTS, NO_AVAILABLE_REPLICA, TOO_FEW_LIVE_REPLICAS
    ...[255, 265, 285],
    // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE, REPLICA_IS_NOT_IN_QUORUM, ALL_REPLICAS_ARE_STALE
    ...[286, 289, 369],
    // NOT_A_LEADER, DATABASE_REPLICATION_FAILED
    ...[529, 571],
  ],
  // CANNOT_WRITE_TO_FILE_DESCRIPTOR, CANNOT_FSYNC, NOT_ENOUGH_SPACE, CANNOT_WRITE_TO_FILE
  disk: [75, 204, 243, 294],
  damaged: [
    // CHECKSUM_DOESNT_MATCH, TOO_MANY_UNEXPECTED_DATA_PARTS, CORRUPTED_DATA, ALL_REPLICAS_LOST
    ...[40, 231, 246, 415],
    // TABLE_IS_PERMANENTLY_READ_ONLY
    774,
  ],
  // READONLY, UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, ACCESS_DENIED, AUTHENTICATION_FAILED
  rejected: [164, 192, 193, 194, 497, 516],
};
const ENGINE_UNAVAILABLE = new Map(
  Object.entries(CODES_OF).flatMap(([code, numbers]) =>
    numbers.map((number) => [number, code as keyof typeof CODES_OF] as const),
  ),
);

const CODE = /Code: (\d+)/;
const REASON = /\(([A-Z][A-Z0-9_]{2,})\)/g;

const MEMORY_LIMIT_EXCEEDED = 241;
/** The limit of one statement, which another time would be the same; not that of the engine. */
const OF_ONE_STATEMENT = /query memory limit exceeded|memory limit \(for query\) exceeded/i;

/** The error for a code of ClickHouse; `said` is kept out of the message. */
export function engineError(
  code: number,
  reason: string,
  said: string,
): WarehouseUnavailable | WarehouseQueryError {
  if (code === MEMORY_LIMIT_EXCEEDED && OF_ONE_STATEMENT.test(said)) {
    return new WarehouseUnavailable('too_large');
  }
  const unavailable = ENGINE_UNAVAILABLE.get(code);
  if (unavailable !== undefined) return new WarehouseUnavailable(unavailable);
  return new WarehouseQueryError(code, reason, said);
}

/** The same from the text of an exception: `Code: 62. DB::Exception: … (SYNTAX_ERROR)`. */
export function errorOfText(said: string): WarehouseUnavailable | WarehouseQueryError {
  const code = CODE.exec(said)?.[1];
  const reason = [...said.matchAll(REASON)].at(-1)?.[1];
  const number = code === undefined ? 0 : Number(code);
  return engineError(number, reason === undefined ? 'UNNAMED' : reason, said);
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

// Both executors run so many statements at once and let so many wait.

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
    const isFull = running.size >= limits.inFlightMax && waiting.size >= limits.waitingMax;
    if (isFull && call.waits !== true) {
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
