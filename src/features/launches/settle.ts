// Settles the launches whose window has passed. Asks the venue about each. The results enter the
// corpus as one import, whole or not at all; a launch without a result waits, and never counts as
// dead.

import { createHash } from 'node:crypto';
import type { Reading } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { ImportOrigin } from '../../evidence/source.ts';
import {
  type DueLaunch,
  type Launch,
  type LaunchCollection,
  type LaunchListings,
  SETTLED_HERE,
} from '../../ports/launches.ts';
import type { TableStore } from '../../ports/tables.ts';

/** A launch that was asked for is another's to ask again after so long. */
const TAKEN_S = 1_800;
/** A launch of which the venue did not tell is asked for again after so long. */
const AGAIN_S = 900;

/** The dependencies of settling. */
export type SettleParts = {
  readonly collection: LaunchCollection;
  readonly listings: LaunchListings;
  readonly table: TableStore<Launch>;
  readonly origin: ImportOrigin;
  /** Launches that are settled in one import, and how many are asked for at once. */
  readonly limits: { readonly launchesMax: number; readonly atOnce: number };
  /** Unix seconds. */
  readonly now: () => number;
};

/** The result of a round. `silent`: the reasons why launches wait, with counts. */
export type SettledLaunches = {
  readonly listed: number;
  readonly gone: number;
  readonly waiting: number;
  readonly silent: ReadonlyMap<string, number>;
  readonly failed: Why | null;
};

/** Settles what is due, up to a bound. */
export async function settleRound(
  parts: SettleParts,
  signal: AbortSignal,
): Promise<SettledLaunches> {
  const { collection, limits } = parts;
  const due = await collection.takeDue(limits.launchesMax, TAKEN_S);
  if (!due.checked) return nothing(due.why);
  const asked = await askAll(parts, due.value, signal);
  const rows = asked.flatMap(({ row }) => (row === null ? [] : [row]));
  const silent = new Map<string, string[]>();
  for (const { mint, reason } of asked) {
    if (reason === null) continue;
    const others = silent.get(reason);
    if (others === undefined) silent.set(reason, [mint]);
    else others.push(mint);
  }
  const credited = await collection.miscredited(limits.launchesMax);
  if (!credited.checked) return nothing(credited.why);
  const settled = new Set(rows.map(({ mint }) => mint));
  const all = [...rows, ...credited.value.filter(({ mint }) => !settled.has(mint))];
  let failed: Why | null = all.length === 0 ? null : await keepRows(parts, all);
  for (const [reason, mints] of silent) {
    const noted = await collection.postpone(mints, reason, AGAIN_S);
    if (!noted.checked) failed = noted.why;
  }
  const listed = rows.filter((row) => row.listed_after_window === true).length;
  const isKept = failed === null;
  return {
    listed: isKept ? listed : 0,
    gone: isKept ? rows.length - listed : 0,
    waiting: due.value.length - (isKept ? rows.length : 0),
    silent: new Map([...silent].map(([reason, mints]) => [reason, mints.length])),
    failed,
  };
}

function nothing(failed: Why): SettledLaunches {
  return { listed: 0, gone: 0, waiting: 0, silent: new Map(), failed };
}

type LaunchAnswer = {
  readonly mint: string;
  readonly row: Launch | null;
  readonly reason: string | null;
};

async function askAll(
  { listings, limits, now }: SettleParts,
  due: readonly DueLaunch[],
  signal: AbortSignal,
): Promise<LaunchAnswer[]> {
  const told: LaunchAnswer[] = [];
  const waiting = [...due];
  const one = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (signal.aborted) return;
      const { mint, deployer, launched_at } = next;
      const state = await listings.stateOf(mint, signal);
      if (!state.checked) told.push({ mint, row: null, reason: state.why.reason });
      else if (state.value === 'untold') told.push({ mint, row: null, reason: UNTOLD });
      else {
        const listed_after_window = state.value === 'listed';
        const checked = { listed_after_window, last_checked_at: now(), settled: true };
        told.push({ mint, row: { mint, deployer, launched_at, ...checked }, reason: null });
      }
    }
  };
  await Promise.all(Array.from({ length: limits.atOnce }, one));
  return told;
}

const UNTOLD = 'The venue lists a pool and does not tell its liquidity.';

/** Takes the rows into the corpus; why that failed, or `null`. */
async function keepRows(
  { table, origin, now }: SettleParts,
  rows: readonly Launch[],
): Promise<Why | null> {
  const source = { source: SETTLED_HERE, source_url: null, origin, started_at: now() };
  const begun = await table.begin(source);
  if (!begun.checked) return begun.why;
  const { id } = begun.value;
  const staged = await table.stage(
    id,
    rows.map((row, i) => ({ n: i + 1, row })),
  );
  if (!staged.checked) return staged.why;
  const ended: Reading<unknown, never> = await table.complete(id, {
    rows_accepted: rows.length - staged.value.length,
    rows_refused: staged.value.length,
    rows_lost: 0,
    sha256: createHash('sha256').update(JSON.stringify(rows)).digest('hex'),
    as_of: Math.max(...rows.map(({ last_checked_at }) => last_checked_at)),
    dated_by: 'import',
    completed_at: now(),
  });
  return ended.checked ? null : ended.why;
}

/** Why nothing can be settled here. */
export function noVenue(): Why {
  return why('not_configured', { what: 'A venue (EXHIBIT_VENUE_URL)' });
}
