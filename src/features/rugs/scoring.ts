// What does a model say of the new launches of a wallet?
// A launch of which an input was not read is not scored, which is not that it is not flagged.

import { DAY_S, type UnixSeconds } from '../../chain/time.ts';
import type {
  LaunchOnRecord,
  ScoredLaunch,
  WalletToScore,
} from '../../ports/flags/launch-scoring.ts';
import type { PublishedModel } from '../../ports/flags/published-model.ts';
import { featuresOf } from '../rug-model/features.ts';
import { predict } from '../rug-model/predict.ts';
import { isEstablished } from './board.ts';

/** A launch is scored until it is so old. */
export const NEW_FOR_S = 30 * DAY_S;

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
  const reason = unreadOf(launch, wallet);
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

function unreadOf({ listed }: LaunchOnRecord, { unread }: WalletToScore): string | null {
  return listed === null ? 'whether a venue lists it was not read' : unread;
}

/** What was known when the wallet was observed; what nobody reads of a launch is missing. */
function knownOf({ launched_at }: LaunchOnRecord, wallet: WalletToScore) {
  return {
    launched_at,
    scored_at: wallet.observed_at,
    deployer_launches: wallet.launches.map((one) => {
      return { launched_at: one.launched_at, seen: one.seen };
    }),
    deployer_funded_at: null,
    // What a venue tells is what is pooled now, which says nothing of the launch.
    liquidity_usd: null,
    holder_top10_share: null,
    owner_can_mint: null,
    owner_can_block: null,
    ownership_renounced: null,
  };
}
