import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import {
  SUITE_NOW,
  type SuiteHistory,
  transferHistoryKeeps,
} from '../../ports/transfer-history.suite.ts';
import type { TransferFact } from '../../ports/transfer-store.ts';
import { transferStore } from '../transfer-store/store.ts';
import { type EmbeddedWarehouse, embeddedWarehouse } from '../warehouse/embedded.ts';
import { migrateWarehouse } from '../warehouse/migrate.ts';
import { warehouseHistory } from './warehouse.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../migrations/warehouse', import.meta.url));

let folder: string;
let warehouse: EmbeddedWarehouse;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-history-'));
  warehouse = await embeddedWarehouse(join(folder, 'store'));
  await migrateWarehouse(warehouse, MIGRATIONS, { simulated: false });
});

afterAll(async () => {
  await warehouse.close();
  await rm(folder, { recursive: true, force: true });
});

function facts(world: SuiteHistory): TransferFact[] {
  return world.transfers.map(
    ({ at, symbol: _, decimals: __, has_market: ___, tx, ...transfer }) => ({
      ...transfer,
      block_time: at,
      tx_hash: tx,
      block_hash: null,
      position: null,
      price_basis: null,
    }),
  );
}

const now = () => SUITE_NOW;

transferHistoryKeeps('warehouse', async (world) => {
  const tables = ['transfers', 'sides', 'coverage', 'address_coverage', 'degrees'];
  for (const table of tables)
    await warehouse.command(`TRUNCATE TABLE ${table}`, { timeoutMs: 10_000 });
  const store = transferStore(warehouse, now);
  const origin = world.simulated ? 'simulated' : 'observed';
  const source = 'suite';
  const appended = await store.appendImported(
    { transfers: facts(world), creations: [], blocks: [], transactions: [] },
    { source, origin, import_id: 'suite' },
  );
  if (!(appended instanceof Read)) throw new Error(appended.why.reason);
  const ranges = world.coverage.map((range) => ({ ...range, source, origin }) as const);
  await store.recordCoverage(ranges.filter(({ address }) => address === null));
  await store.recordAddressCoverage(
    ranges.flatMap((range) =>
      range.address === null
        ? []
        : [{ ...range, address: range.address, truncated: false, read_at: SUITE_NOW }],
    ),
  );
  return { history: warehouseHistory(warehouse, now), close: async () => undefined };
});
