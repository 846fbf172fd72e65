// A membership takes no payment event that is older than its last one.

import { z } from 'zod';
import { DAY_S } from '../../chain/time.ts';
import {
  type AccessChange,
  type AccessLog,
  accessChange,
  type Membership,
  type MembershipChange,
  type MembershipEvent,
  type MembershipStore,
  membership,
  membershipChange,
  type PaymentDelivery,
  type PaymentOutcome,
  type PaymentStore,
  PLAN_NAMES,
  type PlanOf,
  paymentEvent,
  type RecordedMembership,
} from '../../ports/access.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epoch,
  onlyRow,
  rowOrNull,
  type Session,
} from './engine/database.ts';
import { setSignInCode } from './sessions.ts';

/** More memberships than this are not listed in one answer. */
const MEMBERSHIPS_LISTED_MAX = 100_000;

const COLUMNS = `membership_id, plan, status, ${epoch('created_at')}, ${epoch('updated_at')}`;

/** The memberships over the control database. */
export function membershipTable(database: Database, context: ControlContext): MembershipStore {
  const readings = controlReadings('memberships', 'The memberships', context);
  return {
    durable: database.durable,
    find: (membershipId) =>
      readings.ask(async () => {
        const sql = `select ${COLUMNS} from memberships where membership_id = $1`;
        const rows = await database.query(sql, [membershipId]);
        return membership.nullable().parse(rowOrNull(rows));
      }),
    list: () =>
      readings.askList(MEMBERSHIPS_LISTED_MAX, 'memberships', async (limit) => {
        const rows = await database.query(
          `select ${COLUMNS} from memberships
           order by memberships.created_at, membership_id limit $1`,
          [limit],
        );
        return z.array(membership).parse(rows);
      }),
    record: (event) =>
      readings.ask(() => database.transaction((session) => recordMembership(session, event))),
  };
}

/** The membership of an id; whoever changes it meanwhile waits for the end of the transaction. */
export async function lockMembership(
  session: Session,
  membershipId: string,
): Promise<Membership | null> {
  const sql = `select ${COLUMNS} from memberships where membership_id = $1 for update`;
  return membership.nullable().parse(rowOrNull(await session.query(sql, [membershipId])));
}

/**
 * Records an event inside a transaction of its caller. Of two events of one moment the one that
 * ends the membership holds, in whichever order they come.
 */
export async function recordMembership(
  session: Session,
  { membership_id, plan, status, at }: MembershipEvent,
): Promise<RecordedMembership> {
  const [applied] = await session.query(
    `insert into memberships as m (membership_id, plan, status, created_at, updated_at)
     values ($1, $2, $3, to_timestamp($4), to_timestamp($4))
     on conflict (membership_id) do update set
       plan = excluded.plan, status = excluded.status, updated_at = excluded.updated_at
     where m.updated_at < excluded.updated_at
       or (m.updated_at = excluded.updated_at
         and (m.status = 'active' or excluded.status = 'inactive'))
     returning ${COLUMNS}`,
    [membership_id, plan, status, at],
  );
  if (applied !== undefined) return { membership: membership.parse(applied), applied: true };
  const known = await session.query(`select ${COLUMNS} from memberships where membership_id = $1`, [
    membership_id,
  ]);
  return { membership: membership.parse(onlyRow(known)), applied: false };
}

// A delivery and what it changes are one transaction, so that one that failed can be sent again.

/** Deliveries are kept so long, those that wait for a plan without end: 400 days. */
const KEPT_S = 400 * DAY_S;
const LISTED_MAX = 10_000;
/** So many held deliveries are looked at when a process starts. */
const HELD_MAX = 10_000;

const PAYMENT_COLUMNS = `p.delivery_id, p.type, ${epoch('p.received_at')}, ${epoch('p.event_at')},
  p.membership_id, p.product_id, p.plan_id, p.status, p.outcome`;

const heldRow = membershipChange.extend({ delivery_id: z.string() });

/** Stores the payment platform's events in the control database. */
export function paymentTable(database: Database, context: ControlContext): PaymentStore {
  const { ask, askList } = controlReadings('payments', 'The payment events', context);
  return {
    record: (delivery, planOf) =>
      ask(() => database.transaction((session) => recordDelivery(session, delivery, planOf))),
    applyHeld: (planOf) =>
      ask(() =>
        database.transaction(async (session) => {
          const held = await session.query(
            `select p.delivery_id, p.membership_id, p.product_id, p.plan_id, p.status,
               ${epoch('p.event_at', 'at')}
             from payment_events p where p.outcome = 'no_plan'
             order by p.event_at limit ${HELD_MAX} for update`,
          );
          const outcomes: PaymentOutcome[] = [];
          for (const { delivery_id, ...change } of z.array(heldRow).parse(held)) {
            outcomes.push(await settleDelivery(session, delivery_id, change, planOf));
          }
          return outcomes.filter((outcome) => outcome !== 'no_plan').length;
        }),
      ),
    list: (outcome) =>
      askList(LISTED_MAX, 'payment events', async (limit) => {
        const rows = await database.query(
          `select ${PAYMENT_COLUMNS} from payment_events p where $1::text is null or p.outcome = $1
           order by p.arrival desc limit ${limit}`,
          [outcome],
        );
        return z.array(paymentEvent).parse(rows);
      }),
  };
}

async function recordDelivery(
  session: Session,
  { delivery_id, type, received_at, asks, code, body }: PaymentDelivery,
  planOf: PlanOf,
): Promise<PaymentOutcome | 'repeated'> {
  const kept = await session.query(
    `insert into payment_events (delivery_id, type, received_at, event_at, membership_id,
       product_id, plan_id, status, outcome, body)
     values ($1, $2, to_timestamp($3), to_timestamp($4), $5, $6, $7, $8, $9, $10)
     on conflict (delivery_id) do nothing returning 1`,
    [
      delivery_id,
      type,
      received_at,
      ...(typeof asks === 'string'
        ? [null, null, null, null, null, asks]
        : [asks.at, asks.membership_id, asks.product_id, asks.plan_id, asks.status, 'no_plan']),
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
  return settleDelivery(session, delivery_id, asks, planOf);
}

async function settleDelivery(
  session: Session,
  deliveryId: string,
  change: MembershipChange,
  planOf: PlanOf,
): Promise<PaymentOutcome> {
  const outcome = await applyChange(session, change, planOf);
  await session.query('update payment_events set outcome = $2 where delivery_id = $1', [
    deliveryId,
    outcome,
  ]);
  return outcome;
}

// An event that opens a membership needs a plan. An event that ends one applies whatever its
// product is called, and is recorded for an unknown membership too: the opening event may come
// later and be older.
async function applyChange(
  session: Session,
  change: MembershipChange,
  planOf: PlanOf,
): Promise<PaymentOutcome> {
  const { membership_id, status, at } = change;
  const known = await lockMembership(session, membership_id);
  const named = planOf(change);
  const [lowest] = PLAN_NAMES;
  const held = known === null ? lowest : known.plan;
  const plan = named === null && status === 'inactive' ? held : named;
  if (plan === null) return 'no_plan';
  const { applied } = await recordMembership(session, { membership_id, plan, status, at });
  return applied ? 'applied' : 'older';
}

/** So many changes of a membership are shown, the newest. */
const CHANGES_MAX = 100;

type NewChange = Omit<AccessChange, 'id'> & { readonly membership_id: string | null };

/** Notes a change inside the transaction that makes it, so that neither is without the other. */
export async function noteChange(
  session: Pick<Session, 'query'>,
  { at, membership_id, by_whom, change, subject }: NewChange,
): Promise<void> {
  await session.query(
    `insert into access_changes (at, membership_id, by_whom, change, subject)
     values (to_timestamp($1), $2, $3, $4, $5)`,
    [at, membership_id, by_whom, change, subject],
  );
}

/** The log over the control database. */
export function accessLog(database: Database, context: ControlContext): AccessLog {
  const { askList } = controlReadings('access_log', 'The log of changes', context);
  return {
    list: (membershipId) =>
      askList(CHANGES_MAX, 'changes', async (limit) => {
        const rows = await database.query(
          `select a.id::float8 as id, ${epoch('a.at')}, a.by_whom, a.change, a.subject
           from access_changes a where a.membership_id = $1 order by a.id desc limit ${limit}`,
          [membershipId],
        );
        return z.array(accessChange).parse(rows);
      }),
  };
}
