// Answers one question: is each chain that was to be followed followed now, and if not, why not?
// It is told by whoever follows and kept for those who are asked, which may be other processes.

import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';

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
