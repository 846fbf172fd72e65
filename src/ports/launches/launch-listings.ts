// Answers one question: does a venue still list a launch of Solana?
// A venue that is silent, or does not tell what would decide it, has not said that it is gone.

import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings. */
export type LaunchListingsPort = 'launch_listings';

/** `untold`: a pool is listed of which the venue leaves out the liquidity that would decide. */
export type ListingState = 'listed' | 'gone' | 'untold';

export type LaunchListings = {
  readonly stateOf: (
    mint: string,
    signal: AbortSignal,
  ) => Promise<Reading<ListingState, LaunchListingsPort>>;
};
