// Worlds in which the rug model flagged a launch.

import type { LaunchFlag } from '../ports/rug-flags.ts';
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
];
