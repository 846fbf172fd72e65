// Reads the changes of the lists of other authorities. An address may have several entries on a
// list: they are compared together, as one.

import { z } from 'zod';
import {
  type ChangesRequest,
  type ImportsRequest,
  type LabelChanges,
  labelChange,
  type OtherListChanges,
  type OtherListChangesRequest,
  otherListChange,
  otherListImport,
} from '../../ports/tables.ts';
import { type Database, epochSecond, storeSpan } from './engine/database.ts';
import { changeNotes, PIECE, readLog, tableLog } from './imported-tables.ts';

const LOG = {
  port: 'other_list_changes',
  title: 'Change log of other lists',
  what: 'The change log of other lists',
  of: 'the table of other lists',
  table: 'other_lists',
} as const;

const ENTRY = `jsonb_build_object('address', e.address, 'currency', e.currency, 'entity', e.entity,
  'entity_type', e.entity_type, 'programs', e.programs, 'entry_id', e.entry_id,
  'source_url', e.source_url, 'listed_at', e.listed_at, 'ended_at', e.ended_at, 'note', e.note)`;

/**
 * The entries of the address of `l` in an import, in an order of their own; null for none. They are
 * looked up by address (hence `+ 0`): an engine that counted rows before this import came takes it
 * for one without rows, and would walk all of it for each address.
 */
const entriesIn = (id: string) => `(select jsonb_agg(one order by one::text) from (
  select ${ENTRY} as one from other_lists e
   where e.import_id + 0 = ${id} and e.match_key = l.match_key) entries)`;

/** The first row of the address of `l` in an import, looked up likewise; null for none. */
const firstIn = (id: string) => `(select min(f.n) from other_lists f
  where f.import_id + 0 = ${id} and f.match_key = l.match_key)`;
/** An address is compared once, at the first of its rows. */
const FIRST_OF_ADDRESS = `l.n = ${firstIn('l.import_id')}`;

const COLUMNS = 'import_id, change, match_key, address, entries, before';

/** The change records of a list's import. */
export const OTHER_LIST_NOTES = changeNotes({
  table: 'other_lists',
  log: 'other_list_changes',
  ofNew: [
    `insert into other_list_changes (${COLUMNS})
      select import_id, case when before is null then 'added' else 'changed' end,
        match_key, address, entries, before
      from (select l.import_id, l.n, l.match_key, l.address, ${entriesIn('$1')} as entries,
              ${entriesIn('$2')} as before
            from other_lists l where ${PIECE} and ${FIRST_OF_ADDRESS}) compared
      where before is distinct from entries order by n`,
  ],
  ofGone: `insert into other_list_changes (${COLUMNS})
    select $2::int4, 'removed', l.match_key, l.address, ${entriesIn('$1')}, null
    from other_lists l
    where ${PIECE} and ${FIRST_OF_ADDRESS} and ${firstIn('$2::int4')} is null
    order by l.n`,
});

/** The log in a control store. `now` gives Unix seconds. */
export function otherListChangeStore(database: Database, now: () => number): OtherListChanges {
  const log = tableLog(database, LOG);
  return {
    newest: (asked) => readLog(database, log, now, asked.limit, () => changes(database, asked)),
    imports: (asked) => readLog(database, log, now, asked.limit, () => imports(database, asked)),
  };
}

async function changes(database: Database, asked: OtherListChangesRequest) {
  const rows = await database.query(
    `select c.id::int4 as id, c.change, i.source as list, c.address, c.entries, c.before,
        c.import_id, i.sha256, i.origin = 'simulated' as simulated,
        ${epochSecond('i.completed_at', 'at')}
       from other_list_changes c
       join table_imports i on i.id = c.import_id and i.completed_at is not null
      where ($1::text is null or i.source = $1)
        and ($2::timestamptz is null or i.completed_at >= $2)
        and ($3::timestamptz is null or i.completed_at < $3)
        and ($4::bigint is null or c.id < $4) and ($5::text is null or c.match_key = $5)
      order by c.id desc limit $6`,
    [asked.list, ...storeSpan(asked), asked.beforeId, asked.matchKey, asked.limit + 1],
  );
  return z.array(otherListChange).parse(rows);
}

async function imports(database: Database, asked: ImportsRequest) {
  const rows = await database.query(
    `select i.source as list, i.id as import_id, i.dated_by, i.sha256,
        i.source_url, i.rows_accepted as rows, i.rows_refused, i.rows_lost,
        i.origin = 'simulated' as simulated, ${epochSecond('i.completed_at', 'at')},
        ${epochSecond('i.as_of')}, json_build_object('added', n.added, 'changed', n.changed,
          'removed', n.removed) as counts
       from table_imports i,
         lateral (select count(*) filter (where change = 'added')::int4 as added,
                    count(*) filter (where change = 'changed')::int4 as changed,
                    count(*) filter (where change = 'removed')::int4 as removed
                    from other_list_changes where import_id = i.id) n
      where i.table_name = 'other_lists' and i.completed_at is not null
        and ($1::text is null or i.source = $1)
        and ($2::timestamptz is null or i.completed_at >= $2)
        and ($3::timestamptz is null or i.completed_at < $3)
      order by i.completed_at desc, i.id desc limit $4`,
    [asked.list, ...storeSpan(asked), asked.limit + 1],
  );
  return z.array(otherListImport).parse(rows);
}

// Reads the changes of the exchange-wallet table.

const LABEL_LOG = {
  port: 'label_changes',
  title: 'Change log of the exchange wallet table',
  what: 'The change log of the exchange-wallet table',
  of: 'the exchange-wallet table',
  table: 'exchange_labels',
} as const;

const SAME_LABEL =
  'o.match_key = l.match_key and o.entity = l.entity and o.chain is not distinct from l.chain';
const LABEL_COLUMNS =
  'import_id, change, match_key, address, chain, entity, label, role, confidence, source_url, ' +
  'first_seen, label_before, role_before, confidence_before, source_url_before';

/** A label that stood there before keeps the day on which it was first seen. */
const KEEP_FIRST_SEEN = `update exchange_labels l set first_seen = o.first_seen
  from exchange_labels o
  where o.import_id = $2 and ${SAME_LABEL} and o.first_seen < l.first_seen and ${PIECE}`;
const NOTE_NEW = `insert into label_changes (${LABEL_COLUMNS})
  select l.import_id, case when o.import_id is null then 'added' else 'changed' end,
    l.match_key, l.address, l.chain, l.entity, l.label, l.role, l.confidence, l.source_url,
    l.first_seen, o.label, o.role, o.confidence, o.source_url
  from exchange_labels l
  left join exchange_labels o on o.import_id = $2 and ${SAME_LABEL}
  where ${PIECE} and (o.import_id is null
    or (o.label, o.role, o.confidence) <> (l.label, l.role, l.confidence)
    or o.source_url is distinct from l.source_url)
  order by l.n`;
const NOTE_GONE = `insert into label_changes (${LABEL_COLUMNS})
  select $2::int4, 'removed', l.match_key, l.address, l.chain, l.entity, l.label, l.role,
    l.confidence, l.source_url, l.first_seen, null, null, null, null
  from exchange_labels l
  where ${PIECE} and not exists (
    select 1 from exchange_labels o where o.import_id = $2 and ${SAME_LABEL})
  order by l.n`;

/** The change records of a label import. */
export const LABEL_NOTES = changeNotes({
  table: 'exchange_labels',
  log: 'label_changes',
  ofNew: [KEEP_FIRST_SEEN, NOTE_NEW],
  ofGone: NOTE_GONE,
});

/** The log in a control store. `now` gives Unix seconds. */
export function labelChangeStore(database: Database, now: () => number): LabelChanges {
  const log = tableLog(database, LABEL_LOG);
  return {
    newest: (asked) =>
      readLog(database, log, now, asked.limit, () => labelChanges(database, asked)),
  };
}

async function labelChanges(database: Database, asked: ChangesRequest) {
  const rows = await database.query(
    `select c.id::int4 as id, c.import_id, c.change, c.address, c.chain, c.entity, c.label, c.role,
        c.confidence, c.source_url, c.first_seen, i.source, i.sha256, i.origin,
        ${epochSecond('i.completed_at', 'at')},
        case when c.label_before is not null and c.role_before is not null
            and c.confidence_before is not null
          then json_build_object('label', c.label_before, 'role', c.role_before,
            'confidence', c.confidence_before, 'source_url', c.source_url_before)
        end as before
       from label_changes c
       join table_imports i on i.id = c.import_id and i.completed_at is not null
      where ($1::bigint is null or c.id < $1) and ($2::text is null or c.match_key = $2)
      order by c.id desc limit $3`,
    [asked.beforeId, asked.matchKey, asked.limit + 1],
  );
  return z.array(labelChange).parse(rows);
}
