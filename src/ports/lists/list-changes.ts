// Answers one question: what did each import of a list of another authority change?
// The log is public and only grows. It tells of imports that completed, and of no others.

import type { Partly } from '../../evidence/reading.ts';
import type { DatedBy } from '../../evidence/source.ts';
import type { OtherListEntry } from './other-lists.ts';

/** The name of this port in readings. */
export type OtherListChangesPort = 'other_list_changes';

/** An entry of a list, which is named beside it. */
export type EntryLogged = Omit<OtherListEntry, 'source'>;

/** What an import changed of one address. Times are Unix seconds. */
export type OtherListChange = {
  /** Grows with time: a later change has a larger one. */
  readonly id: number;
  readonly change: 'added' | 'changed' | 'removed';
  readonly list: string;
  readonly address: string;
  /** All its entries; of a removed one, as they were last. */
  readonly entries: readonly EntryLogged[];
  /** Those before; `null` but where they changed. */
  readonly before: readonly EntryLogged[] | null;
  readonly import_id: number;
  readonly at: number;
  readonly sha256: string;
  readonly simulated: boolean;
};

/** An import that completed. */
export type OtherListImport = {
  readonly list: string;
  readonly import_id: number;
  readonly at: number;
  readonly as_of: number;
  readonly dated_by: DatedBy;
  readonly sha256: string;
  readonly source_url: string | null;
  readonly rows: number;
  readonly rows_refused: number;
  readonly rows_lost: number;
  readonly simulated: boolean;
  /** Of how many addresses. */
  readonly counts: {
    readonly added: number;
    readonly changed: number;
    readonly removed: number;
  };
};

/** Which imports are asked about: of one list, from a time on, before another. */
export type ImportsAsked = {
  readonly list: string | null;
  readonly from: number | null;
  readonly until: number | null;
  readonly limit: number;
};

/** Which changes are asked for: older than one, and of one address, as `matchKey` gives it. */
export type OtherListChangesAsked = ImportsAsked & {
  readonly beforeId: number | null;
  readonly matchKey: string | null;
};

/** The log, newest first. Unread while no list was imported. A part holds the newest of more. */
export type OtherListChanges = {
  readonly newest: (
    asked: OtherListChangesAsked,
  ) => Promise<Partly<readonly OtherListChange[], OtherListChangesPort>>;
  readonly imports: (
    asked: ImportsAsked,
  ) => Promise<Partly<readonly OtherListImport[], OtherListChangesPort>>;
};
