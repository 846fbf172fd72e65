// Answers one question: which launches did the rug model flag lately, and what was scored at all?
// A table that nobody has ever written is read as such; a window that was scored in part is a part.

import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { Partly } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type RugFlagsPort = 'rug_flags';

/** What weighs most in a score: a feature with its value, in numbers and in words. */
export type TopEvidence = {
  readonly feature: string;
  /** `null` where the feature has no value: a first launch has no earlier ones. */
  readonly value: number | null;
  /** By how much it moves the score, in the model's own units. */
  readonly contribution: number;
  readonly statement: string;
};

/** A launch that the model flags. Amounts in US dollars. */
export type LaunchFlag = {
  readonly chain: ChainName;
  /** The wallet that launched it. */
  readonly address: string;
  readonly token: string;
  readonly launched_at: UnixSeconds;
  /** Pooled liquidity as last observed; `null` where it is not known. */
  readonly liquidity_usd: number | null;
  /** The calibrated output of the model, from 0 to 1. */
  readonly score: number;
  readonly first_flagged_at: UnixSeconds;
  readonly last_scored_at: UnixSeconds;
  readonly top_evidence: TopEvidence;
  readonly model_version: string;
  /** Whether the token stands on the reviewed list of established ones. */
  readonly is_listed_token: boolean;
};

/** What was scored of a chain in the window. Only chains that were ever scored are named. */
export type ScoredChain = {
  readonly chain: ChainName;
  /** When its last run ended. */
  readonly last_scored_at: UnixSeconds;
  readonly model_version: string;
  readonly scored: number;
  /** Flagged by the model and suppressed by the scorer, as established tokens. */
  readonly suppressed: number;
  /** Launches of which an input was not read: nothing is said of them. */
  readonly unscored: number;
  /** Wallets that wait to be scored. */
  readonly waiting: number;
};

/** A window of the table. `chains` is empty where no scorer has ever written. */
export type FlagWindow = {
  readonly chains: readonly ScoredChain[];
  /** Those last scored in the window, the highest score first. */
  readonly flags: readonly LaunchFlag[];
};

/** The table of flags. */
export type RugFlags = {
  /** The last `windowS` seconds. */
  readonly inWindow: (windowS: number) => Promise<Partly<FlagWindow, RugFlagsPort>>;
};
