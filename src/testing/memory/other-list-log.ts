// What does the log of one import of a list of another authority say?
// An adapter, not a mock: its readings are the real ones, and it pages as its siblings do.

import { matchKey } from '../../chain/address.ts';
import { type Partly, part, read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  ImportsAsked,
  OtherListChange,
  OtherListChanges,
  OtherListChangesPort,
  OtherListEntry,
  OtherListImport,
} from '../../ports/tables.ts';

/** The log of an import that added these entries; of none, of no import. `as_of`: Unix seconds. */
export function memoryOtherListLog(
  held: readonly OtherListEntry[],
  as_of: number,
): OtherListChanges {
  const source = { name: 'Memory', url: 'memory:', as_of, kind: 'table' } as const;
  const listed = <T>(
    found: readonly T[],
    limit: number,
  ): Partly<readonly T[], OtherListChangesPort> => {
    const origin = { port: 'other_list_changes', source: { ...source, simulated: false } } as const;
    if (found.length <= limit) return read(found, origin);
    const cut = why('row_cap', { address: 'the log', limit: String(limit) });
    return part(found.slice(0, limit), origin, cut);
  };
  const of = { import_id: 1, at: as_of, sha256: '0'.repeat(64), simulated: false } as const;
  const added = held.map(({ source: list, ...entry }, n): OtherListChange => {
    const { address } = entry;
    return { id: n + 1, change: 'added', list, address, entries: [entry], before: null, ...of };
  });
  const asks = ({ list, from, until }: ImportsAsked, one: { readonly list: string }): boolean =>
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
      return listed(found, asked.limit);
    },
    imports: async (asked) =>
      listed(
        imports.filter((one) => asks(asked, one)),
        asked.limit,
      ),
  };
}
