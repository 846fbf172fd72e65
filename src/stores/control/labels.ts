// Which exchange labels does the control store hold?
// Rows of all sources stand side by side; only those of imports in force are ever given out by key.

import { Read } from '../../evidence/reading.ts';
import type { LabelRole } from '../../ports/labels/exchange-labels.ts';
import type { LabelRow, LabelTable, LabelTablePort } from '../../ports/labels/label-table.ts';
import type { Numbered } from '../../ports/tables/table-import.ts';
import type { Database, Session } from './engine/database.ts';
import { asked, type ImportShape, importStore } from './imports.ts';
import { noteChanges, renoteChanges } from './label-changes.ts';

const SHAPE: ImportShape<LabelRow, LabelTablePort> = {
  port: 'label_table',
  table: 'exchange_labels',
  what: 'The store of the exchange-wallet table',
  insert,
  completing: renoteChanges,
  unread: 'not i.in_force',
};

/** How many rows one look-up by key may give. */
const UNDER_ROWS_MAX = 100_000;

const COLUMNS =
  'l.n, l.match_key, l.address, l.chain, l.label, l.entity, l.role, l.confidence, ' +
  'l.clusterable, l.source, l.source_url, l.first_seen';

type Row = Omit<Numbered<LabelRow>, 'role'> & { readonly role: LabelRole };

/** The exchange-wallet table in a control store. `now` gives Unix seconds. */
export function labelStore(database: Database, now: () => number): LabelTable {
  const ask = <T>(work: () => Promise<T>) => asked(SHAPE, database, now, work);
  const imports = importStore(database, SHAPE, now);
  return {
    ...imports,
    complete: async (id, end) => {
      const noted = await ask(() => noteChanges(database, id));
      return noted instanceof Read ? imports.complete(id, end) : noted;
    },
    page: (id, afterN, throughN) =>
      ask(() =>
        database.query<Row>(
          `select ${COLUMNS} from exchange_labels l
            where l.import_id = $1 and l.n > $2 and l.n <= $3 order by l.n`,
          [id, afterN, throughN],
        ),
      ),
    under: (keys) =>
      ask(async () => {
        const rows = await database.query<Row>(
          `select ${COLUMNS} from exchange_labels l
             join table_imports i on i.id = l.import_id and i.in_force
            where l.match_key = any($1::text[])
            order by l.import_id, l.n limit ${UNDER_ROWS_MAX + 1}`,
          [[...keys]],
        );
        if (rows.length > UNDER_ROWS_MAX) throw new Error('labels: a look-up gave too many rows');
        return rows;
      }),
  };
}

async function insert(
  session: Pick<Session, 'query'>,
  id: number,
  rows: readonly Numbered<LabelRow>[],
): Promise<readonly number[]> {
  const kept = await session.query<{ n: number }>(
    `insert into exchange_labels
       (import_id, n, match_key, address, chain, label, entity, role, confidence, clusterable,
        source, source_url, first_seen)
     select $1, * from unnest($2::int4[], $3::text[], $4::text[], $5::text[], $6::text[],
       $7::text[], $8::text[], $9::text[], $10::bool[], $11::text[], $12::text[], $13::date[])
     on conflict do nothing returning n`,
    [
      id,
      rows.map((row) => row.n),
      rows.map((row) => row.match_key),
      rows.map((row) => row.address),
      rows.map((row) => row.chain),
      rows.map((row) => row.label),
      rows.map((row) => row.entity),
      rows.map((row) => row.role),
      rows.map((row) => row.confidence),
      rows.map((row) => row.clusterable),
      rows.map((row) => row.source),
      rows.map((row) => row.source_url),
      rows.map((row) => row.first_seen),
    ],
  );
  return kept.map(({ n }) => n);
}
