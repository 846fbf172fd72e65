// Lists the pools of a token, with their liquidity, from a DexScreener-compatible venue. An empty
// list is its positive statement that it lists no pair. Any other answer than a list of pairs of
// this token is unread. A pool without a stated liquidity is not an empty one.

import { z } from 'zod';
import { parseEvmAddress } from '../../chain/address.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import { MS_PER_S } from '../../chain/time.ts';
import { map, type Reading, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { ListedPool, Venue } from '../../ports/deployers.ts';
import type { LaunchListings, LaunchListingsPort, ListingState } from '../../ports/launches.ts';
import { type JsonLimits, outsideRow } from '../http/fetch.ts';
import { originText } from '../http/outbound-call.ts';
import {
  askJson,
  ProviderFault,
  type ProviderGuard,
  type ProviderTerms,
  readProvider,
} from '../http/provider.ts';

const PORT = 'venue';
const NAME = 'DexScreener-compatible API';
const LIMITS: JsonLimits = { deadlineMs: 10_000, bytesMax: 8 * 2 ** 20 };

/** The options of a venue. `url` is the root of the API; its chains are named as ours are. */
export type VenueOptions<C extends string> = ProviderTerms & {
  readonly url: URL;
  readonly guard: ProviderGuard;
  readonly chain: C;
};

const token = outsideRow({ address: z.string() });
const amount = z.number().nonnegative().nullish();
const pair = outsideRow({
  chainId: z.string(),
  pairAddress: z.string().nullish(),
  pairCreatedAt: z.number().nonnegative().nullish(),
  dexId: z.string().nullish(),
  baseToken: token,
  quoteToken: token,
  liquidity: outsideRow({ usd: amount }).nullish(),
  volume: outsideRow({ h24: amount }).nullish(),
});
export type VenuePair = z.output<typeof pair>;
/** All pools of a token in one bare list: docs.dexscreener.com, `/token-pairs/v1`. */
const pairs = z.array(pair);

/** The pools of tokens as a venue lists them; without one nothing is checked. */
export function dexscreenerVenue(options: VenueOptions<EvmChainName> | null): Venue {
  if (options === null) {
    const unset = unread(PORT, venueNotConfigured());
    return { poolsOf: async () => unset };
  }
  return {
    poolsOf: (contract, signal) => askPairs(PORT, options, contract, signal, poolIn(contract)),
  };
}

/** Why nothing is known of a listing where no venue is set. */
export function venueNotConfigured(): Why {
  return why('not_configured', { what: 'A venue (EXHIBIT_VENUE_URL)' });
}

/** Every pair of a token, each as `made` has it: a token of another is no answer. */
export async function askPairs<T, P extends string>(
  port: P,
  options: VenueOptions<string>,
  token: string,
  signal: AbortSignal,
  made: (told: VenuePair) => T | null,
): Promise<Reading<readonly T[], P>> {
  const { url, guard, chain, now, simulated, timeMs, callsMax } = options;
  const shown = originText(url);
  const whole = new URL(url);
  whole.pathname = `${whole.pathname.replace(/\/+$/, '')}/token-pairs/v1/${chain}/${token}`;
  const toReason = (fault: string) =>
    why('provider_failed', { provider: `${NAME} ${shown}`, fault });
  const provider = { name: NAME, url: shown, simulated, now, toReason };
  return readProvider(port, provider, { timeMs, callsMax, signal }, (budget) =>
    askJson({ guard, budget, url: whole, body: null, limits: LIMITS }, (answer) => {
      const told = pairs.safeParse(answer);
      if (!told.success) throw new ProviderFault('answered JSON of another shape', 'passing');
      return told.data.map((one) => {
        const own = one.chainId === chain ? made(one) : null;
        if (own !== null) return own;
        throw new ProviderFault('answered pairs of another token', 'passing');
      });
    }),
  );
}

function poolIn(contract: string) {
  return ({ baseToken, quoteToken, liquidity, volume, ...pool }: VenuePair): ListedPool | null => {
    const isBase = parseEvmAddress(baseToken.address) === contract;
    if (!isBase && parseEvmAddress(quoteToken.address) !== contract) return null;
    const created = numberOrNull(pool.pairCreatedAt);
    return {
      address: typeof pool.pairAddress === 'string' ? pool.pairAddress.toLowerCase() : null,
      created_at: created === null ? null : Math.floor(created / MS_PER_S),
      side: isBase ? 'base' : 'quote',
      liquidity_usd: numberOrNull(liquidity?.usd),
      volume_usd_24h: numberOrNull(volume?.h24),
    };
  };
}

/** A number that the venue tells; `null` where it leaves it out. */
export function numberOrNull(value: number | null | undefined): number | null {
  return value === undefined ? null : value;
}

// Does a DexScreener-compatible venue still list a token of Solana, with a way out?
// A pool counts from the exit level of pooled liquidity on. The curve on which a launchpad launches
// every token is where it began and no listing; the venue tells no liquidity of one.

const LISTINGS_PORT: LaunchListingsPort = 'launch_listings';

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
    const unset = unread(LISTINGS_PORT, venueNotConfigured());
    return { stateOf: async () => unset };
  }
  return {
    stateOf: async (mint, signal) => {
      const pools = await askPairs(LISTINGS_PORT, options, mint, signal, poolOf(mint));
      return map(pools, (listed) => stateOf(listed, options.exitLiquidityUsd));
    },
  };
}

function poolOf(mint: string) {
  return ({ baseToken, quoteToken, dexId, liquidity }: VenuePair): Pool | null => {
    if (baseToken.address !== mint && quoteToken.address !== mint) return null;
    const isCurve = typeof dexId === 'string' && CURVES.has(dexId);
    return { isCurve, liquidity_usd: numberOrNull(liquidity?.usd) };
  };
}

function stateOf(pools: readonly Pool[], level: number): ListingState {
  const listed = pools.filter(({ isCurve }) => !isCurve);
  if (listed.some(({ liquidity_usd }) => liquidity_usd !== null && liquidity_usd >= level)) {
    return 'listed';
  }
  return listed.some(({ liquidity_usd }) => liquidity_usd === null) ? 'untold' : 'gone';
}
