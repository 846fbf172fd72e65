// Only deliveries of the payment platform pass, by the vectors of the Standard Webhooks project.

import { describe, expect, test } from 'vitest';
import { type SignedHeaders, TOLERANCE_S, verifyDelivery, webhookKey } from './payment.ts';

// The vectors of libraries/javascript and libraries/rust of standard-webhooks/standard-webhooks,
// and two of our own making for a secret whose characters are the key.
const VECTORS = [
  {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    at: 1_614_265_330,
    body: '{"test": 2432232314}',
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  {
    secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    id: 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
    at: 1_649_367_553,
    body: '{"email":"test@example.com","username":"test_user"}',
    signature: 'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=',
  },
  {
    secret: 'whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcY',
    id: 'evt_demo_1',
    at: 1_760_000_000,
    body: '{"type":"membership.activated","data":{"id":"mem_demo"}}',
    signature: 'v1,IMDYuOoC30vJfluqKcJ5q7Y7VOa5eqx+aKJ46QA40Uo=',
  },
  {
    secret: 'ws_demo_secret',
    id: 'evt_demo_1',
    at: 1_760_000_000,
    body: '{"type":"membership.activated","data":{"id":"mem_demo"}}',
    signature: 'v1,mntREZWQohd09mGZarW/YBnbzXf2O/eW8gslSlXxM2U=',
  },
] as const;
const [VECTOR] = VECTORS;
/** Signatures that other senders made, from the project's test of several at once. */
const OTHERS = 'v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=';

type Sent = Partial<SignedHeaders> & {
  readonly body?: string;
  readonly now?: number;
  readonly secrets?: readonly string[];
};

function isSigned({ body = VECTOR.body, now = VECTOR.at, secrets, ...headers }: Sent): boolean {
  const { id, at, signature } = VECTOR;
  const sent = { id, timestamp: String(at), signature, ...headers };
  const keys = (secrets ?? [VECTOR.secret]).map(webhookKey);
  return verifyDelivery(sent, Buffer.from(body), keys, now).signed;
}

describe('a delivery is taken', () => {
  test.each(VECTORS)('under $secret as the project signs it', (vector) => {
    const { secret, id, at, body, signature } = vector;
    const sent = { id, timestamp: String(at), signature, body, now: at, secrets: [secret] };
    expect(isSigned(sent)).toBe(true);
    expect(verifyDelivery(sent, Buffer.from(body), [webhookKey(secret)], at)).toEqual({
      signed: true,
      id,
    });
  });

  test('with several signatures, of which one is right', () => {
    const many = [OTHERS, OTHERS.replace('v1', 'v2'), VECTOR.signature, OTHERS].join(' ');
    expect(isSigned({ signature: many })).toBe(true);
  });

  test('under either of two secrets while one takes the place of the other', () => {
    const other = 'whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcY';
    expect(isSigned({ secrets: [other, VECTOR.secret] })).toBe(true);
    expect(isSigned({ secrets: [VECTOR.secret, other] })).toBe(true);
    expect(isSigned({ secrets: [other] })).toBe(false);
  });

  test('within the tolerance on both sides of its time, to the second', () => {
    expect(isSigned({ now: VECTOR.at + TOLERANCE_S })).toBe(true);
    expect(isSigned({ now: VECTOR.at - TOLERANCE_S })).toBe(true);
    expect(isSigned({ now: VECTOR.at + TOLERANCE_S + 1 })).toBe(false);
    expect(isSigned({ now: VECTOR.at - TOLERANCE_S - 1 })).toBe(false);
  });
});

describe('a delivery is refused', () => {
  const signature = VECTOR.signature;
  const forged: readonly (readonly [string, Sent])[] = [
    ['without an id', { id: undefined }],
    ['with an empty id', { id: '' }],
    ['without a time', { timestamp: undefined }],
    ['with a time that is none', { timestamp: 'hello' }],
    ['with a time of another form', { timestamp: `${VECTOR.at}.0` }],
    ['with a time beyond numbers', { timestamp: '9'.repeat(400) }],
    ['without a signature', { signature: undefined }],
    ['with an empty signature', { signature: '' }],
    ['with a signature of another', { signature: OTHERS }],
    ['with a signature that is none', { signature: 'v1,dawfeoifkpqwoekfpqoekf' }],
    ['with a signature cut to its beginning', { signature: signature.slice(0, 8) }],
    ['with a signature cut by a character', { signature: signature.slice(0, -1) }],
    ['with a signature without its padding', { signature: signature.slice(0, -1).trim() }],
    ['with the scheme alone', { signature: 'v1,' }],
    ['with the signature under another scheme', { signature: signature.replace('v1', 'v1a') }],
    ['with the signature and more behind it', { signature: `${signature},x` }],
    ['under another id', { id: 'msg_other' }],
    ['under another time', { timestamp: String(VECTOR.at + 1) }],
    ['with a changed body', { body: VECTOR.body.replace('2432232314', '2432232315') }],
    ['with a body cut short', { body: VECTOR.body.slice(0, -1) }],
    ['with an empty body', { body: '' }],
    ['with its parts moved over their border', { id: VECTOR.id.slice(0, -1) }],
    ['where no secret is in force', { secrets: [] }],
    [
      'behind more signatures than are looked at',
      { signature: [...Array.from({ length: 16 }, () => OTHERS), signature].join(' ') },
    ],
  ];
  test.each(forged)('%s', (_name, sent) => {
    expect(isSigned({})).toBe(true);
    expect(isSigned(sent)).toBe(false);
  });
});
