// A record belongs to one membership: asked for by another it is not there.

import { z } from 'zod';
import type { Partly, Reading } from '../evidence/reading.ts';
import { REASON_CODES } from '../evidence/reasons.ts';
import { agedList, type SanctionsList } from './sanctions.ts';
import { storedWord } from './stored-word.ts';

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

/** The input, as its route takes it. */
const recordedInput = z.discriminatedUnion('route', [
  z.object({ route: z.literal('wallet_ofac'), address: z.string(), on: z.string().nullable() }),
  z.object({
    route: z.literal('bulk_wallet_screen'),
    addresses: z.array(z.string()).readonly(),
    tables: z.array(z.string()).readonly().nullable(),
  }),
]);
export type RecordedInput = z.output<typeof recordedInput>;

const storedWhy = z.object({ code: storedWord(REASON_CODES), reason: z.string() });

/** The list as it stood when it was asked, or why it was not read. */
const listVersion = z.discriminatedUnion('read', [
  z.object({
    read: z.literal(true),
    facts: z.object(agedList.shape),
    /** Why it showed listings only; `null` where it was read to its end. */
    cut: storedWhy.nullable(),
    simulated: z.boolean(),
  }),
  z.object({ read: z.literal(false), why: storedWhy }),
]);
export type ListVersion = z.output<typeof listVersion>;

/** The import of one source that a table answers from. */
export const tableVersion = z.strictObject({
  table: z.string(),
  source: z.string(),
  sha256: z.string(),
  /** Unix seconds. */
  imported_at: z.number(),
});
export type TableVersion = z.output<typeof tableVersion>;

/** The versions behind an answer, as far as they exist. */
const versions = z.object({
  list: listVersion,
  tables: z.array(z.object(tableVersion.shape)).readonly(),
});
export type Versions = z.output<typeof versions>;

/** A record without its answer, for a list. */
export const recordLine = z.strictObject({
  id: z.string(),
  input: recordedInput,
  state: storedWord(RECORDED_STATES),
  answer_sha256: z.string(),
  made_at: z.number(),
  kept_until: z.number(),
});
export type RecordLine = z.output<typeof recordLine>;

/**
 * A screen that is kept until a time. `answer` is text, whose SHA-256 in hex is `answer_sha256`.
 * What a newer version wrote beside these fields into an object is left out.
 */
export const screeningRecord = recordLine.extend({
  membership_id: z.string(),
  key_id: z.string(),
  versions,
  /** As answers show them. */
  sources: z.array(z.object({ name: z.string(), url: z.string(), as_of: z.number() })).readonly(),
  code_version: z.string(),
  answer: z.string(),
});
export type ScreeningRecord = z.output<typeof screeningRecord>;

/** A screen to keep. */
export type NewRecord = Omit<ScreeningRecord, 'id' | 'kept_until'>;

/** Records are kept so many years, as long as the rules on sanctions ask of whoever screens. */
export const RECORDS_KEPT_YEARS = 10;

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

/** The versions. A table that was not imported has none. */
export type ServedVersions = {
  /** Those that answer now; the list of a past day (`YYYY-MM-DD`) where one is named. */
  readonly now: (on: string | null) => Promise<Reading<Versions, ServedVersionsPort>>;
  /** The list as it stood at a version; `null` where its rows are not held any more. */
  readonly listOf: (
    version: ListVersion,
  ) => Promise<Reading<SanctionsList | null, ServedVersionsPort>>;
};
