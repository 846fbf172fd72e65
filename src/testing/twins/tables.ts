// The twin of imported tables and of their logs: in memory, planted and silent.

import { matchKey } from '../../chain/address.ts';
import { read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { exchangeLabels } from '../../features/tables/labels.ts';
import { otherLists } from '../../features/tables/other-lists.ts';
import type {
  ExchangeLabel,
  ExchangeLabels,
  ImportsRequest,
  LabelChange,
  LabelChanges,
  OtherListChange,
  OtherListChanges,
  OtherListEntry,
  OtherListImport,
  OtherLists,
  StoredRow,
  TableImport,
  TableLookUp,
  TableShape,
} from '../../ports/tables.ts';
import { nothingCounts } from '../../stores/snapshots/held-table.ts';
import { evm } from '../addresses.ts';
import { type Dated, memoryPage, memorySource, PLANTED, UNDATED } from './dated.ts';

/** The contents of a memory. `null`: no import of the table has completed. */
export type MemoryLabels = Dated & { readonly labels: readonly ExchangeLabel[] | null };

/** The exchange-wallet table in memory. */
export function memoryExchangeLabels({ labels, ...dated }: MemoryLabels): ExchangeLabels {
  return memoryTable(exchangeLabels, labels, dated);
}

/** The lists of other authorities in memory, each dated as the whole. `null`: none was imported. */
export type MemoryOtherLists = Dated & {
  readonly names: readonly string[];
  readonly entries: readonly OtherListEntry[] | null;
  /** How many rows of a list were refused, by its name. */
  readonly lost?: ReadonlyMap<string, number>;
};

/** The table of other lists in memory. */
export function memoryOtherLists(held: MemoryOtherLists): OtherLists {
  const { names, entries, lost, ...dated } = held;
  return memoryTable(otherLists, entries, dated, names, lost);
}

/** The port of a table over these rows. `null`: no import has completed. */
export function memoryTable<Row extends StoredRow, P extends string, Answer>(
  table: TableShape<Row, P, Answer>,
  rows: readonly Row[] | null,
  { as_of, simulated }: Dated,
  sources: readonly string[] = ['memory'],
  lost: ReadonlyMap<string, number> = new Map(),
): TableLookUp<P, Answer> {
  const { port, counting, title, what, ages } = table;
  const flag = counting.which === 'best row' ? counting.where : null;
  const counted = rows?.filter((row) => flag === null || row[flag] === true);
  if (counted === undefined || (flag !== null && counted.length === 0)) {
    const reason =
      counted === undefined ? why('table_never_imported', { what }) : nothingCounts(table);
    return { lookUp: async () => unread(port, reason) };
  }
  const imports = sources.map((source, i): TableImport => {
    const rows_accepted = counted.filter((row) => row['source'] === source).length;
    const origin = simulated ? 'simulated' : 'observed';
    const rows_lost = lost.get(source) ?? 0;
    const dated = { as_of, completed_at: as_of };
    return { ...MADE, id: i + 1, source, origin, rows_accepted, rows_lost, ...dated };
  });
  const index = table.index(imports);
  for (const row of counted) index.add(row);
  const source = memorySource(title, ages, { as_of, simulated });
  return {
    lookUp: async (asked, formsAmong) => {
      const holders = index.holders === undefined ? null : index.holders;
      const addresses = formsAmong === undefined ? asked : [...asked, ...formsAmong(holders)];
      return read(index.answer(counted.length, addresses), { port, source });
    },
  };
}

const MADE = {
  table_name: 'memory',
  source_url: null,
  started_at: 0,
  rows_refused: 0,
  dated_by: 'import',
  sha256: '0'.repeat(64),
} as const;

/** The log of an import that added these labels. `as_of` is Unix seconds. */
export function memoryLabelLog(labels: readonly ExchangeLabel[], as_of: number): LabelChanges {
  const source = memorySource('Memory', 'table', { as_of, simulated: false });
  const origin = { port: 'label_changes', source } as const;
  const added = labels.map(({ clusterable: _, ...label }, n): LabelChange => {
    const of = { id: n + 1, change: 'added', before: null, import_id: 1, at: as_of } as const;
    return { ...label, ...of, sha256: '0'.repeat(64), origin: 'observed' };
  });
  return {
    newest: async ({ beforeId, matchKey: key, limit }) => {
      const found = added
        .filter(({ address }) => key === null || matchKey(address) === key)
        .filter(({ id }) => beforeId === null || id < beforeId)
        .reverse();
      return memoryPage(found, limit, origin);
    },
  };
}

/** The log of an import that added these entries; of none, of no import. `as_of`: Unix seconds. */
export function memoryOtherListLog(
  held: readonly OtherListEntry[],
  as_of: number,
): OtherListChanges {
  const source = memorySource('Memory', 'table', { as_of, simulated: false });
  const origin = { port: 'other_list_changes', source } as const;
  const of = { import_id: 1, at: as_of, sha256: '0'.repeat(64), simulated: false } as const;
  const added = held.map(({ source: list, ...entry }, n): OtherListChange => {
    const { address } = entry;
    return { id: n + 1, change: 'added', list, address, entries: [entry], before: null, ...of };
  });
  const asks = ({ list, from, until }: ImportsRequest, one: { readonly list: string }): boolean =>
    (list === null || one.list === list) &&
    (from === null || as_of >= from) &&
    (until === null || as_of < until);
  const imports = added.slice(0, 1).map(({ list }): OtherListImport => {
    const counts = { added: added.length, changed: 0, removed: 0 };
    const rows = { rows: added.length, rows_refused: 0, rows_lost: 0 };
    return { ...of, ...rows, list, as_of, dated_by: 'import', source_url: null, counts };
  });
  return {
    newest: async (asked) => {
      const found = added
        .filter((one) => asks(asked, one))
        .filter(({ address }) => asked.matchKey === null || matchKey(address) === asked.matchKey)
        .filter(({ id }) => asked.beforeId === null || id < asked.beforeId)
        .reverse();
      return memoryPage(found, asked.limit, origin);
    },
    imports: async (asked) => {
      const found = imports.filter((one) => asks(asked, one));
      return memoryPage(found, asked.limit, origin);
    },
  };
}

export type TablesHeld = {
  readonly labels: MemoryLabels;
  /** Left out: no list of another authority was imported. */
  readonly otherLists?: MemoryOtherLists;
};

export type TablesPorts = {
  readonly exchangeLabels: ExchangeLabels;
  readonly otherLists: OtherLists;
};

export function memoryTables({ labels, otherLists }: TablesHeld): TablesPorts {
  return {
    exchangeLabels: memoryExchangeLabels(labels),
    otherLists: memoryOtherLists(otherLists ?? { ...UNDATED, names: [], entries: null }),
  };
}

export function silentTables(cause: Why): TablesPorts {
  const labels = unread('exchange_labels', cause);
  return {
    exchangeLabels: { lookUp: async () => labels },
    otherLists: { lookUp: async () => unread('other_lists', cause) },
  };
}

/** The facts of tables that a world may plant. */
export type PlantedTables = {
  readonly labels?: readonly ExchangeLabel[];
  /** Entries of a list of another authority. */
  readonly otherEntries?: readonly OtherListEntry[];
};

export function plantedTables({ labels = [], otherEntries = [] }: PlantedTables) {
  const labelled = [labelOf(evm('exchange elsewhere'), 'Elsewhere'), ...labels];
  const entries = [otherEntryOf(evm('listed elsewhere')), ...otherEntries];
  return {
    ...memoryTables({
      labels: { ...PLANTED, labels: labelled },
      otherLists: { ...PLANTED, names: [OTHER_LIST], entries },
    }),
    labelChanges: memoryLabelLog(labelled, PLANTED.as_of),
    otherListChanges: memoryOtherListLog(otherEntries, PLANTED.as_of),
  };
}

/** The name of another authority's list. */
export const OTHER_LIST = 'another-authority';

/** An entry of a list of another authority. */
export function otherEntryOf(address: string): OtherListEntry {
  return {
    address,
    currency: 'ETH',
    entity: 'Doe, Jane',
    entity_type: 'Person',
    programs: 'EU-CYB',
    entry_id: 'eu-1',
    source_url: null,
    listed_at: '2025-01-02',
    ended_at: null,
    note: null,
    source: OTHER_LIST,
  };
}

/** A label of an exchange's wallet. */
export function labelOf(address: string, entity: string): ExchangeLabel {
  return {
    address,
    chain: null,
    label: `${entity}: Hot Wallet`,
    entity,
    role: 'hot',
    confidence: 'service_data',
    clusterable: false,
    source: 'tests',
    source_url: null,
    first_seen: '2026-01-01',
  };
}
