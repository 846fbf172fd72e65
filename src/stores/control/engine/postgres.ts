// A bounded pool; a lost server is StoreUnavailable for as long as it is lost, and no longer.
// It refuses to repeat what the server says of the connection: hosts, users and databases.

import { Pool, type PoolClient, types } from 'pg';
import { listOrNone } from '../../../evidence/measure.ts';
import { watchQueue } from '../../../evidence/queue-watch.ts';
import {
  type Database,
  fromSqlState,
  type OwnSession,
  type Param,
  SqlError,
  STATEMENT_TIMEOUT_MS,
  StoreUnavailable,
  timeoutOf,
  transact,
} from './database.ts';
import { TYPE_ID } from './pglite-prepared.ts';

/** Connections to the server at once, of this process. */
const CONNECTIONS_MAX = 8;
/** How long a caller waits for a free or a new connection. */
const CONNECT_TIMEOUT_MS = 5_000;
/** An unused connection is given back after so long. */
const IDLE_TIMEOUT_MS = 60_000;
/** The server ends a statement in time; where it does not answer at all, we do, so much later. */
const ANSWER_GRACE_MS = 2_000;
/** A process that was paused inside a transaction holds its locks no longer than this. */
const IDLE_TRANSACTION_MS = 60_000;
/** Callers that may wait for a connection. */
const WAITING_MAX = 10_000;

type Client = PoolClient & { broken?: boolean };

/** Opens the store at a `postgres:` URL. Connects on first use; throws on a URL it cannot read. */
export function openPostgres(url: string): Database {
  const pool = poolOf(url);
  // An idle connection that breaks is dropped by the pool; the next caller gets a new one.
  pool.on('error', () => undefined);
  let closed = false;
  const turns = watchQueue(() => performance.now());

  async function withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (closed) throw new StoreUnavailable('it has been closed', 'ECLOSED');
    if (pool.waitingCount >= WAITING_MAX) {
      throw new StoreUnavailable('too many callers wait', 'EBUSY');
    }
    const cameMs = performance.now();
    const client: Client = await pool.connect().catch((error: unknown): never => {
      throw knownFault(error);
    });
    turns.noteTurn(performance.now() - cameMs);
    const onError = () => {
      client.broken = true;
    };
    client.on('error', onError);
    try {
      return await work(client);
    } finally {
      client.removeListener('error', onError);
      client.release(client.broken === true);
    }
  }

  return {
    kind: 'postgres',
    durable: true,
    query: (sql, params) =>
      withClient((client) => run(client, sql, listOrNone(params), STATEMENT_TIMEOUT_MS)),
    transaction: (work, limits) =>
      withClient((client) => transact(own(client, timeoutOf(limits)), work, timeoutOf(limits))),
    isLate: () => pool.waitingCount > 0 && turns.isLate(),
    close: async () => {
      closed = true;
      await pool.end();
    },
  };
}

const NO_PARAMS: readonly never[] = [];

/** The pool's settings. What the URL holds is shown to nobody, an unreadable one included. */
function poolOf(url: string): Pool {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new Error('the database URL must begin with postgres:// and be a URL');
  }
  return new Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + ANSWER_GRACE_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    keepAlive: true,
    application_name: 'exhibit',
    types: {
      getTypeParser: (typeId: number, format?: string) => {
        const parser = format === 'binary' ? undefined : PARSERS.get(typeId);
        return parser ?? types.getTypeParser(typeId, format === 'binary' ? 'binary' : 'text');
      },
    },
  });
}

/** A client as the session of one transaction, whose length also bounds its statements. */
function own(client: Client, timeoutMs: number): OwnSession {
  return {
    query: (sql, params) => run(client, sql, listOrNone(params), timeoutMs),
    script: async (sql) => {
      // Each statement of a long transaction may take as long as the whole of it.
      const isLong = sql === 'begin' && timeoutMs > STATEMENT_TIMEOUT_MS;
      const long = `${sql}; set local statement_timeout = ${timeoutMs}`;
      await run(client, isLong ? long : sql, NO_PARAMS, timeoutMs);
    },
    alive: () => client.broken !== true,
  };
}

async function run(
  client: Client,
  sql: string,
  params: readonly Param[],
  timeoutMs: number,
): Promise<object[]> {
  const request = {
    text: sql,
    query_timeout: timeoutMs + ANSWER_GRACE_MS,
    ...(params.length > 0 && { values: params.map(driverParam) }),
  };
  try {
    const result = await client.query<object>(request);
    return result.rows;
  } catch (error) {
    const known = knownFault(error);
    // Any error except the server's own refusal leaves the connection in an unknown state.
    if (
      known instanceof StoreUnavailable &&
      !(error instanceof Error && 'severity' in error && error.severity !== 'FATAL')
    )
      client.broken = true;
    throw known;
  }
}

function driverParam(param: Param): unknown {
  if (Array.isArray(param)) return param.map(driverParam);
  return param instanceof Uint8Array ? Buffer.from(param) : param;
}

/** Our own words for what a driver says: its messages can name hosts, users and databases. */
function knownFault(error: unknown): StoreUnavailable | SqlError {
  const told = error instanceof Error && 'code' in error ? error.code : null;
  const code = typeof told === 'string' ? told : null;
  const refused = error instanceof Error && 'severity' in error && code !== null;
  if (!refused) return new StoreUnavailable(silenceOf(code), code ?? 'ENOANSWER');
  const sorted = fromSqlState(code, error.message);
  // A refusal before the first statement is about the connection, and names what it is made of.
  if (sorted instanceof SqlError && error.severity === 'FATAL') {
    return new StoreUnavailable('the server refused the connection', code);
  }
  return sorted;
}

function silenceOf(code: string | null): string {
  if (code === 'ECONNREFUSED') return 'the server refused the connection';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the server was not found by its name';
  return 'the server did not answer';
}

const text = (value: string): string => value;
const textArray: (value: string) => readonly (string | null)[] = types.getTypeParser(
  TYPE_ID.textArray,
);
const PARSERS = new Map<number, (value: string) => unknown>([
  [TYPE_ID.int8, BigInt],
  [TYPE_ID.date, text],
  [TYPE_ID.timestamp, text],
  [TYPE_ID.bytea, (value) => Uint8Array.from(Buffer.from(value.slice('\\x'.length), 'hex'))],
  [TYPE_ID.numericArray, textArray],
  [
    TYPE_ID.int8Array,
    (value) => textArray(value).map((item) => (item === null ? null : BigInt(item))),
  ],
]);
