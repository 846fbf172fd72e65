// Answers one question: under which id does a DefiLlama-compatible API know this coin?

import type { ChainName } from '../../chain/chain.ts';
import type { Coin } from '../../ports/history/prices.ts';

/** Its names of the chains, where they are not ours. */
const CHAIN_NAMES: Readonly<Partial<Record<ChainName, string>>> = { hyperevm: 'hyperliquid' };

const NULL_ADDRESS = `0x${'0'.repeat(40)}`;
const NATIVE: Readonly<Partial<Record<ChainName, string>>> = {
  solana: 'solana:So11111111111111111111111111111111111111112',
  bitcoin: 'coingecko:bitcoin',
};

/** The id, whose case is kept: an answer names coins as they were asked for. */
export function coinId({ chain, token }: Coin): string {
  const known = CHAIN_NAMES[chain];
  const name = known === undefined ? chain : known;
  if (token !== null) return `${name}:${token}`;
  const native = NATIVE[chain];
  return native === undefined ? `${name}:${NULL_ADDRESS}` : native;
}
