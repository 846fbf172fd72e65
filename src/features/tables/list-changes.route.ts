// Declares GET /api/v1/registry/lists/changes: what each import of another list changed.

import { z } from 'zod';
import { matchKey, parseKnownAddress } from '../../chain/address.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { badField } from '../../contract/refusals.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import {
  addressText,
  askedDay,
  checkedFlag,
  daySpan,
  isoDay,
  isoTime,
  LATER_THAN_TO,
  negative,
  notSetUp,
  prose,
  rowFacts,
  unavailable,
  words,
} from '../../contract/wire.ts';
import { claim, claimWhole } from '../../evidence/claim.ts';
import { decide, Unread } from '../../evidence/reading.ts';
import { isNotSetUp } from '../../evidence/reason-kinds.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  entryLogged,
  type OtherListChanges,
  otherListChange,
  otherListImport,
} from '../../ports/tables.ts';
import { holdsSome, pageOfLog } from './log-page.ts';

const LOG = { restsOn: ['other_list_changes'] } as const;

const CHANGES_MAX = 500;
export const LIST_CHANGES_DEFAULT = 100;
/** The most imports of one answer. */
export const IMPORTS_MAX = 100;

const NAME_CHARS_MAX = 64;

const sha256 = words(z.string().regex(/^[0-9a-f]{64}$/));

const entry = rowFacts(entryLogged).extend({
  listed_at: isoDay.nullable(),
  ended_at: isoDay.nullable(),
});

const change = rowFacts(otherListChange).extend({
  entries: z.array(entry).min(1),
  before: z.array(entry).min(1).nullable(),
  at: isoTime,
  sha256,
});

const imported = rowFacts(otherListImport).extend({ at: isoTime, sha256 });

export const otherListChanges = plainRoute({
  name: 'other_list_changes',
  surface: 'web',
  method: 'GET',
  path: '/api/v1/registry/lists/changes',
  summary: 'What each import of a list of another authority changed, newest first.',
  access: 'open',
  query: z.strictObject({
    list: z.string().min(1).max(NAME_CHARS_MAX).optional(),
    address: addressText.optional(),
    from: askedDay.optional(),
    to: askedDay.optional(),
    before: z.coerce.number().int().positive().optional(),
    limit: z.coerce.number().int().min(1).max(CHANGES_MAX).optional(),
  }),
  responses: {
    200: z
      .strictObject({
        changes: negative(z.array(change), LOG),
        /** Ask for what is older with `before` set to this; `null`: there is nothing older. */
        next_before: z.int().positive().nullable(),
        imports: negative(z.array(imported), LOG),
        /** False: more imports than these fall into the span. */
        imports_whole: checkedFlag(LOG),
        caveat: prose().min(1),
      })
      .describe(
        'The changes by the days (UTC) on which lists were imported here, `from` to `to`, both ' +
          'included, of one list where it is named, and each import with its counts.',
      ),
    404: notSetUp.describe('No list has ever been imported.'),
    503: unavailable.describe('The log could not be read.'),
  },
});

// Answers GET /api/v1/registry/lists/changes from the log that each import writes.
// It refuses to show an empty log that was not read.

export const OTHER_LIST_CHANGES_CAVEAT =
  'The log tells what was imported on this deployment, and when; it is kept for good. An address ' +
  'that left one list may stand on another. Where rows were refused (rows_lost) an address may ' +
  'be told as removed that the list still has.';

/** @internal The handler of the change log. */
export function otherListChangesHandler(
  log: OtherListChanges,
): PlainHandler<typeof otherListChanges> {
  return async ({ query: { list, address, from, to, before, limit } }) => {
    const span = daySpan(from, to);
    if (span === null) return badField('from', LATER_THAN_TO);
    const known = address === undefined ? null : parseKnownAddress(address);
    const of = { ...span, list: list === undefined ? null : list };
    const found = await log.newest({
      ...of,
      beforeId: before === undefined ? null : before,
      matchKey: address === undefined ? null : matchKey(known === null ? address : known.address),
      limit: limit === undefined ? LIST_CHANGES_DEFAULT : limit,
    });
    const filed = await log.imports({ ...of, limit: IMPORTS_MAX });
    const page = pageOfLog(found);
    const imports = decide(filed, holdsSome);
    if (page instanceof Unread) return refuseUnread(page.why);
    if (imports instanceof Unread) return refuseUnread(imports.why);
    return otherListChanges.reply(200, {
      changes: claim(page.page, (changes) =>
        changes.map((change) => ({ ...change, at: formatIsoTime(change.at) })),
      ),
      next_before: page.next_before,
      imports: claim(imports, (all) => all.map((one) => ({ ...one, at: formatIsoTime(one.at) }))),
      imports_whole: claimWhole(filed),
      caveat: OTHER_LIST_CHANGES_CAVEAT,
    });
  };
}

function refuseUnread(why: Why) {
  const { reason } = why;
  return isNotSetUp(why)
    ? otherListChanges.reply(404, { error: 'not_set_up', reason })
    : otherListChanges.reply(503, { error: 'unavailable', reason });
}
