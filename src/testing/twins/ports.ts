// The ports over a world: in memory, planted or silent. Each subject of src/ports has its file.

import type { Why } from '../../evidence/reasons.ts';
import type { LaunchCorpus } from '../../ports/launches.ts';
import {
  type AccountsHeld,
  type AccountsPorts,
  memoryAccounts,
  type PlantedAccounts,
  plantedAccounts,
  silentAccounts,
} from './accounts.ts';
import { type AnchorsPorts, memoryAnchors, silentAnchors } from './anchors.ts';
import {
  type BridgesHeld,
  type BridgesPorts,
  memoryBridges,
  type PlantedBridges,
  plantedBridges,
  silentBridges,
} from './bridges.ts';
import { PLANTED } from './dated.ts';
import {
  type DeployersHeld,
  type DeployersPorts,
  memoryDeployers,
  type PlantedDeployers,
  plantedDeployers,
  silentDeployers,
} from './deployers.ts';
import { type EdgeTrialPorts, memoryEdgeTrials, silentEdgeTrials } from './edge-trials.ts';
import {
  EMISSION_DENIALS,
  EMISSION_STANDS,
  type EmittedCallPorts,
  memoryEmittedCalls,
  NOTHING_EMITTED,
  type PlantedEmissions,
  plantedCandles,
  plantedEmittedCalls,
  silentEmittedCalls,
} from './emitted-calls.ts';
import {
  type EntitiesPorts,
  type MemoryClusters,
  memoryEntities,
  type PlantedEntities,
  plantedEntities,
  silentEntities,
} from './entities.ts';
import {
  type HistoryHeld,
  type HistoryPorts,
  memoryWalked,
  type PlantedHistory,
  plantedHistory,
  silentWalked,
} from './history.ts';
import {
  memoryLaunchCorpus,
  type PlantedLaunches,
  plantedLaunches,
  silentLaunches,
} from './launches.ts';
import {
  CALL_DENIALS,
  CALL_STANDS,
  memoryProviderCalls,
  type PlantedCalls,
  type ProviderCallPorts,
  plantedProviderCalls,
  silentProviderCalls,
} from './provider-calls.ts';
import { memoryRankers, type RankerPorts, silentRankers } from './ranker.ts';
import {
  type MemoryArticles,
  memoryReceipts,
  type PlantedReceipts,
  plantedReceipts,
  RECEIPT_DENIALS,
  RECEIPT_PLANS,
  type ReceiptsPorts,
  silentReceipts,
} from './receipts.ts';
import {
  type FlagsHeld,
  type FlagsPorts,
  memoryFlags,
  type PlantedFlags,
  plantedFlags,
  silentFlags,
} from './rug-flags.ts';
import {
  type MemoryListOptions,
  memorySanctionsList,
  type PlantedSanctions,
  plantedSanctions,
  type SanctionsPorts,
  silentSanctions,
} from './sanctions.ts';
import { plantedScreening } from './screening.ts';
import { memorySeriesStore, type SeriesPorts, silentSeries } from './series.ts';
import {
  memorySignalPorts,
  type PlantedSignals,
  plantedSignals,
  SIGNAL_DENIALS,
  SIGNAL_STANDS,
  type SignalPorts,
  type SignalsHeld,
  silentSignals,
} from './signals.ts';
import { memorySigning, type SigningPorts, silentSigning } from './signing.ts';
import {
  memoryTables,
  type PlantedTables,
  plantedTables,
  silentTables,
  type TablesHeld,
  type TablesPorts,
} from './tables.ts';
import {
  memoryTraders,
  NEVER_ANALYSED,
  type PlantedTraders,
  plantedTraders,
  silentTraders,
  TRADER_DENIALS,
  TRADER_STYLED,
  type TraderTwin,
} from './traders.ts';
import {
  memoryTransparencyLog,
  type PlantedLog,
  plantedTransparencyLog,
  STATED,
  silentTransparencyLog,
  type TransparencyLogPorts,
} from './transparency-log.ts';

/** The contents of a world in memory, subject by subject. */
export type MemoryWorld = AccountsHeld &
  BridgesHeld &
  DeployersHeld &
  FlagsHeld &
  HistoryHeld &
  SignalsHeld &
  TablesHeld & {
    readonly list: MemoryListOptions;
    readonly entities?: MemoryClusters;
    readonly articles?: MemoryArticles;
  };

/** The ports over a world in memory. */
export type MemoryPorts = AccountsPorts &
  AnchorsPorts &
  BridgesPorts &
  DeployersPorts &
  EdgeTrialPorts &
  EmittedCallPorts &
  EntitiesPorts &
  FlagsPorts &
  HistoryPorts &
  ProviderCallPorts &
  RankerPorts &
  ReceiptsPorts &
  SanctionsPorts &
  SeriesPorts &
  SignalPorts &
  SigningPorts &
  TablesPorts &
  TraderTwin &
  TransparencyLogPorts & { readonly launchCorpus: LaunchCorpus };

/** The ports over a world in memory. */
export function memoryPorts(world: MemoryWorld): MemoryPorts {
  return {
    ...memoryAccounts(world),
    ...memoryBridges(world),
    ...memoryDeployers(world),
    ...memoryEdgeTrials(),
    ...memoryEmittedCalls(NOTHING_EMITTED),
    ...memoryEntities(world),
    ...memoryFlags(world),
    ...memoryWalked(world, world.list.now),
    ...memoryProviderCalls({ calls: [], isCounted: true }),
    ...memoryRankers(),
    ...memoryReceipts(world),
    ...memorySignalPorts(world),
    ...memorySigning(),
    ...memoryTables(world),
    ...memoryTraders({ ...PLANTED, standingOf: () => NEVER_ANALYSED }),
    ...memoryTransparencyLog(),
    anchors: memoryAnchors(PLANTED),
    marketSeries: memorySeriesStore(),
    launchCorpus: memoryLaunchCorpus(world.corpus),
    sanctionsList: memorySanctionsList(world.list),
  };
}

/** Every port, silent for one reason. */
export function silentPorts(cause: Why): MemoryPorts {
  return {
    ...silentAccounts(cause),
    ...silentAnchors(cause),
    ...silentBridges(cause),
    ...silentDeployers(cause),
    ...silentEdgeTrials(cause),
    ...silentEmittedCalls(cause),
    ...silentEntities(cause),
    ...silentFlags(cause),
    ...silentLaunches(cause),
    ...silentProviderCalls(cause),
    ...silentRankers(cause),
    ...silentReceipts(cause),
    ...silentSanctions(cause),
    ...silentSeries(cause),
    ...silentSignals(cause),
    ...silentSigning(cause),
    ...silentTables(cause),
    ...silentTraders(cause),
    ...silentTransparencyLog(cause),
    ...silentWalked(cause),
  };
}

/** The facts planted in a world. */
export type Planted = PlantedAccounts &
  PlantedBridges &
  PlantedDeployers &
  PlantedEmissions &
  PlantedEntities &
  PlantedFlags &
  PlantedHistory &
  PlantedCalls &
  PlantedLaunches &
  PlantedReceipts &
  PlantedSanctions &
  PlantedSignals &
  PlantedLog &
  PlantedTables &
  PlantedTraders;

/** The worlds of single subjects: whom each is about, what is planted, and what that rules out. */
export const SUBJECT_PLANS: readonly (Planted & {
  readonly name: string;
  readonly about: string;
  readonly item?: string;
  readonly contradicts: { readonly [route: string]: readonly string[] };
})[] = [
  // Statements, a signal, a style and a call are planted beside what is, so that no world is more.
  ...RECEIPT_PLANS.map((plan) => ({
    ...plan,
    signalled: SIGNAL_STANDS.signalled,
    styled: TRADER_STYLED.styled,
    called: CALL_STANDS.called,
    emitted: EMISSION_STANDS.emitted,
    statements: [STATED, ...SIGNAL_STANDS.statements],
    contradicts: {
      ...plan.contradicts,
      ...SIGNAL_STANDS.contradicts,
      ...TRADER_STYLED.contradicts,
      ...CALL_STANDS.contradicts,
      ...EMISSION_STANDS.contradicts,
      log_entries: ['entries'],
    },
  })),
];

/** The lines of pages that deny something of single subjects, with the ports that they rest on. */
export const SUBJECT_DENIALS: readonly (readonly [line: RegExp, restsOn: readonly string[]])[] = [
  ...RECEIPT_DENIALS,
  ...SIGNAL_DENIALS,
  ...TRADER_DENIALS,
  ...CALL_DENIALS,
  ...EMISSION_DENIALS,
];

/** The ports over what is planted, beside somebody and something else in every table and list. */
export function plantedPorts(planted: Planted, screened: string) {
  return {
    ...plantedAccounts(planted),
    ...plantedBridges(planted),
    ...plantedDeployers(planted),
    ...memoryEdgeTrials(),
    ...plantedEmittedCalls(planted),
    ...plantedEntities(planted),
    ...plantedFlags(planted),
    ...plantedHistory(planted),
    ...plantedLaunches(planted),
    ...plantedProviderCalls(planted),
    ...memoryRankers(),
    ...plantedReceipts(planted),
    ...plantedSanctions(planted),
    ...plantedScreening(screened),
    ...plantedSignals(planted),
    ...memorySigning(),
    ...plantedTables(planted),
    ...plantedTraders(planted),
    ...plantedTransparencyLog(planted),
    anchors: memoryAnchors(PLANTED),
    marketSeries: plantedCandles(planted),
  };
}
