// Imported tables of a test in a real store, with their importers.

import { beforeAll, describe } from 'vitest';
import { SPLIT_SHARE } from '../features/launches/hold-out.ts';
import { type ImportedTable, tableImporter } from '../features/tables/import-rows.ts';
import type {
  ImportOrder,
  ImportOutcome,
  LabelChanges,
  OtherListChanges,
  RefusedRow,
  StoredRow,
  TableShape,
  TableStore,
} from '../ports/tables.ts';
import { localTableFiles } from '../sources/files/files.ts';
import { type Database, StoreUnavailable } from '../stores/control/engine/database.ts';
import { tableStore } from '../stores/control/imported-tables.ts';
import { LAUNCH_NOTES } from '../stores/control/launch-collection.ts';
import {
  LABEL_NOTES,
  labelChangeStore,
  OTHER_LIST_NOTES,
  otherListChangeStore,
} from '../stores/control/other-list-changes.ts';
import { walletLaunchTable } from '../stores/control/wallet-launches.ts';
import { type HeldOptions, type HeldTable, heldTable } from '../stores/snapshots/held-table.ts';
import { type SharedStore, sharedEmbedded, sharedOnServer } from './control-store.ts';
import { NO_POSTGRES } from './postgres.ts';

/** When the imports of tests are made, in Unix seconds. */
export const IMPORTED_AT = Date.UTC(2026, 10, 21, 12) / 1_000;

const OPEN_MS_MAX = 120_000;

/** Imported tables in the control store of this process, which is emptied before the tests. */
type KeptTables = {
  readonly database: () => Database;
  /** A table while all are empty; `now` gives Unix seconds. */
  readonly empty: <Row extends StoredRow, P extends string, Answer>(
    table: TableShape<Row, P, Answer>,
    now?: () => number,
  ) => Promise<TableStore<Row>>;
  /** The change log of the table of labels. */
  readonly changes: () => LabelChanges;
  /** The change log of other lists. */
  readonly listChanges: () => OtherListChanges;
  /** Makes the store silent, or lets it answer again. */
  readonly fallSilent: (isSilent: boolean) => void;
};

/** Runs the same tests on the embedded engine and on a PostgreSQL server. */
export function onEachEngine(tests: (kept: KeptTables) => void): void {
  describe('in the embedded engine', () => tests(keptTables()));
  describe.skipIf(NO_POSTGRES !== null)('in PostgreSQL (or skipped: no PostgreSQL server)', () => {
    tests(keptTables(sharedOnServer));
  });
}

/** Keeps tables in the embedded engine, or wherever they are told to. */
export function keptTables(open = sharedEmbedded): KeptTables {
  let opened: SharedStore | null = null;
  let silent = false;
  beforeAll(async () => {
    opened = await open();
    await opened.empty({});
  }, OPEN_MS_MAX);
  const database = (): Database => {
    if (opened === null) throw new Error('the store is open within tests only');
    const { database } = opened;
    const readHeard = () => {
      if (silent) throw new StoreUnavailable('it is down', 'TEST');
      return database;
    };
    return {
      ...database,
      query: async (...asked) => readHeard().query(...asked),
      transaction: async (...asked) => readHeard().transaction(...asked),
    };
  };
  return {
    database,
    empty: async (table, now = () => IMPORTED_AT) => {
      silent = false;
      await database().query(
        'truncate exchange_labels, launches, flagged_addresses, other_lists, table_imports, ' +
          'collected_launches, launch_cursors cascade',
      );
      return storeOf(database(), table, now);
    },
    changes: () => labelChangeStore(database(), () => IMPORTED_AT),
    listChanges: () => otherListChangeStore(database(), () => IMPORTED_AT),
    fallSilent: (isSilent) => {
      silent = isSilent;
    },
  };
}

/** A table in a store, with what its imports note. */
export function storeOf<Row extends StoredRow, P extends string, Answer>(
  database: Database,
  table: TableShape<Row, P, Answer>,
  now: () => number,
): TableStore<Row> {
  const notes = new Map([
    ['exchange_labels', LABEL_NOTES],
    ['other_lists', OTHER_LIST_NOTES],
    ['launches', LAUNCH_NOTES],
  ]).get(table.name);
  return tableStore(database, table, now, notes === undefined ? null : notes);
}

/** How often a table under test is polled once it was started. */
const POLL_MS = 10;

/** A table as it is served; it holds as much in memory as it declares, or as a test says. */
export function serveTable<Row extends StoredRow, P extends string, Answer>(
  table: TableShape<Row, P, Answer>,
  store: TableStore<Row>,
  max = table.held.max,
  more: Partial<HeldOptions<Row, P, Answer>> = {},
): HeldTable<P, Answer> {
  const small = { ...table, held: { ...table.held, max } };
  return heldTable({ table: small, store, pollMs: POLL_MS, onFault: () => undefined, ...more });
}

/** The result of an import, with its progress. */
type TestImport = {
  readonly outcome: ImportOutcome;
  readonly refused: readonly RefusedRow[];
  /** How many rows had been seen at each sign of progress. */
  readonly progress: readonly number[];
};

/** Imports a file as an operator does, observed and from the source `one` unless it is said. */
export async function importInto<Row extends StoredRow, P extends string, Answer>(
  table: ImportedTable<Row, P, Answer>,
  store: TableStore<Row>,
  order: Partial<ImportOrder> & Pick<ImportOrder, 'path'>,
  { now = () => IMPORTED_AT, signal = new AbortController().signal } = {},
): Promise<TestImport> {
  const refused: RefusedRow[] = [];
  const progress: number[] = [];
  const importFile = tableImporter({ table, store, files: localTableFiles(), now });
  const told = { source: 'one', source_url: null, otherwise: null, as_of: null } as const;
  const outcome = await importFile(
    { ...told, origin: 'observed', ...order },
    {
      onRefused: (row) => void refused.push(row),
      onProgress: (rows) => void progress.push(rows),
      signal,
    },
  );
  return { outcome, refused, progress };
}

/** The launches of wallets over a control store, by a clock of its own. */
export function walletLaunchesIn(database: Database, now = () => IMPORTED_AT) {
  const options = { splitShare: SPLIT_SHARE };
  return walletLaunchTable(database, { simulated: false, nowMs: () => now() * 1_000 }, options);
}
