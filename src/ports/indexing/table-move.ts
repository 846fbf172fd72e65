// Where does moving the filled tables of an earlier version stand, and how does it go on?

import type { Reading } from '../../evidence/reading.ts';
import type { TransferStorePort } from './transfer-store.ts';

/**
 * `moved`: no table is left as it was. Rows are those of all tables. `settling`: rows of a table
 * that is copied are being written just now. `swapped`: a table was just replaced by the one it was
 * moved to; what it was is dropped by the next step.
 */
export type TableMove =
  | { readonly state: 'moved' }
  | {
      readonly state: 'moving' | 'settling' | 'swapped';
      readonly tables: number;
      readonly tables_moved: number;
      readonly rows: number;
      readonly rows_moved: number;
    };

/** A move that is made step by step; each may be cut off, and made again. */
export type TableMoving = {
  readonly status: () => Promise<Reading<TableMove, TransferStorePort>>;
  /** `mayReplace` is asked right before a table is replaced: by one process at a time. */
  readonly step: (
    mayReplace: () => Promise<boolean>,
    signal: AbortSignal,
  ) => Promise<Reading<TableMove, TransferStorePort>>;
};

/** What was found last, and when (Unix seconds); `null` before the first look. */
export type TableMoveReport = {
  readonly as_of: number;
  readonly told: Reading<TableMove, TransferStorePort>;
} | null;
