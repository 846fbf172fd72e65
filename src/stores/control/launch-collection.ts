// A step is one transaction. It holds only from the place where it was begun, so that two
// processes that collect at once lose nothing and keep nothing twice.

import { z } from 'zod';
import { MS_PER_S } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';
import {
  accountCursor,
  type CollectionGap,
  type CollectionStep,
  dueLaunch,
  type LaunchCollection,
  type LaunchMonth,
  type LaunchMonths,
  type LaunchMonthsPort,
  launch,
  launchMonth,
  type ReachedAt,
  SETTLED_HERE,
  type SeenLaunch,
  uncreditedLaunch,
} from '../../ports/launches.ts';
import {
  type ControlContext,
  columnsOf,
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
  rowOrNull,
  type Session,
  storeTime,
} from './engine/database.ts';
import type { ImportNotes } from './imported-tables.ts';

/** A gap that begins so soon after another for the same reason is a further piece of it. */
const CLOSE_S = 600;

/**
 * The collection over the control database. After `windowS` seconds a launch is due, after `lateS`
 * the venue can no longer tell.
 */
export function launchCollectionTable(
  database: Database,
  context: ControlContext,
  { windowS, lateS }: { readonly windowS: number; readonly lateS: number },
): LaunchCollection {
  const { ask, run } = controlReadings('launch_collection', 'The collection of launches', context);
  const now = () => new Date(context.nowMs());
  return {
    cursorOf: (account) =>
      ask(async () => {
        const sql = `select signature, ${epochSecond('since')}, ${epochSecond('reached_at')},
          attempts from launch_cursors where watched = $1`;
        return accountCursor.nullable().parse(rowOrNull(await database.query(sql, [account])));
      }),
    keep: (step) => ask(() => database.transaction((session) => keepStep(session, step, windowS))),
    takeDue: (max, forS) =>
      ask(async () => {
        const at = [now(), windowS, lateS] as const;
        await database.query(ADOPT, [...at, max]);
        return z.array(dueLaunch).parse(await database.query(TAKE, [...at, max, forS]));
      }),
    uncredited: (max) =>
      ask(async () => {
        const rows = await database.query(
          `select mint, signature from collected_launches
            where credited_by is null and made_by <> 'import' order by mint limit $1`,
          [max],
        );
        return z.array(uncreditedLaunch).parse(rows);
      }),
    credit: (mint, launch) =>
      run(() =>
        database.transaction(async (session) => {
          if (launch !== null) return keepLaunches(session, [launch], windowS);
          await session.query(FORGET_SETTLED, [mint, SETTLED_HERE]);
          await session.query(FORGET, [mint]);
        }),
      ),
    miscredited: (max) =>
      ask(async () => z.array(launch).parse(await database.query(MISCREDITED, [max]))),
    postpone: (mints, reason, forS) =>
      run(() =>
        database.query(
          `update collected_launches set due_at = $2, failure = $3
            where mint = any($1::text[]) and not settled`,
          [mints, new Date(context.nowMs() + forS * MS_PER_S), reason],
        ),
      ),
  };
}

const reachRow = z.strictObject({ at: z.int().nullable() });

/** Up to when every watched account was read; `null` where nothing was ever collected. */
export function collectionReach(database: Database, context: ControlContext): ReachedAt {
  const { ask } = controlReadings('launch_collection', 'The collection of launches', context);
  return () =>
    ask(async () => {
      const sql = `select ${epochSecond('min(reached_at)', 'at')} from launch_cursors`;
      return reachRow.parse(onlyRow(await database.query(sql))).at;
    });
}

async function keepStep(session: Session, step: CollectionStep, windowS: number): Promise<boolean> {
  const { account, from, to, launches, gaps } = step;
  const place = [account, to.signature, storeTime(to.reached_at), to.attempts] as const;
  const moved =
    from === null
      ? await session.query(
          `insert into launch_cursors (watched, signature, reached_at, attempts, since)
           values ($1, $2, $3, $4, $5) on conflict (watched) do nothing returning watched`,
          [...place, storeTime(to.since)],
        )
      : await session.query(
          `update launch_cursors set signature = $2, reached_at = $3, attempts = $4
            where watched = $1 and signature is not distinct from $5 returning watched`,
          [...place, from.signature],
        );
  if (moved.length === 0) return false;
  if (launches.length > 0) await keepLaunches(session, launches, windowS);
  for (const gap of gaps) await keepGap(session, account, gap);
  return true;
}

async function keepLaunches(
  session: Session,
  launches: readonly SeenLaunch[],
  windowS: number,
): Promise<void> {
  const rows = launches.map((one) => {
    const [at, due] = [one.launched_at, one.launched_at + windowS];
    return { ...one, launched_at: storeTime(at), due_at: storeTime(due) };
  });
  const names = [
    'mint',
    'deployer',
    'credited_by',
    'made_by',
    'signature',
    'slot',
    'launched_at',
    'due_at',
  ] as const;
  await session.query(KEEP, columnsOf(rows, names));
}

// Of two observations of a mint a creation holds before a pool, then the lower slot, in whatever
// order they are collected. What an import told, or nobody has read, gives way to either.
const KEEP = `
  insert into collected_launches as held
    (mint, deployer, credited_by, made_by, signature, slot, launched_at, due_at)
  select distinct on (mint) * from unnest($1::text[], $2::text[], $3::text[], $4::text[],
      $5::text[], $6::int8[], $7::timestamptz[], $8::timestamptz[])
    as seen (mint, deployer, credited_by, made_by, signature, slot, launched_at, due_at)
  order by mint, credited_by <> 'creation', slot, signature collate "C"
  on conflict (mint) do update
    set deployer = excluded.deployer, credited_by = excluded.credited_by,
        made_by = excluded.made_by, signature = excluded.signature, slot = excluded.slot,
        launched_at = excluded.launched_at, due_at = excluded.due_at
    where held.credited_by is null
      or (excluded.credited_by <> 'creation', excluded.slot, excluded.signature collate "C")
       < (held.credited_by <> 'creation', held.slot, held.signature collate "C")`;

// A settlement of an earlier version under an unread wallet is removed.
const FORGET_SETTLED = `
  delete from launches l using table_imports i, collected_launches c
   where l.mint = $1 and i.id = l.import_id and i.source = $2
     and c.mint = l.mint and c.credited_by is null`;
const FORGET = 'delete from collected_launches where mint = $1 and credited_by is null';

/** The best rows of the corpus that name another wallet than the chain credits. */
const MISCREDITED = `
  select r.mint, c.deployer, ${epochSecond('c.launched_at')}, r.listed_after_window,
    ${epochSecond('greatest(r.last_checked_at, c.launched_at)', 'last_checked_at')}, r.settled
  from collected_launches c
  join launches r on r.mint = c.mint
  join table_imports i on i.id = r.import_id and i.completed_at is not null
  where c.credited_by is not null and c.deployer <> r.deployer and not exists (
    select 1 from launches b
      join table_imports bi on bi.id = b.import_id and bi.completed_at is not null
     where b.mint = r.mint and (b.settled, b.last_checked_at, b.import_id)
       > (r.settled, r.last_checked_at, r.import_id))
  order by r.mint limit $1`;

async function keepGap(session: Session, account: string, gap: CollectionGap): Promise<void> {
  if (gap.mint !== null) {
    const known = await session.query(
      'select from collected_launches where mint = $1 and credited_by is not null',
      [gap.mint],
    );
    if (known.length > 0) return;
  }
  const missed_s = Math.max(1, gap.to_at - gap.from_at);
  const to = storeTime(gap.to_at);
  const joined = await session.query(
    `update launch_gaps set to_at = $2, pieces = pieces + 1, missed_s = missed_s + $3
      where id = (select max(id) from launch_gaps where watched = $1)
        and reason = $4 and to_at >= $5 returning id`,
    [account, to, missed_s, gap.reason, storeTime(gap.from_at - CLOSE_S)],
  );
  if (joined.length > 0) return;
  await session.query(
    `insert into launch_gaps (watched, from_at, to_at, missed_s, reason)
     values ($1, $2, $3, $4, $5)`,
    [account, storeTime(gap.from_at), to, missed_s, gap.reason],
  );
}

// $1 now, $2 the window, $3 the time after which the venue can no longer tell, $4 how many.
const IN_TIME = `launched_at <= $1::timestamptz - make_interval(secs => $2::int4)
  and launched_at > $1::timestamptz - make_interval(secs => $3::int4)`;

/** Imported launches that wait are settled like collected ones. */
const ADOPT = `
  insert into collected_launches
    (mint, deployer, made_by, signature, slot, launched_at, due_at)
  select distinct on (r.mint) r.mint, r.deployer, 'import', '', 0, r.launched_at, $1::timestamptz
    from launches r
    join table_imports i on i.id = r.import_id and i.completed_at is not null
   where not r.settled and r.${IN_TIME.replace('and launched_at', 'and r.launched_at')}
     and not exists (select 1 from launches s
                       join table_imports si on si.id = s.import_id and si.completed_at is not null
                      where s.mint = r.mint and s.settled)
   order by r.mint, r.last_checked_at desc limit $4
  on conflict (mint) do nothing`;

const TAKE = `
  update collected_launches set due_at = $1::timestamptz + make_interval(secs => $5::int4)
   where mint in (
     select mint from collected_launches
      where not settled and due_at <= $1::timestamptz and ${IN_TIME}
      order by due_at, mint limit $4 for update skip locked)
  returning mint, deployer, ${epochSecond('launched_at')}`;

/** An import that settles launches which wait ends their waiting, in the same transaction. */
export const LAUNCH_NOTES: ImportNotes = {
  before: async () => undefined,
  completing: async (session, id) => {
    await session.query(
      `update collected_launches c set settled = true, failure = null
         from launches l where l.import_id = $1 and l.mint = c.mint and l.settled`,
      [id],
    );
  },
};

// The counts of committed records and of the corpus; they are kept for a minute, so that a page
// that anybody may open costs one reading of the tables a minute.

const KEPT_MS = 60_000;

// Of a mint that several imports saw one row counts: settled first, then the later check.
const COUNTS = `
  with since as (
    select date_trunc('month', control_now() at time zone 'UTC')
      - make_interval(months => $1::int - 1) as first
  ), launched as (
    select 'ethereum' as chain, to_timestamp((l ->> 'created_at')::float8) as at,
      l ->> 'outcome' in ('live', 'died') as listed, l ->> 'outcome' = 'died' as died,
      l ->> 'outcome' = 'unchecked' as unchecked
    from deployer_records r, jsonb_array_elements(r.walk::jsonb -> 'launches') l
    union all
    select 'solana', s.launched_at, s.settled, s.settled and not s.listed_after_window,
      not s.settled
    from (
      select distinct on (mint) l.* from launches l
      join table_imports i on i.id = l.import_id and i.completed_at is not null
      order by mint, settled desc, last_checked_at desc, import_id desc
    ) s
  )
  select chain, to_char(at at time zone 'UTC', 'YYYY-MM') as month,
    count(*) filter (where listed)::int4 as listed, count(*) filter (where died)::int4 as died,
    count(*) filter (where unchecked)::int4 as unchecked
  from launched, since where at at time zone 'UTC' >= first
  group by 1, 2 order by 1, 2`;

/** The counts over the control database. */
export function launchMonthTable(database: Database, context: ControlContext): LaunchMonths {
  const { ask } = controlReadings<LaunchMonthsPort>(
    'launch_months',
    'The launches on record',
    context,
  );
  type Months = Promise<Reading<readonly LaunchMonth[], LaunchMonthsPort>>;
  const kept = new Map<number, { readonly until: number; readonly months: Months }>();
  return {
    newest: async (monthsMax) => {
      const now = context.nowMs();
      const held = kept.get(monthsMax);
      if (held !== undefined && now < held.until) return held.months;
      const months = ask(async () =>
        z.array(launchMonth).parse(await database.query(COUNTS, [monthsMax])),
      );
      kept.set(monthsMax, { until: now + KEPT_MS, months });
      const told = await months;
      if (!told.checked) kept.delete(monthsMax);
      return told;
    },
  };
}
