import { describe, expect, test } from 'vitest';
import { REFUSALS } from '../contract/refusals.ts';
import { dailyAllowance, monthlyAllowance, noAllowance, quotaHeaders, quotaSpent } from './gate.ts';
import { PLANS } from './plan.ts';

const at = (iso: string) => Date.parse(iso) / 1_000;
const partner = { kind: 'scp', partner: 'acme', monthly_budget: 500 } as const;

describe('allowances', () => {
  test.each([
    ['2026-11-21T00:00:00Z', '2026-11-21', 86_400],
    ['2026-11-21T23:59:59Z', '2026-11-21', 1],
    ['2026-11-21T23:59:59.001Z', '2026-11-21', 1],
    ['2026-12-31T12:00:00Z', '2026-12-31', 43_200],
  ])('a day at %s is %s and begins anew in %i s', (iso, period, reset_s) => {
    expect(dailyAllowance('mem_1', PLANS.desk, at(iso))).toEqual({
      allowance: { subject: 'membership:mem_1', period, limit: 10_000 },
      reset_s,
    });
  });

  test.each([
    ['2026-11-30T23:59:50Z', '2026-11', 10],
    ['2026-12-01T00:00:00Z', '2026-12', 31 * 86_400],
    ['2028-02-01T00:00:00Z', '2028-02', 29 * 86_400],
  ])('a month at %s is %s and begins anew in %i s', (iso, period, reset_s) => {
    expect(monthlyAllowance('key_1', partner, at(iso))).toEqual({
      allowance: { subject: 'key:key_1', period, limit: 500 },
      reset_s,
    });
  });
});

describe('what is said of them', () => {
  test('the three headers are text, zeros where no membership is known', () => {
    expect(quotaHeaders(noAllowance(at('2026-11-21T23:00:00Z')))).toEqual({
      'X-RateLimit-Limit': '0',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '3600',
    });
  });

  test('a spent allowance is a 429 of the declared shape that says when to come back', () => {
    const refusal = quotaSpent(dailyAllowance('m', PLANS.analyst, at('2026-11-21T23:59:30Z')));
    expect(refusal.status).toBe(429);
    expect(REFUSALS.quota.body.parse(refusal.body)).toEqual({
      error: 'All 1000 requests of this UTC day are used. The allowance begins anew in 30 seconds.',
      reason: 'quota_exhausted',
      reset: 30,
    });
    expect(refusal.headers).toEqual({
      'X-RateLimit-Limit': '1000',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '30',
      'Retry-After': '30',
    });
    const monthly = quotaSpent(monthlyAllowance('k', partner, at('2026-11-30T23:59:30Z')));
    expect(monthly.body).toMatchObject({ error: expect.stringContaining('UTC month') });
  });
});
