// What of what is known of a launch becomes the model's features?
// Only what was known at the moment of scoring counts: whatever is dated later is left out here,
// whoever hands it over. A value that nobody read is missing, never zero.

import { DAY_S, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { rate } from '../../evidence/measure.ts';
import type { Features } from '../../ports/flags/rug-features.ts';

/** A launch by the same deployer, as it was last seen. */
export type EarlierLaunch = {
  readonly launched_at: UnixSeconds;
  /** `null`: it was never listed, or what became of it is not known. */
  readonly seen: { readonly as: 'died' | 'live'; readonly at: UnixSeconds } | null;
};

/** What is known of a launch. Amounts in US dollars; `null` was not read. */
export type KnownLaunch = {
  readonly launched_at: UnixSeconds | null;
  readonly scored_at: UnixSeconds;
  /** All launches of its deployer that were read, in any order; this one may be among them. */
  readonly deployer_launches: readonly EarlierLaunch[] | null;
  readonly deployer_funded_at: UnixSeconds | null;
  readonly liquidity_usd: number | null;
  readonly holder_top10_share: number | null;
  readonly owner_can_mint: boolean | null;
  readonly owner_can_block: boolean | null;
  readonly ownership_renounced: boolean | null;
};

/** How old a launch must have been seen alive to count as one that lived: 30 days. */
export const SETTLE_DAYS = 30;

/** The newest launches of a deployer that count: counts end here, and so does the work. */
export const HISTORY_MAX = 1_000;

const WEEK_S = 7 * DAY_S;

/**
 * The features of a launch. `settleDays` is the age from which one seen alive counts as settled:
 * that of the model's card.
 */
export function featuresOf(known: KnownLaunch, settleDays: number): Features {
  const { launched_at: launchedAt, scored_at: scoredAt } = known;
  return {
    ...historyOf(known, settleDays),
    deployer_funded_hours_before: hoursBetween(known.deployer_funded_at, launchedAt),
    liquidity_usd: known.liquidity_usd,
    holder_top10_share: known.holder_top10_share,
    owner_can_mint: asNumber(known.owner_can_mint),
    owner_can_block: asNumber(known.owner_can_block),
    ownership_renounced: asNumber(known.ownership_renounced),
    token_hours: hoursBetween(launchedAt, scoredAt),
  };
}

type HistoryName =
  | 'deployer_launches_before'
  | 'deployer_launches_in_week_before'
  | 'deployer_settled_before'
  | 'deployer_died_before'
  | 'deployer_death_rate_before'
  | 'deployer_hours_since_launch'
  | 'deployer_hours_since_first';

const NO_HISTORY: Pick<Features, HistoryName> = {
  deployer_launches_before: null,
  deployer_launches_in_week_before: null,
  deployer_settled_before: null,
  deployer_died_before: null,
  deployer_death_rate_before: null,
  deployer_hours_since_launch: null,
  deployer_hours_since_first: null,
};

function historyOf(known: KnownLaunch, settleDays: number): Pick<Features, HistoryName> {
  const { launched_at: at, scored_at: by, deployer_launches: all } = known;
  if (at === null || all === null) return NO_HISTORY;
  let [before, week, settled, died, first, last] = [0, 0, 0, 0, Infinity, -Infinity];
  for (const { launched_at, seen } of newestBefore(all, at)) {
    before += 1;
    if (at - launched_at <= WEEK_S) week += 1;
    first = Math.min(first, launched_at);
    last = Math.max(last, launched_at);
    if (seen === null || seen.at > by) continue;
    const isDead = seen.as === 'died';
    if (isDead) died += 1;
    if (isDead || seen.at - launched_at >= settleDays * DAY_S) settled += 1;
  }
  return {
    deployer_launches_before: before,
    deployer_launches_in_week_before: week,
    deployer_settled_before: settled,
    deployer_died_before: died,
    deployer_death_rate_before: rate(died, settled),
    deployer_hours_since_launch: before === 0 ? null : (at - last) / HOUR_S,
    deployer_hours_since_first: before === 0 ? null : (at - first) / HOUR_S,
  };
}

function newestBefore(all: readonly EarlierLaunch[], at: UnixSeconds): readonly EarlierLaunch[] {
  const before = all.filter(({ launched_at }) => launched_at < at);
  if (before.length <= HISTORY_MAX) return before;
  return before.sort((a, b) => b.launched_at - a.launched_at).slice(0, HISTORY_MAX);
}

/** Hours from one moment to a later one; missing where either is, or out of order. */
function hoursBetween(from: UnixSeconds | null, to: UnixSeconds | null): number | null {
  if (from === null || to === null || to < from) return null;
  return (to - from) / HOUR_S;
}

function asNumber(flag: boolean | null): number | null {
  return flag === null ? null : Number(flag);
}
