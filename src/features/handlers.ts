// Answers one question: which handler answers which declared route, and from which ports.

import type { Handler } from '../contract/route.ts';
import type { ChainFacts } from '../ports/accounts/chain-facts.ts';
import type { MixerRegistry } from '../ports/accounts/mixer-registry.ts';
import type { BridgeRegistry } from '../ports/bridges/bridge-registry.ts';
import type { TransactionReceipts } from '../ports/bridges/transaction-receipts.ts';
import type { EntityClusters } from '../ports/entities/entity-clusters.ts';
import type { FlaggedAddresses } from '../ports/flags/flagged-addresses.ts';
import type { TransferHistory } from '../ports/history/transfer-history.ts';
import type { ExchangeLabels } from '../ports/labels/exchange-labels.ts';
import type { LaunchCorpus } from '../ports/launches/launches.ts';
import type { SanctionsList } from '../ports/sanctions/sanctions-list.ts';
import { walletBridgesHandler } from './bridges/wallet-bridges.route.ts';
import type { EVIDENCE_ROUTES } from './contracts.ts';
import { walletCexHandler } from './exchanges/wallet-cex.route.ts';
import { walletScoreHandler } from './forensics/wallet-score.route.ts';
import { walletOfacHandler } from './sanctions/wallet-ofac.route.ts';
import { bulkWalletScreenHandler } from './screening/bulk-wallet-screen.route.ts';

/** The ports that the evidence routes read. */
export type EvidencePorts = {
  readonly sanctionsList: SanctionsList;
  readonly exchangeLabels: ExchangeLabels;
  readonly launchCorpus: LaunchCorpus;
  readonly transferHistory: TransferHistory;
  readonly entityClusters: EntityClusters;
  readonly chainFacts: ChainFacts;
  readonly flaggedAddresses: FlaggedAddresses;
  readonly mixerRegistry: MixerRegistry;
  readonly bridgeRegistry: BridgeRegistry;
  readonly transactionReceipts: TransactionReceipts;
};

type EvidenceHandlers = {
  readonly [R in (typeof EVIDENCE_ROUTES)[number] as R['name']]: Handler<R>;
};

/** A handler for each declared evidence route: one that is missing does not compile. */
export function makeHandlers(ports: EvidencePorts): EvidenceHandlers {
  return {
    bulk_wallet_screen: bulkWalletScreenHandler(ports),
    wallet_ofac: walletOfacHandler(ports),
    wallet_score: walletScoreHandler(ports),
    wallet_bridges: walletBridgesHandler(ports),
    wallet_cex: walletCexHandler(ports),
  };
}
