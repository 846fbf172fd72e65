// The page that shows a new key, with how it is sent.

import { formatIsoDate } from '../../chain/time.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { momentText } from '../../pages/words.tsx';
import type { NewKeyView } from './settings.route.tsx';

/** @internal The page that shows a key once. */
export function newKeyPage(facts: PageFacts, shown: NewKeyView): string {
  const { text, name, expires_at, request, instead_until } = shown;
  return page({
    ...facts,
    title: 'Your new key',
    current: '/settings',
    children: (
      <>
        <h1>Your new key</h1>
        <p class="notice" role="status">
          <strong>Copy it now.</strong> It is shown this once: only a hash of it is stored.
        </p>
        <div class="panel">
          {name !== null && <h2>{name}</h2>}
          <pre class="secret" tabindex={0}>
            <code>{text}</code>
          </pre>
          <p class="quiet">It expires on {formatIsoDate(expires_at)}, after 90 days.</p>
          {instead_until !== null && (
            <p>
              The key whose place it takes opens until <strong>{momentText(instead_until)}</strong>,
              so that you can change it over without a gap.
            </p>
          )}
        </div>
        <section aria-labelledby="send">
          <h2 id="send">Send it in a header</h2>
          <pre tabindex={0}>
            <code>{request}</code>
          </pre>
          {text.startsWith('sc_pub_') ? (
            <p class="quiet">
              Pages of the origins that you listed may send it, and nothing else. It is no secret:
              whoever copies it can write such an origin into a program, and spend its requests of
              the day.
            </p>
          ) : (
            <p class="quiet">
              Set it first, by <code>read -rs EXHIBIT_API_KEY</code> and{' '}
              <code>export EXHIBIT_API_KEY</code>, so that no history of a shell keeps the key.
            </p>
          )}
        </section>
        <p>
          <a class="button" href="/settings">
            I have copied it
          </a>
        </p>
      </>
    ),
  });
}
