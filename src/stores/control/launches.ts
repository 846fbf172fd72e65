// Which launches does the control store hold, counted by the wallet that launched them?
// A mint may stand there once for each import that saw it; what counts is its best row. An import
// never takes a launch away, and what has settled stays settled.

import type { LaunchCount } from '../../ports/launches/launches.ts';
import type { CorpusTable, CorpusTablePort, Launch } from '../../ports/launches/table.ts';
import type { Numbered } from '../../ports/tables/table-import.ts';
import type { Database, Session } from './engine/database.ts';
import { asked, type ImportShape, importStore, timeOf } from './imports.ts';

/** Whether a completed import holds a better row of the mint of `r`: that one counts, not `r`. */
const OUTDONE = `exists (
  select 1 from launches b
    join table_imports bi on bi.id = b.import_id and bi.completed_at is not null
   where b.mint = r.mint
     and (b.settled, b.last_checked_at, b.import_id) >
         (r.settled, r.last_checked_at, r.import_id))`;

/** The rows that count and have settled. */
const SETTLED = `
  from launches r join table_imports i on i.id = r.import_id and i.completed_at is not null
 where r.settled and not ${OUTDONE}`;

const COUNTED = `
  select r.deployer, count(*)::int4 as launches_settled,
         count(*) filter (where not r.listed_after_window)::int4 as died ${SETTLED}`;

const SHAPE: ImportShape<Launch, CorpusTablePort> = {
  port: 'corpus_table',
  table: 'launches',
  what: 'The store of the Solana launch corpus',
  insert,
  unread: OUTDONE,
};

/** The Solana launch corpus in a control store. `now` gives Unix seconds. */
export function corpusStore(database: Database, now: () => number): CorpusTable {
  const ask = <T>(work: () => Promise<T>) => asked(SHAPE, database, now, work);
  return {
    ...importStore(database, SHAPE, now),
    settled: () =>
      ask(async () => {
        const [row] = await database.query<{ settled: number }>(
          `select count(*)::int4 as settled ${SETTLED}`,
        );
        if (row === undefined) throw new Error('launches: the store counted nothing');
        return row.settled;
      }),
    counts: (afterDeployer, rowsMax) =>
      ask(() =>
        database.query<LaunchCount>(
          `${COUNTED} and r.deployer > $1 group by r.deployer order by r.deployer limit $2`,
          [afterDeployer, rowsMax],
        ),
      ),
    countsOf: (deployers) =>
      ask(() =>
        database.query<LaunchCount>(
          `${COUNTED} and r.deployer = any($1::text[]) group by r.deployer`,
          [[...deployers]],
        ),
      ),
  };
}

async function insert(
  session: Pick<Session, 'query'>,
  id: number,
  rows: readonly Numbered<Launch>[],
): Promise<readonly number[]> {
  const kept = await session.query<{ n: number }>(
    `insert into launches
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
