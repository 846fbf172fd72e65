// Answers one question: how far is each followed chain behind, at the moment that somebody asks.
// A chain of which nothing was heard for an hour is an hour further behind, not where it was.

import type { UnixSeconds } from '../../chain/time.ts';
import type { FollowState } from '../../ports/indexing/chain-following.ts';

/** The last word of each chain. Values are `null` where nothing is known yet. */
export type FollowLags = {
  readonly onState: (state: FollowState) => void;
  /** Seconds since the last block held was made. */
  readonly lagS: (chain: string) => number | null;
  /** Blocks between the last one held and the node's head, when it was last asked. */
  readonly lagBlocks: (chain: string) => number | null;
  /** Re-orgs met since this start. */
  readonly reorgs: (chain: string) => number | null;
};

/** Keeps the last states, for the metrics. `now` gives Unix seconds. */
export function followLags(now: () => UnixSeconds): FollowLags {
  const states = new Map<string, FollowState>();
  const told = <T>(chain: string, value: (state: FollowState) => T): T | null => {
    const state = states.get(chain);
    return state === undefined ? null : value(state);
  };
  return {
    onState: (state) => void states.set(state.chain, state),
    lagS: (chain) =>
      told(chain, ({ last_time }) => (last_time === null ? null : Math.max(0, now() - last_time))),
    lagBlocks: (chain) => told(chain, (state) => state.lag_blocks),
    reorgs: (chain) => told(chain, (state) => state.reorgs),
  };
}
