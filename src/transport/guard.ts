// Guards a route by its declared access rule. A rule without a guard on this server stops the
// mounting: no route is served without one.

import type { IncomingHttpHeaders } from 'node:http';
import type { AccessGate, Admission, Presented, TurnedAway } from '../access/gate.ts';
import type { AuthenticateToken } from '../access/secret.ts';
import type { Sessions, SessionUse } from '../access/session.ts';
import { overloadRefusal, Refusal } from '../contract/refusals.ts';
import { isSentByPages } from '../contract/reply.ts';
import {
  type AnyEvidenceRoute,
  type AnyPlainRoute,
  NOBODY,
  opensToPages,
  type RouteFacts,
} from '../contract/route.ts';
import type { AnyStreamRoute } from '../contract/stream.ts';
import type { Soon } from '../evidence/waiting.ts';

/** The authentication of bearer tokens; `anonymous` if everybody may come in. */
export type Tokens = AuthenticateToken | 'anonymous';

/** Lets a caller in or turns it away, before anything else is read. Nothing is charged yet. */
export type Guard = (
  headers: IncomingHttpHeaders,
  search: string,
  use: SessionUse,
) => Soon<Admission | TurnedAway>;

/** The dependencies of the guards; a missing one guards no route. */
export type Guarding = {
  readonly gate: AccessGate | null;
  readonly tokens?: Tokens;
  /** Whether an Authorization header is the operator's. */
  readonly isOperator?: (authorization: string | undefined) => boolean;
  readonly sessions?: Pick<Sessions, 'authenticate'>;
  /** Where browsers find this service; without it, the host that they ask. */
  readonly ownOrigin?: string;
};

const ANYBODY: Admission = { kind: 'uncharged', caller: NOBODY };
const OPERATOR: Admission = { kind: 'uncharged', caller: { kind: 'operator' } };

type GuardedRoute = RouteFacts & { readonly kind: string };

/** Where a bearer token may stand: in a query for clients that can set no header. */
type TokenIn = 'header' | 'header_or_query';

/** The guard of a route. Throws where this server has none for its rule. */
export function guardOf(route: AnyEvidenceRoute | AnyPlainRoute, guarding: Guarding): Guard {
  const tokenIn = 'token' in route.query.shape ? 'header_or_query' : 'header';
  const guard = guardOfRule(route, guarding, tokenIn);
  return isSentByPages(route) ? fromOwnPages(guard, guarding) : guard;
}

/** The guard of a stream: a browser sends its cookies with a WebSocket of whatever page. */
export function guardOfStream(route: AnyStreamRoute, guarding: Guarding): Guard {
  const guard = guardOfRule(route, guarding, 'header_or_query');
  const byCookie = route.access === 'session' || route.access === 'visitor';
  return byCookie ? fromOwnPages(guard, guarding) : guard;
}

function fromOwnPages(guard: Guard, { ownOrigin }: Guarding): Guard {
  const foreign: TurnedAway = { kind: 'refused', refusal: foreignForm() };
  return (headers, search, use) =>
    isOwnSite(headers, ownOrigin) ? guard(headers, search, use) : foreign;
}

function guardOfRule(route: GuardedRoute, guarding: Guarding, tokenIn: TokenIn): Guard {
  const { name, access } = route;
  const toPages = opensToPages(route);
  const { gate, tokens, isOperator, sessions } = guarding;
  switch (access) {
    case 'open':
      if (isOperator === undefined) return () => ANYBODY;
      return ({ authorization }) => (isOperator(authorization) ? OPERATOR : ANYBODY);
    case 'operator':
      if (isOperator === undefined) throw new Error(`${name} needs an operator`);
      return ({ authorization }) => (isOperator(authorization) ? OPERATOR : NO_OPERATOR);
    case 'bearer':
      if (tokens === undefined) throw new Error(`${name} needs tokens`);
      return tokens === 'anonymous' ? () => ANYBODY : tokenGuard(tokens, tokenIn);
    case 'visitor':
      return sessions === undefined ? () => ANYBODY : visitorGuard(sessions);
    case 'session':
      if (sessions === undefined) throw new Error(`${name} needs sessions`);
      return sessionGuard(sessions);
    case 'optional_key':
      if (gate === null) throw new Error(`${name} needs a gate`);
      return (headers, search) => gate.identify(credentialsIn(headers, search, toPages));
    case 'analyst':
    case 'desk':
    case 'enterprise':
    case 'partner':
      if (gate === null) throw new Error(`${name} needs a gate`);
      return (headers, search) => gate.admit(credentialsIn(headers, search, toPages), access);
    default:
      throw new Error(`${name}: no guard knows the rule ${String(access satisfies never)}`);
  }
}

/** The query of a request as it was sent. */
export function searchOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

/** The places of a request in which a key can stand. */
export function credentialsIn(
  headers: IncomingHttpHeaders,
  search: string,
  toPages: boolean,
): Presented {
  const { authorization, origin, 'x-service-membership': membership } = headers;
  const serviceMembership = typeof membership === 'string' ? membership : undefined;
  return { authorization, serviceMembership, search, origin, opensToPages: toPages };
}

// A rejected caller learns nothing else.
function tokenGuard(authenticate: AuthenticateToken, tokenIn: TokenIn): Guard {
  return async ({ authorization }, search) => {
    const queryToken = tokenIn === 'header' ? null : new URLSearchParams(search).get('token');
    const said = await authenticate({ authorization, queryToken });
    if (said.outcome === 'opens') {
      const { id: token_id, tier } = said;
      return { kind: 'uncharged', caller: { kind: 'token', token_id, tier } };
    }
    return closedResult(said, BEARER);
  };
}

function sessionGuard({ authenticate }: Pick<Sessions, 'authenticate'>): Guard {
  return async ({ cookie, 'user-agent': agent }, _search, use) => {
    const said = await authenticate(cookie, agent, use);
    if (said.outcome === 'opens') return { ...said, kind: 'uncharged' };
    return closedResult(said, {});
  };
}

// A browser whose session cannot be looked up is not taken for one that is not signed in.
function visitorGuard({ authenticate }: Pick<Sessions, 'authenticate'>): Guard {
  return async ({ cookie, 'user-agent': agent }, _search, use) => {
    const said = await authenticate(cookie, agent, use);
    if (said.outcome === 'opens') return { ...said, kind: 'uncharged' };
    return said.outcome === 'unreachable' ? closedResult(said, {}) : ANYBODY;
  };
}

const BEARER = { 'www-authenticate': 'Bearer' };

function closedResult(
  { outcome, reason }: { readonly outcome: string; readonly reason: string },
  headers: { readonly [name: string]: string },
): TurnedAway {
  const refusal =
    outcome === 'unreachable'
      ? overloadRefusal(reason)
      : new Refusal('unauthorized', { error: 'unauthorized', reason }, headers);
  return { kind: 'refused', refusal };
}

const ONLY_OPERATOR = "The operator's token opens this, and nothing else does.";
const NO_OPERATOR = closedResult({ outcome: 'none', reason: ONLY_OPERATOR }, BEARER);

// A browser sends its cookie with whatever another site makes it send, so that a session alone is
// no proof. What fails here is refused before the body is read, and again before it is used.

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
