// Answers one question: how is it kept who changed which key?

import type { AccessChange, AccessLog } from '../../ports/access/access-log.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import { type Database, epoch, type Session } from './engine/database.ts';

/** So many changes of a membership are shown, the newest. */
const LISTED_MAX = 100;

/** A change to note. */
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
      askList(LISTED_MAX, 'changes', (limit) =>
        database.query<AccessChange>(
          `select a.id::float8 as id, ${epoch('a.at')}, a.by_whom, a.change, a.subject
           from access_changes a where a.membership_id = $1 order by a.id desc limit ${limit}`,
          [membershipId],
        ),
      ),
  };
}
