// The warehouse on one machine: chDB under the data directory, in a child process of ours.
// Refuses to share its directory: one process owns it, the others are told so.
import { randomUUID } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ENGINE_LIMITS, type EngineLimits, NO_RESULT, startWarehouseEngine } from './engine.ts';
import {
  bindParams,
  type Call,
  type CommandOptions,
  type InsertSource,
  identifier,
  type LocalFiles,
  type QueryOptions,
  RESULT_ROWS_MAX,
  shapedRows,
  type Warehouse,
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
