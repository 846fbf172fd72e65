// Simulated markets, and traders of whom it is known when they are right and when they are lucky.
// The same seed makes the same fills. Amounts are numbers here; the wire writes them as text.

import { sharesFrom } from '../evidence/random.ts';

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const THURSDAY = 4;

/** The prices of a token: `opens[n]` is that of `n` hours after `from`, and the close before. */
export type SimulatedMarket = { readonly from: number; readonly opens: Float64Array };

/** How much a market moves: less at the weekend, as real ones do. */
const HOURLY_MOVE = 0.006;
const BUSY = { from: 12, to: 20 } as const;
const WEEKEND_TIMES = 0.65;
/** How much more a usual market moves in its busy hours. */
export const USUAL_BUSY_TIMES = 1.4;

/** Makes a market from the beginning of an hour on; it moves so much more in its busy hours. */
export function simulateMarket(
  seed: number,
  span: { readonly from: number; readonly hours: number },
  price: number,
  busyTimes: number,
): SimulatedMarket {
  const { from, hours } = span;
  const normal = normalsFrom(seed);
  const opens = new Float64Array(hours + 1);
  opens[0] = price;
  for (let hour = 0; hour < hours; hour += 1) {
    const move = HOURLY_MOVE * movesAt(from + hour * HOUR_MS, busyTimes) * normal();
    opens[hour + 1] = Number(opens[hour]) * Math.exp(move);
  }
  return { from, opens };
}

function movesAt(at: number, busyTimes: number): number {
  const hour = Math.floor(at / HOUR_MS) % 24;
  const busy = hour >= BUSY.from && hour < BUSY.to ? busyTimes : 1;
  return isWeekend(at) ? busy * WEEKEND_TIMES : busy;
}

export function isWeekend(at: number): boolean {
  const weekday = (Math.floor(at / DAY_MS) + THURSDAY) % 7;
  return weekday === 0 || weekday === 6;
}

/** The price at a time: inside an hour it moves on a straight line. */
export function priceAt({ from, opens }: SimulatedMarket, at: number): number {
  const hours = (at - from) / HOUR_MS;
  const whole = Math.min(opens.length - 2, Math.max(0, Math.floor(hours)));
  const [open, close] = [Number(opens[whole]), Number(opens[whole + 1])];
  return open + (close - open) * Math.min(1, Math.max(0, hours - whole));
}

/** How the outcomes of trades hang together where there is no skill. */
export const NOISE_KINDS = [
  'independent',
  'clustered',
  'heavy_tailed',
  'asleep',
  'always_in',
] as const;
export type NoiseKind = (typeof NOISE_KINDS)[number];

/** How often a trade that closes at a time is right, and how much larger its gain is. */
export type Skill = {
  readonly right: (closes: number) => number;
  readonly gains: (closes: number) => number;
};
export const NO_SKILL: Skill = { right: () => 0.5, gains: () => 1 };

export type Habit = {
  readonly noise: NoiseKind;
  readonly trades: number;
  readonly days: number;
  /** The hour of day from which one who sleeps sleeps ten hours. */
  readonly sleeps_from: number;
  /** Nothing is open after it. */
  readonly until: number;
  readonly skill: Skill;
};

/** A trade: from a flat position to a flat one, or to the next trade. */
export type SimulatedTrade = {
  readonly opens: number;
  readonly closes: number;
  readonly size: number;
  readonly direction: 1 | -1;
};

const HALF_LIFE_MS = 6 * HOUR_MS;
const SLEEP_H = 10;
const HELD_MIN_MS = 0.2 * HOUR_MS;
const HELD_MAX_MS = 2.5 * HOUR_MS;
/** Sizes of heavy tails: Pareto's, whose variance is infinite. */
const TAIL = 1.8;
const SIZE_MOST = 1_000;

/** The trades of a habit in a market, one after the other. */
export function simulateTrades(
  seed: number,
  market: SimulatedMarket,
  { noise, trades, days, sleeps_from, until, skill }: Habit,
): readonly SimulatedTrade[] {
  const draw = sharesFrom(seed);
  const span = days * DAY_MS;
  const made: SimulatedTrade[] = [];
  const each = span / trades;
  const idle = Math.max(0, each - (HELD_MIN_MS + HELD_MAX_MS) / 2);
  let at = market.from + Math.floor(draw() * HOUR_MS);
  let luck = draw();
  for (let n = 0; n < trades; n += 1) {
    const isAlways = noise === 'always_in';
    const waits = isAlways ? 0 : exponential(draw) * idle * (noise === 'asleep' ? 14 / 24 : 1);
    const opens = noise === 'asleep' ? awake(at + waits, sleeps_from) : Math.floor(at + waits);
    const held = isAlways
      ? HELD_MIN_MS + exponential(draw) * (each - HELD_MIN_MS)
      : HELD_MIN_MS + draw() * (HELD_MAX_MS - HELD_MIN_MS);
    if (opens >= until) break;
    const closes = Math.min(until, Math.floor(opens + held));
    const kept = Math.exp((-Math.LN2 * (closes - at)) / HALF_LIFE_MS);
    if (noise !== 'clustered' || draw() > kept) luck = draw();
    const isRight = luck < skill.right(closes);
    const move = priceAt(market, closes) - priceAt(market, opens);
    const drawn = noise === 'heavy_tailed' ? Math.min(SIZE_MOST, draw() ** (-1 / TAIL)) : 1;
    const size = isRight ? drawn * skill.gains(closes) : drawn;
    const direction = move > 0 === isRight ? 1 : -1;
    made.push({ opens, closes, size, direction });
    at = closes;
  }
  return made;
}

/** The first time from `at` on at which one who sleeps ten hours from an hour of day is awake. */
function awake(at: number, sleepsFrom: number): number {
  const since = (at - sleepsFrom * HOUR_MS) % DAY_MS;
  const asleep = since < SLEEP_H * HOUR_MS;
  return Math.floor(asleep ? at - since + SLEEP_H * HOUR_MS + (since % HOUR_MS) : at);
}

function exponential(draw: () => number): number {
  return -Math.log(1 - draw());
}

/** The market from its beginning to its end bent so that it ends at a price. */
export function bendMarket({ from, opens }: SimulatedMarket, price: number): SimulatedMarket {
  const hours = opens.length - 1;
  const drift = Math.log(price / Number(opens[hours])) / hours;
  return { from, opens: opens.map((open, hour) => open * Math.exp(drift * hour)) };
}

/** Draws from the normal distribution (Box and Muller). */
export function normalsFrom(seed: number): () => number {
  const draw = sharesFrom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}

/** A fill before it is written in the form of a venue. */
export type SimulatedFill = {
  readonly at: number;
  readonly coin: string;
  readonly side: 'buy' | 'sell';
  readonly px: number;
  readonly sz: number;
  readonly start_position: number;
  readonly closed_pnl: number;
  readonly oid: number;
  readonly tid: number;
};

/** The fills of trades: each opens by one order and closes by another; ids count from `firstId`. */
export function fillsOf(
  trades: readonly SimulatedTrade[],
  market: SimulatedMarket,
  coin: string,
  firstId: number,
): readonly SimulatedFill[] {
  return trades.flatMap(({ opens, closes, size, direction }, n) => {
    const [entry, exit] = [priceAt(market, opens), priceAt(market, closes)];
    const own = { coin, sz: size };
    const [opening, closing] =
      direction === 1 ? (['buy', 'sell'] as const) : (['sell', 'buy'] as const);
    return [
      {
        ...own,
        at: opens,
        side: opening,
        px: entry,
        start_position: 0,
        closed_pnl: 0,
        oid: firstId + 2 * n,
        tid: firstId + 2 * n,
      },
      {
        ...own,
        at: closes,
        side: closing,
        px: exit,
        start_position: size * direction,
        closed_pnl: (exit - entry) * size * direction,
        oid: firstId + 2 * n + 1,
        tid: firstId + 2 * n + 1,
      },
    ];
  });
}
