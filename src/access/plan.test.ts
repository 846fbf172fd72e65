import { describe, expect, test } from 'vitest';
import { PLAN_NAMES } from '../ports/access.ts';
import { isActive, isMembershipId, mintMembershipId, PLANS, planReaches } from './plan.ts';

describe('plans', () => {
  test('hold what the pricing decided', () => {
    const held = PLAN_NAMES.map((name) => {
      const plan = PLANS[name];
      return [
        plan.name,
        plan.daily_requests,
        plan.active_keys,
        plan.per_minute_ceiling,
        plan.bulk_screen,
        plan.screening_records,
        plan.watched_addresses,
      ];
    });
    expect(held).toEqual([
      ['analyst', 1_000, 5, 60, false, 1_000, 100],
      ['desk', 10_000, 25, 300, true, 20_000, 2_000],
      ['enterprise', 100_000, 250, 1_200, true, 200_000, 20_000],
    ]);
  });

  test('a plan opens what asks for it or for a lower one', () => {
    const reached = PLAN_NAMES.map((plan) => PLAN_NAMES.map((needed) => planReaches(plan, needed)));
    expect(reached).toEqual([
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ]);
  });
});

describe('memberships', () => {
  test('a minted id is one, and a text that could break a page or a log is not', () => {
    expect(isMembershipId(mintMembershipId())).toBe(true);
    expect(isMembershipId('mem_8hZ-2')).toBe(true);
    for (const text of ['', 'ab', '_ab', 'a b', 'a\nb', '<b>', 'é23', 'x'.repeat(101)]) {
      expect(isMembershipId(text)).toBe(false);
    }
  });

  test('only an active one opens anything', () => {
    const facts = { membership_id: 'mem_1', plan: 'desk', created_at: 1, updated_at: 1 } as const;
    expect(isActive({ ...facts, status: 'active' })).toBe(true);
    expect(isActive({ ...facts, status: 'inactive' })).toBe(false);
  });
});
