// Answers one question: how is it kept up to which flag the chats were told?

import type { FlagsTold } from '../../ports/chat/flags-told.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import { type Database, onlyRow } from './engine/database.ts';
import { appendForAll } from './outbox.ts';

// One that is there is updated to itself, so that the row is given either way.
const PLACE = `
  insert into flags_dispatched as f (seq) values ($1::bigint)
  on conflict (one) do update set seq = f.seq
  returning seq::float8 as seq`;
const MOVE = 'update flags_dispatched set seq = $2::bigint where seq = $1::bigint returning seq';

/** The place over the control database. */
export function flagsToldTable(database: Database, context: ControlContext): FlagsTold {
  const { ask } = controlReadings('flags_told', 'What chats were told of flags', context);
  return {
    place: (newest) =>
      ask(async () => onlyRow(await database.query<{ seq: number }>(PLACE, [newest])).seq),
    tell: ({ after, up_to, dispatches }) =>
      ask(() =>
        database.transaction(async (session) => {
          const moved = await session.query(MOVE, [after, up_to]);
          if (moved.length === 0) return false;
          const all = dispatches.map((dispatch) =>
            Object.assign({ membership_id: null, kind: 'flag' as const }, dispatch),
          );
          if (all.length > 0) await appendForAll(session, all);
          return true;
        }),
      ),
  };
}
