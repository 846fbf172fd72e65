// Answers one question: of which versions does this process answer, and what did a former version
// of the sanctions list say? A publication stays held when another takes its place.

import {
  map,
  type Partly,
  Read,
  type Reading,
  read,
  seen,
  unread,
} from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { PublicationStore } from '../../ports/sanctions/publication-store.ts';
import type {
  ListEntry,
  ListLookUp,
  SanctionsList,
  SanctionsListPort,
} from '../../ports/sanctions/sanctions-list.ts';
import type {
  ListVersion,
  ServedVersions,
  ServedVersionsPort,
  Versions,
} from '../../ports/screening/served-versions.ts';
import type { TableImport } from '../../ports/tables/table-import.ts';
import { answerNow, listedNow, type Standing } from './sanctions-answers.ts';
import { distinctAddresses, tableOf } from './sanctions-table.ts';

const PORT = 'served_versions';

type Options = {
  readonly list: SanctionsList;
  readonly store: Pick<PublicationStore, 'held' | 'entries'>;
  /** The imports whose rows are served. */
  readonly imports: () => readonly TableImport[];
  readonly simulated: boolean;
  readonly now: () => number;
};

/** The versions that a process answers from. */
export function servedVersions(options: Options): ServedVersions {
  const { list, store, imports, simulated, now } = options;
  const minted = <T>(value: T): Reading<T, ServedVersionsPort> => {
    const as_of = now();
    const source = { name: 'Control store', url: 'control-store:', as_of, simulated } as const;
    return read(value, { port: PORT, source: { ...source, kind: 'table' } });
  };
  return {
    now: async (on) => {
      const looked = await (on === null ? list.lookUp([]) : list.lookUpOn(on, []));
      const version = versionOf(looked, simulated);
      const tables = imports().map(({ table_name, source, sha256, completed_at }) => {
        return { table: table_name, source, sha256, imported_at: completed_at };
      });
      const versions: Versions = { list: version, tables };
      return minted(versions);
    },
    listOf: async (version) => {
      if (!version.read) return minted(silentList(version.why));
      const held = await store.held();
      if (!(held instanceof Read)) return unread(PORT, held.why);
      const publication = held.value.find(({ sha256 }) => sha256 === version.facts.sha256);
      if (publication === undefined) return minted(null);
      const entries = await store.entries(publication.id);
      if (!(entries instanceof Read)) return unread(PORT, entries.why);
      const isWhole = distinctAddresses(entries.value) === version.facts.addresses;
      return minted(isWhole ? listAt(version, entries.value) : null);
    },
  };
}

function versionOf(looked: Partly<ListLookUp, SanctionsListPort>, simulated: boolean): ListVersion {
  const sight = seen(map(looked, ({ list }) => [list]));
  const cut = looked instanceof Read ? null : looked.why;
  if (sight !== null) return { read: true, facts: sight[0], cut, simulated };
  if (cut === null) throw new Error('a list that was read has facts');
  return { read: false, why: cut };
}

type ReadVersion = Extract<ListVersion, { read: true }>;

/** The rows of a publication, as the list stood then: a day that is named is that of the rows. */
function listAt(
  { facts, cut, simulated }: ReadVersion,
  entries: readonly ListEntry[],
): SanctionsList {
  const table = tableOf(entries);
  const { name, source: url, as_of } = facts;
  const source = { name, url, as_of, kind: 'observation', simulated } as const;
  const standing: Standing = { facts, origin: { port: 'sanctions_list', source }, tooOld: cut };
  return {
    lookUp: async (addresses) => answerNow(table, standing, addresses),
    lookUpOn: async (_on, addresses) => answerNow(table, standing, addresses),
    listed: async () => listedNow(table, standing),
  };
}

function silentList(why: Why): SanctionsList {
  const silent = unread('sanctions_list', why);
  return { lookUp: async () => silent, lookUpOn: async () => silent, listed: async () => silent };
}
