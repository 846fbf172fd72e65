// Which changes of the exchange-wallet table does the control store hold, and how are they noted?
// They are noted in pieces before an import is put in force, so that nobody waits for a long
// statement; nobody sees them before it is.

import { part, type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { LabelRole } from '../../ports/labels/exchange-labels.ts';
import type {
  ChangesAsked,
  LabelChange,
  LabelChanges,
  LabelChangesPort,
} from '../../ports/labels/label-changes.ts';
import { type Database, type Session, StoreUnavailable } from './engine/database.ts';
import type { ImportNotes } from './imported-tables.ts';

const PORT = 'label_changes';
/** The name of the log as a source. */
const CHANGES_TITLE = 'Change log of the exchange wallet table';
const WHAT = 'The change log of the exchange-wallet table';
/** How many rows of an import one statement compares. */
const STATEMENT_ROWS = 250;
const STATEMENTS_MAX = 40_000;
const MS_PER_S = 1_000;

type Asking = Pick<Session, 'query'>;

const SAME_LABEL =
  'o.match_key = l.match_key and o.entity = l.entity and o.chain is not distinct from l.chain';
const COLUMNS =
  'import_id, change, match_key, address, chain, entity, label, role, confidence, source_url, ' +
  'first_seen, label_before, role_before, confidence_before, source_url_before';
const PIECE = 'l.import_id = $1 and l.n > $3 and l.n <= $4';

/** A label that stood there before keeps the day on which it was first seen. */
const KEEP_FIRST_SEEN = `update exchange_labels l set first_seen = o.first_seen
  from exchange_labels o
  where o.import_id = $2 and ${SAME_LABEL} and o.first_seen < l.first_seen and ${PIECE}`;
const NOTE_NEW = `insert into label_changes (${COLUMNS})
  select l.import_id, case when o.import_id is null then 'added' else 'changed' end,
    l.match_key, l.address, l.chain, l.entity, l.label, l.role, l.confidence, l.source_url,
    l.first_seen, o.label, o.role, o.confidence, o.source_url
  from exchange_labels l
  left join exchange_labels o on o.import_id = $2 and ${SAME_LABEL}
  where ${PIECE} and (o.import_id is null
    or (o.label, o.role, o.confidence) <> (l.label, l.role, l.confidence)
    or o.source_url is distinct from l.source_url)
  order by l.n`;
const NOTE_GONE = `insert into label_changes (${COLUMNS})
  select $2::int4, 'removed', l.match_key, l.address, l.chain, l.entity, l.label, l.role,
    l.confidence, l.source_url, l.first_seen, null, null, null, null
  from exchange_labels l
  where ${PIECE} and not exists (
    select 1 from exchange_labels o where o.import_id = $2 and ${SAME_LABEL})
  order by l.n`;

/** What an import of labels notes of itself. */
export const LABEL_NOTES: ImportNotes = { before: noteChanges, completing: renoteChanges };

/** Notes what a staged import changes of the one in force of its source. */
async function noteChanges(session: Asking, id: number): Promise<void> {
  const before = await inForceBefore(session, id);
  await session.query('delete from label_changes where import_id = $1', [id]);
  await inPieces(session, [KEEP_FIRST_SEEN, NOTE_NEW], id, before);
  if (before !== null) await inPieces(session, [NOTE_GONE], before, id);
  await session.query('update table_imports set compared_with = $2 where id = $1', [id, before]);
}

/** Notes them again where another import of the source came in between. */
async function renoteChanges(session: Asking, id: number): Promise<void> {
  const before = await inForceBefore(session, id);
  const [noted] = await session.query<{ compared_with: number | null }>(
    'select compared_with from table_imports where id = $1',
    [id],
  );
  if (noted !== undefined && noted.compared_with !== before) await noteChanges(session, id);
}

async function inForceBefore(session: Asking, id: number): Promise<number | null> {
  const [row] = await session.query<{ id: number }>(
    `select o.id from table_imports i
       join table_imports o on o.table_name = i.table_name and o.source = i.source and o.in_force
      where i.id = $1 and o.id <> i.id`,
    [id],
  );
  return row === undefined ? null : row.id;
}

async function inPieces(
  session: Asking,
  statements: readonly string[],
  of: number,
  other: number | null,
): Promise<void> {
  const [last] = await session.query<{ n: number | null }>(
    'select max(n) as n from exchange_labels where import_id = $1',
    [of],
  );
  const until = last === undefined ? null : last.n;
  for (let i = 0; until !== null && i * STATEMENT_ROWS < until; i += 1) {
    if (i >= STATEMENTS_MAX) throw new Error('labels: an import of too many rows');
    const piece = [of, other, i * STATEMENT_ROWS, (i + 1) * STATEMENT_ROWS];
    for (const statement of statements) await session.query(statement, piece);
  }
}

type Row = Omit<LabelChange, 'before' | 'at' | 'role'> & {
  readonly role: LabelRole;
  readonly completed_at: Date;
  readonly label_before: string | null;
  readonly role_before: LabelRole | null;
  readonly confidence_before: string | null;
  readonly source_url_before: string | null;
};

/** The log in a control store. `now` gives Unix seconds. */
export function labelChangeStore(database: Database, now: () => number): LabelChanges {
  return {
    newest: async (asked) => {
      try {
        const rows = await changeRows(database, asked);
        const source: Source = {
          name: CHANGES_TITLE,
          url: `${database.kind}:`,
          as_of: now(),
          kind: 'table',
          simulated: rows.some(({ origin }) => origin === 'simulated'),
        };
        if (rows.length === 0 && !(await everImported(database))) return neverImported();
        const changes = rows.slice(0, asked.limit).map(changeOf);
        if (rows.length <= asked.limit) return read(changes, { port: PORT, source });
        const cut = why('row_cap', { address: 'the log', limit: String(asked.limit) });
        return part(changes, { port: PORT, source }, cut);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        return unread(PORT, why('store_unreadable', { what: WHAT, fault: error.fault }));
      }
    },
  };
}

function neverImported(): Reading<never, LabelChangesPort> {
  return unread(PORT, why('table_never_imported', { what: 'the exchange-wallet table' }));
}

function changeRows(database: Database, asked: ChangesAsked): Promise<Row[]> {
  return database.query<Row>(
    `select c.id::int4 as id, c.import_id, c.change, c.address, c.chain, c.entity, c.label, c.role,
        c.confidence, c.source_url, c.first_seen, c.label_before, c.role_before,
        c.confidence_before, c.source_url_before, i.source, i.completed_at, i.sha256, i.origin
       from label_changes c
       join table_imports i on i.id = c.import_id and i.completed_at is not null
      where ($1::bigint is null or c.id < $1) and ($2::text is null or c.match_key = $2)
      order by c.id desc limit $3`,
    [asked.beforeId, asked.matchKey, asked.limit + 1],
  );
}

async function everImported(database: Database): Promise<boolean> {
  const rows = await database.query(
    `select 1 from table_imports
      where table_name = 'exchange_labels' and completed_at is not null limit 1`,
  );
  return rows.length > 0;
}

function changeOf({ completed_at, label_before, role_before, ...row }: Row): LabelChange {
  const { confidence_before: confidence, source_url_before: source_url, ...rest } = row;
  const isChanged = label_before !== null && role_before !== null && confidence !== null;
  return {
    ...rest,
    at: Math.floor(completed_at.getTime() / MS_PER_S),
    before: isChanged ? { label: label_before, role: role_before, confidence, source_url } : null,
  };
}
