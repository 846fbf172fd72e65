// A change is told in the transaction that keeps the screening it came of: in the log, to chats,
// and to streams, which read the log. Whoever is killed has told all of it or nothing.

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { matchKey } from '../../chain/address.ts';
import { placeOrBeginning } from '../../evidence/measure.ts';
import { storedWord } from '../../ports/stored-word.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  isoTimeColumn,
  onlyRow,
  rowOrNull,
  type Session,
} from '../../stores/control/engine/database.ts';
import { isLeaseHeld } from '../../stores/control/leases.ts';
import { appendDispatches } from '../../stores/control/outbox.ts';
import {
  finding,
  numberedChange,
  WATCH_CHANGES,
  WATCH_CHANGES_AT_ONCE_MAX,
  WATCH_CHANGES_KEPT,
  WATCH_LEASES,
  WATCH_PARTS,
  type WatchCommit,
  type WatchedAddress,
  type Watchlist,
  type WatchScreening,
  watched,
  watchedPart,
} from './shapes.ts';

const PORT = 'watchlist';
const WHAT = 'The watchlist';
const LISTED_MAX = 1_000;
const ID_BYTES = 16;
const WATCHED = `w.id, w.address, ${isoTimeColumn('w.added_at')}, w.parts`;
const CHANGE = `c.seq::float8 as seq, c.watch_id, c.address, c.part, c.change, c.before, c.after,
  c.version_before, c.version_after, c.not_read, c.simulated, ${isoTimeColumn('c.at')}`;

// A newer version may have written another part, or a field beside those of a finding: an address
// is listed and screened for what this one knows of it all the same. An older version wrote
// findings without a version and a time of their own.
const { version, read_at } = finding.shape;
const findings = z
  .array(
    z.object({ ...finding.shape, version: version.default(null), read_at: read_at.default(null) }),
  )
  .readonly();
const partRow = z.object({
  ...watchedPart.shape,
  part: storedWord(WATCH_PARTS),
  found: findings.nullable(),
});
const watchedRow = watched.extend({ parts: z.array(partRow).readonly() });
const dueRow = watchedRow.extend({ membership_id: z.string(), revision: z.int() });
const changeRow = numberedChange.extend({
  part: storedWord(WATCH_PARTS),
  change: storedWord(WATCH_CHANGES),
  before: findings.nullable(),
  after: findings,
});
const countedRow = z.strictObject({ newest: z.number() });
const endsRow = z.strictObject({ newest: z.number().nullable(), oldest: z.number().nullable() });

/** The watchlists over the control database. */
export function watchlistTable(database: Database, context: ControlContext): Watchlist {
  const { ask, askList } = controlReadings(PORT, WHAT, context);
  return {
    add: (membershipId, address, watchedMax) =>
      ask(() =>
        database.transaction((session) => addAddress(session, membershipId, address, watchedMax)),
      ),
    list: (membershipId, after) =>
      askList(LISTED_MAX, 'watched addresses', async (limit) => {
        const rows = await database.query(
          `select ${WATCHED} from watched_addresses w
           where w.membership_id = $1 and ($2::text is null or (w.added_at, w.id) >
             (select a.added_at, a.id from watched_addresses a
              where a.id = $2 and a.membership_id = $1))
           order by w.added_at, w.id limit ${limit}`,
          [membershipId, after],
        );
        return z.array(watchedRow).parse(rows);
      }),
    remove: (membershipId, id) =>
      ask(async () => {
        const gone = await database.query(
          'delete from watched_addresses where membership_id = $1 and id = $2 returning id',
          [membershipId, id],
        );
        return gone.length > 0;
      }),
    after: (membershipId, seq, limit) =>
      ask(async () => {
        if (limit > WATCH_CHANGES_AT_ONCE_MAX) throw new Error(`${limit} changes at once`);
        // Ends first: what is appended in between is not passed over as read.
        const rows = await database.query(
          `select (select newest::float8 from watch_logs where membership_id = $1) as newest,
       (select min(seq)::float8 from watch_changes where membership_id = $1) as oldest`,
          [membershipId],
        );
        const { newest, oldest } = endsRow.parse(onlyRow(rows));
        const ends = { newest: placeOrBeginning(newest), oldest };
        const changes = await database.query(
          `select ${CHANGE} from watch_changes c
           where c.membership_id = $1 and c.seq > $2 and c.seq <= $3 order by c.seq limit $4::int`,
          [membershipId, seq, ends.newest, limit],
        );
        return { ...ends, changes: z.array(changeRow).parse(changes) };
      }),
    newest: (membershipId, limit) =>
      ask(async () => {
        const rows = await database.query(
          `select ${CHANGE} from watch_changes c where c.membership_id = $1
           order by c.seq desc limit $2::int`,
          [membershipId, limit],
        );
        return z.array(changeRow).parse(rows);
      }),
  };
}

// One after another for each membership, so that those who come together do not pass its bound.
async function addAddress(
  session: Session,
  membershipId: string,
  address: string,
  watchedMax: number,
): Promise<{ readonly watched: WatchedAddress; readonly added: boolean } | 'full'> {
  const lock = `watched_addresses ${membershipId}`;
  await session.query('select pg_advisory_xact_lock(hashtext($1))', [lock]);
  const key = matchKey(address);
  const held = await session.query(
    `select ${WATCHED} from watched_addresses w where w.membership_id = $1 and w.match_key = $2`,
    [membershipId, key],
  );
  const before = watchedRow.nullable().parse(rowOrNull(held));
  if (before !== null) return { watched: before, added: false };
  const rows = await session.query(
    `insert into watched_addresses as w (id, membership_id, match_key, address, added_at)
     select $1, $2, $3, $4, control_now()
     where (select count(*) from watched_addresses where membership_id = $2) < $5::int
     returning ${WATCHED}`,
    [`wch_${randomBytes(ID_BYTES).toString('hex')}`, membershipId, key, address, watchedMax],
  );
  const watched = watchedRow.nullable().parse(rowOrNull(rows));
  return watched === null ? 'full' : { watched, added: true };
}

/** The watchlists to whoever screens them; `callStreams` wakes the streams of every process. */
export function watchScreeningTable(
  database: Database,
  context: ControlContext,
  callStreams: () => void,
): WatchScreening {
  const { ask } = controlReadings(PORT, WHAT, context);
  return {
    due: ({ of, signature, againS, limit }) =>
      ask(async () => {
        const rows = await database.query(of === 'tables' ? DUE_TABLES : DUE_HOPS, [
          signature,
          limit,
          ...(of === 'tables' ? [] : [againS]),
        ]);
        return z.array(dueRow).parse(rows);
      }),
    commit: (screening) =>
      ask(async () => {
        const kept = await database.transaction((session) => commit(session, screening));
        if (kept && screening.changes.length > 0) callStreams();
        return kept;
      }),
  };
}

const DUE = `${WATCHED}, w.membership_id, w.revision`;
const OF_ACTIVE = `from watched_addresses w
  join memberships m on m.membership_id = w.membership_id and m.status = 'active'`;
const DUE_TABLES = `select ${DUE} ${OF_ACTIVE}
  where w.tables_signature <> $1 order by w.added_at, w.id limit $2::int`;
// One address of each membership, and first of whom nothing was walked for longest: memberships
// take turns, however much each of them watches.
const DUE_HOPS = `select ${DUE} ${OF_ACTIVE}
  join (
    select distinct on (d.membership_id) d.id, l.walked_at from watched_addresses d
    join (
      select membership_id, max(hops_at) as walked_at from watched_addresses group by membership_id
    ) l on l.membership_id = d.membership_id
    where d.hops_signature <> $1 or d.hops_at < control_now() - make_interval(secs => $3::int)
    order by d.membership_id, d.hops_at, d.id
  ) t on t.id = w.id
  order by t.walked_at, w.id limit $2::int`;

const COUNT = `
  insert into watch_logs as l (membership_id, newest) values ($1, $2::int)
  on conflict (membership_id) do update set newest = l.newest + excluded.newest
  returning newest::float8 as newest`;
const APPEND = `
  insert into watch_changes (membership_id, seq, watch_id, address, part, change, before, after,
    version_before, version_after, not_read, simulated, at)
  values ($1, $2, $3, $4, $5, $6, $7::text::jsonb, $8::text::jsonb, $9, $10, $11::text::jsonb, $12,
    $13::timestamptz)`;
// A prefix goes, so that what is left has no gap, whatever the clock did.
const PRUNE = `
  delete from watch_changes where membership_id = $1 and seq <= greatest($2::bigint - $3::bigint,
    (select max(seq) from watch_changes where membership_id = $1
       and at < control_now() - make_interval(secs => $4::int)))`;

async function commit(session: Session, screening: WatchCommit): Promise<boolean> {
  const { watch, parts, signature, changes, dispatches, epoch } = screening;
  if (!(await isLeaseHeld(session, WATCH_LEASES[signature.of], epoch))) return false;
  const signed =
    signature.of === 'tables'
      ? 'tables_signature = $4'
      : 'hops_signature = $4, hops_at = control_now()';
  const rows = await session.query(
    `update watched_addresses w set parts = $3::text::jsonb, revision = w.revision + 1, ${signed}
     where w.id = $1 and w.revision = $2 returning w.id`,
    [watch.id, watch.revision, JSON.stringify(parts), signature.is],
  );
  if (rows.length === 0) return false;
  if (changes.length === 0) return true;
  const { membership_id } = watch;
  const counted = await session.query(COUNT, [membership_id, changes.length]);
  const { newest } = countedRow.parse(onlyRow(counted));
  for (const [i, change] of changes.entries()) {
    await session.query(APPEND, [
      membership_id,
      newest - changes.length + i + 1,
      watch.id,
      watch.address,
      change.part,
      change.change,
      change.before === null ? null : JSON.stringify(change.before),
      JSON.stringify(change.after),
      change.version_before,
      change.version_after,
      JSON.stringify(change.not_read),
      change.simulated,
      change.at,
    ]);
  }
  const { changesMax, ageMaxS } = WATCH_CHANGES_KEPT;
  await session.query(PRUNE, [membership_id, newest, changesMax, ageMaxS]);
  await appendDispatches(session, dispatches);
  return true;
}
