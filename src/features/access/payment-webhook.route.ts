import { z } from 'zod';
import { readPaymentEvent, verifyDelivery } from '../../access/payment.ts';
import { bytes } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { notSetUp } from '../../contract/wire.ts';
import { Unread } from '../../evidence/reading.ts';
import type { PaymentDelivery, PaymentStore, PlanOf, SecretHash } from '../../ports/access.ts';

const error = z.strictObject({ error: z.string() });
const header = z.string().max(2_048).optional();

export const paymentWebhook = plainRoute({
  name: 'payment_webhook',
  surface: 'web',
  method: 'POST',
  path: '/webhooks/payments',
  summary: 'Takes the signed events of the payment platform.',
  access: 'open',
  bodyBytesMax: 65_536,
  requestHeaders: z.strictObject({
    'webhook-id': header,
    'webhook-timestamp': header,
    'webhook-signature': header,
  }),
  body: bytes('application/json'),
  responses: {
    200: z.strictObject({ received: z.literal(true), outcome: z.string() }),
    400: error,
    401: error,
    404: notSetUp.describe('Nothing here can tell an event of the platform from a forgery.'),
    503: error,
  },
});

export type PaymentPorts = {
  /** The keys of the secrets in force; without one nothing can be told from a forgery. */
  readonly keys: readonly Buffer[];
  readonly planOf: PlanOf;
  readonly payments: Pick<PaymentStore, 'record'>;
  /** Hashes a code for storage. */
  readonly hashCode: (code: string) => SecretHash;
  /** Tells the operator what needs a hand. */
  readonly warn: (facts: object, message: string) => void;
};

const NO_SECRET = 'EXHIBIT_PAYMENT_WEBHOOK_SECRET is not set: nothing was taken.';
const NO_EVENT = 'body: expected a JSON object with a type';
const NO_STORE = 'The event could not be kept. Send it again.';
const HELD =
  'A purchase is held: EXHIBIT_PLANS names neither its plan nor its product. Name one and start ' +
  'again; it is then applied.';
const UNREADABLE = 'A payment event asks what cannot be done: see `exhibit payments list`.';

/** @internal */
export function paymentWebhookHandler(desk: PaymentPorts): PlainHandler<typeof paymentWebhook> {
  return async ({ headers, body }, { now }) => {
    if (desk.keys.length === 0) {
      return paymentWebhook.reply(404, { error: 'not_set_up', reason: NO_SECRET });
    }
    const sent = {
      id: headers['webhook-id'],
      timestamp: headers['webhook-timestamp'],
      signature: headers['webhook-signature'],
    };
    const verified = verifyDelivery(sent, body, desk.keys, now());
    if (!verified.signed) return paymentWebhook.reply(401, { error: verified.error });
    const event = readPaymentEvent(body, now());
    if (event === null) return paymentWebhook.reply(400, { error: NO_EVENT });
    const { code, ...told } = event;
    const delivery = {
      delivery_id: verified.id,
      received_at: now(),
      ...told,
      code: code === null ? null : desk.hashCode(code),
    };
    const outcome = await desk.payments.record(delivery, desk.planOf);
    if (outcome instanceof Unread) return paymentWebhook.reply(503, { error: NO_STORE });
    tell(desk, delivery, outcome.value);
    return paymentWebhook.reply(200, { received: true, outcome: outcome.value });
  };
}

function tell({ warn }: PaymentPorts, { delivery_id, type, asks }: PaymentDelivery, told: string) {
  if (told === 'unreadable') warn({ delivery_id, type }, UNREADABLE);
  if (told !== 'no_plan' || typeof asks === 'string') return;
  const { membership_id, product_id, plan_id } = asks;
  warn({ delivery_id, membership_id, product_id, plan_id }, HELD);
}
