// Each look-up asks the table, so that a session that was ended opens nothing at once, everywhere.

import { browserSession, type SessionStore } from '../../ports/access.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epoch,
  rowOrNull,
} from './engine/database.ts';

const FIND = `select s.id, s.membership_id, ${epoch('s.created_at')}, ${epoch('s.seen_at')},
    ${epoch('s.ended_at')} from sessions s where s.hash = any($1::bytea[])
      or (s.previous_hash = any($1::bytea[]) and s.renewed_at > to_timestamp($2)) limit 1`;

/** The sessions over the control database. */
export function sessionTable(database: Database, context: ControlContext): SessionStore {
  const readings = controlReadings('sessions', 'The sessions', context);
  const { ask } = readings;
  const run = (...[sql, params]: Parameters<Database['query']>) =>
    readings.run(() => database.query(sql, params));
  return {
    find: (secrets, renewedSince) =>
      ask(async () => {
        const hashes = secrets.map(({ hash }) => hash);
        const rows = await database.query(FIND, [hashes, renewedSince]);
        return browserSession.nullable().parse(rowOrNull(rows));
      }),
    add: ({ id, membership_id, secret, created_at }, dropBefore) =>
      run(
        `with gone as (
           delete from sessions where ended_at is not null or created_at < to_timestamp($6)
         ), noted as (
           insert into access_changes (at, membership_id, by_whom, change)
           values (to_timestamp($5), $2, 'member', 'signed_in')
         )
         insert into sessions (id, membership_id, hash, pepper, created_at, seen_at, renewed_at)
         values ($1, $2, $3, $4, to_timestamp($5), to_timestamp($5), to_timestamp($5))`,
        [id, membership_id, secret.hash, secret.pepper, created_at, dropBefore],
      ),
    renew: (id, { hash, pepper }, at, renewedBefore) =>
      ask(async () => {
        const [renewed] = await database.query<{ created_at: number }>(
          `update sessions s set previous_hash = s.hash, hash = $2, pepper = $3,
             renewed_at = to_timestamp($4)
           where s.id = $1 and s.ended_at is null and s.renewed_at <= to_timestamp($5)
           returning ${epoch('s.created_at')}`,
          [id, hash, pepper, at, renewedBefore],
        );
        return renewed === undefined ? null : renewed.created_at;
      }),
    seen: (id, at) => run('update sessions set seen_at = to_timestamp($2) where id = $1', [id, at]),
    end: (id, at) =>
      run(
        `with ended as (
           update sessions set ended_at = to_timestamp($2) where id = $1 and ended_at is null
           returning membership_id
         )
         insert into access_changes (at, membership_id, by_whom, change)
         select to_timestamp($2), membership_id, 'member', 'signed_out' from ended`,
        [id, at],
      ),
  };
}
