// Answers one question: what does a member see of its membership: plan, keys, use and changes?

import { formatIsoDate, type UnixSeconds } from '../../chain/time.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { messagePage } from '../../pages/message.tsx';
import { Scroll } from '../../pages/words.tsx';
import { momentText } from './new-key.page.tsx';
import type { SettingsChange as Change, Settings as Shown, ShownKey } from './settings.contract.ts';
import { UsageChart } from './usage-chart.page.tsx';

const PATH = '/settings';
const TITLE = 'Settings';
const number = (value: number): string => value.toLocaleString('en');

/** The page of a membership. */
export function settings(facts: PageFacts, shown: Shown): string {
  return page({ ...facts, title: TITLE, current: PATH, children: <Whole shown={shown} /> });
}

/** The page where the membership could not be read. */
export function membershipUnread(facts: PageFacts, reason: string): string {
  return page({
    ...facts,
    title: TITLE,
    current: PATH,
    children: (
      <>
        <h1>{TITLE}</h1>
        <p class="lead">Your membership could not be read: {reason}</p>
      </>
    ),
  });
}

/** The page of something that was not done, and why. */
export function notDone(facts: PageFacts, title: string, why: string): string {
  const back = { path: PATH, text: 'Back to the settings' };
  return messagePage(facts, { title, why, current: PATH, back });
}

function Whole({ shown }: { shown: Shown }) {
  const { member, form_token, revoked } = shown;
  return (
    <>
      <div class="headed">
        <h1>{TITLE}</h1>
        <form method="post" action="/sign-out">
          <Token token={form_token} />
          <button class="plain" type="submit">
            Sign out
          </button>
        </form>
      </div>
      {revoked && (
        <p class="notice" role="status">
          The key is revoked. It opens nothing any more.
        </p>
      )}
      {member.status === 'inactive' && (
        <p class="notice" role="alert">
          <strong>This membership is not active.</strong> Its keys open nothing, and it gets no new
          one. See <a href="/pricing">the plans</a>.
        </p>
      )}
      <Membership shown={shown} />
      <Keys shown={shown} />
      <Usage shown={shown} />
      <Changes changes={shown.changes} />
    </>
  );
}

function Token({ token }: { token: string }) {
  return <input type="hidden" name="form_token" value={token} />;
}

function Membership({ shown: { member, today } }: { shown: Shown }) {
  return (
    <section aria-labelledby="membership">
      <h2 id="membership" class="hidden">
        Membership
      </h2>
      <dl class="facts">
        <dt>Membership</dt>
        <dd>
          <code>{member.membership_id}</code>
        </dd>
        <dt>Plan</dt>
        <dd>
          {member.plan.title}
          {member.status === 'inactive' && ' (not active)'}
        </dd>
        <dt>Requests today</dt>
        <dd>
          {'unread' in today ? (
            `could not be read: ${today.unread}`
          ) : (
            <>
              {number(today.read.used)} of {number(today.read.limit)},{' '}
              <span class="quiet">anew in {hoursText(today.read.reset_s)}</span>
            </>
          )}
        </dd>
        <dt>Chats</dt>
        <dd>
          <a href="/settings/integrations">Where you are told of what happens</a>
        </dd>
      </dl>
      <p>
        <a href="/screens">Records of screens</a>
      </p>
    </section>
  );
}

function hoursText(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes % 60} min`;
}

function isOpen(key: ShownKey, now: UnixSeconds): boolean {
  return key.revoked_at === null && key.expires_at > now;
}

/** So many keys that ended are shown, the newest. */
const ENDED_SHOWN = 20;

function Keys({ shown }: { shown: Shown }) {
  const { keys, now, member, form_token } = shown;
  if ('unread' in keys) {
    return (
      <section aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <p>The keys could not be read: {keys.unread}</p>
      </section>
    );
  }
  const open = keys.read.filter((key) => isOpen(key, now));
  const ended = keys.read.filter((key) => !isOpen(key, now)).slice(0, ENDED_SHOWN);
  const counted = open.filter(({ replaced_at }) => replaced_at === null).length;
  const isFull = counted >= member.plan.active_keys;
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <p>
        {number(counted)} of {number(member.plan.active_keys)} active keys of your plan.
      </p>
      {member.status === 'active' && !isFull && <NewKey token={form_token} />}
      {isFull && <p class="quiet">Revoke a key to create another one.</p>}
      <ul class="keys">
        {open.map((key) => (
          <KeyRow
            key={key.id}
            shown={key}
            token={form_token}
            isActive={member.status === 'active'}
          />
        ))}
      </ul>
      {open.length === 0 && <p class="nothing">You have no key that opens anything.</p>}
      {ended.length > 0 && <Ended keys={ended} />}
    </section>
  );
}

function NewKey({ token }: { token: string }) {
  return (
    <form class="search" method="post" action="/settings/keys">
      <Token token={token} />
      <label for="name">Name of a new key: what will use it?</label>
      <input id="name" name="name" type="text" maxLength={60} required autocomplete="off" />
      <button type="submit">Create a key</button>
    </form>
  );
}

type RowProps = { shown: ShownKey; token: string; isActive: boolean };

function KeyRow({ shown, token, isActive }: RowProps) {
  const { id, name, prefix, created_at, expires_at, last_used_at, replaced_at } = shown;
  return (
    <li class="panel">
      <h3>
        {name === null ? 'Without a name' : name} <code>{prefix}…</code>
      </h3>
      <p class="quiet">
        Created {formatIsoDate(created_at)} ·{' '}
        {last_used_at === null ? 'not used yet' : `last used ${momentText(last_used_at)}`} ·{' '}
        {replaced_at === null
          ? `expires ${formatIsoDate(expires_at)}`
          : `replaced, opens until ${momentText(expires_at)}`}
      </p>
      <div class="actions">
        {replaced_at === null && isActive && (
          <details>
            <summary>Replace</summary>
            <form method="post" action={`/settings/keys/${id}/replace`}>
              <Token token={token} />
              <label for={`overlap-${id}`}>This key opens beside the new one for</label>
              <select id={`overlap-${id}`} name="overlap">
                <option value="1">1 hour</option>
                <option value="24" selected>
                  1 day
                </option>
                <option value="168">7 days</option>
              </select>
              <button type="submit">Create the new key</button>
            </form>
          </details>
        )}
        <details>
          <summary>Revoke</summary>
          <form method="post" action={`/settings/keys/${id}/revoke`}>
            <Token token={token} />
            <p>What still sends it is refused within seconds. This cannot be undone.</p>
            <button class="danger" type="submit">
              Revoke {name === null ? prefix : name}
            </button>
          </form>
        </details>
      </div>
    </li>
  );
}

function Ended({ keys }: { keys: readonly ShownKey[] }) {
  return (
    <details>
      <summary>Keys that ended</summary>
      <Scroll>
        <table class="tight">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Key</th>
              <th scope="col">Created</th>
              <th scope="col">Ended</th>
            </tr>
          </thead>
          <tbody>
            {keys.map(({ id, name, prefix, created_at, expires_at, revoked_at }) => (
              <tr key={id}>
                <td>{name === null ? 'without a name' : name}</td>
                <td>
                  <code>{prefix}…</code>
                </td>
                <td class="whole">{formatIsoDate(created_at)}</td>
                <td>
                  {revoked_at === null
                    ? `expired ${momentText(expires_at)}`
                    : `revoked ${momentText(revoked_at)}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}

function Usage({ shown: { days } }: { shown: Shown }) {
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">Use by day</h2>
      {'unread' in days ? (
        <p>The use could not be read: {days.unread}</p>
      ) : (
        <UsageChart days={days.read} />
      )}
    </section>
  );
}

const WORDS: { readonly [K in Change['change']]: string } = {
  key_created: 'Key created',
  key_replaced: 'Key replaced',
  key_revoked: 'Key revoked',
  signed_in: 'Signed in',
  signed_out: 'Signed out',
  integration_connected: 'Chat connected',
  integration_removed: 'Chat removed',
};

/** Of a key its first characters alone are known. */
function shownSubject(change: Change['change'], subject: string): string {
  return change.startsWith('key_') ? `${subject}…` : subject;
}

function Changes({ changes: { read, whole } }: { changes: Shown['changes'] }) {
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">Changes</h2>
      {read === null ? (
        <p>{whole ? 'Nothing has been changed yet.' : 'The changes could not be read.'}</p>
      ) : (
        <Scroll>
          <table class="tight">
            <caption>{whole ? 'All changes' : `The newest ${read.length} changes`}</caption>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">What</th>
                <th scope="col">Which</th>
                <th scope="col">By</th>
              </tr>
            </thead>
            <tbody>
              {read.map(({ id, at, change, subject, by_whom }) => (
                <tr key={id}>
                  <td class="whole">{momentText(at)}</td>
                  <td class="whole">{WORDS[change]}</td>
                  <td class="whole">
                    {subject === null ? '–' : <code>{shownSubject(change, subject)}</code>}
                  </td>
                  <td class="whole">{by_whom === 'member' ? 'you' : 'the operator'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}
