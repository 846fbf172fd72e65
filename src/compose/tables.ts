// Answers one question: where do the imported tables live, and who serves them from memory.

import type { Database } from '../adapters/control/database.ts';
import {
  LABELS_IN_MEMORY_MAX,
  type LabelSnapshot,
  labelSnapshot,
} from '../adapters/exchange-labels/snapshot.ts';
import { labelStore } from '../adapters/exchange-labels/store.ts';
import {
  FLAGGED_IN_MEMORY_MAX,
  type FlaggedSnapshot,
  flaggedSnapshot,
} from '../adapters/flagged-addresses/snapshot.ts';
import { flaggedStore } from '../adapters/flagged-addresses/store.ts';
import { labelChangeStore } from '../adapters/label-changes/store.ts';
import {
  type CorpusSnapshot,
  corpusSnapshot,
  WALLETS_IN_MEMORY_MAX,
} from '../adapters/launch-corpus/snapshot.ts';
import { corpusStore } from '../adapters/launch-corpus/store.ts';
import { TABLE_POLL_MS } from '../adapters/table-import/held-table.ts';
import type { Why } from '../evidence/reasons.ts';
import type { CorpusTable } from '../ports/corpus-table.ts';
import type { FlaggedTable } from '../ports/flagged-addresses-table.ts';
import type { LabelChanges } from '../ports/label-changes.ts';
import type { LabelTable } from '../ports/label-table.ts';
import { nowS } from './clock.ts';
import type { Logger } from './logger.ts';

/** The imported tables as they are composed. */
export type TableParts = {
  readonly labelTable: LabelTable;
  readonly labelChanges: LabelChanges;
  readonly corpusTable: CorpusTable;
  readonly labels: LabelSnapshot;
  readonly corpus: CorpusSnapshot;
  readonly flaggedTable: FlaggedTable;
  readonly flagged: FlaggedSnapshot;
};

/** Composes the tables. Nothing is read before their snapshots start. */
export function tableParts(database: Database, log: Logger): TableParts {
  const labelTable = labelStore(database, nowS);
  const corpusTable = corpusStore(database, nowS);
  const flaggedTable = flaggedStore(database, nowS);
  const onFault =
    (table: string) =>
    ({ code, reason }: Why) =>
      log.warn({ table, code, reason }, 'table: not polled');
  const onBug = (table: string) => (fault: unknown) =>
    log.error({ table, fault: String(fault) }, 'table: polling failed');
  return {
    labelTable,
    labelChanges: labelChangeStore(database, nowS),
    corpusTable,
    labels: labelSnapshot({
      table: labelTable,
      pollMs: TABLE_POLL_MS,
      rowsInMemoryMax: LABELS_IN_MEMORY_MAX,
      onFault: onFault('exchange_labels'),
      onBug: onBug('exchange_labels'),
    }),
    flaggedTable,
    flagged: flaggedSnapshot({
      table: flaggedTable,
      pollMs: TABLE_POLL_MS,
      rowsInMemoryMax: FLAGGED_IN_MEMORY_MAX,
      onFault: onFault('flagged_addresses'),
      onBug: onBug('flagged_addresses'),
    }),
    corpus: corpusSnapshot({
      table: corpusTable,
      pollMs: TABLE_POLL_MS,
      walletsInMemoryMax: WALLETS_IN_MEMORY_MAX,
      onFault: onFault('launches'),
      onBug: onBug('launches'),
    }),
  };
}
