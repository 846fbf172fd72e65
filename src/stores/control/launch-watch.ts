// Were the launches of a chain watched over the whole of a window? Where they were not, nothing
// that is missing from the window is a negative.

import { z } from 'zod';
import { DAY_S, formatIsoTime, HOUR_S } from '../../chain/time.ts';
import type { ScoredChainName } from '../../ports/rug-model.ts';
import { type Database, epochSecond, onlyRow } from './engine/database.ts';

/** How far collection may be behind, and its beginning ahead of the window, in seconds. */
const COLLECTED_WITHIN_S = HOUR_S;
/** A wallet whose newest launch is this old is not walked again by itself. */
const LAUNCHED_WITHIN_S = 30 * DAY_S;

// A wallet that waits may have launched; one that was last walked before the window may have too.
const WALKED = `
  select (select count(*)::int4 from deployer_queue) as queued,
    count(*) filter (
      where newest_launch_at > control_now() - make_interval(secs => $2::int)
        and captured_at < control_now() - make_interval(secs => $1::int))::int4 as unwalked,
    coalesce(bool_or(is_whole
      and captured_at >= control_now() - make_interval(secs => $1::int)), false) as walked
  from deployer_records`;
const COLLECTED = `
  select ${epochSecond('min(reached_at)', 'reached_at')}, ${epochSecond('max(since)', 'since')},
    min(reached_at) < control_now() - make_interval(secs => $2::int) as is_late,
    max(since) > control_now() - make_interval(secs => $1::int) as is_young,
    (select count(*)::int4 from launch_gaps
      where to_at > control_now() - make_interval(secs => $1::int)) as gaps
  from launch_cursors`;

const walkedRow = z.object({ queued: z.int(), unwalked: z.int(), walked: z.boolean() });
const collectedRow = z.object({
  reached_at: z.int().nullable(),
  since: z.int().nullable(),
  is_late: z.boolean().nullable(),
  is_young: z.boolean().nullable(),
  gaps: z.int(),
});

/** Which settings each chain lacks without which nobody watches its launches. */
export type UnsetWatch = { readonly [chain in ScoredChainName]: readonly string[] };

/** What was not watched of a chain's launches of the last `windowS` seconds; empty: all was. */
export async function watchGaps(
  database: Database,
  chain: ScoredChainName,
  windowS: number,
  unset: UnsetWatch,
): Promise<string[]> {
  const without = unset[chain].map((setting) => `${chain}: not watched without ${setting}`);
  if (chain === 'ethereum') {
    const bounds = [windowS, LAUNCHED_WITHIN_S];
    const { queued, unwalked, walked } = walkedRow.parse(
      onlyRow(await database.query(WALKED, bounds, 'often')),
    );
    return [
      ...without,
      ...(queued > 0 ? [`${chain}: wallets that wait to be walked: ${queued}`] : []),
      ...(unwalked > 0 ? [`${chain}: wallets that were last walked before: ${unwalked}`] : []),
      ...(walked ? [] : [`${chain}: no wallet was walked to the end`]),
    ];
  }
  const { reached_at, since, is_late, is_young, gaps } = collectedRow.parse(
    onlyRow(await database.query(COLLECTED, [windowS, COLLECTED_WITHIN_S], 'often')),
  );
  if (reached_at === null || since === null) {
    return [...without, `${chain}: its launches were never collected here`];
  }
  return [
    ...without,
    ...(is_late === true ? [`${chain}: collected up to ${formatIsoTime(reached_at)} only`] : []),
    ...(is_young === true ? [`${chain}: collected since ${formatIsoTime(since)} only`] : []),
    ...(gaps > 0 ? [`${chain}: gaps in what was collected: ${gaps}`] : []),
  ];
}
