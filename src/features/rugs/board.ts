// Which wallets stand on the leaderboard, by the flags of a window?
// Established tokens are taken out again here, and counted: a token may have grown since its flag.

import { DAY_S, type UnixSeconds } from '../../chain/time.ts';
import { collect } from '../../evidence/measure.ts';
import type { FlagWindow, LaunchFlag, ScoredChain } from '../../ports/flags/rug-flags.ts';

/** The window of both leaderboards. */
export const WINDOW_HOURS = 24;

/** A token older than this, with more pooled liquidity than that, is established. */
export const ESTABLISHED = { age_s: 30 * DAY_S, liquidity_usd: 250_000 } as const;

/** A wallet with its strongest flag. */
export type FlaggedWallet = LaunchFlag & {
  /** Its launches in the window that are flagged. */
  readonly launches: number;
};

/** What a leaderboard shows of a window. */
export type Board = {
  readonly chains: readonly ScoredChain[];
  /** The highest score first. */
  readonly wallets: readonly FlaggedWallet[];
  /** Launches that the model flags and that are established tokens. */
  readonly suppressed: number;
};

type Grown = Pick<LaunchFlag, 'launched_at' | 'liquidity_usd' | 'is_listed_token'>;

/** Whether a token is established, so that a flag of it is not shown. */
export function isEstablished(token: Grown, now: UnixSeconds): boolean {
  if (token.is_listed_token) return true;
  const { liquidity_usd, launched_at } = token;
  const isOld = now - launched_at > ESTABLISHED.age_s;
  return isOld && liquidity_usd !== null && liquidity_usd > ESTABLISHED.liquidity_usd;
}

/** The leaderboard of a window. */
export function boardOf({ chains, flags }: FlagWindow, now: UnixSeconds): Board {
  const byWallet = new Map<string, LaunchFlag[]>();
  let suppressed = sumOf(chains.map((one) => one.suppressed));
  for (const flag of flags) {
    if (isEstablished(flag, now)) suppressed += 1;
    else collect(byWallet, `${flag.chain} ${flag.address}`, flag);
  }
  const wallets = [...byWallet.values()].flatMap(walletOf).sort(strongestFirst);
  return { chains, wallets, suppressed };
}

/** A sum of counts, which begins at zero. */
export function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, one) => sum + one, 0);
}

function walletOf(flags: readonly LaunchFlag[]): FlaggedWallet[] {
  return [...flags]
    .sort(strongestFirst)
    .slice(0, 1)
    .map((strongest) => {
      return {
        ...strongest,
        first_flagged_at: Math.min(...flags.map((one) => one.first_flagged_at)),
        last_scored_at: Math.max(...flags.map((one) => one.last_scored_at)),
        launches: flags.length,
      };
    });
}

/** Of equal scores the later one stands first, then the order of the addresses decides. */
function strongestFirst(one: LaunchFlag, other: LaunchFlag): number {
  if (one.score !== other.score) return other.score - one.score;
  if (one.last_scored_at !== other.last_scored_at) return other.last_scored_at - one.last_scored_at;
  return one.token < other.token ? -1 : 1;
}
