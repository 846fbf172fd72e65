// Each engine holds what the rules need of each side, in its best order and under its best index,
// and a ring, the hubs and the worthless tokens in tables of their own. One statement makes a
// walk.

import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { Pool } from 'pg';
import { z } from 'zod';
import type { Warehouse } from '../src/stores/warehouse/engine/executor.ts';
import { testPostgres } from '../src/testing/postgres.ts';
import { derivedTables, SIDE_COLUMNS, walkSql } from './warehouse-walk-sql.ts';

/** The result of a walk: hops (0: no path), the path, and the counters. */
const count = z.coerce.number();
const name = z.string().nullable();
export const walkAnswer = z.tuple([count, name, name, count, count, count]);
export type WalkAnswer = z.infer<typeof walkAnswer>;

/** An engine with the sides in it. */
export type Engine = {
  readonly name: string;
  /** How long it took to load, and bytes on disk. */
  readonly loadS: number;
  readonly bytes: number;
  readonly walk: (start: string) => Promise<WalkAnswer>;
  readonly close: () => Promise<void>;
};

/** The parameters beside the sides, in hexadecimal digits. */
export type Given = {
  readonly folder: string;
  readonly listed: readonly string[];
  readonly worthless: readonly string[];
};

const CALL = { timeoutMs: 3_600_000 };
const CALLERS = 32;
const DUCKDB_CONNECTIONS = 4;
const byte = (column: string, at: string) => `reinterpretAsUInt8(substring(${column}, ${at}, 1))`;

// The migration of the table defines the packing of a side.
const UNPACKED = `SELECT addr, peer, ${byte('id', '2')} AS sends,
    toUInt8(bitAnd(${byte('id', '1')}, 7)) AS kind, ${byte('detail', '16')} AS told,
    toUInt8(if(told = 0 AND kind = 1, 1, told)) AS signer,
    if(told = 3, substring(detail, 18, ${byte('detail', '17')}), '') AS initiator,
    ${byte('id', '3')} AS txs, ${byte('id', '4 + txs')} AS tokens,
    toUInt8(length(id) > 6 + txs + tokens) AS moved, substring(id, 5 + txs, tokens) AS token,
    reinterpretAsUInt32(reverse(substring(detail, 12, 4))) AS block_time,
    substring(id, 4, txs) AS tx
  FROM sides WHERE chain = 'ethereum' AND ${byte('detail', '2')} != 1
  ORDER BY chain, addr, peer`;
const STREAMED = 'max_threads = 1, max_block_size = 16384, engine_file_truncate_on_insert = 1';

/** Writes the sides in their order, for DuckDB. */
export async function exportParquet(warehouse: Warehouse, folder: string): Promise<string> {
  const path = join(folder, 'sides.parquet');
  const types = `addr String, peer String, sends UInt8, kind UInt8, signer UInt8,
    initiator String, moved UInt8, token String, block_time UInt32, tx String`;
  await warehouse.command(
    `INSERT INTO FUNCTION file('${path}', 'Parquet', '${types}')
     SELECT ${SIDE_COLUMNS.join(', ')} FROM (${UNPACKED})
     SETTINGS ${STREAMED}, output_format_parquet_string_as_string = 0`,
    CALL,
  );
  return path;
}

// The rows of COPY's binary form: how many fields, then each behind its length.
const sized = (value: string) =>
  `concat(reverse(reinterpretAsFixedString(toUInt32(length(${value})))), ${value})`;
const FLAG = "'\\0\\0\\0\\x01'";
const SMALL = "'\\0\\0\\0\\x02\\0'";
const COPIED = `concat('\\0\\x0A', ${sized('addr')}, ${sized('peer')}, ${FLAG}, char(sends),
  ${SMALL}, char(kind), ${SMALL}, char(signer), ${sized('initiator')}, ${FLAG}, char(moved),
  ${sized('token')}, '\\0\\0\\0\\x04', reverse(reinterpretAsFixedString(block_time)),
  ${sized('tx')})`;
const COPY_HEAD = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);

/** Writes the same for PostgreSQL. */
export async function exportCopy(warehouse: Warehouse, folder: string): Promise<string> {
  const path = join(folder, 'sides.copy');
  await warehouse.command(
    `INSERT INTO FUNCTION file('${path}.rows', 'RawBLOB', 'row String')
     SELECT ${COPIED} FROM (${UNPACKED}) SETTINGS ${STREAMED}`,
    CALL,
  );
  writeFileSync(`${path}.head`, COPY_HEAD);
  appendFileSync(`${path}.rows`, Buffer.from([0xff, 0xff]));
  for (const one of [`${path}.head`, `${path}.rows`]) chmodSync(one, 0o644);
  execFileSync('chmod', ['o+x', folder]);
  return path;
}

const bytesOf = (hex: readonly string[], from: (digits: string) => string) =>
  hex.map((digits) => `(${from(digits)})`).join(', ');

/** DuckDB, its table sorted by address, since it prunes by what a row group holds. */
export async function duckdbEngine(parquet: string, given: Given): Promise<Engine> {
  const begun = performance.now();
  const path = join(given.folder, 'sides.duckdb');
  rmSync(path, { force: true });
  const instance = await DuckDBInstance.create(path, { threads: '2', memory_limit: '3GB' });
  const connections = await Promise.all(
    Array.from({ length: DUCKDB_CONNECTIONS }, () => instance.connect()),
  );
  const [first] = connections;
  if (first === undefined) throw new Error('no connection');
  const from = (digits: string) => `from_hex('${digits}')`;
  const flag = (name: string) => (name === 'sends' || name === 'moved' ? `${name} = 1` : name);
  const columns = SIDE_COLUMNS.map((name) => `${flag(name)} AS ${name}`);
  await first.run('SET preserve_insertion_order = true');
  await first.run(`CREATE TABLE sides AS SELECT ${columns.join(', ')} FROM '${parquet}'`);
  await first.run('CREATE TABLE listed (addr BLOB)');
  await first.run(`INSERT INTO listed VALUES ${bytesOf(given.listed, from)}`);
  await first.run('CREATE TABLE worthless (token BLOB)');
  await first.run(`INSERT INTO worthless VALUES ${bytesOf(given.worthless, from)}`);
  for (const sql of derivedTables()) await first.run(sql);
  await first.run('CHECKPOINT');
  const loadS = (performance.now() - begun) / 1_000;
  const hexOf = (bytes: string) => `lower(hex(${bytes}))`;
  const sql = walkSql({ subject: 'from_hex($1)', hexOf });
  const free = await Promise.all(connections.map((one) => one.prepare(sql)));
  const waiting: ((one: (typeof free)[number]) => void)[] = [];
  const walk = async (start: string): Promise<WalkAnswer> => {
    const mine = free.pop() ?? (await new Promise<(typeof free)[number]>((r) => waiting.push(r)));
    try {
      mine.bindVarchar(1, start.slice(2));
      return answerOf((await mine.runAndReadAll()).getRows()[0]);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free.push(mine);
      else next(mine);
    }
  };
  const close = async () => {
    for (const one of connections) {
      one.closeSync();
    }
    instance.closeSync();
  };
  return { name: 'duckdb', loadS, bytes: statSync(path).size, walk, close };
}

/** Its numbers may be big ones. */
function answerOf(row: readonly unknown[] | undefined): WalkAnswer {
  if (row === undefined) throw new Error('a walk has one row');
  return walkAnswer.parse(row.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell)));
}

const SIDES = `addr bytea NOT NULL, peer bytea NOT NULL, sends bool NOT NULL,
  kind int2 NOT NULL, signer int2 NOT NULL, initiator bytea NOT NULL, moved bool NOT NULL,
  token bytea NOT NULL, block_time int4 NOT NULL, tx bytea NOT NULL`;
const MEMORY = ['shared_buffers=3GB', 'work_mem=128MB', 'maintenance_work_mem=1GB', 'jit=off'];

/** PostgreSQL, its rows in the order of the one index that a walk goes by. */
export async function postgresEngine(copy: string, given: Given): Promise<Engine> {
  const server = await testPostgres(MEMORY);
  const pool = new Pool({ connectionString: await server.freshDatabase(), max: CALLERS });
  // The server ends before those of its connections that rest.
  pool.on('error', () => undefined);
  const begun = performance.now();
  const from = (digits: string) => `decode('${digits}', 'hex')`;
  await pool.query(`CREATE UNLOGGED TABLE sides (${SIDES})`);
  await pool.query(`COPY sides FROM PROGRAM 'cat ${copy}.head ${copy}.rows' (FORMAT binary)`);
  await pool.query('CREATE INDEX sides_of ON sides (addr, peer)');
  await pool.query('CREATE TABLE listed (addr bytea PRIMARY KEY)');
  await pool.query(`INSERT INTO listed VALUES ${bytesOf(given.listed, from)}`);
  await pool.query('CREATE TABLE worthless (token bytea PRIMARY KEY)');
  await pool.query(`INSERT INTO worthless VALUES ${bytesOf(given.worthless, from)}`);
  await pool.query('VACUUM ANALYZE');
  for (const sql of derivedTables()) await pool.query(sql);
  await pool.query('CREATE INDEX ring_of ON ring (peer, listed)');
  await pool.query('CREATE UNIQUE INDEX hubs_of ON hubs (addr)');
  await pool.query('VACUUM ANALYZE');
  const loadS = (performance.now() - begun) / 1_000;
  const size = await pool.query(`SELECT sum(pg_total_relation_size(oid))::float8 AS bytes
    FROM pg_class WHERE relkind = 'r' AND relname IN ('sides', 'ring', 'hubs')`);
  const [held] = z.array(z.object({ bytes: z.number() })).parse(size.rows);
  const hexOf = (bytes: string) => `encode(${bytes}, 'hex')`;
  const text = walkSql({ subject: "decode($1, 'hex')", hexOf });
  const walk = async (start: string): Promise<WalkAnswer> => {
    const values = [start.slice(2)];
    const found = await pool.query({ name: 'walk', text, values, rowMode: 'array' });
    return answerOf(z.array(z.array(z.unknown())).parse(found.rows)[0]);
  };
  const close = async () => {
    await pool.end();
    await server.stop();
  };
  return {
    name: 'postgres',
    loadS,
    bytes: held === undefined ? Number.NaN : held.bytes,
    walk,
    close,
  };
}
