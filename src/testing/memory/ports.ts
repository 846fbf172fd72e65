// Answers one question: what do the ports say of a world that is held in memory.
// Assembled from the memory adapter of each port; each passes the suite that its siblings pass.

import type {
  ChainFacts,
  IssuerFreezes,
  MixerRegistry,
  TokenApprovals,
} from '../../ports/accounts.ts';
import type { BridgeArrivals, BridgeRegistry, TransactionReceipts } from '../../ports/bridges.ts';
import type { DeployerRecords, WalletLaunches } from '../../ports/deployers.ts';
import type { EntityClusters } from '../../ports/entities.ts';
import type { CounterpartyRing, TransferHistory } from '../../ports/history.ts';
import type { LaunchCorpus } from '../../ports/launches.ts';
import type { ReceiptFolder } from '../../ports/receipts.ts';
import type { FlaggedAddresses, RugFlags } from '../../ports/rug-flags.ts';
import type { SanctionsList } from '../../ports/sanctions.ts';
import type { ExchangeLabels, OtherLists } from '../../ports/tables.ts';
import { coveredHistory, coveredRing } from '../../stores/history/covered.ts';
import { TIP_MAX_AGE_S } from '../clock.ts';
import { type MemoryArrivals, memoryBridgeArrivals } from './bridge-arrivals.ts';
import { type MemoryBridges, memoryBridgeRegistry } from './bridge-registry.ts';
import { type MemoryFacts, memoryChainFacts } from './chain-facts.ts';
import { memoryRing } from './counterparty-ring.ts';
import { type MemoryDeployers, memoryDeployerRecords } from './deployer-records.ts';
import { type MemoryClusters, memoryEntityClusters } from './entity-clusters.ts';
import {
  type MemoryFlagged,
  type MemoryLabels,
  type MemoryOtherLists,
  memoryExchangeLabels,
  memoryFlaggedAddresses,
  memoryLaunchCorpus,
  memoryOtherLists,
} from './imported-tables.ts';
import { type MemoryFreezes, memoryFreezes } from './issuer-freezes.ts';
import { type MemoryMixers, memoryMixerRegistry } from './mixer-registry.ts';
import { type MemoryArticles, memoryReceiptFolder } from './receipt-folder.ts';
import { type MemoryRugFlags, memoryRugFlags } from './rug-flags.ts';
import { type MemoryListOptions, memorySanctionsList } from './sanctions-list.ts';
import { type MemoryApprovals, memoryApprovals } from './token-approvals.ts';
import { type MemoryReceipts, memoryTransactionReceipts } from './transaction-receipts.ts';
import { type MemoryHistory, memoryTransferHistory } from './transfer-history.ts';
import { type MemoryLaunches, memoryWalletLaunches } from './wallet-launches.ts';

/** What a world in memory holds, port by port. */
export type MemoryWorld = {
  readonly list: MemoryListOptions;
  readonly labels: MemoryLabels;
  readonly corpus: MemoryLaunches;
  readonly history: MemoryHistory;
  /** Whether the ring around the list is still to be built; left out, it is built. */
  readonly ringUnbuilt?: boolean;
  /** Left out: nothing is held, and nobody was examined. */
  readonly entities?: MemoryClusters;
  /** Left out: no chain can be asked, no table was imported, no registry was loaded. */
  readonly facts?: MemoryFacts;
  readonly freezes?: MemoryFreezes;
  readonly approvals?: MemoryApprovals;
  readonly flagged?: MemoryFlagged;
  readonly mixers?: MemoryMixers;
  readonly bridges?: MemoryBridges;
  /** Left out: no list of another authority was imported. */
  readonly otherLists?: MemoryOtherLists;
  /** Left out: the folder of articles holds none. */
  readonly articles?: MemoryArticles;
  /** Left out: no receipt is held. */
  readonly receipts?: MemoryReceipts;
  /** Left out: no chain has a node. */
  readonly arrivals?: MemoryArrivals;
  /** Left out: everybody was walked, and made nothing. */
  readonly deployers?: MemoryDeployers;
  /** Left out: no scorer has ever written. */
  readonly rugFlags?: MemoryRugFlags;
};

/** The ports over a world in memory. */
export type MemoryPorts = {
  readonly sanctionsList: SanctionsList;
  readonly exchangeLabels: ExchangeLabels;
  readonly launchCorpus: LaunchCorpus;
  readonly walletLaunches: WalletLaunches;
  readonly transferHistory: TransferHistory;
  readonly counterpartyRing: CounterpartyRing;
  readonly entityClusters: EntityClusters;
  readonly chainFacts: ChainFacts;
  readonly issuerFreezes: IssuerFreezes;
  readonly tokenApprovals: TokenApprovals;
  readonly flaggedAddresses: FlaggedAddresses;
  readonly mixerRegistry: MixerRegistry;
  readonly bridgeRegistry: BridgeRegistry;
  readonly transactionReceipts: TransactionReceipts;
  readonly bridgeArrivals: BridgeArrivals;
  readonly otherLists: OtherLists;
  readonly receiptFolder: ReceiptFolder;
  readonly deployerRecords: DeployerRecords;
  readonly rugFlags: RugFlags;
};

/** The ports over a world in memory. */
export function memoryPorts(world: MemoryWorld): MemoryPorts {
  const tip = { now: world.list.now, tipMaxAgeS: TIP_MAX_AGE_S };
  return {
    sanctionsList: memorySanctionsList(world.list),
    exchangeLabels: memoryExchangeLabels(world.labels),
    launchCorpus: memoryLaunchCorpus(world.corpus),
    walletLaunches: memoryWalletLaunches(world.corpus),
    transferHistory: coveredHistory(memoryTransferHistory(world.history), tip),
    counterpartyRing: coveredRing(memoryRing(world.history, world.ringUnbuilt), tip),
    entityClusters: memoryEntityClusters(world.entities ?? NOBODY_EXAMINED),
    chainFacts: memoryChainFacts(world.facts ?? { ...UNDATED, chains: [], facts: [] }),
    issuerFreezes: memoryFreezes(world.freezes ?? { ...UNDATED, chains: [], frozen: [] }),
    tokenApprovals: memoryApprovals(world.approvals ?? { ...UNDATED, chains: [], approvals: [] }),
    flaggedAddresses: memoryFlaggedAddresses(world.flagged ?? { ...UNDATED, rows: null }),
    mixerRegistry: memoryMixerRegistry(world.mixers ?? { ...UNDATED, rows: null }),
    bridgeRegistry: memoryBridgeRegistry(world.bridges ?? { ...UNDATED, rows: null }),
    otherLists: memoryOtherLists(world.otherLists ?? { ...UNDATED, names: [], entries: null }),
    receiptFolder: memoryReceiptFolder(world.articles ?? { ...UNDATED, files: [] }),
    transactionReceipts: memoryTransactionReceipts(world.receipts ?? NO_RECEIPTS),
    bridgeArrivals: memoryBridgeArrivals(world.arrivals ?? { ...UNDATED, logs: new Map() }),
    deployerRecords: memoryDeployerRecords(world.deployers ?? { ...UNDATED, records: [] }),
    rugFlags: memoryRugFlags(world.rugFlags ?? { ...UNDATED, chains: [], flags: [] }),
  };
}

const UNDATED = { as_of: 0, simulated: false } as const;

const NO_RECEIPTS: MemoryReceipts = { receipts: [], as_of: 0, simulated: false };

const NOBODY_EXAMINED: MemoryClusters = {
  clusters: [],
  examined: [],
  as_of: 0,
  simulated: false,
};
