// Declares /watchlist: what the membership of a browser watches, with forms to add and to remove.

import { z } from 'zod';
import { form, html, noBody } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';
import { addressText } from '../../contract/wire.ts';
import type { watchlist, watchlistChanges } from './watchlist.contract.ts';

const SESSION = { surface: 'web', access: 'session' } as const;
const FORM_BYTES_MAX = 4_096;
const ID_CHARS_MAX = 64;

export const watchlistPage = plainRoute({
  ...SESSION,
  name: 'watchlist_page',
  method: 'GET',
  path: '/watchlist',
  summary: 'What the membership of this browser watches, and what changed.',
  query: z.strictObject({ done: z.enum(['added', 'removed']).optional() }),
  responses: { 200: html(), 503: html() },
});

export const watchForm = plainRoute({
  ...SESSION,
  name: 'watch_form',
  method: 'POST',
  path: '/watchlist',
  summary: 'Watches an address.',
  bodyBytesMax: FORM_BYTES_MAX,
  body: form(z.strictObject({ address: addressText })),
  responses: { 303: noBody(), 400: html(), 409: html(), 503: html() },
  headers: { 303: { location: 'The watchlist.' } },
});

export const unwatchForm = plainRoute({
  ...SESSION,
  name: 'unwatch_form',
  method: 'POST',
  path: '/watchlist/{id}/remove',
  summary: 'Watches an address no more.',
  bodyBytesMax: FORM_BYTES_MAX,
  params: z.strictObject({ id: z.string().min(1).max(ID_CHARS_MAX) }),
  body: form(z.strictObject({})),
  responses: { 303: noBody(), 404: html(), 503: html() },
  headers: { 303: { location: 'The watchlist.' } },
});

type Listed = z.output<(typeof watchlist.responses)[200]>;
type Told = z.output<(typeof watchlistChanges.responses)[200]>;

/** An address as the page lists it. */
export type WatchedListed = Listed['watched'][number];
/** A change as the page lists it. */
export type WatchChangeListed = Told['changes'][number];

/** All that the page shows. */
export type WatchlistShown = {
  readonly form_token: string;
  readonly done: 'added' | 'removed' | null;
  /** The first addresses; `null`: none is watched. */
  readonly watched: readonly WatchedListed[] | null;
  readonly whole: boolean;
  readonly watched_max: number;
  /** Newest first, or why they could not be read; `null`: there was none yet. */
  readonly changes: readonly WatchChangeListed[] | { readonly unread: string } | null;
};

/** Draws the pages of the watchlist. */
export type DrawWatchlist = {
  readonly whole: (shown: WatchlistShown) => string;
  readonly message: (title: string, why: string) => string;
};
