// Answers GET /search: sends a browser to the page of what it searched for.

import type { PlainHandler } from '../../contract/route.ts';
import { type DrawDossier, searchPage } from './dossier.contract.ts';
import { whereTo } from './search.ts';

/** The handler of the search. */
export function searchHandler({
  notFound,
}: Pick<DrawDossier, 'notFound'>): PlainHandler<typeof searchPage> {
  return async ({ query: { q } }) => {
    if (q === undefined) return searchPage.reply(303, undefined, { location: '/' });
    const found = whereTo(q);
    if ('problem' in found) return searchPage.reply(400, notFound(q, found.problem));
    return searchPage.reply(303, undefined, { location: found.path });
  };
}
