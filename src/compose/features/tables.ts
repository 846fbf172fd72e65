// Answers one question: where do the imported tables live, and who serves them from memory.

import type { Why } from '../../evidence/reasons.ts';
import type { FlaggedTable } from '../../ports/flags/table.ts';
import type { LabelChanges } from '../../ports/labels/label-changes.ts';
import type { LabelTable } from '../../ports/labels/label-table.ts';
import type { CorpusTable } from '../../ports/launches/table.ts';
import type { Database } from '../../stores/control/engine/database.ts';
import { flaggedStore } from '../../stores/control/flags.ts';
import { labelChangeStore } from '../../stores/control/label-changes.ts';
import { labelStore } from '../../stores/control/labels.ts';
import { corpusStore } from '../../stores/control/launches.ts';
import {
  FLAGGED_IN_MEMORY_MAX,
  type FlaggedSnapshot,
  flaggedSnapshot,
} from '../../stores/snapshots/flags.ts';
import { TABLE_POLL_MS } from '../../stores/snapshots/held-table.ts';
import {
  LABELS_IN_MEMORY_MAX,
  type LabelSnapshot,
  labelSnapshot,
} from '../../stores/snapshots/labels.ts';
import {
  type CorpusSnapshot,
  corpusSnapshot,
  WALLETS_IN_MEMORY_MAX,
} from '../../stores/snapshots/launches.ts';
import { nowS } from '../clock.ts';
import type { Logger } from '../logger.ts';

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
