// Declares the page of a token: who made it, and what became of what they made, for people.

import { z } from 'zod';
import { html } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';
import { addressText } from '../../contract/wire.ts';
import { tokenCreator } from './token-creator.contract.ts';

export const tokenPage = plainRoute({
  name: 'token_page',
  surface: 'web',
  method: 'GET',
  path: '/token/{chain}/{address}',
  summary: 'Who made a token, and what became of the tokens that they made, for people.',
  access: 'visitor',
  params: z.strictObject({
    chain: tokenCreator.query.shape.chain.unwrap(),
    address: addressText,
  }),
  responses: { 200: html(), 503: html() },
});

/** The creator of a token as its route answers. */
export type ShownCreator = z.output<typeof tokenCreator.data>;

/**
 * What a token is answered. `looked`: the sources were read, and name nobody. `unasked`: nobody
 * was asked, for whoever is signed in may.
 */
export type ShownToken =
  | {
      readonly kind: 'creator';
      readonly creator: ShownCreator;
      readonly sources: readonly { readonly name: string; readonly as_of: number }[];
    }
  | { readonly kind: 'absent'; readonly looked: boolean; readonly reason: string }
  | { readonly kind: 'unasked'; readonly signIn: boolean; readonly reason: string };
