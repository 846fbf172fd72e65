// When does an address serve too many to be anybody's, and how far are ties followed?

import type { Tie, TiedLimits } from '../../ports/entities/cluster-store.ts';

/** More counterparties than this make an address a service for clustering: it links nobody. */
export const SERVICE_DEGREE = 1_000;
/** More users than this share a deposit address that is nobody's own (a memo, a merchant). */
export const DEPOSIT_USERS_MAX = 8;
/** A payer into more deposit addresses than this is a service itself. */
export const USER_DEPOSITS_MAX = 10;
/** Who ever paid coins to more addresses than this begins customers, not wallets of its own. */
export const FUNDED_MAX = 25;
/** More contracts than this of one signer are a deployment service's. */
const DEPLOYED_MAX = 200;
/** Two addresses funded by one funder are tied where no more than this lies between. */
export const FUNDING_WINDOW_S = 24 * 3_600;
/** More inputs' addresses than this in one transaction say a service, not a wallet. */
export const INPUT_ADDRESSES_MAX = 500;

/** How far ties are followed for one answer. Under one key there are never more that can stand. */
export const TIED_LIMITS: TiedLimits = {
  addressesMax: 10_000,
  roundsMax: 100,
  keysMax: 20_000,
  perKeyMax: {
    deposit_reuse: DEPOSIT_USERS_MAX + 1,
    shared_funder: FUNDED_MAX,
    lockstep: 2,
    same_deployer: DEPLOYED_MAX + 1,
    multi_input: INPUT_ADDRESSES_MAX,
    change: INPUT_ADDRESSES_MAX + 1,
  },
};

/** The most transactions kept of one address under one key: the earliest. */
const TIES_OF_PAIR_MAX = 5;

/** A transaction that ties. */
export type TiedBy = Pick<Tie, 'tx' | 'block' | 'at'>;

/** Puts the earlier first: by time, then block, then name. */
export function earlier(a: TiedBy, b: TiedBy): number {
  return a.at - b.at || a.block - b.block || (a.tx < b.tx ? -1 : Number(a.tx > b.tx));
}

/** The earliest transactions of a list, each once, as many as are kept. */
export function earliest(transactions: readonly TiedBy[]): TiedBy[] {
  const byName = new Map(transactions.map((one) => [one.tx, one]));
  return [...byName.values()].sort(earlier).slice(0, TIES_OF_PAIR_MAX);
}
