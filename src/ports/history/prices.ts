// Answers one question: what was this coin worth then, and does it have a market at all?
// A coin without a price is `null`, never zero; what could not be read is not in the answer.

import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { Partly } from '../../evidence/reading.ts';

/** The name of this port in readings. */
export type PricesPort = 'prices';

/** A coin of a chain: a token's contract or mint, or (`token` null) the chain's own coin. */
export type Coin = { readonly chain: ChainName; readonly token: string | null };

/** A coin at a time. */
export type PriceAsk = Coin & { readonly at: UnixSeconds };

/**
 * A price of one whole coin. `usd` is decimal text; `at` is the time of the price found; `basis`
 * says whence and of when it is, and where its market is thin.
 */
export type Price = { readonly usd: string; readonly at: UnixSeconds; readonly basis: string };

/** One question and its answer: `null` where the source was read and has no price near it. */
export type Priced = { readonly ask: PriceAsk; readonly price: Price | null };

/** Whether a price source that was read knows a price of a coin now. */
export type Market = { readonly coin: Coin; readonly has_market: boolean };

/**
 * A source of prices. An answer has a row for each question that was read; where some were not,
 * it is a part. The signal stops it at once.
 */
export type Prices = {
  readonly historical: (
    asks: readonly PriceAsk[],
    signal: AbortSignal,
  ) => Promise<Partly<readonly Priced[], PricesPort>>;
  readonly markets: (
    coins: readonly Coin[],
    signal: AbortSignal,
  ) => Promise<Partly<readonly Market[], PricesPort>>;
};
