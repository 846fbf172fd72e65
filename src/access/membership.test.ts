import { describe, expect, test } from 'vitest';
import { isActive, isMembershipId, mintMembershipId } from './plan.ts';

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
