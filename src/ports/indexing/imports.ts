// Imports of chain exports into the transfer store: what is asked of one, what it came to, and how
// it is taken out again. Blocks are held in full only where the files prove it or the operator says
// so.

import { type ChainName, EVM_CHAINS, type EvmChainName } from '../../chain/chain.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { ImportOrigin } from '../../evidence/source.ts';
import type { HeldRange, TransferStorePort } from './transfer-store.ts';

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

/** The kinds of file that are imported, and those which are known and left aside. */
export type BulkDataset =
  | 'token_transfers'
  | 'traces'
  | 'transactions'
  | 'native_transfers'
  | 'contracts'
  | 'blocks'
  | 'left_aside';

/** The chains whose exports have a known layout. */
export const BULK_CHAINS: readonly EvmChainName[] = EVM_CHAINS;

/** What the operator asks for. Paths are absolute: files, folders, or patterns with `*` or `?`. */
export type BulkImportOrder = {
  readonly paths: readonly string[];
  readonly chain: EvmChainName;
  readonly origin: ImportOrigin;
  /** The blocks that the operator declares these files to hold in full. */
  readonly declared: { readonly from_block: number; readonly to_block: number } | null;
  /** Whether the operator declares that cryo's files were made with `--exclude-failed`. */
  readonly failed_excluded: boolean;
};

/**
 * How far an import is: files are looked into first, where there are several. `fraction` is of its
 * phase, from 0 to 1; rows are those that are written.
 */
type BulkProgress = {
  readonly phase: 'looking' | 'importing';
  readonly rows: number;
  readonly fraction: number;
};

/** What an import tells as it goes on, and how it is stopped. */
export type BulkImportWatch = {
  readonly onNote: (line: string) => void;
  readonly onProgress: (progress: BulkProgress) => void;
  readonly signal: AbortSignal;
};

/** A file of an import by its base name. */
export type ImportedFile = {
  readonly name: string;
  readonly layout: string;
  readonly dataset: BulkDataset;
  readonly rows: number;
};

/** What an import came to. Counts are by a stable code. */
export type BulkImportRecord = {
  readonly import_id: string;
  readonly files: readonly ImportedFile[];
  readonly rows: number;
  readonly rows_refused: number;
  readonly refused: ReadonlyMap<string, number>;
  /** What the files hold that is no transfer: failed and delegated calls, for instance. */
  readonly left_out: ReadonlyMap<string, number>;
  /** Transfers and creations written, those which were held before included. */
  readonly transfers: number;
  readonly creations: number;
  readonly of_another_fork: number;
  readonly coverage: readonly HeldRange[];
  /** The file of refused rows, which holds the first of them; `null` where there are none. */
  readonly refused_file: string | null;
};

/**
 * How an import ended. After `unread` and `stopped` the same import goes on where it was; what it
 * has written stays, and no coverage of it is recorded before the end.
 */
export type BulkImportOutcome =
  | { readonly outcome: 'completed'; readonly record: BulkImportRecord }
  | { readonly outcome: 'unread'; readonly why: Why }
  | { readonly outcome: 'stopped' };

/** Imports files of chain exports into the transfer store. Several may go side by side. */
export type BulkImport = (
  order: BulkImportOrder,
  watch: BulkImportWatch,
) => Promise<BulkImportOutcome>;

/** What is to be forgotten: blocks of a chain, both ends included, or what an import wrote. */
export type ForgetOrder =
  | { readonly chain: ChainName; readonly from_block: number; readonly to_block: number }
  | { readonly import_id: string };

/** Blocks of a kind that are no longer held in full; `source` is who had said so. */
export type Withdrawn = {
  readonly kind: TransferKind;
  readonly from_block: number;
  readonly to_block: number;
  readonly source: string;
};

/** Blocks of which the rows of a kind stay: whoever else brought them vouches for them. */
export type Staying = {
  readonly because: 'followed' | 'held_in_full' | 'another_import';
  readonly kind: TransferKind;
  readonly blocks: number;
};

/** What forgetting would take out, or has taken out. */
export type Forgotten = {
  readonly chain: ChainName;
  readonly import_id: string | null;
  /** The lowest and the highest block that it touches. */
  readonly from_block: number;
  readonly to_block: number;
  /** Transfers that are held of these blocks and go. */
  readonly transfers: number;
  readonly withdrawn: readonly Withdrawn[];
  /** Ranges of single addresses that touch these blocks; they are read anew when asked for. */
  readonly addresses: number;
  readonly staying: readonly Staying[];
};

/**
 * Takes blocks out of the warehouse. `plan` changes nothing; `null`: no such import is listed, or
 * it wrote nothing. An unread `forget` may have been done in part: coverage is gone then, rows may
 * not be, and the same order takes out the rest.
 */
export type Forgetting = {
  readonly plan: (order: ForgetOrder) => Promise<Reading<Forgotten | null, TransferStorePort>>;
  /** The signal ends it between two steps. */
  readonly forget: (
    order: ForgetOrder,
    signal: AbortSignal,
  ) => Promise<Reading<Forgotten | null, TransferStorePort>>;
};
