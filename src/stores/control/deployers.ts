// A record is one row, written in one statement: a process that is killed leaves the record before,
// or none. The database tells the time of the queue, so that any process can take a lost walk over.

import { z } from 'zod';
import { MS_PER_S } from '../../chain/time.ts';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import {
  type CommittedRecord,
  type DeployerRecords,
  type DeployerWalk,
  type DeployerWalks,
  deployerWalk,
  omissionsIn,
  RECORD_FRESH_S,
  readsAllOf,
} from '../../ports/deployers.ts';
import { NEW_FOR_S } from '../../ports/rug-model.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
  rowOrNull,
  storeTime,
} from './engine/database.ts';

const PORT = 'deployer_records';
/** Addresses that may wait at once, in all and by caller. */
const WAITING_MAX = 5_000;
const WAITING_BY_CALLER_MAX = 200;
/**
 * The wait before a walk is tried again, for how many attempts it stays so before it doubles each
 * time, and after how many more its place in the queue is given up. `failed`: of one that failed.
 */
const RETRY = { everyS: 20, failed: 14, doublingsMax: 5, moreMax: 6 };
/**
 * The same of a walk that was cut: it costs a few calls for each contract of the address, so as
 * many attempts as examine so many contracts together.
 */
const RETRY_CUT = { contracts: 1_000, least: 4, most: 24, moreMax: 16 };
/** The wait before a silent source is asked one question again; of all so many a second. */
const RETRY_QUESTION = { everyS: 20, atMostS: 45, aSecond: 10 };
/** Walks that may wait to be tried again, beside those that somebody asked for. */
const AGAIN_WAITING_MAX = 500;
/**
 * A record is made anew this long after its walk while the newest launch in it is young, and else
 * this long: whoever launched nothing yet, or long ago, may launch now.
 */
const WALKED_AGAIN = { everyS: RECORD_FRESH_S, dormantS: 2 * RECORD_FRESH_S };

const recordRow = z.strictObject({
  walk: z.string(),
  failed_at: z.int().nullable(),
  failure: z.string().nullable(),
});
const walkRow = recordRow.pick({ walk: true });
const queueRow = z.strictObject({ attempts: z.int(), failure: z.string().nullable() });
const takenRow = deployerWalk.pick({ address: true });

/** The records over the control database. `unwalked`: why nobody is walked here, or `null`. */
export function deployerRecordTable(
  database: Database,
  context: ControlContext,
  unwalked: string | null,
): DeployerRecords {
  const { ask } = controlReadings(PORT, 'The deployer records', context);
  /** The record; without one, unread with what `unheld` says of the address. */
  const recordOr = async (address: string, unheld: () => Promise<string>) => {
    const found = await ask(async () => {
      const rows = await database.query(
        `select walk, ${epochSecond('failed_at')}, failure
           from deployer_records where address = $1`,
        [address],
        'often',
      );
      const row = recordRow.nullable().parse(rowOrNull(rows));
      return row === null ? null : { ...row, walk: walkIn(row.walk) };
    });
    if (!found.checked) return found;
    const row = found.value;
    if (row === null) {
      const said = await ask(unheld);
      if (!said.checked) return said;
      return unread(PORT, why('deployer_not_walked', { queued: said.value }));
    }
    const { walk, failed_at, failure } = row;
    const isFailed = failed_at !== null && failure !== null;
    const failed = isFailed ? { at: failed_at, reason: failure } : null;
    const record: CommittedRecord = { ...walk, failed };
    // Whether it finds room in the queue changes nothing of the record that is held.
    if (context.nowMs() / MS_PER_S - record.captured_at > RECORD_FRESH_S) await ask(unheld);
    // A record is as old as its walk.
    const source: Source = {
      name: 'Deployer walk',
      url: 'control-store:',
      as_of: record.captured_at,
      kind: 'observation',
      simulated: context.simulated,
    };
    return read(record, { port: PORT, source });
  };
  return {
    recordOf: (address, askedBy) =>
      recordOr(address, async () => {
        const queued = await enqueue(database, address, askedBy);
        return unwalked === null ? queued : `${queued} ${unwalked}`;
      }),
    heldOf: (address) => recordOr(address, async () => NOT_QUEUED),
  };
}

const NOT_QUEUED = 'A question to the route of deployer records has it walked.';

/** A walk as it is kept in its row. */
export function walkIn(text: string): DeployerWalk {
  return deployerWalk.parse(JSON.parse(text));
}

/** Puts an address into the queue, where there is room, and says so in a sentence. */
async function enqueue(database: Database, address: string, askedBy: string): Promise<string> {
  await database.query(
    `insert into deployer_queue (address, asked_at, due_at, asked_by)
     select $1, control_now(), control_now(), $2
     where (select count(*) from deployer_queue) < $3::int
       and (select count(*) from deployer_queue where asked_by = $2) < $4::int
     on conflict (address) do nothing`,
    [address, askedBy, WAITING_MAX, WAITING_BY_CALLER_MAX],
  );
  const rows = await database.query(
    'select attempts, failure from deployer_queue where address = $1',
    [address],
  );
  const row = queueRow.nullable().parse(rowOrNull(rows));
  if (row === null) {
    return (
      `It was not queued: ${WAITING_BY_CALLER_MAX} addresses that this caller asked about, or ` +
      `${WAITING_MAX} in all, already wait to be walked.`
    );
  }
  if (row.failure === null) return 'It is queued to be walked.';
  return `Attempt ${row.attempts} to walk it failed: ${row.failure} It will be walked again.`;
}

/** The queue of walks over the control database, and where records are committed. */
export function deployerWalkTable(database: Database, context: ControlContext): DeployerWalks {
  const { ask, run } = controlReadings('deployer_walks', 'The queue of walks', context);
  // Questions and walks that are due again take turns: neither can hold up the other.
  let turns = 0;
  return {
    walkBefore: (address) =>
      ask(async () => {
        const [row] = await database.query(
          'select walk from deployer_records where address = $1',
          [address],
          'often',
        );
        return row === undefined ? null : walkIn(walkRow.parse(row).walk);
      }),
    take: (forS) =>
      ask(async () => {
        const taken = Math.ceil(forS);
        const { everyS, dormantS } = WALKED_AGAIN;
        const lanes = [
          [TAKE, [taken]],
          [TAKE_AGAIN, [taken, everyS, NEW_FOR_S, dormantS]],
        ] as const;
        turns += 1;
        for (const [lane, bounds] of turns % 2 === 0 ? lanes.toReversed() : lanes) {
          const [next] = await database.query(lane, [...bounds], 'often');
          if (next !== undefined) return takenRow.parse(next).address;
        }
        return null;
      }),
    commit: (walk, cut) =>
      run(() => {
        const at = storeTime(walk.captured_at);
        const { isWhole } = omissionsIn(walk);
        const isWatched = readsAllOf(walk, NEW_FOR_S);
        const row = [walk.address, at, JSON.stringify(walk), newestIn(walk), isWhole, isWatched];
        if (cut === undefined) return database.query(COMMIT, row, 'often');
        return database.transaction(async (session) => {
          await session.query(KEEP, row);
          const steady = steadyFor(walk);
          await session.query(QUEUE_CUT, againOf(walk.address, cut.reason, steady));
          await session.query(GIVE_UP, [walk.address, steady + RETRY_CUT.moreMax]);
        });
      }),
    fail: (address, { at, reason }, cost) =>
      run(() =>
        database.transaction(async (session) => {
          await session.query(
            'update deployer_records set failed_at = $2, failure = $3 where address = $1',
            [address, storeTime(at), reason],
          );
          if (cost === 'one_question') {
            const { everyS, atMostS, aSecond } = RETRY_QUESTION;
            const bounds = [everyS, aSecond, atMostS, AGAIN_WAITING_MAX];
            await session.query(QUEUE_SILENT, [address, reason, ...bounds]);
            return;
          }
          await session.query(QUEUE_FAILED, againOf(address, reason, RETRY.failed));
          await session.query(GIVE_UP, [address, RETRY.failed + RETRY.moreMax]);
        }),
      ),
  };
}

// Of callers the one comes first whose turn was longest ago, of its addresses the one that is due
// longest; two processes never take the same one.
const TAKE = `
  with taken as (
    update deployer_queue set due_at = control_now() + make_interval(secs => $1::int)
    where address = (
      select q.address from deployer_queue q
      left join walk_callers c on c.asked_by = q.asked_by
      where q.due_at <= control_now()
      order by c.taken_at nulls first, q.due_at, q.asked_at limit 1 for update of q skip locked
    )
    returning address, asked_by
  ), turn as (
    insert into walk_callers (asked_by, taken_at) select asked_by, clock_timestamp() from taken
    on conflict (asked_by) do update set taken_at = excluded.taken_at
  )
  select address from taken`;

// A walk that a process never ended is in the queue, and is taken from there. Those with a young
// launch come first.
const IS_YOUNG = `
  coalesce(newest_launch_at > control_now() - make_interval(secs => $3::int), false)`;
const TAKE_AGAIN = `
  insert into deployer_queue (address, asked_at, due_at)
  select address, control_now(), control_now() + make_interval(secs => $1::int)
  from deployer_records r
  where captured_at < control_now()
      - make_interval(secs => case when ${IS_YOUNG} then $2::int else $4::int end)
    and coalesce(failed_at, '-infinity') < control_now() - make_interval(secs => $2::int)
    and not exists (select from deployer_queue q where q.address = r.address)
  order by ${IS_YOUNG} desc, captured_at limit 1
  on conflict (address) do nothing
  returning address`;

const KEEP = `
  insert into deployer_records as r
    (address, captured_at, walk, newest_launch_at, is_whole, is_watched)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (address) do update
    set captured_at = excluded.captured_at, walk = excluded.walk,
        newest_launch_at = excluded.newest_launch_at, is_whole = excluded.is_whole,
        is_watched = excluded.is_watched, failed_at = null, failure = null
    where r.captured_at <= excluded.captured_at`;

const COMMIT = `
  with kept as (${KEEP})
  delete from deployer_queue where address = $1`;

/**
 * Puts a walk into the queue that is to be tried again. `waitS`: of one that is there, in terms of
 * $3 to $5; `attempts`: how many it has had then.
 */
function queueAgain(mayJoin: string, waitS: string, attempts: string): string {
  return `
  insert into deployer_queue as q (address, asked_at, due_at, attempts, failure)
  select $1, control_now(), control_now() + make_interval(secs => $3::int), 1, $2
  where (${mayJoin} and (select count(*) from deployer_queue where asked_by = '') < $6::int)
    or exists (select from deployer_queue where address = $1)
  on conflict (address) do update
    set attempts = ${attempts}, failure = excluded.failure,
        due_at = control_now() + make_interval(secs => ${waitS})`;
}

/** The wait, the attempts before it doubles, and how often it does. */
const DOUBLED = '$3::int * (1 << least(greatest(q.attempts - $4::int, 0), $5::int))';
/** As long as so many a second take for all that wait. */
const SPREAD = `least($5::int, greatest($3::int,
  (select count(*) from deployer_queue where failure is not null)::int / $4::int))`;

/** How many attempts of a walk that was cut are made before their wait doubles. */
function steadyFor({ launches, skipped }: DeployerWalk): number {
  const contracts = Math.max(1, launches.length + skipped.length);
  const { contracts: together, least, most } = RETRY_CUT;
  return Math.min(most, Math.max(least, Math.floor(together / contracts)));
}

function againOf(address: string, reason: string, steady: number): readonly (string | number)[] {
  return [address, reason, RETRY.everyS, steady, RETRY.doublingsMax, AGAIN_WAITING_MAX];
}

const QUEUE_CUT = queueAgain('true', DOUBLED, 'q.attempts + 1');
// What no queue knows of was walked by a command; without a record nobody has asked for one.
const HAS_RECORD = 'exists (select from deployer_records where address = $1)';
const QUEUE_FAILED = queueAgain(HAS_RECORD, DOUBLED, 'q.attempts + 1');
// One question is no attempt: within the hour in which one is asked first, a walk follows.
const QUEUE_SILENT = queueAgain(HAS_RECORD, SPREAD, 'greatest(q.attempts, 1)');

const GIVE_UP = 'delete from deployer_queue where address = $1 and attempts >= $2';

function newestIn({ launches }: DeployerWalk): Date | null {
  if (launches.length === 0) return null;
  return storeTime(Math.max(...launches.map(({ created_at }) => created_at)));
}
