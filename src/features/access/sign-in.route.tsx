import { z } from 'zod';
import type { Sessions, SignIn } from '../../access/session.ts';
import { form, html, noBody } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute, sessionOf } from '../../contract/route.ts';
import { Unread } from '../../evidence/reading.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';

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
  requestHeaders: z.strictObject({
    cookie: z.string().optional(),
    'user-agent': z.string().optional(),
  }),
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

/** The message of the sign-in page above its form; it does not depend on why an attempt failed. */
type SignInView =
  | {
      readonly kind: 'asked' | 'bad_link' | 'bad_code' | 'too_often' | 'unreachable' | 'still_in';
    }
  /** A link that opens: whoever follows it says so by a button, and not by looking at it. */
  | { readonly kind: 'link'; readonly membership_id: string; readonly link: string };

export type SignInPorts = {
  readonly signIn: Pick<SignIn, 'membershipOf' | 'byLink' | 'byCode'>;
  readonly sessions: Pick<Sessions, 'list' | 'end' | 'signOut'>;
};

/** @internal */
export function activatePageHandler(
  { signIn }: SignInPorts,
  facts: PageFacts,
): PlainHandler<typeof activatePage> {
  return async ({ query: { link } }) => {
    if (link === undefined) return activatePage.reply(200, signInPage(facts, { kind: 'asked' }));
    const membership_id = signIn.membershipOf(link);
    const view: SignInView =
      membership_id === null ? { kind: 'bad_link' } : { kind: 'link', membership_id, link };
    return activatePage.reply(200, signInPage(facts, view));
  };
}

/** @internal */
export function activateHandler(
  ports: SignInPorts,
  facts: PageFacts,
): PlainHandler<typeof activate> {
  return async ({ body: { membership_id, code, link }, headers }, { network }) => {
    const { cookie: cookies, 'user-agent': agent } = headers;
    const from = { agent, network: network === undefined ? 'unknown' : network, cookies };
    const byLink = link !== undefined;
    const tried = byLink
      ? await ports.signIn.byLink(link, from)
      : await ports.signIn.byCode(asSent(membership_id), asSent(code), from);
    if (tried.outcome === 'signed_in') {
      const headers = { location: '/settings', 'set-cookie': tried.cookies };
      return activate.reply(303, undefined, headers);
    }
    const { outcome } = tried;
    const failed = byLink ? 'bad_link' : 'bad_code';
    const shown = signInPage(facts, { kind: outcome === 'refused' ? failed : outcome });
    if (outcome === 'too_often') return activate.reply(429, shown);
    return activate.reply(outcome === 'unreachable' ? 503 : 401, shown);
  };
}

// A field that was left out is tried like any wrong one.
function asSent(field: string | undefined): string {
  return field === undefined ? '-' : field.trim();
}

/** @internal */
export function signOutHandler(
  { sessions }: SignInPorts,
  facts: PageFacts,
): PlainHandler<typeof signOut> {
  return async (_input, _request, caller) => {
    const ended = await sessions.signOut(sessionOf(caller).session_id);
    if (ended instanceof Unread) {
      return signOut.reply(503, signInPage(facts, { kind: 'still_in' }));
    }
    return signOut.reply(303, undefined, { location: '/activate', 'set-cookie': ended.value });
  };
}

const PATH = '/activate';
const TITLE = 'Sign in';

const SAID: { readonly [K in Exclude<SignInView['kind'], 'asked' | 'link'>]: string } = {
  bad_link: 'This link does not open: it was used, is older than a day, or is not whole.',
  bad_code:
    'The membership id and the code do not belong together, or the code was first used in ' +
    'another browser. From any other browser a link signs you in.',
  too_often: 'Another try from your network is under way. Try again in a few seconds.',
  unreachable: 'Nobody can be signed in just now. This is a fault of the service; try again later.',
  still_in: 'This browser could not be signed out just now. Try again later.',
};

function signInPage(facts: PageFacts, view: SignInView): string {
  return page({
    ...facts,
    title: TITLE,
    current: PATH,
    children: view.kind === 'link' ? <ByLink {...view} /> : <ByCode kind={view.kind} />,
  });
}

function ByLink({ membership_id, link }: { membership_id: string; link: string }) {
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        This link signs this browser in for the membership <code>{membership_id}</code>, once.
      </p>
      <p>Go on only if the membership is yours: what you do there is done in its name.</p>
      <form class="panel" method="post" action={PATH}>
        <input type="hidden" name="link" value={link} />
        <button type="submit">Sign in</button>
      </form>
    </>
  );
}

function ByCode({ kind }: { kind: Exclude<SignInView['kind'], 'link'> }) {
  return (
    <>
      <h1>{TITLE}</h1>
      {kind !== 'asked' && (
        <p class="notice" role="alert">
          {SAID[kind]}
        </p>
      )}
      <p class="lead">
        With your membership you create the keys of the API, and see what they were used for.
      </p>
      <form class="panel" method="post" action={PATH}>
        <p class="field">
          <label for="membership_id">Membership id</label>
          <input
            id="membership_id"
            name="membership_id"
            type="text"
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            placeholder="mem_…"
            maxLength={100}
            required
          />
        </p>
        <p class="field">
          <label for="code">Code</label>
          <input
            id="code"
            name="code"
            type="password"
            autocomplete="current-password"
            maxLength={200}
            aria-describedby="code-help"
            required
          />
          <span class="quiet" id="code-help">
            The licence key that stands beside your purchase. It opens in the browser that uses it
            first.
          </span>
        </p>
        <button type="submit">Sign in</button>
      </form>
      <p class="quiet">
        No code? Whoever runs this service can give you a link that signs you in once. No membership
        yet? See <a href="/pricing">the plans</a>.
      </p>
    </>
  );
}
