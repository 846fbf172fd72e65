// Were the launches of a chain watched over the whole of a window? Where they were not, nothing
// that is missing from the window is a negative.

import { z } from 'zod';
import { formatIsoTime, HOUR_S } from '../../chain/time.ts';
import { present } from '../../evidence/measure.ts';
import { read, unread } from '../../evidence/reading.ts';
import type { LaunchWatch, LaunchWatchPort, WatchedSource } from '../../ports/rug-flags.ts';
import {
  type PublishedModels,
  SCORED_CHAINS,
  type ScoredChainName,
} from '../../ports/rug-model.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
} from './engine/database.ts';

const PORT: LaunchWatchPort = 'launch_watch';
/** How far collection may be behind, and its beginning ahead of the window, in seconds. */
const COLLECTED_WITHIN_S = HOUR_S;
/** A venue is asked what became of a launch; it may take so long to tell, in seconds. */
const SETTLED_WITHIN_S = 6 * HOUR_S;

// A wallet that waits may have launched, unless it was walked in the window and is walked again.
const QUEUE = `
  select (
      select count(*)::int4 from deployer_queue q where not exists (
        select from deployer_records r where r.address = q.address
          and r.captured_at >= control_now() - make_interval(secs => $1::int))) as queued,
    count(*) filter (
      where captured_at < control_now() - make_interval(secs => $1::int))::int4 as unwalked,
    ${epochSecond('min(captured_at)', 'oldest')}
  from deployer_records`;
const WALKED = `
  select coalesce(bool_or(coalesce(is_watched, is_whole)), false) as walked,
    count(*) filter (where coalesce(is_watched, is_whole) is not true)::int4 as in_part
  from deployer_records where captured_at >= control_now() - make_interval(secs => $1::int)`;
const COLLECTED = `
  select ${epochSecond('min(reached_at)', 'reached_at')}, ${epochSecond('max(since)', 'since')},
    min(reached_at) < control_now() - make_interval(secs => $2::int) as is_late,
    max(since) > control_now() - make_interval(secs => $1::int) as is_young,
    (select count(*)::int4 from launch_gaps
      where to_at > control_now() - make_interval(secs => $1::int)) as gaps
  from launch_cursors`;
// Launches that were due so long ago, and were not settled by then or in time.
const UNSETTLED = `
  select count(*)::int4 as waiting from collected_launches
  where not settled and launched_at between control_now() - make_interval(secs => $2::int)
    and control_now() - make_interval(secs => $1::int)`;

const count = z.int().nonnegative();
const queueRow = z.object({ queued: count, unwalked: count, oldest: z.int().nullable() });
const walkedRow = z.object({ walked: z.boolean(), in_part: count });
const collectedRow = z.object({
  reached_at: z.int().nullable(),
  since: z.int().nullable(),
  is_late: z.boolean().nullable(),
  is_young: z.boolean().nullable(),
  gaps: count,
});
const unsettledRow = z.object({ waiting: count });

/** Which settings each source lacks without which nobody asks it. */
export type UnsetWatch = {
  readonly [source in 'explorer' | 'node' | 'venue']: readonly string[];
};

type Parts = {
  readonly inForce: PublishedModels['inForce'];
  readonly unset: UnsetWatch;
  /** Seconds after its launch in which the venue has to tell what became of it. */
  readonly settles: { readonly afterS: number; readonly lateS: number };
};

/** The gaps of one source, and the time of its reading. */
type Look = { readonly gaps: readonly string[]; readonly as_of: number | null };

/** The watch over the control database. */
export function launchWatchTable(
  database: Database,
  context: ControlContext,
  { inForce, unset, settles }: Parts,
): LaunchWatch {
  const what = 'The watch over launches';
  const { ask, source } = controlReadings<LaunchWatchPort>(PORT, what, context);
  const row = async (sql: string, bounds: number[]) =>
    onlyRow(await database.query(sql, bounds, 'often'));
  const looks: {
    readonly [source in WatchedSource]: (
      windowS: number,
      chains: readonly ScoredChainName[],
    ) => Promise<Look>;
  } = {
    queue: async (windowS, chains) => {
      if (!chains.includes('ethereum')) return NOTHING;
      const { queued, unwalked, oldest } = queueRow.parse(await row(QUEUE, [windowS]));
      const gaps = present([
        queued > 0 ? `ethereum: wallets that wait to be walked: ${queued}` : null,
        unwalked > 0 ? `ethereum: wallets that were last walked before: ${unwalked}` : null,
      ]);
      return { gaps, as_of: oldest };
    },
    explorer: async (windowS, chains) => {
      if (!chains.includes('ethereum')) return NOTHING;
      const { walked, in_part } = walkedRow.parse(await row(WALKED, [windowS]));
      const gaps = present([
        ...unset.explorer.map((setting) => unsetText('ethereum', setting)),
        in_part > 0 ? `ethereum: wallets whose contracts were read in part: ${in_part}` : null,
        walked ? null : 'ethereum: no wallet was walked to the end',
      ]);
      return { gaps, as_of: null };
    },
    node: async (windowS, chains) => {
      if (!chains.includes('solana')) return NOTHING;
      const { reached_at, is_late } = await readReach(windowS);
      const late = reached_at === null || is_late !== true ? null : formatIsoTime(reached_at);
      const gaps = present([
        ...unset.node.map((setting) => unsetText('solana', setting)),
        late === null ? null : `solana: collected up to ${late} only`,
      ]);
      return { gaps, as_of: reached_at };
    },
    collection: async (windowS, chains) => {
      if (!chains.includes('solana')) return NOTHING;
      const { reached_at, since, is_young, gaps } = await readReach(windowS);
      if (reached_at === null || since === null) {
        return { gaps: ['solana: its launches were never collected here'], as_of: null };
      }
      const told = present([
        is_young === true ? `solana: collected since ${formatIsoTime(since)} only` : null,
        gaps > 0 ? `solana: gaps in what was collected: ${gaps}` : null,
      ]);
      return { gaps: told, as_of: reached_at };
    },
    venue: async (_, chains) => {
      const without = chains.flatMap((chain) => unset.venue.map((one) => unsetText(chain, one)));
      if (!chains.includes('solana')) return { gaps: without, as_of: null };
      const bounds = [settles.afterS + SETTLED_WITHIN_S, settles.lateS];
      const { waiting } = unsettledRow.parse(await row(UNSETTLED, bounds));
      const late = `solana: launches of which the venue did not tell in time: ${waiting}`;
      return { gaps: waiting > 0 ? [...without, late] : without, as_of: null };
    },
  };
  async function readReach(windowS: number) {
    return collectedRow.parse(await row(COLLECTED, [windowS, COLLECTED_WITHIN_S]));
  }
  return {
    gapsOf: async (of, windowS) => {
      const model = await inForce();
      // Without a model there is nothing to watch for.
      const isUnpublished = !model.checked && model.why.code === 'model_not_published';
      if (!model.checked && !isUnpublished) return unread(PORT, model.why);
      const chains = SCORED_CHAINS.filter((chain) => {
        return model.checked && model.value.model.card.data.chains.includes(chain);
      });
      const look = await ask(() => looks[of](Math.ceil(windowS), chains));
      if (!look.checked) return look;
      const { gaps, as_of } = look.value;
      const table = source();
      const dated = as_of === null ? table : { ...table, as_of: Math.min(as_of, table.as_of) };
      return read(gaps, { port: PORT, source: dated });
    },
  };
}

const NOTHING: Look = Object.freeze({ gaps: Object.freeze([]), as_of: null });

function unsetText(chain: ScoredChainName, setting: string): string {
  return `${chain}: not watched without ${setting}`;
}
