// Which of these addresses do the imported tables flag, answered from memory?
// It refuses to use rows that are not as many as their import recorded, and a table too large to
// be held: both are silence, never a table in which nobody is flagged.

import { matchKey } from '../../chain/address.ts';
import { collect } from '../../evidence/measure.ts';
import { Read, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  FlaggedAddresses,
  FlaggedLookUp,
  FlaggedRow,
} from '../../ports/flags/flagged-addresses.ts';
import type { FlaggedTable, FlaggedTableRow } from '../../ports/flags/table.ts';
import { tableSource } from '../../sources/files/table-source.ts';
import { type HeldTable, type Holding, heldTable, type Imports } from './held-table.ts';

const PORT = 'flagged_addresses';
/** The name of the table as a source. */
export const FLAGGED_TITLE = 'Flagged address table';
/** The table in words, for reasons. */
export const WHAT = 'the table of flagged addresses';
/** Rows held in memory, at about 500 bytes each; the published tables have tens of thousands. */
export const FLAGGED_IN_MEMORY_MAX = 500_000;
/** Rows of a file read at once while loading. */
const PAGE_ROWS = 2_000;

/** What a snapshot needs. */
type FlaggedSnapshotOptions = {
  readonly table: FlaggedTable;
  readonly pollMs: number;
  /** `FLAGGED_IN_MEMORY_MAX` but for tests. */
  readonly rowsInMemoryMax: number;
  /** Told whenever a poll could not read the store. */
  readonly onFault: (fault: Why) => void;
  /** Told of a bug met by a poll nobody waits for; polling goes on. Else it ends the process. */
  readonly onBug?: (error: unknown) => void;
};

/** Flagged addresses served from memory. */
export type FlaggedSnapshot = Pick<HeldTable<unknown>, 'poll' | 'start' | 'stop'> & {
  readonly flagged: FlaggedAddresses;
};

/** Rows by the match key of their address, and by that of their maker. */
type FlaggedIndex = {
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

type Loaded = { readonly rows: number; readonly index: FlaggedIndex; readonly source: Source };

/** Makes a snapshot; nothing is read before `start` or `poll`. */
export function flaggedSnapshot(options: FlaggedSnapshotOptions): FlaggedSnapshot {
  const { table, pollMs, onFault, onBug, rowsInMemoryMax } = options;
  const { holding, ...held } = heldTable<Loaded>({
    what: WHAT,
    inForce: table.inForce,
    load: (imports) => load(table, imports, rowsInMemoryMax),
    pollMs,
    onFault,
    onBug,
  });
  return {
    ...held,
    flagged: {
      lookUp: async (addresses) => {
        const now = holding();
        if (!now.loaded) return unread(PORT, now.why);
        const { rows, index, source } = now.value;
        return read({ table_rows: rows, ...heldIn(index, addresses) }, { port: PORT, source });
      },
    },
  };
}

async function load(
  table: FlaggedTable,
  imports: Imports,
  rowsInMemoryMax: number,
): Promise<Holding<Loaded>> {
  const rows = imports.reduce((sum, { rows_accepted }) => sum + rows_accepted, 0);
  if (rows > rowsInMemoryMax) {
    return silent(`it has ${rows} rows, more than the ${rowsInMemoryMax} that are held`);
  }
  const all: FlaggedRow[] = [];
  for (const { id, rows_accepted, rows_refused } of imports) {
    let held = 0;
    for (let n = 0; n < rows_accepted + rows_refused; n += PAGE_ROWS) {
      const page = await table.page(id, n, n + PAGE_ROWS);
      if (!(page instanceof Read)) return { loaded: false, why: page.why };
      all.push(...page.value.map(rowOf));
      held += page.value.length;
    }
    if (held !== rows_accepted) return silent('it changed while it was read');
  }
  const source = tableSource(FLAGGED_TITLE, imports, rows);
  return { loaded: true, value: { rows, index: flaggedIndex(all), source } };
}

function silent(fault: string): Holding<Loaded> {
  return { loaded: false, why: why('store_unreadable', { what: WHAT, fault }) };
}

function rowOf({
  match_key: _,
  creator_key: __,
  ...row
}: FlaggedTableRow & { readonly n: number }): FlaggedRow {
  const { n: ___, ...kept } = row;
  return kept;
}
