// The payment platform's wire format: the events of its API v1 with all their fields, signed by the
// scheme of Standard Webhooks. The signing is written here a second time, so that it does not
// follow our own reading of it.

import { createHmac } from 'node:crypto';

/** The fields of an event that a test sets; the others are as the platform sends them. */
export type SentMembership = {
  readonly type?: string;
  readonly id?: string;
  /** The event's own time, Unix seconds. */
  readonly at: number;
  readonly status?: string;
  readonly plan?: string;
  readonly product?: string;
  readonly license_key?: string | null;
};

/** The headers of a delivery. */
export type DeliveryHeaders = {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
};

/** The body of an event about a membership, as text. */
export function membershipEvent({
  type = 'membership.activated',
  id = 'mem_Qx7Lk2Vw9TzB4n',
  at,
  status = 'active',
  plan = 'plan_desk',
  product = 'prod_exhibit',
  license_key = 'EX-5KQ2HT-9WNB7RLD-4XPM6CW',
}: SentMembership): string {
  const iso = new Date(at * 1_000).toISOString();
  return JSON.stringify({
    id: `msg_${type}_${at}`,
    api_version: 'v1',
    type,
    timestamp: iso,
    company_id: 'biz_3fJ9sKq1',
    data: {
      id,
      status,
      cancel_at_period_end: false,
      cancel_option: null,
      canceled_at: null,
      cancellation_reason: null,
      checkout_configuration_id: null,
      company: { id: 'biz_3fJ9sKq1', title: 'Exhibit' },
      created_at: iso,
      updated_at: iso,
      currency: 'usd',
      custom_field_responses: [{ id: 'f_1', question: 'Your company?', answer: 'Acme Ltd' }],
      joined_at: iso,
      license_key,
      manage_url: 'https://platform.example/billing/manage',
      member: { id: 'mber_77' },
      metadata: {},
      payment_collection_paused: false,
      plan: { id: plan, metadata: {} },
      product: { id: product, title: 'Exhibit API', metadata: {} },
      promo_code: null,
      renewal_period_start: iso,
      renewal_period_end: null,
      user: { id: 'user_9', email: 'ada@example.com', name: 'Ada Example', username: 'ada' },
    },
  });
}

/** One signature of a delivery, `v1,<base64>`. */
export function signatureOf(secret: string, id: string, at: number, body: string): string {
  const key = secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret);
  return `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`;
}

/** The headers under which the platform sends a body at a time, signed under each secret. */
export function deliveryHeaders(
  secrets: readonly string[],
  id: string,
  at: number,
  body: string,
): DeliveryHeaders {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': secrets.map((one) => signatureOf(one, id, at, body)).join(' '),
  };
}
