// A dispatch is queued in the transaction of its event: neither is without the other. The
// transaction holds the row of the integration until it ends, so that the numbers of dispatches
// have the order of the commits.

import { z } from 'zod';
import {
  type Claimed,
  claimed,
  DELIVERY_LIMITS,
  type Deliveries,
  type DeliveryEnd,
  DISPATCH_LIMITS,
  type NewDispatch,
  sealed,
} from '../../ports/integrations.ts';
import {
  type ControlContext,
  columnsOf,
  controlReadings,
  type Database,
  type Session,
} from './engine/database.ts';

/** Dispatches of one integration beyond this number are given up: they would come too late. */
const QUEUE_MAX = 1_000;

/** A dispatch to one membership, or to all that ask for its kind. */
type Appended = Omit<NewDispatch, 'membership_id'> & { readonly membership_id: string | null };

/**
 * Appends inside a transaction of its caller, at its end: until it ends, others who append for the
 * same integrations wait. What a membership was told under the same key is not told again.
 */
export async function appendDispatches(
  session: Session,
  dispatches: readonly Appended[],
): Promise<void> {
  for (const { key, message } of dispatches) {
    if (key.length > DISPATCH_LIMITS.keyChars) throw new Error('a key of a dispatch is too long');
    if (message.facts.length > DISPATCH_LIMITS.facts) throw new Error('too many facts');
    if (message.caveat.length > DISPATCH_LIMITS.caveatChars) throw new Error('too long a caveat');
    if (!/^\/(?![/\\])/.test(message.path)) throw new Error('a page of another service');
  }
  if (dispatches.length > DISPATCH_LIMITS.atOnce) throw new Error(`${dispatches.length} at once`);
  await session.query(LOCK, columnsOf(dispatches, ['membership_id']), 'often');
  const given = [
    ...columnsOf(dispatches, ['membership_id', 'kind', 'key', 'chain', 'address']),
    dispatches.map(({ message }) => JSON.stringify(message)),
  ];
  const rows = await session.query(APPEND, given, 'often');
  const ids = z.array(dispatchRow).parse(rows);
  if (ids.length > 0) await session.query(QUEUE, [ids.map(({ id }) => id), QUEUE_MAX]);
}

const dispatchRow = z.strictObject({ id: z.bigint() });

// In one order, so that no two who append wait for each other.
const LOCK = `
  select 1 from integrations i
  where i.membership_id = any($1::text[]) or array_position($1::text[], null) is not null
  order by i.id for update`;

// A dispatch for every membership is stored if some integration requests its kind.
const APPEND = `
  insert into dispatches (membership_id, kind, key, chain, address, message, appended_at)
  select d.membership_id, d.kind, d.key, d.chain, d.address, d.message::jsonb, control_now()
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    with ordinality as d (membership_id, kind, key, chain, address, message, n)
  where d.membership_id is not null
    or exists (select from integrations i where d.kind = any(i.kinds))
  order by d.n
  on conflict do nothing
  returning id`;

// A dispatch about no chain or no address is delivered: a rule that names some cannot exclude it.
const QUEUE = `
  with waiting as (
    select integration_id, count(*) as n from deliveries where dead_at is null
    group by integration_id
  ), places as (
    select i.id as integration_id, d.id as dispatch_id, coalesce(w.n, 0)
      + row_number() over (partition by i.id order by d.id) > $2::int as is_over
    from dispatches d
    join integrations i on (d.membership_id is null or i.membership_id = d.membership_id)
    join memberships m on m.membership_id = i.membership_id and m.status = 'active'
    left join waiting w on w.integration_id = i.id
    where d.id = any($1::bigint[]) and d.kind = any(i.kinds)
      and (i.chains is null or d.chain is null or d.chain = any(i.chains))
      and (i.addresses is null or d.address is null or d.address = any(i.addresses))
  )
  insert into deliveries (integration_id, dispatch_id, queued_at, dead_at, reason)
  select integration_id, dispatch_id, control_now(),
    case when is_over then control_now() end,
    case when is_over then 'More than ' || $2::int || ' dispatches were waiting.' end
  from places order by dispatch_id, integration_id`;

// A queue is held for a while, as by a lease: whoever was killed lets it go by itself. What was
// posted by then and not noted is posted again.

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

const heldRow = z.strictObject({ id: z.string() });
const claimedRow = claimed.extend({ sealed: sealed.shape.bytes, sealed_by: sealed.shape.by });

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
  const { ask, run } = controlReadings('deliveries', 'The queues of the chats', context);
  return {
    claim: (max, forS) =>
      ask(async () => {
        const held = await database.query(HOLD, [holder, forS, max], 'often');
        if (held.length === 0) return [];
        const ids = z.array(heldRow).parse(held);
        const rows = await database.query(NEXT, [ids.map(({ id }) => id)]);
        return z
          .array(claimedRow)
          .parse(rows)
          .map(({ sealed: bytes, sealed_by: by, ...row }) => ({ ...row, sealed: { bytes, by } }));
      }),
    settle: (one, end) =>
      run(() => database.transaction((session) => settleTry(session, holder, one, end))),
    tidy: () =>
      run(async () => {
        await database.query(GIVE_UP_OLD, [DELIVERY_LIMITS.waits_s]);
        await database.query(FORGET_DEAD, [DELIVERY_LIMITS.kept_s]);
        await database.query(FORGET_TOLD, [DELIVERY_LIMITS.kept_s]);
      }),
  };
}

// A worker that lost the queue meanwhile still knows which dispatches were delivered, and nothing
// else about it.
async function settleTry(
  session: Session,
  holder: string,
  { delivery, integration_id: id }: Claimed,
  end: DeliveryEnd,
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
