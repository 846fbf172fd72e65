// Answers one question: which publications does the control store hold.
// A replacement is one transaction under the lock of the row that names the list in force.

import { matchKey } from '../../chain/address.ts';
import { MS_PER_S } from '../../chain/time.ts';
import type {
  Acceptable,
  Check,
  HeldPublication,
  HeldRefusal,
  InForce,
  KeyedEntry,
  PublicationStore,
  Written,
} from '../../ports/sanctions/publication-store.ts';
import type { Validators } from '../../ports/sanctions/publisher.ts';
import type { ListEntry } from '../../ports/sanctions/sanctions-list.ts';
import { controlReadings } from './engine/control-readings.ts';
import { type Database, onlyRow, type Session } from './engine/database.ts';
import { noteChanges } from './publication-changes.ts';

const PORT = 'publication_store';
/** Publications named in one answer; the publisher brings out a few hundred a year. */
const HELD_MAX = 20_000;
/** How many refusals are remembered. */
const REFUSALS_MAX = 50;

/** The publications in a control store. */
export function publicationStore(database: Database, now: () => number): PublicationStore {
  const context = { simulated: false, nowMs: () => now() * MS_PER_S };
  const { ask } = controlReadings(PORT, 'The store of the sanctions list', context);
  return {
    inForce: () => ask(() => inForce(database)),
    held: () => ask(() => held(database)),
    entries: (id) => ask(async () => (await entries(database, id)).map((row) => row.entry)),
    entriesUnder: (ids, keys) => ask(() => entriesUnder(database, ids, keys)),
    validators: (id, key) => ask(() => validators(database, id, key)),
    accept: (next) => ask(() => database.transaction((session) => accept(session, next))),
    recordCheck: (check) =>
      ask(() => database.transaction((session) => recordCheck(session, check))),
    recordRefusal: (refusal) =>
      ask(() => database.transaction((session) => recordRefusal(session, refusal))),
  };
}

type PublicationRow = Omit<HeldPublication, 'accepted_at' | 'checked_at'> & {
  readonly accepted_at: Date;
  readonly checked_at: Date;
};

const PUBLICATION = `
  select p.id, p.published, p.sha256, p.format, p.source_url, p.distinct_addresses, p.parties,
         p.record_count, p.unparsed, p.accepted_at, p.accepted_why,
         (select max(c.last_at) from sanctions_checks c where c.publication_id = p.id) as checked_at
    from sanctions_publications p`;

function publicationOf({ accepted_at, checked_at, ...row }: PublicationRow): HeldPublication {
  return { ...row, accepted_at: secondsOf(accepted_at), checked_at: secondsOf(checked_at) };
}

function secondsOf(at: Date): number {
  return Math.floor(at.getTime() / MS_PER_S);
}

function timeOf(seconds: number): Date {
  return new Date(seconds * MS_PER_S);
}

async function inForce(session: Pick<Session, 'query'>): Promise<InForce> {
  const [current] = await session.query<PublicationRow>(
    `${PUBLICATION} join sanctions_current n on n.publication_id = p.id`,
  );
  const [refused] = await session.query<
    Omit<HeldRefusal, 'refused_at'> & { readonly refused_at: Date }
  >(
    'select sha256, source_url, code, reason, refused_at from sanctions_refusals ' +
      'order by refused_at desc, id desc limit 1',
  );
  return {
    publication: current === undefined ? null : publicationOf(current),
    newest_refusal:
      refused === undefined ? null : { ...refused, refused_at: secondsOf(refused.refused_at) },
  };
}

async function held(session: Pick<Session, 'query'>): Promise<HeldPublication[]> {
  const rows = await session.query<PublicationRow>(
    `${PUBLICATION} order by p.published desc, checked_at desc, p.id desc limit ${HELD_MAX}`,
  );
  return rows.map(publicationOf);
}

type EntryRow = Omit<ListEntry, 'programs'> & {
  readonly publication_id: number;
  readonly match_key: string;
  readonly programs: string[] | null;
};

const ENTRY = `
  select publication_id, match_key, address, currency, entity, type, programs, uid, remarks,
         listed_on, note
    from sanctions_entries`;

function keyedOf({ publication_id, match_key, ...entry }: EntryRow): KeyedEntry {
  return { publication_id, match_key, entry };
}

async function entries(session: Pick<Session, 'query'>, id: number): Promise<KeyedEntry[]> {
  const rows = await session.query<EntryRow>(
    `${ENTRY} where publication_id = $1 order by ordinal`,
    [id],
  );
  return rows.map(keyedOf);
}

async function entriesUnder(
  session: Pick<Session, 'query'>,
  ids: readonly number[],
  matchKeys: readonly string[],
): Promise<KeyedEntry[]> {
  const rows = await session.query<EntryRow>(
    `${ENTRY} where publication_id = any($1::integer[]) and match_key = any($2::text[])
      order by publication_id, ordinal`,
    [ids, matchKeys],
  );
  return rows.map(keyedOf);
}

async function validators(
  session: Pick<Session, 'query'>,
  id: number,
  sourceKey: string,
): Promise<Validators | null> {
  const [row] = await session.query<Validators>(
    'select etag, last_modified from sanctions_checks ' +
      'where publication_id = $1 and source_key = $2',
    [id, sourceKey],
  );
  return row === undefined ? null : row;
}

/** Takes the lock under which the list is replaced and checks are written. */
async function lockedCurrent(session: Session): Promise<number | null> {
  const rows = await session.query<{ readonly publication_id: number | null }>(
    'select publication_id from sanctions_current for update',
  );
  return onlyRow(rows).publication_id;
}

async function accept(session: Session, next: Acceptable): Promise<Written> {
  if ((await lockedCurrent(session)) !== next.instead_of) return 'moved';
  await noteChanges(session, next);
  const id = await publicationId(session, next);
  await writeCheck(session, { ...next, publication_id: id });
  await session.query('update sanctions_current set publication_id = $1, changed_at = $2', [
    id,
    timeOf(next.accepted_at),
  ]);
  return 'written';
}

/** The id of the publication: the one it already has where it was in force before. */
async function publicationId(session: Session, next: Acceptable): Promise<number> {
  const { list } = next;
  const [known] = await session.query<{ readonly id: number }>(
    'select id from sanctions_publications where sha256 = $1',
    [list.sha256],
  );
  if (known !== undefined) return known.id;
  const made = await session.query<{ readonly id: number }>(
    `insert into sanctions_publications (published, sha256, format, source_url, distinct_addresses,
       parties, record_count, unparsed, accepted_at, accepted_why)
     values ($1::date, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning id`,
    [
      list.published,
      list.sha256,
      list.format,
      next.source.url,
      list.distinct_addresses,
      list.parties,
      list.record_count,
      list.unparsed,
      timeOf(next.accepted_at),
      next.accepted_why,
    ],
  );
  const { id } = onlyRow(made);
  await session.query(
    `insert into sanctions_entries (publication_id, ordinal, match_key, address, currency, entity,
       type, programs, uid, remarks, listed_on, note)
     select $1, r.ordinal, r.match_key, r.address, r.currency, r.entity, r.type, r.programs, r.uid,
            r.remarks, r.listed_on, r.note
       from jsonb_to_recordset($2::text::jsonb) as r (ordinal integer, match_key text,
            address text, currency text, entity text, type text, programs jsonb, uid text,
            remarks text, listed_on date, note text)`,
    [id, JSON.stringify(list.addresses.map(numbered))],
  );
  return id;
}

function numbered(entry: ListEntry, ordinal: number): object {
  return { ...entry, ordinal, match_key: matchKey(entry.address) };
}

async function recordCheck(session: Session, check: Check): Promise<Written> {
  if ((await lockedCurrent(session)) !== check.publication_id) return 'moved';
  await writeCheck(session, check);
  return 'written';
}

/** Keeps the first and the last check of a source; an earlier one never moves the clock back. */
async function writeCheck(session: Session, check: Check): Promise<void> {
  await session.query(
    `insert into sanctions_checks as c (publication_id, source_key, source_url, first_at, last_at,
       etag, last_modified)
     values ($1, $2, $3, $4, $4, $5, $6)
     on conflict (publication_id, source_key) do update
       set first_at = least(c.first_at, excluded.first_at),
           last_at = greatest(c.last_at, excluded.last_at),
           etag = excluded.etag, last_modified = excluded.last_modified`,
    [
      check.publication_id,
      check.source.key,
      check.source.url,
      timeOf(check.checked_at),
      check.validators.etag,
      check.validators.last_modified,
    ],
  );
}

async function recordRefusal(session: Session, refusal: HeldRefusal): Promise<true> {
  await session.query(
    `insert into sanctions_refusals (sha256, source_url, code, reason, refused_at)
     values ($1, $2, $3, $4, $5)
     on conflict (sha256, code) do update
       set source_url = excluded.source_url, reason = excluded.reason,
           refused_at = excluded.refused_at`,
    [refusal.sha256, refusal.source_url, refusal.code, refusal.reason, timeOf(refusal.refused_at)],
  );
  await session.query(
    `delete from sanctions_refusals where id not in
       (select id from sanctions_refusals order by refused_at desc, id desc limit ${REFUSALS_MAX})`,
  );
  return true;
}
