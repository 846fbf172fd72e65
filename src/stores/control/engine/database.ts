// Answers one question: how is SQL run on the control store, whichever engine holds it.
// It refuses to guess: an unreachable store is StoreUnavailable, a wrong statement is SqlError.
// Both engines give the same values: int8 as bigint, numeric, date and timestamp as text,
// timestamptz as Date, bytea as Uint8Array, json as the parsed value.

/** A value that a statement may take. An object goes in as JSON text, cast to jsonb there. */
export type Param =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Uint8Array
  | null
  | readonly (string | number | bigint | boolean | Date | Uint8Array | null)[];

/** How often a statement is run: an engine may keep the plan of one that is asked all the time. */
type HowOften = 'now and then' | 'often';

/** One session of the store: its statements run in the order in which they are sent. */
export type Session = {
  /** Runs one statement. Throws StoreUnavailable or SqlError. */
  readonly query: <T extends object>(
    sql: string,
    params?: readonly Param[],
    howOften?: HowOften,
  ) => Promise<T[]>;
  /** Runs a file of several statements without parameters, as migrations are. */
  readonly script: (sql: string) => Promise<void>;
};

/** Bounds of one transaction. */
type TransactionLimits = {
  /** The longest that the whole transaction may take; past it the transaction is undone. */
  readonly timeoutMs: number;
};

/** The bound of a transaction, where its caller names none. */
export function timeoutOf(limits: TransactionLimits | undefined): number {
  return limits === undefined ? TRANSACTION_TIMEOUT_MS : limits.timeoutMs;
}

/** The one row of a statement that always gives one. */
export function onlyRow<T>([row]: readonly T[]): T {
  if (row === undefined) throw new Error('a statement that gives a row gave none');
  return row;
}

/** A column of a time, selected as Unix seconds under its own name or another. */
export function epoch(column: string, name = column.replace(/^.*\./, '')): string {
  return `extract(epoch from ${column})::float8 as ${name}`;
}

/** A column of a time, selected in ISO 8601 as answers write it, under its own name or another. */
export function isoTimeColumn(column: string, name = column.replace(/^.*\./, '')): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${name}`;
}

/** The control store. */
export type Database = {
  readonly kind: 'pglite' | 'postgres';
  /** Whether what is stored survives a restart. */
  readonly durable: boolean;
  readonly query: Session['query'];
  /** Runs `work` as one transaction: committed when it returns, undone when it throws. */
  readonly transaction: <T>(
    work: (session: Session) => Promise<T>,
    limits?: TransactionLimits,
  ) => Promise<T>;
  /** Ends the sessions and stops the engine, where it is ours. Later calls are StoreUnavailable. */
  readonly close: () => Promise<void>;
};

/** The longest that one statement may take unless a transaction says otherwise. */
export const STATEMENT_TIMEOUT_MS = 10_000;
/** The longest that a transaction may take unless it says otherwise. */
const TRANSACTION_TIMEOUT_MS = 30_000;

/**
 * The store could not be asked, or did not say whether it did what it was asked.
 * `fault` is short product text without hosts, names or values; `code` is the driver's code.
 */
export class StoreUnavailable extends Error {
  readonly fault: string;
  readonly code: string;
  /** What the embedded engine said, for the operator's log; nothing of a server's, ever. */
  readonly detail: string | null;
  constructor(fault: string, code: string, detail: string | null = null) {
    super(`the control store is unavailable: ${fault} (${code})`);
    this.name = 'StoreUnavailable';
    this.fault = fault;
    this.code = code;
    this.detail = detail;
  }
}

/** The store refused a statement: a bug of ours, or a constraint that the caller meant to meet. */
export class SqlError extends Error {
  /** The five-character SQLSTATE. */
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'SqlError';
    this.code = code;
  }
}

/** SQLSTATEs, by class or in full, that say that the store is not well, not that we are wrong. */
const FAULTS: readonly (readonly [prefix: string, fault: string])[] = [
  ['08', 'the connection failed'],
  ['25P03', 'a transaction idled too long'],
  ['25006', 'the server takes no writes'],
  ['28', 'the server refused the credentials'],
  ['3D000', 'the database does not exist'],
  ['40', 'another transaction was in the way'],
  ['53', 'the server is out of a resource'],
  ['55P03', 'a lock was not given in time'],
  ['57014', 'the statement took too long'],
  ['57P', 'the server is shutting down or starting'],
  ['58', 'the server met a fault of its system'],
  ['XX001', 'the server reports damaged data'],
  ['XX002', 'the server reports a damaged index'],
];

/** Sorts a refused statement by its SQLSTATE into a failure of the store or a bug. */
export function fromSqlState(code: string, message: string): StoreUnavailable | SqlError {
  const row = FAULTS.find(([prefix]) => code.startsWith(prefix));
  return row === undefined ? new SqlError(code, message) : new StoreUnavailable(row[1], code);
}
