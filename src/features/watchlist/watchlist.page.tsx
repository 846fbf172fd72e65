// Answers one question: what does a member watch, what was last found of it, and what changed?
// A part of which nothing is told is never drawn as a good sign: it says when it was looked at.

import { type PageFacts, page } from '../../pages/layout.tsx';
import { messagePage } from '../../pages/message.tsx';
import type {
  WatchChangeListed as Change,
  WatchlistShown as Shown,
  WatchedListed as Watched,
} from './watchlist-page.contract.ts';

const PATH = '/watchlist';
const TITLE = 'Watchlist';

const PARTS: { readonly [P in Change['part']]: string } = {
  sanctions_list: 'Sanctions list',
  other_lists: 'Other lists',
  exchange_labels: 'Exchange table',
  flagged_addresses: 'Flagged addresses',
  entity_clusters: 'Clusters',
  hops: 'Two hops of transfers',
};

const CHANGED: { readonly [C in Change['change']]: string } = {
  first_seen: 'stood there at the first look',
  entered: 'entered',
  changed: 'changed',
  left: 'left: it stood there before',
};

/** The page of a watchlist. */
export function watchlistShown(facts: PageFacts, shown: Shown): string {
  return page({ ...facts, title: TITLE, current: PATH, children: <Whole shown={shown} /> });
}

/** A page that says one thing: what could not be read, or was not done, and why. */
export function watchlistMessage(facts: PageFacts, title: string, why: string): string {
  const back = { path: PATH, text: 'Back to the watchlist' };
  return messagePage(facts, { title, why, current: PATH, back });
}

function Whole({ shown }: { shown: Shown }) {
  const { done, form_token, watched, whole, watched_max } = shown;
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        Addresses that are screened again whenever a list, a table or two hops of transfers change.
        That little is told of an address says nothing good of it: each part says when it was looked
        at.
      </p>
      {done !== null && (
        <p class="notice" role="status">
          {done === 'added'
            ? 'The address is watched. It is looked at within seconds.'
            : 'The address is watched no more. What changed of it stays below.'}
        </p>
      )}
      <form class="search" method="post" action={PATH}>
        <Token token={form_token} />
        <label for="address">
          Address to watch, {watched_max.toLocaleString('en')} at most in your plan
        </label>
        <input
          id="address"
          name="address"
          type="text"
          maxLength={128}
          required
          autocomplete="off"
          spellcheck={false}
        />
        <button type="submit">Watch</button>
      </form>
      <Changes changes={shown.changes} />
      <section aria-labelledby="watched">
        <h2 id="watched">Watched addresses</h2>
        {watched === null ? (
          <p class="nothing">No address is watched yet.</p>
        ) : (
          <>
            {!whole && (
              <p class="quiet">
                The first {watched.length.toLocaleString('en')}; the API lists all of them.
              </p>
            )}
            <ul class="entries">
              {watched.map((one) => (
                <Row key={one.id} watched={one} token={form_token} />
              ))}
            </ul>
          </>
        )}
      </section>
      <p>
        <a href="/screens">Records of screens</a> ·{' '}
        <a href="/settings/integrations">Told in chat</a>
      </p>
    </>
  );
}

function Token({ token }: { token: string }) {
  return <input type="hidden" name="form_token" value={token} />;
}

function Row({ watched, token }: { watched: Watched; token: string }) {
  const { id, address, added_at, parts } = watched;
  return (
    <li>
      <div class="headed">
        <h3>
          <a href={`/address/${address}`}>
            <code>{address}</code>
          </a>
        </h3>
        <form method="post" action={`${PATH}/${id}/remove`}>
          <Token token={token} />
          <button class="plain" type="submit" aria-label={`Watch ${address} no more`}>
            Remove
          </button>
        </form>
      </div>
      <p class="quiet">Watched since {momentText(added_at)}</p>
      {parts.length === 0 ? (
        <p>Not looked at yet.</p>
      ) : (
        <details>
          <summary>{summaryOf(watched)}</summary>
          <div class="scroll">
            <table class="tight">
              <thead>
                <tr>
                  <th scope="col">Held against</th>
                  <th scope="col">On record</th>
                  <th scope="col">Last read</th>
                </tr>
              </thead>
              <tbody>
                {parts.map(({ part, found, read_at, not_read, version }) => (
                  <tr key={part}>
                    <td>{PARTS[part]}</td>
                    <td>
                      <Found found={found} />
                      {not_read !== null && <p>Not read to its end: {not_read}</p>}
                    </td>
                    <td>
                      {read_at === null ? 'never' : momentText(read_at)}
                      {version !== null && <div class="quiet">{version}</div>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
    </li>
  );
}

function summaryOf({ parts }: Watched): string {
  const on = parts.filter(({ found }) => found !== null && found.length > 0);
  const unread = parts.filter(({ not_read }) => not_read !== null);
  const said = on.length === 0 ? 'what was looked at' : `on record: ${on.map(titleOf).join(', ')}`;
  const missing = unread.length === 0 ? '' : `; not read: ${unread.map(titleOf).join(', ')}`;
  return `${said}${missing}`;
}

function titleOf({ part }: { readonly part: Change['part'] }): string {
  return PARTS[part];
}

type Findings = Watched['parts'][number]['found'];

function Found({ found }: { found: Findings }) {
  if (found === null) return <>not known</>;
  if (found.length === 0) return <>not met at that look</>;
  return (
    <>
      {found.map(({ source, address, entity, ref, detail }) => (
        <div key={`${source} ${address} ${ref}`}>
          {[source, entity, detail, ref].filter((one) => one !== null).join(' · ')}
        </div>
      ))}
    </>
  );
}

function Changes({ changes }: { changes: Shown['changes'] }) {
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">Changes</h2>
      {changes === null && <p class="nothing">No change has been told yet.</p>}
      {changes !== null && 'unread' in changes && (
        <p>The changes could not be read: {changes.unread}</p>
      )}
      {changes !== null && !('unread' in changes) && (
        <div class="scroll">
          <table class="tight">
            <caption>The newest {changes.length}</caption>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Address</th>
                <th scope="col">What</th>
                <th scope="col">Before</th>
                <th scope="col">Now</th>
              </tr>
            </thead>
            <tbody>{changes.map(ChangeRow)}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function ChangeRow(change: Change) {
  const { seq, at, address, part, before, after, version_before, version_after, not_read } = change;
  return (
    <tr key={seq}>
      <td class="whole">{momentText(at)}</td>
      <td>
        <code>{address}</code>
      </td>
      <td>
        {PARTS[part]}: {CHANGED[change.change]}
        {not_read.length > 0 && <p>Not read at that look: {not_read.join(' ')}</p>}
      </td>
      <td>
        <Found found={before} />
        <div class="quiet">{version_before}</div>
      </td>
      <td>
        <Found found={after} />
        <div class="quiet">{version_after}</div>
      </td>
    </tr>
  );
}

/** To the minute, in UTC. */
function momentText(at: string): string {
  return `${at.slice(0, MINUTE_CHARS).replace('T', ' ')} UTC`;
}

const MINUTE_CHARS = 16;
