// Open positions of an account by the hour, marked to candles: inside an hour from the open of the
// candle over each fill's own price to its close. An hour without its candle is unread, never flat.

import { collect, tally } from '../../evidence/measure.ts';
import { CANDLE_MS, type Candle, type Fill } from '../../ports/series.ts';
import { signedSize } from './trades.ts';

/** An hour in which a position was open. `pnl` in dollars; `null` where a candle is missing. */
export type ExposedHour = {
  /** The hour's beginning, in ms. */
  readonly at: number;
  /** The part of the hour in which any position was open, over 0 and at most 1. */
  readonly open: number;
  readonly pnl: number | null;
};

/** The candles of a token, by the beginning of their hour. */
export type CandlesAt = ReadonlyMap<number, Pick<Candle, 'open' | 'close'>>;

/** A position smaller than this part of the largest fill is a rounding, and flat. */
const FLAT = 1e-9;

/** The beginning of the hour that a time lies in. */
export function hourOf(at: number): number {
  return Math.floor(at / CANDLE_MS) * CANDLE_MS;
}

/** A stretch of one token in one hour with the same position. */
type Stretch = { readonly from: number; readonly to: number };

/**
 * The hours from the first fill up to `to` in which a position was open. Positions change by the
 * sizes of fills, from the one that the venue told before the first fill of a token.
 */
export function exposedHours(
  fills: readonly Fill[],
  candles: ReadonlyMap<string, CandlesAt>,
  to: number,
): readonly ExposedHour[] {
  const byCoin = new Map<string, Fill[]>();
  for (const fill of fills) collect(byCoin, fill.coin, fill);
  const stretches = new Map<number, Stretch[]>();
  const profits = new Map<number, number>();
  const unread = new Set<number>();
  for (const [coin, own] of byCoin) {
    const marked = candles.get(coin);
    walkPositions(own, to, (hour, steps) => {
      for (const { from, to: end, position } of steps) {
        if (position !== 0 && end > from) collect(stretches, hour, { from, to: end });
      }
      if (steps.every(({ position }) => position === 0)) return;
      const candle = marked?.get(hour);
      if (candle === undefined) unread.add(hour);
      else tally(profits, hour, profitOf(steps, candle));
    });
  }
  return [...stretches]
    .sort(([a], [b]) => a - b)
    .map(([at, open]) => ({
      at,
      open: lengthOf(open) / CANDLE_MS,
      pnl: unread.has(at) ? null : Number(profits.get(at)),
    }));
}

/** A part of an hour: `px` is the price of the fill that ended it, `null` at the hour's end. */
type Step = Stretch & { readonly position: number; readonly px: number | null };

/** Tells each hour of a token with what was held in it; hours without any position are left out. */
function walkPositions(
  fills: readonly Fill[],
  to: number,
  tell: (hour: number, steps: readonly Step[]) => void,
): void {
  const [first] = fills;
  if (first === undefined) return;
  const largest = fills.reduce((most, { sz }) => Math.max(most, Number(sz)), 0);
  let position = Number(first.start_position);
  let at = first.at;
  let next = 0;
  for (let hour = hourOf(first.at); hour < to; hour += CANDLE_MS) {
    const end = Math.min(hour + CANDLE_MS, to);
    const steps: Step[] = [];
    for (let fill = fills[next]; fill !== undefined && fill.at < end; fill = fills[next]) {
      steps.push({ from: at, to: fill.at, position, px: Number(fill.px) });
      const after = position + signedSize(fill);
      position = Math.abs(after) < largest * FLAT ? 0 : after;
      at = fill.at;
      next += 1;
    }
    if (steps.length > 0 || position !== 0) {
      steps.push({ from: at, to: end, position, px: null });
      tell(hour, steps);
    }
    at = end;
    if (position === 0 && next >= fills.length) return;
  }
}

/** What the positions of an hour gained: from its open over each fill's price to its close. */
function profitOf(steps: readonly Step[], { open, close }: Pick<Candle, 'open' | 'close'>): number {
  let [price, profit] = [Number(open), 0];
  for (const { position, px } of steps) {
    const end = px === null ? Number(close) : px;
    profit += position * (end - price);
    price = end;
  }
  return profit;
}

/** How long any of some stretches lasts, those that overlap counted once. */
function lengthOf(stretches: readonly Stretch[]): number {
  let [length, reached] = [0, Number.NEGATIVE_INFINITY];
  for (const { from, to } of [...stretches].sort((a, b) => a.from - b.from)) {
    length += Math.max(0, to - Math.max(from, reached));
    reached = Math.max(reached, to);
  }
  return length;
}
