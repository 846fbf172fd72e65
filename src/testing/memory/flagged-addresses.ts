// Which of these addresses do rows held in memory flag?
// An adapter, not a mock: its readings are the real ones. It can be told to be never imported.

import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { FlaggedAddresses, FlaggedRow } from '../../ports/flags/flagged-addresses.ts';
import { FLAGGED_TITLE, flaggedIndex, heldIn, WHAT } from '../../stores/snapshots/flags.ts';

const PORT = 'flagged_addresses';
/** What the memory holds. `null`: no import of the table has completed. */
export type MemoryFlagged = {
  readonly rows: readonly FlaggedRow[] | null;
  /** Unix seconds. */
  readonly as_of: number;
  readonly simulated: boolean;
};

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
