// Adds, lists and ends memberships by hand. Payment events do the same by themselves; the newest
// event by its own time wins.

import { isListableOrigin, ORIGIN_FORM, ORIGINS_MAX } from '../../access/origins.ts';
import { isMembershipId, mintMembershipId, PLANS } from '../../access/plan.ts';
import type { Sessions } from '../../access/session.ts';
import { DAY_S, formatIsoDate } from '../../chain/time.ts';
import {
  anyText,
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  type Io,
  mandatory,
  numberWithin,
  optional,
  requireOption,
  several,
  UsageError,
  wordIn,
} from '../../command/command.ts';
import { printRecord, printRows, timeText } from '../../command/output.ts';
import {
  type KeyHolder,
  type KeyStore,
  type KeysOf,
  MEMBERSHIP_STATUSES,
  type MembershipStore,
  type NewKey,
  type NewToken,
  PAYMENT_OUTCOMES,
  type PaymentStore,
  PLAN_NAMES,
  type QuotaStore,
  type Revoked,
  TOKEN_TIERS,
  type TokenStore,
  type TokenTier,
} from '../../ports/access.ts';

/** The services of the membership commands. `now` is Unix seconds. */
export type MemberServices = {
  readonly memberships: MembershipStore;
  readonly now: () => number;
};

const add = defineCommand({
  name: 'members add',
  summary: 'Add a membership on a plan.',
  example: 'exhibit members add --plan desk',
  options: {
    plan: mandatory('PLAN', `one of ${PLAN_NAMES.join(', ')}`, wordIn(PLAN_NAMES)),
    id: optional('ID', 'the id to give it; one is made where it is absent', (text, name) => {
      if (isMembershipId(text)) return text;
      throw new UsageError(`${name} takes 3 to 100 letters, digits, _ and -.`);
    }),
  },
  run: async ({ plan, id }, io, { memberships, now }: MemberServices) => {
    const membership_id = id === null ? mintMembershipId() : id;
    const held = await memberships.find(membership_id);
    if (!held.checked) return fail(io, held.why.reason);
    if (held.value !== null) {
      return fail(io, `${membership_id}: there is such a membership already.`);
    }
    const event = { membership_id, plan, status: 'active', at: now() } as const;
    const recorded = await memberships.record(event);
    if (!recorded.checked) return fail(io, recorded.why.reason);
    const { membership } = recorded.value;
    const added = { membership_id: membership.membership_id, plan: membership.plan };
    return printRecord(added, io, `${added.membership_id} added on the ${added.plan} plan.`);
  },
});

const listMembers = defineCommand({
  name: 'members list',
  summary: 'List the memberships.',
  example: 'exhibit members list',
  json: 'one membership a line',
  run: async (_, io, { memberships }: MemberServices) =>
    printRows(await memberships.list(), io, {
      none: 'No membership is recorded.',
      columns: ['membership_id', 'plan', 'status', 'created_at', 'updated_at'],
    }),
});

const deactivate = defineCommand({
  name: 'members deactivate',
  summary: 'End a membership: its keys open nothing from then on.',
  example: 'exhibit members deactivate mem_5b1c0e7d9a42f60b8c3d1e2f',
  arguments: { id: mandatory('ID', null, anyText) },
  run: async ({ id }, io, { memberships, now }: MemberServices) => {
    const held = await memberships.find(id);
    if (!held.checked) return fail(io, held.why.reason);
    if (held.value === null) return fail(io, 'There is no such membership.');
    const [, inactive] = MEMBERSHIP_STATUSES;
    const { plan } = held.value;
    const event = { membership_id: id, plan, status: inactive, at: now() };
    const recorded = await memberships.record(event);
    if (!recorded.checked) return fail(io, recorded.why.reason);
    const { membership, applied } = recorded.value;
    if (!applied) return fail(io, 'A newer event of this membership is recorded already.');
    const { membership_id, status } = membership;
    return printRecord({ membership_id, status }, io, `${membership_id} is ${status}.`);
  },
});

export const memberCommands = [add, listMembers, deactivate];

// Creates, lists and revokes keys of the hosted API. A key is shown once, when it is created.
// Nothing here can show it again.

/** The services of the key commands. A minted key's `text` is the key. `now` is Unix seconds. */
export type KeyServices = {
  readonly keys: KeyStore;
  readonly memberships: MembershipStore;
  readonly quota: Pick<QuotaStore, 'uses' | 'usesSince'>;
  readonly mintKey: (holder: KeyHolder) => { readonly text: string; readonly stored: NewKey };
  readonly now: () => number;
};

const BUDGET_MAX = 1_000_000_000;
const PARTNER_FORM = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u;

const create = defineCommand({
  name: 'keys create',
  summary: 'Create a key for a membership, or for a partner with a monthly budget.',
  usage: '(--membership ID [--origin ORIGIN …] | --partner NAME --budget N)',
  example: 'exhibit keys create --membership mem_5b1c0e7d9a42f60b8c3d1e2f',
  options: {
    membership: optional('ID', 'the membership whose key it is', anyText),
    origin: several(
      'ORIGIN',
      'with --membership: a publishable key, for pages of this origin',
      (text, name) => {
        if (isListableOrigin(text)) return text;
        throw new UsageError(`${name} takes ${ORIGIN_FORM}.`);
      },
    ),
    partner: optional('NAME', 'the partner whose key it is', (text, name) => {
      if (PARTNER_FORM.test(text)) return text;
      throw new UsageError(`${name} takes up to 64 characters.`);
    }),
    budget: optional(
      'N',
      'requests a month that the partner key may make',
      numberWithin(1, BUDGET_MAX),
    ),
  },
  notes: ['The key is printed once. What is stored cannot be turned back into it.'],
  run: async ({ membership, origin, partner, budget }, io, services: KeyServices) => {
    if ((membership === null) === (partner === null)) {
      throw new UsageError('Give either --membership or --partner.');
    }
    if (membership !== null) {
      if (budget !== null) throw new UsageError('--budget goes with --partner.');
      if (origin.length > ORIGINS_MAX) {
        throw new UsageError(`--origin is taken ${ORIGINS_MAX} times at most.`);
      }
      return createForMembership(membership, origin, io, services);
    }
    if (origin.length > 0) throw new UsageError('--origin goes with --membership.');
    const monthly_budget = requireOption(budget, '--budget');
    return store(io, services, {
      holder: { kind: 'scp', partner: requireOption(partner, '--partner'), monthly_budget },
      activeMax: Number.MAX_SAFE_INTEGER,
    });
  },
});

async function createForMembership(
  membership_id: string,
  origins: readonly string[],
  io: Io,
  services: KeyServices,
): Promise<ExitStatus> {
  const held = await services.memberships.find(membership_id);
  if (!held.checked) return fail(io, held.why.reason);
  if (held.value === null) return fail(io, 'There is no such membership.');
  if (held.value.status !== 'active') return fail(io, 'The membership is not active.');
  return store(io, services, {
    holder:
      origins.length === 0
        ? { kind: 'sc', membership_id }
        : { kind: 'sc_pub', membership_id, origins: [...new Set(origins)] },
    activeMax: PLANS[held.value.plan].active_keys,
  });
}

async function store(
  io: Io,
  { keys, mintKey }: KeyServices,
  what: { readonly holder: KeyHolder; readonly activeMax: number },
): Promise<ExitStatus> {
  const { text, stored } = mintKey(what.holder);
  const added = await keys.add(stored, what.activeMax);
  if (!added.checked) return fail(io, added.why.reason);
  if (added.value.outcome === 'no_membership') return fail(io, 'There is no such membership.');
  if (added.value.outcome === 'limit') {
    const { active } = added.value;
    return fail(io, `The membership has ${active} active keys, as many as its plan holds.`);
  }
  const { prefix, expires_at } = added.value.key;
  printRecord({ key: text, prefix, expires_at }, io, text);
  if (!io.json) io.err(`This key is shown once. It expires on ${String(timeText(expires_at))}.`);
  return EXIT.done;
}

const listKeys = defineCommand({
  name: 'keys list',
  summary: 'List keys: prefix, dates and last use; never the keys themselves.',
  usage: '[--membership ID | --partner NAME]',
  example: 'exhibit keys list --membership mem_5b1c0e7d9a42f60b8c3d1e2f',
  options: {
    membership: optional('ID', 'only the keys of this membership', anyText),
    partner: optional('NAME', 'only the keys of this partner', anyText),
  },
  json: 'one key a line',
  run: async ({ membership, partner }, io, { keys }: KeyServices) => {
    if (membership !== null && partner !== null) {
      throw new UsageError('Give --membership or --partner, not both.');
    }
    const ofPartner: KeysOf = partner === null ? 'everyone' : { partner };
    const reading = await keys.list(
      membership === null ? ofPartner : { membership_id: membership },
    );
    return printRows(reading, io, {
      none: 'No key is held.',
      columns: [
        'prefix',
        'id',
        ['holder', ({ holder }) => (holder.kind === 'scp' ? holder.partner : holder.membership_id)],
        'created_at',
        'expires_at',
        'last_used_at',
        'revoked_at',
        'leaked_at',
      ],
      json: ({ holder, ...key }) => ({ ...key, ...holder }),
    });
  },
});

const USAGE_DAYS_MAX = 400;
const USAGE_DAYS_DEFAULT = 30;

const keyUses = defineCommand({
  name: 'keys usage',
  summary: 'Show what a key was used for: charged requests by day and route.',
  example: 'exhibit keys usage sc_4fQz81Lm --days 7',
  arguments: { key: mandatory('PREFIX-OR-ID', null, anyText) },
  options: {
    days: optional(
      'N',
      `so many days, today with them; without it ${USAGE_DAYS_DEFAULT}`,
      numberWithin(1, USAGE_DAYS_MAX),
    ),
  },
  json: 'one day and route a line',
  notes: [
    'What was refused or failed costs no quota, and is not counted.',
    'Uses are written within a second; the last second of a process that was killed is missing.',
  ],
  run: async ({ key, days }, io, { keys, quota, now }: KeyServices) => {
    const listed = await keys.list('everyone');
    if (!listed.checked) return fail(io, listed.why.reason);
    const named = listed.value.filter(({ id, prefix }) => id === key || prefix === key);
    const [one] = named;
    if (one === undefined) return fail(io, 'There is no such key.');
    if (named.length > 1) {
      return fail(io, `Several keys begin so. Ids: ${named.map(({ id }) => id).join(', ')}`);
    }
    const since = await quota.usesSince();
    if (!since.checked) return fail(io, since.why.reason);
    const span = days === null ? USAGE_DAYS_DEFAULT : days;
    const from = formatIsoDate(now() - (span - 1) * DAY_S);
    const reading = await quota.uses({ key_id: one.id }, from, formatIsoDate(now()));
    const counted = String(timeText(Math.max(since.value, one.created_at)));
    if (!io.json) io.err(`${one.prefix} (${one.id}), counted since ${counted}.`);
    return printRows(reading, io, {
      none: `No use of it is written down for these days. Uses are counted since ${counted}.`,
      columns: ['day', 'route', 'requests'],
      json: ({ day, route, requests }) => {
        return { key_id: one.id, prefix: one.prefix, day, route, requests };
      },
    });
  },
});

const revokeKey = defineCommand({
  name: 'keys revoke',
  summary: 'Revoke a key; it opens nothing, in any process, within 5 seconds.',
  example: 'exhibit keys revoke sc_4fQz81Lm',
  arguments: { key: mandatory('PREFIX-OR-ID', null, anyText) },
  run: async ({ key }, io, { keys, now }: KeyServices) => {
    const reading = await keys.revoke(key, now(), null);
    if (!reading.checked) return fail(io, reading.why.reason);
    return printRevocation(reading.value, 'key', io);
  },
});

/** Prints what became of a revocation. A prefix that several share revokes none of them. */
export function printRevocation(
  outcome: Revoked<{ readonly id: string; readonly prefix: string; revoked_at: number | null }>,
  what: string,
  io: Io,
): ExitStatus {
  if (outcome.outcome === 'unknown') return fail(io, `There is no such ${what}.`);
  if (outcome.outcome === 'ambiguous') {
    const ids = outcome.ids.join(', ');
    return fail(io, `Several ${what}s begin so; none was revoked. Ids: ${ids}`);
  }
  const { id, prefix, revoked_at } = outcome.revoked;
  return printRecord({ id, prefix, revoked_at }, io, `${prefix} (${id}) is revoked.`);
}

export const keyCommands = [create, listKeys, keyUses, revokeKey];

/** The services of the commands of signing in. `base` is where browsers find the service. */
export type SignInServices = {
  readonly memberships: Pick<MembershipStore, 'find'>;
  readonly mintLink: (membershipId: string) => string;
  readonly sessions: Pick<Sessions, 'list' | 'end'>;
  readonly base: string;
};

const link = defineCommand({
  name: 'members link',
  summary: 'Print a link that signs one browser in for a membership, once.',
  example: 'exhibit members link mem_5b1c0e7d9a42f60b8c3d1e2f',
  arguments: { id: mandatory('ID', null, anyText) },
  notes: ['Whoever has the link is signed in. It opens once, within 24 hours.'],
  run: async ({ id }, io, { memberships, mintLink, base }: SignInServices) => {
    const held = await memberships.find(id);
    if (!held.checked) return fail(io, held.why.reason);
    if (held.value === null) return fail(io, 'There is no such membership.');
    const url = `${base}/activate?link=${mintLink(id)}`;
    return printRecord({ membership_id: id, url }, io, url);
  },
});

const listSessions = defineCommand({
  name: 'members sessions',
  summary: 'List the browsers in which a membership is signed in.',
  example: 'exhibit members sessions mem_5b1c0e7d9a42f60b8c3d1e2f',
  arguments: { id: mandatory('ID', null, anyText) },
  json: 'one session a line',
  run: async ({ id }, io, { memberships, sessions }: SignInServices) => {
    const held = await memberships.find(id);
    if (!held.checked) return fail(io, held.why.reason);
    if (held.value === null) return fail(io, 'There is no such membership.');
    return printRows(await sessions.list(id), io, {
      none: 'No browser is signed in for this membership.',
      columns: ['id', 'browser', 'network', 'created_at', 'seen_at'],
      json: ({ id: session_id, membership_id, browser, network, created_at, seen_at }) => {
        return { session_id, membership_id, browser, network, created_at, seen_at };
      },
    });
  },
});

const endSessions = defineCommand({
  name: 'members sign-out',
  summary: 'End the sessions of a membership, or one of them.',
  example: 'exhibit members sign-out mem_5b1c0e7d9a42f60b8c3d1e2f',
  arguments: { id: mandatory('ID', null, anyText) },
  options: {
    session: optional(
      'SESSION',
      'only the session of this id, as members sessions lists it',
      anyText,
    ),
  },
  run: async ({ id, session }, io, { memberships, sessions }: SignInServices) => {
    const held = await memberships.find(id);
    if (!held.checked) return fail(io, held.why.reason);
    if (held.value === null) return fail(io, 'There is no such membership.');
    const of = { membership_id: id };
    const which = session === null ? { ...of, except: null } : { ...of, id: session };
    const ended = await sessions.end(which, 'operator');
    if (!ended.checked) return fail(io, ended.why.reason);
    const { value: count } = ended;
    if (session !== null && count === 0) return fail(io, 'The membership has no such session.');
    const words = count === 1 ? 'session has ended' : 'sessions have ended';
    return printRecord({ ...of, ended: count }, io, `${count} ${words}.`);
  },
});

export const signInCommands = [link, listSessions, endSessions];

export type PaymentServices = { readonly payments: Pick<PaymentStore, 'list'> };

const listPayments = defineCommand({
  name: 'payments list',
  summary: 'List what the payment platform sent, and what became of it.',
  example: 'exhibit payments list --outcome no_plan',
  options: {
    outcome: optional('OUTCOME', `one of ${PAYMENT_OUTCOMES.join(', ')}`, wordIn(PAYMENT_OUTCOMES)),
  },
  json: 'one event a line',
  notes: [
    'no_plan     held until EXHIBIT_PLANS names the plan or product; applied at the next start',
    'unknown     of a type that asks nothing of a membership; kept',
    'unreadable  asks something that cannot be done; kept',
  ],
  run: async ({ outcome }, io, { payments }: PaymentServices) =>
    printRows(await payments.list(outcome), io, {
      none: 'No such payment event is held.',
      columns: [
        'received_at',
        'type',
        'outcome',
        'membership_id',
        'plan_id',
        'product_id',
        'delivery_id',
      ],
    }),
});

export const paymentCommands = [listPayments];

// Mints, lists and revokes bearer tokens of the intelligence service. A token is shown once, when
// it is minted.

/** The services of the token commands. A minted token's `text` is it. `now` is Unix seconds. */
export type TokenServices = {
  readonly tokens: TokenStore;
  readonly mintToken: (tier: TokenTier) => { readonly text: string; readonly stored: NewToken };
  readonly now: () => number;
};

const mint = defineCommand({
  name: 'tokens mint',
  summary: 'Mint a bearer token of the intelligence service.',
  example: 'exhibit tokens mint --tier pro',
  options: {
    tier: mandatory('TIER', `one of ${TOKEN_TIERS.join(', ')}`, wordIn(TOKEN_TIERS)),
  },
  notes: ['The token is printed once. Mint one of its own for clients that send it in a URL.'],
  run: async ({ tier }, io, { tokens, mintToken }: TokenServices) => {
    const { text, stored } = mintToken(tier);
    const added = await tokens.add(stored);
    if (!added.checked) return fail(io, added.why.reason);
    printRecord({ token: text, tier }, io, text);
    if (!io.json) io.err(`This token is shown once. Its tier is ${tier}.`);
    return EXIT.done;
  },
});

const listTokens = defineCommand({
  name: 'tokens list',
  summary: 'List the tokens that were minted here; never the tokens themselves.',
  example: 'exhibit tokens list',
  json: 'one token a line',
  run: async (_, io, { tokens }: TokenServices) =>
    printRows(await tokens.list(), io, {
      none: 'No token was minted.',
      columns: ['prefix', 'id', 'tier', 'created_at', 'revoked_at'],
    }),
});

const revokeToken = defineCommand({
  name: 'tokens revoke',
  summary: 'Revoke a token.',
  example: 'exhibit tokens revoke tok_4fQz81Lm',
  arguments: { token: mandatory('PREFIX-OR-ID', null, anyText) },
  run: async ({ token }, io, { tokens, now }: TokenServices) => {
    const reading = await tokens.revoke(token, now());
    if (!reading.checked) return fail(io, reading.why.reason);
    return printRevocation(reading.value, 'token', io);
  },
});

export const tokenCommands = [mint, listTokens, revokeToken];
