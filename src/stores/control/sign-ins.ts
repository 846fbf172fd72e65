import type { SecretHash, SignInStore } from '../../ports/access.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  onlyRow,
  rowOrNull,
  type Session,
} from './engine/database.ts';

// One statement counts and tells, so that those who try together are counted apart.
const COUNT = `
  insert into sign_in_tries as t (bucket, began_at, tries) values ($1, to_timestamp($2), 1)
  on conflict (bucket) do update set
    tries = case when t.began_at <= to_timestamp($3) then 1 else t.tries + 1 end,
    began_at = case when t.began_at <= to_timestamp($3) then excluded.began_at else t.began_at end
  returning t.tries`;

const USE_LINK = `
  with gone as (delete from sign_in_links where expires_at < to_timestamp($4))
  insert into sign_in_links (id, expires_at)
  select $1, to_timestamp($3) where exists (select from memberships where membership_id = $2)
  on conflict (id) do nothing returning id`;

/** What signing in rests on, over the control database. */
export function signInTable(database: Database, context: ControlContext): SignInStore {
  const { ask, run } = controlReadings('sign_in', 'Signing in', context);
  return {
    countTry: (bucket, at, windowS) =>
      ask(async () => {
        const rows = await database.query<{ tries: number }>(COUNT, [bucket, at, at - windowS]);
        return onlyRow(rows).tries;
      }),
    forgetTries: (bucket) =>
      run(() => database.query('delete from sign_in_tries where bucket = $1', [bucket])),
    codeOf: (membershipId) =>
      ask(async () =>
        rowOrNull(
          await database.query<SecretHash>(
            `select c.hash, c.pepper from sign_in_codes c join memberships m using (membership_id)
             where c.membership_id = $1`,
            [membershipId],
          ),
        ),
      ),
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
       set hash = excluded.hash, pepper = excluded.pepper, set_at = excluded.set_at
     where c.set_at <= excluded.set_at`,
    [membershipId, hash, pepper, at],
  );
}
