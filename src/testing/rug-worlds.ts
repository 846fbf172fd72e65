// Worlds in which the rug model flagged a launch.

import { type LaunchFlag, WATCHED_SOURCES, type WatchedSource } from '../ports/rug-flags.ts';
import { evm } from './addresses.ts';
import { STILL_NOW } from './clock.ts';
import { HOUR_S, type Plan } from './planted.ts';

const FLAGGED = evm('flagged by the model');

/** A launch of a day ago that was flagged an hour ago. */
export function rugFlagOf(address: string, change: Partial<LaunchFlag> = {}): LaunchFlag {
  return {
    chain: 'ethereum',
    address,
    token: evm(`a launch of ${address}`),
    launched_at: STILL_NOW - 24 * HOUR_S,
    liquidity_usd: 1_200,
    score: 0.93,
    deployer_history: 'settled',
    first_flagged_at: STILL_NOW - 2 * HOUR_S,
    last_scored_at: STILL_NOW - HOUR_S,
    top_evidence: {
      feature: 'deployer_died_share',
      value: 0.9286,
      contribution: 1.75,
      statement: 'Of 14 earlier launches of its deployer 13 died.',
    },
    model_version: 'rug-1',
    is_listed_token: false,
    ...change,
  };
}

/** What each source of the watch did not see, as the watch says it. */
const UNSEEN: { readonly [source in WatchedSource]: string } = {
  queue: 'ethereum: wallets that wait to be walked: 1',
  explorer: 'ethereum: wallets whose contracts were read in part: 1',
  node: 'solana: collected up to 2026-09-23T06:00:00.000Z only',
  collection: 'solana: gaps in what was collected: 1',
  venue: 'solana: launches of which the venue did not tell in time: 1',
};

/** A window in which nothing is flagged, and of which a source did not see everything. */
const UNWATCHED = WATCHED_SOURCES.map((source): Plan => {
  return {
    name: `launches that went unseen: ${source}`,
    about: FLAGGED,
    subjects: [FLAGGED],
    unwatched: { [source]: [UNSEEN[source]] },
    contradicts: {
      leaderboard: ['entries', 'count', 'window_checked'],
      rugs_leaderboard: ['entries', 'count', 'served.rows'],
    },
  };
});

/** The worlds, and what may then not be said. */
export const RUG_PLANS: readonly Plan[] = [
  {
    name: 'launched what the model flags',
    about: FLAGGED,
    subjects: [FLAGGED],
    rugFlags: [rugFlagOf(FLAGGED)],
    contradicts: {
      leaderboard: ['entries', 'count'],
      rugs_leaderboard: ['entries', 'count', 'served.rows'],
    },
  },
  {
    name: 'launched what the model flags and what is established',
    about: FLAGGED,
    subjects: [FLAGGED],
    rugFlags: [rugFlagOf(FLAGGED, { is_listed_token: true })],
    contradicts: { leaderboard: ['suppressed'], rugs_leaderboard: ['suppressed'] },
  },
  ...UNWATCHED,
];
