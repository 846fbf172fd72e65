// What is said of an address where nobody outside is to be asked? Nothing, and why nobody was.

import { unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { ChainFacts } from '../../ports/accounts/chain-facts.ts';
import type { IssuerFreezes } from '../../ports/accounts/issuer-freezes.ts';
import { noFacts } from '../../ports/accounts/readings.ts';
import type { TokenApprovals } from '../../ports/accounts/token-approvals.ts';
import type { CounterpartyRing } from '../../ports/history/counterparty-ring.ts';
import { type TransferHistory, UNPRICED } from '../../ports/history/transfer-history.ts';

/** The ports whose readings may cost a provider's call, each of them silent for one reason. */
export type UnaskedPorts = {
  readonly transferHistory: TransferHistory;
  readonly counterpartyRing: CounterpartyRing;
  readonly chainFacts: ChainFacts;
  readonly issuerFreezes: IssuerFreezes;
  readonly tokenApprovals: TokenApprovals;
};

/** Asks neither a store nor a provider. */
export function unaskedPorts(why: Why): UnaskedPorts {
  const history = unread('transfer_history', why);
  const approvals = unread('token_approvals', why);
  return {
    transferHistory: {
      worths: UNPRICED,
      chainsRead: async () => history,
      neighbourhoods: async (addresses) => new Map(addresses.map((one) => [one, history])),
    },
    counterpartyRing: { meet: async () => unread('counterparty_ring', why) },
    chainFacts: {
      stateChains: [],
      of: async () => noFacts(why),
      setBy: async () => unread('chain_facts', why),
    },
    issuerFreezes: { chains: [], of: async () => unread('issuer_freezes', why) },
    tokenApprovals: { chains: [], given: async () => approvals, left: async () => approvals },
  };
}
