// A wallet without a record has not been seen to launch; that says nothing else about it.

import { z } from 'zod';
import { formatIsoTime, type UnixSeconds } from '../chain/time.ts';
import type { Partly, Reading } from '../evidence/reading.ts';
import { type Why, why } from '../evidence/reasons.ts';
import { SCORED_CHAINS } from './rug-model.ts';

/** The name of this port in readings and contracts. */
export type LaunchCorpusPort = 'launch_corpus';

/** `flagged` where every settled launch of a wallet died, else `record`. */
export const LAUNCH_ANSWERS = ['flagged', 'record'] as const;
export type LaunchAnswer = (typeof LAUNCH_ANSWERS)[number];

/** One launch as last checked. Times are Unix seconds. */
export const launch = z.strictObject({
  mint: z.string(),
  deployer: z.string(),
  launched_at: z.number(),
  /** Whether it was listed when its window had passed; `null` where that is not known. */
  listed_after_window: z.boolean().nullable(),
  last_checked_at: z.number(),
  /** Whether the window had passed at that check and the answer is known. */
  settled: z.boolean(),
});
export type Launch = Readonly<z.output<typeof launch>>;

/** The settled launches of one wallet, counted. */
export type LaunchCount = {
  readonly deployer: string;
  readonly launches_settled: number;
  /** Settled launches no longer listed when their window had passed. */
  readonly died: number;
};

/** The result of a look-up, by the exact address of a wallet or of a mint. */
export type CorpusLookUp = {
  readonly settled_launches: number;
  readonly found: ReadonlyMap<string, LaunchCount>;
  /** Of each settled mint that was asked about, the wallet that launched it. */
  readonly launchers: ReadonlyMap<string, string>;
};

/**
 * The Solana launch corpus. Readable once an import of it has completed; a part while what is
 * collected of the chain has fallen behind, so that what it lacks was not looked for.
 */
export type LaunchCorpus = {
  readonly lookUp: (
    addresses: readonly string[],
  ) => Promise<Partly<CorpusLookUp, LaunchCorpusPort>>;
};

// Unlisted and unreadable transactions are reported as such, so that they can be stored as gaps.

/** The name of this port in readings. */
export type LaunchFeedPort = 'launch_feed';

/**
 * The credit of a launch. `creation`: to the signer of the launchpad's instruction that made the
 * mint. `first_transaction`: to the signer of the transaction that made the mint of a pool.
 */
export type LaunchCredit = 'creation' | 'first_transaction';

/** A launch as its transaction shows it. */
export type SeenLaunch = {
  readonly mint: string;
  /**
   * The signer for the mint: never the creator that an instruction names, or the maker of a pool.
   */
  readonly deployer: string;
  readonly credited_by: LaunchCredit;
  /** The program and instruction that launched it. */
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

/** A page of an account's list of transactions. */
export type AccountPage = {
  /** Oldest first, without the one that was asked from. */
  readonly transactions: readonly ListedTransaction[];
  /** Whether the one that was asked from was met, so that none between is missing. */
  readonly met: boolean;
  /** Up to when the node had followed the chain before it listed these. */
  readonly asked_at: UnixSeconds;
};

/** A mint that was pooled, and why it was not read who made it. */
export type UnreadLaunch = { readonly mint: string; readonly reason: string };

/** The launches of a transaction; `rejected`: the reason why it is malformed. */
export type ReadTransaction =
  | { readonly launches: readonly SeenLaunch[]; readonly unread: readonly UnreadLaunch[] }
  | { readonly rejected: string };

export type LaunchFeed = {
  /** The transactions of an account after a signature; `null`: its newest. */
  readonly listed: (
    account: string,
    after: string | null,
    signal: AbortSignal,
  ) => Promise<Reading<AccountPage, LaunchFeedPort>>;
  /** The launches of a transaction. */
  readonly launchesOf: (
    signature: string,
    signal: AbortSignal,
  ) => Promise<Reading<ReadTransaction, LaunchFeedPort>>;
};

// A venue that is silent, or does not tell what would decide it, has not said that it is gone.

/** The name of this port in readings. */
export type LaunchListingsPort = 'launch_listings';

/** `untold`: a pool is listed of which the venue leaves out the liquidity that would decide. */
export type ListingState = 'listed' | 'gone' | 'untold';

export type LaunchListings = {
  readonly stateOf: (
    mint: string,
    signal: AbortSignal,
  ) => Promise<Reading<ListingState, LaunchListingsPort>>;
};

// The counts are of launches collected here, which are a part of all launches.

/** The name of this port in readings. */
export type LaunchMonthsPort = 'launch_months';

/** The launches of one month (UTC) on one chain. */
export const launchMonth = z.strictObject({
  /**
   * On Ethereum a launch is listed where a venue lists it, and died where its pools hold less than
   * the exit level. On Solana it is counted once its window has passed, and died where a venue
   * lists it on the curve of its launchpad at most by then.
   */
  chain: z.enum(SCORED_CHAINS),
  /** `YYYY-MM`. */
  month: z.string(),
  listed: z.int().nonnegative(),
  died: z.int().nonnegative(),
  /** Launches whose outcome is not known: in no count. */
  unchecked: z.int().nonnegative(),
});
export type LaunchMonth = z.output<typeof launchMonth>;

export type LaunchMonths = {
  /** The last `monthsMax` months with this one, oldest first; a month without any is absent. */
  readonly newest: (
    monthsMax: number,
  ) => Promise<Reading<readonly LaunchMonth[], LaunchMonthsPort>>;
};

// Launches, gaps and the place in the list move together: a process that is killed leaves all of a
// step or nothing of it.

/** The name of this port in readings. */
export type LaunchCollectionPort = 'launch_collection';

/** How far an account was read. */
export const accountCursor = z.strictObject({
  signature: z.string().nullable(),
  since: z.number(),
  reached_at: z.number(),
  /** How often in a row the next transaction could not be read. */
  attempts: z.int().nonnegative(),
});
export type AccountCursor = z.output<typeof accountCursor>;

/** An unread period, in seconds from start to end. */
export type CollectionGap = {
  readonly from_at: UnixSeconds;
  readonly to_at: UnixSeconds;
  readonly reason: string;
  /** The mint whose launch was not read: there is no gap where it is on record. */
  readonly mint: string | null;
};

/** A step forward in the list of an account. */
export type CollectionStep = {
  readonly account: string;
  /** The place that it was read from; another's step since then makes this one void. */
  readonly from: AccountCursor | null;
  readonly to: AccountCursor;
  readonly launches: readonly SeenLaunch[];
  readonly gaps: readonly CollectionGap[];
};

/** The source under which settlements stand among the imports of the corpus. */
export const SETTLED_HERE = 'settled here';

/** A launch that version 0.2.0 credited to whoever made the pool. */
export const uncreditedLaunch = z.strictObject({ mint: z.string(), signature: z.string() });
export type UncreditedLaunch = z.output<typeof uncreditedLaunch>;

/** A launch that is due to be asked for at the venue. */
export const dueLaunch = launch.pick({ mint: true, deployer: true, launched_at: true });
export type DueLaunch = z.output<typeof dueLaunch>;

export type LaunchCollection = {
  readonly cursorOf: (
    account: string,
  ) => Promise<Reading<AccountCursor | null, LaunchCollectionPort>>;
  /** Keeps a step, or nothing where another process has gone on meanwhile: `false`. */
  readonly keep: (step: CollectionStep) => Promise<Reading<boolean, LaunchCollectionPort>>;
  /**
   * Takes launches that are due, for so many seconds: those whose window has passed, and not
   * so long ago that the venue could no longer tell. Imported launches that wait are among them.
   */
  readonly takeDue: (
    max: number,
    forS: number,
  ) => Promise<Reading<readonly DueLaunch[], LaunchCollectionPort>>;
  /** Launches of which nobody has read who made the mint. */
  readonly uncredited: (
    max: number,
  ) => Promise<Reading<readonly UncreditedLaunch[], LaunchCollectionPort>>;
  /** Credits such a launch as it was read; `null`: it is nobody's, and not on record any more. */
  readonly credit: (
    mint: string,
    launch: SeenLaunch | null,
  ) => Promise<Reading<true, LaunchCollectionPort>>;
  /** Launches of the corpus under another wallet than the chain credits, as they should stand. */
  readonly miscredited: (max: number) => Promise<Reading<readonly Launch[], LaunchCollectionPort>>;
  /** Notes why launches were not settled; they are due again after so many seconds. */
  readonly postpone: (
    mints: readonly string[],
    reason: string,
    forS: number,
  ) => Promise<Reading<true, LaunchCollectionPort>>;
};

/** A collection past this age carries no negative, in seconds. */
const COLLECTION_MAX_AGE_S = 172_800;

/** Up to when everything that is watched was read; `null`: nothing is watched. */
export type ReachedAt = () => Promise<Reading<UnixSeconds | null, LaunchCollectionPort>>;

/** Why a collection that reached so far carries no negative, or `null`. */
export function staleness(reachedAt: UnixSeconds | null, now: UnixSeconds): Why | null {
  if (reachedAt === null || now - reachedAt <= COLLECTION_MAX_AGE_S) return null;
  return why('launch_collection_stale', { at: formatIsoTime(reachedAt) });
}
