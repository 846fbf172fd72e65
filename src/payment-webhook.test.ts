// A delivery of the payment platform applies once, in whichever order deliveries come: over a
// socket, with the platform's stand-in and a real store.

import { afterEach, describe, expect, test } from 'vitest';
import { webhookKey } from './access/payment.ts';
import { paymentWebhook, paymentWebhookHandler } from './features/access/payment-webhook.route.ts';
import type { PlanOf } from './ports/access.ts';
import { accessIn, embeddedControl } from './testing/control-store.ts';
import { createTestHttp } from './testing/http-server.ts';
import {
  deliveryHeaders,
  membershipEvent,
  type SentMembership,
} from './testing/payment-platform.ts';
import { rowsAs } from './testing/rows-as.ts';
import type { AnyHandler } from './transport/answer.ts';

const NOW = 1_790_000_000;
const SECRET = 'ws_a1b2c3d4e5f6a7b8';
const ID = 'mem_Qx7Lk2Vw9TzB4n';
const PLANS: Record<string, 'analyst' | 'desk'> = { plan_desk: 'desk', plan_analyst: 'analyst' };
const planOf: PlanOf = ({ plan_id }) => PLANS[String(plan_id)] ?? null;

const fresh = embeddedControl();
const apps: { close: () => Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

type Sending = {
  readonly id?: string;
  readonly at?: number;
  readonly secret?: string;
  readonly change?: (body: string) => string;
};

async function serve(secrets: readonly string[] = [SECRET]) {
  const database = fresh();
  const { memberships, payments } = accessIn(database, () => NOW * 1_000);
  const warned: object[] = [];
  const desk = {
    keys: secrets.map(webhookKey),
    planOf,
    payments,
    hashCode: () => ({ hash: new Uint8Array(32), pepper: 'p' }),
    warn: (facts: object) => warned.push(facts),
  };
  const app = createTestHttp({
    mounted: [{ route: paymentWebhook, handle: paymentWebhookHandler(desk) as AnyHandler }],
    refusalPage: () => '',
    now: () => NOW,
  });
  apps.push(app);
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const post = async (body: string, headers: object) => {
    const reply = await fetch(`${origin}/webhooks/payments`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
    const said: unknown = await reply.json();
    return { status: reply.status, said: Object(said) };
  };
  let sent = 0;
  const send = async (told: SentMembership, how: Sending = {}) => {
    sent += 1;
    const { id = `msg_${sent}`, at = NOW, secret = SECRET, change = (body) => body } = how;
    const body = membershipEvent(told);
    return post(change(body), deliveryHeaders([secret], id, at, body));
  };
  const member = async (id = ID) => {
    const found = await memberships.find(id);
    if (!found.checked) throw new Error('unread');
    return found.value;
  };
  const events = async () => {
    const listed = await payments.list(null);
    if (!listed.checked) throw new Error('unread');
    return listed.value;
  };
  return { database, post, send, member, events, warned, payments };
}

const ended = { type: 'membership.deactivated', status: 'canceled' } as const;

describe('says', () => {
  test('a purchase opens the membership on the plan that was bought, and says so', async () => {
    const { send, member } = await serve();
    expect(await send({ at: NOW - 10 })).toEqual({
      status: 200,
      said: { received: true, outcome: 'applied' },
    });
    expect(await member()).toEqual({
      membership_id: ID,
      plan: 'desk',
      status: 'active',
      created_at: NOW - 10,
      updated_at: NOW - 10,
    });
  });

  test('it ends, is renewed and changes its plan as the events say', async () => {
    const { send, member } = await serve();
    await send({ at: NOW - 50 });
    await send({ ...ended, at: NOW - 40 });
    expect(await member()).toMatchObject({ status: 'inactive' });
    await send({ at: NOW - 30 });
    expect(await member()).toMatchObject({ status: 'active', plan: 'desk' });
    await send({ at: NOW - 20, plan: 'plan_analyst' });
    expect(await member()).toMatchObject({ status: 'active', plan: 'analyst' });
    const told = { type: 'membership.cancel_at_period_end_changed', status: 'canceling' };
    await send({ ...told, at: NOW - 10, plan: 'plan_desk' });
    expect(await member()).toMatchObject({ status: 'active', plan: 'desk', updated_at: NOW - 10 });
  });

  test('events of one second are listed in the order in which they came, the newest first', async () => {
    const { send, events } = await serve();
    const ids = ['msg_m', 'msg_z', 'msg_a', 'msg_k'];
    for (const id of ids) await send({ at: NOW - 10 }, { id });
    expect((await events()).map(({ delivery_id }) => delivery_id)).toEqual(ids.toReversed());
  });

  test('events in any order leave the membership as the newest by its own time', async () => {
    const told: SentMembership[] = [
      { at: NOW - 40 },
      { ...ended, at: NOW - 30 },
      { at: NOW - 20, plan: 'plan_analyst' },
    ];
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];
    for (const order of orders) {
      const { send, member } = await serve();
      for (const n of order) await send(told[n] ?? { at: NOW }, { id: `msg_${n}` });
      const newest = { status: 'active', plan: 'analyst', updated_at: NOW - 20 };
      expect([order, await member()]).toEqual([order, expect.objectContaining(newest)]);
    }
  });

  test('of two events of one moment the end holds, in either order', async () => {
    for (const order of [
      [{}, ended],
      [ended, {}],
    ]) {
      const { send, member } = await serve();
      for (const told of order) await send({ ...told, at: NOW - 5 });
      expect(await member()).toMatchObject({ status: 'inactive' });
    }
  });

  test('an end that comes before its beginning, and names no product, keeps it closed', async () => {
    const { send, member } = await serve();
    await send({ ...ended, at: NOW - 5, plan: 'plan_other' });
    expect((await send({ at: NOW - 9 })).said).toMatchObject({ outcome: 'older' });
    expect(await member()).toMatchObject({ status: 'inactive' });
  });

  test('a type that asks nothing is acknowledged and kept, without what it says of persons', async () => {
    const { send, database, events, warned } = await serve();
    const reply = await send({ type: 'payment.succeeded', at: NOW });
    expect(reply).toEqual({ status: 200, said: { received: true, outcome: 'unknown' } });
    expect(await events()).toMatchObject([
      { delivery_id: 'msg_1', type: 'payment.succeeded', outcome: 'unknown' },
    ]);
    const [row] = await rowsAs<{ body: string }>(database, 'select body from payment_events');
    expect(row?.body).toContain('prod_exhibit');
    for (const secret of ['ada@example.com', 'Ada Example', 'Acme Ltd', 'EX-5KQ2HT', 'billing/']) {
      expect(row?.body).not.toContain(secret);
    }
    expect(warned).toEqual([]);
  });

  test('a product without a plan is held, told to the operator, and applied once named', async () => {
    const { send, member, warned, payments } = await serve();
    const sold = { plan: 'plan_new', product: 'prod_new' };
    expect((await send({ ...sold, at: NOW - 9 })).said).toMatchObject({ outcome: 'no_plan' });
    expect(await member()).toBeNull();
    expect(warned).toMatchObject([
      { membership_id: ID, plan_id: 'plan_new', product_id: 'prod_new' },
    ]);
    const named: PlanOf = ({ product_id }) => (product_id === 'prod_new' ? 'desk' : null);
    expect(await payments.applyHeld(planOf)).toMatchObject({ value: 0 });
    expect(await payments.applyHeld(named)).toMatchObject({ value: 1 });
    expect(await member()).toMatchObject({ plan: 'desk', status: 'active', updated_at: NOW - 9 });
    expect(await payments.applyHeld(named)).toMatchObject({ value: 0 });
  });

  test('what was held does not undo what was told since', async () => {
    const { send, member, payments } = await serve();
    await send({ at: NOW - 9, plan: 'plan_new' });
    await send({ ...ended, at: NOW - 5, plan: 'plan_new' });
    await payments.applyHeld(() => 'desk');
    expect(await member()).toMatchObject({ status: 'inactive', updated_at: NOW - 5 });
  });

  test('an event dated ahead of its time, or about no membership, is kept and told', async () => {
    const { send, member, warned } = await serve();
    for (const told of [{ at: NOW + 301 }, { at: NOW, id: '../etc' }, { at: NOW, id: '' }]) {
      expect((await send(told)).said).toEqual({ received: true, outcome: 'unreadable' });
    }
    expect(await member()).toBeNull();
    expect(warned).toHaveLength(3);
  });
});

describe('refuses', () => {
  const outside: readonly (readonly [string, number, Sending])[] = [
    ['forged', 401, { secret: 'ws_another_secret' }],
    ['stale', 401, { at: NOW - 301 }],
    ['dated ahead', 401, { at: NOW + 301 }],
    ['cut short', 401, { change: (body) => body.slice(0, -2) }],
    ['changed', 401, { change: (body) => body.replace('plan_desk', 'plan_ent') }],
    ['changed in a space alone', 401, { change: (body) => `${body} ` }],
  ];
  test.each(outside)('a delivery that is %s, and changes nothing', async (_name, status, how) => {
    const { send, member, events } = await serve();
    expect(await send({ at: NOW }, how)).toMatchObject({
      status,
      said: { error: expect.stringMatching(/./) },
    });
    expect(await member()).toBeNull();
    expect(await events()).toEqual([]);
  });

  test('a delivery without headers, or under names that mean nothing', async () => {
    const { post, events } = await serve();
    expect((await post(membershipEvent({ at: NOW }), {})).status).toBe(401);
    const hex = { 'x-signature': 'abc', 'stripe-signature': 't=1,v1=abc' };
    expect((await post(membershipEvent({ at: NOW }), hex)).status).toBe(401);
    expect(await events()).toEqual([]);
  });

  test('what is signed and no event, without keeping it', async () => {
    const { post, events } = await serve();
    for (const body of ['', '[]', '"a"', '{"type":5}', '{"typ', 'null', '\u0000']) {
      const reply = await post(body, deliveryHeaders([SECRET], 'msg_x', NOW, body));
      expect([body, reply.status]).toEqual([body, 400]);
    }
    expect(await events()).toEqual([]);
  });

  test('a delivery that was taken already, however it is signed again', async () => {
    const { send, member } = await serve();
    await send({ at: NOW - 20 }, { id: 'msg_once' });
    await send({ ...ended, at: NOW - 10 });
    const again = await send({ at: NOW - 5 }, { id: 'msg_once' });
    expect(again).toEqual({ status: 200, said: { received: true, outcome: 'repeated' } });
    expect(await member()).toMatchObject({ status: 'inactive' });
  });

  test('takes one of many deliveries of one id that come together', async () => {
    const { send, events } = await serve();
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => send({ at: NOW }, { id: 'msg_same' })),
    );
    const outcomes = replies.map(({ said }) => said.outcome).sort();
    expect(outcomes).toEqual(['applied', ...Array(7).fill('repeated')]);
    expect(await events()).toHaveLength(1);
  });

  test('everything where no secret is set: 404, and never "received"', async () => {
    const { send, events } = await serve([]);
    expect(await send({ at: NOW })).toMatchObject({
      status: 404,
      said: { error: 'not_set_up', reason: expect.stringMatching(/not set/) },
    });
    expect(await events()).toEqual([]);
  });

  test('another type of content, and a body beyond its bound, before it is read', async () => {
    const { post } = await serve();
    const body = membershipEvent({ at: NOW });
    const headers = deliveryHeaders([SECRET], 'msg_x', NOW, body);
    expect((await post(body, { ...headers, 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post('x'.repeat(65_537), headers)).status).toBe(413);
  });
});

describe('is silent', () => {
  test('a store that does not answer takes nothing: the platform sends it again', async () => {
    const { send, database, member } = await serve();
    database.silence('it was silenced');
    expect((await send({ at: NOW }, { id: 'msg_1' })).status).toBe(503);
    database.silence(null);
    expect((await send({ at: NOW }, { id: 'msg_1' })).said).toMatchObject({ outcome: 'applied' });
    expect(await member()).toMatchObject({ status: 'active' });
  });
});
