// Answers one question: on which lists of other authorities do these addresses stand?
// Each list keeps its own name, date and source. None of them is the SDN list, and a listing on one
// never makes an address `sanctioned`.

import type { DatedBy } from '../../evidence/source.ts';
import type { TableLookUp } from '../tables/imported-table.ts';

/** The name of this port in readings and contracts. */
export type OtherListsPort = 'other_lists';

/** One entry of a list. What the list leaves open is `null`, and `note` says what was wrong. */
export type OtherListEntry = {
  /** As published; compared by `matchKey`. */
  readonly address: string;
  readonly currency: string | null;
  /** Who holds it, several divided by `; `. */
  readonly entity: string | null;
  readonly entity_type: string | null;
  readonly programs: string | null;
  readonly entry_id: string | null;
  readonly source_url: string | null;
  /** ISO 8601 days. An entry that ended is kept, and says so. */
  readonly listed_at: string | null;
  readonly ended_at: string | null;
  readonly note: string | null;
  /** The name of the list. */
  readonly source: string;
};

/** Whether an entry has not ended by a day, in ISO 8601. */
export function standsOn({ ended_at }: OtherListEntry, day: string): boolean {
  return ended_at === null || ended_at > day;
}

/** A list as it is in force. Times are Unix seconds. */
export type OtherList = {
  readonly name: string;
  /** Its date, and whose word that is. */
  readonly as_of: number;
  readonly dated_by: DatedBy;
  readonly imported_at: number;
  readonly rows: number;
  /** Rows of its file that were refused: an entry may be missing for each. */
  readonly rows_lost: number;
  readonly sha256: string;
  readonly source_url: string | null;
  readonly simulated: boolean;
};

/** Every list in force, and what a look-up found, by `matchKey` of the address asked. */
export type OtherListsLookUp = {
  readonly lists: readonly OtherList[];
  readonly found: ReadonlyMap<string, readonly OtherListEntry[]>;
};

/** The lists of other authorities. Readable once one has been imported. */
export type OtherLists = TableLookUp<OtherListsPort, OtherListsLookUp>;
