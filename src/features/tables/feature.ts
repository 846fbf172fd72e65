// The tables that an operator fills by import: where they are kept, and who serves them.

import { nowS } from '../../compose/clock.ts';
import { type Base, feature, type PortFacts, serveRoute } from '../../compose/feature.ts';
import { map, type Partly } from '../../evidence/reading.ts';
import type {
  ExchangeLabels,
  ImportFile,
  LabelChanges,
  OtherListChanges,
  StoredRow,
  TableLookUp,
  TableShape,
} from '../../ports/tables.ts';
import { localTableFiles } from '../../sources/files/files.ts';
import { labelsFile } from '../../sources/registry/registry-files.ts';
import { type ImportNotes, tableStore } from '../../stores/control/imported-tables.ts';
import { collectionReach, LAUNCH_NOTES } from '../../stores/control/launch-collection.ts';
import {
  LABEL_NOTES,
  labelChangeStore,
  OTHER_LIST_NOTES,
  otherListChangeStore,
} from '../../stores/control/other-list-changes.ts';
import {
  collectedCorpus,
  type HeldTable,
  heldTable,
  TABLE_POLL_MS,
} from '../../stores/snapshots/held-table.ts';
import { flaggedAddresses } from './flagged-rows.ts';
import { type ImportedTable, tableImporter } from './import-rows.ts';
import { importCommand } from './imports.command.ts';
import { labelChanges, labelChangesHandler } from './label-changes.route.ts';
import { exchangeLabels, validateShippedLabels } from './labels.ts';
import { launchCorpus } from './launches.ts';
import { otherListChanges, otherListChangesHandler } from './list-changes.route.ts';
import { otherLists } from './other-lists.ts';

/** The label table that comes with the product. */
export const SHIPPED_LABELS = new URL('../../../registry/exchange-wallets.csv', import.meta.url);

type ListChangesDependencies = { readonly otherListChanges: OtherListChanges };
type LabelChangesDependencies = { readonly labelChanges: LabelChanges };

/** The facts of the port of an imported table, which is as old as its oldest import. */
export function importedFacts<P extends string, Answer>(
  { port }: Pick<TableShape<never, P, Answer>, 'port' | 'index'>,
  { title, says, pages }: Pick<PortFacts<never>, 'title' | 'says' | 'pages'>,
): PortFacts<{ readonly lookUp: (of: readonly string[]) => Promise<Partly<Answer, P>> }> {
  return {
    tag: port,
    title,
    says,
    pages,
    freshness: {
      kind: 'dated',
      ask: async (table) => map(await table.lookUp([]), () => null),
      maxAgeS: () => null,
    },
  };
}

function lookUpOnly<P extends string, Answer>({
  lookUp,
}: HeldTable<P, Answer>): TableLookUp<P, Answer> {
  return { lookUp };
}

/** The labels that answer before any import. Real labels never stand beside simulated data. */
export function shippedLabels(simulated: boolean): ExchangeLabels | undefined {
  const { index } = exchangeLabels;
  const rules = { validate: validateShippedLabels, index };
  return simulated ? undefined : labelsFile(SHIPPED_LABELS, rules);
}

export const tables = feature({
  name: 'tables',
  heading: 'Tables',
  open: ({ config: { simulate: simulated }, context, database, log }: Base) => {
    const files = localTableFiles();
    const importers = new Map<string, ImportFile>();
    const all: HeldTable<never, unknown>[] = [];
    /** Keeps a table, serves it and takes imports of it, whose rows are served once they end. */
    const serve = <Row extends StoredRow, P extends string, Answer>(
      table: ImportedTable<Row, P, Answer>,
      notes: ImportNotes | null = null,
      unimported?: TableLookUp<P, Answer>,
    ): HeldTable<P, Answer> => {
      const { name } = table;
      const store = tableStore(database, table, nowS, notes);
      const held = heldTable({
        table,
        store,
        pollMs: TABLE_POLL_MS,
        unimported,
        onFault: ({ code, reason }) => log.warn({ table: name, code, reason }, 'table: not polled'),
        onBug: (fault) => log.error({ table: name, fault: String(fault) }, 'table: polling failed'),
      });
      const importFile = tableImporter({ table, store, files, now: nowS });
      importers.set(name, (order, watch) => importFile(order, watch).finally(held.poll));
      all.push(held);
      return held;
    };
    const others = serve(otherLists, OTHER_LIST_NOTES);
    const corpus = collectedCorpus({
      corpus: lookUpOnly(serve(launchCorpus, LAUNCH_NOTES)),
      reachedAt: collectionReach(database, context),
      now: nowS,
      pollMs: TABLE_POLL_MS,
      onBug: (fault) => log.error({ fault: String(fault) }, 'corpus: its age was not polled'),
    });
    return {
      ports: {
        exchangeLabels: lookUpOnly(serve(exchangeLabels, LABEL_NOTES, shippedLabels(simulated))),
        launchCorpus: { lookUp: corpus.lookUp },
        flaggedAddresses: lookUpOnly(serve(flaggedAddresses)),
        otherLists: lookUpOnly(others),
        labelChanges: labelChangeStore(database, nowS),
        otherListChanges: otherListChangeStore(database, nowS),
      },
      services: {
        otherLists: { lookUp: others.lookUp, poll: others.poll, now: nowS },
        tables: { simulated, now: nowS, importerOf: (name: string) => importers.get(name) },
      },
      /** Serves a table that another feature declares, and takes imports of it. */
      serve: <Row extends StoredRow, P extends string, Answer>(
        table: ImportedTable<Row, P, Answer>,
      ): TableLookUp<P, Answer> => lookUpOnly(serve(table)),
      imports: () => all.flatMap((one) => one.imports()),
      poll: async () => {
        await Promise.all(all.map((one) => one.poll()));
      },
      start: async () => {
        await Promise.all([...all, corpus].map((one) => one.start()));
      },
      close: () => {
        for (const one of [...all, corpus]) one.stop();
      },
    };
  },
  routes: [
    serveRoute(labelChanges, (given: LabelChangesDependencies) =>
      labelChangesHandler(given.labelChanges),
    ),
    serveRoute(otherListChanges, (given: ListChangesDependencies) =>
      otherListChangesHandler(given.otherListChanges),
    ),
  ],
  ports: {
    exchangeLabels: importedFacts(exchangeLabels, {
      title: 'Exchange labels',
      says: 'Which exchange a published label names',
      pages: false,
    }),
    launchCorpus: importedFacts(launchCorpus, {
      title: 'Launch corpus',
      says: 'Which settled launches a Solana wallet has on record',
      pages: true,
    }),
    flaggedAddresses: importedFacts(flaggedAddresses, {
      title: 'Flagged addresses',
      says: 'Which published tables flag an address',
      pages: false,
    }),
    otherLists: importedFacts(otherLists, {
      title: 'Other lists',
      says: 'On which lists of other authorities an address stands',
      pages: false,
    }),
    labelChanges: {
      tag: 'label_changes',
      title: 'Changes of labels',
      says: 'What each import of labels changed',
      pages: true,
      freshness: { kind: 'shown_with', tag: 'exchange_labels' },
    },
    otherListChanges: {
      tag: 'other_list_changes',
      title: 'Changes of other lists',
      says: 'What each import of a list of another authority changed',
      pages: true,
      freshness: { kind: 'shown_with', tag: 'other_lists' },
    },
  },
  commands: [exchangeLabels, launchCorpus, flaggedAddresses, otherLists].map(importCommand),
});
