// Answers one question: what was this coin worth then, and does it have a market at all?
// A coin without a price is `null`, never zero; what could not be read is not in the answer.

import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';

/** The name of this port in readings. */
export type PricesPort = 'prices';

/** A coin of a chain: a token's contract or mint, or (`token` null) the chain's own coin. */
export type Coin = { readonly chain: ChainName; readonly token: string | null };

/** A coin at a time. */
export type PriceAsk = Coin & { readonly at: UnixSeconds };

/**
 * A price of one whole coin. `usd` is decimal text; `basis` says whence and of when it is, and
 * where its market is thin.
 */
export type Price = { readonly usd: string; readonly basis: string };

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

/** A price as it was read, at a time in Unix seconds. */
export type ReadPrice = {
  readonly ask: PriceAsk;
  readonly price: Price;
  readonly read_at: UnixSeconds;
};

/**
 * The table of prices that were read. Of two of one coin and time the one that was read last
 * stands, so that a correction is a row that is added.
 */
export type PriceTable = {
  /** What is held of these questions; what is not held has no row. */
  readonly held: (
    asks: readonly PriceAsk[],
    signal: AbortSignal,
  ) => Promise<Reading<readonly ReadPrice[], PricesPort>>;
  readonly keep: (rows: readonly ReadPrice[]) => Promise<Reading<true, PricesPort>>;
};

/** Prices are read by ten minutes, so that transfers near each other share one. */
const PRICE_STEP_S = 600;

/** The time by which the price of a time is read. */
export function priceTime(at: UnixSeconds): UnixSeconds {
  return Math.round(at / PRICE_STEP_S) * PRICE_STEP_S;
}

/** Coins and times that share a price share this name. */
export function priceName({ chain, token, at }: PriceAsk): string {
  return `${chain} ${token} ${priceTime(at)}`;
}
