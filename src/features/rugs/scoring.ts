// A launch with an unread input is not scored; that does not say that the launch is not flagged.

import { DAY_S, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { collect } from '../../evidence/measure.ts';
import { shareGap } from '../../evidence/statistics.ts';
import type { FlagWindow, LaunchFlag, ScoredChain } from '../../ports/rug-flags.ts';
import {
  DRIFT_DEPLOYERS,
  DRIFT_PASSED_MIN,
  type FlagFates,
  type FlagLevel,
  hundredths,
  type LaunchOnRecord,
  type RugModel,
  type ScoredLaunch,
  type WalletToScore,
} from '../../ports/rug-model.ts';
import { historyOf } from '../rug-model/evaluation.ts';
import { featuresOf } from '../rug-model/examples.ts';
import { type Prediction, predict } from '../rug-model/predict.ts';

/** The rules of scoring: the model in force, its flag level, and the exclusions. */
export type Judging = {
  readonly model: Omit<RugModel, 'card'> & {
    readonly card: Pick<RugModel['card'], 'target' | 'evidence_min'>;
  };
  /** `null`: the model flags nothing, at whatever score. */
  readonly level: number | null;
  /** Tokens that are established by review. */
  readonly isListedToken: (launch: LaunchOnRecord) => boolean;
};

/**
 * Scores each launch of a wallet that was ever listed, or may have been, and was observed at the
 * age at which the model was trained to score.
 */
export function scoreWallet(wallet: WalletToScore, by: Judging, now: UnixSeconds): ScoredLaunch[] {
  const { scored_within_h } = by.model.card.target;
  const isInTime = ({ launched_at }: LaunchOnRecord) =>
    wallet.observed_at - launched_at <= scored_within_h * HOUR_S;
  return wallet.launches
    .filter((launch) => isInTime(launch) && launch.listed !== false)
    .map((launch) => scoreLaunch(launch, wallet, by, now));
}

function scoreLaunch(
  launch: LaunchOnRecord,
  wallet: WalletToScore,
  { model, level, isListedToken }: Judging,
  now: UnixSeconds,
): ScoredLaunch {
  const { token, launched_at, liquidity_usd } = launch;
  const subject = { token, launched_at, liquidity_usd };
  const reason = unreadOf(launch, model);
  if (reason !== null) return { ...subject, outcome: 'unscored', reason };
  const { lowest, highest } = scoreSpan(launch, wallet, model);
  const { score, strongest, features } = lowest;
  // What was not read could raise the score, unless fates alone are unknown and none would do it.
  const isSpanned = wallet.record.is_whole && level !== null && highest.score < level;
  const passed: ScoredLaunch =
    wallet.unread === null || isSpanned
      ? { ...subject, outcome: 'passed', score: highest.score }
      : { ...subject, outcome: 'unscored', reason: wallet.unread };
  if (level === null || score < level) return passed;
  // Nothing that was read says enough: a flag without evidence is none.
  if (strongest === null || strongest.contribution < model.card.evidence_min) return passed;
  if (isEstablished({ ...subject, is_listed_token: isListedToken(launch) }, now)) {
    return { ...subject, outcome: 'suppressed', score };
  }
  const statement =
    wallet.unread === null ? strongest.statement : `${strongest.statement} ${OF_WHAT_WAS_READ}`;
  const top_evidence = { ...strongest, statement };
  const deployer_history = historyOf(features);
  return { ...subject, outcome: 'flagged', score, top_evidence, deployer_history };
}

const OF_WHAT_WAS_READ = 'That is by the launches that were read; others were not.';

type Scored = Pick<Prediction, 'score' | 'strongest'> & {
  readonly features: ReturnType<typeof featuresOf>;
};

/**
 * The score on what was read. Where what became of launches was not read, the lowest and highest of
 * those on which nothing, life and death is taken for it: a part convicts only where no fate of
 * them would clear it, and passes only where none would convict it.
 */
function scoreSpan(
  launch: LaunchOnRecord,
  { unread, launches, observed_at: at }: WalletToScore,
  model: Judging['model'],
): { readonly lowest: Scored; readonly highest: Scored } {
  const { target } = model.card;
  const withFate = (as: 'live' | 'died') =>
    launches.map((one) =>
      one.seen === null && one.listed !== false ? { ...one, seen: { as, at } } : one,
    );
  const histories = unread === null ? [launches] : [launches, withFate('live'), withFate('died')];
  const scored = histories.map((history): Scored => {
    const features = featuresOf(
      {
        launched_at: launch.launched_at,
        scored_at: at,
        deployer_launches: history.map((one) => {
          return { launched_at: one.launched_at, seen: one.seen };
        }),
        // A venue reports the current pool, not the pool at launch.
        liquidity_usd: launch.launched_with_usd,
        ether_pooled: launch.launched_with_ether,
        // Features that are never read here are missing.
        deployer_funded_at: null,
        holder_top10_share: null,
        owner_can_mint: null,
        owner_can_block: null,
        ownership_renounced: null,
      },
      target.horizon_h,
    );
    const { score, strongest } = predict(model, features, target);
    return { score, strongest, features };
  });
  return {
    lowest: scored.reduce((low, one) => (one.score < low.score ? one : low)),
    highest: scored.reduce((high, one) => (one.score > high.score ? one : high)),
  };
}

const OF_FIRST_LIQUIDITY: ReadonlySet<string> = new Set(['liquidity_usd', 'ether_pooled_whole']);

/** The unread facts of a launch without which it is not scored. */
function unreadOf(
  { listed, launched_with_unread }: LaunchOnRecord,
  model: Judging['model'],
): string | null {
  if (listed === null) return 'whether a venue lists it was not read';
  const splits = model.trees.flat().filter((node) => 'feature' in node);
  const asks = splits.some(({ feature }) =>
    OF_FIRST_LIQUIDITY.has(String(model.features[feature])),
  );
  if (launched_with_unread === null || !asks) return null;
  return `what it was launched with was not read: ${launched_with_unread}`;
}

// Does a model still say what became true? Its flags are withdrawn where the share of the newest
// settled ones that died lies outside of what its card expects, and where they did not die more
// often than what it passed beside them.

/** Why the flags of a model are withdrawn; `null` where they stand, or too few have settled. */
export function driftReason(
  version: string,
  level: FlagLevel | null,
  fates: FlagFates,
): string | null {
  if (level === null) return null;
  const unexpected = whyUnexpected(level, fates);
  const drift = unexpected === null ? whyNoBetter(fates) : unexpected;
  return drift === null ? null : `The flags of ${version} were withdrawn: ${drift}`;
}

const percent = (share: number) => `${(100 * share).toFixed(1)}%`;

/**
 * A flag of which nobody saw what became of its launch may have gone either way: the share is
 * unexpected where neither way fits.
 */
function whyUnexpected(
  { expected: { flags, low, high } }: FlagLevel,
  { settled, died, unknown }: FlagFates,
): string | null {
  if (settled < flags) return null;
  const all = settled + unknown;
  if ((died + unknown) / all >= low && died / all <= high) return null;
  const unseen = unknown === 0 ? '' : `, with ${unknown} more of which nobody saw it`;
  return (
    `of its last ${settled} settled flags ${died} died (${percent(died / settled)}${unseen}), ` +
    `and its card expects ${percent(low)} to ${percent(high)}.`
  );
}

/** Every deployer counts once on a side, so that the interval is clustered by deployer. */
function whyNoBetter({ deployers: { flagged, passed } }: FlagFates): string | null {
  if (flagged.settled < DRIFT_DEPLOYERS || passed.settled < DRIFT_PASSED_MIN) return null;
  const gap = shareGap(
    { hits: flagged.died, of: flagged.settled },
    { hits: passed.died, of: passed.settled },
  );
  if (gap === null || gap.low > 0) return null;
  const shareOf = ({ died, settled }: typeof flagged) =>
    `${died} of ${settled} (${percent(died / settled)})`;
  return (
    `of the newest settled flags, one of a deployer, ${shareOf(flagged)} died, and of what it ` +
    `passed in the same time, one of a deployer, ${shareOf(passed)}: ${hundredths(gap, '')} ` +
    'points more, which does not leave zero.'
  );
}

// Ranks the wallets of the leaderboard by the flags of a window. Established tokens are removed
// again here, and counted: a token may have grown since its flag.

/** A token older than this, with more pooled liquidity than that, is established. */
export const ESTABLISHED = { age_s: 30 * DAY_S, liquidity_usd: 250_000 } as const;

/** A wallet with its strongest flag. */
export type FlaggedWallet = LaunchFlag & {
  /** Its launches in the window that are flagged. */
  readonly launches: number;
};

/** The contents of a leaderboard for a window. */
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
