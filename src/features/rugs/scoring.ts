// A launch of which an input was not read is not scored, which is not that it is not flagged.

import type { UnixSeconds } from '../../chain/time.ts';
import { wilsonInterval } from '../../evidence/measure.ts';
import {
  type LaunchOnRecord,
  NEW_FOR_S,
  type ScoredLaunch,
  type WalletToScore,
} from '../../ports/flags/launch-scoring.ts';
import type { PublishedModel } from '../../ports/flags/published-model.ts';
import type { ModelCard } from '../../ports/flags/rug-model.ts';
import { featuresOf } from '../rug-model/features.ts';
import { predict } from '../rug-model/predict.ts';
import { isEstablished } from './board.ts';

/** What scores: the model in force, from which score on it flags, and what is left out. */
export type Judging = {
  readonly model: Pick<PublishedModel['model'], 'features' | 'base' | 'trees' | 'calibration'>;
  readonly settle_days: number;
  /** `null`: the model flags nothing, at whatever score. */
  readonly level: number | null;
  /** Tokens that are established by review. */
  readonly isListedToken: (launch: LaunchOnRecord) => boolean;
};

/** What is said of each new launch of a wallet that was ever listed, or may have been. */
export function scoreWallet(wallet: WalletToScore, by: Judging, now: UnixSeconds): ScoredLaunch[] {
  return wallet.launches
    .filter(({ launched_at, listed }) => now - launched_at <= NEW_FOR_S && listed !== false)
    .map((launch) => scoreLaunch(launch, wallet, by, now));
}

function scoreLaunch(
  launch: LaunchOnRecord,
  wallet: WalletToScore,
  { model, settle_days, level, isListedToken }: Judging,
  now: UnixSeconds,
): ScoredLaunch {
  const { token, launched_at, liquidity_usd } = launch;
  const subject = { token, launched_at, liquidity_usd };
  const reason = unreadOf(launch, wallet, model);
  if (reason !== null) return { ...subject, outcome: 'unscored', reason };
  const features = featuresOf(knownOf(launch, wallet), settle_days);
  const { score, strongest } = predict(model, features);
  if (level === null || score < level) return { ...subject, outcome: 'passed', score };
  // What nobody measured is no evidence, and a flag without evidence is none.
  if (strongest === null) return { ...subject, outcome: 'unscored', reason: UNMEASURED };
  if (isEstablished({ ...subject, is_listed_token: isListedToken(launch) }, now)) {
    return { ...subject, outcome: 'suppressed', score };
  }
  const { feature, value, contribution, statement } = strongest;
  const top_evidence = { feature, value, contribution, statement };
  return { ...subject, outcome: 'flagged', score, top_evidence };
}

const UNMEASURED = 'nothing that raises its score was measured';

function unreadOf(
  { listed, launched_with_unread }: LaunchOnRecord,
  { unread }: WalletToScore,
  model: Judging['model'],
): string | null {
  if (listed === null) return 'whether a venue lists it was not read';
  if (unread !== null || launched_with_unread === null || !asksLiquidity(model)) return unread;
  return `what it was launched with was not read: ${launched_with_unread}`;
}

/** Whether a model ever looks at what a token was launched with. */
function asksLiquidity({ features, trees }: Judging['model']): boolean {
  const splits = trees.flat().filter((node) => 'feature' in node);
  return splits.some(({ feature }) => features[feature] === 'liquidity_usd');
}

/** What was known when the wallet was observed; what nobody reads of a launch is missing. */
function knownOf({ launched_at, launched_with_usd }: LaunchOnRecord, wallet: WalletToScore) {
  return {
    launched_at,
    scored_at: wallet.observed_at,
    deployer_launches: wallet.launches.map((one) => {
      return { launched_at: one.launched_at, seen: one.seen };
    }),
    deployer_funded_at: null,
    // What a venue tells is what is pooled now, which says nothing of the launch.
    liquidity_usd: launched_with_usd,
    holder_top10_share: null,
    owner_can_mint: null,
    owner_can_block: null,
    ownership_renounced: null,
  };
}

// From which score on does a model flag a launch? The level follows from the card of its artefact
// alone: from what happened in the test part.

/** Of the launches of the test part that a level would have flagged, so many died at least. */
const FLAGGED_DIED_MIN = 0.75;

/**
 * The lowest bound of the reliability table at which the lower end of the 95% interval of the
 * share that died, over all launches with that score or more, reaches `FLAGGED_DIED_MIN` and lies
 * above the share of all launches. `null` where no bound does: such a model flags nothing.
 */
export function flagLevel({ test }: Pick<ModelCard, 'test'>): number | null {
  const rows = [...test.reliability].sort((a, b) => b.score_from - a.score_from);
  let level: number | null = null;
  let [launches, died] = [0, 0];
  for (const row of rows) {
    launches += row.launches;
    died += row.died;
    const interval = wilsonInterval(died, launches);
    if (interval === null) continue;
    if (interval.low >= FLAGGED_DIED_MIN && interval.low > test.died_share.value) {
      level = row.score_from;
    }
  }
  return level;
}
