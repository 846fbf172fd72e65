// Answers one question: what has the holder of a chain told of its following, and when is it told?
// At once where something began or ended, and else now and then: a report is what /health shows.

import type { ChainName } from '../../chain/chain.ts';
import { MS_PER_S } from '../../chain/time.ts';
import type { FollowState } from '../../ports/indexing/chain-following.ts';
import { type FollowReports, REPORT_EACH_S } from '../../ports/indexing/follow-reports.ts';

/** Where reports go, and a clock in milliseconds that only goes forward. */
export type ReportWorld = { readonly reports: FollowReports; readonly elapsedMs: () => number };

/** Tells the states of one follower as they come. */
export function reporter({ reports, elapsedMs }: ReportWorld, chain: ChainName) {
  let told: { readonly reason: string | null; readonly atMs: number } | null = null;
  return {
    onState: ({ fault, last_block, head_block }: FollowState): void => {
      const reason = fault === null ? null : fault.reason;
      const atMs = elapsedMs();
      const isDue = told === null || atMs >= told.atMs + REPORT_EACH_S * MS_PER_S;
      if (!isDue && told !== null && told.reason === reason) return;
      told = { reason, atMs };
      const state = fault === null ? 'following' : 'held_up';
      // A report that is lost is followed by the next one; who reads notices where none comes.
      void reports.tell({ chain, state, reason, last_block, head_block });
    },
    /** Tells that it has ended, and why. */
    stopped: async (reason: string, last_block: number | null): Promise<void> => {
      told = null;
      await reports.tell({ chain, state: 'stopped', reason, last_block, head_block: null });
    },
  };
}
