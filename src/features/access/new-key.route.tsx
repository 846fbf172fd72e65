// Shows a new key once, with how to send it.

import { z } from 'zod';
import { formatIsoDate } from '../../chain/time.ts';
import { html } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute, sessionOf } from '../../contract/route.ts';
import { shellCommand } from '../../contract/shell-command.ts';
import { Unread } from '../../evidence/reading.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { momentText } from '../../pages/words.tsx';
import type { UnshownKey } from '../../ports/unshown-keys.ts';
import { NO_STORE, notDone, type SettingsPorts } from './settings.route.tsx';

export const newKeyShown = plainRoute({
  name: 'new_key_shown',
  surface: 'web',
  access: 'session',
  method: 'GET',
  path: '/settings/keys/{id}/new',
  summary: 'Shows a key that this browser created, once.',
  params: z.strictObject({ id: z.string().max(60) }),
  responses: { 200: html(), 404: html(), 503: html() },
});

const TITLE = 'The key is not shown';
const GONE =
  'A new key is shown once, within five minutes, to the browser that made it. Where it was not ' +
  'copied, replace it by another.';

/** @internal */
export function newKeyHandler(
  { unshown, base }: Pick<SettingsPorts, 'unshown' | 'base'>,
  facts: PageFacts,
): PlainHandler<typeof newKeyShown> {
  return async ({ params: { id } }, _request, caller) => {
    const taken = await unshown.take(sessionOf(caller).session_id, id);
    if (taken instanceof Unread) return newKeyShown.reply(503, notDone(facts, TITLE, NO_STORE));
    if (taken.value === null) return newKeyShown.reply(404, notDone(facts, TITLE, GONE));
    return newKeyShown.reply(200, newKeyPage(facts, taken.value, base()));
  };
}

const EXAMPLE = '/api/v1/wallet/0x00000000219ab540356cbb839cbe05303d7705fa/ofac';

/** A request that sends a key: of a shell, or of a page where it is publishable. */
function requestWith(key: string, base: string): string {
  const url = `${base}${EXAMPLE}`;
  if (key.startsWith('sc_pub_')) {
    return `await fetch(\n  '${url}',\n  { headers: { authorization: \`Bearer \${key}\` } },\n)`;
  }
  const header = { before: 'Authorization: Bearer ', variable: 'EXHIBIT_API_KEY' };
  return shellCommand(['curl', '-s', '-H', header], [url]);
}

function newKeyPage(facts: PageFacts, key: UnshownKey, base: string): string {
  const { text, name, expires_at, instead_until } = key;
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
            <code>{requestWith(text, base)}</code>
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
