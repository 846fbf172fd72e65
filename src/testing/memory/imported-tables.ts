// What do these rows, held in memory, say as an imported table?
// An adapter, not a mock: its readings are the real ones. It can be told to be never imported.

import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import { flaggedAddresses } from '../../features/tables/flagged-rows.ts';
import { exchangeLabels } from '../../features/tables/labels.ts';
import { launchCorpus } from '../../features/tables/launches.ts';
import { otherLists } from '../../features/tables/other-lists.ts';
import type { Launch, LaunchCorpus } from '../../ports/launches.ts';
import type { FlaggedAddresses, FlaggedRow } from '../../ports/rug-flags.ts';
import type {
  ExchangeLabel,
  ExchangeLabels,
  OtherListEntry,
  OtherLists,
  StoredRow,
  TableImport,
  TableLookUp,
  TableShape,
} from '../../ports/tables.ts';
import { nothingCounts } from '../../stores/snapshots/held-table.ts';

type Dated = {
  /** Unix seconds. */
  readonly as_of: number;
  readonly simulated: boolean;
};

/** What a memory holds. `null`: no import of the table has completed. */
export type MemoryLabels = Dated & { readonly labels: readonly ExchangeLabel[] | null };
export type MemoryCorpus = Dated & { readonly launches: readonly Launch[] | null };
export type MemoryFlagged = Dated & { readonly rows: readonly FlaggedRow[] | null };

/** The exchange-wallet table in memory. */
export function memoryExchangeLabels({ labels, ...dated }: MemoryLabels): ExchangeLabels {
  return memoryTable(exchangeLabels, labels, dated);
}

/** The Solana launch corpus in memory. */
export function memoryLaunchCorpus({ launches, ...dated }: MemoryCorpus): LaunchCorpus {
  return memoryTable(launchCorpus, launches, dated);
}

/** The table of flagged addresses in memory. */
export function memoryFlaggedAddresses({ rows, ...dated }: MemoryFlagged): FlaggedAddresses {
  return memoryTable(flaggedAddresses, rows, dated);
}

/** The lists of other authorities in memory, each dated as the whole. `null`: none was imported. */
export type MemoryOtherLists = Dated & {
  readonly names: readonly string[];
  readonly entries: readonly OtherListEntry[] | null;
  /** How many rows of a list were refused, by its name. */
  readonly lost?: ReadonlyMap<string, number>;
};

/** The table of other lists in memory. */
export function memoryOtherLists(held: MemoryOtherLists): OtherLists {
  const { names, entries, lost, ...dated } = held;
  return memoryTable(otherLists, entries, dated, names, lost);
}

function memoryTable<Row extends StoredRow, P extends string, Answer>(
  table: TableShape<Row, P, Answer>,
  rows: readonly Row[] | null,
  { as_of, simulated }: Dated,
  sources: readonly string[] = ['memory'],
  lost: ReadonlyMap<string, number> = new Map(),
): TableLookUp<P, Answer> {
  const { port, counting, title, what } = table;
  const flag = counting.which === 'best row' ? counting.where : null;
  const counted = rows?.filter((row) => flag === null || row[flag] === true);
  if (counted === undefined || (flag !== null && counted.length === 0)) {
    const reason =
      counted === undefined ? why('table_never_imported', { what }) : nothingCounts(table);
    return { lookUp: async () => unread(port, reason) };
  }
  const imports = sources.map((source, i): TableImport => {
    const rows_accepted = counted.filter((row) => row['source'] === source).length;
    const origin = simulated ? 'simulated' : 'observed';
    const rows_lost = lost.get(source) ?? 0;
    const dated = { as_of, completed_at: as_of };
    return { ...MADE, id: i + 1, source, origin, rows_accepted, rows_lost, ...dated };
  });
  const index = table.index(imports);
  for (const row of counted) index.add(row);
  const source: Source = { name: title, url: 'memory:', as_of, kind: 'table', simulated };
  return {
    lookUp: async (addresses) => read(index.answer(counted.length, addresses), { port, source }),
  };
}

const MADE = {
  table_name: 'memory',
  source_url: null,
  started_at: 0,
  rows_refused: 0,
  dated_by: 'import',
  sha256: '0'.repeat(64),
} as const;
