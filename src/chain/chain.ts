// The supported chains and their constants. What a deployment reads of them is configuration, and
// not here.

/** The EVM chains, in the order in which answers list them. */
export const EVM_CHAINS = ['ethereum', 'arbitrum', 'base', 'bsc', 'polygon', 'hyperevm'] as const;
export type EvmChainName = (typeof EVM_CHAINS)[number];

/** Every chain, in the order in which answers list them. */
export const CHAIN_NAMES = [...EVM_CHAINS, 'solana', 'bitcoin'] as const;

/** The name of a chain, as the interface spells it. */
export type ChainName = (typeof CHAIN_NAMES)[number];

/**
 * The constants of a chain. `chain_id` is EIP-155's, null if there is none; an address's public
 * page is `explorer_url` with `/address/…`, a transaction's with `/tx/…`.
 */
type Chain = {
  readonly name: ChainName;
  readonly kind: 'evm' | 'solana' | 'bitcoin';
  readonly chain_id: number | null;
  readonly native: { readonly symbol: string; readonly decimals: number };
  readonly explorer_url: string;
};

const ETH = { symbol: 'ETH', decimals: 18 } as const;

/** Every chain by its name. Ids and coins: github.com/ethereum-lists/chains, SLIP-44. */
export const CHAINS: Readonly<Record<ChainName, Chain>> = {
  ethereum: {
    name: 'ethereum',
    kind: 'evm',
    chain_id: 1,
    native: ETH,
    explorer_url: 'https://etherscan.io',
  },
  arbitrum: {
    name: 'arbitrum',
    kind: 'evm',
    chain_id: 42161,
    native: ETH,
    explorer_url: 'https://arbiscan.io',
  },
  base: {
    name: 'base',
    kind: 'evm',
    chain_id: 8453,
    native: ETH,
    explorer_url: 'https://basescan.org',
  },
  bsc: {
    name: 'bsc',
    kind: 'evm',
    chain_id: 56,
    native: { symbol: 'BNB', decimals: 18 },
    explorer_url: 'https://bscscan.com',
  },
  polygon: {
    name: 'polygon',
    kind: 'evm',
    chain_id: 137,
    // MATIC until 4 September 2024.
    native: { symbol: 'POL', decimals: 18 },
    explorer_url: 'https://polygonscan.com',
  },
  hyperevm: {
    name: 'hyperevm',
    kind: 'evm',
    chain_id: 999,
    native: { symbol: 'HYPE', decimals: 18 },
    explorer_url: 'https://hyperevmscan.io',
  },
  solana: {
    name: 'solana',
    kind: 'solana',
    chain_id: null,
    native: { symbol: 'SOL', decimals: 9 },
    explorer_url: 'https://explorer.solana.com',
  },
  bitcoin: {
    name: 'bitcoin',
    kind: 'bitcoin',
    chain_id: null,
    native: { symbol: 'BTC', decimals: 8 },
    explorer_url: 'https://mempool.space',
  },
};

const CHAIN_BY_ID: ReadonlyMap<number, Chain> = new Map(
  EVM_CHAINS.flatMap((name) => {
    const chain = CHAINS[name];
    return chain.chain_id === null ? [] : [[chain.chain_id, chain] as const];
  }),
);

/** The chain of an EIP-155 id, or null where it is none of ours. */
export function chainById(id: number): Chain | null {
  const chain = CHAIN_BY_ID.get(id);
  return chain === undefined ? null : chain;
}

/** The chain that a text names exactly, in lower case; null for any other text. */
export function parseChain(text: string): ChainName | null {
  const name = CHAIN_NAMES.find((known) => known === text);
  return name === undefined ? null : name;
}

/** Whether a chain is an EVM chain. */
export function isEvmChain(name: ChainName): name is EvmChainName {
  return CHAINS[name].kind === 'evm';
}

/** The chain whose own coin an asset is; `null`: no chain of ours. */
export function homeChain(asset: string): EvmChainName | null {
  const home = EVM_CHAINS.find((chain) => CHAINS[chain].native.symbol === asset);
  return home === undefined ? null : home;
}
