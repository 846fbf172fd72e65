// Answers one question: where do the imported tables live, and who serves them from memory.

import type { Database } from '../adapters/control/database.ts';
import {
  LABELS_IN_MEMORY_MAX,
  type LabelSnapshot,
  labelSnapshot,
} from '../adapters/exchange-labels/snapshot.ts';
import { labelStore } from '../adapters/exchange-labels/store.ts';
import {
  type CorpusSnapshot,
  corpusSnapshot,
  WALLETS_IN_MEMORY_MAX,
} from '../adapters/launch-corpus/snapshot.ts';
import { corpusStore } from '../adapters/launch-corpus/store.ts';
import { TABLE_POLL_MS } from '../adapters/table-import/held-table.ts';
import type { Why } from '../evidence/reasons.ts';
import type { CorpusTable } from '../ports/corpus-table.ts';
import type { LabelTable } from '../ports/label-table.ts';
import { nowS } from './clock.ts';
import type { Logger } from './logger.ts';

/** The imported tables as they are composed. */
export type TableParts = {
  readonly labelTable: LabelTable;
  readonly corpusTable: CorpusTable;
  readonly labels: LabelSnapshot;
  readonly corpus: CorpusSnapshot;
};

/** Composes the tables. Nothing is read before their snapshots start. */
export function tableParts(database: Database, log: Logger): TableParts {
  const labelTable = labelStore(database, nowS);
  const corpusTable = corpusStore(database, nowS);
  const onFault =
    (table: string) =>
    ({ code, reason }: Why) =>
      log.warn({ table, code, reason }, 'table: not polled');
  const onBug = (table: string) => (fault: unknown) =>
    log.error({ table, fault: String(fault) }, 'table: polling failed');
  return {
    labelTable,
    corpusTable,
    labels: labelSnapshot({
      table: labelTable,
      pollMs: TABLE_POLL_MS,
      rowsInMemoryMax: LABELS_IN_MEMORY_MAX,
      onFault: onFault('exchange_labels'),
      onBug: onBug('exchange_labels'),
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
