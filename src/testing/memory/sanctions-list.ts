// Answers one question: what do these publications, held in memory, say as a list.
// An adapter, not a mock: the age rule, the rule of past days and the readings are the real ones.

import type { HeldPublication, ListEntry, SanctionsList } from '../../ports/sanctions.ts';
import {
  answerNow,
  answerOn,
  aroundDay,
  dayNotCovered,
  distinctAddresses,
  type ListRules,
  type ListTable,
  listedNow,
  neverLoaded,
  rowsUnder,
  standingOf,
  tableOf,
} from '../../stores/snapshots/sanctions.ts';

/** A publication for the memory: its day, its last successful check (Unix seconds), its rows. */
export type MemoryPublication = {
  readonly published: string;
  readonly checked_at: number;
  readonly entries: readonly ListEntry[];
};

/** What the memory needs. The last publication is in force; none makes a list never loaded. */
export type MemoryListOptions = ListRules & {
  readonly publications: readonly MemoryPublication[];
  /** Unix seconds. */
  readonly now: () => number;
};

/** A sanctions list in memory. */
export function memorySanctionsList(options: MemoryListOptions): SanctionsList {
  const held = options.publications.map((publication, index) => ({
    publication: heldOf(publication, index),
    table: tableOf(publication.entries),
  }));
  const inForce = held.at(-1);
  return {
    lookUp: async (addresses) => {
      if (inForce === undefined) return neverLoaded(null);
      const standing = standingOf(inForce.publication, null, options, options.now());
      return answerNow(inForce.table, standing, addresses);
    },
    listed: async () => {
      if (inForce === undefined) return neverLoaded(null);
      const standing = standingOf(inForce.publication, null, options, options.now());
      return listedNow(inForce.table, standing);
    },
    lookUpOn: async (on, addresses) => {
      if (inForce === undefined) return neverLoaded(null);
      const newestFirst = held.map(({ publication }) => publication);
      newestFirst.sort((a, b) => (a.published < b.published ? 1 : -1));
      const around = aroundDay(newestFirst, on);
      const tables = new Map(held.map(({ publication, table }) => [publication.id, table]));
      if (around.covering !== null) {
        return answerOn(around.covering, options, found(tables, around.covering, addresses));
      }
      const before = found(tables, around.before, addresses);
      const after = found(tables, around.after, addresses);
      const inBoth = [...before].filter(([key]) => after.has(key));
      return dayNotCovered(on, around, [
        ...new Set(inBoth.flatMap(([, rows]) => rows.map(({ address }) => address))),
      ]);
    },
  };
}

function found(
  tables: ReadonlyMap<number, ListTable>,
  publication: HeldPublication | null,
  addresses: readonly string[],
): ReadonlyMap<string, readonly ListEntry[]> {
  const table = publication === null ? undefined : tables.get(publication.id);
  return table === undefined ? new Map() : rowsUnder(table, addresses);
}

function heldOf({ published, checked_at, entries }: MemoryPublication, index: number) {
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
