// What the simulated Hyperliquid knows: the traders of the world, and the markets they trade in.

import { settlementsIn, type VenueBook } from './hyperliquid-api.ts';
import { WORLD_SEED } from './listed-parties.ts';
import { type SimulatedMarkets, simulateMarkets } from './markets.ts';
import {
  isWorldCoin,
  WORLD_COINS,
  WORLD_WEEKS,
  worldCandles,
  worldFills,
  worldFunding,
  worldFundingRate,
  worldPrice,
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
    instruments: () => [
      ...WORLD_COINS.map((coin) => ({
        coin,
        isDelisted: false,
        rate: worldFundingRate(coin, Math.floor(nowMs() / HOUR_MS)),
        open_interest: OPEN_USD / worldPrice(coin, nowMs()),
        price: worldPrice(coin, nowMs()),
      })),
      { coin: 'MATIC', isDelisted: true, rate: 0, open_interest: 0, price: 0.37621 },
    ],
  };
}

const OPEN_USD = 400_000_000;
const WEEK_HOURS = 168;
const WEEKS_AHEAD = 2;
/** How far funding of the other venues leans against the day that follows. */
const REVERSION = 0.5;
let held: SimulatedMarkets | null = null;

/** The other venues' markets of the world around a time, at the prices of its traders. */
export function worldMarkets(now: number): SimulatedMarkets {
  const week = Math.floor(now / (WEEK_HOURS * HOUR_MS)) - WORLD_WEEKS;
  const from = week * WEEK_HOURS * HOUR_MS;
  if (held !== null && held.plan.from === from) return held;
  held = simulateMarkets({
    seed: WORLD_SEED,
    assets: WORLD_COINS,
    from,
    hours: (WORLD_WEEKS + WEEKS_AHEAD) * WEEK_HOURS,
    reversion: REVERSION,
    priceOf: (asset, at) => (isWorldCoin(asset) ? worldPrice(asset, at) : Number.NaN),
    revises: { venue: 'bybit', oneOf: 50 },
    delists: null,
    silent: null,
  });
  return held;
}
