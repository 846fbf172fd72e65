// Tells whether the window of the leaderboards was watched. A wallet may be missing from a window
// that was not: a silent source is no quiet day.

import { DAY_S, HOUR_S } from '../../chain/time.ts';
import { all, both, map, type Partly, Read, rowsSeen, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type FlagWindow,
  type LaunchWatch,
  type LaunchWatchPort,
  type RugFlags,
  type RugFlagsPort,
  WATCHED_SOURCES,
} from '../../ports/rug-flags.ts';

/** The window of both leaderboards, and of what the stream says of quiet. */
export const WINDOW_S = DAY_S;
export const WINDOW_HOURS = WINDOW_S / HOUR_S;

export type WindowPorts = {
  readonly rugFlags: RugFlags;
  readonly launchWatch: LaunchWatch;
};

/** Every source of the watch together: a part, which names them, where there are gaps. */
export async function watchOver({
  gapsOf,
}: LaunchWatch): Promise<Partly<readonly string[], LaunchWatchPort>> {
  const looks = await Promise.all(WATCHED_SOURCES.map((source) => gapsOf(source, WINDOW_S)));
  const together = map(all(looks), (gaps) => gaps.flat());
  const gaps = rowsSeen(together);
  if (gaps === null) return together;
  const filling = { hours: String(WINDOW_HOURS), gaps: gaps.join('; ') };
  return weaken(together, why('scoring_partial', filling));
}

/** The window, as a part where it was not scored or not watched to its end. */
export async function readWindow({
  rugFlags,
  launchWatch,
}: WindowPorts): Promise<Partly<FlagWindow, RugFlagsPort>> {
  const window = await rugFlags.inWindow(WINDOW_S);
  // A window without any stored run was never watched.
  if (!(window instanceof Read) || window.value.chains.length === 0) return window;
  const watch = await watchOver(launchWatch);
  if (!(watch instanceof Read)) return weaken(window, watch.why);
  return map(both({ window, watch }), (one) => one.window);
}

/** Why quiet says nothing of the window; `null` where it was scored and watched to its end. */
export async function whyUnwatched(ports: WindowPorts): Promise<string | null> {
  const window = await readWindow(ports);
  if (!window.checked) return window.why.reason;
  return window.value.chains.length === 0 ? why('never_scored').reason : null;
}
