// Declares POST /webhooks/payments: what the payment platform tells of memberships.

import { z } from 'zod';
import { bytes } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';

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
    503: error,
  },
});
