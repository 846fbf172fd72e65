// Answers one question: what do these publications, held in memory, say as a list and as a store.
// Adapters, not mocks: the age rule, the rule of past days and the readings are the real ones.
// They survive nothing. The store can be told to fall silent.

import { matchKey } from '../../chain/address.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  Check,
  HeldPublication,
  HeldRefusal,
  KeyedEntry,
  PublicationStore,
  PublicationStorePort,
} from '../../ports/sanctions/publication-store.ts';
import type { Validators } from '../../ports/sanctions/publisher.ts';
import type { ListEntry, SanctionsList } from '../../ports/sanctions/sanctions-list.ts';
import {
  answerNow,
  answerOn,
  aroundDay,
  dayNotCovered,
  type ListRules,
  neverLoaded,
  standingOf,
} from '../../stores/snapshots/sanctions-answers.ts';
import {
  distinctAddresses,
  type ListTable,
  rowsUnder,
  tableOf,
} from '../../stores/snapshots/sanctions-table.ts';

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
      const standing = standingOf(inForce.publication, options, options.now());
      return answerNow(inForce.table, standing, addresses);
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
    source_url: 'memory:',
    distinct_addresses: addresses,
    parties: new Set(entries.map(({ uid }) => uid)).size,
    record_count: entries.length,
    unparsed: 0,
    accepted_at: checked_at,
    accepted_why: null,
    checked_at,
  };
}

const STORE = 'publication_store';
const SOURCE = {
  name: 'Memory',
  url: 'memory:',
  as_of: 0,
  kind: 'table',
  simulated: false,
} as const;

type Publication = Omit<HeldPublication, 'checked_at'>;
type Stored = {
  readonly publication: Publication;
  readonly entries: readonly ListEntry[];
  readonly checks: Map<string, { readonly last_at: number; readonly validators: Validators }>;
};

/** A store in memory. `fault(text)` makes every method silent with that fault, `null` ends it. */
type MemoryPublicationStore = PublicationStore & {
  readonly fault: (text: string | null) => void;
};

/** An empty store. */
export function memoryPublicationStore(): MemoryPublicationStore {
  const stored = new Map<number, Stored>();
  let current: number | null = null;
  let refusals: HeldRefusal[] = [];
  let silent: string | null = null;

  async function said<T>(work: () => T): Promise<Reading<T, PublicationStorePort>> {
    if (silent === null) return read(work(), { port: STORE, source: SOURCE });
    const filling = { what: 'The store of the sanctions list', fault: silent };
    return unread(STORE, why('store_unreadable', filling));
  }
  const inForce = (): HeldPublication | null => {
    const found = current === null ? undefined : stored.get(current);
    return found === undefined ? null : withCheck(found);
  };

  return {
    fault: (text) => {
      silent = text;
    },
    inForce: () =>
      said(() => {
        const newest = refusals.at(-1);
        return {
          publication: inForce(),
          newest_refusal: newest === undefined ? null : newest,
        };
      }),
    held: () => said(() => [...stored.values()].map(withCheck).sort(newestFirst)),
    entries: (id) => said(() => [...stored].flatMap(([key, s]) => (key === id ? s.entries : []))),
    entriesUnder: (ids, keys) => said(() => storedUnder(stored, ids, new Set(keys))),
    validators: (id, key) => said(() => validatorsOf(stored.get(id), key)),
    accept: (next) =>
      said(() => {
        if (current !== next.instead_of) return 'moved';
        const known = [...stored].find(([, s]) => s.publication.sha256 === next.list.sha256);
        const id = known === undefined ? stored.size + 1 : known[0];
        if (known === undefined) {
          const { addresses, ...facts } = next.list;
          const { accepted_at, accepted_why } = next;
          const publication = {
            ...facts,
            id,
            source_url: next.source.url,
            accepted_at,
            accepted_why,
          };
          stored.set(id, { publication, entries: addresses, checks: new Map() });
        }
        noteCheck(stored, { ...next, publication_id: id });
        current = id;
        return 'written';
      }),
    recordCheck: (check) =>
      said(() => {
        if (current !== check.publication_id) return 'moved';
        noteCheck(stored, check);
        return 'written';
      }),
    recordRefusal: (refusal) =>
      said(() => {
        const same = (r: HeldRefusal) => r.sha256 === refusal.sha256 && r.code === refusal.code;
        refusals = [...refusals.filter((r) => !same(r)), refusal];
        return true as const;
      }),
  };
}

function withCheck({ publication, checks }: Stored): HeldPublication {
  const checked_at = Math.max(...[...checks.values()].map(({ last_at }) => last_at));
  return { ...publication, checked_at };
}

function newestFirst(a: HeldPublication, b: HeldPublication): number {
  if (a.published !== b.published) return a.published < b.published ? 1 : -1;
  return b.checked_at === a.checked_at ? b.id - a.id : b.checked_at - a.checked_at;
}

function storedUnder(
  stored: ReadonlyMap<number, Stored>,
  ids: readonly number[],
  keys: ReadonlySet<string>,
): KeyedEntry[] {
  const rows: KeyedEntry[] = [];
  for (const [publication_id, { entries }] of stored) {
    if (!ids.includes(publication_id)) continue;
    for (const entry of entries) {
      const match_key = matchKey(entry.address);
      if (keys.has(match_key)) rows.push({ publication_id, match_key, entry });
    }
  }
  return rows;
}

function validatorsOf(found: Stored | undefined, key: string): Validators | null {
  const check = found?.checks.get(key);
  return check === undefined ? null : check.validators;
}

function noteCheck(stored: ReadonlyMap<number, Stored>, check: Check): void {
  const found = stored.get(check.publication_id);
  if (found === undefined) throw new Error('a check of a publication that is not held');
  const before = found.checks.get(check.source.key);
  const last_at =
    before === undefined ? check.checked_at : Math.max(before.last_at, check.checked_at);
  found.checks.set(check.source.key, { last_at, validators: check.validators });
}
