// Each look-up asks the table, so that a session that was ended opens nothing at once, everywhere.

import { z } from 'zod';
import {
  browserSession,
  foundSession,
  type SecretHash,
  type SessionStore,
  type SignInStore,
  signInCode,
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

/** More sessions of one membership than this are not listed in one answer. */
const SESSIONS_LISTED_MAX = 1_000;

const COLUMNS = [
  's.id, s.membership_id, s.browser, s.network',
  epoch('s.created_at'),
  epoch('s.seen_at'),
  epoch('s.ended_at'),
  epoch('s.renewed_at'),
  epoch('s.taken_up_at'),
].join(', ');
const FIND = `select ${COLUMNS}, false as by_replaced
    from sessions s where s.hash = any($1::bytea[])
  union all
  select ${COLUMNS}, true from replaced_session_tokens r join sessions s on s.id = r.session_id
    where r.hash = any($1::bytea[]) limit 1`;
const ADD = `with gone as (
    delete from sessions where ended_at is not null or created_at < to_timestamp($6)
  ), noted as (
    insert into access_changes (at, membership_id, by_whom, change)
    values (to_timestamp($5), $2, 'member', 'signed_in')
  )
  insert into sessions
    (id, membership_id, hash, pepper, created_at, seen_at, renewed_at, browser, network)
  values ($1, $2, $3, $4, to_timestamp($5), to_timestamp($5), to_timestamp($5), $7, $8)`;
// Of those who renew one session together the first has the row.
const RENEW = `with held as (
    select id, hash from sessions
    where id = $1 and ended_at is null and renewed_at <= to_timestamp($5) for update
  ), kept as (
    insert into replaced_session_tokens (hash, session_id) select hash, id from held
  )
  update sessions s
    set hash = $2, pepper = $3, renewed_at = to_timestamp($4), taken_up_at = null
  from held where s.id = held.id returning ${epoch('s.created_at')}`;
const SEEN = `update sessions set seen_at = to_timestamp($2), browser = $3, network = $4,
    taken_up_at = case when $5 then coalesce(taken_up_at, to_timestamp($2)) else taken_up_at end
  where id = $1`;
const END = `with ended as (
    update sessions set ended_at = to_timestamp($1)
    where ended_at is null and ($4::text is null or id = $4)
      and ($5::text is null or membership_id = $5) and ($6::text is null or id <> $6)
    returning membership_id, browser
  ), noted as (
    insert into access_changes (at, membership_id, by_whom, change, subject)
    select to_timestamp($1), membership_id, $2, $3, case when $3 <> 'signed_out' then browser end
    from ended
  )
  select count(*)::int as ended from ended`;

const renewedRow = browserSession.pick({ created_at: true });
const endedRow = z.strictObject({ ended: z.int() });
const triesRow = z.strictObject({ bucket: z.int(), tries: z.int() });

/** The sessions over the control database. */
export function sessionTable(database: Database, context: ControlContext): SessionStore {
  const { ask, askList, run } = controlReadings('sessions', 'The sessions', context);
  return {
    find: (secrets) =>
      ask(async () => {
        const rows = await database.query(FIND, [secrets.map(({ hash }) => hash)]);
        return foundSession.nullable().parse(rowOrNull(rows));
      }),
    add: ({ id, membership_id, secret: { hash, pepper }, created_at, from }, dropBefore) => {
      const { browser, network } = from;
      const row = [id, membership_id, hash, pepper, created_at, dropBefore, browser, network];
      return run(() => database.query(ADD, row));
    },
    renew: (id, { hash, pepper }, at, renewedBefore) =>
      ask(async () => {
        const params = [id, hash, pepper, at, renewedBefore];
        const [renewed] = await database.query(RENEW, params);
        return renewed === undefined ? null : renewedRow.parse(renewed).created_at;
      }),
    seen: (id, { at, browser, network, takesUp }) =>
      run(() => database.query(SEEN, [id, at, browser, network, takesUp])),
    list: (membershipId, { created, seen }) =>
      askList(SESSIONS_LISTED_MAX, 'sessions', async (limit) => {
        const rows = await database.query(
          `select ${COLUMNS} from sessions s where s.membership_id = $1 and s.ended_at is null
             and s.created_at > to_timestamp($2) and s.seen_at > to_timestamp($3)
           order by s.seen_at desc, s.id limit ${limit}`,
          [membershipId, created, seen],
        );
        return z.array(browserSession).parse(rows);
      }),
    end: (which, at, by, as) =>
      ask(async () => {
        const only = 'id' in which ? { id: which.id, except: null } : { id: null, ...which };
        const params = [at, by, as, only.id, which.membership_id, only.except];
        return endedRow.parse(onlyRow(await database.query(END, params))).ended;
      }),
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
        const counted = await database.query(COUNT, [id, network, at, at - windowS]);
        const rows = z.array(triesRow).parse(counted);
        const triesIn = (bucket: number) =>
          onlyRow(rows.filter((row) => row.bucket === bucket)).tries;
        return { ofId: triesIn(id), ofNetwork: triesIn(network) };
      }),
    forgetTries: (bucket) =>
      run(() => database.query('delete from sign_in_tries where bucket = $1', [bucket])),
    codeOf: (membershipId) =>
      ask(async () =>
        signInCode.nullable().parse(
          rowOrNull(
            await database.query(
              `select c.hash, c.pepper, c.browser_hash
               from sign_in_codes c join memberships m using (membership_id)
               where c.membership_id = $1`,
              [membershipId],
            ),
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
