// Answers one question: what did the payment platform say, and what became of it?
// Each delivery counts once. What it says of persons is not kept.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';
import type { SecretHash } from './key-store.ts';
import type { MembershipStatus, PlanName } from './membership-store.ts';

/** The name of this port in readings. */
export type PaymentsPort = 'payments';

/**
 * What became of a delivery. `older`: a newer event of the membership was known; `no_plan`: held,
 * because no setting names its product; `unknown`: of a type that asks nothing here; `unreadable`:
 * it asks something, and not so that it can be done.
 */
export const PAYMENT_OUTCOMES = ['applied', 'older', 'no_plan', 'unknown', 'unreadable'] as const;
export type PaymentOutcome = (typeof PAYMENT_OUTCOMES)[number];

/** What an event asks of a membership, at its own time. */
export type MembershipChange = {
  readonly membership_id: string;
  readonly product_id: string | null;
  readonly plan_id: string | null;
  readonly status: MembershipStatus;
  readonly at: UnixSeconds;
};

/** A delivery whose signature was right. */
export type PaymentDelivery = {
  /** The platform's id of it, the same when it is sent again. */
  readonly delivery_id: string;
  readonly type: string;
  readonly received_at: UnixSeconds;
  readonly asks: MembershipChange | 'unknown' | 'unreadable';
  /** What the membership it is about signs in with; `null`: it tells none. */
  readonly code: SecretHash | null;
  /** Without what it says of persons. */
  readonly body: string;
};

/** A kept delivery. */
export type PaymentEvent = {
  readonly delivery_id: string;
  readonly type: string;
  readonly received_at: UnixSeconds;
  readonly event_at: UnixSeconds | null;
  readonly membership_id: string | null;
  readonly product_id: string | null;
  readonly plan_id: string | null;
  readonly status: MembershipStatus | null;
  readonly outcome: PaymentOutcome;
};

/** The plan of a platform's plan or product; `null` where no setting names either. */
export type PlanOf = (sold: Pick<MembershipChange, 'plan_id' | 'product_id'>) => PlanName | null;

/** What the payment platform said. */
export type PaymentStore = {
  /** Keeps a delivery and does what it asks, both or neither; one that was kept changes nothing. */
  readonly record: (
    delivery: PaymentDelivery,
    planOf: PlanOf,
  ) => Promise<Reading<PaymentOutcome | 'repeated', PaymentsPort>>;
  /** Does what held deliveries ask whose product has a plan by now, and says how many did. */
  readonly applyHeld: (planOf: PlanOf) => Promise<Reading<number, PaymentsPort>>;
  /** The deliveries, newest first; of one outcome, or of all (`null`). */
  readonly list: (
    outcome: PaymentOutcome | null,
  ) => Promise<Partly<readonly PaymentEvent[], PaymentsPort>>;
};
