// Reports of leaked keys. A report is kept by one statement that looks at no key, so that its work
// and its time say nothing of the text; what it names is ended afterwards, by whichever process
// comes first.

import { z } from 'zod';
import { type EndedByLeak, endedByLeak, type LeakStore } from '../../ports/access.ts';
import {
  type ControlContext,
  columnsOf,
  controlReadings,
  type Database,
  epoch,
  onlyRow,
  type Session,
} from './engine/database.ts';
import { noteChange } from './memberships.ts';

/** Reports that wait for their look; they wait a second. */
const WAITING_MAX = 20_000;
/** Reports that are looked at together. */
const SETTLED_MAX = 1_000;

// $1 to $3: the reports; $4 when; $5 the bucket, or null; $6 how far back reports of a bucket
// count; $7 how many a bucket may send.
const REPORT = `
  with counted as (
    insert into leak_report_counts as c (bucket, began_at, reports)
    select $5::int, to_timestamp($4), cardinality($1::bytea[]) where $5::int is not null
    on conflict (bucket) do update set
      reports = case when c.began_at <= to_timestamp($6) then 0 else c.reports end
        + excluded.reports,
      began_at = case when c.began_at <= to_timestamp($6) then excluded.began_at else c.began_at end
    returning reports, began_at
  ), waiting as (
    select count(*)::int as n from (select from leak_reports limit ${WAITING_MAX}) as w
  ), kept as (
    insert into leak_reports (hash, hash_before, reported_at, found)
    select r.hash, r.hash_before, to_timestamp($4), r.found
    from unnest($1::bytea[], $2::bytea[], $3::text[]) as r(hash, hash_before, found)
    where not exists (select from counted where reports > $7)
      and (select n from waiting) < ${WAITING_MAX}
    returning 1
  )
  select (select count(*)::int from kept) as kept, c.reports, ${epoch('c.began_at', 'began_at')}
  from (select 1) as one left join counted c on true`;

const reportRow = z.strictObject({
  kept: z.int(),
  reports: z.int().nullable(),
  began_at: z.number().nullable(),
});

/** The bounds of what one network may report. */
type ReportBounds = { readonly ofNetworkMax: number; readonly windowS: number };

/** The reports over the control database. `onEnded` hears that look-ups of keys are out of date. */
export function leakTable(
  database: Database,
  context: ControlContext,
  { ofNetworkMax, windowS }: ReportBounds,
  onEnded: () => void,
): LeakStore {
  const { ask } = controlReadings('leak_reports', 'The reports of leaked keys', context);
  return {
    report: (reports, at, bucket) =>
      ask(async () => {
        const rows = reports.map(({ hashes: [now, before], found }) => {
          return { hash: now.hash, before: before === undefined ? null : before.hash, found };
        });
        const params = columnsOf(rows, ['hash', 'before', 'found']);
        const bounds = [at, bucket, at - windowS, ofNetworkMax];
        const {
          kept,
          reports: sent,
          began_at,
        } = reportRow.parse(onlyRow(await database.query(REPORT, [...params, ...bounds])));
        if (kept === reports.length) return { outcome: 'kept' };
        const isMany = sent !== null && began_at !== null && sent > ofNetworkMax;
        return isMany ? { outcome: 'too_many', again_at: began_at + windowS } : { outcome: 'full' };
      }),
    settle: () =>
      ask(async () => {
        const settled = await database.transaction(settleSome);
        if (settled.ended.length > 0) onEnded();
        return settled;
      }),
  };
}

const takenRow = z.strictObject({
  hash: z.instanceof(Uint8Array),
  hash_before: z.instanceof(Uint8Array).nullable(),
  at: z.number(),
  found: z.string().nullable(),
});
const endedRow = endedByLeak.omit({ what: true }).extend({ at: z.number() });

// Two processes take different reports. A key that was ended before is left as it is, so that a
// report that comes again changes and tells nothing.
async function settleSome(session: Session) {
  const taken = await session.query(
    `delete from leak_reports where id in (
       select id from leak_reports order by id limit ${SETTLED_MAX} for update skip locked)
     returning hash, hash_before, ${epoch('reported_at', 'at')}, found`,
  );
  const reports = z.array(takenRow).parse(taken);
  const wanted = reports.flatMap(({ hash, hash_before, at, found }) =>
    (hash_before === null ? [hash] : [hash, hash_before]).map((one) => ({ hash: one, at, found })),
  );
  if (wanted.length === 0) return { taken: 0, ended: [] };
  const params = columnsOf(wanted, ['hash', 'at', 'found']);
  const keys = await session.query(
    `update api_keys k set revoked_at = to_timestamp(u.at), leaked_at = to_timestamp(u.at),
       leak_found = u.found
     from unnest($1::bytea[], $2::float8[], $3::text[]) as u(hash, at, found)
     where k.hash = u.hash and k.revoked_at is null and k.kind <> 'sc_pub'
     returning k.id, k.prefix, k.membership_id, ${epoch('k.leaked_at', 'at')}`,
    params,
  );
  const tokens = await session.query(
    `update intelligence_tokens k set revoked_at = to_timestamp(u.at),
       leaked_at = to_timestamp(u.at)
     from unnest($1::bytea[], $2::float8[]) as u(hash, at)
     where k.hash = u.hash and k.revoked_at is null
     returning k.id, k.prefix, null::text as membership_id, ${epoch('k.leaked_at', 'at')}`,
    params.slice(0, 2),
  );
  const ended: EndedByLeak[] = [];
  for (const [what, rows] of [
    ['key', keys],
    ['token', tokens],
  ] as const) {
    for (const { at, ...one } of z.array(endedRow).parse(rows)) {
      const { prefix: subject, membership_id } = one;
      const change = 'key_leaked';
      await noteChange(session, { at, membership_id, by_whom: 'service', change, subject });
      ended.push({ what, ...one });
    }
  }
  return { taken: reports.length, ended };
}
