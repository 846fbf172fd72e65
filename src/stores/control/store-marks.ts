// A control store that is put back to an earlier state cannot tell so itself: each machine leaves
// marks in it, keeps its last one in a file, and keeps there what had ended by then.

import { join } from 'node:path';
import { z } from 'zod';
import { why } from '../../evidence/reasons.ts';
import {
  endedAccess,
  SEEN_KEPT_S,
  type SeenStore,
  type SeenStoreFile,
  type StoreMarks,
  type StoreMarksPort,
  seenStore,
} from '../../ports/store-marks.ts';
import { writeWhole } from '../../sources/files/write-whole.ts';
import { jsonIn } from '../../sources/http/fetch.ts';
import {
  type ControlContext,
  columnsOf,
  controlReadings,
  type Database,
  epoch,
  epochSecond,
  onlyRow,
} from './engine/database.ts';
import { DamagedFile, faultText, fileReadings, readIfThere } from './machine-files.ts';

/** Of more that ended the newest is remembered: a store that is put back is seldom old. */
const ENDED_MAX = 100_000;

const PORT: StoreMarksPort = 'store_marks';
const NAME = 'seen-store.json';

// A key that was replaced ends later, and earlier than it would have.
const ENDED = `
  select * from (
    select 'key' as what, id, prefix as name, ${epoch('least(revoked_at, expires_at)', 'ended_at')}
    from api_keys where revoked_at is not null or replaced_at is not null
    union all
    select 'token', id, prefix, ${epoch('revoked_at')}
    from intelligence_tokens where revoked_at is not null
    union all
    select 'membership', membership_id, membership_id, ${epoch('updated_at')}
    from memberships where status = 'inactive'
  ) ended where ended_at > greatest($3::float8, extract(epoch from control_now()) - $1::float8)
  order by ended_at desc limit $2::int`;

// $1 to $4: what ended, as a machine saw it.
const OPEN_AGAIN = `
  select s.what, s.id, s.name, s.ended_at
  from unnest($1::text[], $2::text[], $3::text[], $4::float8[]) as s(what, id, name, ended_at)
  left join api_keys k on s.what = 'key' and k.id = s.id
  left join intelligence_tokens t on s.what = 'token' and t.id = s.id
  left join memberships m on s.what = 'membership' and m.membership_id = s.id
  where s.what = 'key' and k.revoked_at is null and k.expires_at > control_now()
      and k.expires_at > to_timestamp(s.ended_at) + interval '1 second'
    or s.what = 'token' and t.id is not null and t.revoked_at is null
    or s.what = 'membership' and m.status = 'active'
      and m.updated_at < to_timestamp(s.ended_at) - interval '1 second'
  order by s.ended_at, s.id`;

const NOTE_LOST = `
  insert into store_restores (seen_mark, held_to, seen_to, noticed_at)
  select $1, (select max(at) from store_marks where at <= to_timestamp($2)), to_timestamp($2),
    control_now()
  where not exists (select from store_marks where id = $1)
    and to_timestamp($2) > control_now() - make_interval(secs => $3::int)
  on conflict do nothing returning 1 as one`;

const restoreRow = z.strictObject({
  held_to: z.number().nullable(),
  seen_to: z.number(),
  noticed_at: z.number(),
  accepted_at: z.number().nullable(),
  accepted_why: z.string().nullable(),
});
const atRow = z.strictObject({ at: z.number() });

/** The marks over the control database. */
export function storeMarkTable(database: Database, context: ControlContext): StoreMarks {
  const { ask } = controlReadings(PORT, 'The table of marks', context);
  return {
    now: () =>
      ask(async () => {
        const rows = await database.query(`select ${epochSecond('control_now()', 'at')}`);
        return atRow.parse(onlyRow(rows)).at;
      }),
    mark: (id) =>
      ask(async () => {
        await database.query(
          'delete from store_marks where at < control_now() - make_interval(secs => $1::int)',
          [SEEN_KEPT_S],
        );
        const rows = await database.query(
          `insert into store_marks (id, at) values ($1, control_now())
           returning ${epochSecond('at', 'at')}`,
          [id],
        );
        return atRow.parse(onlyRow(rows)).at;
      }),
    noteLost: ({ id, at }) =>
      ask(async () => (await database.query(NOTE_LOST, [id, at, SEEN_KEPT_S])).length > 0),
    ended: (since) =>
      ask(async () => {
        const rows = await database.query(ENDED, [SEEN_KEPT_S, ENDED_MAX, since]);
        return z.array(endedAccess).parse(rows);
      }),
    openAgain: (of) =>
      ask(async () => {
        const columns = columnsOf(of, ['what', 'id', 'name', 'ended_at']);
        return z.array(endedAccess).parse(await database.query(OPEN_AGAIN, columns));
      }),
    restores: () =>
      ask(async () => {
        const rows = await database.query(
          `select ${epochSecond('held_to', 'held_to')}, ${epochSecond('seen_to', 'seen_to')},
             ${epochSecond('noticed_at', 'noticed_at')},
             ${epochSecond('accepted_at', 'accepted_at')}, accepted_why
           from store_restores order by store_restores.noticed_at desc limit 100`,
        );
        return z.array(restoreRow).parse(rows);
      }),
    accept: (because, leftOpen) =>
      ask(async () => {
        const rows = await database.query(
          `update store_restores
           set accepted_at = control_now(), accepted_why = $1, left_open = $2::jsonb
           where accepted_at is null returning 1 as one`,
          [because, JSON.stringify(leftOpen)],
        );
        return rows.length;
      }),
  };
}

/** Nothing was seen by a machine without the file. */
const NOTHING_SEEN: SeenStore = Object.freeze({ mark: null, ended: [] });

/** The file in the data directory. */
export function seenStoreFile(dataDir: string, context: ControlContext): SeenStoreFile {
  const path = join(dataDir, NAME);
  const ask = fileReadings(
    PORT,
    { name: NAME, url: 'urn:exhibit:seen-store' },
    (fault) => why('store_unreadable', { what: `The file ${NAME}`, fault: faultText(fault) }),
    context,
  );
  return {
    read: () =>
      ask(async () => {
        const text = await readIfThere(path);
        if (text === null) return NOTHING_SEEN;
        const seen = seenStore.safeParse(jsonIn(text));
        if (!seen.success) throw new DamagedFile('it is damaged');
        return seen.data;
      }),
    write: (seen) =>
      ask(async () => {
        await writeWhole(path, JSON.stringify(seen));
        return true as const;
      }),
  };
}
