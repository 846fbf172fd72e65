import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type EmbeddedWarehouse, openEmbedded } from '../stores/warehouse/engine/embedded.ts';
import { migrateWarehouse } from '../stores/warehouse/engine/migrate.ts';

/** An empty warehouse with all its tables, in a folder of its own; `close` removes the folder. */
export async function freshWarehouse(): Promise<EmbeddedWarehouse> {
  const folder = await mkdtemp(join(tmpdir(), 'exhibit-warehouse-'));
  const warehouse = await openEmbedded(join(folder, 'store'));
  await migrateWarehouse(warehouse, resolve('migrations/warehouse'), { simulated: false });
  const close = async () => {
    await warehouse.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...warehouse, close };
}
