// Which changes of the exchange-wallet table does the control store hold?

import { map } from '../../evidence/reading.ts';
import type { LabelRole } from '../../ports/labels/exchange-labels.ts';
import type { ChangesAsked, LabelChange, LabelChanges } from '../../ports/labels/label-changes.ts';
import type { Database } from './engine/database.ts';
import { changeNotes, loggedRows, PIECE } from './import-changes.ts';

const LOG = {
  port: 'label_changes',
  title: 'Change log of the exchange wallet table',
  what: 'The change log of the exchange-wallet table',
  of: 'the exchange-wallet table',
  table: 'exchange_labels',
} as const;
const MS_PER_S = 1_000;

const SAME_LABEL =
  'o.match_key = l.match_key and o.entity = l.entity and o.chain is not distinct from l.chain';
const COLUMNS =
  'import_id, change, match_key, address, chain, entity, label, role, confidence, source_url, ' +
  'first_seen, label_before, role_before, confidence_before, source_url_before';

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
export const LABEL_NOTES = changeNotes({
  table: 'exchange_labels',
  log: 'label_changes',
  ofNew: [KEEP_FIRST_SEEN, NOTE_NEW],
  ofGone: NOTE_GONE,
});

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
      const found = await loggedRows(database, LOG, now, asked.limit, async () => {
        const rows = await changeRows(database, asked);
        return rows.map((row) => ({ row, simulated: row.origin === 'simulated' }));
      });
      return map(found, (rows) => rows.map(({ row }) => changeOf(row)));
    },
  };
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

function changeOf({ completed_at, label_before, role_before, ...row }: Row): LabelChange {
  const { confidence_before: confidence, source_url_before: source_url, ...rest } = row;
  const isChanged = label_before !== null && role_before !== null && confidence !== null;
  return {
    ...rest,
    at: Math.floor(completed_at.getTime() / MS_PER_S),
    before: isChanged ? { label: label_before, role: role_before, confidence, source_url } : null,
  };
}
