import { z } from 'zod';
import { parseKnownAddress } from '../../chain/address.ts';
import { html, noBody } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import type { PageFacts } from '../../pages/layout.tsx';
import { notFoundPage, problemOf } from './not-found.page.tsx';

const CHARS_MAX = 300;

export const searchPage = plainRoute({
  name: 'search_page',
  surface: 'web',
  method: 'GET',
  access: 'open',
  path: '/search',
  summary: 'Opens the dossier of the address that was searched for.',
  query: z.strictObject({ q: z.string().max(CHARS_MAX).optional() }),
  responses: { 303: noBody(), 400: html() },
  headers: { 303: { location: 'The page of what was searched for.' } },
});

/** @internal */
export function searchHandler(facts: PageFacts): PlainHandler<typeof searchPage> {
  return async ({ query: { q } }) => {
    if (q === undefined) return searchPage.reply(303, undefined, { location: '/' });
    const found = whereTo(q);
    if ('problem' in found) {
      return searchPage.reply(400, notFoundPage(facts, q, found.problem));
    }
    return searchPage.reply(303, undefined, { location: found.path });
  };
}

// An address leads to its dossier. Nothing is guessed and nothing is looked up.

/** @internal The path of a page, or what is wrong with what was typed. */
export function whereTo(typed: string): { readonly path: string } | { readonly problem: string } {
  const text = typed.trim();
  if (text === '') return { path: '/' };
  const known = parseKnownAddress(text);
  if (known !== null) return { path: `/address/${encodeURIComponent(known.address)}` };
  return { problem: problemOf(text) };
}
