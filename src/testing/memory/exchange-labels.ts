// What do these labels, held in memory, say as the exchange-wallet table?
// An adapter, not a mock: its readings are the real ones. It can be told to be never imported.

import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  ExchangeLabel,
  ExchangeLabels,
  LabelLookUp,
} from '../../ports/labels/exchange-labels.ts';
import { byMatchKey, LABELS_TITLE, underKeys } from '../../stores/snapshots/labels.ts';

const PORT = 'exchange_labels';

/** What the memory holds. `null`: no import of the table has completed. */
export type MemoryLabels = {
  readonly labels: readonly ExchangeLabel[] | null;
  /** Unix seconds. */
  readonly as_of: number;
  readonly simulated: boolean;
};

/** The exchange-wallet table in memory. */
export function memoryExchangeLabels(held: MemoryLabels): ExchangeLabels {
  const { labels } = held;
  if (labels === null) {
    const never = unread(PORT, why('table_never_imported', { what: 'the exchange-wallet table' }));
    return { lookUp: async () => never };
  }
  const byKey = byMatchKey(labels);
  const source: Source = {
    name: LABELS_TITLE,
    url: 'memory:',
    as_of: held.as_of,
    kind: 'table',
    simulated: held.simulated,
  };
  return {
    lookUp: async (addresses): Promise<Reading<LabelLookUp, typeof PORT>> =>
      read(
        { table_rows: labels.length, found: underKeys(byKey, addresses) },
        { port: PORT, source },
      ),
  };
}
