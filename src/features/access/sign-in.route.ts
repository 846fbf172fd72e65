// Answers /activate and /sign-out. What it says of a wrong try is the same whatever was wrong.

import type { Sessions } from '../../access/session.ts';
import type { SignIn, SignInOutcome } from '../../access/sign-in.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { Unread } from '../../evidence/reading.ts';
import {
  activate,
  activatePage,
  type DrawSignIn,
  type SignInTold,
  signOut,
} from './sign-in.contract.ts';

/** What signing in rests on. */
export type SignInDesk = {
  readonly signIn: Pick<SignIn, 'membershipOf' | 'byLink' | 'byCode'>;
  readonly sessions: Pick<Sessions, 'end'>;
};

export function activatePageHandler(
  { signIn }: SignInDesk,
  draw: DrawSignIn,
): PlainHandler<typeof activatePage> {
  return async ({ query: { link } }) => {
    if (link === undefined) return activatePage.reply(200, draw({ kind: 'asked' }));
    const membership_id = signIn.membershipOf(link);
    const told: SignInTold =
      membership_id === null ? { kind: 'bad_link' } : { kind: 'link', membership_id, link };
    return activatePage.reply(200, draw(told));
  };
}

export function activateHandler(desk: SignInDesk, draw: DrawSignIn): PlainHandler<typeof activate> {
  return async ({ body: { membership_id, code, link } }) => {
    const byLink = link !== undefined;
    const tried = byLink
      ? await desk.signIn.byLink(link)
      : await desk.signIn.byCode(asSent(membership_id), asSent(code));
    if (tried.outcome === 'signed_in') {
      const headers = { location: '/settings', 'set-cookie': tried.cookie };
      return activate.reply(303, undefined, headers);
    }
    const page = draw(toldOf(tried, byLink));
    if (tried.outcome === 'too_often') return activate.reply(429, page);
    return activate.reply(tried.outcome === 'unreachable' ? 503 : 401, page);
  };
}

function toldOf(
  { outcome }: Exclude<SignInOutcome, { outcome: 'signed_in' }>,
  byLink: boolean,
): SignInTold {
  if (outcome === 'refused') return { kind: byLink ? 'bad_link' : 'bad_code' };
  return { kind: outcome };
}

// A field that was left out is tried like any wrong one.
function asSent(field: string | undefined): string {
  return field === undefined ? '-' : field.trim();
}

export function signOutHandler(
  { sessions }: SignInDesk,
  draw: DrawSignIn,
): PlainHandler<typeof signOut> {
  return async (_input, _asked, caller) => {
    if (caller.kind !== 'session') throw new Error('the guard let in a browser without a session');
    const ended = await sessions.end(caller.session_id);
    if (ended instanceof Unread) {
      return signOut.reply(503, draw({ kind: 'still_in' }));
    }
    return signOut.reply(303, undefined, { location: '/activate', 'set-cookie': ended.value });
  };
}
