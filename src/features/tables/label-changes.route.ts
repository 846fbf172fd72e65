// Declares GET /api/v1/registry/labels/changes: the public change log of the exchange-wallet table.

import { z } from 'zod';
import { matchKey, parseAddress } from '../../chain/address.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { badAddress } from '../../contract/refusals.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import {
  addressText,
  isoDay,
  isoTime,
  negative,
  notSetUp,
  oneOf,
  prose,
  rowFact,
  unavailable,
  words,
} from '../../contract/wire.ts';
import { claim } from '../../evidence/claim.ts';
import { Unread } from '../../evidence/reading.ts';
import { isNotSetUp } from '../../evidence/reason-kinds.ts';
import {
  IMPORT_CHANGES,
  type LabelChange,
  type LabelChanges,
  type LabelWords,
} from '../../ports/tables.ts';
import { confidenceLevel } from './labels.ts';
import { pageOfLog } from './log-page.ts';

const LOG = { restsOn: ['label_changes'] } as const;

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
  change: oneOf(IMPORT_CHANGES),
  address: words(),
  chain: words().nullable(),
  entity: words(),
  source: words(),
  first_seen: isoDay,
  before: label.nullable(),
  import_id: z.int().positive(),
  at: isoTime,
  sha256: words(),
  simulated: rowFact(z.boolean()),
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
    404: notSetUp.describe('No import of labels has ever completed.'),
    503: unavailable.describe('The log could not be read.'),
  },
});

// Answers GET /api/v1/registry/labels/changes from the log of imports.
// It refuses to show an empty log that was not read.

export const CHANGES_CAVEAT =
  'A label that was removed is no longer held from its source; another may still hold one. A ' +
  'source may be wrong: the log shows what it said, and when it came in here.';

/** @internal The handler of the change log. */
export function labelChangesHandler(log: LabelChanges): PlainHandler<typeof labelChanges> {
  return async ({ query: { address, before, limit } }) => {
    const parsed = address === undefined ? null : parseAddress(address);
    if (address !== undefined && parsed === null) return badAddress(address);
    const found = await log.newest({
      beforeId: before === undefined ? null : before,
      matchKey: parsed === null ? null : matchKey(parsed.address),
      limit: limit === undefined ? CHANGES_DEFAULT : limit,
    });
    const page = pageOfLog(found);
    if (page instanceof Unread) {
      const { reason } = page.why;
      return isNotSetUp(page.why)
        ? labelChanges.reply(404, { error: 'not_set_up', reason })
        : labelChanges.reply(503, { error: 'unavailable', reason });
    }
    return labelChanges.reply(200, {
      changes: claim(page.page, (changes) => changes.map(changeShown)),
      next_before: page.next_before,
      caveat: CHANGES_CAVEAT,
    });
  };
}

function changeShown({ at, origin, before, ...change }: LabelChange) {
  const { label, role, confidence, source_url, ...rest } = change;
  return {
    ...rest,
    ...wordsShown({ label, role, confidence, source_url }),
    before: before === null ? null : wordsShown(before),
    at: formatIsoTime(at),
    simulated: origin === 'simulated',
  };
}

function wordsShown({ label, role, confidence, source_url }: LabelWords) {
  return { label, role, confidence, confidence_level: confidenceLevel(confidence), source_url };
}
