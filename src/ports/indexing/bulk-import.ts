// Answers one question: what is asked of a bulk import of chain exports, and how did it end?
// It refuses to say that blocks are held in full unless the files prove it or the operator says so.

import { EVM_CHAINS, type EvmChainName } from '../../chain/chain.ts';
import type { ImportOrigin } from '../../evidence/origin.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { HeldRange } from './transfer-store.ts';

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
