// What became of a launch, by what a venue lists of it?
// A death is said only where every pool of the token tells its liquidity, and all of them together
// hold less than a buyer could leave through.

import { present } from '../../evidence/measure.ts';
import type { LaunchOutcome } from '../../ports/launches/deployer-records.ts';
import type { ListedPool, TransfersObserved } from '../../ports/launches/deployer-walk.ts';

/** What became of a launch, with the figures that it follows from. Amounts in US dollars. */
export type Outcome = {
  readonly outcome: LaunchOutcome;
  readonly liquidity_usd: number | null;
  readonly volume_usd_24h: number | null;
};

/** What is known of a launch; `null` where it could not be read. */
export type Observed = {
  readonly pools: readonly ListedPool[] | null;
  readonly transfers: TransfersObserved | null;
};

const CENTS = 100;

/** The outcome of a launch. `exitLiquidityUsd` is the level below which a listed one has died. */
export function outcomeOf({ pools, transfers }: Observed, exitLiquidityUsd: number): Outcome {
  if (pools === null) return { outcome: 'unchecked', liquidity_usd: null, volume_usd_24h: null };
  const own = pools.filter(({ side }) => side === 'base');
  const held = sumOf(own.map((pool) => pool.liquidity_usd));
  const untouched = transfers !== null && transfers.count === 0;
  const said = decided(pools, held, exitLiquidityUsd);
  // Of a token that nobody ever moved there was nothing to sell.
  const outcome = said === 'died' && untouched ? 'never_listed' : said;
  if (outcome === 'never_listed') return { outcome, liquidity_usd: null, volume_usd_24h: null };
  const volume_usd_24h = cents(sumOf(own.map((pool) => pool.volume_usd_24h)));
  return { outcome, liquidity_usd: cents(held), volume_usd_24h };
}

function decided(
  pools: readonly ListedPool[],
  ownLiquidityUsd: number | null,
  exitLiquidityUsd: number,
): LaunchOutcome {
  if (pools.length === 0) return 'never_listed';
  if (ownLiquidityUsd !== null && ownLiquidityUsd >= exitLiquidityUsd) return 'live';
  if (pools.some(({ liquidity_usd }) => liquidity_usd === null)) return 'unchecked';
  const all = sumOf(pools.map(({ liquidity_usd }) => liquidity_usd));
  // A pool whose other token is told of could still be a way out.
  return all !== null && all < exitLiquidityUsd ? 'died' : 'unchecked';
}

/** The sum of what is told; `null` where nothing is. */
function sumOf(amounts: readonly (number | null)[]): number | null {
  const told = present(amounts);
  if (told.length === 0) return null;
  return told.reduce((sum, one) => sum + one);
}

/** An amount as it is shown; what follows from it was decided before. */
function cents(usd: number | null): number | null {
  return usd === null ? null : Math.round(usd * CENTS) / CENTS;
}
