// The control store as its tables ask it: an unreachable store is StoreUnavailable, a wrong
// statement is SqlError. Both engines give the same values: int8 as bigint, numeric, date and
// timestamp as text, timestamptz as Date, bytea as Uint8Array, json as the parsed value.

import { z } from 'zod';
import { MS_PER_S } from '../../../chain/time.ts';
import {
  type Partly,
  part,
  type Read,
  type Reading,
  read,
  type Unread,
  unread,
} from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type { Source } from '../../../evidence/source.ts';

type Cell = string | number | bigint | boolean | Date | Uint8Array | null;
/** A value that a statement may take. An object goes in as JSON text, cast to jsonb there. */
export type Param = Cell | readonly Cell[];

/** How often a statement is run: an engine may keep the plan of one that is asked all the time. */
type HowOften = 'now and then' | 'often';

/** One session of the store: its statements run in the order in which they are sent. */
export type Session = {
  /** Runs one statement; a schema parses its rows. Throws StoreUnavailable or SqlError. */
  readonly query: (
    sql: string,
    params?: readonly Param[],
    howOften?: HowOften,
  ) => Promise<object[]>;
  /** Runs a file of several statements without parameters, as migrations are. */
  readonly script: (sql: string) => Promise<void>;
};

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

/** The row of a statement that gives one at most. */
export function rowOrNull<T>([row]: readonly T[]): T | null {
  return row === undefined ? null : row;
}

/** The columns of some rows, each as a parameter for `unnest`. */
export function columnsOf<Name extends string>(
  rows: readonly { readonly [name in Name]: Cell }[],
  names: readonly Name[],
): Param[] {
  return names.map((name) => rows.map((row) => row[name]));
}

/** A column of a time, selected as Unix seconds under its own name or another. */
export function epoch(column: string, name = column.replace(/^.*\./, '')): string {
  return `extract(epoch from ${column})::float8 as ${name}`;
}

/** The same in whole seconds. */
export function epochSecond(column: string, name = column.replace(/^.*\./, '')): string {
  return `floor(extract(epoch from ${column}))::float8 as ${name}`;
}

/** Unix seconds as a parameter. */
export function storeTime(seconds: number): Date {
  return new Date(seconds * MS_PER_S);
}

/** Both ends of a span of Unix seconds as parameters; an open one is null. */
export function storeSpan(span: { readonly from: number | null; readonly until: number | null }) {
  return [span.from, span.until].map((at) => (at === null ? null : storeTime(at)));
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
  /** Whether all that is asked of it has waited for its turn for too long. */
  readonly isLate: () => boolean;
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
  /** The message of the embedded engine, for the operator's log; never a server's. */
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
  ['42501', 'the role lacks a right'],
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

// Nothing is called stored that was not: after a failed statement there is no commit.

/** One session that belongs to the transaction alone until it has ended. */
export type OwnSession = Session & {
  /** Whether the connection or engine behind the session still is the one that began. */
  readonly alive: () => boolean;
};

/** Runs `work` between begin and commit, undone when it throws or takes longer than `timeoutMs`. */
export async function transact<T>(
  session: OwnSession,
  work: (session: Session) => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  let open = true;
  let failed: unknown = null;

  // A statement sent late, or on a session begun since, would run outside the transaction.
  async function inside<R>(statement: () => Promise<R>): Promise<R> {
    if (failed !== null) throw failed;
    if (!open || !session.alive()) {
      throw new StoreUnavailable('the transaction has ended', '25P01');
    }
    try {
      return await statement();
    } catch (error) {
      failed = error;
      throw error;
    }
  }

  await session.script('begin');
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<never>((_, reject) => {
    const late = () => reject(new StoreUnavailable('a transaction took too long', '25P03'));
    timer = setTimeout(late, timeoutMs);
  });
  try {
    const result = await Promise.race([
      work({
        query: (sql, params) => inside(() => session.query(sql, params)),
        script: (sql) => inside(() => session.script(sql)),
      }),
      passed,
    ]);
    await inside(() => session.script('commit'));
    return result;
  } catch (error) {
    open = false;
    if (session.alive()) await session.script('rollback');
    throw error;
  } finally {
    open = false;
    clearTimeout(timer);
  }
}

// A batch starts with the event-loop tick after the one before it has ended; what comes
// meanwhile waits for the next. It refuses callers past its bound rather than let them wait
// without end.

type BatchLimits = {
  /** Items in one batch. */
  readonly batchMax: number;
  /** Items that wait for the batches after it. */
  readonly waitingMax: number;
};

type Waiter<I, O> = {
  readonly item: I;
  readonly resolve: (output: O) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Makes a function of one item from one of many: `run` gets the items of a batch in the order of
 * their coming and answers in that order. Where it throws, each caller gets that error.
 */
export function batchQueue<I, O>(
  run: (items: readonly I[]) => Promise<readonly O[]>,
  limits: BatchLimits,
): (item: I) => Promise<O> {
  let waiting: Waiter<I, O>[] = [];
  let running = false;

  async function runBatch(batch: readonly Waiter<I, O>[]): Promise<void> {
    try {
      const outputs = await run(batch.map((waiter) => waiter.item));
      for (const [i, waiter] of batch.entries()) {
        const output = outputs[i];
        if (output === undefined) waiter.reject(new Error('batch: an item was not answered'));
        else waiter.resolve(output);
      }
    } catch (error) {
      // Not swallowed: every caller of the batch is told.
      for (const waiter of batch) waiter.reject(error);
    }
  }

  // The callers just answered, and whoever comes in the same tick, go together: fewer and fuller
  // statements. To wait for more ticks saves work, and leaves the loop idle where little else runs.
  const nextTick = () => new Promise<void>((reached) => setImmediate(reached));

  async function runAll(): Promise<void> {
    do {
      await nextTick();
      const batch = waiting.slice(0, limits.batchMax);
      waiting = waiting.slice(limits.batchMax);
      await runBatch(batch);
    } while (waiting.length > 0);
    running = false;
  }

  return (item) =>
    new Promise<O>((resolve, reject) => {
      if (waiting.length >= limits.waitingMax) {
        reject(new StoreUnavailable('too many callers wait', 'EBUSY'));
        return;
      }
      waiting.push({ item, resolve, reject });
      if (running) return;
      running = true;
      void runAll();
    });
}

// A store that could not be asked is unread; a bug is thrown on.

/** The context that stores over the control database share. */
export type ControlContext = {
  readonly simulated: boolean;
  /** Milliseconds since 1970, as `Date.now`. */
  readonly nowMs: () => number;
  /** No lease is taken for longer than so many seconds; left out: each job's own time. */
  readonly leaseMaxS?: number;
};

/** Whether a stored row or text is of no form that is known here: a newer version may have one. */
function isUnknownForm(error: unknown): boolean {
  return error instanceof z.ZodError || error instanceof SyntaxError;
}

/** Makes readings of one port over the control store. `what` names it in a silent reading. */
export type ControlReadings<P extends string> = {
  readonly read: <T>(value: T) => Read<T, P>;
  /** Runs a question. A failure of the store becomes unread; anything else is thrown on. */
  readonly ask: <T>(question: () => Promise<T>) => Promise<Reading<T, P>>;
  /** Runs what gives nothing back. */
  readonly run: (work: () => Promise<unknown>) => Promise<Reading<true, P>>;
  /** Asks for a list of one row more than `rowsMax` at most: with that row it is a part. */
  readonly askList: <T>(
    rowsMax: number,
    what: string,
    question: (limit: number) => Promise<readonly T[]>,
  ) => Promise<Partly<readonly T[], P>>;
  readonly silent: (fault: string) => Unread<P>;
  readonly source: () => Source;
};

export function controlReadings<P extends string>(
  port: P,
  what: string,
  context: ControlContext,
): ControlReadings<P> {
  const source = (): Source => ({
    name: 'Control store',
    url: 'control-store:',
    as_of: Math.floor(context.nowMs() / MS_PER_S),
    kind: 'table',
    simulated: context.simulated,
  });
  const silent = (fault: string) => unread(port, why('store_unreadable', { what, fault }));
  const mint = <T>(value: T) => read(value, { port, source: source() });
  const ask = async <T>(question: () => Promise<T>): Promise<Reading<T, P>> => {
    try {
      return mint(await question());
    } catch (error) {
      if (error instanceof StoreUnavailable) return silent(error.fault);
      if (isUnknownForm(error)) return unread(port, why('stored_form_unknown', { what }));
      throw error;
    }
  };
  return {
    read: mint,
    silent,
    source,
    ask,
    run: (work) =>
      ask(async () => {
        await work();
        return true as const;
      }),
    askList: async <T>(
      rowsMax: number,
      list: string,
      question: (limit: number) => Promise<readonly T[]>,
    ) => {
      const rows = await ask(() => question(rowsMax + 1));
      if (!rows.checked || rows.value.length <= rowsMax) return rows;
      const filling = {
        what: `The end of the list of ${list}`,
        fault: `it holds more than ${rowsMax} rows`,
      };
      const cut = why('store_unreadable', filling);
      return part<readonly T[], P>(rows.value.slice(0, rowsMax), { port, source: source() }, cut);
    },
  };
}
