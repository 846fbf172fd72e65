// Answers one question: what is the key that was just created? It is shown here and nowhere again.

import { formatIsoDate, type UnixSeconds } from '../../chain/time.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import type { NewKeyShown } from './settings.contract.ts';

/** The page that shows a key once. */
export function newKeyPage(facts: PageFacts, shown: NewKeyShown): string {
  const { text, name, expires_at, base, instead_until } = shown;
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
            <code>{exampleOf(text, base)}</code>
          </pre>
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

/** A moment to the minute, in UTC. */
export function momentText(at: UnixSeconds): string {
  return `${new Date(at * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

const ASKED = '/api/v1/wallet/0x00000000219ab540356cbb839cbe05303d7705fa/ofac';

function exampleOf(key: string, base: string): string {
  return `curl -s -H 'Authorization: Bearer ${key}' \\\n  '${base}${ASKED}'`;
}
