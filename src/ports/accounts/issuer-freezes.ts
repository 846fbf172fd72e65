// Answers one question: do the issuers of tokens hold these coins frozen at an address?
// An issuer's black list is a state of its own contract: it is asked at one block, and is of it.

import type { EvmChainName } from '../../chain/chain.ts';
import type { Partly } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type IssuerFreezesPort = 'issuer_freezes';

/** A token whose issuer can freeze what an address holds of it. */
export type FreezingToken = {
  readonly issuer: string;
  readonly symbol: string;
  readonly chain: EvmChainName;
  /** In the form that `parseAddress` gives. */
  readonly address: string;
  /** The function that says whether an address is on the list: `isBlacklisted(address)`. */
  readonly asks: string;
  /** The events that put an address on it, their argument called `account`. */
  readonly logs: readonly string[];
  readonly source: string;
  readonly source_url: string;
  /** Another source that names the same contract. */
  readonly second_source: string;
  /** ISO 8601 day of the last review. */
  readonly reviewed: string;
};

/** What a token's contract said of the address. */
export type FreezeState = {
  readonly token: FreezingToken;
  readonly frozen: boolean;
  /** The block at which it was asked. */
  readonly block: number;
  /** The newest event that put it on the list; `null` where it is not, or no event was found. */
  readonly placed: { readonly tx: string; readonly block: number } | null;
};

/** The black lists of issuers. */
export type IssuerFreezes = {
  /** The chains beside the main one on which somebody can be asked. */
  readonly chains: readonly EvmChainName[];
  /** What each token of the registry says on the chain; a part where one of them said nothing. */
  readonly of: (
    chain: EvmChainName,
    address: string,
    signal: AbortSignal,
  ) => Promise<Partly<readonly FreezeState[], IssuerFreezesPort>>;
};
