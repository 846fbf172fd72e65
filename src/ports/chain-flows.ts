// What chains show of an asset in an hour: who sent how much to whom, for whoever knows which of
// them are exchanges.

import type { EvmChainName } from '../chain/chain.ts';
import type { Reading } from '../evidence/reading.ts';

/** The name of this port in readings. */
export type ChainFlowsPort = 'chain_flows';

/** What one address sent another in an hour, in raw units of the chain's own coin. */
export type FlowPair = {
  readonly from: string;
  readonly to: string;
  readonly raw_amount: bigint;
  readonly transfers: number;
};

/** A transfer of at least a given amount. `index` tells those of one transaction apart. */
export type LargeTransfer = Omit<FlowPair, 'transfers'> & {
  readonly tx: string;
  readonly index: number;
  /** Unix seconds. */
  readonly at: number;
};

export type HourOfFlows = {
  readonly pairs: readonly FlowPair[];
  readonly large: readonly LargeTransfer[];
};

/**
 * Final transfers of a chain's own coin. An hour is read only where every block of it is held, with
 * its transfers of all kinds that move the coin; failed ones move nothing.
 */
export type ChainFlows = {
  readonly hour: (
    chain: EvmChainName,
    /** The beginning of the hour, in Unix seconds. */
    from: number,
    large: { readonly raw_amount: bigint },
    signal: AbortSignal,
  ) => Promise<Reading<HourOfFlows, ChainFlowsPort>>;
};
