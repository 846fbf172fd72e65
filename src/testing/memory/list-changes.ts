// What does the log of changes of the list say after a list listed these and another did not?
// An adapter, not a mock: its readings are the real ones, and it pages as its siblings do.

import { matchKey } from '../../chain/address.ts';
import { type Partly, part, read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  FileEvent,
  ListChange,
  ListChanges,
  ListChangesPort,
  ListEntry,
  Span,
} from '../../ports/sanctions.ts';

/** The log of a list that added these rows to an earlier one; of none, of no file. */
export function memoryListChanges(entries: readonly ListEntry[], as_of: number): ListChanges {
  const source = {
    name: 'Memory',
    url: 'memory:',
    as_of,
    kind: 'table',
    simulated: false,
  } as const;
  const listed = <T>(found: readonly T[], limit: number): Partly<readonly T[], ListChangesPort> => {
    const origin = { port: 'sanctions_changes', source } as const;
    if (found.length <= limit) return read(found, origin);
    const cut = why('row_cap', { address: 'the log', limit: String(limit) });
    return part(found.slice(0, limit), origin, cut);
  };
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
    source_url: 'memory:',
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
      return listed(inSpan(asked) ? found : NOTHING, asked.limit);
    },
    files: async (asked) => {
      return listed(inSpan(asked) && added.length > 0 ? [file] : NOTHING, asked.limit);
    },
  };
}

const NOTHING: readonly never[] = [];
