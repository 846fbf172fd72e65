// Writes scored launches and completed runs into a control store of the tests.

import { establishedTokens } from '../sources/registry/registry-files.ts';
import { type Database, onlyRow } from '../stores/control/engine/database.ts';
import { STILL_NOW } from './clock.ts';
import { rowsAs } from './rows-as.ts';

const REGISTRY = new URL('../../registry/established-tokens.csv', import.meta.url);
/** The tokens that are established by review, as they come with the product. */
export const REVIEWED_TOKENS = establishedTokens(REGISTRY);

const AT = ['launched_at', 'observed_at', 'scored_at', 'first_flagged_at'];
const RUN_AT = ['began_at', 'ended_at'];

const FLAGGED = {
  chain: 'ethereum',
  token: `0x${'7'.repeat(40)}`,
  address: `0x${'1'.repeat(40)}`,
  launched_at: STILL_NOW - 7_200,
  observed_at: STILL_NOW - 3_600,
  liquidity_usd: 1_200 as number | null,
  scored_at: STILL_NOW - 600,
  model_version: 'rug-1',
  outcome: 'flagged',
  score: 0.93 as number | null,
  first_flagged_at: (STILL_NOW - 600) as number | null,
  top_evidence: JSON.stringify({
    feature: 'died_share',
    value: 0.9286,
    contribution: 1.75,
    statement: 'Of 14 earlier launches of its deployer 13 died.',
  }) as string | null,
  flag_seq: 1 as number | null,
  reason: null as string | null,
};

const RUN = {
  chain: 'ethereum',
  began_at: STILL_NOW - 61,
  ended_at: STILL_NOW - 60,
  model_version: 'rug-1',
  wallets: 1,
  scored: 1,
  flagged: 1,
  suppressed: 0,
  unscored: 0,
  retracted: 0,
  waiting: 0,
};

/** The absent fields of a launch that is not flagged. */
export const NO_FLAG = { first_flagged_at: null, top_evidence: null, flag_seq: null } as const;

/** Puts a scored launch there: a flagged one, but for what is given. */
export function putScore(database: Database, given: Partial<typeof FLAGGED> = {}): Promise<void> {
  return put(database, 'launch_scores', { ...FLAGGED, ...given }, AT);
}

/** Puts a run there that ended a minute ago, but for what is given. */
export function putRun(database: Database, given: Partial<typeof RUN> = {}): Promise<void> {
  return put(database, 'scorer_runs', { ...RUN, ...given }, RUN_AT);
}

async function put(
  database: Database,
  table: string,
  row: { readonly [column: string]: string | number | null },
  times: readonly string[],
): Promise<void> {
  const columns = Object.keys(row);
  const places = columns.map((column, i) => {
    return times.includes(column) ? `to_timestamp($${i + 1}::float8)` : `$${i + 1}`;
  });
  await database.query(
    `insert into ${table} (${columns.join(', ')}) values (${places.join(', ')})`,
    Object.values(row),
  );
}

/** A launch of the corpus; `listed` is `null` where it has not settled. */
type CorpusRow = readonly [
  mint: string,
  deployer: string,
  launchedAt: number,
  listed: boolean | null,
  checkedAt: number,
];

/** Puts launches there, as one import of the Solana corpus. */
export async function putCorpus(
  database: Database,
  rows: readonly CorpusRow[],
  source = 'tests',
): Promise<void> {
  const made = await rowsAs<{ id: number }>(
    database,
    `insert into table_imports (table_name, source, origin, started_at, completed_at, as_of,
       rows_accepted, rows_refused, sha256, in_force, dated_by, rows_lost)
     values ('launches', $1, 'observed', now(), now(), now(), 3, 0, repeat('a', 64), true,
       'import', 0) returning id`,
    [source],
  );
  for (const [n, [mint, deployer, launched, listed, checked]] of rows.entries()) {
    await database.query(
      `insert into launches (import_id, n, mint, deployer, launched_at, listed_after_window,
         last_checked_at, settled)
       values ($1, $2, $3, $4, to_timestamp($5::float8), $6, to_timestamp($7::float8), $8)`,
      [onlyRow(made).id, n, mint, deployer, launched, listed, checked, listed !== null],
    );
  }
}
