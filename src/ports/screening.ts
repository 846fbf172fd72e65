// A record belongs to one membership: asked for by another it is not there.

import { z } from 'zod';
import type { UnixSeconds } from '../chain/time.ts';
import type { Partly, Reading } from '../evidence/reading.ts';
import type { Why } from '../evidence/reasons.ts';
import type { WireSource } from '../evidence/source.ts';
import type { ListFacts, SanctionsList } from './sanctions.ts';

/** The name of this port in readings. */
export type ScreeningRecordsPort = 'screening_records';

/** The routes whose answers are kept. */
export const RECORDED_ROUTES = ['wallet_ofac', 'bulk_wallet_screen'] as const;

/** The states of those answers. */
export const RECORDED_STATES = [
  'ok',
  'insufficient_evidence',
  'not_supported',
  'not_deployed',
] as const;

/** What was asked, as its route takes it. */
export type RecordedInput =
  | { readonly route: 'wallet_ofac'; readonly address: string; readonly on: string | null }
  | {
      readonly route: 'bulk_wallet_screen';
      readonly addresses: readonly string[];
      readonly tables: readonly string[] | null;
    };

/** A screen to keep. `answer` is text, whose SHA-256 in hex is `answer_sha256`. */
export type NewRecord = {
  readonly membership_id: string;
  readonly key_id: string;
  readonly input: RecordedInput;
  readonly versions: Versions;
  /** As answers show them. */
  readonly sources: readonly WireSource[];
  readonly code_version: string;
  readonly state: (typeof RECORDED_STATES)[number];
  readonly answer: string;
  readonly answer_sha256: string;
  readonly made_at: UnixSeconds;
};

/** A screen that is kept until a time. */
export type ScreeningRecord = NewRecord & {
  readonly id: string;
  readonly kept_until: UnixSeconds;
};

/** A record without its answer, for a list. */
export type RecordLine = Pick<
  ScreeningRecord,
  'id' | 'input' | 'state' | 'answer_sha256' | 'made_at' | 'kept_until'
>;

/** Records are kept so many years, as long as the rules on sanctions ask of whoever screens. */
export const RECORDS_KEPT_YEARS = 10;

/** The records. */
export type ScreeningRecords = {
  /** Keeps a screen; `full` where the membership has as many as it may. */
  readonly keep: (
    record: NewRecord,
    recordsMax: number,
  ) => Promise<Reading<ScreeningRecord | 'full', ScreeningRecordsPort>>;
  readonly find: (
    membershipId: string,
    id: string,
  ) => Promise<Reading<ScreeningRecord | null, ScreeningRecordsPort>>;
  /** The newest of a membership, newest first; a part where there are more than are listed. */
  readonly newest: (
    membershipId: string,
  ) => Promise<Partly<readonly RecordLine[], ScreeningRecordsPort>>;
};

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
export const tableVersion = z.strictObject({
  table: z.string(),
  source: z.string(),
  sha256: z.string(),
  /** Unix seconds. */
  imported_at: z.number(),
});
export type TableVersion = z.output<typeof tableVersion>;

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
