// Answers one question: which settled Solana launches are on record for these wallets.
// A wallet without a record has not been seen to launch; that says nothing else about it.

import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type LaunchCorpusPort = 'launch_corpus';

/** The settled launches of one wallet, counted. */
export type LaunchCount = {
  readonly deployer: string;
  readonly launches_settled: number;
  /** Settled launches no longer listed when their window had passed. */
  readonly died: number;
};

/** What a look-up found, by the wallet's exact address. */
export type CorpusLookUp = {
  readonly settled_launches: number;
  readonly found: ReadonlyMap<string, LaunchCount>;
};

/** The Solana launch corpus. Readable once an import of it has completed. */
export type LaunchCorpus = {
  readonly lookUp: (
    deployers: readonly string[],
  ) => Promise<Reading<CorpusLookUp, LaunchCorpusPort>>;
};
