// Answers one question: what does the published sanctions list hold of these addresses.
// It knows nothing of chains, transfers or proximity.

import type { AddressKind } from '../../chain/address.ts';
import type { Partly } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type SanctionsListPort = 'sanctions_list';

/**
 * One row of the list: an address as the publisher prints it, under one entry. What the file left
 * open of the entry is `null`, and `note` says so.
 */
export type ListEntry = {
  readonly address: string;
  readonly currency: string;
  readonly entity: string | null;
  readonly type: string | null;
  readonly programs: readonly string[] | null;
  readonly uid: string;
  readonly remarks: string | null;
  /** The day of the entry's listing, `YYYY-MM-DD`, where the file has it. */
  readonly listed_on: string | null;
  /** What the reader left open, or took out of a longer text, in our words. */
  readonly note: string | null;
};

/** The list that was read. `as_of` and `checked_at` are Unix seconds. */
export type ListFacts = {
  readonly name: string;
  /** Publication date, `YYYY-MM-DD`. */
  readonly published: string;
  /** Distinct addresses on it. */
  readonly addresses: number;
  /** The stable public address of the list, without any credential. */
  readonly source: string;
  readonly sha256: string;
  readonly as_of: number;
  /** What a reader must be told of its age: sentences, none where it is fresh. */
  readonly age_notes: readonly string[];
};

/**
 * What a look-up found. `found` is keyed by `matchKey` of the address asked; a missing key is a
 * miss.
 */
export type ListLookUp = {
  readonly list: ListFacts;
  readonly found: ReadonlyMap<string, readonly ListEntry[]>;
};

/**
 * Every address on the list, by its kind, as `parseAddress` gives it: the same lists as long as the
 * same rows are loaded. Texts of no known form are not among them.
 */
export type Listed = {
  readonly list: ListFacts;
  readonly addresses: ReadonlyMap<AddressKind, readonly string[]>;
};

/**
 * The sanctions list. Past its maximum age a look-up is a part: it can convict, not acquit.
 * Never loaded is unread.
 */
export type SanctionsList = {
  readonly lookUp: (addresses: readonly string[]) => Promise<Partly<ListLookUp, SanctionsListPort>>;
  readonly listed: () => Promise<Partly<Listed, SanctionsListPort>>;
  /** The list that was the newest on a day (`YYYY-MM-DD`), from the publications held. */
  readonly lookUpOn: (
    on: string,
    addresses: readonly string[],
  ) => Promise<Partly<ListLookUp, SanctionsListPort>>;
};
