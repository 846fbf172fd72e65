// Forty simulated traders of whom the truth is known, and the markets that they trade in. Each week
// is made of its own seed, so that the past never changes while the clock moves on.

import { createHash } from 'node:crypto';
import { WORLD_SEED } from './listed-parties.ts';
import { inventAddress } from './made-up-address.ts';
import {
  bendMarket,
  fillsOf,
  HOUR_MS,
  isWeekend,
  NO_SKILL,
  type NoiseKind,
  normalsFrom,
  priceAt,
  type SimulatedFill,
  type SimulatedMarket,
  type Skill,
  simulateMarket,
  simulateTrades,
  USUAL_BUSY_TIMES,
} from './trading.ts';

const WEEK_MS = 7 * 24 * HOUR_MS;
const WEEK_HOURS = 168;
/** Fills and candles reach back so many whole weeks. */
export const WORLD_WEEKS = 12;

/** What the traders of the world are, and how many of each there are. */
const KINDS = {
  no_style: 10,
  one_session: 6,
  weekends: 4,
  one_hour: 4,
  loses_by_night: 3,
  sleeps: 3,
  always_in: 3,
  washes: 2,
  agent: 2,
  past_horizon: 2,
  vault: 1,
} as const;
export type TraderKind = keyof typeof KINDS;
export const TRADER_KINDS = Object.keys(KINDS) as readonly TraderKind[];

/** A simulated trader, and the styles that are true of it: those that an analysis may find. */
export type WorldTrader = {
  readonly address: string;
  readonly kind: TraderKind;
  readonly n: number;
  readonly coin: WorldCoin;
  readonly styles: readonly string[];
};

/** The simulated tokens with their usual price. */
const COINS = { BTC: 60_000, ETH: 3_000, SOL: 150 } as const;
export type WorldCoin = keyof typeof COINS;
export const WORLD_COINS = Object.keys(COINS) as readonly WorldCoin[];
const SESSIONS = ['asia', 'europe', 'us'] as const;
const HOUR_OF_STYLE = 14;

/** The traders, the same on every machine. */
export const WORLD_TRADERS: readonly WorldTrader[] = TRADER_KINDS.flatMap((kind) =>
  Array.from({ length: KINDS[kind] }, (_, n) => ({
    address: inventAddress(WORLD_SEED, 'evm', `trader ${kind} ${n}`),
    kind,
    n,
    coin: WORLD_COINS[n % WORLD_COINS.length] as WorldCoin,
    styles: stylesOf(kind, n),
  })),
);
const BY_ADDRESS = new Map(WORLD_TRADERS.map((trader) => [trader.address, trader]));

/** The trader at an address in lower case; `null`: no trader of the world. */
export function worldTrader(address: string): WorldTrader | null {
  const found = BY_ADDRESS.get(address);
  return found === undefined ? null : found;
}

function stylesOf(kind: TraderKind, n: number): readonly string[] {
  if (kind === 'one_session') return [`${SESSIONS[n % SESSIONS.length]}_session`];
  if (kind === 'weekends') return ['weekend'];
  // The session around the hour is better than the others by that hour alone.
  return kind === 'one_hour' ? [`hour_${HOUR_OF_STYLE}`, 'europe_session'] : [];
}

/** The role of an address, as the venue tells it, and whom an agent signs for. */
export function worldRole(
  address: string,
):
  | { readonly role: 'missing' | 'user' | 'vault' }
  | { readonly role: 'agent'; readonly of: string } {
  const trader = worldTrader(address);
  if (trader === null) return { role: 'missing' };
  if (trader.kind === 'vault') return { role: 'vault' };
  if (trader.kind !== 'agent') return { role: 'user' };
  const of = WORLD_TRADERS.find(({ kind, n }) => kind === 'no_style' && n === trader.n);
  return of === undefined ? { role: 'missing' } : { role: 'agent', of: of.address };
}

type Rhythm = {
  readonly noise: NoiseKind;
  readonly trades_a_week: number;
  readonly skill: Skill;
};

const hourOfDay = (at: number) => Math.floor(at / HOUR_MS) % 24;
const rightWhile = (holds: (at: number) => boolean, inside: number, outside: number): Skill => ({
  right: (closes) => (holds(closes) ? inside : outside),
  gains: () => 1,
});
const NOISES = ['independent', 'clustered', 'heavy_tailed'] as const;

function rhythmOf({ kind, n }: WorldTrader): Rhythm {
  const noise = NOISES[n % NOISES.length] as NoiseKind;
  const usual = { noise, trades_a_week: 30, skill: NO_SKILL };
  switch (kind) {
    case 'one_session':
      return {
        ...usual,
        skill: rightWhile((at) => Math.floor(hourOfDay(at) / 8) === n % SESSIONS.length, 0.85, 0.4),
      };
    case 'weekends':
      // Markets move less at the weekend, so that gains there are smaller.
      return { ...usual, skill: rightWhile(isWeekend, 0.9, 0.3) };
    case 'one_hour':
      return {
        noise: 'independent',
        trades_a_week: 84,
        skill: rightWhile((at) => hourOfDay(at) === HOUR_OF_STYLE, 1, 0.4),
      };
    case 'loses_by_night':
      return { ...usual, skill: rightWhile((at) => hourOfDay(at) < 8, 0.25, 0.5) };
    case 'sleeps':
      return { ...usual, noise: 'asleep' };
    case 'always_in':
      return { ...usual, noise: 'always_in' };
    case 'past_horizon':
      return { ...usual, noise: 'always_in', trades_a_week: 480 };
    default:
      return usual;
  }
}

function seedOf(...parts: readonly (string | number)[]): number {
  return createHash('sha256').update(parts.join('\n')).digest().readUInt32BE(0);
}

const MARKETS = new Map<string, SimulatedMarket>();
const MARKETS_MAX = 256;

/** The market of a token in a week: it begins where the one before ends. */
function weekMarket(coin: WorldCoin, week: number): SimulatedMarket {
  const key = `${coin} ${week}`;
  const known = MARKETS.get(key);
  if (known !== undefined) return known;
  const level = (of: number) =>
    COINS[coin] * Math.exp(0.1 * normalsFrom(seedOf(WORLD_SEED, 'level', coin, of))());
  const walk = simulateMarket(
    seedOf(WORLD_SEED, 'market', coin, week),
    { from: week * WEEK_MS, hours: WEEK_HOURS },
    level(week),
    USUAL_BUSY_TIMES,
  );
  const made = bendMarket(walk, level(week + 1));
  if (MARKETS.size >= MARKETS_MAX) MARKETS.clear();
  MARKETS.set(key, made);
  return made;
}

/** Whether the world has a token of that name. */
export function isWorldCoin(coin: string): coin is WorldCoin {
  return Object.hasOwn(COINS, coin);
}

/** An hour of a token: from its open to its close it moves on a straight line. */
export type WorldCandle = { readonly at: number; readonly open: number; readonly close: number };

/** The candles of a token whose hour begins from `from` on and is over at `to`. */
export function worldCandles(coin: WorldCoin, from: number, to: number): readonly WorldCandle[] {
  const made: WorldCandle[] = [];
  for (let at = Math.ceil(from / HOUR_MS) * HOUR_MS; at + HOUR_MS <= to; at += HOUR_MS) {
    const market = weekMarket(coin, Math.floor(at / WEEK_MS));
    const hour = (at - market.from) / HOUR_MS;
    made.push({ at, open: Number(market.opens[hour]), close: Number(market.opens[hour + 1]) });
  }
  return made;
}

/** The price of a token at a time. */
export function worldPrice(coin: WorldCoin, at: number): number {
  return priceAt(weekMarket(coin, Math.floor(at / WEEK_MS)), at);
}

const IDS_A_WEEK = 100_000;
const WASHES_A_WEEK = 420;
const WEEKS = new Map<string, readonly SimulatedFill[]>();

/** The fills of a trader up to a time in ms, oldest first, from `WORLD_WEEKS` whole weeks back. */
export function worldFills(trader: WorldTrader, now: number): readonly SimulatedFill[] {
  // A wallet that only signs has no fills of its own.
  if (trader.kind === 'agent') return [];
  const last = Math.floor(now / WEEK_MS);
  const weeks = Array.from({ length: WORLD_WEEKS + 1 }, (_, at) => last - WORLD_WEEKS + at);
  return weeks.flatMap((week) => weekFills(trader, week)).filter(({ at }) => at <= now);
}

function weekFills(trader: WorldTrader, week: number): readonly SimulatedFill[] {
  const key = `${trader.address} ${week}`;
  const known = WEEKS.get(key);
  if (known !== undefined) return known;
  const made = trader.kind === 'washes' ? washWeek(trader, week) : tradeWeek(trader, week);
  if (WEEKS.size >= 40 * (WORLD_WEEKS + 2)) WEEKS.clear();
  WEEKS.set(key, made);
  return made;
}

function tradeWeek(trader: WorldTrader, week: number): readonly SimulatedFill[] {
  const market = weekMarket(trader.coin, week);
  const { noise, trades_a_week, skill } = rhythmOf(trader);
  const trades = simulateTrades(seedOf(WORLD_SEED, trader.address, week), market, {
    noise,
    trades: trades_a_week,
    days: 7,
    sleeps_from: (20 + trader.n) % 24,
    until: market.from + WEEK_MS - 1,
    skill,
  });
  const unit = 1_000 / COINS[trader.coin];
  const sized = trades.map((trade) => ({ ...trade, size: trade.size * unit }));
  return fillsOf(sized, market, trader.coin, week * IDS_A_WEEK);
}

/** Both sides of every trade are the account's own. */
function washWeek(trader: WorldTrader, week: number): readonly SimulatedFill[] {
  const market = weekMarket(trader.coin, week);
  return Array.from({ length: WASHES_A_WEEK }, (_, n) => {
    const at = market.from + Math.floor(((n + 0.5) * WEEK_MS) / WASHES_A_WEEK);
    const id = week * IDS_A_WEEK + 2 * n;
    const side = { at, coin: trader.coin, px: priceAt(market, at), sz: 1, tid: id };
    const own = { ...side, start_position: 0, closed_pnl: 0 };
    return [
      { ...own, side: 'buy' as const, oid: id },
      { ...own, side: 'sell' as const, oid: id + 1 },
    ];
  }).flat();
}

/** A settlement of funding of an account: `usdc` is what it received. */
export type WorldFunding = {
  readonly at: number;
  readonly coin: string;
  readonly szi: number;
  readonly rate: number;
  readonly usdc: number;
};

/** The rate of funding of a token for one hour. */
export function worldFundingRate(coin: string, hour: number): number {
  return (seedOf(WORLD_SEED, 'funding', coin, hour) / 2 ** 32 - 0.4) * 5e-5;
}

/** What a trader received and paid each hour that began with an open position, up to a time. */
export function worldFunding(trader: WorldTrader, now: number): readonly WorldFunding[] {
  const fills = worldFills(trader, now);
  const settled: WorldFunding[] = [];
  for (const [at, fill] of fills.entries()) {
    const szi = fill.start_position + (fill.side === 'buy' ? fill.sz : -fill.sz);
    const next = fills[at + 1];
    const until = next === undefined ? now : next.at;
    if (Math.abs(szi) < fill.sz / 1e6) continue;
    for (let hour = Math.floor(fill.at / HOUR_MS) + 1; hour * HOUR_MS <= until; hour += 1) {
      const rate = worldFundingRate(fill.coin, hour);
      const price = worldPrice(fill.coin as WorldCoin, hour * HOUR_MS);
      const usdc = -szi * rate * price;
      settled.push({ at: hour * HOUR_MS, coin: fill.coin, szi, rate, usdc });
    }
  }
  return settled;
}
