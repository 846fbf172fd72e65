// Answers one question: what did each list that came into force change, by the control store?
// The changes are noted in the transaction that puts the list in force, before its rows replace
// those that they are compared with.

import { matchKey } from '../../chain/address.ts';
import { MS_PER_S } from '../../chain/time.ts';
import { type Partly, part, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  FileEvent,
  ListChange,
  ListChangeKind,
  ListChanges,
  ListChangesAsked,
  ListChangesPort,
  Named,
  Span,
} from '../../ports/sanctions/list-changes.ts';
import type { Acceptable } from '../../ports/sanctions/publication-store.ts';
import type { ListDiff, Listing } from '../../ports/sanctions/publisher.ts';
import type { ListEntry } from '../../ports/sanctions/sanctions-list.ts';
import { type Database, onlyRow, type Session, StoreUnavailable } from './engine/database.ts';
import { diffPublications } from './publication-diff.ts';

const PORT = 'sanctions_changes';
const WHAT = 'The change log of the sanctions list';
/** What a reader is told of a log that nothing was written to. */
const SINCE_KEPT = ' since its changes are kept';

type Asking = Pick<Session, 'query'>;
type Noted = Pick<Acceptable, 'list' | 'source' | 'accepted_at' | 'accepted_why' | 'instead_of'>;

/** Notes a list that is about to come into force, and what it changes of the one before. */
export async function noteChanges(session: Asking, next: Noted): Promise<void> {
  const { list, source } = next;
  const before = next.instead_of === null ? null : await publicationOf(session, next.instead_of);
  const inserted = await session.query<{ readonly id: number }>(
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
      new Date(next.accepted_at * MS_PER_S),
      next.accepted_why,
    ],
  );
  if (before === null) return;
  const rows = rowsOf(diffPublications({ addresses: before.addresses }, list));
  await session.query(
    `insert into sanctions_changes (acceptance_id, change, match_key, listing, before)
     select $1, r.change, r.match_key, r.listing, r.before
       from jsonb_to_recordset($2::text::jsonb)
         as r (change text, match_key text, listing jsonb, before jsonb)`,
    [onlyRow(inserted).id, JSON.stringify(rows)],
  );
}

type Before = Named & { readonly addresses: readonly ListEntry[] };

async function publicationOf(session: Asking, id: number): Promise<Before> {
  const named = await session.query<Named>(
    'select published, sha256 from sanctions_publications where id = $1',
    [id],
  );
  const addresses = await session.query<ListEntry>(
    `select address, currency, entity, type, programs, uid, remarks, listed_on, note
       from sanctions_entries where publication_id = $1 order by ordinal`,
    [id],
  );
  return { ...onlyRow(named), addresses };
}

async function kindOf(session: Asking, before: Named, sha256: string): Promise<string> {
  if (before.sha256 === sha256) return 'read_again';
  const held = await session.query('select 1 from sanctions_publications where sha256 = $1', [
    sha256,
  ]);
  return held.length > 0 ? 'replayed' : 'next';
}

type Row = {
  readonly change: ListChangeKind;
  readonly match_key: string;
  readonly listing: Listing;
  readonly before: Listing | null;
};

function rowsOf(diff: ListDiff): Row[] {
  const row = (change: ListChangeKind, listing: Listing, before: Listing | null): Row => {
    return { change, match_key: matchKey(listing.address), listing, before };
  };
  return [
    ...diff.added.map((one) => row('added', one, null)),
    ...diff.removed.map((one) => row('removed', one, null)),
    ...diff.moved.map(({ from, to }) => row('moved', to, from)),
    ...diff.programmes_changed.map(({ from, to }) => row('programmes_changed', to, from)),
    ...diff.renamed.map(({ from, to }) => row('renamed', to, from)),
  ];
}

/** The log in a control store. `now` gives Unix seconds. */
export function listChangeStore(
  database: Database,
  { simulated, now }: { readonly simulated: boolean; readonly now: () => number },
): ListChanges {
  const listed = async <T>(
    limit: number,
    rows: () => Promise<readonly T[]>,
  ): Promise<Partly<readonly T[], ListChangesPort>> => {
    try {
      const found = await rows();
      const begun = await database.query('select 1 from sanctions_acceptances limit 1');
      if (begun.length === 0) return unread(PORT, why('list_never_loaded', { detail: SINCE_KEPT }));
      const source: Source = {
        name: WHAT,
        url: `${database.kind}:`,
        as_of: now(),
        kind: 'table',
        simulated,
      };
      if (found.length <= limit) return read(found, { port: PORT, source });
      const cut = why('row_cap', { address: 'the log', limit: String(limit) });
      return part(found.slice(0, limit), { port: PORT, source }, cut);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return unread(PORT, why('store_unreadable', { what: WHAT, fault: error.fault }));
    }
  };
  return {
    newest: (asked) => listed(asked.limit, () => changes(database, asked)),
    files: (asked) => listed(asked.limit, () => files(database, asked)),
  };
}

type ChangeRow = Omit<ListChange, 'at' | 'from' | 'to'> & {
  readonly at: Date;
  readonly published: string;
  readonly sha256: string;
  readonly published_before: string;
  readonly sha256_before: string;
};

async function changes(database: Database, asked: ListChangesAsked): Promise<ListChange[]> {
  const rows = await database.query<ChangeRow>(
    `select c.id::int4 as id, c.change, c.listing, c.before, a.kind as outcome, a.accepted_at as at,
            a.published, a.sha256, a.published_before, a.sha256_before
       from sanctions_changes c
       join sanctions_acceptances a on a.id = c.acceptance_id
      where ($1::bigint is null or c.id < $1) and ($2::text is null or c.match_key = $2)
        and ($3::timestamptz is null or a.accepted_at >= $3)
        and ($4::timestamptz is null or a.accepted_at < $4)
      order by c.id desc limit $5`,
    [asked.beforeId, asked.matchKey, ...spanOf(asked), asked.limit + 1],
  );
  return rows.map(({ at, published, sha256, published_before, sha256_before, ...row }) => ({
    ...row,
    at: secondsOf(at),
    from: { published: published_before, sha256: sha256_before },
    to: { published, sha256 },
  }));
}

type FileRow = Omit<FileEvent, 'at' | 'before' | 'counts'> & {
  readonly at: Date;
  readonly published_before: string | null;
  readonly sha256_before: string | null;
  readonly counts: { readonly [K in ListChangeKind]?: number };
};

async function files(
  database: Database,
  asked: Span & { readonly limit: number },
): Promise<FileEvent[]> {
  const rows = await database.query<FileRow>(
    `with counted as (
       select acceptance_id, jsonb_object_agg(change, n) as counts
         from (select acceptance_id, change, count(*)::integer as n
                 from sanctions_changes group by acceptance_id, change) by_kind
        group by acceptance_id)
     select * from (
       select a.kind as outcome, a.sha256, a.source_url, a.accepted_at as at, a.published,
              a.published_before, a.sha256_before, coalesce(n.counts, '{}') as counts,
              null as code, a.accepted_why as why
         from sanctions_acceptances a left join counted n on n.acceptance_id = a.id
       union all
       select 'refused', sha256, source_url, refused_at, null, null, null, '{}', code, reason
         from sanctions_refusals) events
      where ($1::timestamptz is null or at >= $1) and ($2::timestamptz is null or at < $2)
      order by at desc, sha256 limit $3`,
    [...spanOf(asked), asked.limit + 1],
  );
  return rows.map(({ at, published_before, sha256_before, counts, ...row }) => {
    const compared = published_before !== null && sha256_before !== null;
    return {
      ...row,
      at: secondsOf(at),
      before: compared ? { published: published_before, sha256: sha256_before } : null,
      counts: compared ? { ...NO_CHANGE, ...counts } : null,
    };
  });
}

const NO_CHANGE = { added: 0, removed: 0, moved: 0, programmes_changed: 0, renamed: 0 };

function spanOf({ from, until }: Span): (Date | null)[] {
  return [from, until].map((at) => (at === null ? null : new Date(at * MS_PER_S)));
}

function secondsOf(at: Date): number {
  return Math.floor(at.getTime() / MS_PER_S);
}
