import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import {
  type NewRecord,
  RECORDS_KEPT_YEARS,
  recordLine,
  type ScreeningRecord,
  type ScreeningRecords,
  screeningRecord,
} from '../../ports/screening.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epoch,
  onlyRow,
  rowOrNull,
  type Session,
} from './engine/database.ts';

/** So many of a membership are listed, the newest. */
const LISTED_MAX = 100;
/** Random, so that the id of one record says nothing of another. */
const ID_BYTES = 16;

const LINE = `r.id, r.input, r.state, r.answer_sha256, ${epoch('r.made_at')},
  ${epoch('r.kept_until')}`;
const WHOLE = `${LINE}, r.membership_id, r.key_id, r.versions, r.sources, r.code_version, r.answer`;

/** The records over the control database. */
export function screeningRecordTable(
  database: Database,
  context: ControlContext,
): ScreeningRecords {
  const { ask, askList } = controlReadings('screening_records', 'The records of screens', context);
  return {
    keep: (record, recordsMax) =>
      ask(() => database.transaction((session) => keepRecord(session, record, recordsMax))),
    find: (membershipId, id) =>
      ask(async () => {
        const sql = `select ${WHOLE} from screening_records r
          where r.id = $1 and r.membership_id = $2 and r.kept_until > control_now()`;
        const rows = await database.query(sql, [id, membershipId]);
        return screeningRecord.nullable().parse(rowOrNull(rows));
      }),
    newest: (membershipId) =>
      askList(LISTED_MAX, 'records', async (limit) => {
        const rows = await database.query(
          `select ${LINE} from screening_records r
           where r.membership_id = $1 and r.kept_until > control_now()
           order by r.made_at desc, r.id limit ${limit}`,
          [membershipId],
        );
        return z.array(recordLine).parse(rows);
      }),
  };
}

const countedRow = z.strictObject({ held: z.int() });

// One after another for each membership, so that those who come together do not pass its bound.
async function keepRecord(
  session: Session,
  record: NewRecord,
  recordsMax: number,
): Promise<ScreeningRecord | 'full'> {
  const { membership_id } = record;
  const lock = `screening_records ${membership_id}`;
  await session.query('select pg_advisory_xact_lock(hashtext($1))', [lock]);
  await session.query(
    'delete from screening_records where membership_id = $1 and kept_until <= control_now()',
    [membership_id],
  );
  const counted = await session.query(
    'select count(*)::int4 as held from screening_records where membership_id = $1',
    [membership_id],
  );
  if (countedRow.parse(onlyRow(counted)).held >= recordsMax) return 'full';
  const rows = await session.query(
    `insert into screening_records as r (id, membership_id, key_id, route, input, versions, sources,
       code_version, state, answer, answer_sha256, made_at, kept_until)
     values ($1, $2, $3, $4, $5::text::jsonb, $6::text::jsonb, $7::text::jsonb, $8, $9, $10, $11,
       to_timestamp($12), to_timestamp($12) + make_interval(years => ${RECORDS_KEPT_YEARS}))
     returning ${WHOLE}`,
    [
      `scr_${randomBytes(ID_BYTES).toString('hex')}`,
      membership_id,
      record.key_id,
      record.input.route,
      JSON.stringify(record.input),
      JSON.stringify(record.versions),
      JSON.stringify(record.sources),
      record.code_version,
      record.state,
      record.answer,
      record.answer_sha256,
      record.made_at,
    ],
  );
  return screeningRecord.parse(onlyRow(rows));
}
