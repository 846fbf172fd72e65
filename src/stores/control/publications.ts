// Answers one question: which publications does the control store hold.
// A replacement is one transaction under the lock of the row that names the list in force.

import { matchKey } from '../../chain/address.ts';
import { MS_PER_S } from '../../chain/time.ts';
import type {
  Acceptable,
  Asked,
  Check,
  HeldPublication,
  InForce,
  KeyedEntry,
  PublicationStore,
  Served,
  Written,
} from '../../ports/sanctions/publication-store.ts';
import type { ListEntry } from '../../ports/sanctions/sanctions-list.ts';
import { controlReadings } from './engine/control-readings.ts';
import { type Database, onlyRow, type Session } from './engine/database.ts';
import { noteChanges } from './publication-changes.ts';
import {
  REFUSALS_TOLD_MAX,
  recordRefusal,
  refusalOf,
  refusals,
  secondsOf,
  supersededBy,
  timeOf,
} from './publication-refusals.ts';

const PORT = 'publication_store';
/** Publications named in one answer; the publisher brings out a few hundred a year. */
const HELD_MAX = 20_000;
/** Sources told at once: each configured address that was ever asked is one. */
const ASKED_MAX = 50;

/** The publications in a control store. */
export function publicationStore(database: Database, now: () => number): PublicationStore {
  const context = { simulated: false, nowMs: () => now() * MS_PER_S };
  const { ask } = controlReadings(PORT, 'The store of the sanctions list', context);
  return {
    inForce: () => ask(() => inForce(database)),
    held: () => ask(() => held(database)),
    entries: (id) => ask(async () => (await entries(database, id)).map((row) => row.entry)),
    entriesUnder: (ids, keys) => ask(() => entriesUnder(database, ids, keys)),
    lastServed: (key) => ask(() => lastServed(database, key)),
    asked: () => ask(() => sourcesAsked(database)),
    recordAsked: (asked, served) => ask(() => recordAsked(database, asked, served)),
    accept: (next) => ask(() => database.transaction((session) => accept(session, next))),
    recordCheck: (check) =>
      ask(() => database.transaction((session) => recordCheck(session, check))),
    refusals: () => ask(() => refusals(database, REFUSALS_TOLD_MAX)),
    refusalOf: (sha256) => ask(() => refusalOf(database, sha256)),
    recordRefusal: (refusal) =>
      ask(() => database.transaction((session) => recordRefusal(session, refusal))),
  };
}

type PublicationRow = Omit<HeldPublication, 'accepted_at' | 'checked_at' | 'checked_by'> & {
  readonly accepted_at: Date;
  readonly own_date: Date;
  readonly checked_at: Date | null;
  readonly basis: 'asked' | 'obtained' | null;
};

// A check ahead of the clock is no check: then the first of its source counts, else none. Without
// a check a list counts as checked on its own day, at the latest now.
const PUBLICATION = `
  select p.id, p.published, p.sha256, p.format, p.source_key, p.source_url, p.reader_version,
         p.distinct_addresses, p.parties, p.record_count, p.unparsed, p.accepted_at,
         p.accepted_why, c.at as checked_at, c.basis,
         least(p.published::timestamp at time zone 'UTC', control_now()) as own_date
    from sanctions_publications p
    left join lateral (
      select t.at, k.basis
        from sanctions_checks k
       cross join lateral (values (k.last_at), (k.first_at)) as t (at)
       where k.publication_id = p.id and t.at <= control_now()
       order by t.at desc limit 1
    ) c on true`;

function publicationOf(found: PublicationRow): HeldPublication {
  const { accepted_at, own_date, checked_at, basis, ...row } = found;
  return {
    ...row,
    accepted_at: secondsOf(accepted_at),
    checked_at: secondsOf(checked_at === null ? own_date : checked_at),
    checked_by: basis === null ? 'own_date' : basis,
  };
}

async function inForce(session: Pick<Session, 'query'>): Promise<InForce> {
  const [current] = await session.query<PublicationRow>(
    `${PUBLICATION} join sanctions_current n on n.publication_id = p.id`,
  );
  const superseded = await supersededBy(session);
  const [newest] = await refusals(session, 1);
  const stood = await session.query<{ readonly now: Date; readonly refused: number }>(
    `select control_now() as now,
            (select count(*)::integer from sanctions_refusals r
              where n.changed_at is null or r.refused_at >= n.changed_at) as refused
       from sanctions_current n`,
  );
  const { now, refused } = onlyRow(stood);
  return {
    now: secondsOf(now),
    publication: current === undefined ? null : publicationOf(current),
    superseded,
    newest_refusal: newest === undefined ? null : newest,
    refusals: refused,
  };
}

async function held(session: Pick<Session, 'query'>): Promise<HeldPublication[]> {
  const rows = await session.query<PublicationRow>(
    `${PUBLICATION} order by p.published desc, coalesce(c.at, p.accepted_at) desc, p.id desc
      limit ${HELD_MAX}`,
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

async function lastServed(
  session: Pick<Session, 'query'>,
  sourceKey: string,
): Promise<Served | null> {
  const [row] = await session.query<{
    readonly sha256: string;
    readonly etag: string | null;
    readonly last_modified: string | null;
  }>(
    'select sha256, etag, last_modified from sanctions_sources ' +
      'where source_key = $1 and sha256 is not null',
    [sourceKey],
  );
  if (row === undefined) return null;
  const { sha256, ...validators } = row;
  return { sha256, validators };
}

async function sourcesAsked(session: Pick<Session, 'query'>): Promise<Asked[]> {
  const rows = await session.query<{
    readonly source_key: string;
    readonly source_url: string;
    readonly asked_at: Date;
    readonly result: string;
  }>(
    'select source_key, source_url, asked_at, result from sanctions_sources ' +
      `order by asked_at desc, source_key limit ${ASKED_MAX}`,
  );
  return rows.map(({ source_key, source_url, asked_at, result }) => ({
    source: { key: source_key, url: source_url },
    asked_at: secondsOf(asked_at),
    result,
  }));
}

async function recordAsked(
  session: Pick<Session, 'query'>,
  { source, asked_at, result }: Asked,
  served: Served | null,
): Promise<true> {
  await session.query(
    `insert into sanctions_sources as s (source_key, source_url, asked_at, result, sha256, etag,
       last_modified)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (source_key) do update
       set source_url = excluded.source_url, asked_at = excluded.asked_at,
           result = excluded.result, sha256 = coalesce(excluded.sha256, s.sha256),
           etag = case when excluded.sha256 is null then s.etag else excluded.etag end,
           last_modified = case when excluded.sha256 is null then s.last_modified
                                else excluded.last_modified end`,
    [
      source.key,
      source.url,
      timeOf(asked_at),
      result,
      ...(served === null
        ? [null, null, null]
        : [served.sha256, served.validators.etag, served.validators.last_modified]),
    ],
  );
  return true;
}

/** Takes the lock under which the list is replaced and checks are written. */
async function lockedCurrent(session: Session): Promise<number | null> {
  const rows = await session.query<{ readonly publication_id: number | null }>(
    'select publication_id from sanctions_current for update',
  );
  return onlyRow(rows).publication_id;
}

/** Puts a list in force: its rows, whose word it is, and the row that names it, all or none. */
async function accept(session: Session, next: Acceptable): Promise<Written> {
  if ((await lockedCurrent(session)) !== next.instead_of) return 'moved';
  await noteChanges(session, next);
  const id = await publicationId(session, next);
  if (next.check !== null) await writeCheck(session, { ...next, publication_id: id });
  await session.query('update sanctions_current set publication_id = $1, changed_at = $2', [
    id,
    timeOf(next.accepted_at),
  ]);
  // What is in force is refused no more, whoever let it pass.
  await session.query('delete from sanctions_refusals where sha256 = $1', [next.list.sha256]);
  return 'written';
}

/** The id of the publication with its rows: its own where the same reader read it before. */
async function publicationId(session: Session, next: Acceptable): Promise<number> {
  const { sha256, addresses } = next.list;
  const [known] = await session.query<{ readonly id: number; readonly reader_version: number }>(
    'select id, reader_version from sanctions_publications where sha256 = $1',
    [sha256],
  );
  if (known === undefined) {
    const id = await insertPublication(session, next);
    await writeEntries(session, id, addresses);
    return id;
  }
  if (known.reader_version !== next.reader_version) {
    await rereadPublication(session, known.id, next);
    await session.query('delete from sanctions_entries where publication_id = $1', [known.id]);
    await writeEntries(session, known.id, addresses);
  }
  return known.id;
}

async function insertPublication(session: Session, next: Acceptable): Promise<number> {
  const { list } = next;
  const made = await session.query<{ readonly id: number }>(
    `insert into sanctions_publications (published, sha256, format, source_key, source_url,
       reader_version, distinct_addresses, parties, record_count, unparsed, accepted_at,
       accepted_why)
     values ($1::date, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning id`,
    [
      list.published,
      list.sha256,
      list.format,
      next.source.key,
      next.source.url,
      next.reader_version,
      list.distinct_addresses,
      list.parties,
      list.record_count,
      list.unparsed,
      timeOf(next.accepted_at),
      next.accepted_why,
    ],
  );
  return onlyRow(made).id;
}

/** The same file as another reader reads it. */
async function rereadPublication(
  session: Session,
  id: number,
  { list, reader_version }: Acceptable,
): Promise<void> {
  await session.query(
    `update sanctions_publications
        set published = $2::date, format = $3, reader_version = $4, distinct_addresses = $5,
            parties = $6, record_count = $7, unparsed = $8
      where id = $1`,
    [
      id,
      list.published,
      list.format,
      reader_version,
      list.distinct_addresses,
      list.parties,
      list.record_count,
      list.unparsed,
    ],
  );
}

async function writeEntries(
  session: Session,
  id: number,
  addresses: readonly ListEntry[],
): Promise<void> {
  await session.query(
    `insert into sanctions_entries (publication_id, ordinal, match_key, address, currency, entity,
       type, programs, uid, remarks, listed_on, note)
     select $1, r.ordinal, r.match_key, r.address, r.currency, r.entity, r.type, r.programs, r.uid,
            r.remarks, r.listed_on, r.note
       from jsonb_to_recordset($2::text::jsonb) as r (ordinal integer, match_key text,
            address text, currency text, entity text, type text, programs jsonb, uid text,
            remarks text, listed_on date, note text)`,
    [id, JSON.stringify(addresses.map(numbered))],
  );
}

function numbered(entry: ListEntry, ordinal: number): object {
  return { ...entry, ordinal, match_key: matchKey(entry.address) };
}

async function recordCheck(session: Session, check: Check): Promise<Written> {
  if ((await lockedCurrent(session)) !== check.publication_id) return 'moved';
  await writeCheck(session, check);
  if (check.check.by === 'asked') {
    // The publisher vouches for the file, whoever served it first.
    await session.query(
      'update sanctions_publications set source_key = $2, source_url = $3 where id = $1',
      [check.publication_id, check.source.key, check.source.url],
    );
  }
  return 'written';
}

/**
 * Keeps the first and the last check of a source. An earlier one never moves the clock back, but
 * one that was stamped ahead of the clock gives way.
 */
async function writeCheck(
  session: Session,
  { publication_id, source, check }: Omit<Check, 'check'> & Pick<Acceptable, 'check'>,
): Promise<void> {
  if (check === null) return;
  await session.query(
    `insert into sanctions_checks as c (publication_id, source_key, source_url, first_at, last_at,
       basis)
     values ($1, $2, $3, $4, $4, $5)
     on conflict (publication_id, source_key) do update
       set first_at = least(c.first_at, excluded.first_at),
           last_at = case when c.last_at > control_now() then excluded.last_at
                          else greatest(c.last_at, excluded.last_at) end`,
    [publication_id, source.key, source.url, timeOf(check.at), check.by],
  );
}
