// Which addresses paid into the same deposit address of an exchange? (heuristic a)
// Victor, "Address Clustering Heuristics for Ethereum", Financial Cryptography 2020, section 3:
// an exchange gives each customer a deposit address, so those who pay into one are one customer.
// The inference is `features/deposits`'; one that may be a contract ties nobody.

import { isSystemAddress } from '../../chain/address.ts';
import { collect } from '../../evidence/measure.ts';
import type { Tie } from '../../ports/entities/cluster-store.ts';
import type { SeenDeposit } from '../deposits/around.ts';
import type { AddressHistory } from '../history/address-history.ts';
import { earliest, SERVICE_DEGREE, type TiedBy } from './ties.ts';

/** The ties of its users to a deposit address, by its own history. It is a member of its own. */
export function depositTies(
  { inferred, externallyOwned, whole, first }: SeenDeposit,
  own: AddressHistory,
): Tie[] {
  const { address: key, forwards, wallets, receiverRole } = inferred;
  const [wallet] = wallets;
  if (externallyOwned !== true || own.degree > SERVICE_DEGREE || isSystemAddress(key)) return [];
  const users = new Set(forwards.map(({ user }) => user));
  const sent = new Map<string, TiedBy[]>();
  for (const one of own.transfers) {
    // A wallet that pays its own deposit address back, and nobody's address, are no customers.
    if (one.to !== key || !users.has(one.from) || wallets.includes(one.from)) continue;
    if (one.raw_amount > 0n && !isSystemAddress(one.from)) collect(sent, one.from, one);
  }
  const form = receiverRole === 'hot' ? 'hot_wallet' : 'unstated_role';
  const shared = {
    chain: first.chain,
    heuristic: 'deposit_reuse',
    form,
    key,
    rests_on: wallet === undefined ? null : wallet,
    whole,
  } as const;
  return [...sent].flatMap(([user, transactions]) =>
    earliest(transactions).flatMap(({ tx, block, at }): Tie[] => [
      { ...shared, tx, block, at, address: user },
      { ...shared, tx, block, at, address: key },
    ]),
  );
}
