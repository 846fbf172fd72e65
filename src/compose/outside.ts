// Answers one question: where are the providers that this process asks.
// The configured ones, or the simulated world's: everything above is composed the same way.

import { EVM_CHAINS, type EvmChainName } from '../chain/chain.ts';
import type { Config } from '../config.ts';

type ByChain = { readonly [N in EvmChainName]: string | null };

/** Whole URLs, keys and all: they are shown by scheme and host only, by whoever asks them. */
export type Outside = {
  readonly mirrors: readonly string[];
  /** Etherscan-V2-compatible endpoint. */
  readonly explorer: { readonly url: string; readonly key: string | null } | null;
  readonly blockscout: ByChain;
  readonly rpc: ByChain;
  readonly solana: string | null;
  /** The Solana node that is asked for launches: the simulated one knows nothing else. */
  readonly solanaLaunches: string | null;
  readonly prices: string | null;
  /** DexScreener-compatible API. */
  readonly venue: string | null;
  /** Calls a second that the providers take; `null`: each provider's own plan. */
  readonly callsPerS: number | null;
};

const NOWHERE: ByChain = {
  ethereum: null,
  arbitrum: null,
  base: null,
  bsc: null,
  polygon: null,
  hyperevm: null,
};

/** The configured providers. The simulated world's are there only while it is served. */
export function outsideOf(config: Config): Outside {
  const { sanctions, explorer } = config;
  const of = (urls: Config['blockscout']): ByChain => {
    const pairs = EVM_CHAINS.map((chain) => [chain, revealed(urls[chain])] as const);
    return { ...NOWHERE, ...Object.fromEntries(pairs) };
  };
  return {
    mirrors: sanctions.kind === 'mirrors' ? sanctions.mirrors.map((url) => url.reveal()) : [],
    explorer:
      explorer.kind === 'none' ? null : { url: explorer.url.reveal(), key: revealed(explorer.key) },
    blockscout: of(config.blockscout),
    rpc: of(config.rpc),
    solana: revealed(config.rpc.solana),
    solanaLaunches: revealed(config.rpc.solana),
    prices: revealed(config.pricesUrl),
    venue: revealed(config.venueUrl),
    callsPerS: null,
  };
}

/** The simulated world's providers, and the node of one of its chains. */
export function simulatedOutside(world: {
  readonly mirror: string;
  readonly explorer: string;
  readonly prices: string;
  readonly venue: string;
  readonly ethereumNode: string;
  readonly solanaNode: string;
}): Outside {
  return {
    mirrors: [world.mirror],
    explorer: { url: world.explorer, key: null },
    blockscout: NOWHERE,
    rpc: { ...NOWHERE, ethereum: world.ethereumNode },
    solana: null,
    solanaLaunches: world.solanaNode,
    prices: world.prices,
    venue: world.venue,
    callsPerS: SIMULATED_CALLS_PER_S,
  };
}

const SIMULATED_CALLS_PER_S = 1_000;

function revealed(held: { readonly reveal: () => string } | null): string | null {
  return held === null ? null : held.reveal();
}
