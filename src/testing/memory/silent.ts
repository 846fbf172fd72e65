// Answers one question: what do the ports say of a world that cannot be read. Nothing, and why.

import { unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { noFacts } from '../../ports/accounts.ts';
import { UNPRICED } from '../../ports/history.ts';
import type { MemoryPorts } from './ports.ts';
import { silentEntityClusters } from './silent-clusters.ts';

/** Every port, silent for one reason. */
export function silentPorts(why: Why): MemoryPorts {
  const list = unread('sanctions_list', why);
  const labels = unread('exchange_labels', why);
  const corpus = unread('launch_corpus', why);
  const launches = unread('wallet_launches', why);
  const history = unread('transfer_history', why);
  return {
    sanctionsList: {
      lookUp: async () => list,
      lookUpOn: async () => list,
      listed: async () => list,
    },
    exchangeLabels: { lookUp: async () => labels },
    launchCorpus: { lookUp: async () => corpus },
    walletLaunches: { of: async () => launches, launchOf: async () => launches },
    transferHistory: {
      worths: UNPRICED,
      chainsRead: async () => history,
      neighbourhoods: async (addresses) => new Map(addresses.map((one) => [one, history])),
    },
    counterpartyRing: { meet: async () => unread('counterparty_ring', why) },
    entityClusters: silentEntityClusters(why),
    chainFacts: {
      stateChains: [],
      of: async () => noFacts(why),
      setBy: async () => unread('chain_facts', why),
    },
    issuerFreezes: { chains: [], of: async () => unread('issuer_freezes', why) },
    tokenApprovals: {
      chains: [],
      given: async () => unread('token_approvals', why),
      left: async () => unread('token_approvals', why),
    },
    flaggedAddresses: { lookUp: async () => unread('flagged_addresses', why) },
    otherLists: { lookUp: async () => unread('other_lists', why) },
    receiptFolder: { files: async () => unread('receipts', why) },
    mixerRegistry: { lookUp: async () => unread('mixer_registry', why) },
    rugFlags: { inWindow: async () => unread('rug_flags', why) },
    deployerRecords: {
      recordOf: async () => unread('deployer_records', why),
      heldOf: async () => unread('deployer_records', why),
    },
    bridgeRegistry: { table: async () => unread('bridge_registry', why) },
    bridgeArrivals: {
      lookUp: async () => unread('bridge_arrivals', why),
      paidTo: async () => unread('bridge_arrivals', why),
      timeOf: async () => unread('bridge_arrivals', why),
      pageOf: () => null,
      statusOf: async () => unread('bridge_arrivals', why),
    },
    transactionReceipts: {
      lookUp: async (_, hashes) =>
        new Map(hashes.map((one) => [one, unread('transaction_receipts', why)])),
    },
  };
}
