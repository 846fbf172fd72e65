// The page of a text that is no address. Texts are told apart as far as their form goes.

import { describeMisform } from '../../chain/address.ts';
import { type PageFacts, page, Search } from '../../pages/layout.tsx';

const EVM_LIKE = /^0x[0-9a-f]*$/i;
const PREFIX = '0x';
const EVM_DIGITS = 40;
const EVM_HASH = /^(0x)?[0-9a-f]{64}$/i;
const SOLANA_SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{86,88}$/;
const NAME = /^[^\s/]+\.[a-z]{2,12}$/i;

/** What is wrong with a text that is no address. */
export function problemOf(text: string): string {
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
  return 'That is no address of a form that is known here.';
}

/** @internal The page of a text that is no address. */
export function notFoundPage(facts: PageFacts, sought: string, problem: string): string {
  return page({
    ...facts,
    title: 'Search',
    current: '/search',
    children: (
      <>
        <h1>No such address</h1>
        <p class="lead" role="alert">
          {problem}
        </p>
        <Search value={sought} />
        <p class="quiet">Nothing was looked up, so this says nothing about anybody.</p>
      </>
    ),
  });
}
