// Answers one question: how are signed-in browsers kept in the control database.
// Each look-up asks the table, so that a session that was ended opens nothing at once, everywhere.

import type { Session, SessionStore } from '../../ports/access/session-store.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import { type Database, epoch } from './engine/database.ts';

const FIND = `select s.id, s.membership_id, ${epoch('s.created_at')}, ${epoch('s.seen_at')},
    ${epoch('s.ended_at')} from sessions s where s.hash = any($1::bytea[]) limit 1`;

/** The sessions over the control database. */
export function sessionTable(database: Database, context: ControlContext): SessionStore {
  const { ask } = controlReadings('sessions', 'The sessions', context);
  const done = (sql: string, params: (string | number | Uint8Array)[]) =>
    ask(async () => {
      await database.query(sql, params);
      return true as const;
    });
  return {
    find: (secrets) =>
      ask(async () => {
        const [found] = await database.query<Session>(FIND, [secrets.map(({ hash }) => hash)]);
        return found === undefined ? null : found;
      }),
    add: ({ id, membership_id, secret, created_at }, dropBefore) =>
      done(
        `with gone as (
           delete from sessions where ended_at is not null or created_at < to_timestamp($6)
         )
         insert into sessions (id, membership_id, hash, pepper, created_at, seen_at)
         values ($1, $2, $3, $4, to_timestamp($5), to_timestamp($5))`,
        [id, membership_id, secret.hash, secret.pepper, created_at, dropBefore],
      ),
    seen: (id, at) =>
      done('update sessions set seen_at = to_timestamp($2) where id = $1', [id, at]),
    end: (id, at) =>
      done('update sessions set ended_at = to_timestamp($2) where id = $1', [id, at]),
  };
}
