// What the simulated Hyperliquid knows: the traders of the world, and the markets they trade in.

import { settlementsIn, type VenueBook } from './hyperliquid-api.ts';
import {
  isWorldCoin,
  worldCandles,
  worldFills,
  worldFunding,
  worldFundingRate,
  worldRole,
  worldTrader,
} from './traders.ts';
import { HOUR_MS } from './trading.ts';

/** The book of the world up to a time in milliseconds. */
export function worldVenueBook(nowMs: () => number): VenueBook {
  return {
    roleOf: worldRole,
    fillsOf: (account) => {
      const trader = worldTrader(account);
      return trader === null ? [] : worldFills(trader, nowMs());
    },
    fundingOf: (account) => {
      const trader = worldTrader(account);
      return trader === null ? [] : worldFunding(trader, nowMs());
    },
    // A candle whose hour begins before the end of the span may end after it.
    candlesOf: (coin, from, to) =>
      isWorldCoin(coin) ? worldCandles(coin, from, to - 1 + HOUR_MS) : [],
    settlementsOf: (coin, from, to) =>
      isWorldCoin(coin) ? settlementsIn(from, to, (hour) => worldFundingRate(coin, hour)) : [],
  };
}
