// Which of these addresses do rows held in memory flag?
// An adapter, not a mock: its readings are the real ones. It can be told to be never imported.

import { matchKey } from '../../chain/address.ts';
import { collect } from '../../evidence/measure.ts';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { FlaggedAddresses, FlaggedLookUp, FlaggedRow } from '../../ports/flagged-addresses.ts';

const PORT = 'flagged_addresses';
/** The name of the table as a source. */
export const FLAGGED_TITLE = 'Flagged address table';

/** What the memory holds. `null`: no import of the table has completed. */
export type MemoryFlagged = {
  readonly rows: readonly FlaggedRow[] | null;
  /** Unix seconds. */
  readonly as_of: number;
  readonly simulated: boolean;
};

/** Rows by the match key of their address, and by that of their maker. */
export type FlaggedIndex = {
  readonly byKey: ReadonlyMap<string, readonly FlaggedRow[]>;
  readonly byCreator: ReadonlyMap<string, readonly FlaggedRow[]>;
};

/** The index of some rows. */
export function flaggedIndex(rows: Iterable<FlaggedRow>): FlaggedIndex {
  const byKey = new Map<string, FlaggedRow[]>();
  const byCreator = new Map<string, FlaggedRow[]>();
  for (const row of rows) {
    collect(byKey, matchKey(row.address), row);
    if (row.creator !== null) collect(byCreator, matchKey(row.creator), row);
  }
  return { byKey, byCreator };
}

/** What an index holds of these addresses; one without rows has no key. */
export function heldIn(
  { byKey, byCreator }: FlaggedIndex,
  addresses: readonly string[],
): Pick<FlaggedLookUp, 'found' | 'created'> {
  const found = new Map<string, readonly FlaggedRow[]>();
  const created = new Map<string, readonly FlaggedRow[]>();
  for (const address of addresses) {
    const key = matchKey(address);
    const own = byKey.get(key);
    if (own !== undefined) found.set(key, own);
    const made = byCreator.get(key);
    if (made !== undefined) created.set(key, made);
  }
  return { found, created };
}

/** The table of flagged addresses in memory. */
export function memoryFlaggedAddresses(held: MemoryFlagged): FlaggedAddresses {
  const { rows, as_of, simulated } = held;
  if (rows === null) {
    const never = unread(PORT, why('table_never_imported', { what: WHAT }));
    return { lookUp: async () => never };
  }
  const index = flaggedIndex(rows);
  const source: Source = { name: FLAGGED_TITLE, url: 'memory:', as_of, kind: 'table', simulated };
  return {
    lookUp: async (addresses) =>
      read({ table_rows: rows.length, ...heldIn(index, addresses) }, { port: PORT, source }),
  };
}

/** The table in words, for reasons. */
export const WHAT = 'the table of flagged addresses';
