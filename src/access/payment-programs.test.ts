// Do the libraries of Standard Webhooks and of Svix sign what is taken, and take what is signed so?

import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { describe, expect, test } from 'vitest';
import { deliveryHeaders } from '../testing/payment-platform.ts';
import { TOLERANCE_S, verifyDelivery, webhookKey } from './payment.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcY';
const BODY = '{"type":"membership.activated","data":{"id":"mem_demo","name":"Åsa"}}';

describe.each([
  ['standardwebhooks', Standard],
  ['svix', Svix],
] as const)('%s', (_, Webhook) => {
  const at = new Date();
  const seconds = Math.floor(at.getTime() / 1_000);
  const signature = new Webhook(SECRET).sign('evt_1', at, BODY);
  const taken = (body: string, secret: string, now = seconds) => {
    const sent = { id: 'evt_1', timestamp: String(seconds), signature };
    return verifyDelivery(sent, Buffer.from(body), [webhookKey(secret)], now).signed;
  };

  test('what it signs is taken, and neither another body nor another secret or time', () => {
    expect(taken(BODY, SECRET)).toBe(true);
    expect(taken(BODY.replace('demo', 'mine'), SECRET)).toBe(false);
    expect(taken(BODY, OTHER)).toBe(false);
    expect(taken(BODY, SECRET, seconds + TOLERANCE_S + 1)).toBe(false);
  });

  test('it takes what the platform of the tests signs, under either of two secrets', () => {
    const headers = deliveryHeaders([OTHER, SECRET], 'evt_1', seconds, BODY);
    expect(new Webhook(SECRET).verify(BODY, { ...headers })).toMatchObject({
      data: { id: 'mem_demo', name: 'Åsa' },
    });
    expect(() => new Webhook(SECRET).verify(`${BODY} `, { ...headers })).toThrow(/signature/i);
  });
});
