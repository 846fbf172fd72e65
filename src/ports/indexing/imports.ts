// Answers one question: which imports has this warehouse had, and what became of each?

import type { ChainName } from '../../chain/chain.ts';
import type { ImportOrigin } from '../../evidence/origin.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { TransferStorePort } from './transfer-store.ts';

/**
 * How an import stands. `begun` has not come to its end: the same command goes on with it.
 * `forgetting` is being taken out again, or was when its process ended.
 */
export type ImportState = 'begun' | 'completed' | 'forgetting' | 'forgotten';

/** An import by its id. Counts are those of its end, 0 before. */
export type ListedImport = {
  readonly import_id: string;
  readonly chain: ChainName;
  readonly source: string;
  readonly origin: ImportOrigin;
  readonly state: ImportState;
  readonly rows: number;
  readonly rows_refused: number;
  readonly transfers: number;
  /** Unix seconds. */
  readonly began_at: number;
  readonly changed_at: number;
};

/** The imports of a warehouse, the newest first. */
export type ImportList = {
  readonly imports: () => Promise<Reading<readonly ListedImport[], TransferStorePort>>;
};
