// Answers one question: which memberships exist, on which plan, and are they active.
// It knows nothing of keys, quota or payment; a miss means that no such membership was recorded.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';

/** The name of this port in readings. */
type MembershipsPort = 'memberships';

/** The plans, lowest first. What each holds is in `access/plan.ts`. */
export const PLAN_NAMES = ['analyst', 'desk', 'enterprise'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

export const MEMBERSHIP_STATUSES = ['active', 'inactive'] as const;
export type MembershipStatus = (typeof MEMBERSHIP_STATUSES)[number];

/** A membership. `updated_at` is the time of the newest event that is known about it. */
export type Membership = {
  readonly membership_id: string;
  readonly plan: PlanName;
  readonly status: MembershipStatus;
  readonly created_at: UnixSeconds;
  readonly updated_at: UnixSeconds;
};

/** What an event says of a membership, at its own time `at`. */
export type MembershipEvent = {
  readonly membership_id: string;
  readonly plan: PlanName;
  readonly status: MembershipStatus;
  readonly at: UnixSeconds;
};

/** The membership after an event; `applied` is false where a newer event was known already. */
export type RecordedMembership = { readonly membership: Membership; readonly applied: boolean };

/** The memberships. */
export type MembershipStore = {
  /** Whether what is stored survives a restart. */
  readonly durable: boolean;
  readonly find: (membershipId: string) => Promise<Reading<Membership | null, MembershipsPort>>;
  /** All memberships, oldest first. */
  readonly list: () => Promise<Partly<readonly Membership[], MembershipsPort>>;
  /** Records an event. Events may come in any order: the newest by its own time wins. */
  readonly record: (
    event: MembershipEvent,
  ) => Promise<Reading<RecordedMembership, MembershipsPort>>;
};
