// Answers one question: what did the last walk of a deployer's launches come to?
// A record is committed whole, with the time at which it was captured, and does not expire. An
// address that was never walked has no record, which says nothing about it.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type DeployerRecordsPort = 'deployer_records';

/** The only chain whose deployers are walked. */
export const DEPLOYER_CHAIN = 'ethereum';

/**
 * What became of a launch. `unchecked`: the venue did not answer, or did not tell the liquidity
 * that would decide it; that is never a death.
 */
export const LAUNCH_OUTCOMES = ['live', 'died', 'never_listed', 'unchecked'] as const;
export type LaunchOutcome = (typeof LAUNCH_OUTCOMES)[number];

/**
 * Why nobody can say what a token was launched with. `unasked`: no venue lists it, or it is old.
 * `no_pool`: the exchange that is read has no pool of it with a coin that counts.
 * `not_by_deployer`: somebody else put the first liquidity in. `older_pool`: another pool may be
 * the first. `unpriced`: no price of the coin is known at that time.
 */
export const LAUNCHED_WITH_UNKNOWN = [
  'unasked',
  'no_pool',
  'not_by_deployer',
  'older_pool',
  'unpriced',
] as const;

/**
 * What was pooled when a token was launched. `usd`: both sides, decimal text. `amount`: of the coin
 * alone, in whole units. `price`: whence the price is. `unread`: a source was silent.
 */
export type LaunchedWith =
  | {
      readonly state: 'known';
      readonly usd: string;
      readonly pool: string;
      readonly coin: string;
      readonly amount: string;
      readonly tx: string;
      readonly at: UnixSeconds;
      readonly price: string;
    }
  | { readonly state: 'unknown'; readonly cause: (typeof LAUNCHED_WITH_UNKNOWN)[number] }
  | { readonly state: 'unread'; readonly reason: string };

/** One token that the deployer launched. Addresses in lower case, amounts in US dollars. */
export type ObservedLaunch = {
  readonly address: string;
  readonly created_at: UnixSeconds;
  /** The deployer's own factory that made it; `null` where the deployer made it directly. */
  readonly factory: string | null;
  readonly outcome: LaunchOutcome;
  /** Over the pools in which it is the base token; `null` where no pool tells it. */
  readonly liquidity_usd: number | null;
  readonly volume_usd_24h: number | null;
  /** `null` where its transfers could not be read. */
  readonly transfers_observed: number | null;
  readonly transfers_truncated: boolean | null;
  readonly launched_with: LaunchedWith;
};

/** Why a contract is no launch of this deployer. */
export const SKIP_REASONS = [
  'not_an_erc20',
  'attribution_mismatch',
  'reverted_creation',
  'undetermined',
] as const;
export type Skipped = {
  readonly address: string;
  readonly reason: (typeof SKIP_REASONS)[number];
};

/** What one walk observed. Each contract examined stands once, in `launches` or in `skipped`. */
export type DeployerWalk = {
  readonly address: string;
  readonly captured_at: UnixSeconds;
  /** The pooled liquidity below which a listed launch has died. */
  readonly exit_liquidity_usd: number;
  readonly launches: readonly ObservedLaunch[];
  readonly skipped: readonly Skipped[];
  /** Contracts that the address made itself and is credited with. */
  readonly direct_creations: number;
  readonly factories_walked: number;
  /** Whether something was left out, so that every count is a floor. */
  readonly truncated: boolean;
  readonly truncated_factories: readonly string[];
  /** Who was asked: names with scheme and host. */
  readonly providers: readonly string[];
};

/** A walk that came to nothing, later than the record that stands. */
export type FailedWalk = { readonly at: UnixSeconds; readonly reason: string };

/** A walk as it is committed, and the failure of a later one. */
export type CommittedRecord = DeployerWalk & { readonly failed: FailedWalk | null };

/** The committed records. */
export type DeployerRecords = {
  /**
   * The record of an address of `DEPLOYER_CHAIN`. Where there is none the address is put into the
   * queue of walks, and the unread reading says so, or why it was not.
   */
  readonly recordOf: (address: string) => Promise<Reading<CommittedRecord, DeployerRecordsPort>>;
  /** The same for whoever may not have an address walked: who has no record is not queued. */
  readonly heldOf: (address: string) => Promise<Reading<CommittedRecord, DeployerRecordsPort>>;
};
