// The publications of the list, the one in force, and the changes of each. A replacement is one
// transaction under the lock of the row that names the list in force. `ports/sanctions.ts` has the
// shapes of the rows, and `features/sanctions/publication-gate.ts` decides which list is written.

import { z } from 'zod';
import { matchKey } from '../../chain/address.ts';
import { HOUR_S, MS_PER_S } from '../../chain/time.ts';
import { collect, listOrNone, rowsUnder } from '../../evidence/measure.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type Acceptable,
  type AddressListing,
  type ChangedListing,
  type FileEvent,
  fileEvent,
  type HeldRefusal,
  heldPublication,
  heldRefusal,
  type InForce,
  inForce,
  keyedEntry,
  LIST_CHANGES,
  type ListChange,
  type ListChangeKind,
  type ListChanges,
  type ListChangesRequest,
  type ListDiff,
  type ListEntry,
  listChange,
  listEntry,
  type NewerRefusal,
  type NewestCheck,
  newerRefusal,
  type PublicationName,
  type PublicationStore,
  type PublishedList,
  publicationName,
  type ServedFile,
  type SourceCheck,
  type Span,
  servedFile,
  sourceCheck,
  type Written,
} from '../../ports/sanctions.ts';
import {
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
  rowOrNull,
  type Session,
  storeSpan,
  storeTime,
} from './engine/database.ts';
import { readLog } from './imported-tables.ts';

const PORT = 'publication_store';

type Asking = Pick<Session, 'query'>;
/** Publications named in one answer; the publisher brings out a few hundred a year. */
const HELD_MAX = 20_000;
/** Sources told at once: each configured address that was ever asked is one. */
const ASKED_MAX = 50;

export function publicationStore(database: Database, now: () => number): PublicationStore {
  const context = { simulated: false, nowMs: () => now() * MS_PER_S };
  const { ask, run } = controlReadings(PORT, 'The store of the sanctions list', context);
  return {
    inForce: () => ask(() => readInForce(database)),
    held: () =>
      ask(async () => {
        const rows = await database.query(
          `${PUBLICATION} order by p.published desc, coalesce(c.at, p.accepted_at) desc, p.id desc
            limit ${HELD_MAX}`,
        );
        return z.array(heldPublication).parse(rows);
      }),
    entries: (id) => ask(() => entries(database, id)),
    entriesUnder: (ids, keys) =>
      ask(async () => {
        const rows = await database.query(
          `select publication_id, match_key, ${ENTRY} from sanctions_entries
            where publication_id = any($1::integer[]) and match_key = any($2::text[])
            order by publication_id, ordinal`,
          [ids, keys],
        );
        return z
          .array(keyedRow)
          .parse(rows)
          .map(({ publication_id, match_key, ...entry }) => {
            return { publication_id, match_key, entry };
          });
      }),
    lastServed: (key) =>
      ask(async () => {
        const rows = await database.query(
          `select sha256,
             json_build_object('etag', etag, 'last_modified', last_modified) as validators
           from sanctions_sources where source_key = $1 and sha256 is not null`,
          [key],
        );
        return servedFile.nullable().parse(rowOrNull(rows));
      }),
    asked: () =>
      ask(async () => {
        const rows = await database.query(
          `select json_build_object('key', s.source_key, 'url', s.source_url) as source,
             ${epochSecond('s.asked_at')}, s.result
           from sanctions_sources s order by s.asked_at desc, s.source_key limit ${ASKED_MAX}`,
        );
        return z.array(sourceCheck).parse(rows);
      }),
    recordAsked: (asked, served) => run(() => recordAsked(database, asked, served)),
    accept: (next) => ask(() => database.transaction((session) => accept(session, next))),
    recordCheck: (check) =>
      ask(() => database.transaction((session) => recordCheck(session, check))),
    refusals: () => ask(() => refusals(database, REFUSALS_TOLD_MAX)),
    refusalOf: (sha256) => ask(() => readRefusal(database, sha256)),
    recordRefusal: (refusal) =>
      run(() => database.transaction((session) => recordRefusal(session, refusal))),
  };
}

const OWN_DATE = "least(p.published::timestamp at time zone 'UTC', control_now())";
// A check ahead of the clock is no check: then the first of its source counts, else none. Without
// a check a list counts as checked on its own day, at the latest now.
const PUBLICATION = `
  select p.id, p.published, p.sha256, p.format, p.source_key, p.source_url, p.reader_version,
         p.distinct_addresses, p.parties, p.record_count, p.unparsed, p.accepted_why,
         ${epochSecond('p.accepted_at')},
         ${epochSecond(`coalesce(c.at, ${OWN_DATE})`, 'checked_at')},
         coalesce(c.basis, 'own_date') as checked_by
    from sanctions_publications p
    left join lateral (
      select t.at, k.basis
        from sanctions_checks k
       cross join lateral (values (k.last_at), (k.first_at)) as t (at)
       where k.publication_id = p.id and t.at <= control_now()
       order by t.at desc limit 1
    ) c on true`;

async function readInForce(session: Asking): Promise<InForce> {
  const current = await session.query(
    `${PUBLICATION} join sanctions_current n on n.publication_id = p.id`,
  );
  const superseded = await readNewerRefusal(session);
  const newest = await refusals(session, 1);
  const stood = await session.query(
    `select ${epochSecond('control_now()', 'now')},
            (select count(*)::integer from sanctions_refusals r
              where n.changed_at is null or r.refused_at >= n.changed_at) as refusals
       from sanctions_current n`,
  );
  return inForce.parse({
    ...onlyRow(stood),
    publication: rowOrNull(current),
    superseded,
    newest_refusal: rowOrNull(newest),
  });
}

const ENTRY = 'address, currency, entity, type, programs, uid, remarks, listed_on, note';
const keyedRow = listEntry.extend(keyedEntry.omit({ entry: true }).shape);

async function entries(session: Asking, id: number): Promise<ListEntry[]> {
  const rows = await session.query(
    `select ${ENTRY} from sanctions_entries where publication_id = $1 order by ordinal`,
    [id],
  );
  return z.array(listEntry).parse(rows);
}

async function recordAsked(
  session: Asking,
  { source, asked_at, result }: SourceCheck,
  served: ServedFile | null,
): Promise<void> {
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
      storeTime(asked_at),
      result,
      ...(served === null
        ? [null, null, null]
        : [served.sha256, served.validators.etag, served.validators.last_modified]),
    ],
  );
}

const currentRow = z.strictObject({ publication_id: z.int().nullable() });

async function lockCurrent(session: Session): Promise<number | null> {
  const rows = await session.query('select publication_id from sanctions_current for update');
  return currentRow.parse(onlyRow(rows)).publication_id;
}

/** Puts a list in force: its rows, whose word it is, and the row that names it, all or none. */
async function accept(session: Session, next: Acceptable): Promise<Written> {
  if ((await lockCurrent(session)) !== next.instead_of) return 'moved';
  await noteChanges(session, next);
  const id = await publicationId(session, next);
  if (next.check !== null) await writeCheck(session, { ...next, publication_id: id });
  await session.query('update sanctions_current set publication_id = $1, changed_at = $2', [
    id,
    storeTime(next.accepted_at),
  ]);
  // A file in force is no longer refused, whoever accepted it.
  await session.query('delete from sanctions_refusals where sha256 = $1', [next.list.sha256]);
  return 'written';
}

const knownRow = heldPublication.pick({ id: true, reader_version: true });
const idRow = knownRow.pick({ id: true });

/** The id of the publication with its rows: its own where the same reader read it before. */
async function publicationId(session: Session, next: Acceptable): Promise<number> {
  const { sha256, addresses } = next.list;
  const rows = await session.query(
    'select id, reader_version from sanctions_publications where sha256 = $1',
    [sha256],
  );
  const known = knownRow.nullable().parse(rowOrNull(rows));
  if (known === null) {
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
  const made = await session.query(
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
      storeTime(next.accepted_at),
      next.accepted_why,
    ],
  );
  return idRow.parse(onlyRow(made)).id;
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
    [
      id,
      JSON.stringify(
        addresses.map((entry, ordinal) => {
          return { ...entry, ordinal, match_key: matchKey(entry.address) };
        }),
      ),
    ],
  );
}

async function recordCheck(session: Session, check: NewestCheck): Promise<Written> {
  if ((await lockCurrent(session)) !== check.publication_id) return 'moved';
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
  { publication_id, source, check }: Omit<NewestCheck, 'check'> & Pick<Acceptable, 'check'>,
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
    [publication_id, source.key, source.url, storeTime(check.at), check.by],
  );
}

// The changes are noted in the transaction that puts the list in force, before its rows replace
// those that they are compared with.

const WHAT = 'The change log of the sanctions list';

type Noted = Pick<Acceptable, 'list' | 'source' | 'accepted_at' | 'accepted_why' | 'instead_of'>;

/** Notes a list that is about to come into force, and what it changes of the one before. */
export async function noteChanges(session: Asking, next: Noted): Promise<void> {
  const { list, source } = next;
  const before =
    next.instead_of === null
      ? null
      : publicationName.parse(
          onlyRow(
            await session.query(
              'select published, sha256 from sanctions_publications where id = $1',
              [next.instead_of],
            ),
          ),
        );
  const inserted = await session.query(
    `insert into sanctions_acceptances (kind, published, sha256, source_url, distinct_addresses,
       published_before, sha256_before, accepted_at, accepted_why)
     values ($1, $2::date, $3, $4, $5, $6::date, $7, $8, $9) returning id`,
    [
      before === null ? 'first' : await kindOf(session, before, list.sha256),
      list.published,
      list.sha256,
      source.url,
      list.distinct_addresses,
      before === null ? null : before.published,
      before === null ? null : before.sha256,
      storeTime(next.accepted_at),
      next.accepted_why,
    ],
  );
  if (next.instead_of === null) return;
  const addresses = await entries(session, next.instead_of);
  const diff = diffPublications({ addresses }, list);
  const row = (change: ListChangeKind, listing: AddressListing, before: AddressListing | null) => {
    return { change, match_key: matchKey(listing.address), listing, before };
  };
  const rows = [
    ...diff.added.map((one) => row('added', one, null)),
    ...diff.removed.map((one) => row('removed', one, null)),
    ...diff.moved.map(({ from, to }) => row('moved', to, from)),
    ...diff.programmes_changed.map(({ from, to }) => row('programmes_changed', to, from)),
    ...diff.renamed.map(({ from, to }) => row('renamed', to, from)),
  ];
  await session.query(
    `insert into sanctions_changes (acceptance_id, change, match_key, listing, before)
     select $1, r.change, r.match_key, r.listing, r.before
       from jsonb_to_recordset($2::text::jsonb)
         as r (change text, match_key text, listing jsonb, before jsonb)`,
    [idRow.parse(onlyRow(inserted)).id, JSON.stringify(rows)],
  );
}

async function kindOf(session: Asking, before: PublicationName, sha256: string): Promise<string> {
  if (before.sha256 === sha256) return 'read_again';
  const held = await session.query('select 1 from sanctions_publications where sha256 = $1', [
    sha256,
  ]);
  return held.length > 0 ? 'replayed' : 'next';
}

/** The log in a control store. `now` gives Unix seconds. */
export function listChangeStore(
  database: Database,
  { simulated, now }: { readonly simulated: boolean; readonly now: () => number },
): ListChanges {
  const log = { port: 'sanctions_changes', title: WHAT, what: WHAT } as const;
  const isSimulated = () => simulated;
  const neverBegun = async () => {
    const begun = await database.query('select 1 from sanctions_acceptances limit 1');
    if (begun.length > 0) return null;
    return why('list_never_loaded', { detail: ' since its changes are kept' });
  };
  const ask = <T>(limit: number, rows: () => Promise<readonly T[]>) =>
    readLog(database, { ...log, neverBegun, isSimulated }, now, limit, rows);
  return {
    newest: (asked) => ask(asked.limit, () => changes(database, asked)),
    files: (asked) => ask(asked.limit, () => files(database, asked)),
  };
}

async function changes(database: Database, asked: ListChangesRequest): Promise<ListChange[]> {
  const rows = await database.query(
    `select c.id::int4 as id, c.change, c.listing, c.before, a.kind as outcome,
            ${epochSecond('a.accepted_at', 'at')},
            json_build_object('published', a.published_before,
                              'sha256', a.sha256_before) as "from",
            json_build_object('published', a.published, 'sha256', a.sha256) as "to"
       from sanctions_changes c
       join sanctions_acceptances a on a.id = c.acceptance_id
      where ($1::bigint is null or c.id < $1) and ($2::text is null or c.match_key = $2)
        and ($3::timestamptz is null or a.accepted_at >= $3)
        and ($4::timestamptz is null or a.accepted_at < $4)
      order by c.id desc limit $5`,
    [asked.beforeId, asked.matchKey, ...storeSpan(asked), asked.limit + 1],
  );
  return z.array(listChange).parse(rows);
}

const fileRow = fileEvent.omit({ before: true }).extend({
  published_before: z.string().nullable(),
  sha256_before: z.string().nullable(),
  counts: z.partialRecord(z.enum(LIST_CHANGES), z.number()),
});

async function files(
  database: Database,
  asked: Span & { readonly limit: number },
): Promise<FileEvent[]> {
  const rows = await database.query(
    `with counted as (
       select acceptance_id, jsonb_object_agg(change, n) as counts
         from (select acceptance_id, change, count(*)::integer as n
                 from sanctions_changes group by acceptance_id, change) by_kind
        group by acceptance_id)
     select outcome, sha256, source, ${epochSecond('events.at')}, published,
            published_before, sha256_before, counts, code, why from (
       select a.kind as outcome, a.sha256, a.source_url as source, a.accepted_at as at, a.published,
              a.published_before, a.sha256_before, coalesce(n.counts, '{}') as counts,
              null as code, a.accepted_why as why
         from sanctions_acceptances a left join counted n on n.acceptance_id = a.id
       union all
       select 'refused', sha256, source_url, refused_at, null, null, null, '{}', code, reason
         from sanctions_refusals) events
      where ($1::timestamptz is null or events.at >= $1)
        and ($2::timestamptz is null or events.at < $2)
      order by events.at desc, sha256 limit $3`,
    [...storeSpan(asked), asked.limit + 1],
  );
  const parsed = z.array(fileRow).parse(rows);
  return parsed.map(({ published_before, sha256_before, counts, ...row }) => {
    const compared = published_before !== null && sha256_before !== null;
    return {
      ...row,
      before: compared ? { published: published_before, sha256: sha256_before } : null,
      counts: compared ? { ...NO_CHANGE, ...counts } : null,
    };
  });
}

const NO_CHANGE = { added: 0, removed: 0, moved: 0, programmes_changed: 0, renamed: 0 };

// An address that passed to another entry is moved, never added and removed; one that is spelled
// otherwise and found as before did not change. Order of the two publications is the caller's.

type Listed = Pick<PublishedList, 'addresses'>;
type DiffRow = Listed['addresses'][number];

/** The differences from `a` to `b`. */
export function diffPublications(a: Listed, b: Listed): ListDiff {
  const before = listings(a);
  const after = listings(b);
  const lacking = [...before].filter(([key]) => !after.has(key)).map(([, found]) => found);
  const removed = new Set(lacking);
  const gone = new Map<string, AddressListing[]>();
  for (const one of lacking) collect(gone, matchKey(one.address), one);
  const added: AddressListing[] = [];
  const moved: ChangedListing[] = [];
  const both: ChangedListing[] = [];
  for (const [key, to] of after) {
    const from = before.get(key);
    if (from !== undefined) {
      both.push({ from, to });
      continue;
    }
    const earlier = rowsUnder(gone, matchKey(to.address)).find((listing) => removed.has(listing));
    if (earlier === undefined) {
      added.push(to);
      continue;
    }
    removed.delete(earlier);
    moved.push({ from: earlier, to });
  }
  return {
    added,
    removed: [...removed],
    moved,
    programmes_changed: both.filter(({ from, to }) => !sameSet(from.programs, to.programs)),
    renamed: both.filter(({ from, to }) => nameKey(from.entity) !== nameKey(to.entity)),
  };
}

function listings({ addresses }: Listed): Map<string, AddressListing> {
  const rows = new Map<string, DiffRow[]>();
  for (const row of addresses) collect(rows, JSON.stringify([matchKey(row.address), row.uid]), row);
  return new Map([...rows].map(([key, under]) => [key, listing(under)]));
}

function listing(rows: readonly DiffRow[]): AddressListing {
  const [row] = rows;
  if (row === undefined) throw new Error('a key without rows');
  const { address, uid, entity, type } = row;
  const said = rows.flatMap((under) => listOrNone(under.programs));
  const open = rows.some((under) => under.programs === null);
  const programs = open ? null : [...new Set(said)];
  const currencies = [...new Set(rows.map(({ currency }) => currency))];
  return { address, uid, entity, type, programs, currencies };
}

function sameSet(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null) return a === b;
  const held = new Set(b);
  return a.length === held.size && a.every((item) => held.has(item));
}

/** The two formats part a middle name differently: with a comma, or with a space. */
function nameKey(entity: string | null): string | null {
  return entity === null ? null : entity.replaceAll(',', '');
}

/** How many refusals are remembered: a source that sends other bytes each hour fills a week. */
const REFUSALS_MAX = 200;
export const REFUSALS_TOLD_MAX = 10;

/** So long must the publisher have called ours the newest before a newer file is forgotten. */
const DENIED_FOR_S = 12 * HOUR_S;

// A refused file stands against the list in force where it is newer, the publisher's later file of
// the same day, or the very file in force that today's reader refuses: until another list takes its
// place, or the publisher has gone on without it.
const SUPERSEDED = `
  select coalesce(r.published, p.published) as published, r.source_url, r.code,
         ${epochSecond('min(r.first_at) over ()', 'since')}
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
export async function readNewerRefusal(session: Asking): Promise<NewerRefusal | null> {
  return newerRefusal.nullable().parse(rowOrNull(await session.query(SUPERSEDED)));
}

const REFUSAL = `
  select sha256, source_url, code, reason, published, from_publisher, passing, acceptable,
         judged_by, kept_as, ${epochSecond('r.first_at')}, ${epochSecond('r.refused_at')}
    from sanctions_refusals r`;

/** The newest refusals, newest first. */
export async function refusals(session: Asking, most: number): Promise<HeldRefusal[]> {
  const sql = `${REFUSAL} order by r.refused_at desc, r.id desc limit $1`;
  return z.array(heldRefusal).parse(await session.query(sql, [most]));
}

/** The newest refusal of one file. */
export async function readRefusal(session: Asking, sha256: string): Promise<HeldRefusal | null> {
  const sql = `${REFUSAL} where r.sha256 = $1 order by r.refused_at desc, r.id desc limit 1`;
  return heldRefusal.nullable().parse(rowOrNull(await session.query(sql, [sha256])));
}

/** Remembers a refusal, and forgets the oldest. */
export async function recordRefusal(session: Session, refusal: HeldRefusal): Promise<void> {
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
      storeTime(refusal.first_at),
      storeTime(refusal.refused_at),
    ],
  );
  await session.query(
    `delete from sanctions_refusals where id not in
       (select id from sanctions_refusals order by refused_at desc, id desc limit ${REFUSALS_MAX})`,
  );
}
