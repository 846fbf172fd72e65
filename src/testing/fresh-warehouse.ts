import { mkdtemp, rm } from 'node:fs/promises';
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
import { startWarehouseFront } from './warehouse-front.ts';

type Fresh = { readonly limits?: EngineLimits; readonly simulated?: boolean };

/** An empty warehouse with all its tables, in a folder of its own; `close` removes the folder. */
export async function freshWarehouse({ limits, simulated = false }: Fresh = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'exhibit-warehouse-'));
  const warehouse = await openEmbedded(join(folder, 'store'), limits);
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
  const front = await startWarehouseFront(folder);
  const warehouse = remoteWarehouse(front.url);
  await createTables(warehouse, false);
  const close = async () => {
    await warehouse.close();
    await front.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...warehouse, close };
}

async function createTables(warehouse: Warehouse, simulated: boolean): Promise<void> {
  await migrateWarehouse(warehouse, resolve('migrations/warehouse'), { simulated });
}
