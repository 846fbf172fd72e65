// Answers one question: what does a node of a chain say of its blocks?
// Blocks are told whole or not at all: one that the node cannot tell in full is no empty block.

import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { TipBlock, TipHeader } from './transfer-store.ts';

/** The name of this port in readings. */
export type ChainNodePort = 'chain_node';

/** The node's newest block, and the newest that it will not take back (`null` on a young chain). */
export type Heads = {
  readonly latest: number;
  readonly latest_time: UnixSeconds;
  readonly final: number | null;
};

/** Logs that look like transfers and have the shape of none. */
export type NotTold = { readonly misshapen: number };

/** Blocks one after the other, each the parent of the next, with every transfer in them. */
export type ReadBlocks = {
  readonly blocks: readonly TipBlock[];
  readonly left_out: NotTold;
};

/**
 * Which kinds of transfer a node tells in full, from a block on up to `to_block` (`null`: of all
 * above). Behind it the node tells others, and is opened again.
 */
export type NodeReach = {
  readonly kinds: readonly TransferKind[];
  readonly to_block: number | null;
};

/**
 * A node. `moved` says that the chain changed while it was read, or that a block asked for is not
 * there (any more): ask for the heads again. Unread: the node failed, or is of another chain.
 */
export type ChainNode = {
  readonly chain: ChainName;
  /** The node as it may be shown: scheme and host. */
  readonly source: string;
  /**
   * Finds out which kinds of transfer the node tells from a block on. It comes before the others,
   * on each start, after each failure and behind its reach; it refuses a node of another chain.
   */
  readonly open: (
    fromBlock: number | null,
    signal: AbortSignal,
  ) => Promise<Reading<NodeReach, ChainNodePort>>;
  readonly heads: (signal: AbortSignal) => Promise<Reading<Heads, ChainNodePort>>;
  /** The header at a height; `null` where the node has no such block. */
  readonly header: (
    block: number,
    signal: AbortSignal,
  ) => Promise<Reading<TipHeader | null, ChainNodePort>>;
  /** The blocks from one height to another, both included, at most `BLOCKS_AT_ONCE_MAX`. */
  readonly blocks: (
    from: number,
    to: number,
    signal: AbortSignal,
  ) => Promise<Reading<ReadBlocks | 'moved', ChainNodePort>>;
};

/** How many blocks may be asked for at once. */
export const BLOCKS_AT_ONCE_MAX = 64;
