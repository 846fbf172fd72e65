// Nothing is read outside for somebody who does not pay for it, and nobody pays twice for a page.

import { expect, test } from 'vitest';
import { Refusal } from '../contract/refusals.ts';
import { NOBODY } from '../contract/route.ts';
import { unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { STILL_NOW, stillClock } from '../testing/clock.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import { dailyAllowance } from './gate.ts';
import { pageReading } from './page-reading.ts';
import { PLANS } from './plan.ts';

const fresh = embeddedControl();
const now = stillClock();
const MEMBER = {
  kind: 'session',
  session_id: 'ses_1',
  membership_id: 'mem_1',
  form_token: 'token',
} as const;
const { allowance } = dailyAllowance('mem_1', PLANS.analyst, STILL_NOW);

async function membersOf(status: 'active' | 'inactive') {
  const stores = accessIn(fresh(), () => STILL_NOW * 1_000);
  const { memberships, quota } = stores;
  await memberships.record({ membership_id: 'mem_1', plan: 'analyst', status, at: STILL_NOW });
  const used = async () => quota.usage(allowance.subject, allowance.period);
  return { memberships, quota, used };
}

async function codeOf(reading: ReturnType<ReturnType<typeof pageReading>>) {
  const said = await reading;
  return said.may ? 'may' : said.why.code;
}

test('nobody has anything read outside, unless the outside is made up', async () => {
  const stores = await membersOf('active');
  expect(await codeOf(pageReading(stores, false, now)(NOBODY))).toBe('page_of_nobody');
  expect(await codeOf(pageReading(stores, true, now)(NOBODY))).toBe('may');
});

test('an active membership pays one request for a page, and none until it is ready', async () => {
  const stores = await membersOf('active');
  const reading = await pageReading(stores, false, now)(MEMBER);
  if (!reading.may) throw new Error('may not');
  expect(await stores.used()).toMatchObject({ value: 0 });
  expect(await reading.pay()).toBeNull();
  expect(await stores.used()).toMatchObject({ value: 1 });
});

test('a membership that is not active has nothing read', async () => {
  const stores = await membersOf('inactive');
  expect(await codeOf(pageReading(stores, false, now)(MEMBER))).toBe('page_membership_inactive');
});

test('what is left of the allowance is not exceeded, by pages at once neither', async () => {
  const stores = await membersOf('active');
  const ask = pageReading(stores, false, now);
  for (let used = 1; used < allowance.limit; used += 1) await stores.quota.charge(allowance);
  const both = await Promise.all([ask(MEMBER), ask(MEMBER)]);
  const paid = await Promise.all(both.map((one) => (one.may ? one.pay() : 'may not')));
  expect(paid.map((one) => (one instanceof Refusal ? one.code : one)).sort()).toEqual([
    null,
    'quota',
  ]);
  expect(await codeOf(ask(MEMBER))).toBe('page_allowance_spent');
});

test('a store that does not answer lets nobody read, and no page leave unpaid', async () => {
  const stores = await membersOf('active');
  const silent = unread(
    'quota' as const,
    why('store_unreadable', { what: 'Counters', fault: 'x' }),
  );
  const dark = { ...stores.quota, remaining: () => silent };
  const asked = pageReading({ ...stores, quota: dark }, false, now)(MEMBER);
  expect(await codeOf(asked)).toBe('store_unreadable');
  const late = { ...stores.quota, charge: async () => silent };
  const reading = await pageReading({ ...stores, quota: late }, false, now)(MEMBER);
  if (!reading.may) throw new Error('may not');
  expect((await reading.pay())?.code).toBe('overloaded');
});
