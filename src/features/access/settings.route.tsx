// The settings of a membership: its keys, its use, and its changes. The membership follows from the
// session alone; no request field names another. `usage-chart.page.tsx` draws the days of use,
// `key-usage.route.tsx` the use of each key. `new-key.route.tsx` shows a new key once, until when
// `access/unshown-key.ts` keeps it sealed. The holder of a key is a membership (`sc`), one
// that lists origins of pages (`sc_pub`), or a partner (`scp`), who has no settings.

import { z } from 'zod';
import { dailyAllowance, untilReset } from '../../access/gate.ts';
import { isListableOrigin, ORIGIN_FORM, ORIGINS_MAX } from '../../access/origins.ts';
import { PLANS } from '../../access/plan.ts';
import type { UnshownKeys } from '../../access/unshown-key.ts';
import { DAY_S, formatIsoDate, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { form, html, noBody } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute, sessionOf } from '../../contract/route.ts';
import { map, type Reading, rowsSeen, Unread } from '../../evidence/reading.ts';
import { messagePage, type PageFacts, page } from '../../pages/layout.tsx';
import { FormToken, momentText, Table } from '../../pages/words.tsx';
import type {
  AccessChange,
  AccessLog,
  ApiKey,
  KeyHolder,
  KeyStore,
  Membership,
  MembershipStore,
  NewKey,
  QuotaStore,
} from '../../ports/access.ts';
import { KeyUsageSection, type UsageView, viewUsage } from './key-usage.route.tsx';
import { UsageChart, type UsageDay } from './usage-chart.page.tsx';

/** How long a key may open beside the one that takes its place, in hours. */
export const OVERLAP_HOURS = ['1', '24', '168'] as const;

const FORM_BYTES_MAX = 4_096;
const SESSION = { surface: 'web', access: 'session' } as const;
const key = z.strictObject({ id: z.string().max(60) });
const NAME = /^[^\p{Cc}\p{Cf}]*$/u;
const ORIGINS_CHARS_MAX = 2_500;

/** The origins of a form's field, each on a line of its own; a wrong one is named by its place. */
function listedOrigins(text: string, { issues, value: input }: z.core.ParsePayload<string>) {
  const origins = [...new Set(text.split(/\s+/).filter((one) => one !== ''))];
  const wrong = origins.findIndex((one) => !isListableOrigin(one));
  const message =
    wrong >= 0
      ? `origin ${wrong + 1}: expected ${ORIGIN_FORM}`
      : `expected 1 to ${ORIGINS_MAX} origins`;
  const isWrong = wrong >= 0 || origins.length === 0 || origins.length > ORIGINS_MAX;
  if (isWrong) issues.push({ code: 'custom', input, message });
  return origins;
}

export const settingsPage = plainRoute({
  ...SESSION,
  name: 'settings_page',
  method: 'GET',
  path: '/settings',
  summary: 'Keys, use and changes of the membership of this browser.',
  query: z.strictObject({ done: z.enum(['revoked']).optional() }),
  responses: { 200: html(), 503: html() },
});

export const createKey = plainRoute({
  ...SESSION,
  name: 'create_key',
  method: 'POST',
  path: '/settings/keys',
  summary: 'Creates a key, and leads to the page that shows it once.',
  bodyBytesMax: FORM_BYTES_MAX,
  body: form(
    z.strictObject({
      name: z.string().trim().min(1).max(60).regex(NAME, 'expected no control characters'),
      origins: z.string().max(ORIGINS_CHARS_MAX).transform(listedOrigins).optional(),
    }),
  ),
  responses: { 303: noBody(), 409: html(), 503: html() },
  headers: { 303: { location: 'The page that shows the key once.' } },
});

export const replaceKey = plainRoute({
  ...SESSION,
  name: 'replace_key',
  method: 'POST',
  path: '/settings/keys/{id}/replace',
  summary: 'Creates a key in the place of another, which opens for a while beside it.',
  bodyBytesMax: FORM_BYTES_MAX,
  params: key,
  body: form(z.strictObject({ overlap: z.enum(OVERLAP_HOURS) })),
  responses: { 303: noBody(), 404: html(), 409: html(), 503: html() },
  headers: { 303: { location: 'The page that shows the key once.' } },
});

export const revokeKey = plainRoute({
  ...SESSION,
  name: 'revoke_key',
  method: 'POST',
  path: '/settings/keys/{id}/revoke',
  summary: 'Revokes a key for good.',
  bodyBytesMax: FORM_BYTES_MAX,
  params: key,
  body: form(z.strictObject({})),
  responses: { 303: noBody(), 404: html(), 503: html() },
  headers: { 303: { location: 'The settings.' } },
});

/** A value, or the reason why it could not be read. */
type ReadOrWhy<T> = { readonly read: T } | { readonly unread: string };

type SettingsView = {
  readonly member: Member;
  readonly form_token: string;
  readonly now: UnixSeconds;
  readonly base: string;
  /** Whether a key was revoked just before. */
  readonly revoked: boolean;
  readonly keys: ReadOrWhy<readonly ApiKey[]>;
  readonly today: ReadOrWhy<{
    readonly used: number;
    readonly limit: number;
    readonly reset_s: number;
  }>;
  readonly days: ReadOrWhy<readonly UsageDay[]>;
  readonly uses: UsageView | { readonly unread: string };
  /** Newest first; `null`: none that could be read. */
  readonly changes: { readonly read: readonly AccessChange[] | null; readonly whole: boolean };
};

type Member = Pick<Membership, 'membership_id' | 'status'> & {
  readonly plan: {
    readonly title: string;
    readonly daily_requests: number;
    readonly active_keys: number;
    readonly publishable_requests: number;
  };
};

/** The ports of the settings. A minted key's `text` is the key. */
export type SettingsPorts = {
  readonly memberships: Pick<MembershipStore, 'find'>;
  readonly keys: Pick<KeyStore, 'list' | 'add' | 'replace' | 'revoke'>;
  readonly quota: Pick<QuotaStore, 'usage' | 'days' | 'uses' | 'usesSince'>;
  readonly accessLog: AccessLog;
  readonly unshown: UnshownKeys;
  readonly mintKey: (holder: KeyHolder) => { readonly text: string; readonly stored: NewKey };
  /** The start of links and examples. */
  readonly base: () => string;
};

/** So many days of use are shown, today with them. */
const DAYS_SHOWN = 30;

/** @internal */
export function settingsHandler(
  ports: SettingsPorts,
  facts: PageFacts,
): PlainHandler<typeof settingsPage> {
  return async ({ query: { done } }, { now }, caller) => {
    const { membership_id, form_token } = sessionOf(caller);
    const membership = await findMembership(ports, membership_id);
    if (membership instanceof Unread) {
      return settingsPage.reply(503, membershipUnread(facts, membership.why.reason));
    }
    const view = await viewSettings(ports, membership.value, now());
    const shown = { ...view, form_token, revoked: done === 'revoked' };
    const children = <Whole shown={shown} />;
    return settingsPage.reply(200, page({ ...facts, title: TITLE, current: PATH, children }));
  };
}

/** The membership of a session: its row cannot be gone, since the session refers to it. */
async function findMembership({ memberships }: SettingsPorts, id: string) {
  return map(await memberships.find(id), (membership) => {
    if (membership === null) throw new Error('a session of a membership that is not there');
    return membership;
  });
}

async function viewSettings(
  { keys, quota, accessLog, base }: SettingsPorts,
  membership: Membership,
  now: UnixSeconds,
): Promise<Omit<SettingsView, 'form_token' | 'revoked'>> {
  const { membership_id } = membership;
  const plan = PLANS[membership.plan];
  const dated = dailyAllowance(membership_id, plan, now);
  const { allowance } = dated;
  const reset_s = untilReset(dated, now);
  const days = daysShown(membership.created_at, now);
  const [first = allowance.period] = days;
  const [listed, used, counted, uses, changes] = await Promise.all([
    keys.list({ membership_id }),
    quota.usage(allowance.subject, allowance.period),
    quota.days(allowance.subject, first, allowance.period),
    viewUsage({ quota }, membership, { from: first, to: allowance.period }),
    accessLog.list(membership_id),
  ]);
  return {
    member: { ...membership, plan },
    now,
    base: base(),
    keys: listed.checked ? { read: listed.value } : { unread: listed.why.reason },
    today: readOrWhy(used, (value) => ({ used: value, limit: plan.daily_requests, reset_s })),
    days: readOrWhy(counted, (rows) => {
      const held = new Map(rows.map(({ day, used: of }) => [day, of]));
      return days.map((day) => ({ day, used: held.get(day) }));
    }),
    uses: 'code' in uses ? { unread: uses.reason } : uses,
    changes: { read: rowsSeen(changes), whole: changes.checked },
  };
}

function readOrWhy<T, U, P extends string>(reading: Reading<T, P>, of: (value: T) => U) {
  return reading instanceof Unread ? { unread: reading.why.reason } : { read: of(reading.value) };
}

/** The days that are shown: no day before the membership began. */
function daysShown(since: UnixSeconds, now: UnixSeconds): string[] {
  const first = Math.max(since, now - (DAYS_SHOWN - 1) * DAY_S);
  const days: string[] = [];
  for (let at = now; days.length < DAYS_SHOWN; at -= DAY_S) {
    const day = formatIsoDate(at);
    if (day < formatIsoDate(first)) break;
    days.unshift(day);
  }
  return days;
}

const INACTIVE = 'This membership is not active: it gets no new key.';
/** The words where the store of keys does not answer. */
export const NO_STORE =
  'Keys cannot be changed just now. This is a fault of the service; try again later.';
const NO_KEY = 'This membership has no such key.';
const REPLACED =
  'This key cannot be replaced: it has ended, another took its place, or it took the place of ' +
  'one that still opens.';

type Minted = {
  readonly text: string;
  readonly stored: NewKey;
  readonly plan: SettingsView['member']['plan'];
};

/** Makes a key for an active membership, or says why there is none; nothing is stored yet. */
async function mintForMember(
  ports: SettingsPorts,
  holder: Exclude<KeyHolder, { kind: 'scp' }>,
): Promise<Minted | { readonly status: 409 | 503; readonly why: string }> {
  const membership = await findMembership(ports, holder.membership_id);
  if (membership instanceof Unread) return { status: 503, why: NO_STORE };
  if (membership.value.status !== 'active') return { status: 409, why: INACTIVE };
  const plan = PLANS[membership.value.plan];
  return { ...ports.mintKey(holder), plan };
}

/** @internal */
export function createKeyHandler(
  ports: SettingsPorts,
  facts: PageFacts,
): PlainHandler<typeof createKey> {
  const refuse = (status: 409 | 503, why: string) =>
    createKey.reply(status, notDone(facts, 'The key was not created', why));
  return async ({ body: { name, origins } }, _request, caller) => {
    const { membership_id, session_id } = sessionOf(caller);
    const holder =
      origins === undefined
        ? ({ kind: 'sc', membership_id } as const)
        : ({ kind: 'sc_pub', membership_id, origins } as const);
    const key = await mintForMember(ports, holder);
    if ('why' in key) return refuse(key.status, key.why);
    const { active_keys, title } = key.plan;
    const { id, expires_at } = key.stored;
    const kept = { text: key.text, name, expires_at, instead_until: null };
    // A key that is added before it is kept could be one that nobody is ever shown.
    const unshown = await ports.unshown.keep(session_id, id, kept);
    if (unshown instanceof Unread) return refuse(503, NO_STORE);
    const added = await ports.keys.add({ ...key.stored, name }, active_keys, 'member');
    if (added instanceof Unread) return refuse(503, NO_STORE);
    if (added.value.outcome === 'no_membership') return refuse(409, INACTIVE);
    if (added.value.outcome === 'limit') {
      const why = `All ${active_keys} keys of the plan ${title} are active. Revoke one first.`;
      return refuse(409, why);
    }
    return createKey.reply(303, undefined, { location: `${PATH}/keys/${id}/new` });
  };
}

/** @internal */
export function replaceKeyHandler(
  ports: SettingsPorts,
  facts: PageFacts,
): PlainHandler<typeof replaceKey> {
  const refuse = (status: 404 | 409 | 503, why: string) =>
    replaceKey.reply(status, notDone(facts, 'The key was not replaced', why));
  return async ({ params: { id }, body: { overlap } }, { now }, caller) => {
    const { membership_id, session_id } = sessionOf(caller);
    const listed = await ports.keys.list({ membership_id });
    if (!listed.checked) return refuse(503, NO_STORE);
    const before = listed.value.find((one) => one.id === id);
    if (before === undefined || before.holder.kind === 'scp') return refuse(404, NO_KEY);
    const key = await mintForMember(ports, before.holder);
    if ('why' in key) return refuse(key.status, key.why);
    const until = now() + Number(overlap) * HOUR_S;
    const kept = await ports.unshown.keep(session_id, key.stored.id, {
      text: key.text,
      name: before.name,
      expires_at: key.stored.expires_at,
      instead_until: until,
    });
    if (kept instanceof Unread) return refuse(503, NO_STORE);
    const replaced = await ports.keys.replace(id, key.stored, until);
    if (replaced instanceof Unread) return refuse(503, NO_STORE);
    if (replaced.value.outcome === 'unknown') return refuse(404, NO_KEY);
    if (replaced.value.outcome !== 'added') return refuse(409, REPLACED);
    return replaceKey.reply(303, undefined, { location: `${PATH}/keys/${key.stored.id}/new` });
  };
}

/** @internal */
export function revokeKeyHandler(
  ports: SettingsPorts,
  facts: PageFacts,
): PlainHandler<typeof revokeKey> {
  return async ({ params: { id } }, { now }, caller) => {
    const { membership_id } = sessionOf(caller);
    const revoked = await ports.keys.revoke(id, now(), membership_id, 'member');
    const title = 'The key was not revoked';
    if (revoked instanceof Unread) return revokeKey.reply(503, notDone(facts, title, NO_STORE));
    if (revoked.value.outcome !== 'revoked') {
      return revokeKey.reply(404, notDone(facts, title, NO_KEY));
    }
    return revokeKey.reply(303, undefined, { location: '/settings?done=revoked' });
  };
}

const PATH = '/settings';
const TITLE = 'Settings';
const number = (value: number): string => value.toLocaleString('en');

function membershipUnread(facts: PageFacts, reason: string): string {
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

/** @internal The page of something that was not done, and why. */
export function notDone(facts: PageFacts, title: string, why: string): string {
  const back = { path: PATH, text: 'Back to the settings' };
  return messagePage(facts, { title, why, current: PATH, back });
}

function Whole({ shown }: { shown: SettingsView }) {
  const { member, form_token, revoked } = shown;
  return (
    <>
      <div class="headed">
        <h1>{TITLE}</h1>
        <form method="post" action="/sign-out">
          <FormToken token={form_token} />
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
      <Leaked shown={shown} />
      <MembershipSection shown={shown} />
      <Keys shown={shown} />
      <section aria-labelledby="usage">
        <h2 id="usage">Use by day</h2>
        {'unread' in shown.days ? (
          <p>The use could not be read: {shown.days.unread}</p>
        ) : (
          <UsageChart days={shown.days.read} />
        )}
      </section>
      <KeyUsageSection view={shown.uses} />
      <Changes changes={shown.changes} />
    </>
  );
}

/** So long a key that leaked is told of above everything else: 30 days. */
const LEAK_TOLD_S = 30 * DAY_S;

function Leaked({ shown: { keys, now } }: { shown: SettingsView }) {
  if ('unread' in keys) return null;
  const leaked = keys.read.filter(
    ({ leaked_at }) => leaked_at !== null && leaked_at > now - LEAK_TOLD_S,
  );
  if (leaked.length === 0) return null;
  return (
    <div class="notice" role="alert">
      <p>
        <strong>A key of yours leaked and was ended.</strong> Whoever reported it held the whole
        key. Look below what it was used for, and create another one.
      </p>
      <ul>
        {leaked.map(({ id, name, prefix, leaked_at, leak_found }) => (
          <li key={id}>
            {name === null ? '' : `${name} `}
            <code>{prefix}…</code>, {leaked_at === null ? '' : momentText(leaked_at)}
            {leak_found === null ? '' : `, found at ${leak_found}`}
          </li>
        ))}
      </ul>
    </div>
  );
}

function MembershipSection({ shown: { member, today } }: { shown: SettingsView }) {
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
        <dt>Browsers</dt>
        <dd>
          <a href="/settings/sessions">Where you are signed in</a>
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

function isOpen(key: ApiKey, now: UnixSeconds): boolean {
  return key.revoked_at === null && key.expires_at > now;
}

/** So many keys that ended are shown, the newest. */
const ENDED_SHOWN = 20;

function Keys({ shown }: { shown: SettingsView }) {
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
      {member.status === 'active' && !isFull && (
        <NewKeySection token={form_token} publishable={member.plan.publishable_requests} />
      )}
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

function NewKeySection({ token, publishable }: { token: string; publishable: number }) {
  return (
    <>
      <form class="search" method="post" action="/settings/keys">
        <FormToken token={token} />
        <label for="name">Name of a new key: what will use it?</label>
        <input id="name" name="name" type="text" maxLength={60} required autocomplete="off" />
        <button type="submit">Create a key</button>
      </form>
      <details>
        <summary>Create a publishable key, for a page in a browser</summary>
        <form method="post" action="/settings/keys">
          <FormToken token={token} />
          <p>
            Everybody who opens the page can read this key. It only reads evidence, from pages of
            the origins that you list, and has {number(publishable)} requests a day of its own.
          </p>
          <p class="field">
            <label for="publishable-name">Name</label>
            <input
              id="publishable-name"
              name="name"
              type="text"
              maxLength={60}
              required
              autocomplete="off"
            />
          </p>
          <p class="field">
            <label for="origins">Origins of the pages, one on each line</label>
            <textarea
              id="origins"
              name="origins"
              rows={3}
              maxLength={ORIGINS_CHARS_MAX}
              required
              spellcheck={false}
              placeholder="https://app.example"
              aria-describedby="origins-help"
            />
            <span class="quiet" id="origins-help">
              Each is {ORIGIN_FORM}; {ORIGINS_MAX} at most.
            </span>
          </p>
          <button type="submit">Create a publishable key</button>
        </form>
      </details>
    </>
  );
}

type RowProps = { shown: ApiKey; token: string; isActive: boolean };

function KeyRow({ shown, token, isActive }: RowProps) {
  const { id, name, prefix, created_at, expires_at, last_used_at, replaced_at, holder } = shown;
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
      {holder.kind === 'sc_pub' && (
        <p class="quiet">Publishable, for pages of {holder.origins.join(', ')}</p>
      )}
      <div class="actions">
        {replaced_at === null && isActive && (
          <details>
            <summary>Replace</summary>
            <form method="post" action={`/settings/keys/${id}/replace`}>
              <FormToken token={token} />
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
            <FormToken token={token} />
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

function Ended({ keys }: { keys: readonly ApiKey[] }) {
  return (
    <details>
      <summary>Keys that ended</summary>
      <Table
        rows={keys}
        columns={[
          { head: 'Name', cell: ({ name }) => (name === null ? 'without a name' : name) },
          { head: 'Key', cell: ({ prefix }) => <code>{prefix}…</code> },
          { head: 'Created', cell: ({ created_at }) => formatIsoDate(created_at), look: 'whole' },
          {
            head: 'Ended',
            cell: ({ expires_at, revoked_at, leaked_at }) =>
              revoked_at === null
                ? `expired ${momentText(expires_at)}`
                : `${leaked_at === null ? 'revoked' : 'leaked, ended'} ${momentText(revoked_at)}`,
          },
        ]}
      />
    </details>
  );
}

const WORDS: { readonly [K in AccessChange['change']]: string } = {
  key_created: 'Key created',
  key_replaced: 'Key replaced',
  key_revoked: 'Key revoked',
  key_leaked: 'Key ended: it was reported as leaked',
  signed_in: 'Signed in',
  signed_out: 'Signed out',
  session_ended: 'Session ended',
  session_replayed: 'Session ended: an old cookie of it was sent again',
  integration_connected: 'Chat connected',
  integration_removed: 'Chat removed',
};

const ACTOR_WORDS: { readonly [K in AccessChange['by_whom']]: string } = {
  member: 'you',
  operator: 'the operator',
  service: 'the service',
};

function Changes({ changes: { read, whole } }: { changes: SettingsView['changes'] }) {
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">Changes</h2>
      {read === null ? (
        <p>{whole ? 'Nothing has been changed yet.' : 'The changes could not be read.'}</p>
      ) : (
        <Table
          caption={whole ? 'All changes' : `The newest ${read.length} changes`}
          rows={read}
          columns={[
            { head: 'When', cell: ({ at }) => momentText(at), look: 'whole' },
            { head: 'What', cell: ({ change }) => WORDS[change], look: 'whole' },
            {
              head: 'Which',
              // Of a key its first characters alone are known.
              cell: ({ change, subject }) =>
                subject === null ? (
                  '–'
                ) : (
                  <code>{change.startsWith('key_') ? `${subject}…` : subject}</code>
                ),
              look: 'whole',
            },
            {
              head: 'By',
              cell: ({ by_whom }) => ACTOR_WORDS[by_whom],
              look: 'whole',
            },
          ]}
        />
      )}
    </section>
  );
}
