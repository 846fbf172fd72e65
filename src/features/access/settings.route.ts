// Answers /settings: what a member sees of its own membership, and what it changes of its keys.
// Whose membership it is follows from the session alone; nothing that is sent names another.

import { PLANS } from '../../access/plan.ts';
import { dailyAllowance } from '../../access/quota.ts';
import type { Sessions } from '../../access/session.ts';
import { DAY_S, formatIsoDate, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import type { Caller } from '../../contract/caller.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { map, type Reading, seen, Unread } from '../../evidence/reading.ts';
import type { AccessLog } from '../../ports/access/access-log.ts';
import type { KeyHolder, KeyStore, NewKey } from '../../ports/access/key-store.ts';
import type { Membership, MembershipStore } from '../../ports/access/membership-store.ts';
import type { QuotaStore } from '../../ports/access/quota-store.ts';
import {
  createKey,
  type DrawSettings,
  type NewKeyShown,
  replaceKey,
  revokeKey,
  type Settings,
  settingsPage,
} from './settings.contract.ts';

/** What the settings rest on. A minted key's `text` is the key. */
export type SettingsDesk = {
  readonly memberships: Pick<MembershipStore, 'find'>;
  readonly keys: Pick<KeyStore, 'list' | 'add' | 'replace' | 'revoke'>;
  readonly quota: Pick<QuotaStore, 'usage' | 'days'>;
  readonly accessLog: AccessLog;
  readonly sessions: Pick<Sessions, 'renew'>;
  readonly mintKey: (holder: KeyHolder) => { readonly text: string; readonly stored: NewKey };
  /** What links and examples begin with. */
  readonly base: () => string;
};

type InSession = Extract<Caller, { kind: 'session' }>;

/** So many days of use are shown, today with them. */
const DAYS_SHOWN = 30;

function sessionOf(caller: Caller): InSession {
  if (caller.kind !== 'session') throw new Error('the guard let in a browser without a session');
  return caller;
}

export function settingsHandler(
  desk: SettingsDesk,
  draw: DrawSettings,
): PlainHandler<typeof settingsPage> {
  return async ({ query: { done } }, { now }, caller) => {
    const { session_id, membership_id, form_token } = sessionOf(caller);
    const membership = await found(desk, membership_id);
    if (membership instanceof Unread) {
      return settingsPage.reply(503, draw.unread(membership.why.reason));
    }
    const renewed = await desk.sessions.renew(session_id);
    const shown = await shownOf(desk, membership.value, now());
    const told = { ...shown, form_token, revoked: done === 'revoked' };
    return settingsPage.reply(200, draw.whole(told), {
      // A token that could not be changed stays as good as it was.
      'set-cookie': renewed instanceof Unread ? null : renewed.value,
    });
  };
}

/** The membership of a session: its row cannot be gone, since the session refers to it. */
async function found({ memberships }: SettingsDesk, id: string) {
  return map(await memberships.find(id), (membership) => {
    if (membership === null) throw new Error('a session of a membership that is not there');
    return membership;
  });
}

async function shownOf(
  { keys, quota, accessLog, base }: SettingsDesk,
  membership: Membership,
  now: UnixSeconds,
): Promise<Omit<Settings, 'form_token' | 'revoked'>> {
  const { membership_id } = membership;
  const plan = PLANS[membership.plan];
  const { allowance, reset_s } = dailyAllowance(membership_id, plan, now);
  const days = daysShown(membership.created_at, now);
  const [first = allowance.period] = days;
  const [listed, used, counted, changes] = await Promise.all([
    keys.list({ membership_id }),
    quota.usage(allowance.subject, allowance.period),
    quota.days(allowance.subject, first, allowance.period),
    accessLog.list(membership_id),
  ]);
  return {
    member: { ...membership, plan },
    now,
    base: base(),
    keys: listed.checked ? { read: listed.value } : { unread: listed.why.reason },
    today: toldOf(used, (value) => ({ used: value, limit: plan.daily_requests, reset_s })),
    days: toldOf(counted, (rows) => {
      const held = new Map(rows.map(({ day, used: of }) => [day, of]));
      return days.map((day) => ({ day, used: held.get(day) }));
    }),
    changes: { read: seen(changes), whole: changes.checked },
  };
}

function toldOf<T, U, P extends string>(reading: Reading<T, P>, of: (value: T) => U) {
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
const NO_STORE =
  'Keys cannot be changed just now. This is a fault of the service; try again later.';
const NO_KEY = 'This membership has no such key.';
const REPLACED =
  'This key cannot be replaced: it has ended, another took its place, or it took the place of ' +
  'one that still opens.';

type Minted = {
  readonly text: string;
  readonly stored: NewKey;
  readonly plan: Settings['member']['plan'];
};

/** Makes a key for an active membership, or says why there is none; nothing is stored yet. */
async function minted(
  desk: SettingsDesk,
  membership_id: string,
): Promise<Minted | { readonly status: 409 | 503; readonly why: string }> {
  const membership = await found(desk, membership_id);
  if (membership instanceof Unread) return { status: 503, why: NO_STORE };
  if (membership.value.status !== 'active') return { status: 409, why: INACTIVE };
  const plan = PLANS[membership.value.plan];
  return { ...desk.mintKey({ kind: 'sc', membership_id }), plan };
}

export function createKeyHandler(
  desk: SettingsDesk,
  draw: DrawSettings,
): PlainHandler<typeof createKey> {
  const refused = (status: 409 | 503, why: string) =>
    createKey.reply(status, draw.notDone('The key was not created', why));
  return async ({ body: { name } }, _asked, caller) => {
    const key = await minted(desk, sessionOf(caller).membership_id);
    if ('why' in key) return refused(key.status, key.why);
    const { active_keys, title } = key.plan;
    const added = await desk.keys.add({ ...key.stored, name }, active_keys, 'member');
    if (added instanceof Unread) return refused(503, NO_STORE);
    if (added.value.outcome === 'no_membership') return refused(409, INACTIVE);
    if (added.value.outcome === 'limit') {
      const why = `All ${active_keys} keys of the plan ${title} are active. Revoke one first.`;
      return refused(409, why);
    }
    const { expires_at } = added.value.key;
    return createKey.reply(200, draw.newKey(shownKey(desk, key.text, name, expires_at)));
  };
}

function shownKey(
  { base }: SettingsDesk,
  text: string,
  name: string | null,
  expires_at: UnixSeconds,
): NewKeyShown {
  return { text, name, expires_at, base: base(), instead_until: null };
}

export function replaceKeyHandler(
  desk: SettingsDesk,
  draw: DrawSettings,
): PlainHandler<typeof replaceKey> {
  const refused = (status: 404 | 409 | 503, why: string) =>
    replaceKey.reply(status, draw.notDone('The key was not replaced', why));
  return async ({ params: { id }, body: { overlap } }, { now }, caller) => {
    const key = await minted(desk, sessionOf(caller).membership_id);
    if ('why' in key) return refused(key.status, key.why);
    const until = now() + Number(overlap) * HOUR_S;
    const replaced = await desk.keys.replace(id, key.stored, until);
    if (replaced instanceof Unread) return refused(503, NO_STORE);
    if (replaced.value.outcome === 'unknown') return refused(404, NO_KEY);
    if (replaced.value.outcome !== 'added') return refused(409, REPLACED);
    const { name, expires_at } = replaced.value.key;
    const shown = { ...shownKey(desk, key.text, name, expires_at), instead_until: until };
    return replaceKey.reply(200, draw.newKey(shown));
  };
}

export function revokeKeyHandler(
  desk: SettingsDesk,
  draw: DrawSettings,
): PlainHandler<typeof revokeKey> {
  return async ({ params: { id } }, { now }, caller) => {
    const { membership_id } = sessionOf(caller);
    const revoked = await desk.keys.revoke(id, now(), membership_id, 'member');
    const title = 'The key was not revoked';
    if (revoked instanceof Unread) return revokeKey.reply(503, draw.notDone(title, NO_STORE));
    if (revoked.value.outcome !== 'revoked') {
      return revokeKey.reply(404, draw.notDone(title, NO_KEY));
    }
    return revokeKey.reply(303, undefined, { location: '/settings?done=revoked' });
  };
}
