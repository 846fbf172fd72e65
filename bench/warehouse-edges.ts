// Answers one question: how do engines do the same walk over the same edges, one statement each?
// A walk here is membership alone: two hops over distinct counterparties, not past a hub, and how
// many of those met stand on the list. No other rule, no cache of answers.

import { execFileSync } from 'node:child_process';
import { chmodSync, createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DuckDBInstance } from '@duckdb/node-api';
import { Client } from 'pg';
import { z } from 'zod';
import type { Warehouse } from '../src/stores/warehouse/engine/executor.ts';
import { testPostgres } from '../src/testing/postgres.ts';

/** A walk: distinct addresses met, the start left out, and how many of them are listed. */
type Membership = { readonly nodes: number; readonly hits: number };

/** An engine with the edges in it. */
export type Engine = {
  readonly name: string;
  readonly loaded: string;
  readonly walk: (start: string) => Promise<Membership>;
  readonly close: () => Promise<void>;
};

const DEGREE_MAX = 5_000;
const CALL = { timeoutMs: 3_600_000 };
const walkRow = z.tuple([z.coerce.number(), z.coerce.number()]);

/** Ours: edges are the sides themselves, hubs are those that were counted. */
export async function ourEdges(warehouse: Warehouse, listed: readonly string[]): Promise<Engine> {
  await warehouse.command(
    'CREATE TABLE IF NOT EXISTS bench_listed (addr String) ENGINE = MergeTree ORDER BY addr',
    CALL,
  );
  await warehouse.command('TRUNCATE TABLE bench_listed', CALL);
  await warehouse.command(
    'INSERT INTO bench_listed SELECT unhex(arrayJoin({listed:Array(String)}))',
    { ...CALL, params: { listed: listed.map((address) => address.slice(2)) } },
  );
  const sql = `SELECT uniqExactIf(peer, peer != unhex({start:String})),
      uniqExactIf(peer, peer IN (SELECT addr FROM bench_listed) AND peer != unhex({start:String}))
    FROM sides WHERE addr IN (
      SELECT unhex({start:String})
      UNION ALL
      SELECT peer FROM sides WHERE addr = unhex({start:String})
        AND peer NOT IN (SELECT addr FROM degrees WHERE degree > ${DEGREE_MAX})
    ) SETTINGS optimize_move_to_prewhere = 0`;
  const walk = async (start: string): Promise<Membership> => {
    const query = { ...CALL, row: walkRow, tuples: true, params: { start: start.slice(2) } };
    const [row] = await warehouse.query(sql, query);
    if (row === undefined) throw new Error('a count has one row');
    return { nodes: row[0], hits: row[1] };
  };
  return { name: 'ours', loaded: 'as above', walk, close: async () => undefined };
}

/** Where the edges lie for the others: one file each, sorted. */
type EdgeFiles = { readonly parquet: string; readonly csv: string };

/** Writes the distinct edges out of our warehouse. */
export async function exportEdges(warehouse: Warehouse, folder: string): Promise<EdgeFiles> {
  const files = { parquet: join(folder, 'edges.parquet'), csv: join(folder, 'edges.csv') };
  // Grouped in the order of the table, hence sorted, and with no memory to speak of.
  const edges = `SELECT addr, peer FROM sides WHERE chain = 'ethereum' GROUP BY chain, addr, peer`;
  const settings = `SETTINGS optimize_aggregation_in_order = 1, max_threads = 1,
    max_block_size = 16384`;
  await warehouse.command(
    `INSERT INTO FUNCTION file('${files.parquet}', 'Parquet', 'addr String, peer String')
     ${edges} ${settings}, engine_file_truncate_on_insert = 1,
       output_format_parquet_string_as_string = 0`,
    CALL,
  );
  await warehouse.command(
    `INSERT INTO FUNCTION file('${files.csv}', 'TSV', 'addr String, peer String')
     SELECT concat('\\\\x', hex(addr)), concat('\\\\x', hex(peer)) FROM (${edges})
     ${settings}, engine_file_truncate_on_insert = 1`,
    CALL,
  );
  return files;
}

/** DuckDB, its table sorted by address, since it prunes by what a row group holds. */
export async function duckdbEdges(
  files: EdgeFiles,
  listed: readonly string[],
  folder: string,
): Promise<Engine> {
  const begun = performance.now();
  const path = join(folder, 'edges.duckdb');
  const instance = await DuckDBInstance.create(path, { threads: '2', memory_limit: '1500MB' });
  const connection = await instance.connect();
  await connection.run(`CREATE TABLE edges AS SELECT addr, peer FROM '${files.parquet}'`);
  await connection.run(`CREATE TABLE hubs AS SELECT addr FROM edges GROUP BY addr
    HAVING count(*) > ${DEGREE_MAX}`);
  await connection.run('CREATE TABLE listed (addr BLOB)');
  const hex = listed.map((address) => `(from_hex('${address.slice(2)}'))`);
  await connection.run(`INSERT INTO listed VALUES ${hex.join(', ')}`);
  const loaded = `loaded in ${((performance.now() - begun) / 1_000).toFixed(1)} s`;
  const statement = await connection.prepare(`
    WITH near AS (SELECT peer FROM edges WHERE addr = from_hex($1)), met AS (
      SELECT peer FROM near UNION
      SELECT peer FROM edges WHERE addr IN (
        SELECT peer FROM near WHERE peer NOT IN (SELECT addr FROM hubs))
    )
    SELECT count(*)::INT, count(*) FILTER (peer IN (SELECT addr FROM listed))::INT
    FROM met WHERE peer != from_hex($1)`);
  const walk = async (start: string): Promise<Membership> => {
    statement.bindVarchar(1, start.slice(2));
    const rows = (await statement.runAndReadAll()).getRows();
    const [nodes, hits] = walkRow.parse(rows[0]);
    return { nodes, hits };
  };
  const close = async () => {
    connection.closeSync();
    instance.closeSync();
  };
  return { name: 'duckdb', loaded, walk, close };
}

/** PostgreSQL, its edges in one index that a walk never leaves. */
export async function postgresEdges(files: EdgeFiles, listed: readonly string[]): Promise<Engine> {
  const server = await testPostgres();
  const client = new Client({ connectionString: await server.freshDatabase() });
  await client.connect();
  const begun = performance.now();
  await client.query('CREATE UNLOGGED TABLE edges (addr bytea NOT NULL, peer bytea NOT NULL)');
  await copyRows(client, files.csv);
  await client.query('CREATE UNIQUE INDEX edges_of ON edges (addr, peer)');
  await client.query(`CREATE TABLE hubs AS SELECT addr FROM edges GROUP BY addr
    HAVING count(*) > ${DEGREE_MAX}`);
  await client.query('CREATE TABLE listed (addr bytea PRIMARY KEY)');
  await client.query("INSERT INTO listed SELECT decode(a, 'hex') FROM unnest($1::text[]) a", [
    listed.map((address) => address.slice(2)),
  ]);
  await client.query('VACUUM ANALYZE');
  const loaded = `loaded in ${((performance.now() - begun) / 1_000).toFixed(1)} s`;
  const walk = async (start: string): Promise<Membership> => {
    const found = await client.query({
      name: 'walk',
      text: `WITH near AS (SELECT peer FROM edges WHERE addr = decode($1, 'hex')), met AS (
          SELECT peer FROM near UNION
          SELECT e.peer FROM near n JOIN edges e ON e.addr = n.peer
          WHERE NOT EXISTS (SELECT 1 FROM hubs h WHERE h.addr = n.peer)
        )
        SELECT count(*)::int, count(l.addr)::int FROM met LEFT JOIN listed l ON l.addr = met.peer
        WHERE met.peer != decode($1, 'hex')`,
      values: [start.slice(2)],
      rowMode: 'array',
    });
    const [nodes, hits] = walkRow.parse(found.rows[0]);
    return { nodes, hits };
  };
  const close = async () => {
    await client.end();
    await server.stop();
  };
  return { name: 'postgres', loaded, walk, close };
}

const ROWS_AT_ONCE = 20_000;

/** By statements of many rows, since the driver has no COPY of its own. */
async function copyRows(client: Client, path: string): Promise<void> {
  const serverReads = await serverCopy(client, path);
  if (serverReads) return;
  let batch: string[] = [];
  const write = async () => {
    const sql =
      'INSERT INTO edges SELECT a::bytea, b::bytea FROM unnest($1::text[], $2::text[]) t(a, b)';
    const pairs = batch.map((text) => text.replaceAll('\\\\', '\\').split('\t'));
    await client.query(sql, [pairs.map(([a]) => a), pairs.map(([, b]) => b)]);
    batch = [];
  };
  for await (const text of createInterface({ input: createReadStream(path) })) {
    batch.push(text);
    if (batch.length === ROWS_AT_ONCE) await write();
  }
  if (batch.length > 0) await write();
}

/** A server on this machine reads the file itself, if its user may. */
async function serverCopy(client: Client, path: string): Promise<boolean> {
  chmodSync(path, 0o644);
  execFileSync('chmod', ['o+x', join(path, '..')]);
  const copied = await client.query(`COPY edges FROM '${path}'`).then(
    () => true,
    () => false,
  );
  return copied;
}
