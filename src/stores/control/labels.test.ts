import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { matchKey } from '../../chain/address.ts';
import { collect } from '../../evidence/measure.ts';
import { Unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  exchangeLabelsKeep,
  labelOf,
  type SuiteLabels,
} from '../../ports/labels/exchange-labels.suite.ts';
import type { ExchangeLabel } from '../../ports/labels/exchange-labels.ts';
import { labelChangesKeep } from '../../ports/labels/label-changes.suite.ts';
import type { LabelRow, LabelTable, LabelTablePort } from '../../ports/labels/label-table.ts';
import {
  endOf,
  factsOf,
  imported,
  importTableKeeps,
  type MadeTable,
  numbered,
  valueIn,
} from '../../ports/tables/table-import.suite.ts';
import { memoryExchangeLabels } from '../../testing/memory/exchange-labels.ts';
import { memoryLabelTable } from '../../testing/memory/label-table.ts';
import {
  freshPgliteDirectory,
  NO_POSTGRES,
  type TestPostgres,
  testPostgres,
} from '../../testing/postgres.ts';
import { LABELS_IN_MEMORY_MAX, labelSnapshot } from '../snapshots/labels.ts';
import type { Database } from './engine/database.ts';
import { migrate } from './engine/migrate.ts';
import { openPglite } from './engine/pglite.ts';
import { openPostgres } from './engine/postgres.ts';
import { labelChangeStore } from './label-changes.ts';
import { labelStore } from './labels.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../migrations/control');
const LIVE = { simulated: false, secret_fingerprint: 'aaaa', previous_fingerprint: null };
const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const DAY_S = 86_400;
const POLL_MS = 10;
const CLOSED = async () => undefined;

const A = '0x1111111111111111111111111111111111111111';
const B = '0x2222222222222222222222222222222222222222';
const C = '0x3333333333333333333333333333333333333334';

function rowOf(address: string, source = 'one'): LabelRow {
  return { ...labelOf(address, source), match_key: matchKey(address) };
}

const ROWS = { first: rowOf(A), second: rowOf(B), third: rowOf(C), shownAs: addressOf };

function addressOf({ address }: { readonly address: string }): string {
  return address;
}

function madeOf(table: LabelTable): MadeTable<LabelRow, LabelTablePort> {
  const seen = async () => valueIn(await table.under([A, B, C])).map(addressOf);
  return { table, seen, close: CLOSED };
}

/** Imports the labels source by source, and serves them from a snapshot. */
async function served(table: LabelTable, world: SuiteLabels, rowsInMemoryMax: number) {
  const sources = new Map<string, ExchangeLabel[]>();
  for (const label of world.labels === null ? [] : world.labels) {
    collect(sources, label.source, label);
  }
  for (const [source, labels] of sources) {
    const origin = world.simulated ? 'simulated' : 'observed';
    const { id } = valueIn(await table.begin({ ...factsOf(source), origin }));
    const rows = labels.map((label) => ({ ...label, match_key: matchKey(label.address) }));
    valueIn(await table.stage(id, numbered(...rows)));
    valueIn(await table.complete(id, endOf(rows.length)));
  }
  const snapshot = snapshotOf(table, rowsInMemoryMax);
  await snapshot.poll();
  return { labels: snapshot.labels, close: CLOSED };
}

function snapshotOf(table: LabelTable, rowsInMemoryMax = LABELS_IN_MEMORY_MAX) {
  return labelSnapshot({ table, pollMs: POLL_MS, rowsInMemoryMax, onFault: () => undefined });
}

describe('labels in memory', () => {
  exchangeLabelsKeep('the memory', async ({ labels, simulated }) => ({
    labels: memoryExchangeLabels({ labels, simulated, as_of: NOW }),
    close: CLOSED,
  }));
  importTableKeeps('the memory', ROWS, async () => madeOf(memoryLabelTable().table));
  labelChangesKeep('the memory', async () => ({ ...memoryLabelTable(), close: CLOSED }));
  exchangeLabelsKeep('a snapshot of the memory', (world) =>
    served(memoryLabelTable().table, world, LABELS_IN_MEMORY_MAX),
  );

  test('while the store is silent what was loaded goes on answering', async () => {
    const { table, fallSilent } = memoryLabelTable();
    const { labels, poll } = snapshotOf(table);
    fallSilent(why('store_unreadable', { what: 'The store', fault: 'it is down' }));
    await poll();
    expect(await labels.lookUp([A])).toBeInstanceOf(Unread);
    fallSilent(null);
    await imported(table, 'one', [rowOf(A)]);
    await poll();
    fallSilent(why('store_unreadable', { what: 'The store', fault: 'it is down' }));
    await poll();
    expect([...valueIn(await labels.lookUp([A])).found.keys()]).toEqual([A]);
  });

  test('a snapshot that was never started has read nothing and says so', async () => {
    const reading = await snapshotOf(memoryLabelTable().table).labels.lookUp([A]);
    expect(reading).toBeInstanceOf(Unread);
    if (reading instanceof Unread) {
      expect(reading.why.reason).toBe(
        'the exchange-wallet table could not be read: it has not been loaded yet.',
      );
    }
  });

  test('a bug of the store does not end the polling', async () => {
    const { table } = memoryLabelTable();
    const bugs: unknown[] = [];
    let broken = false;
    const inForce = async () => {
      if (broken) throw new Error('a bug');
      return table.inForce();
    };
    const snapshot = labelSnapshot({
      table: { ...table, inForce },
      pollMs: POLL_MS,
      rowsInMemoryMax: LABELS_IN_MEMORY_MAX,
      onFault: () => undefined,
      onBug: (bug) => void bugs.push(bug),
    });
    await snapshot.start();
    broken = true;
    await expect.poll(() => bugs.length).toBeGreaterThan(1);
    broken = false;
    await imported(table, 'one', [rowOf(A)]);
    await expect
      .poll(async () => (await snapshot.labels.lookUp([A])) instanceof Unread)
      .toBe(false);
    snapshot.stop();
  });

  test('a started snapshot finds a new import by polling', async () => {
    const { table } = memoryLabelTable();
    const snapshot = snapshotOf(table);
    await snapshot.start();
    await imported(table, 'one', [rowOf(A)]);
    await expect
      .poll(async () => (await snapshot.labels.lookUp([A])) instanceof Unread)
      .toBe(false);
    snapshot.stop();
  });
});

function stored(name: string, opened: () => Promise<Database>, closed: () => Promise<void>) {
  describe(`labels in ${name}`, () => {
    let database: Database;
    let now = NOW;
    beforeAll(async () => {
      database = await opened();
      await migrate(database, MIGRATIONS, LIVE);
    }, 120_000);
    afterAll(async () => {
      await database.close();
      await closed();
    });
    const fresh = async () => {
      now = NOW;
      await database.query('truncate exchange_labels, launches, table_imports cascade');
      return labelStore(database, () => now);
    };

    importTableKeeps(name, ROWS, async () => madeOf(await fresh()));
    labelChangesKeep(name, async () => {
      return {
        table: await fresh(),
        changes: labelChangeStore(database, () => now),
        close: CLOSED,
      };
    });
    exchangeLabelsKeep(`a snapshot of ${name}`, async (world) =>
      served(await fresh(), world, LABELS_IN_MEMORY_MAX),
    );
    exchangeLabelsKeep(`a table of ${name} too large for memory`, async (world) =>
      served(await fresh(), world, 1),
    );

    test('a re-import replaces the rows of its source and leaves the others', async () => {
      const table = await fresh();
      await imported(table, 'one', [rowOf(A), rowOf(B)]);
      await imported(table, 'two', [rowOf(B, 'two')]);
      await imported(table, 'one', [rowOf(C)]);
      const rows = valueIn(await table.under([A, B, C]));
      const held = rows.map(({ address, source }) => `${address} ${source}`);
      expect(held.sort()).toEqual([`${B} two`, `${C} one`]);
      const kept = await database.query('select 1 from exchange_labels');
      expect(kept).toHaveLength(2);
    });

    test('of two imports of one source at once, one alone is in force', async () => {
      const table = await fresh();
      const one = valueIn(await table.begin(factsOf('one')));
      const two = valueIn(await table.begin(factsOf('one')));
      valueIn(await table.stage(one.id, numbered(rowOf(A))));
      valueIn(await table.stage(two.id, numbered(rowOf(B))));
      await Promise.all([table.complete(one.id, endOf(1)), table.complete(two.id, endOf(1))]);
      const standing = valueIn(await table.inForce());
      expect(standing).toHaveLength(1);
      const rows = valueIn(await table.under([A, B]));
      expect(rows.map(addressOf)).toEqual([standing[0]?.id === one.id ? A : B]);
    });

    test('an import left behind by a process that ended is forgotten after a day', async () => {
      const table = await fresh();
      const left = valueIn(await table.begin(factsOf('one')));
      valueIn(await table.stage(left.id, numbered(rowOf(A))));
      now = NOW + 2 * DAY_S;
      await imported(table, 'two', [rowOf(B, 'two')]);
      expect(await database.query('select n from exchange_labels')).toHaveLength(1);
      expect(await table.complete(left.id, endOf(1))).toBeInstanceOf(Unread);
    });

    test('a table that changes while it is loaded is not used half', async () => {
      const table = await fresh();
      await imported(table, 'one', [rowOf(A), rowOf(B)]);
      const snapshot = snapshotOf(table);
      await database.query('delete from exchange_labels where n = 2');
      await snapshot.poll();
      const reading = await snapshot.labels.lookUp([A]);
      expect(reading).toBeInstanceOf(Unread);
      if (reading instanceof Unread) expect(reading.why.reason).toContain('changed while');
    });

    test('many rows are loaded page by page, each once', async () => {
      const table = await fresh();
      const rows = Array.from({ length: 12_001 }, (_, i) =>
        rowOf(`0x${(i + 0x10000000).toString(16).padStart(40, '5')}`),
      );
      const { id } = valueIn(await table.begin(factsOf('one')));
      for (let at = 0; at < rows.length; at += 1_000) {
        const batch = rows.slice(at, at + 1_000).map((row, i) => ({ ...row, n: at + i + 1 }));
        expect(valueIn(await table.stage(id, batch))).toEqual([]);
      }
      valueIn(await table.complete(id, endOf(rows.length)));
      const snapshot = snapshotOf(table);
      await snapshot.poll();
      const { found, table_rows } = valueIn(await snapshot.labels.lookUp(rows.map(addressOf)));
      expect([found.size, table_rows]).toEqual([rows.length, rows.length]);
    });
  });
}

let directory = '';
stored(
  'the embedded store',
  async () => {
    directory = await freshPgliteDirectory();
    return openPglite(directory);
  },
  () => rm(dirname(directory), { recursive: true }),
);

describe.skipIf(NO_POSTGRES !== null)('a server (or skipped: no PostgreSQL server)', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await testPostgres();
  }, 120_000);
  stored(
    'PostgreSQL',
    async () => openPostgres(await server.freshDatabase()),
    () => server.stop(),
  );
});
