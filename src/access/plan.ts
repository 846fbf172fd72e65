// The only table of plans: quota, key limits, access to routes and the pricing page read it.

import { map } from '../evidence/reading.ts';
import {
  type Membership,
  type MembershipStore,
  PLAN_NAMES,
  type PlanName,
} from '../ports/access.ts';
import { mintId } from './secret.ts';

/** A plan. All but `per_minute_ceiling` is enforced. */
export type Plan = {
  readonly name: PlanName;
  /** As the pricing page writes it. */
  readonly title: string;
  /** Requests in a UTC day, for each membership. */
  readonly daily_requests: number;
  readonly active_keys: number;
  /** Requests in a UTC day of each publishable key, beside those of the membership. */
  readonly publishable_requests: number;
  /** Published as fair use, not enforced. */
  readonly per_minute_ceiling: number;
  readonly bulk_screen: boolean;
  /** Records of screens that are kept at once. */
  readonly screening_records: number;
  readonly watched_addresses: number;
};

/** The plans by name, lowest first. */
export const PLANS: { readonly [name in PlanName]: Plan } = {
  analyst: {
    name: 'analyst',
    title: 'Analyst',
    daily_requests: 1_000,
    active_keys: 5,
    publishable_requests: 100,
    per_minute_ceiling: 60,
    bulk_screen: false,
    screening_records: 1_000,
    watched_addresses: 100,
  },
  desk: {
    name: 'desk',
    title: 'Desk',
    daily_requests: 10_000,
    active_keys: 25,
    publishable_requests: 1_000,
    per_minute_ceiling: 300,
    bulk_screen: true,
    screening_records: 20_000,
    watched_addresses: 2_000,
  },
  enterprise: {
    name: 'enterprise',
    title: 'Enterprise',
    daily_requests: 100_000,
    active_keys: 250,
    publishable_requests: 10_000,
    per_minute_ceiling: 1_200,
    bulk_screen: true,
    screening_records: 200_000,
    watched_addresses: 20_000,
  },
};

/** Whether a plan opens what a route asks for at least. */
export function planReaches(plan: PlanName, needed: PlanName): boolean {
  return PLAN_NAMES.indexOf(plan) >= PLAN_NAMES.indexOf(needed);
}

// Payment decides whether a membership is active; here it is only read.

const MEMBERSHIP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{2,99}$/;

/** Whether a text can be a membership's id, whoever made it: 3 to 100 letters, digits, `_`, `-`. */
export function isMembershipId(text: string): boolean {
  return MEMBERSHIP_ID.test(text);
}

/** An id for a membership that the operator adds by hand. */
export function mintMembershipId(): string {
  return mintId('mem');
}

/** Whether the membership opens anything. */
export function isActive(membership: Membership): boolean {
  return membership.status === 'active';
}

/** Reads the plan of a membership that has a session. */
export function planReader(memberships: Pick<MembershipStore, 'find'>) {
  return async (membershipId: string) =>
    map(await memberships.find(membershipId), (membership) => {
      if (membership === null) throw new Error('a session of a membership that is not there');
      return membership.plan;
    });
}
