// Answers one question: which published tables flag these addresses, and for what.
// A miss means that no imported table names the address, which clears it of nothing.

import type { TableLookUp } from '../tables/imported-table.ts';

/** The name of this port in readings and contracts. */
export type FlaggedAddressesPort = 'flagged_addresses';

/** One row of a table, with where it comes from. */
export type FlaggedRow = {
  readonly address: string;
  /** The chain that the source names, or `null` where it names none. */
  readonly chain: string | null;
  /** What the source calls it: `Fake_Phishing1772`, `xToken Exploiter`. */
  readonly tag: string;
  /** The source's word for the kind: `phish-hack`, `exploit`, `heist`. */
  readonly category: string;
  readonly is_contract: boolean | null;
  /** Who made the contract, and in which transaction, where the source says so. */
  readonly creator: string | null;
  readonly creation_tx: string | null;
  readonly source: string;
  readonly source_url: string | null;
  /** ISO 8601 day on which the source dates the row, or on which it was imported. */
  readonly first_seen: string;
};

/** What a look-up found, each by `matchKey` of the address asked. */
export type FlaggedLookUp = {
  readonly table_rows: number;
  readonly found: ReadonlyMap<string, readonly FlaggedRow[]>;
  /** Rows of contracts that name the address as their creator. */
  readonly created: ReadonlyMap<string, readonly FlaggedRow[]>;
};

/** The table of flagged addresses. Readable once an import of it has completed. */
export type FlaggedAddresses = TableLookUp<FlaggedAddressesPort, FlaggedLookUp>;
