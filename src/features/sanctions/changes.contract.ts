// Declares GET /api/v1/registry/sanctions/changes: what each list that came into force changed; and
// its page.

import { z } from 'zod';
import { html, text } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';
import {
  addressText,
  checked,
  isoDay,
  isoTime,
  negative,
  ofRow,
  oneOf,
  prose,
  words,
} from '../../contract/wire.ts';

const LOG = { restsOn: ['sanctions_changes'] } as const;

/** The most changes of one answer, and how many where none is named. */
export const LIST_CHANGES_MAX = 500;
export const LIST_CHANGES_DEFAULT = 100;
/** The most files of one answer. */
export const FILES_MAX = 100;

const sha256 = words(z.string().regex(/^[0-9a-f]{64}$/));
const publication = z.strictObject({ published: isoDay, sha256 });

// What the publisher's file leaves open of an entry is null.
const listing = z.strictObject({
  address: words(),
  uid: words(),
  entity: words().nullable(),
  type: words().nullable(),
  programs: ofRow(z.array(words()).nullable()),
  currencies: z.array(words()).min(1),
});

const change = listing.extend({
  id: z.int().positive(),
  change: oneOf(['added', 'removed', 'moved', 'programmes_changed', 'renamed']),
  /** As it was before; null where it was added or removed. */
  before: listing.nullable(),
  outcome: oneOf(['next', 'replayed', 'read_again']),
  from: publication,
  to: publication,
  at: isoTime,
});

const count = ofRow(z.int().nonnegative());

const file = z.strictObject({
  outcome: oneOf(['first', 'next', 'replayed', 'read_again', 'refused']),
  sha256,
  source: words(),
  at: isoTime,
  published: isoDay.nullable(),
  before: publication.nullable(),
  counts: z
    .strictObject({
      added: count,
      removed: count,
      moved: count,
      programmes_changed: count,
      renamed: count,
    })
    .nullable(),
  code: words().nullable(),
  why: words().nullable(),
});

const answer = z.strictObject({
  changes: negative(z.array(change), LOG),
  /** Ask for what is older with `before` set to this; `null`: there is nothing older. */
  next_before: z.int().positive().nullable(),
  files: negative(z.array(file), LOG),
  /** False: more files than these fall into the span. */
  files_whole: checked(LOG),
  caveat: prose().min(1),
});
export type PublishedChanges = z.output<typeof answer>;

export const sanctionsChanges = plainRoute({
  name: 'sanctions_changes',
  surface: 'web',
  method: 'GET',
  path: '/api/v1/registry/sanctions/changes',
  summary:
    'What each sanctions list that came into force added, removed and changed, newest first.',
  access: 'open',
  query: z.strictObject({
    address: addressText.optional(),
    from: isoDay.optional(),
    to: isoDay.optional(),
    before: z.coerce.number().int().positive().optional(),
    limit: z.coerce.number().int().min(1).max(LIST_CHANGES_MAX).optional(),
  }),
  responses: {
    200: answer.describe(
      'The changes by the days (UTC) on which lists came into force here, `from` to `to`, both ' +
        'included, and what became of each file: refused ones and lists that came back say so.',
    ),
    503: z
      .strictObject({ error: prose(), reason: prose() })
      .describe('The log could not be read, or no list has come into force since it is kept.'),
  },
});

export const listChangesPage = plainRoute({
  name: 'sanctions_changes_page',
  surface: 'web',
  method: 'GET',
  path: '/registry/sanctions',
  summary: 'What each sanctions list that came into force changed, for people.',
  access: 'open',
  responses: { 200: html(), 503: html() },
});

export const listChangesFeed = plainRoute({
  name: 'sanctions_changes_feed',
  surface: 'web',
  method: 'GET',
  path: '/registry/sanctions/changes.atom',
  summary: 'What each sanctions list that came into force changed, as an Atom feed.',
  access: 'open',
  responses: {
    200: text('application/atom+xml; charset=utf-8'),
    503: text('text/plain; charset=utf-8'),
  },
});
