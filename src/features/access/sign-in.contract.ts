// Declares /activate and /sign-out: how a browser is signed in for a membership, and out.

import { z } from 'zod';
import { form, html, noBody } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';

const LINK_CHARS_MAX = 300;
const FIELD_CHARS_MAX = 200;
const LED = {
  location: 'The settings, or the page to sign in.',
  'set-cookie': 'The session, or none any more.',
};

export const activatePage = plainRoute({
  name: 'activate_page',
  surface: 'web',
  method: 'GET',
  path: '/activate',
  summary: 'Signs a browser in, by a link or a code.',
  access: 'open',
  query: z.strictObject({ link: z.string().max(LINK_CHARS_MAX).optional() }),
  responses: { 200: html() },
});

export const activate = plainRoute({
  name: 'activate',
  surface: 'web',
  method: 'POST',
  path: '/activate',
  summary: 'Signs a browser in for a membership.',
  access: 'open',
  bodyBytesMax: 4_096,
  body: form(
    z.strictObject({
      membership_id: z.string().max(FIELD_CHARS_MAX).optional(),
      code: z.string().max(FIELD_CHARS_MAX).optional(),
      link: z.string().max(LINK_CHARS_MAX).optional(),
    }),
  ),
  responses: { 303: noBody(), 401: html(), 429: html(), 503: html() },
  headers: { 303: LED },
});

export const signOut = plainRoute({
  name: 'sign_out',
  surface: 'web',
  method: 'POST',
  path: '/sign-out',
  summary: 'Signs this browser out.',
  access: 'session',
  bodyBytesMax: 4_096,
  body: form(z.strictObject({})),
  responses: { 303: noBody(), 503: html() },
  headers: { 303: LED },
});

/** What the page of signing in says above its form. */
export type SignInTold =
  | {
      readonly kind: 'asked' | 'bad_link' | 'bad_code' | 'too_often' | 'unreachable' | 'still_in';
    }
  /** A link that opens: whoever follows it says so by a button, and not by looking at it. */
  | { readonly kind: 'link'; readonly membership_id: string; readonly link: string };

/** Draws the page of signing in. */
export type DrawSignIn = (told: SignInTold) => string;
