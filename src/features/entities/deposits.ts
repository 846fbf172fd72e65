// Which addresses paid into the same deposit address of an exchange? (heuristic a)
// Victor, "Address Clustering Heuristics for Ethereum", Financial Cryptography 2020, section 3:
// an exchange gives each customer a deposit address, so those who pay into one are one customer.
// It does not infer deposit addresses: that was done, with evidence of its own.

import { isSystemAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import type { Tie } from '../../ports/entities/cluster-store.ts';
import { earliest, type TiedBy } from './ties.ts';

/** A sender to an inferred deposit address, which forwards to a labelled wallet. */
export type DepositUse = {
  readonly chain: ChainName;
  readonly user: string;
  readonly deposit: string;
  readonly exchange: string;
  /** The labelled wallet that the deposit address forwards to. */
  readonly wallet: string;
  /** The transfers from the user to the deposit address; at least one. */
  readonly transactions: readonly TiedBy[];
};

/** The ties of users to deposit addresses. The deposit address is a member of its own. */
export function depositTies(uses: readonly DepositUse[]): Tie[] {
  return uses.filter(canTie).flatMap((use) => {
    const { chain, user, deposit, wallet } = use;
    const shared = { chain, heuristic: 'deposit_reuse', key: deposit, rests_on: wallet } as const;
    return earliest(use.transactions).flatMap((by): Tie[] => [
      { ...shared, ...only(by), address: user },
      { ...shared, ...only(by), address: deposit },
    ]);
  });
}

// A wallet that pays its own deposit address back, and nobody's address, are no customers.
function canTie({ user, deposit, wallet }: DepositUse): boolean {
  return user !== wallet && user !== deposit && ![user, deposit].some(isSystemAddress);
}

function only({ tx, block, at }: TiedBy): TiedBy {
  return { tx, block, at };
}
