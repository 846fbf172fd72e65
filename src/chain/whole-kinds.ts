// Which kinds of transfer can a source tell in full, on which chain, and why not the others?
// Whoever claims coverage asks here. What is not listed as missing is told in full by a source that
// answers as it should; whether it did is proved apart, block by block and list by list.

import { type ChainName, EVM_CHAINS } from './chain.ts';
import type { TransferKind } from './transfer.ts';

/**
 * A way to read transfers: a node by receipts and one of two kinds of traces, or by receipts alone;
 * an explorer's lists of an address; files of traces; a node of Solana by an address's signatures.
 */
export type TransferSource =
  | 'trace_block'
  | 'call_tracer'
  | 'receipts'
  | 'explorer'
  | 'trace_files'
  | 'solana_node';

/** A kind that a source cannot tell in full on some chains, from `before` on where it is set. */
export type NotWhole = {
  readonly sources: readonly TransferSource[];
  readonly chains: readonly ChainName[];
  readonly kinds: readonly TransferKind[];
  /** The first block from which on the row no longer holds; `null`: it always does. */
  readonly before: number | null;
  readonly because: string;
};

/** Ethereum's first block without a reward (15 September 2022). */
const FIRST_BLOCK_WITHOUT_REWARD = 15_537_394;
const TRACES = ['trace_block', 'call_tracer', 'trace_files'] as const;
const INTERNAL = ['internal'] as const;
const NFT = ['nft'] as const;

/** All that cannot be whole, one row one reason. */
export const NOT_WHOLE: readonly NotWhole[] = [
  {
    sources: ['receipts'],
    chains: EVM_CHAINS,
    kinds: INTERNAL,
    before: null,
    because: 'Receipts do not tell what contracts call with coins.',
  },
  {
    sources: ['call_tracer'],
    chains: ['ethereum'],
    kinds: INTERNAL,
    before: FIRST_BLOCK_WITHOUT_REWARD,
    because: 'The call tracer leaves block rewards out.',
  },
  {
    sources: TRACES,
    chains: ['arbitrum'],
    kinds: INTERNAL,
    before: null,
    because:
      'ArbOS moves coins before and after a transaction runs (deposits, retryable tickets, ' +
      'refunds of fees), in no trace of its calls and in no receipt.',
  },
  {
    sources: TRACES,
    chains: ['hyperevm'],
    kinds: INTERNAL,
    before: null,
    because:
      'Transfers from HyperCore come by system transactions, which its nodes leave out of ' +
      'blocks, traces and receipts.',
  },
  {
    sources: TRACES,
    chains: ['polygon'],
    kinds: INTERNAL,
    before: null,
    because: 'State sync brings deposits of the coin, and its nodes do not trace it.',
  },
  {
    sources: ['trace_files'],
    chains: ['base', 'bsc'],
    kinds: INTERNAL,
    before: null,
    because: 'What a chain makes beside calls (coins of a deposit) is in no such file.',
  },
  {
    sources: ['explorer'],
    chains: EVM_CHAINS,
    kinds: NFT,
    before: null,
    because: 'Its lists of NFTs are two more for each address, and are not read.',
  },
  {
    sources: ['trace_files'],
    chains: EVM_CHAINS,
    kinds: NFT,
    before: null,
    because: 'No layout of these files tells an id from an amount.',
  },
  {
    sources: ['solana_node'],
    chains: ['solana'],
    kinds: NFT,
    before: null,
    because: 'The chain has none of that kind: its NFTs are tokens.',
  },
  {
    sources: ['solana_node'],
    chains: ['solana'],
    kinds: ['native', 'internal'],
    before: null,
    because:
      'Closed accounts give their lamports back, and stake, vote and nonce accounts are ' +
      'withdrawn from, by instructions that are not read.',
  },
  {
    sources: ['solana_node'],
    chains: ['solana'],
    kinds: ['token'],
    before: null,
    because: 'A node does not list the token accounts that an address has closed.',
  },
];

const KINDS = ['native', 'internal', 'token', 'nft'] as const satisfies readonly TransferKind[];

/** The kinds that a source can tell in full of a chain from a block on. */
export function wholeKinds(
  source: TransferSource,
  chain: ChainName,
  fromBlock: number,
): TransferKind[] {
  const rows = NOT_WHOLE.filter(({ sources, chains, before }) => {
    const holds = before === null || fromBlock < before;
    return sources.includes(source) && chains.includes(chain) && holds;
  });
  return KINDS.filter((kind) => !rows.some(({ kinds }) => kinds.includes(kind)));
}

/** The last block up to which those are the same kinds; `null` where no block changes them. */
export function sameKindsUntil(
  source: TransferSource,
  chain: ChainName,
  fromBlock: number,
): number | null {
  const changes = NOT_WHOLE.flatMap(({ sources, chains, before }) => {
    const concerns = sources.includes(source) && chains.includes(chain);
    return concerns && before !== null && fromBlock < before ? [before - 1] : [];
  });
  return changes.length === 0 ? null : Math.min(...changes);
}
