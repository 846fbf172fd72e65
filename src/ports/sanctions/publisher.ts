// Answers one question: what does the publisher of the sanctions list serve now.
// It judges nothing: whether a file is a list is for its reader, whether it is good for the gate.

import type { Reading } from '../../evidence/reading.ts';
import type { ListEntry } from './sanctions-list.ts';

/** The name of this port in readings. */
export type PublisherPort = 'publisher';

/** What a publisher said of a file; sent back with the next question, it makes no change cheap. */
export type Validators = { readonly etag: string | null; readonly last_modified: string | null };

/** A file that was delivered, on this machine's disk. */
export type SpooledFile = {
  readonly path: string;
  /** Of the bytes as delivered. */
  readonly sha256: string;
  readonly bytes: number;
  /** Puts the file aside with the reason of its refusal. Only the newest few are kept. */
  readonly keepAside: (code: string, reason: string) => Promise<Reading<true, PublisherPort>>;
  /** Removes what the delivery put on disk. */
  readonly discard: () => Promise<void>;
};

/** What a mirror answered: that nothing changed, or a file. */
export type Delivery =
  | { readonly kind: 'unchanged'; readonly validators: Validators }
  | { readonly kind: 'file'; readonly validators: Validators; readonly file: SpooledFile };

/** One place that serves the list. */
export type Mirror = {
  /** Tells configured addresses apart and shows nothing of them. */
  readonly key: string;
  /** The publisher's public page, else scheme and host. */
  readonly url: string;
  /** A file was checked on its publication date; a server when it answered. */
  readonly kind: 'http' | 'file';
  readonly deliver: (
    known: Validators | null,
    signal: AbortSignal,
  ) => Promise<Reading<Delivery, PublisherPort>>;
};

/** The mirrors of one list, in the order in which they are tried. */
export type Publisher = { readonly mirrors: readonly Mirror[] };

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

/** Why a file or a publication is refused. `size`: only its size speaks against it. */
export type ListRefusal = {
  readonly refused: true;
  readonly code: string;
  readonly reason: string;
  readonly size: boolean;
};

/** The code of the one refusal that says nothing about the file: it could not be read. */
export const UNREADABLE = 'unreadable';

/** Reads a file of the publisher's formats apart from the serving process; `signal` ends it. */
export type PublicationReader = (
  path: string,
  signal: AbortSignal,
) => Promise<PublishedList | ListRefusal>;

/** What the gate knows of the last good publication. */
export type LastGood = {
  readonly published: string;
  readonly distinct_addresses: number;
  readonly parties: number;
};

/** The first rule that speaks against a publication, size rules last; `null` lets it pass. */
export type Gate = {
  /** The rules that need no other publication. */
  readonly absolute: (list: PublishedList) => ListRefusal | null;
  /** Those that compare with the clock, and with the last good one or the release's baseline. */
  readonly relative: (list: PublishedList, last: LastGood | null) => ListRefusal | null;
};

/** Tells a refusal from a publication. */
export function isListRefusal(outcome: PublishedList | ListRefusal): outcome is ListRefusal {
  return 'refused' in outcome;
}

/** What one mirror did in a refresh, in words that name it by its public address only. */
export type Tried = { readonly source: string; readonly result: string };

/** The list that a refresh left in force. Times are Unix seconds. */
export type RefreshedList = {
  readonly published: string;
  readonly addresses: number;
  readonly sha256: string;
  readonly source: string;
  readonly checked_at: number;
};

/** How a refresh ended. Only `updated` and `unchanged` are successful checks. */
export type RefreshOutcome =
  | {
      readonly kind: 'updated';
      readonly list: RefreshedList;
      readonly replaced: { readonly published: string; readonly sha256: string } | null;
      /** Why the operator let it pass; `null` where the gate did. */
      readonly accepted_why: string | null;
      readonly tried: readonly Tried[];
    }
  | {
      readonly kind: 'unchanged';
      readonly list: RefreshedList;
      readonly tried: readonly Tried[];
    }
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly reason: string;
      readonly sha256: string;
      readonly source: string;
      /** True where `--accept` of exactly this file would let it pass. */
      readonly acceptable: boolean;
      readonly tried: readonly Tried[];
    }
  | { readonly kind: 'unreachable'; readonly reason: string; readonly tried: readonly Tried[] };

/** An operator's word for one file that only the size rules refuse. */
export type Acceptance = { readonly sha256: string; readonly why: string };

/** An address under one entry of a publication, over all its currency codes. */
export type Listing = {
  readonly address: string;
  readonly uid: string;
  readonly entity: string | null;
  readonly type: string | null;
  readonly programs: readonly string[] | null;
  readonly currencies: readonly string[];
};

/** A listing that stands in both publications, not with the same words. */
export type ChangedListing = { readonly from: Listing; readonly to: Listing };

/** What changed from one publication to another, by address and entry uid. */
export type ListDiff = {
  readonly added: readonly Listing[];
  readonly removed: readonly Listing[];
  /** The same address under another entry. */
  readonly moved: readonly ChangedListing[];
  readonly programmes_changed: readonly ChangedListing[];
  readonly renamed: readonly ChangedListing[];
};
