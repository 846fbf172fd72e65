// Simulated services that call the simulated markets, of whom it is known how right they are. Each
// shows a list of its last hours, as such services do: one of them writes the list anew afterwards.

import { createHash } from 'node:crypto';
import { WORLD_SEED } from './listed-parties.ts';
import { WORLD_COINS, type WorldCoin, worldPrice } from './traders.ts';

/**
 * `seer` is right four times in five, `contrary` wrong as often. `lucky` was always right, of few.
 * `latecomer` says an hour later what it had said, `rewriter` guesses and corrects what it said
 * once it is known, and `silent` never says anything.
 */
export const MARKET_CALLERS = [
  'seer',
  'contrary',
  'lucky',
  'latecomer',
  'rewriter',
  'silent',
] as const;
export type MarketCaller = (typeof MARKET_CALLERS)[number];

/** A call as its service shows it, in the columns of an import. */
export type ListedCall = {
  readonly asset: WorldCoin;
  readonly direction: 'long' | 'short';
  readonly horizon_h: number;
  /** In ISO 8601. */
  readonly called_at: string;
  readonly probability?: string;
  readonly id: string;
};

const MS_PER_S = 1_000;
const HOUR_S = 3_600;
/** Calls are said so long after an hour. */
const SAID_AFTER_S = 600;
/** A list holds what was said in the last hours; what is older was taken off. */
const LISTED_FOR_H = 8;
export const CALLED_HORIZON_H = 4;
const LUCKY_EVERY_H = 24;
const WRONG_EVERY = 5;

/** The list of a service as it stands at a time in Unix seconds. */
export function listedCalls(caller: MarketCaller, now: number): readonly ListedCall[] {
  if (caller === 'silent') return [];
  const lateS = caller === 'latecomer' ? HOUR_S : 0;
  const newest = Math.floor((now - SAID_AFTER_S - lateS) / HOUR_S);
  const hours = Array.from({ length: LISTED_FOR_H }, (_, at) => newest - LISTED_FOR_H + 1 + at);
  return hours
    .filter((hour) => caller !== 'lucky' || hour % LUCKY_EVERY_H === 0)
    .map((hour) => callAt(caller, hour, now));
}

function callAt(caller: MarketCaller, hour: number, now: number): ListedCall {
  const asset = WORLD_COINS[hour % WORLD_COINS.length] as WorldCoin;
  const said_at = hour * HOUR_S + SAID_AFTER_S;
  const isRight = isCallRight(caller, hour, now >= said_at + (CALLED_HORIZON_H + 1) * HOUR_S);
  const hasProbability = caller === 'seer' || caller === 'contrary';
  return {
    asset,
    direction: willRise(asset, said_at) === isRight ? 'long' : 'short',
    horizon_h: CALLED_HORIZON_H,
    called_at: new Date(said_at * MS_PER_S).toISOString(),
    ...(hasProbability ? { probability: '0.8' } : {}),
    id: `${caller}-${hour}`,
  };
}

function isCallRight(caller: MarketCaller, hour: number, isKnown: boolean): boolean {
  const drawn = draw(caller, hour);
  if (caller === 'seer') return drawn % WRONG_EVERY !== 0;
  if (caller === 'contrary') return drawn % WRONG_EVERY === 0;
  if (caller === 'rewriter') return isKnown || drawn % 2 === 0;
  return true;
}

/** Whether an asset is higher at the end of the horizon of a call than at its entry. */
export function willRise(asset: WorldCoin, said_at: number): boolean {
  const entry = Math.ceil(said_at / HOUR_S) * HOUR_S;
  const exit = Math.ceil((said_at + CALLED_HORIZON_H * HOUR_S) / HOUR_S) * HOUR_S;
  return worldPrice(asset, exit * MS_PER_S) > worldPrice(asset, entry * MS_PER_S);
}

function draw(caller: MarketCaller, hour: number): number {
  const of = `${WORLD_SEED}\nmarket calls\n${caller}\n${hour}`;
  return createHash('sha256').update(of).digest().readUInt32BE(0);
}
