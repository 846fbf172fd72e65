// How does the Solana launch corpus take in observations of launches, and count them?
// A launch is known by its mint: a later check of the same mint takes the place of the earlier one,
// except that what has settled stays settled.

import type { ImportOrigin } from '../../evidence/origin.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { ImportOutcome, ImportTable, ImportWatch } from '../tables/table-import.ts';
import type { LaunchCount } from './launches.ts';

/** The name of this port in readings. */
export type CorpusTablePort = 'corpus_table';

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

/** The Solana launch corpus as importers and snapshots see it. */
export type CorpusTable = ImportTable<Launch, CorpusTablePort> & {
  /** How many launches have settled, over all wallets. */
  readonly settled: () => Promise<Reading<number, CorpusTablePort>>;
  /** A page of the wallets with settled launches, in order of address, after `afterDeployer`. */
  readonly counts: (
    afterDeployer: string,
    rowsMax: number,
  ) => Promise<Reading<readonly LaunchCount[], CorpusTablePort>>;
  /** The same of these wallets only. */
  readonly countsOf: (
    deployers: readonly string[],
  ) => Promise<Reading<readonly LaunchCount[], CorpusTablePort>>;
};

/** An import as an operator asks for it. */
export type CorpusImportOrder = {
  readonly path: string;
  readonly source: string;
  readonly origin: ImportOrigin;
};

/** Imports a file of launches. */
export type ImportCorpus = (order: CorpusImportOrder, watch: ImportWatch) => Promise<ImportOutcome>;
