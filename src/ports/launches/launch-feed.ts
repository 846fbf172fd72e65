// Answers one question: which launches does the chain show, transaction by transaction?
// What was not listed or could not be read is told as such, so that it can be kept as a gap.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings. */
export type LaunchFeedPort = 'launch_feed';

/** A launch as its transaction shows it. */
export type SeenLaunch = {
  readonly mint: string;
  /** Who signed it: never whom the instruction names as creator. */
  readonly deployer: string;
  /** The program and instruction that made it. */
  readonly made_by: string;
  readonly signature: string;
  readonly slot: number;
  readonly launched_at: UnixSeconds;
};

/** A transaction of a watched account, without its content. */
export type ListedTransaction = {
  readonly signature: string;
  /** `null` where the node does not tell it. */
  readonly at: UnixSeconds | null;
  readonly failed: boolean;
};

/** What a node listed of an account. */
export type Listing = {
  /** Oldest first, without the one that was asked from. */
  readonly transactions: readonly ListedTransaction[];
  /** Whether the one that was asked from was met, so that none between is missing. */
  readonly met: boolean;
  /** When the newest were listed. */
  readonly asked_at: UnixSeconds;
};

/** What a transaction shows; `rejected`: it is broken, and why. */
export type ReadTransaction =
  | { readonly launches: readonly SeenLaunch[] }
  | { readonly rejected: string };

export type LaunchFeed = {
  /** What was listed of an account after a signature; `null`: its newest. */
  readonly listed: (
    account: string,
    after: string | null,
    signal: AbortSignal,
  ) => Promise<Reading<Listing, LaunchFeedPort>>;
  /** The launches of a transaction. */
  readonly launchesOf: (
    signature: string,
    signal: AbortSignal,
  ) => Promise<Reading<ReadTransaction, LaunchFeedPort>>;
};
