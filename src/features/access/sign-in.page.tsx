// Answers one question: how does a member come in?

import { type PageFacts, page } from '../../pages/layout.tsx';
import type { SignInTold } from './sign-in.contract.ts';

const PATH = '/activate';
const TITLE = 'Sign in';

const SAID: { readonly [K in Exclude<SignInTold['kind'], 'asked' | 'link'>]: string } = {
  bad_link: 'This link does not open: it was used, is older than a day, or is not whole.',
  bad_code: 'The membership id and the code do not belong together.',
  too_often: 'Too many tries for this membership. Wait a quarter of an hour, or use a link.',
  unreachable: 'Nobody can be signed in just now. This is a fault of the service; try again later.',
  still_in: 'This browser could not be signed out just now. Try again later.',
};

/** The page of signing in. */
export function signInPage(facts: PageFacts, told: SignInTold): string {
  return page({
    ...facts,
    title: TITLE,
    current: PATH,
    children: told.kind === 'link' ? <ByLink {...told} /> : <ByCode told={told} />,
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

function ByCode({ told: { kind } }: { told: SignInTold }) {
  return (
    <>
      <h1>{TITLE}</h1>
      {kind !== 'asked' && kind !== 'link' && (
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
            The licence key that stands beside your purchase.
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
