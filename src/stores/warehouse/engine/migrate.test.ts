import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startWarehouseFront, type WarehouseFront } from '../../../testing/warehouse-front.ts';
import { splitStatements, type Warehouse } from './executor.ts';
import { migrateWarehouse, readMigrations } from './migrate.ts';
import { remoteWarehouse } from './remote.ts';

const OURS = fileURLToPath(new URL('../../../../migrations/warehouse', import.meta.url));
const OBSERVED = { simulated: false, layout: 'single' } as const;
const SIMULATED = { simulated: true, layout: 'single' } as const;
const SECONDS_10 = { timeoutMs: 10_000 };
const text = z.strictObject({ v: z.string() });

let folder: string;
let files: string;
let front: WarehouseFront;
let warehouse: Warehouse;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-migrate-'));
  files = join(folder, 'migrations');
  await cp(OURS, files, { recursive: true });
  front = await startWarehouseFront(join(folder, 'store'));
  warehouse = remoteWarehouse(front.url);
});

afterEach(async () => {
  await warehouse.close();
  await front.close();
  await rm(folder, { recursive: true, force: true });
});

async function values(sql: string): Promise<string[]> {
  return (await warehouse.query(sql, { ...SECONDS_10, row: text })).map(({ v }) => v);
}

function add(name: string, table: string): Promise<void> {
  const ddl = `CREATE TABLE IF NOT EXISTS ${table} {{on_cluster}} (a UInt8)
    ENGINE = {{engine:MergeTree()}} ORDER BY a;`;
  return writeFile(join(files, name), ddl);
}

const LEDGER = 'SELECT name AS v FROM schema_migrations FINAL ORDER BY name';

describe('a migration', () => {
  test('is applied once, in order, and recorded with its digest', async () => {
    await add('9002_second.sql', 'second');
    await add('9001_first.sql', 'first');
    const names = (await readMigrations(files)).map(({ name }) => name);
    expect(names.slice(-2)).toEqual(['9001_first.sql', '9002_second.sql']);
    expect(await migrateWarehouse(warehouse, files, OBSERVED)).toEqual(names);
    expect(await migrateWarehouse(warehouse, files, OBSERVED)).toEqual([]);
    await add('9003_third.sql', 'third');
    expect(await migrateWarehouse(warehouse, files, OBSERVED)).toEqual(['9003_third.sql']);
    expect(await values(LEDGER)).toEqual([...names, '9003_third.sql']);
    const digests = await values('SELECT sha256 AS v FROM schema_migrations FINAL ORDER BY name');
    expect(digests).toEqual((await readMigrations(files)).map(({ sha256 }) => sha256));
  });

  test('partitions what grows with history by chain', async () => {
    await migrateWarehouse(warehouse, files, OBSERVED);
    const byChain = `SELECT name AS v FROM system.tables
      WHERE database = currentDatabase() AND partition_key = 'chain' ORDER BY name`;
    const grown = ['blocks', 'creations', 'creators', 'sides', 'transactions', 'transfers'];
    expect(await values(byChain)).toEqual(grown);
  });

  test('that was cut off before it was recorded is run again', async () => {
    await migrateWarehouse(warehouse, files, OBSERVED);
    await warehouse.command('TRUNCATE TABLE schema_migrations', SECONDS_10);
    const all = (await readMigrations(files)).map(({ name }) => name);
    expect(await migrateWarehouse(warehouse, files, OBSERVED)).toEqual(all);
  });

  test('applied by two processes at once is applied', async () => {
    const other = remoteWarehouse(front.url);
    await Promise.all([
      migrateWarehouse(warehouse, files, OBSERVED),
      migrateWarehouse(other, files, OBSERVED),
    ]);
    await other.close();
    expect(await migrateWarehouse(warehouse, files, OBSERVED)).toEqual([]);
  });

  test('that was changed afterwards is refused', async () => {
    await migrateWarehouse(warehouse, files, OBSERVED);
    const path = join(files, '0001_schema.sql');
    await writeFile(path, `${await readFile(path, 'utf8')}\n`);
    await expect(migrateWarehouse(warehouse, files, OBSERVED)).rejects.toMatchObject({
      name: 'WarehouseRefusal',
      code: 'migration_changed',
    });
  });

  test('of a newer version is refused by an older one', async () => {
    await add('9001_first.sql', 'first');
    await migrateWarehouse(warehouse, files, OBSERVED);
    await expect(migrateWarehouse(warehouse, OURS, OBSERVED)).rejects.toMatchObject({
      code: 'migration_unknown',
    });
  });

  test('of one layout refuses the other', async () => {
    await migrateWarehouse(warehouse, files, OBSERVED);
    const cluster = { ...OBSERVED, layout: 'cluster' } as const;
    await expect(migrateWarehouse(warehouse, files, cluster)).rejects.toMatchObject({
      code: 'layout_differs',
    });
  });

  test.each(['single', 'cluster'] as const)('of ours parses in the layout %s', async (layout) => {
    const migrations = await readMigrations(OURS);
    expect(migrations.length).toBeGreaterThan(0);
    for (const { source } of migrations) {
      const statements = splitStatements(source, layout);
      expect(statements.length).toBeGreaterThan(0);
      for (const statement of statements) {
        await warehouse.command(`EXPLAIN AST ${statement}`, SECONDS_10);
        await expect(
          warehouse.command(`EXPLAIN AST ${statement} ,`, SECONDS_10),
        ).rejects.toMatchObject({ reason: 'SYNTAX_ERROR' });
      }
    }
  });
});

describe('a stamped store', () => {
  test.each([
    ['observed', OBSERVED, SIMULATED],
    ['simulated', SIMULATED, OBSERVED],
  ])('of %s data refuses to open in the other mode, and writes nothing', async (_, own, other) => {
    await migrateWarehouse(warehouse, files, own);
    await add('9001_first.sql', 'first');
    await expect(migrateWarehouse(warehouse, files, other)).rejects.toMatchObject({
      name: 'WarehouseRefusal',
      code: 'mode_differs',
    });
    expect(await values("SELECT name AS v FROM system.tables WHERE name = 'first'")).toEqual([]);
    expect(await migrateWarehouse(warehouse, files, own)).toEqual(['9001_first.sql']);
  });

  test('stamped in both modes at once opens in neither', async () => {
    await migrateWarehouse(warehouse, files, OBSERVED);
    const source = { columns: ['simulated'], rows: [[true]] };
    await warehouse.insert('deployment', source, SECONDS_10);
    for (const use of [OBSERVED, SIMULATED]) {
      await expect(migrateWarehouse(warehouse, files, use)).rejects.toMatchObject({
        code: 'mode_differs',
      });
    }
  });
});
