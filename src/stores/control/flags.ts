// Which flagged addresses does the control store hold?
// Rows of all sources stand side by side; only those of imports in force are ever loaded.

import type { FlaggedTable, FlaggedTablePort, FlaggedTableRow } from '../../ports/flags/table.ts';
import type { Numbered } from '../../ports/tables/table-import.ts';
import type { Database, Session } from './engine/database.ts';
import { asked, type ImportShape, importStore } from './imports.ts';

const SHAPE: ImportShape<FlaggedTableRow, FlaggedTablePort> = {
  port: 'flagged_table',
  table: 'flagged_addresses',
  what: 'The store of the table of flagged addresses',
  insert,
  unread: 'not i.in_force',
};

const COLUMNS =
  'f.n, f.match_key, f.creator_key, f.address, f.chain, f.tag, f.category, f.is_contract, ' +
  'f.creator, f.creation_tx, f.source, f.source_url, f.first_seen';

/** The table of flagged addresses in a control store. `now` gives Unix seconds. */
export function flaggedStore(database: Database, now: () => number): FlaggedTable {
  return {
    ...importStore(database, SHAPE, now),
    page: (id, afterN, throughN) =>
      asked(SHAPE, database, now, () =>
        database.query<Numbered<FlaggedTableRow>>(
          `select ${COLUMNS} from flagged_addresses f
            where f.import_id = $1 and f.n > $2 and f.n <= $3 order by f.n`,
          [id, afterN, throughN],
        ),
      ),
  };
}

async function insert(
  session: Pick<Session, 'query'>,
  id: number,
  rows: readonly Numbered<FlaggedTableRow>[],
): Promise<readonly number[]> {
  const kept = await session.query<{ n: number }>(
    `insert into flagged_addresses
       (import_id, n, match_key, creator_key, address, chain, tag, category, is_contract, creator,
        creation_tx, source, source_url, first_seen)
     select $1, * from unnest($2::int4[], $3::text[], $4::text[], $5::text[], $6::text[],
       $7::text[], $8::text[], $9::bool[], $10::text[], $11::text[], $12::text[], $13::text[],
       $14::date[])
     on conflict do nothing returning n`,
    [
      id,
      rows.map((row) => row.n),
      rows.map((row) => row.match_key),
      rows.map((row) => row.creator_key),
      rows.map((row) => row.address),
      rows.map((row) => row.chain),
      rows.map((row) => row.tag),
      rows.map((row) => row.category),
      rows.map((row) => row.is_contract),
      rows.map((row) => row.creator),
      rows.map((row) => row.creation_tx),
      rows.map((row) => row.source),
      rows.map((row) => row.source_url),
      rows.map((row) => row.first_seen),
    ],
  );
  return kept.map(({ n }) => n);
}
