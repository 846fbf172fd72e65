// The tables that an operator fills by import: where they are kept, and who serves them.

import { map, type Partly } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { flaggedImporter } from '../../features/tables/flagged-rows.ts';
import { findingsImport } from '../../features/tables/flags.command.ts';
import { labelChanges } from '../../features/tables/label-changes.contract.ts';
import { labelChangesHandler } from '../../features/tables/label-changes.route.ts';
import { labelsImport } from '../../features/tables/labels.command.ts';
import { labelImporter } from '../../features/tables/labels.ts';
import { corpusImport } from '../../features/tables/launches.command.ts';
import { corpusImporter } from '../../features/tables/launches.ts';
import type { LabelChanges } from '../../ports/labels/label-changes.ts';
import { localTableFiles } from '../../sources/files/files.ts';
import { flaggedStore } from '../../stores/control/flags.ts';
import { labelChangeStore } from '../../stores/control/label-changes.ts';
import { labelStore } from '../../stores/control/labels.ts';
import { corpusStore } from '../../stores/control/launches.ts';
import { FLAGGED_IN_MEMORY_MAX, flaggedSnapshot } from '../../stores/snapshots/flags.ts';
import { TABLE_POLL_MS } from '../../stores/snapshots/held-table.ts';
import { LABELS_IN_MEMORY_MAX, labelSnapshot } from '../../stores/snapshots/labels.ts';
import { corpusSnapshot, WALLETS_IN_MEMORY_MAX } from '../../stores/snapshots/launches.ts';
import { nowS } from '../clock.ts';
import { type Base, feature, type PortFacts, served } from '../feature.ts';

type ChangesGiven = { readonly labelChanges: LabelChanges };

/** A table that an operator fills; it does not expire. */
function imported<
  P extends { readonly lookUp: (keys: readonly never[]) => Promise<Partly<unknown, never>> },
>(facts: Pick<PortFacts<P>, 'tag' | 'title' | 'says'>): PortFacts<P> {
  return {
    ...facts,
    pages: false,
    freshness: {
      kind: 'dated',
      ask: async (table) => map(await table.lookUp([]), () => null),
      maxAgeS: () => null,
    },
  };
}

export const tables = feature({
  name: 'tables',
  heading: 'Tables',
  open: ({ config: { simulate: simulated }, database, log }: Base) => {
    const labelTable = labelStore(database, nowS);
    const corpusTable = corpusStore(database, nowS);
    const flaggedTable = flaggedStore(database, nowS);
    const told = (table: string) => ({
      pollMs: TABLE_POLL_MS,
      onFault: ({ code, reason }: Why) => log.warn({ table, code, reason }, 'table: not polled'),
      onBug: (fault: unknown) =>
        log.error({ table, fault: String(fault) }, 'table: polling failed'),
    });
    const labels = labelSnapshot({
      ...told('exchange_labels'),
      table: labelTable,
      rowsInMemoryMax: LABELS_IN_MEMORY_MAX,
    });
    const flagged = flaggedSnapshot({
      ...told('flagged_addresses'),
      table: flaggedTable,
      rowsInMemoryMax: FLAGGED_IN_MEMORY_MAX,
    });
    const corpus = corpusSnapshot({
      ...told('launches'),
      table: corpusTable,
      walletsInMemoryMax: WALLETS_IN_MEMORY_MAX,
    });
    const files = localTableFiles(nowS);
    const importLabels = labelImporter({ files, table: labelTable }, nowS);
    const importFlagged = flaggedImporter({ files, table: flaggedTable }, nowS);
    const importCorpus = corpusImporter({ files, table: corpusTable }, nowS);
    const snapshots = [labels, flagged, corpus];
    return {
      ports: {
        exchangeLabels: labels.labels,
        launchCorpus: corpus.corpus,
        flaggedAddresses: flagged.flagged,
        labelChanges: labelChangeStore(database, nowS),
      },
      services: {
        labels: { simulated, importFile: polledAfter(importLabels, labels) },
        findings: { simulated, importFile: polledAfter(importFlagged, flagged) },
        corpus: { simulated, importFile: polledAfter(importCorpus, corpus) },
      },
      start: async () => {
        await Promise.all(snapshots.map((one) => one.start()));
      },
      close: () => {
        for (const one of snapshots) one.stop();
      },
    };
  },
  routes: [served(labelChanges, (given: ChangesGiven) => labelChangesHandler(given.labelChanges))],
  ports: {
    exchangeLabels: imported({
      tag: 'exchange_labels',
      title: 'Exchange labels',
      says: 'Which exchange a published label names',
    }),
    launchCorpus: imported({
      tag: 'launch_corpus',
      title: 'Launch corpus',
      says: 'Which settled launches a Solana wallet has on record',
    }),
    flaggedAddresses: imported({
      tag: 'flagged_addresses',
      title: 'Flagged addresses',
      says: 'Which published tables flag an address',
    }),
    labelChanges: {
      tag: 'label_changes',
      title: 'Changes of labels',
      says: 'What each import of labels changed',
      pages: true,
      freshness: { kind: 'shown_with', tag: 'exchange_labels' },
    },
  },
  commands: [labelsImport, corpusImport, findingsImport],
});

/** An import whose rows are served as soon as it has ended. */
function polledAfter<A extends readonly unknown[], T>(
  importFile: (...given: A) => Promise<T>,
  { poll }: { readonly poll: () => Promise<void> },
): (...given: A) => Promise<T> {
  return (...given) => importFile(...given).finally(poll);
}
