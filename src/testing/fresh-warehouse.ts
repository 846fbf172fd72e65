import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type EmbeddedWarehouse,
  type EngineLimits,
  openEmbedded,
} from '../stores/warehouse/engine/embedded.ts';
import type { Warehouse } from '../stores/warehouse/engine/executor.ts';
import { migrateWarehouse } from '../stores/warehouse/engine/migrate.ts';
import { remoteWarehouse } from '../stores/warehouse/engine/remote.ts';
import { oncePerRun } from './once-per-run.ts';
import { createControlIn } from './postgres.ts';
import { startWarehouseFront } from './warehouse-front.ts';

const CREATE_TIMEOUT_MS = 60_000;

type Fresh = { readonly limits?: EngineLimits; readonly simulated?: boolean };

/** An empty warehouse with all its tables, in a folder of its own; `close` removes the folder. */
export async function freshWarehouse({ limits, simulated = false }: Fresh = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'exhibit-warehouse-'));
  await createWarehouseIn(folder);
  const warehouse = await openEmbedded(join(folder, 'warehouse'), limits);
  await createTables(warehouse, simulated);
  const close = async () => {
    await warehouse.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...warehouse, close } satisfies EmbeddedWarehouse;
}

/** The same behind a server, as a process without an engine of its own asks it. */
export async function freshServedWarehouse(): Promise<Warehouse> {
  const folder = await mkdtemp(join(tmpdir(), 'exhibit-served-'));
  await createWarehouseIn(folder);
  const front = await startWarehouseFront(join(folder, 'warehouse'));
  const warehouse = remoteWarehouse(front.url);
  await createTables(warehouse, false);
  const close = async () => {
    await warehouse.close();
    await front.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...warehouse, close };
}

/** Creates the embedded stores of a data directory: a start finds their tables there. */
export async function createStoresIn(dataDir: string): Promise<void> {
  await createControlIn(dataDir);
  await createWarehouseIn(dataDir);
}

/** The tables take the engine more than a second of processors, in each new warehouse of a run. */
async function createWarehouseIn(dataDir: string): Promise<void> {
  const template = await oncePerRun('warehouse-directory', makeTemplate);
  // The engine links its tables by relative paths.
  await cp(template, join(dataDir, 'warehouse'), { recursive: true, verbatimSymlinks: true });
}

/** A warehouse with all tables that belongs to nobody yet. */
async function makeTemplate(): Promise<string> {
  const directory = join(await mkdtemp(join(tmpdir(), 'exhibit-warehouse-')), 'warehouse');
  const warehouse = await openEmbedded(directory);
  await createTables(warehouse, false);
  await warehouse.command('TRUNCATE TABLE deployment', { timeoutMs: CREATE_TIMEOUT_MS });
  await warehouse.close();
  return directory;
}

async function createTables(warehouse: Warehouse, simulated: boolean): Promise<void> {
  await migrateWarehouse(warehouse, resolve('migrations/warehouse'), { simulated });
}
