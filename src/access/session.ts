// Answers one question: whose browser is this, and is what it sends a form of our own?
// The cookie holds a random token and nothing else; the store holds its hash. A form carries a
// token that follows from its session, so that another site cannot send one in its name.

import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { DAY_S, HOUR_S, type UnixSeconds } from '../chain/time.ts';
import type { Caller } from '../contract/caller.ts';
import { map, type Reading, Unread } from '../evidence/reading.ts';
import type { Session, SessionStore, SessionsPort } from '../ports/access/session-store.ts';
import { mintId } from './key.ts';
import { hashesOf, type Secrets } from './secret.ts';

/** A browser that was not used for so long is signed out: 12 hours. */
export const SESSION_IDLE_S = 12 * HOUR_S;
/** However much it is used, it signs in again after so long: 7 days. */
export const SESSION_LIFETIME_S = 7 * DAY_S;
/** A use is noted once in so long. */
const SEEN_EACH_S = 60;
/** A browser that is used gets another token after so long: an hour. */
export const SESSION_RENEWED_EACH_S = HOUR_S;
/** The token before opens for so long, because it may be under way already: a minute. */
export const SESSION_GRACE_S = 60;
const TOKEN_BYTES = 32;
const TOKEN_FORM = /^[\w-]{43}$/;

/** What a cookie opens. `unreachable`: it may be a good one, but the store did not answer. */
export type SessionOutcome =
  | { readonly outcome: 'opens'; readonly caller: Extract<Caller, { kind: 'session' }> }
  | { readonly outcome: 'none' | 'unreachable'; readonly reason: string };

/** The signed-in browsers, as doors and sign-in pages use them. */
export type Sessions = {
  /** Tells from a Cookie header whose browser it is. */
  readonly authenticate: (cookies: string | undefined) => Promise<SessionOutcome>;
  /** Signs a browser in, under a new token whatever it held before: the Set-Cookie to answer. */
  readonly begin: (membershipId: string) => Promise<Reading<string, SessionsPort>>;
  /** Gives a browser another token where its own is old: the Set-Cookie to answer, else `null`. */
  readonly renew: (sessionId: string) => Promise<Reading<string | null, SessionsPort>>;
  /** Signs a browser out: the Set-Cookie to answer. */
  readonly end: (sessionId: string) => Promise<Reading<string, SessionsPort>>;
};

const SIGN_IN = 'No browser is signed in here with this cookie, or it was idle for too long.';

/**
 * Makes the sessions. `secure`: browsers reach the service by https, so that the cookie is sent to
 * this host alone and never in the clear. `now` gives Unix seconds.
 */
export function createSessions(
  store: SessionStore,
  secrets: Secrets,
  secure: boolean,
  now: () => UnixSeconds,
): Sessions {
  const name = secure ? '__Host-exhibit' : 'exhibit';
  const cookie = (token: string, forS: number) =>
    `${name}=${token}; Path=/; Max-Age=${forS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    authenticate: async (cookies) => {
      const token = cookieOf(cookies, name);
      if (token === null) return { outcome: 'none', reason: SIGN_IN };
      const found = await store.find(hashesOf(token, secrets), now() - SESSION_GRACE_S);
      if (found instanceof Unread) {
        return { outcome: 'unreachable', reason: 'Sessions cannot be checked at the moment.' };
      }
      const session = found.value;
      const at = now();
      if (session === null || !isOpen(session, at)) return { outcome: 'none', reason: SIGN_IN };
      // A use that could not be noted signs out early, and opens nothing that it should not.
      if (at - session.seen_at >= SEEN_EACH_S) await store.seen(session.id, at);
      const { id: session_id, membership_id } = session;
      const form_token = formTokenOf(session_id, secrets);
      return {
        outcome: 'opens',
        caller: { kind: 'session', session_id, membership_id, form_token },
      };
    },
    begin: async (membership_id) => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const [secret] = hashesOf(token, secrets);
      const created_at = now();
      const session = { id: mintId('ses'), membership_id, secret, created_at };
      const added = await store.add(session, created_at - SESSION_LIFETIME_S);
      return map(added, () => cookie(token, SESSION_LIFETIME_S));
    },
    renew: async (sessionId) => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const [secret] = hashesOf(token, secrets);
      const at = now();
      const renewed = await store.renew(sessionId, secret, at, at - SESSION_RENEWED_EACH_S);
      return map(renewed, (createdAt) => {
        if (createdAt === null) return null;
        return cookie(token, Math.max(1, Math.floor(createdAt + SESSION_LIFETIME_S - at)));
      });
    },
    end: async (sessionId) => map(await store.end(sessionId, now()), () => cookie('', 0)),
  };
}

function isOpen({ created_at, seen_at, ended_at }: Session, at: UnixSeconds): boolean {
  if (ended_at !== null) return false;
  return at - seen_at < SESSION_IDLE_S && at - created_at < SESSION_LIFETIME_S;
}

function cookieOf(cookies: string | undefined, name: string): string | null {
  if (cookies === undefined) return null;
  const held = cookies.split(';').map((one) => one.trim());
  const [token] = held.flatMap((one) => {
    return one.startsWith(`${name}=`) ? [one.slice(name.length + 1)] : [];
  });
  return token !== undefined && TOKEN_FORM.test(token) ? token : null;
}

function formTokenOf(sessionId: string, [{ forms }]: Secrets): string {
  return createHmac('sha256', forms).update(sessionId).digest('base64url');
}

/** Whether a form was made for this session. Takes the same time whatever was sent. */
export function isFormOf({ form_token }: { readonly form_token: string }, sent: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(form_token), digest(sent));
}
