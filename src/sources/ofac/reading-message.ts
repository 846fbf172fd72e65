// Answers one question: what may the separate reader say to the process that started it.
// Rows come in batches, so that neither side is held up by one long message.

import { z } from 'zod';
import { FORMATS, type ListedAddress, PARTY_TYPES, REFUSAL_CODES } from './publication.ts';

/** Marks the command line of the separate reader. */
export const READER_MARK = 'read-sdn-publication';

/** Rows in one message. */
export const ROWS_PER_MESSAGE = 250;

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();
const day = z.iso.date();

const row = z.strictObject({
  address: z.string().min(1),
  currency: z.string().min(1),
  entity: z.string().min(1).nullable(),
  type: z.enum(PARTY_TYPES).nullable(),
  programs: z.array(z.string().min(1)).min(1).nullable(),
  uid: z.string().min(1),
  remarks: z.string().nullable(),
  listed_on: day.nullable(),
  note: z.string().nullable(),
}) satisfies z.ZodType<ListedAddress>;

/** What the separate reader says: its progress, the rows, then one of the two endings. */
export const readingMessage = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('progress'), bytes: count }),
  z.strictObject({ kind: z.literal('rows'), rows: z.array(row).max(ROWS_PER_MESSAGE) }),
  z.strictObject({
    kind: z.literal('read'),
    rows: count,
    facts: z.strictObject({
      format: z.enum(FORMATS),
      published: day,
      record_count: count,
      parties: count,
      sha256: digest,
      sha256_xml: digest,
      bytes: count,
    }),
  }),
  z.strictObject({
    kind: z.literal('refused'),
    refusal: z.strictObject({
      refused: z.literal(true),
      code: z.enum(REFUSAL_CODES),
      reason: z.string(),
      published: day.nullable(),
    }),
  }),
]);
export type ReadingMessage = z.infer<typeof readingMessage>;

/** What the separate reader is asked. */
export const readingTask = z.strictObject({
  path: z.string().min(1),
  limits: z.strictObject({ deliveredBytesMax: count, documentBytesMax: count }),
});
export type ReadingTask = z.infer<typeof readingTask>;
