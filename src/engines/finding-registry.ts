// Which kinds of finding are there? One row each; docs/concepts/findings.md has the same rows.
// A kind joins by standing here: its coverage, its test and its place in an answer follow.

import type { FindingKind } from './finding.ts';
import { delegatedAccount, proxyAuthority } from './finding-kinds/authority.ts';
import {
  bridgeContact,
  exchangeDeposit,
  exchangeWithdrawal,
  mixerContact,
} from './finding-kinds/contacts.ts';
import {
  createdFlaggedContract,
  flaggedCounterparty,
  flaggedItself,
  fundedByFlagged,
} from './finding-kinds/flagged.ts';
import {
  dustFromListed,
  fundedByListed,
  listedCounterparty,
  listedItself,
} from './finding-kinds/listed.ts';
import { poisoningReceived } from './finding-kinds/poisoning.ts';

/** Every kind, in the order in which answers list them. */
export const FINDING_KINDS: readonly FindingKind[] = [
  listedItself,
  listedCounterparty,
  fundedByListed,
  dustFromListed,
  flaggedItself,
  flaggedCounterparty,
  fundedByFlagged,
  createdFlaggedContract,
  poisoningReceived,
  mixerContact,
  bridgeContact,
  exchangeDeposit,
  exchangeWithdrawal,
  proxyAuthority,
  delegatedAccount,
];
