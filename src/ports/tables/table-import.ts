// How do rows of a published table come into this deployment, whole or not at all?
// It says what a file of rows and a table under import promise; which rows are good it leaves open.

import type { ImportOrigin } from '../../evidence/origin.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';

/** The name of the file port in readings. */
export type TableFilePort = 'table_file';

/** The tables that are filled by import. */
export type ImportedTable = 'exchange_labels' | 'launches' | 'flagged_addresses';

/** One row as the file holds it: its line (from 1) and its values by column, never empty ones. */
export type RawRow = {
  readonly line: number;
  readonly fields: ReadonlyMap<string, string>;
};

/** One line of a table that is read whole: its number (from 1) and its cells in their order. */
export type TableLine = { readonly line: number; readonly cells: readonly string[] };

/** A row that the file itself could not give, with what was wrong. */
export type BrokenRow = { readonly line: number; readonly problem: string };

/** How a file names its values: a TagPack has a vocabulary of its own, rows have columns. */
export type FileLayout = 'rows' | 'tagpack';

/** A file that was opened. `rows` can be walked once; the hash is known when it has ended. */
export type OpenedFile = {
  readonly layout: FileLayout;
  readonly bytes: number;
  /** Batches in the order of the file. Unread ends it: the file could not be read on. */
  readonly rows: () => AsyncIterable<Reading<readonly (RawRow | BrokenRow)[], TableFilePort>>;
  readonly bytesRead: () => number;
  /** SHA-256 of the file in hex. Throws before the rows have ended. */
  readonly sha256: () => string;
};

/** Opens files of rows. Unread: missing, over the size cap, or of no known format. */
export type TableFiles = {
  readonly open: (path: string) => Promise<Reading<OpenedFile, TableFilePort>>;
};

/** What is known of an import before its rows are. `as_of` and `started_at` are Unix seconds. */
export type ImportFacts = {
  readonly source: string;
  readonly source_url: string | null;
  readonly origin: ImportOrigin;
  readonly started_at: number;
};

/** How an import ended. `as_of` is when the source dates its rows, or when they were imported. */
export type ImportEnd = {
  readonly rows_accepted: number;
  readonly rows_refused: number;
  readonly sha256: string;
  readonly as_of: number;
  readonly completed_at: number;
};

/** An import that completed. */
export type TableImport = ImportFacts &
  ImportEnd & { readonly id: number; readonly table_name: ImportedTable };

/** A row under import with its place among the rows of its file, from 1. */
export type Numbered<Row> = Row & { readonly n: number };

/**
 * A table under import. Nothing of an import is seen by readers before `complete`, and all of it
 * is from then on. An import that is never completed is forgotten after a day.
 */
export type ImportTable<Row, P extends string> = {
  readonly begin: (facts: ImportFacts) => Promise<Reading<{ readonly id: number }, P>>;
  /** Keeps rows for the import; answers the numbers of those that repeat an earlier one. */
  readonly stage: (
    id: number,
    rows: readonly Numbered<Row>[],
  ) => Promise<Reading<readonly number[], P>>;
  /** Makes the import the one in force of its source. */
  readonly complete: (id: number, end: ImportEnd) => Promise<Reading<TableImport, P>>;
  /** Forgets an import that will not be completed. */
  readonly abandon: (id: number) => Promise<Reading<null, P>>;
  /** The imports in force, one for each source, oldest first; none where none has completed. */
  readonly inForce: () => Promise<Reading<readonly TableImport[], P>>;
};

/** A refused row: its line in the file, a stable code, and a sentence that quotes no value. */
export type RefusedRow = { readonly line: number; readonly code: string; readonly reason: string };

/** What an importer is told as it goes on, and how it is stopped. */
export type ImportWatch = {
  readonly onRefused: (row: RefusedRow) => void;
  /** Called once for each batch: rows seen so far, bytes read and bytes in all. */
  readonly onProgress: (rows: number, bytesRead: number, bytes: number) => void;
  readonly signal: AbortSignal;
};

/** How many rows were refused for each code. */
export type RefusedCounts = ReadonlyMap<string, number>;

/** How an import ended. Only the first kept anything. */
export type ImportOutcome =
  | {
      readonly outcome: 'completed';
      readonly record: TableImport;
      readonly refused: RefusedCounts;
    }
  | {
      readonly outcome: 'no_row_accepted';
      readonly rows_refused: number;
      readonly refused: RefusedCounts;
    }
  | { readonly outcome: 'unread'; readonly why: Why }
  | { readonly outcome: 'stopped' };
