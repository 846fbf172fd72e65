// Answers one question: which allowance does a request use, and what is said of it.
// It counts nothing: the counters are the quota store's.

import {
  DAY_S,
  formatIsoDate,
  nextUtcMidnight,
  nextUtcMonth,
  type UnixSeconds,
} from '../chain/time.ts';
import { Refusal } from '../contract/refusals.ts';
import type { KeyHolder } from '../ports/access/key-store.ts';
import type { Allowance } from '../ports/access/quota-store.ts';
import type { Plan } from './plan.ts';

/** An allowance with the whole seconds until it begins anew. */
export type DatedAllowance = { readonly allowance: Allowance; readonly reset_s: number };

/** The figures of the three quota headers. */
export type QuotaFigures = {
  readonly limit: number;
  readonly remaining: number;
  readonly reset_s: number;
};

/** A store that did not answer is worth asking again after so long. */
export const STORE_RETRY_AFTER_S = 5;
const MONTH_CHARS = 'YYYY-MM'.length;

// The day is asked for with each request and written once a day.
let today = { number: Number.NaN, text: '' };

function dayOf(now: UnixSeconds): string {
  const number = Math.floor(now / DAY_S);
  if (today.number !== number) today = { number, text: formatIsoDate(now) };
  return today.text;
}

/** A membership's allowance of the UTC day. All its keys share it. */
export function dailyAllowance(membershipId: string, plan: Plan, now: UnixSeconds): DatedAllowance {
  return {
    allowance: {
      subject: `membership:${membershipId}`,
      period: dayOf(now),
      limit: plan.daily_requests,
    },
    reset_s: secondsUntil(nextUtcMidnight(now), now),
  };
}

/** A partner key's budget of the UTC month. Each key has its own. */
export function monthlyAllowance(
  keyId: string,
  holder: Extract<KeyHolder, { kind: 'scp' }>,
  now: UnixSeconds,
): DatedAllowance {
  return {
    allowance: {
      subject: `key:${keyId}`,
      period: dayOf(now).slice(0, MONTH_CHARS),
      limit: holder.monthly_budget,
    },
    reset_s: secondsUntil(nextUtcMonth(now), now),
  };
}

function secondsUntil(moment: UnixSeconds, now: UnixSeconds): number {
  return Math.ceil(moment - now);
}

/** The figures where no membership is known: nothing is allowed until midnight UTC. */
export function noAllowance(now: UnixSeconds): QuotaFigures {
  return { limit: 0, remaining: 0, reset_s: secondsUntil(nextUtcMidnight(now), now) };
}

/** The three headers that every hosted response carries. */
export function quotaHeaders({ limit, remaining, reset_s }: QuotaFigures) {
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(reset_s),
  };
}

/** The refusal of a request whose allowance is spent. */
export function quotaSpent({ allowance, reset_s }: DatedAllowance): Refusal {
  const { limit, period } = allowance;
  const span = period.length === MONTH_CHARS ? 'month' : 'day';
  const error =
    `All ${limit} requests of this UTC ${span} are used. ` +
    `The allowance begins anew in ${reset_s} seconds.`;
  return new Refusal(
    'quota',
    { error, reason: 'quota_exhausted', reset: reset_s },
    { ...quotaHeaders({ limit, remaining: 0, reset_s }), 'Retry-After': String(reset_s) },
  );
}
