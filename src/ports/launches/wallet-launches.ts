// Answers one question: what did a Solana wallet launch, and what became of it a day later?
// It rests on the launches that this deployment recorded: a wallet without one has not been
// cleared. Where collection has fallen behind, what is not found was not looked for.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type WalletLaunchesPort = 'wallet_launches';

/** A launch whose window had passed when the venue was asked. */
export type SettledLaunch = {
  readonly mint: string;
  readonly launched_at: UnixSeconds;
  /** When it was checked. */
  readonly settled_at: UnixSeconds;
  readonly listed_after_window: boolean;
};

/** So many launches, and how many of them were still listed after their window. */
export type Measured = { readonly launches: number; readonly listed: number };

/**
 * What the flag was worth on launches of a later window. `flagged`: those of wallets of which every
 * launch that had settled before the split had died; `rest`: all others.
 */
export type HoldOut = {
  /** An ISO 8601 day: launches from its first second on are held out. */
  readonly split: string;
  readonly flagged: Measured;
  readonly rest: Measured;
  /** Settled launches before the split, the wallets that made them, and how many are flagged. */
  readonly history: {
    readonly launches: number;
    readonly wallets: number;
    readonly flagged_wallets: number;
  };
};

/** What was collected from the chain, and what was missed. */
export type Collection = {
  readonly since: UnixSeconds;
  /** Up to when every watched account was read. */
  readonly reached_at: UnixSeconds;
  readonly gaps: number;
  /** Seconds that the gaps cover, summed over the watched accounts. */
  readonly missed_s: number;
};

/** What stands behind every answer about a wallet. */
export type CorpusState = {
  readonly settled_launches: number;
  /** `null` where nothing was ever collected here: all launches came by import. */
  readonly collection: Collection | null;
  /** `null` where no launch was held out. */
  readonly hold_out: HoldOut | null;
};

/** What is recorded of a wallet. */
export type WalletRecord = {
  readonly corpus: CorpusState;
  readonly settled: number;
  /** Of these, no longer listed when they were checked. */
  readonly died: number;
  /** Mints on record whose window has not passed, or of which the venue has not told. */
  readonly waiting: readonly string[];
  /** The newest settled launches, up to `ENTRIES_MAX`. */
  readonly entries: readonly SettledLaunch[];
};

/** How many of a wallet's launches are shown. */
export const ENTRIES_MAX = 500;
/** How many that wait are read of a wallet: a day has room for no more. */
export const WAITING_MAX = 100_000;

/** Who launched a mint. */
export type MintLaunch = {
  readonly deployer: string;
  readonly launched_at: UnixSeconds;
  /** The transaction that launched it; `null` where an import told of it. */
  readonly signature: string | null;
};

export type WalletLaunches = {
  /** What a wallet launched, by its exact address. */
  readonly of: (wallet: string) => Promise<Reading<WalletRecord, WalletLaunchesPort>>;
  /** Who launched a mint, settled or not; `null`: no launch of it is on record. */
  readonly launchOf: (
    mint: string,
  ) => Promise<
    Reading<
      { readonly corpus: CorpusState; readonly launch: MintLaunch | null },
      WalletLaunchesPort
    >
  >;
};

/** Measures the flag against what came later. */
export type FlagEvaluation = {
  /** On the launches from a day on; `null`: from the day that leaves a quarter of them. */
  readonly heldOut: (split: string | null) => Promise<Reading<HoldOut | null, WalletLaunchesPort>>;
};
