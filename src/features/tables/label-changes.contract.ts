// Declares GET /api/v1/registry/labels/changes: the public change log of the exchange-wallet table.

import { z } from 'zod';
import { plainRoute } from '../../contract/route.ts';
import {
  addressText,
  isoDay,
  isoTime,
  negative,
  ofRow,
  oneOf,
  prose,
  words,
} from '../../contract/wire.ts';

const LOG = { restsOn: ['label_changes'] } as const;

/** The most changes of one answer, and how many where none is named. */
const CHANGES_MAX = 500;
export const CHANGES_DEFAULT = 100;

const label = z.strictObject({
  label: words(),
  role: words(),
  confidence: words(),
  confidence_level: z.int().positive().nullable(),
  source_url: words().nullable(),
});

const change = label.extend({
  id: z.int().positive(),
  change: oneOf(['added', 'changed', 'removed']),
  address: words(),
  chain: words().nullable(),
  entity: words(),
  source: words(),
  first_seen: isoDay,
  before: label.nullable(),
  import_id: z.int().positive(),
  at: isoTime,
  sha256: words(),
  simulated: ofRow(z.boolean()),
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
        caveat: prose().min(1),
      })
      .describe('The changes of imports that completed. A page of a longer log names the next.'),
    503: z
      .strictObject({ error: prose(), reason: prose() })
      .describe('The log could not be read, or no import of labels has ever completed.'),
  },
});
