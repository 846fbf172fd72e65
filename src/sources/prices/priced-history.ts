// With whom did these addresses exchange transfers, and what were these worth?
// A history whose transfers get their value and whether their token has a market, where a price
// source that was read says so. Where it is silent both stay unknown, and the history is the same.

import { formatUnits, multiplyDecimals } from '../../chain/amount.ts';
import { CHAINS } from '../../chain/chain.ts';
import { map, type Partly, seen } from '../../evidence/reading.ts';
import type { Coin, Price, PriceAsk, Prices } from '../../ports/history/prices.ts';
import type {
  HistoryTransfer,
  Neighbourhood,
  RawHistory,
  RawHistoryPort,
} from '../../ports/history/transfer-history.ts';

/** The most transfers that are priced, and tokens that are looked up, for one batch. */
const PRICED_MAX = 1_000;
const MARKETS_MAX = 500;

type Reading = Partly<Neighbourhood, RawHistoryPort>;

/** The same history, priced as far as the source tells. */
export function pricedHistory(history: RawHistory, prices: Prices): RawHistory {
  return {
    chainsRead: history.chainsRead,
    neighbourhoods: async (addresses, limits) => {
      const readings = await history.neighbourhoods(addresses, limits);
      const transfers = [...readings.values()].flatMap(transfersIn);
      const known = await knownOf(prices, transfers, limits.signal);
      const filled = (one: HistoryTransfer): HistoryTransfer => ({
        ...one,
        ...(one.usd === null ? worthOf(one, known) : {}),
        has_market: one.has_market === null ? marketOf(one, known) : one.has_market,
      });
      return new Map([...readings].map(([address, one]) => [address, withTransfers(one, filled)]));
    },
  };
}

/**
 * The same history, priced where a question asks for values. A walk asks for none: it would price
 * thousands of transfers of which it shows two.
 */
export function valuedHistory(history: RawHistory, prices: Prices): RawHistory {
  const priced = pricedHistory(history, prices);
  return {
    chainsRead: history.chainsRead,
    neighbourhoods: (addresses, limits) =>
      (limits.valued === true ? priced : history).neighbourhoods(addresses, limits),
  };
}

type Known = {
  readonly prices: ReadonlyMap<string, Price>;
  readonly markets: ReadonlyMap<string, boolean>;
};

function transfersIn(reading: Reading): readonly HistoryTransfer[] {
  const all = seen(
    map(reading, ({ counterparties }) => counterparties.flatMap(({ transfers }) => transfers)),
  );
  return all === null ? NONE : all;
}

const NONE: readonly HistoryTransfer[] = Object.freeze([]);

function withTransfers(
  reading: Reading,
  filled: (one: HistoryTransfer) => HistoryTransfer,
): Reading {
  return map(reading, (known) => ({
    ...known,
    counterparties: known.counterparties.map((other) => ({
      ...other,
      transfers: other.transfers.map(filled),
    })),
  }));
}

async function knownOf(
  prices: Prices,
  transfers: readonly HistoryTransfer[],
  signal: AbortSignal,
): Promise<Known> {
  const unpriced = transfers.filter((one) => one.usd === null && decimalsOf(one) !== null);
  const asks = distinct(unpriced, priceKey).slice(0, PRICED_MAX);
  const tokens = transfers.filter((one) => one.has_market === null && one.token !== null);
  const coins = distinct(tokens, coinKey).slice(0, MARKETS_MAX);
  const [priced, markets] = await Promise.all([
    asks.length === 0 ? null : prices.historical(asks.map(askOf), signal),
    coins.length === 0 ? null : prices.markets(coins.map(coinOf), signal),
  ]);
  const found = new Map<string, Price>();
  for (const { ask, price } of rowsOf(priced)) {
    if (price !== null) found.set(priceKey(ask), price);
  }
  const rows = rowsOf(markets).map(({ coin, has_market }) => [coinKey(coin), has_market] as const);
  return { prices: found, markets: new Map(rows) };
}

/** What a price source told; a silent one told nothing. */
function rowsOf<T>(reading: Partly<readonly T[], 'prices'> | null): readonly T[] {
  const rows = reading === null ? null : seen(reading);
  return rows === null ? NOTHING_TOLD : rows;
}

const NOTHING_TOLD: readonly never[] = Object.freeze([]);

function distinct<T>(list: readonly T[], keyOf: (one: T) => string): T[] {
  return [...new Map(list.map((one) => [keyOf(one), one])).values()];
}

function coinOf({ chain, token }: Coin): Coin {
  return { chain, token };
}

function askOf({ chain, token, at }: PriceAsk): PriceAsk {
  return { chain, token, at };
}

function coinKey({ chain, token }: Coin): string {
  return `${chain} ${token}`;
}

function priceKey(ask: PriceAsk): string {
  return `${coinKey(ask)} ${ask.at}`;
}

function decimalsOf({ chain, token, decimals }: HistoryTransfer): number | null {
  return token === null ? CHAINS[chain].native.decimals : decimals;
}

function worthOf(
  transfer: HistoryTransfer,
  { prices }: Known,
): Pick<HistoryTransfer, 'usd' | 'price_basis'> {
  const price = prices.get(priceKey(transfer));
  const decimals = decimalsOf(transfer);
  if (price === undefined || decimals === null) return { usd: null };
  const usd = multiplyDecimals(formatUnits(transfer.raw_amount, decimals), price.usd);
  return { usd, price_basis: price.basis };
}

function marketOf(transfer: HistoryTransfer, { markets }: Known): boolean | null {
  const known = transfer.token === null ? undefined : markets.get(coinKey(transfer));
  return known === undefined ? null : known;
}
