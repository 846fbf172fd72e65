// Answers one question: which publications of the sanctions list does this deployment hold.
// One of them is in force. It is replaced in one step or not at all, and none is ever deleted.

import type { Reading } from '../../evidence/reading.ts';
import type { PublishedList, Validators } from './publisher.ts';
import type { ListEntry } from './sanctions-list.ts';

/** The name of this port in readings. */
type PublicationStorePort = 'publication_store';

/** A publication that passed the gate. Times are Unix seconds. */
export type HeldPublication = {
  readonly id: number;
  /** Publication date, `YYYY-MM-DD`. */
  readonly published: string;
  readonly sha256: string;
  readonly format: string;
  /** The public address that it came from. */
  readonly source_url: string;
  readonly distinct_addresses: number;
  readonly parties: number;
  readonly record_count: number;
  readonly unparsed: number;
  readonly accepted_at: number;
  /** The operator's words where a size rule was set aside for it. */
  readonly accepted_why: string | null;
  /** The last successful check that found it the newest. */
  readonly checked_at: number;
};

/** A file that was refused. */
export type HeldRefusal = {
  readonly sha256: string;
  readonly source_url: string;
  readonly code: string;
  readonly reason: string;
  /** Unix seconds. */
  readonly refused_at: number;
};

/** The publication in force, and the newest refusal if there was one. */
export type InForce = {
  readonly publication: HeldPublication | null;
  readonly newest_refusal: HeldRefusal | null;
};

/** Where a publication or a check comes from. */
type CheckedSource = {
  /** Tells configured addresses apart and shows nothing of them. */
  readonly key: string;
  readonly url: string;
};

/** A publication that is to be in force from now on. */
export type Acceptable = {
  readonly list: PublishedList;
  readonly source: CheckedSource;
  readonly validators: Validators;
  readonly accepted_at: number;
  readonly checked_at: number;
  readonly accepted_why: string | null;
  /** The publication in force when it was judged; another one in force now makes it `moved`. */
  readonly instead_of: number | null;
};

/** A successful check that found the publication in force the newest. */
export type Check = {
  readonly publication_id: number;
  readonly source: CheckedSource;
  readonly validators: Validators;
  readonly checked_at: number;
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
  /** What a source last said of a publication; `null` where it was never asked. */
  readonly validators: (
    id: number,
    sourceKey: string,
  ) => Promise<Reading<Validators | null, PublicationStorePort>>;
  readonly accept: (next: Acceptable) => Promise<Reading<Written, PublicationStorePort>>;
  readonly recordCheck: (check: Check) => Promise<Reading<Written, PublicationStorePort>>;
  readonly recordRefusal: (refusal: HeldRefusal) => Promise<Reading<true, PublicationStorePort>>;
};
