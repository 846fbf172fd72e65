// Answers one question: which settled Solana launches are on record for these wallets.
// A wallet without a record has not been seen to launch; that says nothing else about it.

import type { Partly } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type LaunchCorpusPort = 'launch_corpus';

/** One launch as last checked. Times are Unix seconds. */
export type Launch = {
  readonly mint: string;
  readonly deployer: string;
  readonly launched_at: number;
  /** Whether it was listed when its window had passed; `null` where that is not known. */
  readonly listed_after_window: boolean | null;
  readonly last_checked_at: number;
  /** Whether the window had passed at that check and the answer is known. */
  readonly settled: boolean;
};

/** The settled launches of one wallet, counted. */
export type LaunchCount = {
  readonly deployer: string;
  readonly launches_settled: number;
  /** Settled launches no longer listed when their window had passed. */
  readonly died: number;
};

/** What a look-up found, by the exact address of a wallet or of a mint. */
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
