// What a simulated venue of derivatives knows up to a time: its instruments and their series.

import {
  CANDLE_MS,
  type Candle,
  type FundingPoint,
  type Liquidation,
  type MarketVenue,
  type OpenInterest,
  type SeriesKind,
} from '../ports/series.ts';
import type { SimulatedMarkets } from './markets.ts';

/** An instrument of now. One that was taken off keeps its last price. */
export type BookInstrument = {
  readonly asset: string;
  readonly state: 'trading' | 'delisted';
  readonly price: string;
  /** The rate at which its next funding stands. */
  readonly rate: string;
};

/** A venue's book. Spans hold their begin and not their end; nothing is after now. */
export type DerivativesBook = {
  readonly instruments: () => readonly BookInstrument[];
  readonly candles: (asset: string, from: number, to: number) => readonly Candle[];
  readonly settlements: (asset: string, from: number, to: number) => readonly FundingPoint[];
  readonly interest: (asset: string, from: number, to: number) => readonly OpenInterest[];
  /** Of every asset, in the order of time. */
  readonly liquidations: (
    from: number,
    to: number,
  ) => readonly (Liquidation & { readonly asset: string })[];
};

const BACK_MS = 400 * 24 * CANDLE_MS;
const PRICE_DIGITS = 7;

/** The book of a venue of simulated markets, up to the time of the world in milliseconds. */
export function derivativesBook(
  marketsAt: (now: number) => SimulatedMarkets,
  venue: Exclude<MarketVenue, 'hyperliquid'>,
  nowMs: () => number,
): DerivativesBook {
  /** The words of a span as the venue has them now: its corrections from when they are due. */
  const wordsOf = <S extends SeriesKind>(series: S, of: string, from: number, to: number) => {
    const now = nowMs();
    const span = { from: Math.max(from, now - BACK_MS), to: Math.min(to, now + 1) };
    return marketsAt(now)
      .rows({ venue, series, of }, span)
      .filter(({ revision, received_at }) => revision === 0 || received_at <= now);
  };
  const byTime = <S extends SeriesKind>(series: S, of: string, from: number, to: number) => [
    ...new Map(wordsOf(series, of, from, to).map((row) => [row.at, row])).values(),
  ];
  const instrument = (asset: string): BookInstrument => {
    const now = nowMs();
    const { delists } = marketsAt(now).plan;
    const isOff = delists !== null && delists.asset === asset && now >= delists.at;
    if (isOff) {
      const [last] = byTime('listings', asset, delists.at, delists.at + 1);
      return { asset, state: 'delisted', price: String(last?.price), rate: '0.0' };
    }
    const hour = Math.floor(now / CANDLE_MS) * CANDLE_MS;
    const [settled] = byTime('funding', asset, now - DAY_MS, now).slice(-1);
    const [candle] = byTime('candles', asset, hour, hour + 1);
    if (candle === undefined || settled === undefined) throw new RangeError('outside of the plan');
    const share = (now - hour) / CANDLE_MS;
    const price = Number(candle.open) + (Number(candle.close) - Number(candle.open)) * share;
    return {
      asset,
      state: 'trading',
      price: String(Number(price.toPrecision(PRICE_DIGITS))),
      rate: settled.rate,
    };
  };
  const assets = () => marketsAt(nowMs()).plan.assets;
  return {
    instruments: () => assets().map(instrument),
    candles: (asset, from, to) => byTime('candles', asset, from, to),
    settlements: (asset, from, to) => byTime('funding', asset, from, to),
    interest: (asset, from, to) => byTime('open_interest', asset, from, to),
    liquidations: (from, to) =>
      assets()
        .flatMap((asset) =>
          wordsOf('liquidations', asset, from, to).map((row) => ({ ...row, asset })),
        )
        .sort((a, b) => a.at - b.at),
  };
}

const DAY_MS = 24 * CANDLE_MS;
