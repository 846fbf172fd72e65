// Does a DexScreener-compatible venue still list a token of Solana, with a way out?
// A pool counts from the exit level of pooled liquidity on. The curve on which a launchpad launches
// every token is where it began and no listing; the venue tells no liquidity of one.

import { map, unread } from '../../evidence/reading.ts';
import type {
  LaunchListings,
  LaunchListingsPort,
  ListingState,
} from '../../ports/launches/launch-listings.ts';
import { askPairs, notConfigured, told, type VenueOptions, type VenuePair } from './venue.ts';

const PORT: LaunchListingsPort = 'launch_listings';

/** The launchpads' curves by the venue's names (docs.dexscreener.com, `dexId`). */
const CURVES: ReadonlySet<string> = new Set([
  'pumpfun',
  'launchlab',
  'meteoradbc',
  'moonshot',
  'moonit',
  'boop',
]);

type ListingOptions = VenueOptions<'solana'> & { readonly exitLiquidityUsd: number };
type Pool = { readonly isCurve: boolean; readonly liquidity_usd: number | null };

/** Listings of launches at a venue; without one nothing is checked. */
export function dexscreenerListings(options: ListingOptions | null): LaunchListings {
  if (options === null) {
    const unset = unread(PORT, notConfigured());
    return { stateOf: async () => unset };
  }
  return {
    stateOf: async (mint, signal) => {
      const pools = await askPairs(PORT, options, mint, signal, poolOf(mint));
      return map(pools, (listed) => stateOf(listed, options.exitLiquidityUsd));
    },
  };
}

function poolOf(mint: string) {
  return ({ baseToken, quoteToken, dexId, liquidity }: VenuePair): Pool | null => {
    if (baseToken.address !== mint && quoteToken.address !== mint) return null;
    const isCurve = typeof dexId === 'string' && CURVES.has(dexId);
    return { isCurve, liquidity_usd: told(liquidity?.usd) };
  };
}

function stateOf(pools: readonly Pool[], level: number): ListingState {
  const listed = pools.filter(({ isCurve }) => !isCurve);
  if (listed.some(({ liquidity_usd }) => liquidity_usd !== null && liquidity_usd >= level)) {
    return 'listed';
  }
  return listed.some(({ liquidity_usd }) => liquidity_usd === null) ? 'untold' : 'gone';
}
