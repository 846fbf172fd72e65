import { z } from 'zod';
import { describeMisform, parseKnownAddress } from '../../chain/address.ts';
import { html, noBody } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import type { PageFacts } from '../../pages/layout.tsx';
import { NO_ADDRESS, notFoundPage } from './dossier.route.tsx';

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

// An address leads to its dossier; anything else is told apart as far as its form goes. Nothing is
// guessed and nothing is looked up.

const EVM_LIKE = /^0x[0-9a-f]*$/i;
const PREFIX = '0x';
const EVM_DIGITS = 40;
const EVM_HASH = /^(0x)?[0-9a-f]{64}$/i;
const SOLANA_SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{86,88}$/;
const NAME = /^[^\s/]+\.[a-z]{2,12}$/i;

/** @internal The path of a page, or what is wrong with what was typed. */
export function whereTo(typed: string): { readonly path: string } | { readonly problem: string } {
  const text = typed.trim();
  if (text === '') return { path: '/' };
  const known = parseKnownAddress(text);
  if (known !== null) return { path: `/address/${encodeURIComponent(known.address)}` };
  return { problem: problemOf(text) };
}

function problemOf(text: string): string {
  if (EVM_HASH.test(text) || SOLANA_SIGNATURE.test(text)) {
    return (
      'That is the id of a transaction. What is published here is about addresses: search for ' +
      'one that took part in it.'
    );
  }
  if (EVM_LIKE.test(text)) {
    const digits = text.length - PREFIX.length;
    return `An EVM address has ${EVM_DIGITS} digits after 0x; this has ${digits}.`;
  }
  if (NAME.test(text)) {
    return 'Names are not resolved here: who holds one may change. Search for the address itself.';
  }
  if (describeMisform(text) === 'solana_letter_case') {
    return (
      'It has the characters of a Solana address, and is none: often a letter in wrong case, or ' +
      'one too few.'
    );
  }
  return NO_ADDRESS;
}
