// What may be asked of the warehouse, and in which ways can it fail?
// One shape for both sizes of the same engine: chDB in a child process, or a ClickHouse server.
// Refuses to turn a failure into an empty result: a query returns all of its rows, or it rejects.

/** Reads one row (an object, or a tuple where asked for) or throws; zod schemas fit as they are. */
export type RowShape<T> = { parse(row: unknown): T };

/** A value bound to a `{name:Type}` placeholder; bytes go as hex through `unhex({x:String})`. */
export type ParamValue = string | number | bigint | boolean | null | readonly ParamValue[];

/** The bound values by placeholder name; each must be used, and each placeholder be given. */
export type Params = Readonly<Record<string, ParamValue>>;

/** How long the caller waits, the queue included, and the signal with which it stops waiting. */
export type Call = { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined };

/** What a query needs beside its SQL; `tuples` gives rows as arrays, which are shorter. */
export type QueryOptions<T> = Call & {
  readonly row: RowShape<T>;
  readonly params?: Params | undefined;
  /** More rows than this is an error, never a cut list. `RESULT_ROWS_MAX` where absent. */
  readonly rowsMax?: number | undefined;
  readonly tuples?: boolean | undefined;
};

/** What a statement without result needs beside its SQL. */
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

/** How a file is read, by the names that ClickHouse has for it. */
export type FileSettings = Readonly<Record<string, number>>;

/** What an engine of this machine can tell of a file without taking it in. */
export type LocalFiles = {
  /** All rows of one statement, which is given the file as a table. */
  queryFile<T>(
    file: FileSource,
    sql: (table: string) => string,
    options: QueryOptions<T> & { readonly settings?: FileSettings | undefined },
  ): Promise<readonly T[]>;
};

/** How busy the executor is; `restarts` counts how often its child process was replaced. */
export type WarehouseLoad = {
  readonly inFlight: number;
  readonly waiting: number;
  readonly restarts: number;
};

/** The warehouse executor. It rejects with this file's errors; a source's own pass through. */
export type Warehouse = {
  readonly kind: 'embedded' | 'remote';
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

/** What stops a start: the message is for the operator and names the remedy. */
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
