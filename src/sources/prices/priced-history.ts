// With whom did these addresses exchange transfers, and what were these worth?
// A history whose transfers get their value and whether their token has a market, where a price
// source that was read says so. Where it is silent both stay unknown, and the history is the same.

import { formatUnits, multiplyDecimals } from '../../chain/amount.ts';
import { CHAINS } from '../../chain/chain.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { map, type Partly, rowsSeen } from '../../evidence/reading.ts';
import {
  type Coin,
  type HistoryTransfer,
  type Neighbourhood,
  type Price,
  type Prices,
  priceName,
  type RawHistory,
  type RawHistoryPort,
  type Worth,
  type Worths,
} from '../../ports/history.ts';

/** The most prices, and tokens that are looked up, for one batch. */
const PRICED_MAX = 1_000;
const MARKETS_MAX = 500;

type Reading = Partly<Neighbourhood, RawHistoryPort>;
type Fill = (one: HistoryTransfer) => HistoryTransfer;

/** The same history, which says of tokens whether they have a market as far as the source tells. */
export function marketHistory(history: RawHistory, prices: Prices): RawHistory {
  return filledHistory(history, async (transfers, signal) => {
    const markets = await marketsOf(prices, transfers, signal);
    return (one) => withMarket(one, markets);
  });
}

/**
 * The same history, priced where a question asks for values. A walk asks for none: it would price
 * thousands of transfers of which it shows two.
 */
export function valuedHistory(history: RawHistory, prices: Prices): RawHistory {
  const worths = worthsBy(prices);
  const valued = filledHistory(history, async (transfers, signal) => {
    const [known, markets] = await Promise.all([
      worths(transfers, signal),
      marketsOf(prices, transfers, signal),
    ]);
    return (one) => ({ ...withMarket(one, markets), ...known.get(one) });
  });
  return {
    chainsRead: history.chainsRead,
    neighbourhoods: (addresses, limits) =>
      (limits.valued === true ? valued : history).neighbourhoods(addresses, limits),
  };
}

/** The values of transfers, by these prices. */
export function worthsBy(prices: Prices): Worths {
  return async (transfers, signal) => {
    const priceable = transfers.filter((one) => decimalsOf(one) !== null);
    const asks = distinct(priceable.map(askOf), priceName).slice(0, PRICED_MAX);
    const told = asks.length === 0 ? null : await prices.historical(asks, signal);
    const found = new Map<string, Price>();
    for (const { ask, price } of rowsOf(told)) {
      if (price !== null) found.set(priceName(ask), price);
    }
    const worths = new Map<HistoryTransfer, Worth>();
    for (const one of priceable) {
      const price = found.get(priceName(askOf(one)));
      if (price !== undefined) worths.set(one, worthAt(one, price));
    }
    return worths;
  };
}

function filledHistory(
  history: RawHistory,
  fillOf: (transfers: readonly HistoryTransfer[], signal: AbortSignal) => Promise<Fill>,
): RawHistory {
  return {
    chainsRead: history.chainsRead,
    neighbourhoods: async (addresses, limits) => {
      const readings = await history.neighbourhoods(addresses, limits);
      const fill = await fillOf([...readings.values()].flatMap(transfersIn), limits.signal);
      return new Map([...readings].map(([address, one]) => [address, withTransfers(one, fill)]));
    },
  };
}

function transfersIn(reading: Reading): readonly HistoryTransfer[] {
  return listOrNone(
    rowsSeen(
      map(reading, ({ counterparties }) => counterparties.flatMap(({ transfers }) => transfers)),
    ),
  );
}

function withTransfers(reading: Reading, fill: Fill): Reading {
  return map(reading, (known) => ({
    ...known,
    counterparties: known.counterparties.map((other) => ({
      ...other,
      transfers: other.transfers.map(fill),
    })),
  }));
}

type Markets = ReadonlyMap<string, boolean>;

async function marketsOf(
  prices: Prices,
  transfers: readonly HistoryTransfer[],
  signal: AbortSignal,
): Promise<Markets> {
  const tokens = transfers.filter((one) => one.has_market === null && one.token !== null);
  const coins = distinct(tokens, coinKey).slice(0, MARKETS_MAX);
  const told = coins.length === 0 ? null : await prices.markets(coins.map(coinOf), signal);
  return new Map(rowsOf(told).map(({ coin, has_market }) => [coinKey(coin), has_market]));
}

function withMarket(one: HistoryTransfer, markets: Markets): HistoryTransfer {
  const known =
    one.has_market === null && one.token !== null ? markets.get(coinKey(one)) : undefined;
  return known === undefined ? one : { ...one, has_market: known };
}

/** The rows of a price source; a silent one gave none. */
function rowsOf<T>(reading: Partly<readonly T[], 'prices'> | null): readonly T[] {
  return listOrNone(reading === null ? null : rowsSeen(reading));
}

function distinct<T>(list: readonly T[], keyOf: (one: T) => string): T[] {
  return [...new Map(list.map((one) => [keyOf(one), one])).values()];
}

function coinOf({ chain, token }: Coin): Coin {
  return { chain, token };
}

function askOf({ chain, token, at }: HistoryTransfer) {
  return { chain, token, at };
}

function coinKey({ chain, token }: Coin): string {
  return `${chain} ${token}`;
}

/** An NFT has an id and no amount, whatever its contract's token fetches. */
function decimalsOf({ chain, kind, token, decimals }: HistoryTransfer): number | null {
  if (kind === 'nft') return null;
  return token === null ? CHAINS[chain].native.decimals : decimals;
}

function worthAt(transfer: HistoryTransfer, price: Price): Worth {
  const decimals = decimalsOf(transfer);
  if (decimals === null) throw new TypeError('a worth of an amount without decimals');
  const usd = multiplyDecimals(formatUnits(transfer.raw_amount, decimals), price.usd);
  return { usd, price_basis: price.basis };
}

// The cache is bounded: the entry that was written longest ago goes first.

/** A bounded memory, each entry of which is known for a time. */
export type KeptPrices<V> = {
  /** The cached value under a key, and its time (Unix seconds). */
  readonly get: (key: string) => { readonly value: V; readonly at: number } | undefined;
  readonly set: (key: string, value: V) => void;
};

/** A memory of at most `entriesMax` entries, each for `keptS` seconds of the clock given. */
export function keepPrices<V>(entriesMax: number, keptS: number, now: () => number): KeptPrices<V> {
  const entries = new Map<string, { readonly value: V; readonly at: number }>();
  return {
    get: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (now() < entry.at + keptS) return entry;
      entries.delete(key);
      return undefined;
    },
    set: (key, value) => {
      entries.delete(key);
      entries.set(key, { value, at: now() });
      if (entries.size <= entriesMax) return;
      for (const oldest of entries.keys()) {
        entries.delete(oldest);
        return;
      }
    },
  };
}
