// Which kinds of finding are there? One row each; docs/concepts/findings.md has the same rows.
// A kind joins by standing here: its coverage, its test and its place in an answer follow.

import type { FindingKind } from './finding.ts';
import { delegatedAccount, proxyAuthority } from './kinds/authority.ts';
import { coinJoined } from './kinds/coinjoins.ts';
import {
  bridgeContact,
  exchangeDeposit,
  exchangeWithdrawal,
  mixerContact,
} from './kinds/contacts.ts';
import {
  createdFlaggedContract,
  flaggedCounterparty,
  flaggedItself,
  fundedByFlagged,
} from './kinds/flagged.ts';
import {
  dustFromListed,
  fundedByListed,
  listedCounterparty,
  listedItself,
  wayToListed,
} from './kinds/listed.ts';
import { flaggedInFacts, labelledInFacts, listedInFacts } from './kinds/named.ts';
import { poisoningReceived } from './kinds/poisoning.ts';
import { issuerFreeze, openToFlagged, openToListed } from './kinds/tokens.ts';

/** Every kind, in the order in which answers list them. */
export const FINDING_KINDS: readonly FindingKind[] = [
  listedItself,
  listedCounterparty,
  wayToListed,
  fundedByListed,
  dustFromListed,
  listedInFacts,
  flaggedItself,
  flaggedCounterparty,
  fundedByFlagged,
  createdFlaggedContract,
  flaggedInFacts,
  poisoningReceived,
  mixerContact,
  coinJoined,
  bridgeContact,
  exchangeDeposit,
  exchangeWithdrawal,
  labelledInFacts,
  proxyAuthority,
  delegatedAccount,
  issuerFreeze,
  openToListed,
  openToFlagged,
];
