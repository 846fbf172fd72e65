// Which pools does a DexScreener-compatible venue list of a token, and what do they hold?
// An empty list is its positive word that it lists no pair. Whatever else is no list of
// pairs of this token was not read. A pool whose liquidity is left out is not one without any.

import { z } from 'zod';
import { parseEvmAddress } from '../../chain/address.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ListedPool, Venue } from '../../ports/launches/deployer-walk.ts';
import type { JsonLimits } from '../http/fetch-json.ts';
import { shownAddress } from '../http/outbound-call.ts';
import {
  askJson,
  ProviderFault,
  type ProviderGuard,
  whyUnanswered,
  withBudget,
} from '../http/provider-guard.ts';

const PORT = 'venue';
const NAME = 'DexScreener-compatible API';
const LIMITS: JsonLimits = { deadlineMs: 10_000, bytesMax: 8 * 2 ** 20 };

/** How a venue is asked. `url` is the root of the API; its chains are named as ours are. */
export type VenueOptions = {
  readonly url: URL;
  readonly guard: ProviderGuard;
  readonly chain: EvmChainName;
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
  readonly callsMax: number;
  readonly simulated: boolean;
};

const token = z.object({ address: z.string() });
const amount = z.number().nonnegative().nullish();
const pair = z.object({
  chainId: z.string(),
  baseToken: token,
  quoteToken: token,
  liquidity: z.object({ usd: amount }).nullish(),
  volume: z.object({ h24: amount }).nullish(),
});
/** All pools of a token in one bare list: docs.dexscreener.com, `/token-pairs/v1`. */
const pairs = z.array(pair);

/** The pools of tokens as a venue lists them; without one nothing is checked. */
export function dexscreenerVenue(options: VenueOptions | null): Venue {
  if (options === null) {
    const unset = unread(PORT, why('not_configured', { what: 'A venue (EXHIBIT_VENUE_URL)' }));
    return { poolsOf: async () => unset };
  }
  const { url, guard, chain, now, simulated, timeMs, callsMax } = options;
  const shown = shownAddress(url);
  return {
    poolsOf: async (contract, signal) => {
      const whole = new URL(url);
      whole.pathname = `${whole.pathname.replace(/\/+$/, '')}/token-pairs/v1/${chain}/${contract}`;
      try {
        const pools = await withBudget({ timeMs, callsMax, signal }, (budget) =>
          askJson({ guard, budget, url: whole, body: null, limits: LIMITS }, (answer) => {
            const told = pairs.safeParse(answer);
            if (!told.success) throw new ProviderFault('answered JSON of another shape', 'passing');
            return told.data.map((one) => poolIn(one, chain, contract));
          }),
        );
        const source = { name: NAME, url: shown, as_of: now(), kind: 'observation' } as const;
        return read(pools, { port: PORT, source: { ...source, simulated } });
      } catch (error) {
        const provider = `${NAME} ${shown}`;
        const failed = (fault: string) => why('provider_failed', { provider, fault });
        return unread(PORT, whyUnanswered(error, failed));
      }
    },
  };
}

function poolIn(
  { chainId, baseToken, quoteToken, liquidity, volume }: z.output<typeof pair>,
  chain: EvmChainName,
  contract: string,
): ListedPool {
  const isBase = parseEvmAddress(baseToken.address) === contract;
  const isQuote = parseEvmAddress(quoteToken.address) === contract;
  if (chainId !== chain || !(isBase || isQuote)) {
    throw new ProviderFault('answered pairs of another token', 'passing');
  }
  return {
    side: isBase ? 'base' : 'quote',
    liquidity_usd: told(liquidity?.usd),
    volume_usd_24h: told(volume?.h24),
  };
}

function told(usd: number | null | undefined): number | null {
  return usd === undefined ? null : usd;
}
