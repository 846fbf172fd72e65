// Answers one question: what does a process hold once its stores are open.
// Serving, working and the operator's commands all take their pieces from here.

import { randomUUID } from 'node:crypto';
import { createGate, type Gate } from '../access/gate.ts';
import { mintKey } from '../access/key.ts';
import type { Secrets } from '../access/secret.ts';
import { mintToken } from '../access/tokens.ts';
import { parseAddress } from '../chain/address.ts';
import type { Config } from '../config.ts';
import type { EvidencePorts } from '../features/handlers.ts';
import { diffPublications } from '../features/sanctions/publication-diff.ts';
import { flaggedImporter } from '../features/tables/flagged-rows.ts';
import { labelImporter } from '../features/tables/labels.ts';
import { corpusImporter } from '../features/tables/launches.ts';
import type { StoreServices } from '../operator/commands.ts';
import type { MembershipStore } from '../ports/access/membership-store.ts';
import type { EntityClusters } from '../ports/entities/entity-clusters.ts';
import { localTableFiles } from '../sources/files/files.ts';
import type { ControlContext } from '../stores/control/engine/control-readings.ts';
import { type KeyTable, keyTable } from '../stores/control/keys.ts';
import { leaseTable } from '../stores/control/leases.ts';
import { membershipTable } from '../stores/control/memberships.ts';
import { quotaTable } from '../stores/control/quotas.ts';
import { tokenTable } from '../stores/control/tokens.ts';
import type { Tokens } from '../transport/bearer.ts';
import { createMeters, type GaugeReading, type Meters } from '../transport/metrics.ts';
import { doctorChecks } from './checks.ts';
import { nowS } from './clock.ts';
import type { StoreCheck } from './documents.ts';
import { doorOf } from './features/access.ts';
import { type BridgeParts, bridgeParts } from './features/bridges.ts';
import { type EntityParts, entityParts } from './features/entities.ts';
import { type FactParts, factParts } from './features/forensics.ts';
import { type HistoryParts, historyParts, lagGauges } from './features/history.ts';
import { type SanctionsParts, sanctionsParts } from './features/sanctions.ts';
import { type TableParts, tableParts } from './features/tables.ts';
import type { Logger } from './logger.ts';
import { metered } from './metered.ts';
import type { Outside } from './outside.ts';
import type { Stores } from './stores.ts';

/** Everything that rests on the opened stores. */
export type Parts = {
  readonly sanctions: SanctionsParts;
  readonly tables: TableParts;
  readonly history: HistoryParts;
  readonly entities: EntityParts;
  readonly ports: EvidencePorts;
  readonly gate: Gate;
  /** Who opens the intelligence service. */
  readonly door: Tokens;
  readonly keys: KeyTable;
  readonly memberships: MembershipStore;
  readonly secrets: Secrets;
  readonly meters: Meters;
  readonly checks: readonly StoreCheck[];
  readonly services: StoreServices;
  /** Loads what is served from memory, and keeps it current. */
  readonly start: () => Promise<void>;
  /** Stops what `start` began and notes what was kept for later. */
  readonly stop: () => Promise<void>;
};

const PING_TIMEOUT_MS = 2_000;

/** Composes the parts. Nothing is read before `start`. */
export function composeParts(config: Config, stores: Stores, outside: Outside, log: Logger): Parts {
  const { database, warehouse, secrets } = stores;
  const context: ControlContext = { simulated: config.simulate, nowMs: Date.now };
  const keys = keyTable(database, context);
  const memberships = membershipTable(database, context);
  const quota = quotaTable(database, context);
  const sanctions = sanctionsParts({ config, database, mirrors: outside.mirrors, log });
  const tables = tableParts(database, log);
  const leases = leaseTable(database, randomUUID(), context);
  const history = historyParts(config, warehouse, leases, outside, log);
  const bridges = bridgeParts(config, outside);
  const facts = factParts(config, warehouse, outside, history.explorers);
  const entities = entityParts(config, {
    ...{ database, warehouse, context },
    ...{ labels: tables.labels.labels, history: history.history },
  });
  const meters = createMeters([listAge(sanctions), ...lagGauges(history)]);
  const checks: StoreCheck[] = [
    { name: 'control store', ping: async () => void (await database.query('select 1 as one')) },
    { name: 'warehouse', ping: () => warehouse.ping({ timeoutMs: PING_TIMEOUT_MS }) },
  ];
  const read = { ...history, ...bridges, ...entities };
  const ports = evidencePorts(sanctions, tables, read, facts, meters);
  const gate = createGate({ keys, quota, secrets, durable: memberships.durable }, nowS);
  const services: StoreServices = {
    config,
    checks: doctorChecks(config, checks, ports, keys, secrets),
    keys,
    memberships,
    mintKey: (holder) => mintKey(holder, secrets, nowS()),
    tokens: tokenTable(database, context),
    mintToken: (tier) => mintToken(tier, secrets, nowS()),
    now: nowS,
    ...listServices(sanctions),
    ...tableServices(config, tables),
    ...historyServices(config, history),
    ...entities.services,
  };
  const { snapshot } = sanctions;
  const { labels, corpus, flagged } = tables;
  return {
    ...{
      sanctions,
      tables,
      history,
      entities,
      ports,
      gate,
      door: doorOf(config, services.tokens, secrets),
      keys,
      memberships,
      secrets,
      meters,
      checks,
      services,
    },
    start: async () => {
      await Promise.all([snapshot.start(), labels.start(), corpus.start(), flagged.start()]);
    },
    stop: async () => {
      for (const one of [snapshot, labels, corpus, flagged]) one.stop();
      for (const one of [facts, entities, bridges, history]) one.close();
      // Last, because it asks the store, which may fail: nothing else is left open then.
      await keys.close();
    },
  };
}

function listAge({ snapshot }: SanctionsParts): GaugeReading {
  return {
    name: 'exhibit_sanctions_list_age_seconds',
    help: 'Time since the list in force was last found the newest.',
    value: () => {
      const loaded = snapshot.loaded();
      return loaded === null ? null : nowS() - loaded.checked_at;
    },
  };
}

type ReadLive = Pick<HistoryParts, 'history'> & Omit<BridgeParts, 'close'> & Clusters;
type Clusters = { readonly clusters: EntityClusters };

function evidencePorts(
  { snapshot }: SanctionsParts,
  { labels, corpus, flagged }: TableParts,
  { history, bridgeRegistry, transactionReceipts, clusters }: ReadLive,
  { chainFacts, mixerRegistry }: FactParts,
  { readings }: Meters,
): EvidencePorts {
  return {
    sanctionsList: metered('sanctions_list', snapshot.list, readings),
    exchangeLabels: metered('exchange_labels', labels.labels, readings),
    launchCorpus: metered('launch_corpus', corpus.corpus, readings),
    transferHistory: metered('transfer_history', history, readings),
    bridgeRegistry: metered('bridge_registry', bridgeRegistry, readings),
    transactionReceipts: metered('transaction_receipts', transactionReceipts, readings),
    chainFacts: metered('chain_facts', chainFacts, readings),
    flaggedAddresses: metered('flagged_addresses', flagged.flagged, readings),
    mixerRegistry: metered('mixer_registry', mixerRegistry, readings),
    entityClusters: metered('entity_clusters', clusters, readings),
  };
}

function listServices({
  snapshot,
  ...sanctions
}: SanctionsParts): Pick<StoreServices, 'sanctions'> {
  return {
    sanctions: {
      ...sanctions,
      list: snapshot.list,
      poll: snapshot.poll,
      diff: diffPublications,
      isKnownForm: (text) => parseAddress(text) !== null,
    },
  };
}

function tableServices(
  { simulate: simulated }: Config,
  { labelTable, corpusTable, flaggedTable, ...snapshots }: TableParts,
): Pick<StoreServices, 'labels' | 'corpus' | 'findings'> {
  const files = localTableFiles(nowS);
  const importLabels = labelImporter({ files, table: labelTable }, nowS);
  const importFlagged = flaggedImporter({ files, table: flaggedTable }, nowS);
  const importCorpus = corpusImporter({ files, table: corpusTable }, nowS);
  return {
    labels: {
      simulated,
      importFile: (order, watch) => importLabels(order, watch).finally(snapshots.labels.poll),
    },
    findings: {
      simulated,
      importFile: (order, watch) => importFlagged(order, watch).finally(snapshots.flagged.poll),
    },
    corpus: {
      simulated,
      importFile: (order, watch) => importCorpus(order, watch).finally(snapshots.corpus.poll),
    },
  };
}

function historyServices(
  { simulate: simulated }: Config,
  { store, importFiles, following }: HistoryParts,
): Pick<StoreServices, 'warehouseImport' | 'warehouseStatus' | 'following'> {
  return {
    warehouseImport: { simulated, importFiles },
    warehouseStatus: store,
    following: { chains: following, elapsedMs: () => performance.now() },
  };
}
