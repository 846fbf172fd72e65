// Which exchange, if any, do the imported tables name for these addresses, answered from memory?
// A table too large for memory is asked by key. It refuses to use rows that are not as many as
// their import recorded: a table that changed while it was loaded is loaded again.

import { matchKey } from '../../chain/address.ts';
import { collect } from '../../evidence/measure.ts';
import { Read, type Reading, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  ExchangeLabel,
  ExchangeLabels,
  LabelLookUp,
} from '../../ports/labels/exchange-labels.ts';
import type { LabelRow, LabelTable } from '../../ports/labels/label-table.ts';
import { tableSource } from '../../sources/files/table-source.ts';
import { type Holding, heldTable, type Imports } from './held-table.ts';

const PORT = 'exchange_labels';
/** The name of the table as a source. */
export const LABELS_TITLE = 'Exchange wallet table';
const WHAT = 'the exchange-wallet table';
/** Rows held in memory, at about 330 bytes each; a larger table is asked by key. */
export const LABELS_IN_MEMORY_MAX = 500_000;
/** Rows of a file read at once while loading. */
const PAGE_ROWS = 2_000;

/** What a snapshot needs. */
type LabelSnapshotOptions = {
  readonly table: LabelTable;
  readonly pollMs: number;
  /** `LABELS_IN_MEMORY_MAX` but for tests. */
  readonly rowsInMemoryMax: number;
  /** Told whenever a poll could not read the store. */
  readonly onFault: (fault: Why) => void;
  /** Told of a bug met by a poll nobody waits for; polling goes on. Else it ends the process. */
  readonly onBug?: (error: unknown) => void;
};

/** Labels served from memory. */
export type LabelSnapshot = {
  readonly labels: ExchangeLabels;
  /** Asks the store once; never throws for weather. */
  readonly poll: () => Promise<void>;
  /** Loads, then polls until stopped. */
  readonly start: () => Promise<void>;
  readonly stop: () => void;
};

type ByKey = ReadonlyMap<string, readonly ExchangeLabel[]>;
/** `byKey` is `null` where the table is too large for memory. */
type Loaded = { readonly rows: number; readonly byKey: ByKey | null; readonly source: Source };

/** Makes a snapshot; nothing is read before `start` or `poll`. */
export function labelSnapshot(options: LabelSnapshotOptions): LabelSnapshot {
  const { table, pollMs, onFault, onBug, rowsInMemoryMax } = options;
  const { holding, ...held } = heldTable<Loaded>({
    what: WHAT,
    inForce: table.inForce,
    load: (imports) => load(table, imports, rowsInMemoryMax),
    pollMs,
    onFault,
    onBug,
  });
  return { ...held, labels: { lookUp: (addresses) => lookUp(holding(), table, addresses) } };
}

async function lookUp(
  holding: Holding<Loaded>,
  table: LabelTable,
  addresses: readonly string[],
): Promise<Reading<LabelLookUp, typeof PORT>> {
  if (!holding.loaded) return unread(PORT, holding.why);
  const { rows, byKey, source } = holding.value;
  const origin = { port: PORT, source } as const;
  if (byKey !== null) return read({ table_rows: rows, found: underKeys(byKey, addresses) }, origin);
  const under = await table.under([...new Set(addresses.map(matchKey))]);
  if (!(under instanceof Read)) return unread(PORT, under.why);
  const found = byMatchKey(under.value.map((row) => labelOf(row, asItIs)));
  return read({ table_rows: rows, found }, origin);
}

/** The rows under the match keys of these addresses; an address without rows has no key. */
export function underKeys(byKey: ByKey, addresses: readonly string[]): ByKey {
  const found = new Map<string, readonly ExchangeLabel[]>();
  for (const address of addresses) {
    const key = matchKey(address);
    const rows = byKey.get(key);
    if (rows !== undefined) found.set(key, rows);
  }
  return found;
}

/** Labels by the match key of their address. */
export function byMatchKey(rows: Iterable<ExchangeLabel>): ByKey {
  const byKey = new Map<string, ExchangeLabel[]>();
  for (const row of rows) collect(byKey, matchKey(row.address), row);
  return byKey;
}

async function load(
  table: LabelTable,
  imports: Imports,
  rowsInMemoryMax: number,
): Promise<Holding<Loaded>> {
  const rows = imports.reduce((sum, { rows_accepted }) => sum + rows_accepted, 0);
  const source = tableSource(LABELS_TITLE, imports, rows);
  if (rows > rowsInMemoryMax) return { loaded: true, value: { rows, byKey: null, source } };
  const byKey = new Map<string, ExchangeLabel[]>();
  const shared = sharing();
  for (const { id, rows_accepted, rows_refused } of imports) {
    let held = 0;
    for (let n = 0; n < rows_accepted + rows_refused; n += PAGE_ROWS) {
      const page = await table.page(id, n, n + PAGE_ROWS);
      if (!(page instanceof Read)) return { loaded: false, why: page.why };
      for (const row of page.value) collect(byKey, row.match_key, labelOf(row, shared));
      held += page.value.length;
    }
    if (held !== rows_accepted) return { loaded: false, why: changed() };
  }
  return { loaded: true, value: { rows, byKey, source } };
}

function changed(): Why {
  return why('store_unreadable', { what: WHAT, fault: 'it changed while it was read' });
}

/** One copy of each text that many rows repeat. */
function sharing(): (text: string) => string {
  const texts = new Map<string, string>();
  return (text) => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    texts.set(text, text);
    return text;
  };
}

const asItIs = (text: string): string => text;

function labelOf(row: LabelRow, shared: (text: string) => string): ExchangeLabel {
  return {
    address: row.address === row.match_key ? row.match_key : row.address,
    chain: row.chain === null ? null : shared(row.chain),
    label: shared(row.label),
    entity: shared(row.entity),
    role: row.role,
    confidence: shared(row.confidence),
    clusterable: row.clusterable,
    source: shared(row.source),
    source_url: row.source_url === null ? null : shared(row.source_url),
    first_seen: shared(row.first_seen),
  };
}
