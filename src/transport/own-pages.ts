// Answers one question: does what a browser sends come from a page of our own?
// A browser sends its cookie with whatever another site makes it send, so that a session alone is
// no proof. What fails here is refused before the body is read, and again before it is used.

import type { IncomingHttpHeaders } from 'node:http';
import type { Admission } from '../access/gate.ts';
import { isFormOf } from '../access/session.ts';
import { FORM_TOKEN } from '../contract/media.ts';
import { Refusal } from '../contract/refusals.ts';
import type { Sent } from './input.ts';

/** The header in which a script of our own pages sends the token of its session. */
const TOKEN_HEADER = 'x-form-token';

/**
 * Whether a request comes from our own origin. Browsers say so themselves (Sec-Fetch-Site); those
 * that do not name the origin of the page. `origin` is our own where it is known, else the host
 * that was asked.
 */
export function isOwnSite(headers: IncomingHttpHeaders, origin: string | undefined): boolean {
  const { 'sec-fetch-site': site, origin: from, host } = headers;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  if (from === undefined || !URL.canParse(from)) return false;
  return origin === undefined ? new URL(from).host === host : from === origin;
}

/** The refusal of what another site sent, or of a form that is older than its session. */
export function foreignForm(): Refusal {
  const error =
    'This did not come from a page of this service that you opened while you were signed in.';
  return new Refusal('foreign_form', { error });
}

/** What a browser sent, without the token of its session; a refusal where that is not right. */
export function withoutToken(
  { params, query, body, headers }: Sent & { readonly headers: IncomingHttpHeaders },
  { caller }: Admission,
): Sent | Refusal {
  if (caller.kind !== 'session') return { params, query, body, headers };
  const isForm = typeof body === 'object' && body !== null && FORM_TOKEN in body;
  const { [FORM_TOKEN]: token = headers[TOKEN_HEADER], ...fields } = Object(isForm ? body : {});
  if (typeof token !== 'string' || !isFormOf(caller, token)) return foreignForm();
  return { params, query, body: isForm ? fields : body, headers };
}
