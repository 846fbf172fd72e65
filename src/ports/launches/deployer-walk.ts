// Answers one question: what has to be known of a chain and a venue to walk a deployer's launches?
// Everything here is asked while a record is made, never while it is served.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';
import type { Prices } from '../history/prices.ts';

/** One contract that a transaction or another contract made. Addresses in lower case. */
export type MadeContract = {
  readonly address: string;
  readonly tx: string;
  readonly block: number;
  readonly at: UnixSeconds;
  /** Whether the creation was undone, so that no contract came of it. */
  readonly reverted: boolean;
};

/** Whom the chain credits with a contract: the signer of the transaction that made it. */
export type Maker = { readonly signer: string };

/** What contracts an address made, and whom the chain credits. */
export type DeployerCreations = {
  /** What the address made with transactions of its own that have no receiver, oldest first. */
  readonly madeDirectly: (
    address: string,
    signal: AbortSignal,
  ) => Promise<Partly<readonly MadeContract[], 'deployer_creations'>>;
  /** What a contract made itself, in whosesoever transactions. */
  readonly madeBy: (
    factory: string,
    signal: AbortSignal,
  ) => Promise<Partly<readonly MadeContract[], 'deployer_creations'>>;
  /** The makers of these contracts; of one that has no entry nobody is credited. */
  readonly makersOf: (
    contracts: readonly string[],
    signal: AbortSignal,
  ) => Promise<Reading<ReadonlyMap<string, Maker>, 'deployer_creations'>>;
};

/**
 * What a contract is, by its code and its answers. `no_code`: it destroyed itself; `undecided`: it
 * answers whatever it is asked, so that its answers show nothing.
 */
export type ContractKind = 'erc20' | 'other' | 'no_code' | 'undecided';

export type ContractKinds = {
  readonly kindOf: (
    contract: string,
    signal: AbortSignal,
  ) => Promise<Reading<ContractKind, 'contract_kinds'>>;
};

/** How many transfers of a token one query shows, and whether there are more. */
export type TransfersObserved = { readonly count: number; readonly truncated: boolean };

export type TokenTransfers = {
  readonly observed: (
    token: string,
    signal: AbortSignal,
  ) => Promise<Reading<TransfersObserved, 'token_transfers'>>;
};

/** A pool of a token. Amounts in US dollars; `null` where the venue does not tell one. */
export type ListedPool = {
  /** As the venue names it, in lower case; on some exchanges that is no address of a contract. */
  readonly address: string | null;
  readonly created_at: UnixSeconds | null;
  /** Which side of the pool the token is: what the venue tells is of the base side. */
  readonly side: 'base' | 'quote';
  readonly liquidity_usd: number | null;
  readonly volume_usd_24h: number | null;
};

export type Venue = {
  /** The pools of a token; none means that the venue looked and lists no pair of it. */
  readonly poolsOf: (
    token: string,
    signal: AbortSignal,
  ) => Promise<Reading<readonly ListedPool[], 'venue'>>;
};

/** What the first pool of a token began with. Addresses in lower case. */
export type FirstLiquidity = {
  readonly pool: string;
  /** The other token of the pool, and as which token it is priced: `null` is the chain's coin. */
  readonly coin: string;
  readonly priced_as: string | null;
  /** Of the coin, in whole units as decimal text. */
  readonly amount: string;
  readonly tx: string;
  readonly at: UnixSeconds;
  /** Who signed the transaction that put it in. */
  readonly signer: string;
  /** Whether the exchange had made a pool of the token with a coin that does not count. */
  readonly others_before: boolean;
};

export type LaunchPools = {
  /** By the pools with coins that count; `null` where none of them has ever held anything. */
  readonly firstLiquidity: (
    token: string,
    signal: AbortSignal,
  ) => Promise<Reading<FirstLiquidity | null, 'launch_pools'>>;
};

/** Which contracts are public launchpads: whoever uses one is not credited with its maker's. */
export type Launchpads = {
  readonly among: (
    contracts: readonly string[],
  ) => Promise<Reading<ReadonlySet<string>, 'launchpads'>>;
};

/** Everything that a walk asks. */
export type WalkSources = {
  readonly creations: DeployerCreations;
  readonly kinds: ContractKinds;
  readonly transfers: TokenTransfers;
  readonly venue: Venue;
  readonly launchpads: Launchpads;
  readonly launchPools: LaunchPools;
  readonly prices: Pick<Prices, 'historical'>;
};
