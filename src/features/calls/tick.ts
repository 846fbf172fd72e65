// A tick: the minute of each hour at which the detectors look at what was received by then. Live
// and over the stored record, the same tick looks at the same.

import { HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { DetectorVersion, NewEmission } from '../../ports/emitted-calls.ts';
import type { SeriesStore } from '../../ports/series.ts';
import { callOn, concerns, isObserved } from './detectors.ts';
import { observe } from './observations.ts';

/** Where in its hour a tick stands: candles and settlements of the hour before have arrived. */
const TICK_INTO_S = 900;
/** What was received by a tick has been stored so long after it. */
const STORED_AFTER_S = 120;
/** A call is published well before the hour in which it is entered begins. */
const TICK_LATE_S = 1_800;

/** The tick of an hour. */
export function tickOf(hour: UnixSeconds): UnixSeconds {
  return hour + TICK_INTO_S;
}

/** The tick that may be made at a time; `null`: it is too early or too late for one. */
export function tickAt(now: UnixSeconds): UnixSeconds | null {
  const tick = tickOf(Math.floor(now / HOUR_S) * HOUR_S);
  return now >= tick + STORED_AFTER_S && now <= tick + TICK_LATE_S ? tick : null;
}

/** A version at a tick: at what it looked, whether everything was read, and what it calls. */
export type VersionLook = {
  readonly version: DetectorVersion;
  readonly assets: readonly string[];
  readonly whole: boolean;
  readonly calls: readonly NewEmission[];
};

/** Runs versions over the assets as they were known at a tick. */
export async function lookAt(
  series: Pick<SeriesStore, 'read'>,
  {
    versions,
    assets,
    tick,
  }: {
    readonly versions: readonly DetectorVersion[];
    readonly assets: readonly string[];
    readonly tick: UnixSeconds;
  },
  signal: AbortSignal,
): Promise<{ readonly looks: readonly VersionLook[] } | Why> {
  const looks = versions.map((version) => {
    const own = assets.filter((asset) => concerns(version, asset));
    // A version that none of the assets concerns has looked at nothing.
    return { version, assets: own, whole: own.length > 0, calls: [] as NewEmission[] };
  });
  for (const asset of assets) {
    const observed = await observe(series, { asset, at: tick }, signal);
    if ('reason' in observed) return observed;
    for (const look of looks.filter((one) => one.assets.includes(asset))) {
      look.whole = look.whole && isObserved(look.version, observed);
      const call = callOn(look.version, observed);
      if (call !== null) look.calls.push(call);
    }
  }
  return { looks };
}
