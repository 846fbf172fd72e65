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
  /** Puts the file aside with the reason of its refusal, and gives its path there. */
  readonly keepAside: (code: string, reason: string) => Promise<Reading<string, PublisherPort>>;
  /** Keeps the file of a list that came into force, for a later reader. */
  readonly keep: () => Promise<Reading<true, PublisherPort>>;
  /** Removes what the delivery put on disk. */
  readonly discard: () => Promise<void>;
};

/** What a mirror answered: that nothing changed, or a file. */
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

/** What a question to a list that was read needs of it. */
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

/** What the gate knows of the last good publication. */
export type LastGood = {
  readonly published: string;
  readonly distinct_addresses: number;
  readonly parties: number;
};

/** The first rule that speaks against a publication, size rules last; `null` lets it pass. */
export type Gate = {
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

/** What a refresh came to. Only `unchanged`, and `updated` from the publisher, are checks. */
type RefreshEnd =
  | {
      readonly kind: 'updated';
      readonly list: RefreshedList;
      readonly replaced: { readonly published: string; readonly sha256: string } | null;
      /** Why the operator let it pass; `null` where the gate did. */
      readonly accepted_why: string | null;
    }
  | { readonly kind: 'unchanged'; readonly list: RefreshedList }
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly reason: string;
      /** The day that the refused file states. */
      readonly published: string | null;
      readonly sha256: string;
      readonly source: string;
      /** True where `--accept` of exactly this file would let it pass. */
      readonly acceptable: boolean;
      /** Where this machine keeps the file; `null` where it could not be kept. */
      readonly kept_as: string | null;
      /** The day of the list that stays in force; `null` where there is none. */
      readonly in_force: string | null;
    }
  | { readonly kind: 'unreachable'; readonly reason: string };

/** How a refresh ended, and what was tried before. */
export type RefreshOutcome = RefreshEnd & {
  readonly tried: readonly Tried[];
  /** Whether asking again within minutes may bring more than waiting for the next turn. */
  readonly retry: 'soon' | 'in_turn';
  /** Seconds for which the publisher asked to be left alone, if it did. */
  readonly after_s?: number;
};

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
