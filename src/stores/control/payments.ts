// Answers one question: how is what the payment platform said kept in the control database?
// A delivery and what it changes are one transaction, so that one that failed can be sent again.

import { DAY_S } from '../../chain/time.ts';
import { PLAN_NAMES } from '../../ports/access/membership-store.ts';
import type {
  MembershipChange,
  PaymentDelivery,
  PaymentEvent,
  PaymentOutcome,
  PaymentStore,
  PlanOf,
} from '../../ports/access/payment-store.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import { type Database, epoch, type Session } from './engine/database.ts';
import { lockedMembership, recordMembership } from './memberships.ts';
import { setSignInCode } from './sign-ins.ts';

/** Deliveries are kept so long, those that wait for a plan without end: 400 days. */
const KEPT_S = 400 * DAY_S;
const LISTED_MAX = 10_000;
/** So many held deliveries are looked at when a process starts. */
const HELD_MAX = 10_000;

const COLUMNS = `p.delivery_id, p.type, ${epoch('p.received_at')}, ${epoch('p.event_at')},
  p.membership_id, p.product_id, p.plan_id, p.status, p.outcome`;

/** What the payment platform said, over the control database. */
export function paymentTable(database: Database, context: ControlContext): PaymentStore {
  const { ask, askList } = controlReadings('payments', 'The payment events', context);
  return {
    record: (delivery, planOf) =>
      ask(() => database.transaction((session) => recorded(session, delivery, planOf))),
    applyHeld: (planOf) =>
      ask(() => database.transaction((session) => heldApplied(session, planOf))),
    list: (outcome) =>
      askList(LISTED_MAX, 'payment events', (limit) =>
        database.query<PaymentEvent>(
          `select ${COLUMNS} from payment_events p where $1::text is null or p.outcome = $1
           order by p.received_at desc, p.delivery_id limit ${limit}`,
          [outcome],
        ),
      ),
  };
}

async function recorded(
  session: Session,
  { delivery_id, type, received_at, asks, code, body }: PaymentDelivery,
  planOf: PlanOf,
): Promise<PaymentOutcome | 'repeated'> {
  const change = typeof asks === 'string' ? null : asks;
  const kept = await session.query(
    `insert into payment_events (delivery_id, type, received_at, event_at, membership_id,
       product_id, plan_id, status, outcome, body)
     values ($1, $2, to_timestamp($3), to_timestamp($4), $5, $6, $7, $8, $9, $10)
     on conflict (delivery_id) do nothing returning 1`,
    [
      delivery_id,
      type,
      received_at,
      ...(change === null
        ? [null, null, null, null, null, asks as string]
        : [
            change.at,
            change.membership_id,
            change.product_id,
            change.plan_id,
            change.status,
            'no_plan',
          ]),
      body,
    ],
  );
  if (kept.length === 0) return 'repeated';
  await session.query(
    `delete from payment_events where outcome <> 'no_plan' and received_at < to_timestamp($1)`,
    [received_at - KEPT_S],
  );
  if (typeof asks === 'string') return asks;
  if (code !== null) await setSignInCode(session, asks.membership_id, code, asks.at);
  return settled(session, delivery_id, asks, planOf);
}

async function settled(
  session: Session,
  deliveryId: string,
  change: MembershipChange,
  planOf: PlanOf,
): Promise<PaymentOutcome> {
  const outcome = await applied(session, change, planOf);
  await session.query('update payment_events set outcome = $2 where delivery_id = $1', [
    deliveryId,
    outcome,
  ]);
  return outcome;
}

// What opens a membership needs a plan. What ends one ends it whatever its product is called, and
// is recorded of one that is not known too: the event that opens it may come later and be older.
async function applied(
  session: Session,
  change: MembershipChange,
  planOf: PlanOf,
): Promise<PaymentOutcome> {
  const { membership_id, status, at } = change;
  const known = await lockedMembership(session, membership_id);
  const named = planOf(change);
  const [lowest] = PLAN_NAMES;
  const held = known === null ? lowest : known.plan;
  const plan = named === null && status === 'inactive' ? held : named;
  if (plan === null) return 'no_plan';
  const { applied } = await recordMembership(session, { membership_id, plan, status, at });
  return applied ? 'applied' : 'older';
}

type HeldRow = MembershipChange & { readonly delivery_id: string };

async function heldApplied(session: Session, planOf: PlanOf): Promise<number> {
  const held = await session.query<HeldRow>(
    `select p.delivery_id, p.membership_id, p.product_id, p.plan_id, p.status,
       ${epoch('p.event_at', 'at')}
     from payment_events p where p.outcome = 'no_plan'
     order by p.event_at limit ${HELD_MAX} for update`,
  );
  const outcomes: PaymentOutcome[] = [];
  for (const { delivery_id, ...change } of held) {
    outcomes.push(await settled(session, delivery_id, change, planOf));
  }
  return outcomes.filter((outcome) => outcome !== 'no_plan').length;
}
