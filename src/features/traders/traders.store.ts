// Analyses of traders and the queue of those that wait. The database tells the time of the queue,
// so that any process can take over what another began and never ended.

import { z } from 'zod';
import { keepParses } from '../../evidence/kept-parses.ts';
import type {
  QueuePlace,
  TraderAnalyses,
  TraderOutcome,
  TraderStanding,
  TraderWork,
} from '../../ports/traders.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
  rowOrNull,
  type Session,
} from '../../stores/control/engine/database.ts';
import { type TraderAnalysis, traderAnalysis, UNANALYSABLE, type Unanalysable } from './shapes.ts';

const WHAT = 'The analyses of traders';
/** Addresses that may wait because somebody asked. */
export const TRADERS_WAITING_MAX = 200;
/** Asked addresses that are begun in a minute. */
export const BEGUN_A_MINUTE = 5;
/** An analysis that somebody asked for is renewed each day, for so long after the question. */
const RENEWED_EACH_S = 86_400;
const RENEWED_FOR_S = 7 * 86_400;
/** A failed attempt is repeated after so long, doubled each time, and so often. */
const RETRY_S = 60;
const ATTEMPTS_MAX = 5;

/** @internal */
export type TraderRow = TraderStanding<TraderAnalysis, Unanalysable>;

const standingRow = z.object({
  made_at: z.number().nullable(),
  analysis: z.string().nullable(),
  unanalysable_at: z.number().nullable(),
  because: z.enum(UNANALYSABLE).nullable(),
  agent_of: z.string().nullable(),
  failed_at: z.number().nullable(),
  failure: z.string().nullable(),
  outside: z.boolean().nullable(),
});
const addressRow = z.object({ address: z.string() });
const countRow = z.object({ waiting: z.int(), here: z.boolean() });

const STANDING = `
  select ${epochSecond('made_at')}, analysis, ${epochSecond('unanalysable_at')}, because, agent_of,
    ${epochSecond('failed_at')}, failure, outside
  from trader_analyses where address = $1`;

/** The analyses over the control database, for whoever reads them. `isRun`: a venue is set. */
export function traderAnalysisTable(
  database: Database,
  context: ControlContext,
  isRun: boolean,
): TraderAnalyses<TraderAnalysis, Unanalysable> {
  const { ask } = controlReadings('trader_analyses', WHAT, context);
  const parse = keepParses((text) => traderAnalysis.parse(JSON.parse(text)), PARSES_KEPT_MAX);
  return {
    standingOf: (address) =>
      ask(async () => {
        const row = rowOrNull(await database.query(STANDING, [address], 'often'));
        return standingIn(row, (text) => parse(address, text));
      }),
    ask: (address) =>
      ask(async () => {
        if (!isRun) return 'not_set_up';
        return database.transaction((session) => enqueue(session, address));
      }),
  };
}

const NEVER: TraderRow = { analysis: null, unanalysable: null, failed: null };

/** Analyses of up to 100 KB that stay parsed while they are asked for. */
const PARSES_KEPT_MAX = 100;

function standingIn(row: object | null, parse: (text: string) => TraderAnalysis): TraderRow {
  if (row === null) return NEVER;
  const { made_at, analysis, unanalysable_at, because, agent_of, failed_at, failure, outside } =
    standingRow.parse(row);
  return {
    analysis: made_at === null || analysis === null ? null : { made_at, analysis: parse(analysis) },
    unanalysable:
      unanalysable_at === null || because === null
        ? null
        : { at: unanalysable_at, because, of: agent_of },
    failed:
      failed_at === null || failure === null || outside === null
        ? null
        : { at: failed_at, reason: failure, outside },
  };
}

/** The work on them over the control database. */
export function traderWorkTable(
  database: Database,
  context: ControlContext,
): TraderWork<TraderAnalysis, Unanalysable> {
  const { ask, run } = controlReadings('trader_analyses', WHAT, context);
  // Questions and renewals take turns: neither can hold up the other.
  let turns = 0;
  return {
    take: (forS) =>
      ask(async () => {
        turns += 1;
        const lanes = turns % 2 === 0 ? [TAKE_ASKED, RENEW] : [RENEW, TAKE_ASKED];
        for (const lane of lanes) {
          const [next] = await database.query(lane.sql, [Math.ceil(forS), ...lane.bounds], 'often');
          if (next !== undefined) return addressRow.parse(next).address;
        }
        return null;
      }),
    putBack: (address) => run(() => database.query(PUT_BACK, [address])),
    settle: (address, outcome) =>
      run(() => database.transaction((session) => settle(session, address, outcome))),
  };
}

// Two questions at once count each other: the lock orders them.
const QUEUE_LOCK = "select pg_advisory_xact_lock(hashtext('trader_queue'))";

/** Whoever was looked at within a day is renewed by and by, as long as somebody asks. */
const KNOWN = `
  update trader_analyses set asked_at = control_now()
  where address = $1
    and greatest(made_at, unanalysable_at) > control_now() - make_interval(secs => $2::int)
  returning address`;

async function enqueue(session: Session, address: string): Promise<QueuePlace> {
  await session.query(QUEUE_LOCK);
  const known = await session.query(KNOWN, [address, RENEWED_EACH_S]);
  if (known.length > 0) return 'not_asked';
  const { waiting, here } = countRow.parse(
    onlyRow(
      await session.query(
        `select count(*) filter (where lane = 'asked')::int as waiting,
           coalesce(bool_or(address = $1), false) as here
         from trader_queue`,
        [address],
      ),
    ),
  );
  if (!here && waiting >= TRADERS_WAITING_MAX) return 'full';
  await session.query(
    `insert into trader_queue (address, lane, asked_at, due_at)
     values ($1, 'asked', control_now(), control_now())
     on conflict (address) do nothing`,
    [address],
  );
  await session.query(
    `insert into trader_analyses (address, asked_at) values ($1, control_now())
     on conflict (address) do update set asked_at = excluded.asked_at`,
    [address],
  );
  return 'queued';
}

type Lane = { readonly sql: string; readonly bounds: readonly number[] };

const takeWhere = (where: string) => `
  update trader_queue
  set due_at = control_now() + make_interval(secs => $1::int)
  where address = (
    select q.address from trader_queue q where q.due_at <= control_now() and ${where}
    order by q.due_at, q.asked_at limit 1 for update of q skip locked
  )
  returning address`;
// What is begun is counted in the statement that begins it; older starts are forgotten in it too.
const TAKE_ASKED: Lane = {
  sql: `
    with gone as (
      delete from trader_starts where at < control_now() - interval '1 minute'
    ), begun as (${takeWhere(`(
      q.lane = 'renewal' or (
        select count(*) from trader_starts s where s.at >= control_now() - interval '1 minute'
      ) < $2::int)`)}, lane
    ), noted as (
      insert into trader_starts (at) select control_now() from begun where lane = 'asked'
    )
    select address from begun`,
  bounds: [BEGUN_A_MINUTE],
};
const RENEW: Lane = {
  sql: `
    insert into trader_queue (address, lane, asked_at, due_at)
    select address, 'renewal', control_now(), control_now() + make_interval(secs => $1::int)
    from trader_analyses a
    where made_at < control_now() - make_interval(secs => $2::int)
      and asked_at > control_now() - make_interval(secs => $3::int)
      and coalesce(failed_at, '-infinity') < control_now() - make_interval(secs => $2::int)
      and coalesce(unanalysable_at, '-infinity') < control_now() - make_interval(secs => $2::int)
      and not exists (select from trader_queue q where q.address = a.address)
    order by made_at limit 1
    on conflict (address) do nothing
    returning address`,
  bounds: [RENEWED_EACH_S, RENEWED_FOR_S],
};

const PUT_BACK = 'update trader_queue set due_at = control_now() where address = $1';

async function settle(
  session: Session,
  address: string,
  outcome: TraderOutcome<TraderAnalysis, Unanalysable>,
): Promise<void> {
  if (outcome.end === 'failed') {
    await session.query(
      `insert into trader_analyses (address, failed_at, failure, outside)
       values ($1, control_now(), $2, $3)
       on conflict (address) do update set failed_at = excluded.failed_at,
         failure = excluded.failure, outside = excluded.outside`,
      [address, outcome.why.reason, outcome.outside],
    );
    await session.query(
      `update trader_queue set attempts = attempts + 1,
         due_at = control_now() + make_interval(secs => $2::int * (1 << least(attempts, 10)))
       where address = $1`,
      [address, RETRY_S],
    );
    await session.query('delete from trader_queue where address = $1 and attempts >= $2', [
      address,
      ATTEMPTS_MAX,
    ]);
    return;
  }
  if (outcome.end === 'analysed') {
    await session.query(
      `insert into trader_analyses (address, made_at, analysis) values ($1, control_now(), $2)
       on conflict (address) do update set made_at = excluded.made_at,
         analysis = excluded.analysis, unanalysable_at = null, because = null, agent_of = null,
         failed_at = null, failure = null, outside = null`,
      [address, JSON.stringify(outcome.analysis)],
    );
  } else {
    await session.query(
      `insert into trader_analyses (address, unanalysable_at, because, agent_of)
       values ($1, control_now(), $2, $3)
       on conflict (address) do update set unanalysable_at = excluded.unanalysable_at,
         because = excluded.because, agent_of = excluded.agent_of,
         failed_at = null, failure = null, outside = null`,
      [address, outcome.because, outcome.of],
    );
  }
  await session.query('delete from trader_queue where address = $1', [address]);
}
