// Answers one question: whose launches are to be scored, and what came of it?
// What a model says of a wallet is written in one piece, with the events that tell of it.

import type { ChainName } from '../../chain/chain.ts';
import { DAY_S, type UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { EstablishedTokens } from './established-tokens.ts';
import type { TopEvidence } from './rug-flags.ts';

/** The name of this port in readings. */
export type LaunchScoringPort = 'launch_scoring';

/** The chains whose launches are collected here. */
export const SCORED_CHAINS = ['ethereum', 'solana'] as const satisfies readonly ChainName[];
export type ScoredChainName = (typeof SCORED_CHAINS)[number];

/** A launch is scored until it is so old. */
export const NEW_FOR_S = 30 * DAY_S;

/** One launch on record, as it was last observed. */
export type LaunchOnRecord = {
  readonly token: string;
  readonly launched_at: UnixSeconds;
  readonly liquidity_usd: number | null;
  /** Pooled when it was launched, both sides; `null` where that was not read or nobody can tell. */
  readonly launched_with_usd: number | null;
  /** Why that was not read, where a source was silent; `null` in every other case. */
  readonly launched_with_unread: string | null;
  /** Whether a venue lists it, or listed it; `null` where that was not read. */
  readonly listed: boolean | null;
  /** What became of it; `null` where that is not known yet. */
  readonly seen: { readonly as: 'died' | 'live'; readonly at: UnixSeconds } | null;
};

/** A wallet of which something became known since it was scored last. */
export type WalletToScore = {
  readonly chain: ScoredChainName;
  readonly address: string;
  readonly observed_at: UnixSeconds;
  readonly launches: readonly LaunchOnRecord[];
  /** What of its launches was not read, in words; `null` where all of them were. */
  readonly unread: string | null;
};

type Subject = Pick<LaunchOnRecord, 'token' | 'launched_at' | 'liquidity_usd'>;

/** What a model says of a launch. */
export type ScoredLaunch = Subject &
  (
    | { readonly outcome: 'flagged'; readonly score: number; readonly top_evidence: TopEvidence }
    | { readonly outcome: 'passed' | 'suppressed'; readonly score: number }
    /** An input was not read: nothing is said of it. */
    | { readonly outcome: 'unscored'; readonly reason: string }
  );

/** What a model says of a wallet, and which of its launches are on record at all. */
export type ScoredWallet = Omit<WalletToScore, 'launches' | 'unread'> & {
  readonly model_version: string;
  readonly scored_at: UnixSeconds;
  readonly launches: readonly ScoredLaunch[];
  readonly on_record: readonly string[];
};

/** What a commit changed. `false`: another process had scored the same already. */
export type Committed = { readonly flagged: number; readonly retracted: number } | false;

/** A run over a chain, noted when it has ended. */
export type ScorerRun = {
  readonly chain: ScoredChainName;
  readonly began_at: UnixSeconds;
  readonly model_version: string;
  readonly wallets: number;
  readonly scored: number;
  readonly flagged: number;
  readonly suppressed: number;
  readonly unscored: number;
  readonly retracted: number;
  readonly waiting: number;
};

/** Wallets that are due, and how many there are in all. */
export type Due = { readonly wallets: readonly WalletToScore[]; readonly due: number };

/** Where scores are kept. */
export type LaunchScoring = {
  /** Wallets whose launches this model has not scored as they are on record now. */
  readonly due: (
    chain: ScoredChainName,
    modelVersion: string,
    most: number,
  ) => Promise<Reading<Due, LaunchScoringPort>>;
  /** Writes what is said of a wallet, with its events, all of it or nothing. */
  readonly commit: (scored: ScoredWallet) => Promise<Reading<Committed, LaunchScoringPort>>;
  readonly end: (run: ScorerRun) => Promise<Reading<true, LaunchScoringPort>>;
};

/** What a scorer rests on beside a model. */
export type ScoringParts = {
  readonly scoring: LaunchScoring;
  readonly established: EstablishedTokens;
};
