// Each look-up asks the table, so that a session that was ended opens nothing at once, everywhere.

import {
  browserSession,
  type SecretHash,
  type SessionStore,
  type SignInCode,
  type SignInStore,
} from '../../ports/access.ts';
import { sealed } from '../../ports/integrations.ts';
import type { UnshownKeyStore } from '../../ports/unshown-keys.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epoch,
  onlyRow,
  rowOrNull,
  type Session,
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

/** The keys that no page has shown yet, over the control database. */
export function unshownKeyTable(database: Database, context: ControlContext): UnshownKeyStore {
  const { ask, run } = controlReadings('sessions', 'The sessions', context);
  return {
    keep: ({ id, session_id, sealed: { bytes, by }, at, expires_at }) =>
      run(() =>
        database.query(
          `with gone as (delete from unshown_keys where expires_at <= to_timestamp($5))
           insert into unshown_keys (id, session_id, sealed, sealed_by, expires_at)
           values ($1, $2, $3, $4, to_timestamp($6))`,
          [id, session_id, bytes, by, at, expires_at],
        ),
      ),
    take: (id, sessionId, at) =>
      ask(async () =>
        sealed.nullable().parse(
          rowOrNull(
            await database.query(
              `delete from unshown_keys where id = $1 and session_id = $2
                 and expires_at > to_timestamp($3) returning sealed as bytes, sealed_by as by`,
              [id, sessionId, at],
            ),
          ),
        ),
      ),
  };
}

// Sign-in data: counted attempts, links that open once, and codes.

// One statement counts and tells, so that those who try together are counted apart.
const COUNT = `
  insert into sign_in_tries as t (bucket, began_at, tries)
  values ($1, to_timestamp($3), 1), ($2, to_timestamp($3), 1)
  on conflict (bucket) do update set
    tries = case when t.began_at <= to_timestamp($4) then 1 else t.tries + 1 end,
    began_at = case when t.began_at <= to_timestamp($4) then excluded.began_at else t.began_at end
  returning t.bucket, t.tries`;

const USE_LINK = `
  with gone as (delete from sign_in_links where expires_at < to_timestamp($4))
  insert into sign_in_links (id, expires_at)
  select $1, to_timestamp($3) where exists (select from memberships where membership_id = $2)
  on conflict (id) do nothing returning id`;

/** Stores the data of signing in, in the control database. */
export function signInTable(database: Database, context: ControlContext): SignInStore {
  const { ask, run } = controlReadings('sign_in', 'Signing in', context);
  return {
    countTries: ({ id, network }, at, windowS) =>
      ask(async () => {
        const rows = await database.query<{ bucket: number; tries: number }>(COUNT, [
          id,
          network,
          at,
          at - windowS,
        ]);
        const triesIn = (bucket: number) =>
          onlyRow(rows.filter((row) => row.bucket === bucket)).tries;
        return { ofId: triesIn(id), ofNetwork: triesIn(network) };
      }),
    forgetTries: (bucket) =>
      run(() => database.query('delete from sign_in_tries where bucket = $1', [bucket])),
    codeOf: (membershipId) =>
      ask(async () =>
        rowOrNull(
          await database.query<SignInCode>(
            `select c.hash, c.pepper, c.browser_hash
             from sign_in_codes c join memberships m using (membership_id)
             where c.membership_id = $1`,
            [membershipId],
          ),
        ),
      ),
    bindCode: (membershipId, code, browser) =>
      ask(async () => {
        const bound = await database.query(
          `update sign_in_codes set browser_hash = $3
           where membership_id = $1 and hash = $2 and browser_hash is null returning 1`,
          [membershipId, code, browser],
        );
        return bound.length > 0;
      }),
    useLink: ({ id, membership_id, expires_at, at }) =>
      ask(async () => {
        const used = await database.query(USE_LINK, [id, membership_id, expires_at, at]);
        return used.length > 0;
      }),
  };
}

/** Keeps the code that an event told of a membership; a newer event's stays. */
export async function setSignInCode(
  session: Session,
  membershipId: string,
  { hash, pepper }: SecretHash,
  at: number,
): Promise<void> {
  await session.query(
    `insert into sign_in_codes as c (membership_id, hash, pepper, set_at)
     values ($1, $2, $3, to_timestamp($4))
     on conflict (membership_id) do update
       set hash = excluded.hash, pepper = excluded.pepper, set_at = excluded.set_at,
         browser_hash = case when c.hash = excluded.hash then c.browser_hash end
     where c.set_at <= excluded.set_at`,
    [membershipId, hash, pepper, at],
  );
}
