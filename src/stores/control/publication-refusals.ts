// Answers one question: which files were refused, and does one of them stand against the list in
// force. What it says of a newer file rests on the store's clock alone.

import { HOUR_S, MS_PER_S } from '../../chain/time.ts';
import type { HeldRefusal, Superseded } from '../../ports/sanctions/publication-store.ts';
import type { Session } from './engine/database.ts';

/** How many refusals are remembered: a source that sends other bytes each hour fills a week. */
const REFUSALS_MAX = 200;
/** Refusals told at once. */
export const REFUSALS_TOLD_MAX = 10;

/** A time of the store in Unix seconds. */
export function secondsOf(at: Date): number {
  return Math.floor(at.getTime() / MS_PER_S);
}

/** A time for the store. */
export function timeOf(seconds: number): Date {
  return new Date(seconds * MS_PER_S);
}

/** So long must the publisher have called ours the newest before a newer file is forgotten. */
const DENIED_FOR_S = 12 * HOUR_S;

// A refused file stands against the list in force where it is newer, the publisher's later file of
// the same day, or the very file in force that today's reader refuses: until another list takes its
// place, or the publisher has gone on without it.
const SUPERSEDED = `
  select coalesce(r.published, p.published) as published, r.source_url, r.code,
         min(r.first_at) over () as since
    from sanctions_refusals r
    join sanctions_current n on true
    join sanctions_publications p on p.id = n.publication_id
   where (r.published > p.published
          or r.published = p.published and r.from_publisher and not r.passing
             and r.refused_at > n.changed_at
          or r.sha256 = p.sha256)
     and not exists (
       select from sanctions_checks k
        where k.publication_id = p.id and k.basis = 'asked' and k.last_at <= control_now()
          and k.last_at >= r.refused_at + make_interval(secs => ${DENIED_FOR_S}))
   order by coalesce(r.published, p.published) desc, r.refused_at desc limit 1`;

/** The newer file that stands against the list in force, if one does. */
export async function supersededBy(session: Pick<Session, 'query'>): Promise<Superseded | null> {
  const [row] = await session.query<Omit<Superseded, 'since'> & { readonly since: Date }>(
    SUPERSEDED,
  );
  return row === undefined ? null : { ...row, since: secondsOf(row.since) };
}

type RefusalRow = Omit<HeldRefusal, 'first_at' | 'refused_at'> & {
  readonly first_at: Date;
  readonly refused_at: Date;
};

const REFUSAL = `
  select sha256, source_url, code, reason, published, from_publisher, passing, acceptable,
         judged_by, kept_as, first_at, refused_at
    from sanctions_refusals`;

function refusalOfRow({ first_at, refused_at, ...row }: RefusalRow): HeldRefusal {
  return { ...row, first_at: secondsOf(first_at), refused_at: secondsOf(refused_at) };
}

/** The newest refusals, newest first. */
export async function refusals(
  session: Pick<Session, 'query'>,
  most: number,
): Promise<HeldRefusal[]> {
  const rows = await session.query<RefusalRow>(
    `${REFUSAL} order by refused_at desc, id desc limit $1`,
    [most],
  );
  return rows.map(refusalOfRow);
}

/** The newest refusal of one file. */
export async function refusalOf(
  session: Pick<Session, 'query'>,
  sha256: string,
): Promise<HeldRefusal | null> {
  const [row] = await session.query<RefusalRow>(
    `${REFUSAL} where sha256 = $1 order by refused_at desc, id desc limit 1`,
    [sha256],
  );
  return row === undefined ? null : refusalOfRow(row);
}

/** Remembers a refusal, and forgets the oldest. */
export async function recordRefusal(session: Session, refusal: HeldRefusal): Promise<true> {
  await session.query(
    `insert into sanctions_refusals as r (sha256, source_url, code, reason, published,
       from_publisher, passing, acceptable, judged_by, kept_as, first_at, refused_at)
     values ($1, $2, $3, $4, $5::date, $6, $7, $8, $9, $10, $11, $12)
     on conflict (sha256, code) do update
       set source_url = excluded.source_url, reason = excluded.reason,
           published = excluded.published, passing = excluded.passing,
           acceptable = excluded.acceptable,
           from_publisher = r.from_publisher or excluded.from_publisher,
           judged_by = excluded.judged_by, kept_as = excluded.kept_as,
           first_at = least(r.first_at, excluded.first_at), refused_at = excluded.refused_at`,
    [
      refusal.sha256,
      refusal.source_url,
      refusal.code,
      refusal.reason,
      refusal.published,
      refusal.from_publisher,
      refusal.passing,
      refusal.acceptable,
      refusal.judged_by,
      refusal.kept_as,
      timeOf(refusal.first_at),
      timeOf(refusal.refused_at),
    ],
  );
  await session.query(
    `delete from sanctions_refusals where id not in
       (select id from sanctions_refusals order by refused_at desc, id desc limit ${REFUSALS_MAX})`,
  );
  return true;
}
