// How do rows of a published table come into this deployment, whole or not at all?
// It says what a file of rows promises and how an import ends; which rows are good it leaves open.

import type { Reading } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { DatedBy, ImportOrigin } from '../../evidence/source.ts';

/** The name of the file port in readings. */
export type TableFilePort = 'table_file';

/** One row as the file holds it: its line (from 1) and its values by column, never empty ones. */
export type RawRow = {
  readonly line: number;
  readonly fields: ReadonlyMap<string, string>;
};

/** A line that the rules of its table refuse. `line` counts from 1, the heading included. */
export type RefusedLine = {
  readonly line: number;
  readonly chain: string;
  readonly address: string;
  readonly code: string;
  readonly reason: string;
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
  /** Of the refused, those whose entry may be missing: not those that repeat an earlier one. */
  readonly rows_lost: number;
  readonly sha256: string;
  readonly as_of: number;
  readonly dated_by: DatedBy;
  readonly completed_at: number;
};

/** An import that completed. */
export type TableImport = ImportFacts &
  ImportEnd & { readonly id: number; readonly table_name: string };

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
  /** It has far fewer rows than the import of its source in force. */
  | {
      readonly outcome: 'too_few';
      readonly rows_accepted: number;
      readonly rows_before: number;
    }
  | { readonly outcome: 'unread'; readonly why: Why }
  | { readonly outcome: 'stopped' };

/** An import as an operator asks for it. */
export type ImportOrder = {
  readonly path: string;
  readonly source: string;
  /** A public page of the source, for rows that name none of their own. */
  readonly source_url: string | null;
  /** The word for rows whose own words name none, of those that the table offers. */
  readonly otherwise: string | null;
  readonly origin: ImportOrigin;
  /** Unix seconds at which its importer dates it; `null`: as its rows say. */
  readonly as_of: number | null;
  /** Whether it may have far fewer rows than the import of its source in force. */
  readonly acceptSmaller?: boolean;
};

/** Imports a file into a table. */
export type ImportFile = (order: ImportOrder, watch: ImportWatch) => Promise<ImportOutcome>;
