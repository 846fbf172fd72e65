// Answers one question: who holds a lease, by the control database and its own clock.
// The clocks of the processes do not matter: only the database tells the time.

import type { Leases } from '../../ports/indexing/leases.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import type { Database } from './engine/database.ts';

const TAKE = `
  insert into leases as l (name, holder, held_until)
  values ($1, $2, now() + make_interval(secs => $3::int))
  on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
  where l.holder = excluded.holder or l.held_until < now()
  returning holder`;

/** The leases over the control database; `holder` is this process. */
export function leaseTable(database: Database, holder: string, context: ControlContext): Leases {
  const { ask } = controlReadings('leases', 'The table of leases', context);
  return {
    take: (name, forS) =>
      ask(async () => {
        const rows = await database.query(TAKE, [name, holder, Math.ceil(forS)]);
        return rows.length > 0;
      }),
    release: (name) =>
      ask(async () => {
        await database.query('delete from leases where name = $1 and holder = $2', [name, holder]);
        return true as const;
      }),
  };
}
