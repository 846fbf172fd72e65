// Answers one question: how are memberships kept in the control database.
// It refuses an event older than the one that it knows.

import type { UnixSeconds } from '../../chain/time.ts';
import type {
  Membership,
  MembershipEvent,
  MembershipStatus,
  MembershipStore,
  PlanName,
  RecordedMembership,
} from '../../ports/access/membership-store.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import { type Database, epoch, onlyRow, type Session } from './engine/database.ts';

/** More memberships than this are not listed in one answer. */
const MEMBERSHIPS_LISTED_MAX = 100_000;

/** A row as the statements select it; both engines give these types. */
type MembershipRow = {
  readonly membership_id: string;
  readonly plan: PlanName;
  readonly status: MembershipStatus;
  readonly created_at: UnixSeconds;
  readonly updated_at: UnixSeconds;
};

const COLUMNS = `membership_id, plan, status, ${epoch('created_at')}, ${epoch('updated_at')}`;

/** The memberships over the control database. */
export function membershipTable(database: Database, context: ControlContext): MembershipStore {
  const readings = controlReadings('memberships', 'The memberships', context);
  return {
    durable: database.durable,
    find: (membershipId) =>
      readings.ask(async () => {
        const [row] = await database.query<MembershipRow>(
          `select ${COLUMNS} from memberships where membership_id = $1`,
          [membershipId],
        );
        return row === undefined ? null : row;
      }),
    list: () =>
      readings.askList<Membership>(MEMBERSHIPS_LISTED_MAX, 'memberships', (limit) =>
        database.query<MembershipRow>(
          `select ${COLUMNS} from memberships
           order by memberships.created_at, membership_id limit $1`,
          [limit],
        ),
      ),
    record: (event) =>
      readings.ask(() => database.transaction((session) => recordMembership(session, event))),
  };
}

/** The membership of an id; whoever changes it meanwhile waits for the end of the transaction. */
export async function lockedMembership(
  session: Session,
  membershipId: string,
): Promise<Membership | null> {
  const [row] = await session.query<MembershipRow>(
    `select ${COLUMNS} from memberships where membership_id = $1 for update`,
    [membershipId],
  );
  return row === undefined ? null : row;
}

/**
 * Records an event inside a transaction of its caller. Of two events of one moment the one that
 * ends the membership holds, in whichever order they come.
 */
export async function recordMembership(
  session: Session,
  { membership_id, plan, status, at }: MembershipEvent,
): Promise<RecordedMembership> {
  const [applied] = await session.query<MembershipRow>(
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
  if (applied !== undefined) return { membership: applied, applied: true };
  const known = await session.query<MembershipRow>(
    `select ${COLUMNS} from memberships where membership_id = $1`,
    [membership_id],
  );
  return { membership: onlyRow(known), applied: false };
}
