// Answers one question: how is work that outlasts its request kept in the control database.
// The database tells the time, so that any process can see that another one is gone.

import { DAY_S } from '../../chain/time.ts';
import type { OwnWork, Work, WorkStore } from '../../ports/work/work-store.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import { type Database, epoch, type Session } from './engine/database.ts';

/** Whoever works says so at least this often, in seconds; three times as long unheard is lost. */
export const WORK_HEARD_EACH_S = 10;
const LOST_AFTER_S = 3 * WORK_HEARD_EACH_S;
/** What work came to is kept so long after it began: 7 days. */
const KEPT_S = 7 * DAY_S;

const COLUMNS = `w.id, w.state, w.result, ${epoch('w.began_at')}, ${epoch('w.ended_at')}`;
const OWN = 'w.id = $1 and w.route = $2 and w.owner = $3';
const SETTLE = `update long_work set state = 'lost', ended_at = heard_at
  where state = 'running' and heard_at < now() - make_interval(secs => ${LOST_AFTER_S})`;
const DROP = `delete from long_work where began_at < now() - make_interval(secs => ${KEPT_S})
  and state <> 'running'`;

/** The work over the control database. */
export function workTable(database: Database, context: ControlContext): WorkStore {
  const { ask } = controlReadings('long_work', 'The work under way', context);
  const own = ({ id, route, owner }: OwnWork) => [id, route, owner];
  const found = async (work: OwnWork): Promise<Work | null> => {
    await database.query(SETTLE);
    const sql = `select ${COLUMNS} from long_work w where ${OWN}`;
    const [row] = await database.query<Work>(sql, own(work));
    return row === undefined ? null : row;
  };
  return {
    begin: (work, bounds) =>
      ask(() => database.transaction((session) => begun(session, work, bounds))),
    goesOn: (id) =>
      ask(async () => {
        const rows = await database.query(
          `update long_work set heard_at = now() where id = $1 and state = 'running' returning id`,
          [id],
        );
        return rows.length > 0;
      }),
    end: (id, state, result) =>
      ask(async () => {
        await database.query(
          `update long_work set state = $2, result = $3, ended_at = now()
           where id = $1 and state = 'running'`,
          [id, state, result],
        );
        return true as const;
      }),
    find: (work) => ask(() => found(work)),
    cancel: (work) =>
      ask(async () => {
        await database.query(SETTLE);
        await database.query(
          `update long_work w set state = 'cancelled', ended_at = now()
           where ${OWN} and w.state = 'running'`,
          own(work),
        );
        return found(work);
      }),
  };
}

type Bounds = Parameters<WorkStore['begin']>[1];

// One at a time for each route, so that those who begin together do not pass the bound together.
async function begun(session: Session, work: OwnWork, bounds: Bounds): Promise<Work | null> {
  const { id, route, owner } = work;
  await session.query('select pg_advisory_xact_lock(hashtext($1))', [`long_work ${route}`]);
  await session.query(SETTLE);
  await session.query(DROP);
  const [row] = await session.query<Work>(
    `insert into long_work as w (id, route, owner, state, began_at, heard_at)
     select $1, $2, $3, 'running', now(), now()
     where (select count(*) from long_work where route = $2 and state = 'running') < $4::int
       and (select count(*) from long_work where route = $2 and owner = $3) < $5::int
     returning ${COLUMNS}`,
    [id, route, owner, bounds.runningMax, bounds.keptMax],
  );
  return row === undefined ? null : row;
}
