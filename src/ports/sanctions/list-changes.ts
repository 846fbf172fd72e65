// Answers one question: what did each list that came into force change of the one before?
// The log only grows, and is written with the acceptance or not at all. It tells of refused files
// and of lists that came back too, so that a gap in it has a cause.

import type { Partly } from '../../evidence/reading.ts';
import type { Listing } from './publisher.ts';

/** The name of this port in readings. */
export type ListChangesPort = 'sanctions_changes';

/** The words of the log for a change of one listing. */
export const LIST_CHANGES = ['added', 'removed', 'moved', 'programmes_changed', 'renamed'] as const;
export type ListChangeKind = (typeof LIST_CHANGES)[number];

/**
 * What became of a file. `first`: nothing was in force before. `replayed`: a publication that was
 * held already came into force again. `read_again`: the same file, by another reader.
 */
export const OUTCOMES = ['first', 'next', 'replayed', 'read_again', 'refused'] as const;
export type FileOutcome = (typeof OUTCOMES)[number];

/** A publication by its day (`YYYY-MM-DD`) and the SHA-256 of its file. */
export type Named = { readonly published: string; readonly sha256: string };

/** A change of one listing by one list that came into force. */
export type ListChange = {
  /** Grows with time: a later change has a larger one. */
  readonly id: number;
  readonly change: ListChangeKind;
  /** As it is now; of a removed one, as it was last. */
  readonly listing: Listing;
  /** As it was before; `null` where it was added or removed. */
  readonly before: Listing | null;
  readonly outcome: Exclude<FileOutcome, 'first' | 'refused'>;
  readonly from: Named;
  readonly to: Named;
  /** When the list came into force here, in Unix seconds. */
  readonly at: number;
};

/** What became of one file of the publisher's. */
export type FileEvent = {
  readonly outcome: FileOutcome;
  readonly sha256: string;
  readonly source_url: string;
  /** Unix seconds. */
  readonly at: number;
  /** The day of the list; `null` of a refused file. */
  readonly published: string | null;
  /** The publication that was in force before; `null` where none was, or the file was refused. */
  readonly before: Named | null;
  /** How many listings changed, by kind; `null` where there was nothing to compare with. */
  readonly counts: { readonly [K in ListChangeKind]: number } | null;
  /** Why it was refused, or why an operator let it pass. */
  readonly code: string | null;
  readonly why: string | null;
};

/** A span of time in Unix seconds; `null` leaves its side open. `until` is not part of it. */
export type Span = { readonly from: number | null; readonly until: number | null };

/** Which changes are asked for. */
export type ListChangesAsked = Span & {
  /** Only older ones than this; `null`: from the newest on. */
  readonly beforeId: number | null;
  /** Only of this address, in the form that `matchKey` gives; `null`: of any. */
  readonly matchKey: string | null;
  readonly limit: number;
};

/** The log. Unread while no list has come into force since it is kept. */
export type ListChanges = {
  /** The newest changes first. A part holds the newest of more. */
  readonly newest: (
    asked: ListChangesAsked,
  ) => Promise<Partly<readonly ListChange[], ListChangesPort>>;
  /** What became of the files of a span, the newest first. A part holds the newest of more. */
  readonly files: (
    asked: Span & { readonly limit: number },
  ) => Promise<Partly<readonly FileEvent[], ListChangesPort>>;
};
