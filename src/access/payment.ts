// Webhooks of the payment platform, and what their events ask of a membership.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { MS_PER_S, type UnixSeconds } from '../chain/time.ts';
import { present } from '../evidence/measure.ts';
import type { MembershipStatus, PaymentDelivery } from '../ports/access.ts';
import { isMembershipId } from './plan.ts';

// Only events of known types ask anything. What an event says of persons is dropped.

/** An event as far as it is understood. */
type ReadEvent = Pick<PaymentDelivery, 'type' | 'asks' | 'body'> & {
  /** The code that the platform shows to whoever bought the membership; `null`: none. */
  readonly code: string | null;
};

/**
 * The change that each event type requests; `as_told`: the status of the membership in the event.
 */
const TYPES: ReadonlyMap<string, MembershipStatus | 'as_told'> = new Map([
  ['membership.activated', 'active'],
  ['membership.deactivated', 'inactive'],
  ['membership.cancel_at_period_end_changed', 'as_told'],
  ['membership.trial_ending_soon', 'as_told'],
]);

/** The platform's words for a membership that is in use, and for one that is over. */
const STATUSES: ReadonlyMap<unknown, MembershipStatus> = new Map([
  ['trialing', 'active'],
  ['active', 'active'],
  ['past_due', 'active'],
  ['canceling', 'active'],
  ['completed', 'active'],
  ['canceled', 'inactive'],
  ['expired', 'inactive'],
]);

/** Shorter ones could be guessed. */
const CODE = /^[\x21-\x7e]{16,200}$/;
const TYPE = /^[a-z][a-z0-9_.]{0,99}$/;
const SOLD_ID = /^[\w-]{1,100}$/;
/** Numbers above this are milliseconds: as seconds they lie past the year 5000. */
const SECONDS_MAX = 1e11;
/** Fields that tell of a person, wherever they stand, or that open something. */
const OF_PERSONS = new RegExp(
  '^(user|member|customer|email|name|username|phone|ip|license_key|metadata|manage_url)$' +
    '|address|card|custom_field',
);

/** Reads an event; `null` where the bytes are no JSON object with a type. */
export function readPaymentEvent(bytes: Uint8Array, now: UnixSeconds): ReadEvent | null {
  const event = objectIn(Buffer.from(bytes).toString('utf8'));
  if (event === null) return null;
  const { type, timestamp, data } = Object(event);
  if (typeof type !== 'string' || !TYPE.test(type)) return null;
  const body = JSON.stringify(event, (key, value: unknown) => {
    // A field that the platform adds may hold an e-mail address under a name that nobody knows.
    const isPersonal = OF_PERSONS.test(key) || (typeof value === 'string' && value.includes('@'));
    return isPersonal ? '[left out]' : value;
  });
  const asked = TYPES.get(type);
  if (asked === undefined) return { type, body, asks: 'unknown', code: null };
  const { id, status: told, updated_at, product, plan, license_key } = Object(data);
  const status = asked === 'as_told' ? STATUSES.get(told) : asked;
  const at = timeOf(timestamp === undefined ? updated_at : timestamp);
  const code = typeof license_key === 'string' && CODE.test(license_key) ? license_key : null;
  const isWhole =
    typeof id === 'string' && isMembershipId(id) && status !== undefined && at !== null;
  // One that is dated ahead of its time would stand above every later one.
  if (!isWhole || at > now + TOLERANCE_S) return { type, body, asks: 'unreadable', code };
  const [product_id, plan_id] = [soldId(product), soldId(plan)];
  return { type, body, asks: { membership_id: id, product_id, plan_id, status, at }, code };
}

function soldId(sold: unknown): string | null {
  const { id } = Object(sold);
  return typeof id === 'string' && SOLD_ID.test(id) ? id : null;
}

/** A time as the platform writes it: ISO 8601, or seconds or milliseconds since 1970. */
function timeOf(told: unknown): UnixSeconds | null {
  if (typeof told === 'string' && !/^[0-9]+$/.test(told)) {
    const ms = Date.parse(told);
    return Number.isNaN(ms) ? null : ms / MS_PER_S;
  }
  const number = typeof told === 'string' ? Number(told) : told;
  if (typeof number !== 'number' || !Number.isFinite(number) || number <= 0) return null;
  return number > SECONDS_MAX ? number / MS_PER_S : number;
}

function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

// The scheme is that of Standard Webhooks: an HMAC-SHA-256 over id, time and the bytes as sent.
// Nothing inside the bytes is looked at.

/** The signature headers of a delivery. */
export type SignedHeaders = {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
};

/** A delivery that is the platform's, or why nobody can say so. */
export type Verified =
  | { readonly signed: true; readonly id: string }
  | { readonly signed: false; readonly error: string };

/** How far the time of a delivery may be from now, before or after: 5 minutes. */
export const TOLERANCE_S = 300;
/** A delivery carries one signature for each secret in force; more than this are not looked at. */
const SIGNATURES_MAX = 16;
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;
const ID = /^[\x21-\x7e]{1,256}$/;
const TIMESTAMP = /^[0-9]{1,12}$/;
const DECODED = 'whsec_';

const WRONG = {
  headers: 'The headers webhook-id, webhook-timestamp and webhook-signature are needed.',
  time: `The delivery is not of the last ${TOLERANCE_S / 60} minutes by our clock.`,
  signature: 'No signature of the delivery is one of the payment platform.',
} as const;

/**
 * The key of a secret as the platform shows it: what stands behind `whsec_` is base64 of the key;
 * of any other (`ws_…`) its own characters are the key.
 */
export function webhookKey(secret: string): Buffer {
  if (!secret.startsWith(DECODED)) return Buffer.from(secret, 'utf8');
  return Buffer.from(secret.slice(DECODED.length), 'base64');
}

/** Verifies a delivery under each secret that is in force. */
export function verifyDelivery(
  { id, timestamp, signature }: SignedHeaders,
  body: Uint8Array,
  keys: readonly Buffer[],
  now: UnixSeconds,
): Verified {
  if (id === undefined || timestamp === undefined || signature === undefined) {
    return { signed: false, error: WRONG.headers };
  }
  if (!ID.test(id) || !TIMESTAMP.test(timestamp)) return { signed: false, error: WRONG.headers };
  if (!(Math.abs(now - Number(timestamp)) <= TOLERANCE_S)) {
    return { signed: false, error: WRONG.time };
  }
  const sent = signature.split(' ', SIGNATURES_MAX).flatMap(signatureIn);
  // Each is compared with each, whatever the others came to.
  const matches = keys.flatMap((key) => {
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    return sent.map((one) => timingSafeEqual(one, expected));
  });
  if (!matches.includes(true)) return { signed: false, error: WRONG.signature };
  return { signed: true, id };
}

/** The bytes of a signature `v1,<base64>`; none of one in another scheme, or cut short. */
function signatureIn(text: string): Buffer[] {
  const base64 = SIGNATURE.exec(text)?.[1];
  const bytes = base64 === undefined ? null : Buffer.from(base64, 'base64');
  return present([bytes?.toString('base64') === base64 ? bytes : null]);
}
