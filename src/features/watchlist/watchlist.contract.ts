// Declares /api/v1/watchlist: the addresses that a membership watches, and what changed of them.

import { z } from 'zod';
import { plainRoute } from '../../contract/route.ts';
import { position } from '../../contract/stream.ts';
import { addressText, harmless, isoTime, ofRow, oneOf, prose, words } from '../../contract/wire.ts';

const PARTS = [
  'sanctions_list',
  'other_lists',
  'exchange_labels',
  'flagged_addresses',
  'entity_clusters',
  'hops',
] as const;
const ID_CHARS_MAX = 64;
/** The most changes of one answer, and how many where none is named. */
const CHANGES_MAX = 500;
export const CHANGES_DEFAULT = 100;

const finding = z.strictObject({
  source: words(),
  address: words(),
  entity: words().nullable(),
  ref: words().nullable(),
  detail: words().nullable(),
});

const findings = harmless(
  z.array(finding),
  'it is what one look at one version found, both of which stand beside it',
);

const part = z.strictObject({
  part: oneOf(PARTS),
  found: findings.nullable().describe('At `read_at`; `null` while it was never read.'),
  version: words().nullable(),
  read_at: isoTime.nullable(),
  not_read: prose().nullable().describe('Why the last look did not read it to its end.'),
});

const watched = z.strictObject({
  id: words(),
  address: words(),
  added_at: isoTime,
  parts: harmless(z.array(part), 'what was not screened yet has no part'),
});

/** A change without its number, as the stream tells it too. */
export const watchChange = z.strictObject({
  watch_id: words(),
  address: words(),
  part: oneOf(PARTS),
  change: oneOf(['first_seen', 'entered', 'changed', 'left']),
  before: findings.nullable(),
  after: findings,
  version_before: words().nullable(),
  version_after: words(),
  not_read: harmless(z.array(prose()), 'it names what the same look could not read'),
  simulated: ofRow(z.boolean()),
  at: isoTime,
});

const unavailable = z
  .strictObject({ error: prose(), reason: prose() })
  .describe('The watchlist could not be read or written.');
const unknown = z
  .strictObject({ error: prose() })
  .describe('The membership that asks watches nothing under this id.');
const HOSTED = { surface: 'hosted', access: 'analyst' } as const;

export const watchlist = plainRoute({
  ...HOSTED,
  name: 'watchlist',
  method: 'GET',
  path: '/api/v1/watchlist',
  summary: 'The addresses that the membership watches, and what was last found of each.',
  query: z.strictObject({ after: z.string().max(ID_CHARS_MAX).optional() }),
  responses: {
    200: z.strictObject({
      watched: harmless(z.array(watched), 'whoever watches nobody lists nobody'),
      next_after: words().nullable().describe('What `after` asks for the rest with.'),
      watched_max: z.int().positive(),
      caveat: prose().min(1),
    }),
    503: unavailable,
  },
});

export const watchAddress = plainRoute({
  ...HOSTED,
  name: 'watch_address',
  method: 'POST',
  path: '/api/v1/watchlist',
  summary: 'Watches an address: it is screened soon, and whenever a list or a table changes.',
  body: z.strictObject({ address: addressText }),
  responses: {
    200: watched.describe('It was watched before.'),
    201: watched,
    409: z.strictObject({ error: prose() }).describe('The plan watches no more addresses.'),
    503: unavailable,
  },
});

export const unwatchAddress = plainRoute({
  ...HOSTED,
  name: 'unwatch_address',
  method: 'DELETE',
  path: '/api/v1/watchlist/{id}',
  summary: 'Watches an address no more. Its changes stay.',
  params: z.strictObject({ id: z.string().min(1).max(ID_CHARS_MAX) }),
  responses: { 200: z.strictObject({ removed: words() }), 404: unknown, 503: unavailable },
});

export const watchlistChanges = plainRoute({
  ...HOSTED,
  name: 'watchlist_changes',
  method: 'GET',
  path: '/api/v1/watchlist/changes',
  summary: 'What changed of watched addresses, in one order without a gap, each once.',
  query: z.strictObject({
    since: z.coerce.number().int().nonnegative().optional(),
    limit: z.coerce.number().int().min(1).max(CHANGES_MAX).optional(),
  }),
  responses: {
    200: z.strictObject({
      changes: harmless(
        z.array(watchChange.extend({ seq: position })),
        'it is the log after a number, whose ends stand beside it',
      ),
      newest: position.describe('0 while there was none.'),
      oldest: position.nullable().describe('What is older can no longer be had.'),
      next_since: position.describe('What `since` asks for the rest with, now or later.'),
      gap: z
        .strictObject({ from: position, to: position })
        .nullable()
        .describe('What was asked for and can no longer be had.'),
      caveat: prose().min(1),
    }),
    503: unavailable,
  },
});
