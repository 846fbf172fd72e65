// Answers one question: which handler answers which declared route, and from which ports.

import type { Handler } from '../contract/route.ts';
import type { BridgeRegistry } from '../ports/bridge-registry.ts';
import type { ChainFacts } from '../ports/chain-facts.ts';
import type { EntityClusters } from '../ports/entity-clusters.ts';
import type { ExchangeLabels } from '../ports/exchange-labels.ts';
import type { FlaggedAddresses } from '../ports/flagged-addresses.ts';
import type { LaunchCorpus } from '../ports/launch-corpus.ts';
import type { MixerRegistry } from '../ports/mixer-registry.ts';
import type { SanctionsList } from '../ports/sanctions-list.ts';
import type { TransactionReceipts } from '../ports/transaction-receipts.ts';
import type { TransferHistory } from '../ports/transfer-history.ts';
import type { EVIDENCE_ROUTES } from './contracts.ts';
import { bulkWalletScreenHandler } from './hosted/bulk-wallet-screen.ts';
import { walletBridgesHandler } from './hosted/wallet-bridges.ts';
import { walletCexHandler } from './hosted/wallet-cex.ts';
import { walletOfacHandler } from './hosted/wallet-ofac.ts';
import { walletScoreHandler } from './hosted/wallet-score.ts';

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
export function makeHandlers(
  ports: EvidencePorts,
  walk?: Parameters<typeof walletOfacHandler>[1],
): EvidenceHandlers {
  return {
    bulk_wallet_screen: bulkWalletScreenHandler(ports),
    wallet_ofac: walletOfacHandler(ports, walk),
    wallet_score: walletScoreHandler(ports, walk),
    wallet_bridges: walletBridgesHandler(ports, walk),
    wallet_cex: walletCexHandler(ports, walk),
  };
}
