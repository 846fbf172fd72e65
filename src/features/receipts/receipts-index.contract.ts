// Declares GET /api/v1/receipts: the index of published receipts; and the pages of receipts.

import { z } from 'zod';
import { html, text } from '../../contract/media.ts';
import { evidenceRoute, plainRoute } from '../../contract/route.ts';
import { addressText, isoDay, missOf, ofRow, prose, words } from '../../contract/wire.ts';

const INDEX = { restsOn: ['receipts'] } as const;

/** The most receipts of one answer, and how many where none is named. */
export const RECEIPTS_MAX = 50;
export const RECEIPTS_DEFAULT = 20;
const WORDS_CHARS_MAX = 200;

const receipt = z.strictObject({
  id: words(),
  slug: words(),
  title: words(),
  date: isoDay,
  description: words(),
  subject: words(),
  deployer: words(),
  kind: words(),
  tags: ofRow(z.array(words()), INDEX),
  url: words(z.url()),
});

/** A receipt as the index shows it. */
export type ShownReceipt = z.output<typeof receipt>;

const filters = z.strictObject({
  address: addressText.optional(),
  q: z.string().trim().min(1).max(WORDS_CHARS_MAX).optional(),
  limit: z.coerce.number().int().min(1).max(RECEIPTS_MAX).optional(),
});

export const receiptsIndex = evidenceRoute({
  name: 'receipts_index',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/receipts',
  summary: 'The published receipts: reviewed articles, each about one case, newest first.',
  access: 'analyst',
  query: filters,
  data: missOf(
    z.strictObject({
      receipts: z.array(receipt).min(1).max(RECEIPTS_MAX),
      total: z.int().positive(),
      returned: z.int().positive(),
      published_total: z.int().positive(),
      drafts_withheld: ofRow(z.int().nonnegative(), INDEX),
      caveat: prose().min(1),
    }),
    INDEX,
  ),
  absences: ['insufficient_evidence', 'not_deployed'],
  tool: {
    name: 'receipts_index',
    description:
      'Finds the reviewed articles that this service published about an address (as subject or ' +
      'deployer) or under some words of title, description and tags. That none is found says ' +
      'nothing about an address.',
  },
});

export const receiptsPage = plainRoute({
  name: 'receipts_page',
  surface: 'web',
  method: 'GET',
  path: '/receipts',
  summary: 'The published receipts, for people.',
  access: 'open',
  query: z.strictObject({
    q: z.string().max(WORDS_CHARS_MAX).optional(),
    page: z.coerce.number().int().min(1).max(1_000).optional(),
  }),
  responses: { 200: html(), 503: html() },
});

export const receiptPage = plainRoute({
  name: 'receipt_page',
  surface: 'web',
  method: 'GET',
  path: '/receipts/{slug}',
  summary: 'One receipt, for people.',
  access: 'open',
  params: z.strictObject({ slug: z.string().regex(/^[a-z0-9-]{1,100}$/) }),
  responses: { 200: html(), 404: html(), 503: html() },
});

export const receiptsFeed = plainRoute({
  name: 'receipts_feed',
  surface: 'web',
  method: 'GET',
  path: '/receipts.atom',
  summary: 'The newest receipts, as an Atom feed.',
  access: 'open',
  responses: {
    200: text('application/atom+xml; charset=utf-8'),
    503: text('text/plain; charset=utf-8'),
  },
});
