// Answers one question: which publications of the sanctions list does this deployment hold.
// One of them is in force. It is replaced in one step or not at all, and none is ever deleted.

import type { Reading } from '../../evidence/reading.ts';
import type { PublishedList, Validators } from './publisher.ts';
import type { ListEntry } from './sanctions-list.ts';

/** The name of this port in readings. */
export type PublicationStorePort = 'publication_store';

/** A publication that passed the gate. Times are Unix seconds. */
export type HeldPublication = {
  readonly id: number;
  /** Publication date, `YYYY-MM-DD`. */
  readonly published: string;
  readonly sha256: string;
  readonly format: string;
  /** Which configured address it came from, or the publisher's once that vouched for it. */
  readonly source_key: string;
  /** The public form of that address. */
  readonly source_url: string;
  /** The version of the reader that made its rows. */
  readonly reader_version: number;
  readonly distinct_addresses: number;
  readonly parties: number;
  readonly record_count: number;
  readonly unparsed: number;
  readonly accepted_at: number;
  /** The operator's words where a size rule was set aside for it. */
  readonly accepted_why: string | null;
  /** When it was last known to be the newest, never ahead of the store's clock. */
  readonly checked_at: number;
  readonly checked_by: CheckedBy;
};

/**
 * Whose word `checked_at` is: the publisher's answer, an operator's statement of when the file was
 * obtained, or nobody's, so that the list counts as checked on its own publication date.
 */
export type CheckedBy = 'asked' | 'obtained' | 'own_date';

/** A file that was refused. Times are Unix seconds. */
export type HeldRefusal = {
  readonly sha256: string;
  readonly source_url: string;
  readonly code: string;
  readonly reason: string;
  /** The day that the file states, `YYYY-MM-DD`, where it could be found. */
  readonly published: string | null;
  /** Whether the publisher served it, and not a mirror. */
  readonly from_publisher: boolean;
  /** Whether the same file may come whole soon: it was cut short, or is an error page. */
  readonly passing: boolean;
  /** Whether an operator may accept it: only its size speaks against it. */
  readonly acceptable: boolean;
  /** The reader, the rules and the list that it was judged by. */
  readonly judged_by: string;
  /** The path under which this machine keeps it; `null` where it could not be kept. */
  readonly kept_as: string | null;
  readonly first_at: number;
  /** When it was last served. */
  readonly refused_at: number;
};

/** A newer file that was refused and still stands: the list in force is not the newest. */
export type Superseded = {
  readonly published: string;
  readonly source_url: string;
  readonly code: string;
  /** When such a file was first seen, in Unix seconds. */
  readonly since: number;
};

/** What is in force, by one look at the store. */
export type InForce = {
  /** The store's clock, in Unix seconds: the one that ages a list. */
  readonly now: number;
  readonly publication: HeldPublication | null;
  readonly superseded: Superseded | null;
  readonly newest_refusal: HeldRefusal | null;
  /** Files refused since the publication in force was accepted. */
  readonly refusals: number;
};

/** Where a publication or a check comes from. */
type CheckedSource = {
  /** Tells configured addresses apart and shows nothing of them. */
  readonly key: string;
  readonly url: string;
};

/** A moment at which a publication was known to be the newest, and on whose word. */
type Checked = { readonly at: number; readonly by: 'asked' | 'obtained' };

/** A publication that is to be in force from now on. */
export type Acceptable = {
  readonly list: PublishedList;
  readonly reader_version: number;
  readonly source: CheckedSource;
  readonly accepted_at: number;
  /** `null` where nobody vouches for it but its own date. */
  readonly check: Checked | null;
  readonly accepted_why: string | null;
  /** The publication in force when it was judged; another one in force now makes it `moved`. */
  readonly instead_of: number | null;
};

/** A check that found the publication in force the newest. */
export type Check = {
  readonly publication_id: number;
  readonly source: CheckedSource;
  readonly check: Checked;
};

/** The file that a source gave last; its validators are `null` where the next ask names none. */
export type Served = { readonly sha256: string; readonly validators: Validators };

/** What a source was asked, when (Unix seconds), and what came of it in words. */
export type Asked = {
  readonly source: CheckedSource;
  readonly asked_at: number;
  readonly result: string;
};

/** A row of a held publication with the key that it is found under. */
export type KeyedEntry = {
  readonly publication_id: number;
  readonly match_key: string;
  readonly entry: ListEntry;
};

/** Whether a write took effect, or came too late because another list is in force by now. */
export type Written = 'written' | 'moved';

/** The store of publications. Writers wait for each other; readers see one list, whole. */
export type PublicationStore = {
  readonly inForce: () => Promise<Reading<InForce, PublicationStorePort>>;
  /** Every publication held, newest first. */
  readonly held: () => Promise<Reading<readonly HeldPublication[], PublicationStorePort>>;
  /** All rows of one publication, in the order of the file. */
  readonly entries: (id: number) => Promise<Reading<readonly ListEntry[], PublicationStorePort>>;
  /** The rows of some publications that stand under some keys. */
  readonly entriesUnder: (
    ids: readonly number[],
    matchKeys: readonly string[],
  ) => Promise<Reading<readonly KeyedEntry[], PublicationStorePort>>;
  /** The file that a source gave last; `null` where it gave none yet. */
  readonly lastServed: (sourceKey: string) => Promise<Reading<Served | null, PublicationStorePort>>;
  /** The sources that were asked, the last one first. */
  readonly asked: () => Promise<Reading<readonly Asked[], PublicationStorePort>>;
  /** Remembers that a source was asked; `null` leaves the file that it gave last. */
  readonly recordAsked: (
    asked: Asked,
    served: Served | null,
  ) => Promise<Reading<true, PublicationStorePort>>;
  readonly accept: (next: Acceptable) => Promise<Reading<Written, PublicationStorePort>>;
  readonly recordCheck: (check: Check) => Promise<Reading<Written, PublicationStorePort>>;
  /** The newest refusals that are remembered, newest first. */
  readonly refusals: () => Promise<Reading<readonly HeldRefusal[], PublicationStorePort>>;
  /** The newest refusal of one file. */
  readonly refusalOf: (
    sha256: string,
  ) => Promise<Reading<HeldRefusal | null, PublicationStorePort>>;
  /** Remembers a refusal, once for each file and rule; `first_at` of the first stays. */
  readonly recordRefusal: (refusal: HeldRefusal) => Promise<Reading<true, PublicationStorePort>>;
};
