// How does the exchange-wallet table take in the rows of a source, and give them back?
// Rows of different sources stand side by side, also where they disagree; a re-import of one source
// replaces the rows of that source and no others.

import type { ImportOrigin } from '../../evidence/origin.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { ImportOutcome, ImportTable, ImportWatch, Numbered } from '../tables/table-import.ts';
import type { ExchangeLabel, LabelRole } from './exchange-labels.ts';

/** The name of this port in readings. */
export type LabelTablePort = 'label_table';

/** A row for the table with the key under which its address is compared. */
export type LabelRow = ExchangeLabel & { readonly match_key: string };

/** The exchange-wallet table as importers and snapshots see it. */
export type LabelTable = ImportTable<LabelRow, LabelTablePort> & {
  /** One import's rows numbered over `afterN` up to `throughN`, in the order of its file. */
  readonly page: (
    id: number,
    afterN: number,
    throughN: number,
  ) => Promise<Reading<readonly Numbered<LabelRow>[], LabelTablePort>>;
  /** The rows under these match keys, of the imports that are in force at that moment. */
  readonly under: (
    keys: readonly string[],
  ) => Promise<Reading<readonly LabelRow[], LabelTablePort>>;
};

/** An import as an operator asks for it. */
export type LabelImportOrder = {
  readonly path: string;
  readonly source: string;
  /** A public page of the source, for rows that name none of their own. */
  readonly source_url: string | null;
  /** The role of rows whose own words name none. */
  readonly role: LabelRole | null;
  readonly origin: ImportOrigin;
};

/** Imports a file of labels. */
export type ImportLabels = (order: LabelImportOrder, watch: ImportWatch) => Promise<ImportOutcome>;
