// Does this warehouse have the tables that this version expects, and is it ours to open?
// Files are applied in order, each once; ClickHouse has no transactions, so each can be repeated.
// They are exclusive: an older version does not run over a warehouse that a newer one has changed.
// Refuses a changed file, an unknown one, another layout, and a store stamped for the other mode.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  type ServerLayout,
  splitStatements,
  type Warehouse,
  WarehouseRefusal,
} from './executor.ts';

/** The way in which this process opens the store; `single` by default. */
type WarehouseUse = { readonly simulated: boolean; readonly layout?: ServerLayout | undefined };

const NAME = /^[0-9]{4}_[a-z0-9_]+\.sql$/;
/** One statement, on every node of a cluster. */
const STATEMENT = { timeoutMs: 300_000 };

const LEDGER = `CREATE TABLE IF NOT EXISTS schema_migrations {{on_cluster}} (
  name String,
  sha256 String,
  layout String,
  applied DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(applied)}}
ORDER BY (name, sha256, layout)`;

const applied = z.strictObject({ name: z.string(), sha256: z.string(), layout: z.string() });
const stamp = z.strictObject({ simulated: z.boolean() });
const tableRow = z.strictObject({ name: z.string() });

/**
 * Brings the store up to date and stamps it. Returns the names of the files applied now. Rejects
 * with `WarehouseRefusal`, before anything is written, where the store is not this deployment's.
 */
export async function migrateWarehouse(
  warehouse: Warehouse,
  directory: string,
  use: WarehouseUse,
): Promise<readonly string[]> {
  const files = await readMigrations(directory);
  const layout = use.layout === undefined ? 'single' : use.layout;
  const sql = 'SELECT name FROM system.tables WHERE database = currentDatabase()';
  const held = await warehouse.query(sql, { ...STATEMENT, row: tableRow });
  const tables = new Set(held.map(({ name }) => name));
  const stamped = tables.has('deployment') && (await checkStamp(warehouse, use));
  const done = tables.has('schema_migrations')
    ? await checkLedger(warehouse, files, layout)
    : new Set<string>();
  const missing = files.filter((file) => !done.has(file.name));
  // A user who may create nothing starts over a store that lacks nothing.
  if (missing.length > 0) await run(warehouse, LEDGER, layout);
  for (const file of missing) {
    await run(warehouse, file.source, layout);
    const columns = ['name', 'sha256', 'layout'];
    const rows = [[file.name, file.sha256, layout]];
    await warehouse.insert('schema_migrations', { columns, rows }, STATEMENT);
  }
  if (!stamped) {
    // Stamped, then read again: of two processes that stamp differently at once, neither goes on.
    const source = { columns: ['simulated'], rows: [[use.simulated]] };
    await warehouse.insert('deployment', source, STATEMENT);
    await checkStamp(warehouse, use);
  }
  return missing.map((file) => file.name);
}

/** The migration files of a directory in their order. */
export async function readMigrations(directory: string) {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const wrong = names.find((name) => !NAME.test(name));
  if (wrong !== undefined || names.length === 0) {
    const message = `${wrong ?? directory}: migrations are named like 0001_schema.sql`;
    throw new WarehouseRefusal('migration_malformed', message);
  }
  return Promise.all(
    names.map(async (name) => {
      const source = await readFile(join(directory, name), 'utf8');
      return { name, source, sha256: createHash('sha256').update(source).digest('hex') };
    }),
  );
}

async function run(warehouse: Warehouse, source: string, layout: ServerLayout): Promise<void> {
  for (const statement of splitStatements(source, layout)) {
    await warehouse.command(statement, STATEMENT);
  }
}

async function checkLedger(
  warehouse: Warehouse,
  files: Awaited<ReturnType<typeof readMigrations>>,
  layout: ServerLayout,
): Promise<ReadonlySet<string>> {
  const sql = 'SELECT DISTINCT name, sha256, layout FROM schema_migrations';
  const rows = await warehouse.query(sql, { ...STATEMENT, row: applied });
  for (const row of rows) {
    const file = files.find(({ name }) => name === row.name);
    if (file === undefined) {
      const message =
        `The warehouse has had ${row.name}, which this older version does not know: ` +
        'migrations of the warehouse are exclusive, so stop every process of it first.';
      throw new WarehouseRefusal('migration_unknown', message);
    }
    if (file.sha256 !== row.sha256) {
      const message = `${row.name} was changed after it was applied: add a new file instead.`;
      throw new WarehouseRefusal('migration_changed', message);
    }
    if (row.layout !== layout) {
      const message = `The warehouse was made in the layout "${row.layout}", not "${layout}".`;
      throw new WarehouseRefusal('layout_differs', message);
    }
  }
  return new Set(rows.map(({ name }) => name));
}

/** Whether the store is stamped; refuses one whose stamp is not ours alone. */
async function checkStamp(warehouse: Warehouse, use: WarehouseUse): Promise<boolean> {
  const sql = 'SELECT DISTINCT simulated FROM deployment';
  const stamps = await warehouse.query(sql, { ...STATEMENT, row: stamp });
  if (stamps.some(({ simulated }) => simulated !== use.simulated)) {
    const [is, isNot] = use.simulated ? ['observed', 'simulated'] : ['simulated', 'observed'];
    const message = `The warehouse holds ${is} data and cannot be opened for ${isNot} data.`;
    throw new WarehouseRefusal('mode_differs', message);
  }
  return stamps.length > 0;
}
