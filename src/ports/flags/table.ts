// How does the table of flagged addresses take in the rows of a source, and give them back?
// Rows of different sources stand side by side; a re-import of one source replaces its rows alone.

import type { ImportOrigin } from '../../evidence/origin.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { ImportOutcome, ImportTable, ImportWatch, Numbered } from '../tables/table-import.ts';
import type { FlaggedRow } from './flagged-addresses.ts';

/** The name of this port in readings. */
export type FlaggedTablePort = 'flagged_table';

/** A row for the table with the keys under which its addresses are compared. */
export type FlaggedTableRow = FlaggedRow & {
  readonly match_key: string;
  readonly creator_key: string | null;
};

/** The table of flagged addresses as importers and snapshots see it. */
export type FlaggedTable = ImportTable<FlaggedTableRow, FlaggedTablePort> & {
  /** One import's rows numbered over `afterN` up to `throughN`, in the order of its file. */
  readonly page: (
    id: number,
    afterN: number,
    throughN: number,
  ) => Promise<Reading<readonly Numbered<FlaggedTableRow>[], FlaggedTablePort>>;
};

/** An import as an operator asks for it. */
export type FlaggedImportOrder = {
  readonly path: string;
  readonly source: string;
  /** A public page of the source, for rows that name none of their own. */
  readonly source_url: string | null;
  readonly origin: ImportOrigin;
};

/** Imports a file of flagged addresses. */
export type ImportFlagged = (
  order: FlaggedImportOrder,
  watch: ImportWatch,
) => Promise<ImportOutcome>;
