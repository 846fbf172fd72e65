// Answers one question: what does following a chain say of itself while it goes on?
// It knows no node and no store: those who show it, a command and the metrics, see this only.

import type { UnixSeconds } from '../../chain/time.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { NotTold } from './chain-node.ts';

/**
 * Where following a chain stands. Block numbers are `null` before the first. `lag_blocks` and
 * `lag_s` are measured from the node's head and from now, and grow while a node is silent.
 */
export type FollowState = {
  readonly chain: string;
  readonly source: string;
  /** Which kinds of transfer its node tells, `null` before it was asked. */
  readonly kinds: readonly TransferKind[] | null;
  readonly head_block: number | null;
  readonly last_block: number | null;
  readonly last_time: UnixSeconds | null;
  readonly final_block: number | null;
  readonly lag_blocks: number | null;
  readonly lag_s: number | null;
  /** Since this start: blocks and transfers written, re-orgs met, blocks undone in them. */
  readonly blocks: number;
  readonly transfers: number;
  readonly reorgs: number;
  readonly blocks_undone: number;
  readonly left_out: NotTold;
  /** Why the last attempt did not succeed; `null` where it did. */
  readonly fault: Why | null;
};

/** Whom to tell, and how to stop. `onState` is called after each step. */
export type FollowWatch = {
  readonly onState: (state: FollowState) => void;
  readonly signal: AbortSignal;
};

/**
 * How following ended: it was stopped, or it cannot go on by itself. In the second case a block
 * that was final here is not on the node's chain; nothing that is held was changed.
 */
export type FollowEnd =
  | { readonly end: 'stopped'; readonly state: FollowState }
  | { readonly end: 'broken'; readonly state: FollowState; readonly why: Why };

/** A chain that can be followed here, by its name. `from_block` counts on the first start only. */
export type Followable = {
  readonly chain: string;
  readonly follow: (from_block: number | null, watch: FollowWatch) => Promise<FollowEnd>;
};
