import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { matchKey } from '../../chain/address.ts';
import { Read, Unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { FlaggedTable, FlaggedTablePort, FlaggedTableRow } from '../../ports/flags/table.ts';
import {
  imported,
  importTableKeeps,
  type MadeTable,
  valueIn,
} from '../../ports/tables/table-import.suite.ts';
import { evm } from '../../testing/addresses.ts';
import { flaggedRow } from '../../testing/forensic-ports.ts';
import { memoryFlaggedTable } from '../../testing/memory/flag-table.ts';
import { memoryFlaggedAddresses } from '../../testing/memory/flagged-addresses.ts';
import { freshPgliteDirectory } from '../../testing/postgres.ts';
import { flaggedSnapshot } from '../snapshots/flags.ts';
import type { Database } from './engine/database.ts';
import { migrate } from './engine/migrate.ts';
import { openPglite } from './engine/pglite.ts';
import { flaggedStore } from './flags.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../migrations/control');
const LIVE = { simulated: false, secret_fingerprint: 'aaaa', previous_fingerprint: null };
const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const [A, B, C, MAKER] = ['a', 'b', 'c', 'maker'].map(evm) as [string, string, string, string];

function rowOf(address: string, creator: string | null = null): FlaggedTableRow {
  const row = flaggedRow(address, { creator, source: 'one' });
  const creator_key = creator === null ? null : matchKey(creator);
  return { ...row, match_key: matchKey(address), creator_key };
}

const ROWS = {
  ...{ first: rowOf(A), second: rowOf(B), third: rowOf(C) },
  shownAs: ({ address }: FlaggedTableRow) => address,
};

function snapshotOf(table: FlaggedTable, rowsInMemoryMax = 100) {
  return flaggedSnapshot({ table, pollMs: 10, rowsInMemoryMax, onFault: () => undefined });
}

function madeOf(table: FlaggedTable): MadeTable<FlaggedTableRow, FlaggedTablePort> {
  return {
    table,
    seen: async () => {
      const standing = valueIn(await table.inForce());
      const pages = await Promise.all(standing.map(({ id }) => table.page(id, 0, 1_000)));
      return pages.flatMap((page) => valueIn(page).map(({ address }) => address));
    },
    close: async () => undefined,
  };
}

describe('flagged addresses in memory', () => {
  importTableKeeps('the memory', ROWS, async () => madeOf(memoryFlaggedTable().table));

  test('a snapshot finds rows by address and by maker, in any letter case', async () => {
    const { table } = memoryFlaggedTable();
    await imported(table, 'one', [rowOf(A, MAKER), rowOf(B)]);
    const snapshot = snapshotOf(table);
    await snapshot.poll();
    const upper = `0x${A.slice(2).toUpperCase()}`;
    const look = valueIn(await snapshot.flagged.lookUp([upper, MAKER, C]));
    expect([...look.found.keys()]).toEqual([A]);
    expect([...look.created.keys()]).toEqual([MAKER]);
    expect(look.table_rows).toBe(2);
    expect(look.found.get(A)).toEqual([flaggedRow(A, { creator: MAKER, source: 'one' })]);
  });

  test('never imported, never loaded and too large are silence, never an empty table', async () => {
    const { table } = memoryFlaggedTable();
    const unstarted = snapshotOf(table);
    expect(await unstarted.flagged.lookUp([A])).toBeInstanceOf(Unread);
    await unstarted.poll();
    const never = await unstarted.flagged.lookUp([A]);
    expect(never instanceof Unread && never.why.code).toBe('table_never_imported');
    await imported(table, 'one', [rowOf(A), rowOf(B)]);
    const small = snapshotOf(table, 1);
    await small.poll();
    const large = await small.flagged.lookUp([A]);
    expect(large instanceof Unread && large.why.reason).toContain('more than the 1 that are held');
    const memory = memoryFlaggedAddresses({ rows: null, as_of: 0, simulated: false });
    expect(await memory.lookUp([A])).toBeInstanceOf(Unread);
  });

  test('while the store is silent what was loaded goes on answering', async () => {
    const { table, fallSilent } = memoryFlaggedTable();
    await imported(table, 'one', [rowOf(A)]);
    const snapshot = snapshotOf(table);
    await snapshot.poll();
    fallSilent(why('store_unreadable', { what: 'The store', fault: 'it is down' }));
    await snapshot.poll();
    expect(await snapshot.flagged.lookUp([A])).toBeInstanceOf(Read);
  });
});

describe('flagged addresses in the embedded store', () => {
  let database: Database;
  let directory = '';
  beforeAll(async () => {
    directory = await freshPgliteDirectory();
    database = await openPglite(directory);
    await migrate(database, MIGRATIONS, LIVE);
  }, 120_000);
  afterAll(async () => {
    await database.close();
    await rm(dirname(directory), { recursive: true });
  });
  const fresh = async () => {
    await database.query('truncate flagged_addresses, table_imports cascade');
    return flaggedStore(database, () => NOW);
  };

  importTableKeeps('the embedded store', ROWS, async () => madeOf(await fresh()));

  test('gives a row back with everything that its source said, once', async () => {
    const table = await fresh();
    await imported(table, 'one', [rowOf(A, MAKER), rowOf(B)]);
    await imported(table, 'two', [rowOf(B)]);
    await imported(table, 'one', [rowOf(A, MAKER)]);
    const snapshot = snapshotOf(table);
    await snapshot.poll();
    const look = valueIn(await snapshot.flagged.lookUp([A, B, MAKER]));
    expect(look.found.get(A)).toEqual([flaggedRow(A, { creator: MAKER, source: 'one' })]);
    expect(look.created.get(MAKER)).toHaveLength(1);
    expect(look.table_rows).toBe(2);
    const { origin } = valueIn(await table.inForce())[0] ?? {};
    expect(origin).toBe('observed');
  });
});
