// The sanctions list, its publications and their store. The port knows nothing of chains, transfers
// or proximity.

import { z } from 'zod';
import type { AddressKind } from '../chain/address.ts';
import type { Partly, Reading } from '../evidence/reading.ts';
import { storedWord } from './stored-word.ts';
import type { FormsAmong } from './tables.ts';

/** The name of this port in readings and contracts. */
export type SanctionsListPort = 'sanctions_list';

const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();

/**
 * One row of the list: an address as the publisher prints it, under one entry. What the file left
 * open of the entry is `null`, and `note` says so.
 */
export const listEntry = z.strictObject({
  address: z.string().min(1),
  currency: z.string().min(1),
  entity: z.string().min(1).nullable(),
  type: z.string().min(1).nullable(),
  programs: z.array(z.string().min(1)).min(1).readonly().nullable(),
  uid: z.string().min(1),
  remarks: z.string().nullable(),
  /** The day of the entry's listing, where the file has it. */
  listed_on: day.nullable(),
  /** The reader's note on fields that it left open, or took out of a longer text, in our words. */
  note: z.string().nullable(),
});
export type ListEntry = z.output<typeof listEntry>;

/** The list that was read. */
export const listFacts = z.strictObject({
  name: z.string(),
  /** Publication date. */
  published: day,
  /** Distinct addresses on it. */
  addresses: z.int().positive(),
  /** The stable public address of the list, without any credential. */
  source: z.string(),
  sha256,
  /** Unix seconds. */
  as_of: count,
});

/** The list with what a reader must be told of its age: sentences, none where it is fresh. */
export const agedList = listFacts.extend({ age_notes: z.array(z.string()).readonly() });
export type ListFacts = z.output<typeof agedList>;

/**
 * The result of a look-up. `found` is keyed by `matchKey` of the requested address; a missing key
 * is a miss.
 */
export type ListLookUp = {
  readonly list: ListFacts;
  readonly found: ReadonlyMap<string, readonly ListEntry[]>;
};

/**
 * Every address on the list, by its kind, as `parseAddress` gives it: the same lists as long as the
 * same rows are loaded. Texts of no known form are not among them.
 */
export type ListedAddresses = {
  readonly list: ListFacts;
  readonly addresses: ReadonlyMap<AddressKind, readonly string[]>;
};

/**
 * The sanctions list. Past its maximum age a look-up is a part: it can convict, not acquit.
 * Never loaded is unread.
 */
export type SanctionsList = {
  readonly lookUp: (
    addresses: readonly string[],
    formsAmong?: FormsAmong,
  ) => Promise<Partly<ListLookUp, SanctionsListPort>>;
  readonly listed: () => Promise<Partly<ListedAddresses, SanctionsListPort>>;
  /** The list that was the newest on a day (`YYYY-MM-DD`), from the publications held. */
  readonly lookUpOn: (
    on: string,
    addresses: readonly string[],
  ) => Promise<Partly<ListLookUp, SanctionsListPort>>;
};

// The log only grows, and is written with the acceptance or not at all. It tells of refused files
// and of lists that came back too, so that a gap in it has a cause.

/** The name of this port in readings. */
export type ListChangesPort = 'sanctions_changes';

/** The words of the log for a change of one listing. */
export const LIST_CHANGES = ['added', 'removed', 'moved', 'programmes_changed', 'renamed'] as const;
export type ListChangeKind = (typeof LIST_CHANGES)[number];

/**
 * The result of a file. `first`: nothing was in force before. `replayed`: an earlier publication
 * came into force again. `read_again`: the same file, by another reader.
 */
export const OUTCOMES = ['first', 'next', 'replayed', 'read_again', 'refused'] as const;
export type FileOutcome = (typeof OUTCOMES)[number];

/** A publication by its day and its file. */
export const publicationName = z.strictObject({ published: day, sha256 });
export type PublicationName = z.output<typeof publicationName>;

/** An address under one entry of a publication, over all its currency codes. */
export const addressListing = z.strictObject({
  address: z.string(),
  uid: z.string(),
  entity: z.string().nullable(),
  type: z.string().nullable(),
  programs: z.array(z.string()).readonly().nullable(),
  currencies: z.array(z.string()).min(1).readonly(),
});
export type AddressListing = z.output<typeof addressListing>;

/** A change of one listing by one list that came into force. */
export const listChange = z.strictObject({
  /** Grows with time: a later change has a larger one. */
  id: z.int().positive(),
  change: z.enum(LIST_CHANGES),
  /** As it is now; of a removed one, as it was last. */
  listing: addressListing,
  /** As it was before; `null` where it was added or removed. */
  before: addressListing.nullable(),
  outcome: z.enum(OUTCOMES).exclude(['first', 'refused']),
  from: publicationName,
  to: publicationName,
  /** When the list came into force here, in Unix seconds. */
  at: z.number(),
});
export type ListChange = z.output<typeof listChange>;

/** The result of one file of the publisher's. */
export const fileEvent = z.strictObject({
  outcome: z.enum(OUTCOMES),
  sha256,
  source: z.string(),
  /** Unix seconds. */
  at: z.number(),
  /** The day of the list; `null` of a refused file. */
  published: day.nullable(),
  /** The publication that was in force before; `null` where none was, or the file was refused. */
  before: publicationName.nullable(),
  /** How many listings changed, by kind; `null` where there was nothing to compare with. */
  counts: z
    .strictObject({
      added: count,
      removed: count,
      moved: count,
      programmes_changed: count,
      renamed: count,
    } satisfies { [K in ListChangeKind]: typeof count })
    .nullable(),
  /** Why it was refused, or why an operator let it pass. */
  code: z.string().nullable(),
  why: z.string().nullable(),
});
export type FileEvent = z.output<typeof fileEvent>;

/** A span of time in Unix seconds; `null` leaves its side open. `until` is not part of it. */
export type Span = { readonly from: number | null; readonly until: number | null };

export type ListChangesRequest = Span & {
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
    asked: ListChangesRequest,
  ) => Promise<Partly<readonly ListChange[], ListChangesPort>>;
  /** The results of the files of a period, the newest first. A part holds the newest of more. */
  readonly files: (
    asked: Span & { readonly limit: number },
  ) => Promise<Partly<readonly FileEvent[], ListChangesPort>>;
};

// One of them is in force. It is replaced in one step or not at all, and none is ever deleted.

/** The name of this port in readings. */
export type PublicationStorePort = 'publication_store';

/**
 * The origin of `checked_at`: the publisher's answer, an operator's statement of when the file was
 * obtained, or none, so that the list counts as checked on its own publication date.
 */
const CHECKED_BY = ['asked', 'obtained', 'own_date'] as const;
export type CheckedBy = (typeof CHECKED_BY)[number];

/** A publication that passed the gate. Times are Unix seconds. */
export const heldPublication = z.strictObject({
  id: z.int(),
  published: day,
  sha256,
  format: z.string(),
  /** Which configured address it came from, or the publisher's once that vouched for it. */
  source_key: z.string(),
  /** The public form of that address. */
  source_url: z.string(),
  /** The version of the reader that made its rows. */
  reader_version: z.int(),
  distinct_addresses: z.int(),
  parties: z.int(),
  record_count: z.int(),
  unparsed: z.int(),
  accepted_at: z.number(),
  /** The operator's words where a size rule was set aside for it. */
  accepted_why: z.string().nullable(),
  /** When it was last known to be the newest, never ahead of the store's clock. */
  checked_at: z.number(),
  checked_by: storedWord(CHECKED_BY),
});
export type HeldPublication = z.output<typeof heldPublication>;

/** A file that was refused. Times are Unix seconds. */
export const heldRefusal = z.strictObject({
  sha256,
  source_url: z.string(),
  code: z.string(),
  reason: z.string(),
  /** The day that the file states, where it could be found. */
  published: day.nullable(),
  /** Whether the publisher served it, and not a mirror. */
  from_publisher: z.boolean(),
  /** Whether the same file may come whole soon: it was cut short, or is an error page. */
  passing: z.boolean(),
  /** Whether an operator may accept it: only its size speaks against it. */
  acceptable: z.boolean(),
  /** The reader, the rules and the list that it was judged by. */
  judged_by: z.string(),
  /** The path under which this machine keeps it; `null` where it could not be kept. */
  kept_as: z.string().nullable(),
  first_at: z.number(),
  /** When it was last served. */
  refused_at: z.number(),
});
export type HeldRefusal = z.output<typeof heldRefusal>;

/** A newer file that was refused and still stands: the list in force is not the newest. */
export const newerRefusal = z.strictObject({
  published: day,
  source_url: z.string(),
  code: z.string(),
  /** When such a file was first seen, in Unix seconds. */
  since: z.number(),
});
export type NewerRefusal = z.output<typeof newerRefusal>;

/** The list in force, by one reading of the store. */
export const inForce = z.strictObject({
  /** The store's clock, in Unix seconds: the one that ages a list. */
  now: z.number(),
  publication: heldPublication.nullable(),
  superseded: newerRefusal.nullable(),
  newest_refusal: heldRefusal.nullable(),
  /** Files refused since the publication in force was accepted. */
  refusals: count,
});
export type InForce = z.output<typeof inForce>;

/** Where a publication or a check comes from. */
const checkedSource = z.strictObject({
  /** Tells configured addresses apart and shows nothing of them. */
  key: z.string(),
  url: z.string(),
});
type CheckedSource = z.output<typeof checkedSource>;

/** A moment at which a publication was known to be the newest, and on whose word. */
type Checked = { readonly at: number; readonly by: Exclude<CheckedBy, 'own_date'> };

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
export type NewestCheck = {
  readonly publication_id: number;
  readonly source: CheckedSource;
  readonly check: Checked;
};

/**
 * The validators of a publisher's file; sent back with the next request, they make an unchanged
 * answer cheap.
 */
const validators = z.strictObject({
  etag: z.string().nullable(),
  last_modified: z.string().nullable(),
});
export type Validators = z.output<typeof validators>;

/** The file that a source gave last; its validators are `null` where the next ask names none. */
export const servedFile = z.strictObject({ sha256, validators });
export type ServedFile = z.output<typeof servedFile>;

/** The request to a source, its time (Unix seconds), and its result in words. */
export const sourceCheck = z.strictObject({
  source: checkedSource,
  asked_at: z.number(),
  result: z.string(),
});
export type SourceCheck = z.output<typeof sourceCheck>;

/** A row of a held publication with the key that it is found under. */
export const keyedEntry = z.strictObject({
  publication_id: z.int(),
  match_key: z.string(),
  entry: listEntry,
});
export type KeyedEntry = z.output<typeof keyedEntry>;

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
  readonly lastServed: (
    sourceKey: string,
  ) => Promise<Reading<ServedFile | null, PublicationStorePort>>;
  /** The sources that were asked, the last one first. */
  readonly asked: () => Promise<Reading<readonly SourceCheck[], PublicationStorePort>>;
  /** Remembers that a source was asked; `null` leaves the file that it gave last. */
  readonly recordAsked: (
    asked: SourceCheck,
    served: ServedFile | null,
  ) => Promise<Reading<true, PublicationStorePort>>;
  readonly accept: (next: Acceptable) => Promise<Reading<Written, PublicationStorePort>>;
  readonly recordCheck: (check: NewestCheck) => Promise<Reading<Written, PublicationStorePort>>;
  /** The newest refusals that are remembered, newest first. */
  readonly refusals: () => Promise<Reading<readonly HeldRefusal[], PublicationStorePort>>;
  /** The newest refusal of one file. */
  readonly refusalOf: (
    sha256: string,
  ) => Promise<Reading<HeldRefusal | null, PublicationStorePort>>;
  /** Remembers a refusal, once for each file and rule; `first_at` of the first stays. */
  readonly recordRefusal: (refusal: HeldRefusal) => Promise<Reading<true, PublicationStorePort>>;
};

// The store judges nothing: the reader decides whether a file is a list, the gate whether it is
// good.

/** The name of this port in readings. */
export type PublisherPort = 'publisher';

/** A file that was delivered, on this machine's disk. */
export type SpooledFile = {
  readonly path: string;
  /** Of the bytes as delivered. */
  readonly sha256: string;
  readonly bytes: number;
  /** Puts the file aside with the reason of its refusal, and gives its path there. */
  readonly keepAside: (code: string, reason: string) => Promise<Reading<string, PublisherPort>>;
  /** Keeps the file of a list that came into force, for a later reader. */
  readonly keep: () => Promise<Reading<true, PublisherPort>>;
  /** Removes what the delivery put on disk. */
  readonly discard: () => Promise<void>;
};

/** The answer of a mirror: no change, or a file. */
export type Delivery =
  | { readonly kind: 'unchanged'; readonly validators: Validators }
  | { readonly kind: 'file'; readonly validators: Validators; readonly file: SpooledFile }
  /** It asked to be asked again after so many seconds. */
  | { readonly kind: 'later'; readonly reason: string; readonly after_s: number };

/** One place that serves the list. */
export type Mirror = {
  /** Tells configured addresses apart and shows nothing of them. */
  readonly key: string;
  /** The publisher's public page, else scheme and host. */
  readonly url: string;
  /** The first configured server is the publisher; a file is none. */
  readonly kind: 'http' | 'file';
  /** When an operator says that the file was obtained, in Unix seconds; `null` for any other. */
  readonly obtained_at: number | null;
  readonly deliver: (
    known: Validators | null,
    signal: AbortSignal,
  ) => Promise<Reading<Delivery, PublisherPort>>;
};

/** Where one list is served: the publisher first, then its mirrors, in the order of asking. */
export type Publisher = {
  readonly mirrors: readonly Mirror[];
  /** A file that was kept of a list in force; `null` where this machine has none. */
  readonly kept: (sha256: string) => Promise<SpooledFile | null>;
};

/** A publication that was read to its end. */
export type PublishedList = {
  readonly format: string;
  /** Publication date, `YYYY-MM-DD`. */
  readonly published: string;
  /** Of the file as delivered. */
  readonly sha256: string;
  readonly record_count: number;
  readonly parties: number;
  readonly distinct_addresses: number;
  /** Distinct addresses of no known form; they are kept as literals. */
  readonly unparsed: number;
  readonly addresses: readonly ListEntry[];
};

/** The part of a list that a look-up needs. */
export type ReadList = Pick<
  PublishedList,
  'published' | 'sha256' | 'distinct_addresses' | 'addresses'
>;

/** Why a file or a publication is refused. `size`: only its size speaks against it. */
export type ListRefusal = {
  readonly refused: true;
  readonly code: string;
  readonly reason: string;
  readonly size: boolean;
};

/** A refusal of a file by its reader, with the day that the file states where it was found. */
export type FileRefusal = ListRefusal & { readonly published: string | null };

/** The code of the one refusal that says nothing about the file: it could not be read. */
export const UNREADABLE = 'unreadable';

/** Reads a file of the publisher's formats apart from the serving process; `signal` ends it. */
export type PublicationReader = (
  path: string,
  signal: AbortSignal,
) => Promise<PublishedList | FileRefusal>;

/** The gate's facts about the last valid publication. */
export type LastGood = Pick<PublishedList, 'published' | 'distinct_addresses' | 'parties'>;

/** The first rule that speaks against a publication, size rules last; `null` lets it pass. */
export type PublicationGate = {
  /** The rules that an operator set, in words: a verdict holds only under the same. */
  readonly rules: string;
  /** The rules that need no other publication. */
  readonly absolute: (list: PublishedList) => ListRefusal | null;
  /**
   * Those that compare with the clock (Unix seconds), and with the last good one or the release's
   * baseline.
   */
  readonly relative: (
    list: PublishedList,
    last: LastGood | null,
    now: number,
  ) => ListRefusal | null;
  /** Between two of one day from two sources: the later may add addresses, not take any away. */
  readonly sameDay: (list: PublishedList, inForce: readonly ListEntry[]) => ListRefusal | null;
};

/** Tells a refusal from a publication. */
export function isListRefusal(outcome: PublishedList | FileRefusal): outcome is FileRefusal {
  return 'refused' in outcome;
}

/** The result of one mirror in a refresh, in words that name it by its public address only. */
export type MirrorResult = { readonly source: string; readonly result: string };

/** The list that a refresh left in force. Times are Unix seconds. */
export type RefreshedList = {
  readonly published: string;
  readonly addresses: number;
  readonly sha256: string;
  readonly source: string;
  readonly checked_at: number;
};

/** The result of a refresh. Only `unchanged`, and `updated` from the publisher, are checks. */
type RefreshEnd =
  | {
      readonly kind: 'updated';
      readonly list: RefreshedList;
      readonly replaced: PublicationName | null;
      /** Why the operator let it pass; `null` where the gate did. */
      readonly accepted_why: string | null;
    }
  | { readonly kind: 'unchanged'; readonly list: RefreshedList }
  | (Pick<HeldRefusal, 'code' | 'reason' | 'published' | 'sha256' | 'acceptable' | 'kept_as'> & {
      readonly kind: 'refused';
      readonly source: string;
      /** The day of the list that stays in force; `null` where there is none. */
      readonly in_force: string | null;
    })
  | { readonly kind: 'unreachable'; readonly reason: string };

/** The result of a refresh, with the attempts before it. */
export type RefreshOutcome = RefreshEnd & {
  readonly tried: readonly MirrorResult[];
  /** Whether asking again within minutes may bring more than waiting for the next turn. */
  readonly retry: 'soon' | 'in_turn';
  /** Seconds for which the publisher asked to be left alone, if it did. */
  readonly after_s?: number;
};

/** An operator's word for one file that only the size rules refuse. */
export type Acceptance = { readonly sha256: string; readonly why: string };

/** A listing that stands in both publications, not with the same words. */
export type ChangedListing = { readonly from: AddressListing; readonly to: AddressListing };

/** The changes from one publication to another, by address and entry uid. */
export type ListDiff = {
  readonly added: readonly AddressListing[];
  readonly removed: readonly AddressListing[];
  /** The same address under another entry. */
  readonly moved: readonly ChangedListing[];
  readonly programmes_changed: readonly ChangedListing[];
  readonly renamed: readonly ChangedListing[];
};
