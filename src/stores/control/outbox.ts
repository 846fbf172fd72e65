// Answers one question: how does what happened come into the queues of those who are told in chat?
// In the transaction of what happened: neither is without the other. Whoever queues for an
// integration holds its row until that ends, so that its numbers have the order of the commits.

import { DISPATCH_LIMITS, type NewDispatch } from '../../ports/chat/dispatches.ts';
import type { Session } from './engine/database.ts';

/** Of what waits for one integration the rest is given up: it would be told too late. */
const QUEUE_MAX = 1_000;

/** A dispatch to one membership, or to all that ask for its kind. */
type Appended = Omit<NewDispatch, 'membership_id'> & { readonly membership_id: string | null };

/**
 * Appends inside a transaction of its caller, at its end: until it ends, others who append for the
 * same integrations wait. What a membership was told under the same key is not told again.
 */
export async function appendDispatches(
  session: Session,
  dispatches: readonly [NewDispatch, ...NewDispatch[]],
): Promise<void> {
  await appendForAll(session, dispatches);
}

/** The same, also of what is for every membership. */
export async function appendForAll(
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
  const column = <T>(value: (dispatch: Appended) => T): T[] => dispatches.map(value);
  await session.query(LOCK, [column(({ membership_id }) => membership_id)]);
  const rows = await session.query<{ id: bigint }>(APPEND, [
    column(({ membership_id }) => membership_id),
    column(({ kind }) => kind),
    column(({ key }) => key),
    column(({ chain }) => chain),
    column(({ address }) => address),
    column(({ message }) => JSON.stringify(message)),
  ]);
  if (rows.length > 0) await session.query(QUEUE, [rows.map(({ id }) => id), QUEUE_MAX]);
}

// In one order, so that no two who append wait for each other.
const LOCK = `
  select 1 from integrations i
  where i.membership_id = any($1::text[]) or array_position($1::text[], null) is not null
  order by i.id for update`;

// What is for every membership is kept where some integration asks for its kind.
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

// What is about no chain, or about no address, is told: a rule that names some cannot leave it out.
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
