// The filters that memberships tried: by how much the best of them has to be deflated.

import type { UnixSeconds } from '../chain/time.ts';
import type { Reading } from '../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type EdgeTrialsPort = 'edge_trials';

/** The distinct filters that a membership tried, and when the first of them. */
export type TriedFilters = { readonly distinct: number; readonly since: UnixSeconds };

export type EdgeTrials = {
  /**
   * Counts a filter, by its digest, as tried by a membership: whichever of its keys is sent, and
   * once. `distinct` has it among the others, and is a floor: beyond a bound none is added.
   */
  readonly countTrial: (
    membership_id: string,
    digest: string,
  ) => Promise<Reading<TriedFilters, EdgeTrialsPort>>;
};
