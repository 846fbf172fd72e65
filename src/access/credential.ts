// Answers one question: whose key was sent, and does it open this route.
// Admitted, or one of the four reasons of a 402 in the order of the document.
// It refuses a credential in a URL, where logs and histories would keep it.

import type { UnixSeconds } from '../chain/time.ts';
import { type CredentialReason, Refusal } from '../contract/refusals.ts';
import type { AccessRule } from '../contract/route.ts';
import { Unread } from '../evidence/reading.ts';
import { type Soon, whenThere } from '../evidence/soon.ts';
import type { ApiKey, FoundKey, KeyStore } from '../ports/access/key-store.ts';
import type { Membership } from '../ports/access/membership-store.ts';
import { isActive } from './membership.ts';
import { PLANS, type Plan, planReaches } from './plan.ts';
import {
  type DatedAllowance,
  dailyAllowance,
  monthlyAllowance,
  noAllowance,
  quotaHeaders,
  STORE_RETRY_AFTER_S,
} from './quota.ts';
import { recognise } from './recognised.ts';
import type { Secrets } from './secret.ts';

/** The demand of a hosted route: a plan or better, or a partner's key. */
export type HostedRule = Extract<AccessRule, 'analyst' | 'desk' | 'enterprise' | 'partner'>;

/** The parts of a request in which a credential can stand. `search` is the query as sent. */
export type Presented = {
  readonly authorization: string | undefined;
  readonly serviceMembership: string | undefined;
  readonly search: string;
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
/** How a key begins, as a value or, where the = was forgotten, as a name. */
const KEY_START = /^scp?_/;
const BEARER = /^Bearer +([^ ]+)$/i;

/** Validates the credential of a request: header, key, membership, plan. */
export function authenticate(
  presented: Presented,
  rule: HostedRule,
  stores: CredentialStores,
  now: UnixSeconds,
): Soon<Authenticated | Denied> {
  const authorization = sent(presented.authorization);
  const alternative = sent(presented.serviceMembership);
  if (authorization === null && alternative === null) {
    return denied('no_credential', inQuery(presented.search) ? 'inQuery' : 'none');
  }
  // Where both are sent, Authorization counts, whatever it holds.
  const text = authorization === null ? alternative : bearerOf(authorization);
  const recognised = text === null ? null : recognise(text, stores.secrets);
  if (recognised === null) return denied('unknown_membership', 'malformed');
  const { kind, hashes } = recognised;
  if (kind === 'scp' && rule !== 'partner') return denied('unknown_membership', 'partnerElsewhere');
  if (kind === 'sc' && rule === 'partner') return denied('unknown_membership', 'partnerOnly');

  return whenThere(stores.keys.find(hashes), (found) => {
    if (found instanceof Unread) return storeUnavailable(null);
    const outcome = outcomeFor(found.value, rule, now);
    if (outcome.admitted) stores.keys.noteUse({ id: outcome.key.id, secret: hashes[0], at: now });
    return outcome;
  });
}

/** A header without its outer spaces; an empty one was not sent. */
function sent(header: string | undefined): string | null {
  const text = header === undefined ? '' : header.trim();
  return text === '' ? null : text;
}

function bearerOf(authorization: string): string | null {
  const token = BEARER.exec(authorization)?.[1];
  return token === undefined ? null : token;
}

function outcomeFor(
  found: FoundKey | null,
  rule: HostedRule,
  now: UnixSeconds,
): Authenticated | Denied {
  if (found === null) return denied('unknown_membership', 'unknown');
  const { key, membership } = found;
  if (key.revoked_at !== null) return denied('unknown_membership', 'revoked');
  if (key.expires_at <= now) return denied('unknown_membership', 'expired');
  if (key.holder.kind === 'scp') {
    const allowance = monthlyAllowance(key.id, key.holder, now);
    return { admitted: true, key, membership: null, plan: null, allowance };
  }
  if (membership === null || !isActive(membership)) return denied('unknown_membership', 'inactive');
  const plan = PLANS[membership.plan];
  const allowance = dailyAllowance(membership.membership_id, plan, now);
  if (rule !== 'partner' && !planReaches(plan.name, rule)) {
    const error = CREDENTIAL_TEXTS.tier.replace('{plan}', PLANS[rule].title);
    return { admitted: false, reason: 'tier_too_low', error, allowance };
  }
  return { admitted: true, key, membership, plan, allowance };
}

function denied(reason: CredentialReason, text: keyof typeof CREDENTIAL_TEXTS): Denied {
  return { admitted: false, reason, error: CREDENTIAL_TEXTS[text], allowance: null };
}

/** The refusal where the keys or the counters cannot be read or written. */
export function storeUnavailable(allowance: DatedAllowance | null): Denied {
  return { ...denied('store_unavailable', 'store'), allowance };
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
    ? { limit: allowance.allowance.limit, remaining, reset_s: allowance.reset_s }
    : noAllowance(now);
  return new Refusal('credential', body, quotaHeaders(figures));
}
