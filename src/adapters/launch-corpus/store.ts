// Which launches does the control store hold, counted by the wallet that launched them?
// An import adds to what is held and never takes a launch away; what has settled stays settled.

import type { CorpusTable, CorpusTablePort, Launch } from '../../ports/corpus-table.ts';
import type { LaunchCount } from '../../ports/launch-corpus.ts';
import type { Numbered } from '../../ports/table-import.ts';
import type { Database, Session } from '../control/database.ts';
import { asked, type ImportShape, importStore, timeOf } from '../table-import/import-store.ts';

const SHAPE: ImportShape<Launch, CorpusTablePort> = {
  port: 'corpus_table',
  table: 'launches',
  what: 'The store of the Solana launch corpus',
  staged: 'launches_staged',
  insert,
  merge,
};

const COUNTED = `
  select deployer, count(*)::int4 as launches_settled,
         count(*) filter (where not listed_after_window)::int4 as died
    from launches where settled`;

/** The Solana launch corpus in a control store. `now` gives Unix seconds. */
export function corpusStore(database: Database, now: () => number): CorpusTable {
  const ask = <T>(work: () => Promise<T>) => asked(SHAPE, database, now, work);
  return {
    ...importStore(database, SHAPE, now),
    settled: () =>
      ask(async () => {
        const [row] = await database.query<{ settled: number }>(
          'select count(*)::int4 as settled from launches where settled',
        );
        if (row === undefined) throw new Error('launches: the store counted nothing');
        return row.settled;
      }),
    counts: (afterDeployer, rowsMax) =>
      ask(() =>
        database.query<LaunchCount>(
          `${COUNTED} and deployer collate "C" > $1
            group by deployer order by deployer collate "C" limit $2`,
          [afterDeployer, rowsMax],
        ),
      ),
    countsOf: (deployers) =>
      ask(() =>
        database.query<LaunchCount>(`${COUNTED} and deployer = any($1::text[]) group by deployer`, [
          [...deployers],
        ]),
      ),
  };
}

async function insert(
  session: Pick<Session, 'query'>,
  id: number,
  rows: readonly Numbered<Launch>[],
): Promise<readonly number[]> {
  const kept = await session.query<{ n: number }>(
    `insert into launches_staged
       (import_id, n, mint, deployer, launched_at, listed_after_window, last_checked_at, settled)
     select $1, * from unnest($2::int4[], $3::text[], $4::text[], $5::timestamptz[], $6::bool[],
       $7::timestamptz[], $8::bool[])
     on conflict do nothing returning n`,
    [
      id,
      rows.map((row) => row.n),
      rows.map((row) => row.mint),
      rows.map((row) => row.deployer),
      rows.map((row) => timeOf(row.launched_at)),
      rows.map((row) => row.listed_after_window),
      rows.map((row) => timeOf(row.last_checked_at)),
      rows.map((row) => row.settled),
    ],
  );
  return kept.map(({ n }) => n);
}

async function merge(session: Pick<Session, 'query'>, id: number): Promise<void> {
  await session.query(
    `insert into launches (mint, deployer, launched_at, listed_after_window, last_checked_at,
                           settled, import_id)
     select mint, deployer, launched_at, listed_after_window, last_checked_at, settled, import_id
       from launches_staged where import_id = $1
     on conflict (mint) do update set
       deployer = excluded.deployer, launched_at = excluded.launched_at,
       listed_after_window = excluded.listed_after_window,
       last_checked_at = excluded.last_checked_at, settled = excluded.settled,
       import_id = excluded.import_id
     where excluded.last_checked_at >= launches.last_checked_at
       and (excluded.settled or not launches.settled)`,
    [id],
  );
  await session.query('delete from launches_staged where import_id = $1', [id]);
}
