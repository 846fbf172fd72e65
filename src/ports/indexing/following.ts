// A chain that is followed block by block: what its node tells, and what its follower reports.
// A node tells a block whole or not at all: one that it cannot tell in full is no empty block.

import { z } from 'zod';
import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import { TRANSFER_KINDS, type TransferKind } from '../../chain/transfer.ts';
import type { Reading } from '../../evidence/reading.ts';
import { REASON_CODES } from '../../evidence/reasons.ts';
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
const notTold = z.object({ misshapen: z.int() }).readonly();
export type NotTold = z.output<typeof notTold>;

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

const blockOrNone = z.int().nonnegative().nullable();
const whyHeldUp = z.object({ code: z.enum(REASON_CODES), reason: z.string() }).readonly();

/**
 * Where following a chain stands. Block numbers are `null` before the first. `lag_blocks` and
 * `lag_s` are measured from the node's head and from now, and grow while a node is silent.
 */
export const followState = z
  .object({
    chain: z.string(),
    source: z.string(),
    /** Which kinds of transfer its node tells, `null` before it was asked. */
    kinds: z.array(z.enum(TRANSFER_KINDS)).readonly().nullable(),
    head_block: blockOrNone,
    last_block: blockOrNone,
    last_time: z.number().nullable(),
    final_block: blockOrNone,
    lag_blocks: blockOrNone,
    lag_s: z.number().nullable(),
    /** Since this start: blocks and transfers written, re-orgs met, blocks undone in them. */
    blocks: z.int(),
    transfers: z.int(),
    reorgs: z.int(),
    blocks_undone: z.int(),
    left_out: notTold,
    /** Why the last attempt did not succeed; `null` where it did. */
    fault: whyHeldUp.nullable(),
  })
  .readonly();
export type FollowState = z.output<typeof followState>;

/** Whom to tell, and how to stop. `onState` is called after each step. */
export type FollowWatch = {
  readonly onState: (state: FollowState) => void;
  readonly signal: AbortSignal;
};

/**
 * How following ended: it was stopped, or it cannot go on by itself. In the second case a block
 * that was final here is not on the node's chain; nothing that is held was changed.
 */
export const followEnd = z.discriminatedUnion('end', [
  z.object({ end: z.literal('stopped'), state: followState }),
  z.object({ end: z.literal('broken'), state: followState, why: whyHeldUp }),
]);
export type FollowEnd = z.output<typeof followEnd>;

/** A chain that can be followed here, by its name. `from_block` counts on the first start only. */
export type Followable = {
  readonly chain: string;
  readonly follow: (from_block: number | null, watch: FollowWatch) => Promise<FollowEnd>;
};

/** The name of this port in readings. */
export type FollowReportsPort = 'follow_reports';

/**
 * How following stands. `held_up`: a known fault, over which the follower goes on by itself.
 * `stopped`: it cannot go on by itself, or has ended.
 */
type Told = {
  readonly chain: ChainName;
  readonly state: 'following' | 'held_up' | 'stopped';
  /** Why it does not go on; `null` where it does. */
  readonly reason: string | null;
  readonly last_block: number | null;
  readonly head_block: number | null;
};

/** A report as it is kept. `since`: from when on it has been so, for this reason. */
export type FollowReport = Told & { readonly since: UnixSeconds };

/** The last report of each chain. One of which nothing more was heard is told as stopped. */
export type FollowReports = {
  readonly tell: (report: Told) => Promise<Reading<true, FollowReportsPort>>;
  readonly all: () => Promise<Reading<readonly FollowReport[], FollowReportsPort>>;
};

/** A report is told again at least so often; after three times as long the follower is gone. */
export const REPORT_EACH_S = 30;
