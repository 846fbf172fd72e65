// Answers one question: what does the control store hold of the launches of a Solana wallet?
// Of each mint its best row counts, as for the corpus. Reading is by the exact key of a wallet or a
// mint; what stands behind every answer is read anew each few seconds, the hold-out less often.

import { MS_PER_S } from '../../chain/time.ts';
import { Read, type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import { staleness } from '../../ports/launches/collection-age.ts';
import {
  type Collection,
  type CorpusState,
  ENTRIES_MAX,
  type FlagEvaluation,
  type HoldOut,
  type MintLaunch,
  type SettledLaunch,
  WAITING_MAX,
  type WalletLaunches,
  type WalletLaunchesPort,
} from '../../ports/launches/wallet-launches.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import { type Database, onlyRow } from './engine/database.ts';
import {
  HELD_OUT,
  IMPORTS,
  OF_MINT,
  OF_WALLET,
  SPLIT,
  STATE,
  WAITING,
} from './wallet-launches-sql.ts';

const PORT = 'wallet_launches';
const TITLE = 'Solana launch corpus';
/** What stands behind every answer is used for so long. */
const STATE_KEPT_MS = 5_000;
/** A hold-out is measured anew after a new import, but no more often than this. */
const HOLD_OUT_KEPT_MS = 600_000;

type Options = {
  /** Seconds after its launch at which a token is asked for again. */
  readonly windowS: number;
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
  const heldOut = (split: string | null) => ask(() => measured(database, split, options));
  const standing = kept(STATE_KEPT_MS, context.nowMs, standingOf(database, context, heldOut, ask));
  /** Answers from the store where the corpus can be read; a miss of a stale one is no answer. */
  const asked = async <T>(
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
      asked(
        async (corpus) => {
          const waits = await database.query<{ mint: string }>(WAITING, [wallet, WAITING_MAX]);
          const rows = await database.query<EntryRow>(OF_WALLET, [wallet, ENTRIES_MAX], 'often');
          const [first] = rows;
          const counts = first === undefined ? { settled: 0, died: 0 } : first;
          const { settled, died } = counts;
          const waiting = waits.map(({ mint }) => mint);
          return { corpus, settled, died, waiting, entries: rows.map(entryIn) };
        },
        ({ settled }) => settled > 0,
      ),
    launchOf: (mint) =>
      asked(
        async (corpus) => {
          const [row] = await database.query<MintLaunch>(OF_MINT, [mint], 'often');
          return { corpus, launch: row === undefined ? null : launchIn(row) };
        },
        ({ launch }) => launch !== null,
      ),
    heldOut,
  };
}

const UNSETTLED = { what: `the ${TITLE} with a settled launch` };

type EntryRow = SettledLaunch & { readonly settled: number; readonly died: number };

function entryIn({ mint, launched_at, settled_at, listed_after_window }: EntryRow): SettledLaunch {
  const at = Math.floor(settled_at);
  return { mint, launched_at: Math.floor(launched_at), settled_at: at, listed_after_window };
}

function launchIn({ deployer, launched_at, signature }: MintLaunch): MintLaunch {
  return { deployer, launched_at: Math.floor(launched_at), signature };
}

/** A reading that is used for a while once it was read. */
function kept(
  forMs: number,
  nowMs: () => number,
  ask: () => Promise<Standings>,
): () => Promise<Standings> {
  let held: { readonly at: number; readonly reading: Standings } | null = null;
  return async () => {
    if (held !== null && nowMs() - held.at < forMs) return held.reading;
    const reading = await ask();
    // What is silent or empty is asked again at once: an import may have completed meanwhile.
    held = reading instanceof Read && reading.value !== null ? { at: nowMs(), reading } : null;
    return reading;
  };
}

type StateRow = {
  readonly settled_launches: number;
  readonly since: number | null;
  readonly reached_at: number | null;
  readonly gaps: number;
  readonly missed_s: number;
};
type ImportsRow = {
  readonly newest: number | null;
  readonly as_of: number | null;
  readonly simulated: boolean | null;
};

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
      const state = onlyRow(await database.query<StateRow>(STATE));
      const imports = onlyRow(await database.query<ImportsRow>(IMPORTS));
      const { newest, as_of } = imports;
      if (newest === null || as_of === null || state.settled_launches === 0) return null;
      const isDue = measured === null || context.nowMs() - measured.at >= HOLD_OUT_KEPT_MS;
      if (measured === null || (measured.of !== newest && isDue)) {
        const reading = await heldOut(null);
        const is = reading instanceof Read ? reading.value : null;
        measured = { of: newest, at: context.nowMs(), is };
      }
      const { settled_launches } = state;
      const corpus = { settled_launches, collection: collectionIn(state), hold_out: measured.is };
      const count = settled_launches.toLocaleString('en');
      const source: Source = {
        name: `${TITLE}, import ${newest}: ${count} settled launches`,
        url: 'control-store:',
        as_of: Math.floor(as_of),
        kind: 'table',
        simulated: imports.simulated === true,
      };
      return { corpus, source };
    });
}

function collectionIn({ since, reached_at, gaps, missed_s }: StateRow): Collection | null {
  if (since === null || reached_at === null) return null;
  return { since: Math.floor(since), reached_at: Math.floor(reached_at), gaps, missed_s };
}

type HeldOutRow = {
  readonly flagged: boolean;
  readonly launches: number;
  readonly listed: number;
};
type HistoryRow = HoldOut['history'];

async function measured(
  database: Database,
  named: string | null,
  { windowS, splitShare }: Options,
): Promise<HoldOut | null> {
  const own = onlyRow(await database.query<{ day: string | null }>(SPLIT, [splitShare]));
  const split = named === null ? own.day : named;
  if (split === null) return null;
  return database.transaction(async (session) => {
    const rows = await session.query<HeldOutRow>(HELD_OUT.groups, [split, windowS]);
    if (rows.length === 0) return null;
    const history = onlyRow(await session.query<HistoryRow>(HELD_OUT.history, [split, windowS]));
    const of = (flagged: boolean) => {
      const row = rows.find((one) => one.flagged === flagged);
      return row === undefined ? NOBODY : { launches: row.launches, listed: row.listed };
    };
    return { split, flagged: of(true), rest: of(false), history };
  });
}

/** A group to which no held-out launch belongs. */
const NOBODY = Object.freeze({ launches: 0, listed: 0 });
