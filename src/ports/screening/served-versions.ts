// Answers one question: of which versions of lists and tables does this process answer, and is a
// former version of the sanctions list still held?

import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { ListFacts, SanctionsList } from '../sanctions/sanctions-list.ts';

/** The name of this port in readings. */
export type ServedVersionsPort = 'served_versions';

/** The list as it stood when it was asked, or why it was not read. */
export type ListVersion =
  | {
      readonly read: true;
      readonly facts: ListFacts;
      /** Why it showed listings only; `null` where it was read to its end. */
      readonly cut: Why | null;
      readonly simulated: boolean;
    }
  | { readonly read: false; readonly why: Why };

/** The import of one source that a table answers from. */
export type TableVersion = {
  readonly table: string;
  readonly source: string;
  readonly sha256: string;
  readonly imported_at: UnixSeconds;
};

/** What an answer rests on, as far as it has versions. */
export type Versions = {
  readonly list: ListVersion;
  readonly tables: readonly TableVersion[];
};

/** The versions. A table that was not imported has none. */
export type ServedVersions = {
  /** Those that answer now; the list of a past day (`YYYY-MM-DD`) where one is named. */
  readonly now: (on: string | null) => Promise<Reading<Versions, ServedVersionsPort>>;
  /** The list as it stood at a version; `null` where its rows are not held any more. */
  readonly listOf: (
    version: ListVersion,
  ) => Promise<Reading<SanctionsList | null, ServedVersionsPort>>;
};
