// The trades of an account, made of its fills. A trade is a closing order: its partial fills are
// one. Trades with oneself, spot and tokens without candles are left out, each counted.

import { addDecimals } from '../../chain/amount.ts';
import { collect, tally } from '../../evidence/measure.ts';
import type { AccountFunding, Fill } from '../../ports/series.ts';

/** Amounts of a trade are integers of a millionth of a dollar: sums of them are exact. */
export const MICRO = 1_000_000;

/** A closing order. `at`: its last closing fill, in ms; `pnl`: before fees, in micro dollars. */
export type Trade = {
  readonly oid: number;
  readonly coin: string;
  readonly at: number;
  readonly fills: number;
  readonly pnl: number;
};

/** The fills of an account, sorted out. */
export type SortedFills = {
  /** In the order of their time. */
  readonly trades: readonly Trade[];
  /** Fills of perpetuals that stand for a change of position, in the order of their time. */
  readonly perps: readonly Fill[];
  /** Pairs: both sides of one trade by the account itself. */
  readonly self_trades: number;
  readonly spot_left_out: number;
  readonly without_candles_left_out: number;
  /** `closed_pnl` of every fill of a perpetual, those of self-trades and left-out tokens too. */
  readonly closed_pnl_usd: string;
  /** What of it self-trades and left-out tokens closed. */
  readonly left_out_pnl_usd: string;
  /** Fees in dollars of all those fills; a rebate is negative. */
  readonly fees_usd: string;
  /** Fills whose fee was taken in another token. */
  readonly fees_in_tokens: number;
};

/** Spot pairs are `@n` or `A/B`; `#n` are markets of outcomes. */
export function isSpot(coin: string): boolean {
  return /^[@#]|\//.test(coin);
}

/** The tokens of perpetuals among some fills, those traded most first. */
export function perpetualsOf(fills: readonly Pick<Fill, 'coin'>[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { coin } of fills) if (!isSpot(coin)) tally(counts, coin);
  return [...counts]
    .sort(([one, n], [other, m]) => m - n || (one < other ? -1 : 1))
    .map(([coin]) => coin);
}

/** The dollars of Hyperliquid. Fills of 2023 name no token: all fees were taken in dollars then. */
const IN_DOLLARS = new Set([null, 'USDC']);

/** Sorts fills out. `withoutCandles`: tokens whose candles were not read. */
export function sortFills(
  fills: readonly Fill[],
  withoutCandles: ReadonlySet<string>,
): SortedFills {
  const inTime = [...fills].sort(byTime);
  const derivatives = inTime.filter(({ coin }) => !isSpot(coin));
  const own = selfTrades(derivatives);
  const kept = derivatives.filter((fill) => !own.has(fill) && !withoutCandles.has(fill.coin));
  const rest = derivatives.filter((fill) => own.has(fill) || withoutCandles.has(fill.coin));
  const inDollars = derivatives.filter(({ fee_token }) => IN_DOLLARS.has(fee_token));
  return {
    trades: tradesOf(kept),
    perps: kept,
    self_trades: own.size / 2,
    spot_left_out: inTime.length - derivatives.length,
    without_candles_left_out: derivatives.filter(
      (fill) => !own.has(fill) && withoutCandles.has(fill.coin),
    ).length,
    closed_pnl_usd: sumDecimals(derivatives.map(({ closed_pnl }) => closed_pnl)),
    left_out_pnl_usd: sumDecimals(rest.map(({ closed_pnl }) => closed_pnl)),
    fees_usd: sumDecimals(inDollars.map(({ fee }) => fee)),
    fees_in_tokens: derivatives.length - inDollars.length,
  };
}

/** The exact sum of decimal texts. */
export function sumDecimals(amounts: readonly string[]): string {
  return amounts.reduce((sum, one) => addDecimals(sum, one), '0');
}

/** The funding that an account received, less what it paid, as the venue booked it. */
export function fundingReceived(rows: readonly Pick<AccountFunding, 'usdc'>[]): string {
  return sumDecimals(rows.map(({ usdc }) => usdc));
}

/** What a fill adds to the position. */
export function signedSize({ side, sz }: Pick<Fill, 'side' | 'sz'>): number {
  return side === 'buy' ? Number(sz) : -Number(sz);
}

/** Whether a fill takes from the position that the venue told before it. */
export function isClosing(fill: Pick<Fill, 'side' | 'sz' | 'start_position'>): boolean {
  return Number(fill.start_position) * signedSize(fill) < 0;
}

function byTime(a: Fill, b: Fill): number {
  if (a.at !== b.at) return a.at - b.at;
  return a.tid === null || b.tid === null ? 0 : a.tid - b.tid;
}

/**
 * Both sides of trades with oneself. They share a tid; fills of 2023 have none, and share hash,
 * time, token, price and size.
 */
function selfTrades(fills: readonly Fill[]): ReadonlySet<Fill> {
  const alike = new Map<string, Fill[]>();
  for (const fill of fills) {
    const { at, coin, tid, hash, px, sz } = fill;
    const key = tid === null ? `${at} ${coin} ${hash} ${px} ${sz}` : `${at} ${coin} ${tid}`;
    collect(alike, key, fill);
  }
  const own = new Set<Fill>();
  for (const group of alike.values()) {
    const buys = group.filter(({ side }) => side === 'buy');
    const sells = group.filter(({ side }) => side === 'sell');
    for (const [at, buy] of buys.entries()) {
      const sell = sells[at];
      if (sell === undefined) break;
      own.add(buy);
      own.add(sell);
    }
  }
  return own;
}

function tradesOf(fills: readonly Fill[]): readonly Trade[] {
  const counts = new Map<string, number>();
  const trades = new Map<string, Trade>();
  for (const fill of fills) {
    if (!isClosing(fill)) continue;
    const key = `${fill.coin} ${fill.oid}`;
    tally(counts, key);
    const before = trades.get(key);
    const pnl = Math.round(Number(fill.closed_pnl) * MICRO);
    trades.set(key, {
      oid: fill.oid,
      coin: fill.coin,
      at: fill.at,
      fills: Number(counts.get(key)),
      pnl: before === undefined ? pnl : before.pnl + pnl,
    });
  }
  return [...trades.values()].sort((a, b) => a.at - b.at || a.oid - b.oid);
}
