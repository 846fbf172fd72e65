// The gate of the hosted routes decides on credential and allowance only. It never sees what a
// request asks about.

import {
  DAY_S,
  formatIsoDate,
  nextUtcMidnight,
  nextUtcMonth,
  type UnixSeconds,
} from '../chain/time.ts';
import { type CredentialReason, overloadRefusal, Refusal } from '../contract/refusals.ts';
import { type AccessRule, type Caller, NOBODY } from '../contract/route.ts';
import { type Reading, Unread } from '../evidence/reading.ts';
import { type Soon, whenThere } from '../evidence/waiting.ts';
import type {
  Allowance,
  ApiKey,
  FoundKey,
  KeyHolder,
  KeyStore,
  Membership,
  QuotaPort,
  QuotaStore,
  Remaining,
} from '../ports/access.ts';
import { isActive, PLANS, type Plan, planReaches } from './plan.ts';

import { recognise, type Secrets } from './secret.ts';

/** An admitted caller, to be charged when its answer is ready. */
export type Admitted = {
  readonly kind: 'admitted';
  readonly caller: Caller;
  readonly credential: Authenticated;
  readonly figures: QuotaFigures;
  /** The origin of the page that may read the answer; `null`: no page of another origin may. */
  readonly origin: string | null;
};

/** An admitted caller, with or without charge. */
export type Admission =
  | Admitted
  | {
      readonly kind: 'uncharged';
      readonly caller: Caller;
      /** The Set-Cookie of another token of its session, whatever is answered. */
      readonly cookie?: string | null;
    };

/** Turned away. The refusal carries the quota headers. */
export type TurnedAway = {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  /** The origin of the page that may read the refusal. */
  readonly origin?: string | null;
};

/** The gate in front of every hosted route. */
export type AccessGate = {
  /** Credential first, then allowance; nothing is charged yet. */
  readonly admit: (presented: Presented, rule: HostedRule) => Soon<Admitted | TurnedAway>;
  /** The membership whose key was sent, without a charge; nobody where none was. */
  readonly identify: (presented: Presented) => Soon<Admission | TurnedAway>;
  /** The remaining allowance of an admitted caller, as far as this process knows. */
  readonly left: (admitted: Admitted) => number;
  /** The figures beside a response that no route gave: a valid key's own, else none. */
  readonly figures: (presented: Presented) => Soon<QuotaFigures>;
  /** Whether a page of this origin may ask; the refusal where it may not. */
  readonly admitPage: (origin: string) => Promise<Refusal | null>;
  /** The figures where no key is known: nothing is allowed. */
  readonly noFigures: () => QuotaFigures;
  /**
   * Stores one charge, and for which route, before the answer leaves; never past the limit,
   * whichever process asks.
   */
  readonly charge: (
    admitted: Admitted,
    route: string,
  ) => Promise<{ readonly kind: 'charged'; readonly figures: QuotaFigures } | TurnedAway>;
};

type GateStores = CredentialStores & {
  readonly keys: Pick<KeyStore, 'listsOrigin'>;
  readonly quota: QuotaStore;
};

/** Makes the gate. `now` gives Unix seconds. */
export function createGate(stores: GateStores, now: () => UnixSeconds): AccessGate {
  const { quota, durable } = stores;

  const turnAway = async (denied: Denied): Promise<TurnedAway> => {
    const known = denied.reason === 'tier_too_low' ? denied.allowance : null;
    const left = known === null ? null : await quota.remaining(known.allowance);
    const remaining = left === null || left instanceof Unread ? null : left.value.remaining;
    return { kind: 'refused', refusal: credentialRefusal(denied, durable, remaining, now()) };
  };

  const admission = (
    credential: Authenticated,
    presented: Presented,
    left: Reading<Remaining, QuotaPort>,
  ): Soon<Admitted | TurnedAway> => {
    const { allowance } = credential;
    if (left instanceof Unread) return turnAway(storeUnavailable(allowance));
    const { limit, remaining } = left.value;
    const origin = originOf(credential, presented);
    if (remaining === 0) return { kind: 'refused', refusal: quotaSpent(allowance, now()), origin };
    const figures = { limit, remaining, reset_s: untilReset(allowance, now()) };
    return { kind: 'admitted', caller: callerOf(credential), credential, figures, origin };
  };

  return {
    admit: (presented, rule) =>
      whenThere(
        authenticate(presented, rule, stores, now()),
        (credential): Soon<Admitted | TurnedAway> => {
          if (!credential.admitted) return turnAway(credential);
          const foreign = foreignPage(credential, presented);
          if (foreign !== null) return { kind: 'refused', refusal: foreign };
          const left = quota.remaining(credential.allowance.allowance);
          return whenThere(left, (said) => admission(credential, presented, said));
        },
      ),
    identify: (presented) =>
      whenThere(
        authenticate(presented, 'analyst', stores, now()),
        (credential): Soon<Admission | TurnedAway> => {
          if (credential.admitted) return { kind: 'uncharged', caller: callerOf(credential) };
          return credential.reason === 'no_credential' ? ANYBODY : turnAway(credential);
        },
      ),
    left: ({ credential: { allowance }, figures }) => {
      const used = quota.lastSeen(allowance.allowance);
      return used === null ? figures.remaining : Math.max(figures.limit - used, 0);
    },
    figures: (presented) =>
      whenThere(
        authenticate(presented, anyRuleOf(presented), stores, now()),
        (credential): Soon<QuotaFigures> => {
          if (!credential.admitted) return noAllowance(now());
          const dated = credential.allowance;
          return whenThere(quota.remaining(dated.allowance), (left) =>
            left instanceof Unread
              ? noAllowance(now())
              : { ...left.value, reset_s: untilReset(dated, now()) },
          );
        },
      ),
    admitPage: async (origin) => {
      const listed = await stores.keys.listsOrigin(origin);
      if (listed instanceof Unread) return overloadRefusal(CREDENTIAL_TEXTS.store);
      return listed.value ? null : new Refusal('wrong_origin', { error: UNLISTED });
    },
    noFigures: () => noAllowance(now()),
    charge: async ({ credential, figures }, route) => {
      const dated = credential.allowance;
      const use = { used_by: credential.key.id, route, day: dayOf(now()) };
      const charged = await quota.charge(dated.allowance, use);
      if (charged instanceof Unread) return await turnAway(storeUnavailable(dated));
      const { granted, used, limit } = charged.value;
      if (!granted) return { kind: 'refused', refusal: quotaSpent(dated, now()) };
      const remaining = Math.max(limit - used, 0);
      const reset_s = untilReset(dated, now());
      return { kind: 'charged', figures: { ...figures, limit, remaining, reset_s } };
    },
  };
}

const ANYBODY: Admission = { kind: 'uncharged', caller: NOBODY };

/** The rule that a valid key of this kind opens, whichever that is. */
function anyRuleOf({ authorization, serviceMembership }: Presented): HostedRule {
  return /(?:^|\s)scp_/.test(`${authorization} ${serviceMembership}`) ? 'partner' : 'analyst';
}

const UNLISTED =
  'Origin: expected one that a publishable key lists. Its owner lists origins in the settings, ' +
  'or by exhibit keys create --origin.';

/** The refusal of a publishable key whose request comes from no page of an origin that it lists. */
function foreignPage({ key: { holder } }: Authenticated, { origin }: Presented): Refusal | null {
  if (holder.kind !== 'sc_pub') return null;
  if (origin !== undefined && holder.origins.includes(origin)) return null;
  const error =
    `Origin: expected ${holder.origins.join(' or ')}. A publishable key is sent by pages of the ` +
    'origins that it lists, and by nothing else.';
  return new Refusal('wrong_origin', { error });
}

function originOf({ key: { holder } }: Authenticated, { origin }: Presented): string | null {
  return holder.kind === 'sc_pub' && origin !== undefined ? origin : null;
}

function callerOf({ key: { id: key_id, holder }, membership }: Authenticated): Caller {
  if (holder.kind === 'scp') return { kind: 'partner', partner: holder.partner, key_id };
  if (membership === null) throw new Error('a key of a membership was admitted without it');
  const { membership_id, plan } = membership;
  return { kind: 'member', membership_id, plan, key_id };
}

// A key is admitted, or refused for one of the reasons of a 402 in the order of the document. A
// credential in a URL is refused, because logs and histories would keep it.

/** The demand of a hosted route: a plan or better, or a partner's key. */
export type HostedRule = Extract<AccessRule, 'analyst' | 'desk' | 'enterprise' | 'partner'>;

/** The parts of a request in which a credential can stand. `search` is the query as sent. */
export type Presented = {
  readonly authorization: string | undefined;
  readonly serviceMembership: string | undefined;
  readonly search: string;
  /** The origin of the page that asks, as its browser says it. */
  readonly origin: string | undefined;
  /** Whether a publishable key opens the route that is asked. */
  readonly opensToPages: boolean;
};

/** The stores of authentication. `keys.find` is asked on each request: give it a memory. */
export type CredentialStores = {
  readonly keys: Pick<KeyStore, 'find' | 'noteUse'>;
  readonly secrets: Secrets;
  /** Whether memberships survive a restart, as their store reports it. */
  readonly durable: boolean;
};

/** A caller that may ask. */
export type Authenticated = {
  readonly admitted: true;
  readonly key: ApiKey;
  /** The membership and its plan; `null` for a partner's key. */
  readonly membership: Membership | null;
  readonly plan: Plan | null;
  readonly allowance: DatedAllowance;
};

/** A caller that may not. `allowance` is its own where a valid key was sent. */
export type Denied = {
  readonly admitted: false;
  readonly reason: CredentialReason;
  readonly error: string;
  readonly allowance: DatedAllowance | null;
};

/** The words of the refusals. They say what to do and repeat nothing of what was sent. */
export const CREDENTIAL_TEXTS = {
  none: 'No key was sent. Send it as "Authorization: Bearer <key>" or in x-service-membership.',
  inQuery:
    'A key in the URL is not accepted: URLs are kept in logs and histories. Revoke that key, ' +
    'and send a new one as "Authorization: Bearer <key>".',
  malformed: 'The credential is no key of this service: a character is missing or changed.',
  partnerOnly: 'This route is opened by a partner key only.',
  publishableElsewhere:
    'A publishable key opens the hosted GET routes that answer with evidence, and nothing else: ' +
    '/openapi.json names them.',
  partnerElsewhere: 'A partner key opens the partner scan, and nothing else.',
  unknown: 'This key is not known here.',
  revoked: 'This key was revoked.',
  expired: 'This key has expired. Create a new one.',
  inactive: 'The membership of this key is not active.',
  tier: 'This route needs the plan {plan} or a higher one.',
  store: 'Keys cannot be checked just now. This is a fault of the service; try again later.',
} as const;

/** Query names under which credentials are sent to other services. */
const CREDENTIAL_NAMES: ReadonlySet<string> = new Set([
  'access_token',
  'api-key',
  'api_key',
  'apikey',
  'authorization',
  'bearer',
  'key',
  'membership',
  'token',
  'x-service-membership',
]);
/** The start of a key, as a value or, if the `=` is missing, as part of a name. */
const KEY_START = /^scp?_/;
const BEARER = /^Bearer +([^ ]+)$/i;

/** Validates the credential of a request: header, key, membership, plan. */
export function authenticate(
  presented: Presented,
  rule: HostedRule,
  stores: CredentialStores,
  now: UnixSeconds,
): Soon<Authenticated | Denied> {
  const authorization = headerText(presented.authorization);
  const alternative = headerText(presented.serviceMembership);
  if (authorization === null && alternative === null) {
    return denialOf('no_credential', inQuery(presented.search) ? 'inQuery' : 'none');
  }
  // Where both are sent, Authorization counts, whatever it holds.
  const text = authorization === null ? alternative : (BEARER.exec(authorization)?.[1] ?? null);
  const recognised = text === null ? null : recognise(text, stores.secrets);
  if (recognised === null) return denialOf('unknown_membership', 'malformed');
  const { kind, hashes } = recognised;
  if (kind === 'sc_pub' && !presented.opensToPages) {
    return denialOf('unknown_membership', 'publishableElsewhere');
  }
  if (kind === 'scp' && rule !== 'partner')
    return denialOf('unknown_membership', 'partnerElsewhere');
  if (kind !== 'scp' && rule === 'partner') return denialOf('unknown_membership', 'partnerOnly');

  return whenThere(stores.keys.find(hashes), (found) => {
    if (found instanceof Unread) return storeUnavailable(null);
    const outcome = outcomeFor(found.value, rule, now);
    if (outcome.admitted) stores.keys.noteUse({ id: outcome.key.id, secret: hashes[0], at: now });
    return outcome;
  });
}

/** A header without its outer spaces; an empty one was not sent. */
function headerText(header: string | undefined): string | null {
  const text = header === undefined ? '' : header.trim();
  return text === '' ? null : text;
}

function outcomeFor(
  found: FoundKey | null,
  rule: HostedRule,
  now: UnixSeconds,
): Authenticated | Denied {
  if (found === null) return denialOf('unknown_membership', 'unknown');
  const { key, membership } = found;
  if (key.revoked_at !== null) return denialOf('unknown_membership', 'revoked');
  if (key.expires_at <= now) return denialOf('unknown_membership', 'expired');
  if (key.holder.kind === 'scp') {
    const allowance = monthlyAllowance(key.id, key.holder, now);
    return { admitted: true, key, membership: null, plan: null, allowance };
  }
  if (membership === null || !isActive(membership))
    return denialOf('unknown_membership', 'inactive');
  const plan = PLANS[membership.plan];
  const allowance =
    key.holder.kind === 'sc_pub'
      ? publishableAllowance(key.id, plan, now)
      : dailyAllowance(membership.membership_id, plan, now);
  if (rule !== 'partner' && !planReaches(plan.name, rule)) {
    const error = CREDENTIAL_TEXTS.tier.replace('{plan}', PLANS[rule].title);
    return { admitted: false, reason: 'tier_too_low', error, allowance };
  }
  return { admitted: true, key, membership, plan, allowance };
}

function denialOf(reason: CredentialReason, text: keyof typeof CREDENTIAL_TEXTS): Denied {
  return { admitted: false, reason, error: CREDENTIAL_TEXTS[text], allowance: null };
}

/** The refusal where the keys or the counters cannot be read or written. */
export function storeUnavailable(allowance: DatedAllowance | null): Denied {
  return { ...denialOf('store_unavailable', 'store'), allowance };
}

function inQuery(search: string): boolean {
  for (const [name, value] of new URLSearchParams(search)) {
    if (CREDENTIAL_NAMES.has(name.toLowerCase())) return true;
    if (KEY_START.test(name) || KEY_START.test(value)) return true;
  }
  return false;
}

/**
 * The 402 of a denied caller with its quota headers: `remaining` is what is left of its own
 * allowance, or `null` where none is known or it could not be read, and the headers are zeros.
 */
export function credentialRefusal(
  { reason, error, allowance }: Denied,
  durable: boolean,
  remaining: number | null,
  now: UnixSeconds,
): Refusal {
  const body = { error, reason, entitlements_durable: durable };
  if (reason === 'store_unavailable') {
    const figures = { limit: 0, remaining: 0, reset_s: STORE_RETRY_AFTER_S };
    const headers = { ...quotaHeaders(figures), 'Retry-After': String(STORE_RETRY_AFTER_S) };
    return new Refusal('credential', body, headers);
  }
  const own = allowance !== null && remaining !== null;
  const figures = own
    ? {
        limit: allowance.allowance.limit,
        remaining,
        reset_s: untilReset(allowance, now),
      }
    : noAllowance(now);
  return new Refusal('credential', body, quotaHeaders(figures));
}

// Allowances. Nothing is counted here: the counters are the quota store's.

/** An allowance, and when it begins anew. */
export type DatedAllowance = { readonly allowance: Allowance; readonly resets_at: UnixSeconds };

/** The figures of the three quota headers. */
export type QuotaFigures = {
  readonly limit: number;
  readonly remaining: number;
  readonly reset_s: number;
};

/** A store that did not answer is worth asking again after so long. */
export const STORE_RETRY_AFTER_S = 5;
const MONTH_CHARS = 'YYYY-MM'.length;

// The day is asked for with each request and written once a day.
let today = { number: Number.NaN, text: '' };

function dayOf(now: UnixSeconds): string {
  const number = Math.floor(now / DAY_S);
  if (today.number !== number) today = { number, text: formatIsoDate(now) };
  return today.text;
}

/** A membership's allowance of the UTC day. All its keys share it. */
export function dailyAllowance(membershipId: string, plan: Plan, now: UnixSeconds): DatedAllowance {
  return {
    allowance: {
      subject: `membership:${membershipId}`,
      period: dayOf(now),
      limit: plan.daily_requests,
    },
    resets_at: nextUtcMidnight(now),
  };
}

/** A publishable key's budget of the UTC day: its own, so that it spends no other one's. */
function publishableAllowance(keyId: string, plan: Plan, now: UnixSeconds): DatedAllowance {
  return {
    allowance: {
      subject: `key:${keyId}`,
      period: dayOf(now),
      limit: plan.publishable_requests,
    },
    resets_at: nextUtcMidnight(now),
  };
}

/** A partner key's budget of the UTC month. Each key has its own. */
export function monthlyAllowance(
  keyId: string,
  holder: Extract<KeyHolder, { kind: 'scp' }>,
  now: UnixSeconds,
): DatedAllowance {
  return {
    allowance: {
      subject: `key:${keyId}`,
      period: dayOf(now).slice(0, MONTH_CHARS),
      limit: holder.monthly_budget,
    },
    resets_at: nextUtcMonth(now),
  };
}

/** Whole seconds until an allowance begins anew; zero, where it did meanwhile. */
export function untilReset({ resets_at }: DatedAllowance, now: UnixSeconds): number {
  return Math.max(Math.ceil(resets_at - now), 0);
}

/** The figures where no membership is known: nothing is allowed until midnight UTC. */
export function noAllowance(now: UnixSeconds): QuotaFigures {
  return { limit: 0, remaining: 0, reset_s: Math.ceil(nextUtcMidnight(now) - now) };
}

/** The three headers that every hosted response carries. */
export function quotaHeaders({ limit, remaining, reset_s }: QuotaFigures) {
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(reset_s),
  };
}

/** The refusal of a request whose allowance is spent. */
export function quotaSpent(dated: DatedAllowance, now: UnixSeconds): Refusal {
  const { limit, period } = dated.allowance;
  const reset_s = untilReset(dated, now);
  const span = period.length === MONTH_CHARS ? 'month' : 'day';
  const error =
    `All ${limit} requests of this UTC ${span} are used. ` +
    `The allowance begins anew in ${reset_s} seconds.`;
  return new Refusal(
    'quota',
    { error, reason: 'quota_exhausted', reset: reset_s },
    { ...quotaHeaders({ limit, remaining: 0, reset_s }), 'Retry-After': String(reset_s) },
  );
}
