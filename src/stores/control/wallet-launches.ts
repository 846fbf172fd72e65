// Of each mint its best row counts, as for the corpus. Reading is by the exact key of a wallet or a
// mint; what stands behind every answer is read anew each few seconds, the hold-out less often.

import { z } from 'zod';
import { MS_PER_S } from '../../chain/time.ts';
import { Read, type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import {
  type CorpusState,
  collection,
  type FlagEvaluation,
  type HoldOut,
  launchesBefore,
  measuredLaunches,
  mintLaunch,
  settledLaunch,
  WAITING_MAX,
  WALLET_ENTRIES_MAX,
  type WalletLaunches,
  type WalletLaunchesPort,
} from '../../ports/deployers.ts';
import { staleness } from '../../ports/launches.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
  rowOrNull,
} from './engine/database.ts';

const PORT = 'wallet_launches';
const TITLE = 'Solana launch corpus';
/** The time for which the state behind every answer is cached. */
const STATE_KEPT_MS = 5_000;
/** A hold-out is measured anew after a new import, but no more often than this. */
const HOLD_OUT_KEPT_MS = 600_000;

type Options = {
  /** The share of settled launches before the day of an own split. */
  readonly splitShare: number;
};

type Standing = { readonly corpus: CorpusState; readonly source: Source };
type Standings = Reading<Standing | null, WalletLaunchesPort>;

/** The launches of wallets over the control database. */
export function walletLaunchTable(
  database: Database,
  context: ControlContext,
  options: Options,
): WalletLaunches & FlagEvaluation {
  const { ask } = controlReadings(PORT, `The ${TITLE}`, context);
  const measureHeldOut = (split: string | null) => ask(() => measure(database, split, options));
  const standing = keepReading(
    STATE_KEPT_MS,
    context.nowMs,
    standingOf(database, context, measureHeldOut, ask),
  );
  /** Answers from the store where the corpus can be read; a miss of a stale one is no answer. */
  const askCorpus = async <T>(
    question: (corpus: CorpusState) => Promise<T>,
    isFound: (value: T) => boolean,
  ): Promise<Reading<T, WalletLaunchesPort>> => {
    const state = await standing();
    if (!(state instanceof Read)) return state;
    if (state.value === null) return unread(PORT, why('table_never_imported', UNSETTLED));
    const { corpus, source } = state.value;
    const answer = await ask(() => question(corpus));
    if (!(answer instanceof Read)) return answer;
    const reached = corpus.collection === null ? null : corpus.collection.reached_at;
    const stale = staleness(reached, Math.floor(context.nowMs() / MS_PER_S));
    if (stale !== null && !isFound(answer.value)) return unread(PORT, stale);
    return read(answer.value, { port: PORT, source });
  };
  return {
    of: (wallet) =>
      askCorpus(
        async (corpus) => {
          const waits = await database.query(WAITING, [wallet, WAITING_MAX]);
          const newest = [wallet, WALLET_ENTRIES_MAX];
          const rows = z.array(entryRow).parse(await database.query(OF_WALLET, newest, 'often'));
          const [first] = rows;
          const counts = first === undefined ? { settled: 0, died: 0 } : first;
          const { settled, died } = counts;
          const waiting = z
            .array(waitingRow)
            .parse(waits)
            .map(({ mint }) => mint);
          return {
            corpus,
            settled,
            died,
            waiting,
            entries: rows.map(({ settled: _, died: __, ...entry }) => entry),
          };
        },
        ({ settled }) => settled > 0,
      ),
    launchOf: (mint) =>
      askCorpus(
        async (corpus) => {
          const row = rowOrNull(await database.query(OF_MINT, [mint], 'often'));
          return { corpus, launch: mintLaunch.nullable().parse(row) };
        },
        ({ launch }) => launch !== null,
      ),
    heldOut: measureHeldOut,
  };
}

const UNSETTLED = { what: `the ${TITLE} with a settled launch` };

const entryRow = settledLaunch.extend({ settled: z.int(), died: z.int() });
const waitingRow = settledLaunch.pick({ mint: true });

/** A reading that is used for a while once it was read. */
function keepReading(
  forMs: number,
  nowMs: () => number,
  ask: () => Promise<Standings>,
): () => Promise<Standings> {
  let held: { readonly at: number; readonly reading: Standings } | null = null;
  return async () => {
    if (held !== null && nowMs() - held.at < forMs) return held.reading;
    const reading = await ask();
    // A silent or empty state is read again at once: an import may have completed meanwhile.
    held = reading instanceof Read && reading.value !== null ? { at: nowMs(), reading } : null;
    return reading;
  };
}

const stateRow = collection.extend({
  settled_launches: z.int(),
  since: z.number().nullable(),
  reached_at: z.number().nullable(),
});
const importsRow = z.strictObject({
  newest: z.int().nullable(),
  as_of: z.number().nullable(),
  simulated: z.boolean().nullable(),
});

function standingOf(
  database: Database,
  context: ControlContext,
  heldOut: FlagEvaluation['heldOut'],
  ask: <T>(question: () => Promise<T>) => Promise<Reading<T, WalletLaunchesPort>>,
): () => Promise<Standings> {
  let measured: { readonly of: number; readonly at: number; readonly is: HoldOut | null } | null =
    null;
  return () =>
    ask(async () => {
      const state = stateRow.parse(onlyRow(await database.query(STATE)));
      const { settled_launches, since, reached_at, gaps, missed_s } = state;
      const imports = importsRow.parse(onlyRow(await database.query(IMPORTS)));
      const { newest, as_of } = imports;
      if (newest === null || as_of === null || settled_launches === 0) return null;
      const isDue = measured === null || context.nowMs() - measured.at >= HOLD_OUT_KEPT_MS;
      if (measured === null || (measured.of !== newest && isDue)) {
        const reading = await heldOut(null);
        const is = reading instanceof Read ? reading.value : null;
        measured = { of: newest, at: context.nowMs(), is };
      }
      const isCollected = since !== null && reached_at !== null;
      const corpus = {
        settled_launches,
        collection: isCollected ? { since, reached_at, gaps, missed_s } : null,
        hold_out: measured.is,
      };
      const count = settled_launches.toLocaleString('en');
      const source: Source = {
        name: `${TITLE}, import ${newest}: ${count} settled launches`,
        url: 'control-store:',
        as_of,
        kind: 'table',
        simulated: imports.simulated === true,
      };
      return { corpus, source };
    });
}

const splitRow = z.strictObject({ day: z.string().nullable() });
const heldOutRow = measuredLaunches.extend({ flagged: z.boolean() });

async function measure(
  database: Database,
  named: string | null,
  { splitShare }: Options,
): Promise<HoldOut | null> {
  const own = splitRow.parse(onlyRow(await database.query(SPLIT, [splitShare])));
  const split = named === null ? own.day : named;
  if (split === null) return null;
  return database.transaction(async (session) => {
    const groups = await session.query(HELD_OUT.groups, [split]);
    if (groups.length === 0) return null;
    const rows = z.array(heldOutRow).parse(groups);
    const before = onlyRow(await session.query(HELD_OUT.history, [split]));
    const countsOf = (flagged: boolean) => {
      const row = rows.find((one) => one.flagged === flagged);
      return row === undefined ? NOBODY : { launches: row.launches, listed: row.listed };
    };
    const history = launchesBefore.parse(before);
    return { split, flagged: countsOf(true), rest: countsOf(false), history };
  });
}

/** A group to which no held-out launch belongs. */
const NOBODY = Object.freeze({ launches: 0, listed: 0 });

// The statements that read the launches of wallets. For each mint the best row of a completed
// import counts: settled before unsettled, then the later check, then the later import.

const COMPLETED = 'join table_imports i on i.id = r.import_id and i.completed_at is not null';
const BEST = `not exists (
  select 1 from launches b
    join table_imports bi on bi.id = b.import_id and bi.completed_at is not null
   where b.mint = r.mint
     and (b.settled, b.last_checked_at, b.import_id)
       > (r.settled, r.last_checked_at, r.import_id))`;
const SETTLED = `from launches r ${COMPLETED} where r.settled and ${BEST}`;

/** The settled launches of a wallet, the newest first, each with the counts over all of them. */
export const OF_WALLET = `
  select r.mint, ${epochSecond('r.launched_at')}, ${epochSecond('r.last_checked_at', 'settled_at')},
         r.listed_after_window, (count(*) over ())::int4 as settled,
         (count(*) filter (where not r.listed_after_window) over ())::int4 as died
  ${SETTLED} and r.deployer = $1
  order by r.launched_at desc, r.mint limit $2`;

/** The mints of a wallet that are on record and have not settled. */
export const WAITING = `
    select r.mint from launches r ${COMPLETED}
     where r.deployer = $1 and not r.settled and ${BEST}
    union
    select c.mint from collected_launches c
     where c.deployer = $1 and not c.settled and not exists (
       select 1 from launches r ${COMPLETED} where r.mint = c.mint and r.settled)
    limit $2`;

/** The launcher of a mint: the chain's own record before that of an import. */
export const OF_MINT = `
  select deployer, launched_at, signature from (
    select c.deployer, ${epochSecond('c.launched_at')}, c.signature, 0 as place
      from collected_launches c where c.mint = $1
    union all
    select r.deployer, ${epochSecond('r.launched_at')}, null, 1
      from launches r ${COMPLETED} where r.mint = $1 and ${BEST}
  ) told order by place limit 1`;

/** The corpus as a whole: settled launches, and what was collected of the chain. */
export const STATE = `
  select (select count(distinct r.mint)::int4 from launches r ${COMPLETED} where r.settled)
           as settled_launches,
         (select ${epochSecond('max(since)', 'since')} from launch_cursors),
         (select ${epochSecond('min(reached_at)', 'reached_at')} from launch_cursors),
         (select coalesce(sum(pieces), 0)::int4 as gaps from launch_gaps),
         (select coalesce(sum(missed_s), 0)::float8 as missed_s from launch_gaps)`;

/** The imports in force: the newest of them, the date of the newest, and whether any is made up. */
export const IMPORTS = `
  select max(id)::int4 as newest, ${epochSecond('max(as_of)', 'as_of')},
         bool_or(origin = 'simulated') as simulated
    from table_imports where table_name = 'launches' and in_force`;

/** The UTC day at which the corpus is split by itself. */
export const SPLIT = `
  select to_char(percentile_disc($1::float8) within group (order by r.launched_at)
                   at time zone 'UTC', 'YYYY-MM-DD') as day
  ${SETTLED}`;

const SPLIT_AT = `($1::date)::timestamp at time zone 'UTC'`;
const WALLETS = `
  select r.deployer, count(*) as launches, not bool_or(r.listed_after_window) as flagged
  ${SETTLED} and r.last_checked_at < ${SPLIT_AT}
  group by r.deployer`;

/** The hold-out of a split day: what was known before it, against what was launched from it on. */
export const HELD_OUT = {
  groups: `
    with wallets as (${WALLETS})
    select coalesce(w.flagged, false) as flagged, count(*)::int4 as launches,
           (count(*) filter (where h.listed_after_window))::int4 as listed
      from (select r.deployer, r.listed_after_window ${SETTLED} and r.launched_at >= ${SPLIT_AT}) h
      left join wallets w on w.deployer = h.deployer
     group by 1`,
  history: `
    with wallets as (${WALLETS})
    select coalesce(sum(launches), 0)::int4 as launches, count(*)::int4 as wallets,
           (count(*) filter (where flagged))::int4 as flagged_wallets
      from wallets`,
} as const;
