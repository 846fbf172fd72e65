// What is imported stands in the warehouse, once, whichever file tells it and however often.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TransferStore } from '../../../ports/indexing.ts';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import { SHARED_DATA } from '../../../testing/shared-data.ts';
import type { EmbeddedWarehouse } from '../engine/embedded.ts';
import { transferStore } from '../transfers/store.ts';
import { freshFolder, importedInto, recordOf } from './bulk-import.suite.ts';

type Files = {
  readonly what: string;
  /** Transactions without status, and how many transfers they hold. */
  readonly plain: string;
  readonly held: number;
  /** The same transactions without status and with it; the latter with token transfers. */
  readonly untold: string;
  readonly told: string;
  readonly tokens: number;
};

const own = (name: string) => join(import.meta.dirname, 'recordings', name);
const ETL = join(SHARED_DATA, 'ethereum-etl');
const REAL: Files = {
  what: 'real files (or skipped: no shared data)',
  plain: join(SHARED_DATA, 'raphtory/transactions_03300000_03399999_small.csv.gz'),
  held: 19_968,
  untold: join(ETL, 'test_export_blocks_job/blocks_with_transactions_and_withdrawals/*.csv'),
  told: join(ETL, 'test_stream/blocks_17173049_17173050'),
  tokens: 291,
};
const OWN: Files = {
  what: 'our own recordings',
  plain: own('token-transactions.csv'),
  held: 2,
  untold: own('withdrawals-*.csv'),
  told: own('stream'),
  tokens: 2,
};

const FILES = [OWN, REAL].map((one) => [one.what, one] as const);

describe.each(FILES)('an import into the warehouse of %s', (_, files) => {
  const { plain, held, untold, told, tokens } = files;
  const absent = !existsSync(plain);
  let folder: string;
  let warehouse: EmbeddedWarehouse | undefined;
  let store: TransferStore;

  beforeAll(async () => {
    if (absent) return;
    folder = await freshFolder();
    warehouse = await freshWarehouse();
    store = transferStore(warehouse, () => 1_800_000_000);
  });
  afterAll(() => warehouse?.close());

  function opened(): EmbeddedWarehouse {
    if (warehouse === undefined) throw new Error('the warehouse was not opened');
    return warehouse;
  }

  async function status() {
    const reading = await store.status();
    if (!reading.checked) throw new Error(reading.why.reason);
    return reading.value;
  }

  test.skipIf(absent)(
    'is held once after it was made twice, and proves nothing without status',
    async () => {
      recordOf(await importedInto(opened(), [plain], { folder }));
      const once = await status();
      expect(once).toMatchObject([
        { chain: 'ethereum', transfers: held, origin: 'observed', coverage: [], following: null },
      ]);
      recordOf(await importedInto(opened(), [plain], { folder, blockRows: 7_000 }));
      expect(await status()).toEqual(once);
    },
  );

  test.skipIf(absent)(
    'of a transaction without status, and later with it, is one transfer and no second',
    async () => {
      const count = async () => Number((await status())[0]?.transfers);
      const before = await count();
      const first = recordOf(await importedInto(opened(), [untold], { folder }));
      expect(await count()).toBe(before + first.transfers);
      const second = recordOf(await importedInto(opened(), [told], { folder }));
      // Its token transfers are new, and the creation whose address only the second file tells.
      const fresh = before + first.transfers + tokens + 1;
      const failed = Number(second.left_out.get('failed'));
      expect(failed).toBeGreaterThan(0);
      expect(await count()).toBeLessThanOrEqual(fresh);
      expect(await count()).toBeGreaterThanOrEqual(fresh - failed);
      expect(second.transfers).toBe(first.transfers + tokens + 1 - failed);
    },
  );
});
