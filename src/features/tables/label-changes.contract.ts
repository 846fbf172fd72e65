// Declares GET /api/v1/registry/labels/changes: the public change log of the exchange-wallet table.

import { z } from 'zod';
import { plainRoute } from '../../contract/route.ts';
import { addressText, isoDay, isoTime, negative } from '../../contract/wire.ts';

const LOG = { restsOn: ['label_changes'] } as const;

/** The most changes of one answer, and how many where none is named. */
export const CHANGES_MAX = 500;
export const CHANGES_DEFAULT = 100;

const words = z.strictObject({
  label: z.string(),
  role: z.string(),
  confidence: z.string(),
  confidence_level: z.int().positive().nullable(),
  source_url: z.string().nullable(),
});

const change = words.extend({
  id: z.int().positive(),
  change: z.enum(['added', 'changed', 'removed']),
  address: z.string(),
  chain: z.string().nullable(),
  entity: z.string(),
  source: z.string(),
  first_seen: isoDay,
  before: words.nullable(),
  import_id: z.int().positive(),
  at: isoTime,
  sha256: z.string(),
  simulated: z.boolean(),
});

export const labelChanges = plainRoute({
  name: 'label_changes',
  surface: 'web',
  method: 'GET',
  path: '/api/v1/registry/labels/changes',
  summary: 'What each import of exchange labels added, changed and removed, newest first.',
  access: 'open',
  query: z.strictObject({
    address: addressText.optional(),
    before: z.coerce.number().int().positive().optional(),
    limit: z.coerce.number().int().min(1).max(CHANGES_MAX).optional(),
  }),
  responses: {
    200: z
      .strictObject({
        changes: negative(z.array(change), LOG),
        /** Ask for what is older with `before` set to this; `null`: there is nothing older. */
        next_before: z.int().positive().nullable(),
        caveat: z.string().min(1),
      })
      .describe('The changes of imports that completed. A page of a longer log names the next.'),
    503: z
      .strictObject({ error: z.string(), reason: z.string() })
      .describe('The log could not be read, or no import of labels has ever completed.'),
  },
});
