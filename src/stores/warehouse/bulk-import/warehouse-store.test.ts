// What is imported stands in the warehouse, once, whichever file tells it and however often.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TransferStore } from '../../../ports/indexing/transfer-store.ts';
import { SHARED_DATA } from '../../../testing/shared-data.ts';
import { type EmbeddedWarehouse, embeddedWarehouse } from '../engine/embedded.ts';
import { migrateWarehouse } from '../engine/migrate.ts';
import { transferStore } from '../transfers/store.ts';
import { freshFolder, imported, recordOf } from './bulk-import.suite.ts';

describe.skipIf(!existsSync(SHARED_DATA))(
  'an import into the warehouse (or skipped: no shared data)',
  () => {
    let folder: string;
    let warehouse: EmbeddedWarehouse;
    let store: TransferStore;

    beforeAll(async () => {
      folder = await freshFolder();
      warehouse = await embeddedWarehouse(join(folder, 'store'));
      await migrateWarehouse(warehouse, resolve('migrations/warehouse'), { simulated: false });
      store = transferStore(warehouse, () => 1_800_000_000);
    });
    afterAll(() => warehouse.close());

    async function status() {
      const held = await store.status();
      if (!held.checked) throw new Error(held.why.reason);
      return held.value;
    }

    test('is held once after it was made twice, and proves nothing without status', async () => {
      const path = join(SHARED_DATA, 'raphtory/transactions_03300000_03399999_small.csv.gz');
      recordOf(await imported(store, [path], { folder }));
      const once = await status();
      expect(once).toMatchObject([
        { chain: 'ethereum', transfers: 19_968, origin: 'observed', coverage: [], following: null },
      ]);
      recordOf(await imported(store, [path], { folder, chunkRows: 7_000 }));
      expect(await status()).toEqual(once);
    });

    test('of a transaction without status, and later with it, is one transfer and no second', async () => {
      const count = async () => Number((await status())[0]?.transfers);
      const before = await count();
      const untold = 'ethereum-etl/test_export_blocks_job/blocks_with_transactions_and_withdrawals';
      const told = 'ethereum-etl/test_stream/blocks_17173049_17173050';
      const first = recordOf(
        await imported(store, [join(SHARED_DATA, untold, '*.csv')], { folder }),
      );
      expect(await count()).toBe(before + first.transfers);
      const second = recordOf(await imported(store, [join(SHARED_DATA, told)], { folder }));
      // Its token transfers are new, and the creation whose address only the second file tells.
      const fresh = await count();
      const failed = Number(second.left_out.get('failed'));
      expect(failed).toBeGreaterThan(0);
      expect(fresh).toBeLessThanOrEqual(before + first.transfers + 291 + 1);
      expect(fresh).toBeGreaterThanOrEqual(before + first.transfers + 291 + 1 - failed);
      expect(second.transfers).toBe(first.transfers + 291 + 1 - failed);
    });
  },
);
