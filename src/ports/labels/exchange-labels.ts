// Answers one question: which exchange, if any, a published table names for these addresses.
// A miss means that no label is held, not that the address is no exchange's.

import type { TableLookUp } from '../tables/imported-table.ts';

/** The name of this port in readings and contracts. */
export type ExchangeLabelsPort = 'exchange_labels';

/** What an exchange uses an address for. */
export const LABEL_ROLES = ['hot', 'cold', 'deposit', 'deployer', 'treasury', 'other'] as const;
export type LabelRole = (typeof LABEL_ROLES)[number];

/** One row of the table, with where it comes from. */
export type ExchangeLabel = {
  readonly address: string;
  /** The chain the source names, or `null` where it names none. */
  readonly chain: string | null;
  readonly label: string;
  readonly entity: string;
  readonly role: LabelRole;
  /** A rung of the tag packs' confidence ladder, as its published id. */
  readonly confidence: string;
  /** False for hot and cold wallets: paid by many unrelated people, they link nobody. */
  readonly clusterable: boolean;
  readonly source: string;
  readonly source_url: string | null;
  /** ISO 8601 day on which the source dates the row, or on which it was imported. */
  readonly first_seen: string;
};

/** What a look-up found, by `matchKey` of the address asked. */
export type LabelLookUp = {
  readonly table_rows: number;
  readonly found: ReadonlyMap<string, readonly ExchangeLabel[]>;
};

/** The exchange-wallet table. Readable once an import of it has completed. */
export type ExchangeLabels = TableLookUp<ExchangeLabelsPort, LabelLookUp>;
