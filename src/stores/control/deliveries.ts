// Answers one question: which queue does this process deliver from, by the database's own clock?
// A queue is held for a while, as by a lease: whoever was killed lets it go by itself. What was
// posted by then and not noted is posted again.

import {
  type Claimed,
  DELIVERY_LIMITS,
  type Deliveries,
  type Settled,
} from '../../ports/chat/deliveries.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import type { Database, Session } from './engine/database.ts';

const HOLD = `
  update integrations i set held_by = $1, held_until = control_now()
    + make_interval(secs => $2::int)
  where i.id in (
    select f.id from integrations f join memberships m using (membership_id)
    where f.held_until < control_now() and f.due_at <= control_now() and m.status = 'active'
      and exists (select from deliveries q where q.integration_id = f.id and q.dead_at is null)
    order by f.due_at, f.id limit $3 for update of f skip locked
  ) returning i.id`;

// A statement of its own, so that it sees what was there when the rows were held.
const NEXT = `
  select q.id::float8 as delivery, i.id as integration_id, i.platform, i.sealed, i.sealed_by,
    i.attempts, d.id::float8 as dispatch, d.message
  from integrations i
  cross join lateral (
    select * from deliveries w where w.integration_id = i.id and w.dead_at is null
    order by w.id limit 1
  ) q
  join dispatches d on d.id = q.dispatch_id
  where i.id = any($1::text[])`;

type Row = Omit<Claimed, 'sealed'> & { readonly sealed: Uint8Array; readonly sealed_by: string };

const FREE = `held_by = '', held_until = '-infinity',
  due_at = control_now() + make_interval(secs => $3::float8)`;

const GIVE_UP_OLD = `
  update deliveries q set dead_at = control_now(), reason = 'Not delivered within 24 hours: '
    || coalesce(i.fault, 'the integration was not asked') || '.'
  from integrations i
  where i.id = q.integration_id and q.dead_at is null
    and q.queued_at < control_now() - make_interval(secs => $1::int)`;
const FORGET_DEAD = `
  delete from deliveries where dead_at < control_now() - make_interval(secs => $1::int)`;
const FORGET_TOLD = `
  delete from dispatches where id in (
    select d.id from dispatches d
    where d.appended_at < control_now() - make_interval(secs => $1::int)
      and not exists (select from deliveries q where q.dispatch_id = d.id)
    order by d.appended_at limit 10000)`;

/** The queues over the control database; `holder` is this process. */
export function deliveryTable(
  database: Database,
  holder: string,
  context: ControlContext,
): Deliveries {
  const { ask } = controlReadings('deliveries', 'The queues of the chats', context);
  return {
    claim: (max, forS) =>
      ask(async () => {
        const held = await database.query<{ id: string }>(HOLD, [holder, forS, max], 'often');
        if (held.length === 0) return [];
        const rows = await database.query<Row>(NEXT, [held.map(({ id }) => id)]);
        return rows.map(claimedOf);
      }),
    settle: (claimed, end) =>
      ask(() =>
        database.transaction(async (session) => {
          await settled(session, holder, claimed, end);
          return true as const;
        }),
      ),
    tidy: () =>
      ask(async () => {
        await database.query(GIVE_UP_OLD, [DELIVERY_LIMITS.waits_s]);
        await database.query(FORGET_DEAD, [DELIVERY_LIMITS.kept_s]);
        await database.query(FORGET_TOLD, [DELIVERY_LIMITS.kept_s]);
        return true as const;
      }),
  };
}

function claimedOf({ sealed, sealed_by, ...row }: Row): Claimed {
  return Object.assign(row, { sealed: { bytes: sealed, by: sealed_by } });
}

// Whoever lost the queue meanwhile still knows what was delivered, and nothing else of it.
async function settled(
  session: Session,
  holder: string,
  { delivery, integration_id: id }: Claimed,
  end: Settled,
): Promise<void> {
  const own = [id, holder, end.after_s];
  const of = 'where id = $1 and held_by = $2';
  if (end.outcome === 'delivered') {
    await session.query(
      `update integrations set ${FREE}, attempts = 0, fault = null, broken_at = null,
         delivered_at = control_now() ${of}`,
      own,
    );
    await session.query('delete from deliveries where id = $1', [delivery]);
  } else if (end.outcome === 'given_up') {
    await session.query(`update integrations set ${FREE}, attempts = 0 ${of}`, own);
    await session.query(
      `update deliveries set dead_at = control_now(), reason = $2
       where id = $1 and dead_at is null`,
      [delivery, end.fault],
    );
  } else if (end.outcome === 'moved') {
    await session.query(`update integrations set ${FREE}, sealed = $4, sealed_by = $5 ${of}`, [
      ...own,
      end.sealed.bytes,
      end.sealed.by,
    ]);
  } else {
    await session.query(
      `update integrations set ${FREE}, attempts = attempts + 1, fault = $4,
         broken_at = case when $5 then coalesce(broken_at, control_now()) else broken_at end ${of}`,
      [...own, end.fault, end.outcome === 'broken'],
    );
  }
}
