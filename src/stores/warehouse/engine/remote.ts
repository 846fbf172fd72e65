// The warehouse on many machines: a ClickHouse server or cluster behind one URL.
// Asks for whole answers only: buffered until complete, from all shards, written to all shards.
// Refuses to repeat in a message what a server or proxy said: it may hold data or secrets.
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  createClient,
  type ExecResult,
} from '@clickhouse/client';
import type { EngineLimits } from './embedded.ts';
import {
  ANSWER_SETTINGS,
  bindParams,
  type Call,
  type CommandOptions,
  engineError,
  errorOfText,
  type FileSource,
  type InsertSource,
  identifier,
  openSlots,
  type Params,
  type QueryOptions,
  type QuerySlots,
  RESULT_ROWS_MAX,
  shapedRows,
  type Warehouse,
  WarehouseQueryError,
  WarehouseRefusal,
  WarehouseUnavailable,
} from './executor.ts';
import { chunksOf, fileStructure, insertTarget } from './insert-source.ts';

type RemoteLimits = Pick<
  EngineLimits,
  'inFlightMax' | 'waitingMax' | 'threadsMax' | 'queryBytesMax'
>;

const MIB = 1024 * 1024;

/** Limits of one process among several that share a server. */
export const REMOTE_LIMITS: RemoteLimits = {
  inFlightMax: 16,
  waitingMax: 512,
  threadsMax: 4,
  queryBytesMax: 2048 * MIB,
};

/** The longest that a request may take at all; each caller's own limit is shorter. */
const REQUEST_MS_MAX = 3_600_000;
/** How long close waits for requests in flight. */
const CLOSE_WAIT_MS = 5_000;
const SECOND_MS = 1000;

const WHOLE_SETTINGS = {
  ...ANSWER_SETTINGS,
  // An exception after the first row must be a failure, not the end of the rows.
  wait_end_of_query: 1,
  http_write_exception_in_output_format: 0,
  cancel_http_readonly_queries_on_client_close: 1,
  // A dead shard or a stale replica is silence, never fewer rows.
  skip_unavailable_shards: 0,
  fallback_to_stale_replicas_for_distributed_queries: 0,
  // Acknowledged means written, on every shard that the rows belong to.
  async_insert: 0,
  distributed_foreground_insert: 1,
  // A block that is undone and comes back is written again, and must not be taken for a repeat.
  insert_deduplicate: 0,
  // In a cluster: most replicas have what was acknowledged, and one that lacks it does not answer.
  insert_quorum: 'auto',
  insert_quorum_parallel: 0,
  select_sequential_consistency: '1',
} as const;

/** Opens the warehouse at a URL (user, password, database and settings in it as ClickHouse has). */
export function remoteWarehouse(url: string, limits: RemoteLimits = REMOTE_LIMITS): Warehouse {
  const slots = openSlots(limits);
  const client = clientOf(url, limits);

  async function query<T>(sql: string, options: QueryOptions<T>): Promise<readonly T[]> {
    const rowsMax = options.rowsMax === undefined ? RESULT_ROWS_MAX : options.rowsMax;
    const binding = bindings(sql, options.params);
    const document = await request(slots, options, async ({ abort_signal, seconds }) => {
      const result = await client.query({
        query: sql,
        format: options.tuples === true ? 'JSONCompact' : 'JSON',
        abort_signal,
        clickhouse_settings: { max_execution_time: seconds, max_result_rows: String(rowsMax) },
        ...binding,
      });
      return result.text();
    });
    return shapedRows(document, options.row);
  }

  async function command(sql: string, options: CommandOptions): Promise<void> {
    const binding = bindings(sql, options.params);
    await request(slots, options, async ({ abort_signal, seconds }) => {
      const clickhouse_settings = { max_execution_time: seconds };
      await awaitAcknowledgement(
        await client.exec({ query: sql, abort_signal, clickhouse_settings, ...binding }),
      );
    });
  }

  /** An INSERT whose rows are the request's body. */
  async function write(target: string, format: string, bytes: Readable, call: Call): Promise<void> {
    await request(slots, call, async ({ abort_signal }) => {
      const sql = `INSERT INTO ${target} FORMAT ${format}`;
      await awaitAcknowledgement(await client.exec({ query: sql, values: bytes, abort_signal }));
    });
  }

  async function insert(table: string, source: InsertSource, call: Call): Promise<void> {
    const target = insertTarget(identifier(table), source.columns?.map(identifier));
    if ('format' in source && source.format === 'Parquet') {
      // Parquet is not cut: one request, which a failing source breaks off and so leaves no row.
      return ownFault(source.bytes, (bytes) => write(target, source.format, bytes, call));
    }
    for await (const { format, payload } of chunksOf(table, source, query, call)) {
      await write(target, format, Readable.from([payload], BYTES), call);
    }
  }

  async function ping(call: Call): Promise<void> {
    await command('SELECT 1 FORMAT Null', call);
  }

  async function close(): Promise<void> {
    await slots.close(CLOSE_WAIT_MS);
    await client.close();
  }

  const load = () => ({ ...slots.load(), restarts: 0 });
  const commandFile = uploadOf(client, slots);
  const writes = () => null;
  return { kind: 'remote', query, insert, command, commandFile, ping, load, writes, close };
}

/** A file goes up as the body of its statement, no faster than the server takes it. */
function uploadOf(client: ClickHouseClient, slots: QuerySlots): Warehouse['commandFile'] {
  return async (file, sql, { settings, ...call }) => {
    const query = `${sql(`input(${fileStructure(file)})`)} FORMAT ${file.format}`;
    await request(slots, call, async ({ abort_signal, seconds }) => {
      const clickhouse_settings = { ...settings, max_execution_time: seconds };
      const values = fileBytes(file);
      await awaitAcknowledgement(
        await client.exec({ query, values, abort_signal, clickhouse_settings }),
      );
    });
  };
}

/** Bytes of the answer to a statement without result: a line for each node of a cluster. */
const ACKNOWLEDGEMENT_BYTES_MAX = 1024 * 1024;
const EXCEPTION = /Code: \d+\. DB::Exception/;

/**
 * Reads the answer to a statement without result to its end. A status of 200 is said before the
 * statement has ended: its exception may stand in the body. A proxy's page bears no name of ours.
 */
async function awaitAcknowledgement({
  stream,
  response_headers,
}: ExecResult<Readable>): Promise<void> {
  const pieces: Buffer[] = [];
  let held = 0;
  for await (const piece of stream) {
    if (!Buffer.isBuffer(piece)) throw new WarehouseUnavailable('interrupted');
    held += piece.length;
    if (held > ACKNOWLEDGEMENT_BYTES_MAX) throw new WarehouseUnavailable('interrupted');
    pieces.push(piece);
  }
  const said = Buffer.concat(pieces).toString('utf8');
  if (EXCEPTION.test(said)) throw errorOfText(said);
  if (!SERVER_HEADERS.some((name) => name in response_headers)) {
    throw new WarehouseUnavailable('interrupted');
  }
}

/** Every answer of ClickHouse itself has one of them. */
const SERVER_HEADERS = ['x-clickhouse-summary', 'x-clickhouse-query-id'] as const;

/** One request in a slot; what it needs whichever it is, and its failures told apart. */
function request<T>(
  slots: QuerySlots,
  call: Call,
  send: (common: { abort_signal: AbortSignal; seconds: number }) => Promise<T>,
): Promise<T> {
  return slots.run(call, async (stop, leftMs) => {
    try {
      return await send({ abort_signal: stop, seconds: Math.ceil(leftMs / SECOND_MS) });
    } catch (cause) {
      throw failure(cause);
    }
  });
}

/** Sends a source on; where it fails itself, its own error is told, not that of the request. */
async function ownFault(
  source: AsyncIterable<Uint8Array>,
  send: (bytes: Readable) => Promise<void>,
): Promise<void> {
  let ofSource: unknown;
  async function* watch(): AsyncIterable<Uint8Array> {
    try {
      yield* source;
    } catch (cause) {
      ofSource = cause;
      throw cause;
    }
  }
  try {
    await send(Readable.from(watch(), BYTES));
  } catch (cause) {
    throw ofSource === undefined ? cause : ofSource;
  }
}

const BYTES = { objectMode: false };

/** The bytes of a file, unpacked; a fault of the file ends the request. */
function fileBytes({ path, gzip }: FileSource): Readable {
  const bytes = createReadStream(path);
  if (!gzip) return bytes;
  const unpacked = createGunzip();
  bytes.on('error', (fault) => unpacked.destroy(fault));
  return bytes.pipe(unpacked);
}

function clientOf(url: string, limits: RemoteLimits): ClickHouseClient {
  try {
    return createClient({
      url,
      request_timeout: REQUEST_MS_MAX,
      max_open_connections: limits.inFlightMax,
      use_multipart_params_auto: true,
      log: { level: ClickHouseLogLevel.OFF },
      clickhouse_settings: {
        ...WHOLE_SETTINGS,
        max_threads: limits.threadsMax,
        max_memory_usage: String(limits.queryBytesMax),
        max_result_rows: String(RESULT_ROWS_MAX),
        max_result_bytes: String(ANSWER_SETTINGS.max_result_bytes),
      },
    });
  } catch {
    // The driver's own words may repeat the URL.
    throw new WarehouseRefusal('broken', BAD_URL);
  }
}

const BAD_URL =
  'The warehouse URL cannot be used: write https://user:password@host:port/database, ' +
  'with settings as ?clickhouse_setting_<name>=<value>.';

/** Checked as the embedded engine's are, then bound by the server; long ones go in the body. */
function bindings(
  sql: string,
  params: Params | undefined,
): { query_params?: Record<string, unknown> } {
  bindParams(sql, params);
  return params === undefined ? {} : { query_params: { ...params } };
}

const NOT_REACHED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** The meaning of a failed request; all but ClickHouse's own exceptions is an upstream failure. */
function failure(cause: unknown): Error {
  if (cause instanceof WarehouseUnavailable || cause instanceof WarehouseQueryError) return cause;
  if (cause instanceof ClickHouseError) {
    const reason = cause.type === undefined ? 'UNNAMED' : cause.type;
    return engineError(Number(cause.code), reason, cause.message);
  }
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') {
    if (NOT_REACHED.has(cause.code)) return new WarehouseUnavailable('down');
  }
  return new WarehouseUnavailable('interrupted');
}
