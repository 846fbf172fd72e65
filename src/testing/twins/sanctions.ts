// The twin of the list and of its log: in memory, planted and silent.
// The age rule, the rule of past days and the readings are the real ones.

import { matchKey } from '../../chain/address.ts';
import { unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type {
  FileEvent,
  HeldPublication,
  ListChange,
  ListChanges,
  ListEntry,
  SanctionsList,
  Span,
} from '../../ports/sanctions.ts';
import {
  answerNow,
  answerOn,
  aroundDay,
  dayNotCovered,
  distinctAddresses,
  type ListRules,
  type ListTable,
  listEntriesUnder,
  listInForce,
  neverLoaded,
  standingOf,
  tableOf,
} from '../../stores/snapshots/sanctions.ts';
import { evm } from '../addresses.ts';
import { STILL_NOW } from '../clock.ts';
import { memoryPage, memorySource, PLANTED } from './dated.ts';

/** A publication for the memory: its day, its last successful check (Unix seconds), its rows. */
export type MemoryPublication = {
  readonly published: string;
  readonly checked_at: number;
  readonly entries: readonly ListEntry[];
};

/** The options of the memory. The last publication is in force; none makes a list never loaded. */
export type MemoryListOptions = ListRules & {
  readonly publications: readonly MemoryPublication[];
  /** Unix seconds. */
  readonly now: () => number;
};

/** A sanctions list in memory. */
export function memorySanctionsList(options: MemoryListOptions): SanctionsList {
  const held = options.publications.map((publication, index) => ({
    publication: publicationOf(publication, index),
    table: tableOf(publication.entries),
  }));
  const inForce = held.at(-1);
  return {
    lookUp: async (addresses, formsAmong) => {
      if (inForce === undefined) return neverLoaded(null);
      const standing = standingOf(inForce.publication, null, options, options.now());
      return answerNow(inForce.table, standing, addresses, formsAmong);
    },
    listed: async () => {
      if (inForce === undefined) return neverLoaded(null);
      const standing = standingOf(inForce.publication, null, options, options.now());
      return listInForce(inForce.table, standing);
    },
    lookUpOn: async (on, addresses) => {
      if (inForce === undefined) return neverLoaded(null);
      const newestFirst = held.map(({ publication }) => publication);
      newestFirst.sort((a, b) => (a.published < b.published ? 1 : -1));
      const around = aroundDay(newestFirst, on);
      const tables = new Map(held.map(({ publication, table }) => [publication.id, table]));
      if (around.covering !== null) {
        return answerOn(around.covering, options, rowsIn(tables, around.covering, addresses));
      }
      const before = rowsIn(tables, around.before, addresses);
      const after = rowsIn(tables, around.after, addresses);
      const inBoth = [...before].filter(([key]) => after.has(key));
      return dayNotCovered(on, around, [
        ...new Set(inBoth.flatMap(([, rows]) => rows.map(({ address }) => address))),
      ]);
    },
  };
}

function rowsIn(
  tables: ReadonlyMap<number, ListTable>,
  publication: HeldPublication | null,
  addresses: readonly string[],
): ReadonlyMap<string, readonly ListEntry[]> {
  const table = publication === null ? undefined : tables.get(publication.id);
  return table === undefined ? new Map() : listEntriesUnder(table, addresses);
}

function publicationOf({ published, checked_at, entries }: MemoryPublication, index: number) {
  const addresses = distinctAddresses(entries);
  return {
    id: index + 1,
    published,
    sha256: (index + 1).toString(16).padStart(64, '0'),
    format: 'memory',
    source_key: 'memory',
    source_url: 'memory:',
    reader_version: 1,
    distinct_addresses: addresses,
    parties: new Set(entries.map(({ uid }) => uid)).size,
    record_count: entries.length,
    unparsed: 0,
    accepted_at: checked_at,
    accepted_why: null,
    checked_at,
    checked_by: 'asked' as const,
  };
}

/** The log of a list that added these rows to an earlier one; of none, of no file. */
export function memoryListChanges(entries: readonly ListEntry[], as_of: number): ListChanges {
  const source = memorySource('Memory', 'table', { as_of, simulated: false });
  const origin = { port: 'sanctions_changes', source } as const;
  const inSpan = ({ from, until }: Span): boolean =>
    (from === null || as_of >= from) && (until === null || as_of < until);
  const from = { published: '2026-11-01', sha256: '1'.repeat(64) };
  const to = { published: '2026-11-02', sha256: '2'.repeat(64) };
  const added = entries.map(({ currency, remarks: _, listed_on: __, note: ___, ...one }, n) => {
    const listing = { ...one, currencies: [currency] };
    const of = { id: n + 1, change: 'added', before: null, outcome: 'next', at: as_of } as const;
    return { ...of, listing, from, to } satisfies ListChange;
  });
  const counts = { removed: 0, moved: 0, programmes_changed: 0, renamed: 0 };
  const file: FileEvent = {
    ...to,
    outcome: 'next',
    at: as_of,
    before: from,
    code: null,
    why: null,
    source: 'memory:',
    counts: { ...counts, added: added.length },
  };
  return {
    newest: async (asked) => {
      const found = added
        .filter(
          ({ listing }) => asked.matchKey === null || matchKey(listing.address) === asked.matchKey,
        )
        .filter(({ id }) => asked.beforeId === null || id < asked.beforeId)
        .reverse();
      return memoryPage(inSpan(asked) ? found : NOTHING, asked.limit, origin);
    },
    files: async (asked) => {
      const found = inSpan(asked) && added.length > 0 ? [file] : NOTHING;
      return memoryPage(found, asked.limit, origin);
    },
  };
}

const NOTHING: readonly never[] = [];

export type SanctionsPorts = { readonly sanctionsList: SanctionsList };

export function silentSanctions(cause: Why): SanctionsPorts {
  const list = unread('sanctions_list', cause);
  return {
    sanctionsList: {
      lookUp: async () => list,
      lookUpOn: async () => list,
      listed: async () => list,
    },
  };
}

/** The facts of the list that a world may plant. */
export type PlantedSanctions = {
  readonly entries?: readonly ListEntry[];
  /** Entries of the older publication alone. */
  readonly olderEntries?: readonly ListEntry[];
};

export function plantedSanctions({ entries = [], olderEntries = [] }: PlantedSanctions) {
  const other = entryOf(evm('listed elsewhere'));
  const list = memorySanctionsList({
    maxAgeS: 48 * 3_600,
    simulated: false,
    now: () => STILL_NOW,
    publications: [
      {
        published: '2026-09-01',
        checked_at: Date.parse('2026-09-20T00:00:00Z') / 1_000,
        entries: [other, ...olderEntries],
      },
      { published: '2026-09-23', checked_at: STILL_NOW - 60, entries: [other, ...entries] },
    ],
  });
  return { sanctionsList: list, sanctionsChanges: memoryListChanges(entries, PLANTED.as_of) };
}

/** An entry of the list. */
export function entryOf(address: string): ListEntry {
  return {
    address,
    currency: 'XBT',
    entity: 'DOE, John',
    type: 'Individual',
    programs: ['CYBER2'],
    uid: '1001',
    remarks: null,
    listed_on: '2024-01-02',
    note: null,
  };
}
