// Finds where the providers are that this process asks. The configured ones, or the simulated
// world's: everything above is composed the same way.

import { EVM_CHAINS, type EvmChainName } from '../chain/chain.ts';
import type { Config } from '../config.ts';
import type { StatusPage } from '../ports/bridges.ts';

type ByChain = { readonly [N in EvmChainName]: string | null };

type Page = { readonly url: string; readonly key: string | null };

type VenueAddresses = { readonly url: string | null; readonly stream: string | null };

/** Whole URLs, keys and all: they are shown by scheme and host only, by whoever asks them. */
export type Outside = {
  readonly mirrors: readonly string[];
  /** Etherscan-V2-compatible endpoint. */
  readonly explorer: { readonly url: string; readonly key: string | null } | null;
  readonly blockscout: ByChain;
  readonly rpc: ByChain;
  readonly solana: string | null;
  /** The Solana node that is asked for launches and holders; the simulated one knows no more. */
  readonly solanaLaunches: string | null;
  readonly prices: string | null;
  /** DexScreener-compatible API. */
  readonly venue: string | null;
  /** The root of Hyperliquid's API. */
  readonly hyperliquid: string | null;
  /** The roots of venues of derivatives, and their streams of liquidations. */
  readonly binance: VenueAddresses;
  readonly bybit: VenueAddresses;
  readonly goplus: Page | null;
  readonly rugcheck: Page | null;
  /** Status pages of bridge protocols. */
  readonly statusPages: ReadonlyMap<StatusPage, Page>;
  /** Roots of chat platforms; `null`: their own hosts. */
  readonly chats: { readonly [P in keyof Config['chatUrls']]: string | null };
  /** A language model that may word verdicts; its price is US dollars for a million tokens. */
  readonly analyst: {
    readonly url: string;
    readonly key: string | null;
    readonly model: string;
    readonly price: { readonly in_usd: number; readonly out_usd: number };
    readonly usdADayMax: number;
  } | null;
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
  const byChain = (urls: Config['blockscout']): ByChain => {
    const pairs = EVM_CHAINS.map((chain) => [chain, revealText(urls[chain])] as const);
    return { ...NOWHERE, ...Object.fromEntries(pairs) };
  };
  return {
    mirrors: sanctions.kind === 'mirrors' ? sanctions.mirrors.map((url) => url.reveal()) : [],
    explorer:
      explorer.kind === 'none'
        ? null
        : { url: explorer.url.reveal(), key: revealText(explorer.key) },
    blockscout: byChain(config.blockscout),
    rpc: byChain(config.rpc),
    solana: revealText(config.rpc.solana),
    solanaLaunches: revealText(config.rpc.solana),
    prices: revealText(config.pricesUrl),
    venue: revealText(config.venueUrl),
    hyperliquid: revealText(config.hyperliquidUrl),
    binance: addressesOf(config.binance),
    bybit: addressesOf(config.bybit),
    goplus: pageOf(config.goplus),
    rugcheck: pageOf(config.rugcheck),
    statusPages: statusPagesOf(config),
    chats: {
      slack: revealText(config.chatUrls.slack),
      discord: revealText(config.chatUrls.discord),
      telegram: revealText(config.chatUrls.telegram),
    },
    analyst: analystOf(config),
    callsPerS: null,
  };
}

/** The simulated world's providers, and the node of one of its chains. */
export function simulatedOutside(world: {
  readonly mirror: string;
  readonly explorer: string;
  readonly prices: string;
  readonly venue: string;
  readonly hyperliquid: string;
  readonly binance: VenueAddresses;
  readonly bybit: VenueAddresses;
  readonly goplus: string;
  readonly rugcheck: string;
  readonly ethereumNode: string;
  readonly solanaNode: string;
  readonly chats: Outside['chats'];
  readonly analyst: Outside['analyst'];
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
    hyperliquid: world.hyperliquid,
    binance: world.binance,
    bybit: world.bybit,
    goplus: { url: world.goplus, key: null },
    rugcheck: { url: world.rugcheck, key: null },
    statusPages: new Map<StatusPage, Page>(),
    chats: world.chats,
    analyst: world.analyst,
    callsPerS: SIMULATED_CALLS_PER_S,
  };
}

/** The configured language model, which may word made-up evidence too. */
export function analystOf({ analyst }: Config): Outside['analyst'] {
  if (analyst.kind === 'none') return null;
  const { url, key, model, price, usdADayMax } = analyst;
  return { url: url.reveal(), key: revealText(key), model, price, usdADayMax };
}

function pageOf({ url, key }: Config['goplus']): Page | null {
  const root = revealText(url);
  return root === null ? null : { url: root, key: revealText(key) };
}

function addressesOf({ url, streamUrl }: Config['binance']): VenueAddresses {
  return { url: revealText(url), stream: revealText(streamUrl) };
}

const STATUS_PAGE_OF: { readonly [P in keyof Config['statusUrls']]: StatusPage } = {
  across: 'across_status',
  layerzero: 'layerzero_scan',
  wormhole: 'wormholescan',
  celer: 'cbridge_status',
  synapse: 'synapse_explorer',
  hop: 'hop_status',
};

function statusPagesOf({ statusUrls: urls, acrossStatusKey }: Config) {
  const names = Object.keys(STATUS_PAGE_OF) as (keyof Config['statusUrls'])[];
  return new Map(
    names.flatMap((name) => {
      const url = revealText(urls[name]);
      const key = name === 'across' ? revealText(acrossStatusKey) : null;
      return url === null ? [] : [[STATUS_PAGE_OF[name], { url, key }] as const];
    }),
  );
}

const SIMULATED_CALLS_PER_S = 1_000;

function revealText(held: { readonly reveal: () => string } | null): string | null {
  return held === null ? null : held.reveal();
}
