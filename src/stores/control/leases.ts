// The clocks of the processes do not matter: only the database tells the time.

import { z } from 'zod';
import type { Leases } from '../../ports/indexing.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  type Session,
} from './engine/database.ts';

/** No lease is longer. One that seems so was taken while the clock of the store was ahead. */
const LEASE_S_MAX = 3_600;

// An epoch is never less than the time, so that it goes on where this table was lost.
const TAKE = `
  insert into leases as l (name, holder, held_until, epoch, released)
  values ($1, $2, now() + make_interval(secs => $3::int), extract(epoch from now())::bigint, true)
  on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until,
    epoch = case when l.holder = excluded.holder then l.epoch
      else greatest(l.epoch + 1, excluded.epoch) end,
    released = case when l.holder = excluded.holder then l.released else l.holder = '' end
  where l.holder = excluded.holder or l.held_until < now()
    or l.held_until > now() + make_interval(secs => ${LEASE_S_MAX})
  returning epoch, released`;

const RELEASE = `
  update leases set holder = '', held_until = '-infinity' where name = $1 and holder = $2`;

const leaseRow = z.object({ epoch: z.coerce.number().int(), released: z.boolean() });

/** The leases over the control database; `holder` is this process. */
export function leaseTable(database: Database, holder: string, context: ControlContext): Leases {
  const { ask, run } = controlReadings('leases', 'The table of leases', context);
  return {
    take: (name, forS) =>
      ask(async () => {
        const { leaseMaxS = LEASE_S_MAX } = context;
        const heldS = Math.min(forS, leaseMaxS, LEASE_S_MAX);
        const [row] = await database.query(TAKE, [name, holder, Math.ceil(heldS)], 'often');
        return row === undefined ? null : leaseRow.parse(row);
      }),
    release: (name) => run(() => database.query(RELEASE, [name, holder])),
  };
}

/** The check that fences whoever lost a lease. @internal */
export const FENCE = 'select 1 from leases where name = $1 and epoch = $2::bigint for share';

/**
 * Whether a lease still is of an epoch. Until the transaction ends nobody takes it: whoever lost it
 * writes nothing more under it.
 */
export async function isLeaseHeld(session: Session, name: string, epoch: number): Promise<boolean> {
  return (await session.query(FENCE, [name, epoch], 'often')).length > 0;
}
