// Runs the detectors over the stored record, hour by hour as they ran, and compares what they call
// with what was emitted. Both are functions of what was received by a tick, so they are the same.

import { HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { collect } from '../../evidence/measure.ts';
import type { Why } from '../../evidence/reasons.ts';
import type {
  DetectorRun,
  EmissionStatement,
  EmissionStore,
  EmittedCall,
  EmittedCalls,
  KeptVersion,
  NewEmission,
  RanSpan,
} from '../../ports/emitted-calls.ts';
import type { SeriesStore } from '../../ports/series.ts';
import { lookAt, tickOf } from './tick.ts';

export type ReplayParts = {
  readonly store: Pick<EmissionStore, 'runs' | 'emitted'>;
  readonly versions: EmittedCalls['versions'];
  readonly series: Pick<SeriesStore, 'read'>;
};

/** A call of one side alone; `whole`: a tick of which one side read everything. */
export type Difference = {
  readonly found: 'only_emitted' | 'only_replayed' | 'whole';
  readonly at: UnixSeconds;
  readonly detector_version: string;
  /** `null` of a tick. */
  readonly call_id: string | null;
  readonly asset: string | null;
  readonly direction: EmissionStatement['direction'] | null;
};

/** What a replay compared. */
export type Replay = {
  readonly ticks: number;
  readonly emitted: number;
  readonly replayed: number;
  readonly differences: readonly Difference[];
};

/** Calls that are read at once, and calls and hours of one replay. */
const PAGE_CALLS = 1_000;
const CALLS_MAX = 200_000;
const BEFORE_ALL = -1;

/** Replays a span; a reason: a store could not be read. */
export async function replayCalls(
  parts: ReplayParts,
  span: RanSpan,
  signal: AbortSignal,
): Promise<Replay | Why> {
  const versions = await parts.versions();
  if (!versions.checked) return versions.why;
  const byName = new Map(versions.value.map((one) => [one.version, one]));
  // A call of a window that began before the span stands there.
  const cooldownS = Math.max(HOUR_S, ...versions.value.map((one) => one.cooldown_h * HOUR_S));
  const ran = { from: Math.max(0, span.from - cooldownS), to: span.to };
  const runs = await parts.store.runs(ran);
  if (!runs.checked) return runs.why;
  const emitted = await listEmitted(parts, span);
  if ('reason' in emitted) return emitted;
  const said = new Set<string>();
  const replayed: NewEmission[] = [];
  const differences: Difference[] = [];
  let ticks = 0;
  for (const { hour, conditions } of ticksOf(runs.value, ran)) {
    const tick = tickOf(hour);
    const isCompared = tick >= span.from && tick < span.to;
    for (const { assets, under } of conditions) {
      const inForce = under.map((run) => versionOf(byName, run));
      const found = await lookAt(parts.series, { versions: inForce, assets, tick }, signal);
      if ('reason' in found) return found;
      for (const { version, whole, calls } of found.looks) {
        const fresh = calls.filter((call) => !said.has(keyOf(call.said)));
        for (const call of fresh) said.add(keyOf(call.said));
        if (!isCompared) continue;
        ticks += 1;
        replayed.push(...fresh);
        const run = under.find((one) => one.detector_version === version.version);
        if (run?.whole !== whole) differences.push(differenceAt(tick, version.version));
      }
    }
  }
  return {
    ticks,
    emitted: emitted.calls.length,
    replayed: replayed.length,
    differences: [...differences, ...differencesOf(emitted.calls, replayed)],
  };
}

function versionOf(byName: ReadonlyMap<string, KeptVersion>, run: DetectorRun): KeptVersion {
  const version = byName.get(run.detector_version);
  if (version === undefined) throw new Error(`${run.detector_version} ran and was never published`);
  return version;
}

async function listEmitted(
  { store }: ReplayParts,
  span: RanSpan,
): Promise<{ readonly calls: readonly EmittedCall[] } | Why> {
  const calls: EmittedCall[] = [];
  let after = BEFORE_ALL;
  while (calls.length < CALLS_MAX) {
    const page = await store.emitted(span, after, PAGE_CALLS);
    if (!page.checked) return page.why;
    calls.push(...page.value);
    const last = page.value.at(-1);
    if (last === undefined || page.value.length < PAGE_CALLS) break;
    after = last.leaf;
  }
  return { calls };
}

type Hour = {
  readonly hour: UnixSeconds;
  /** The runs of the hour that looked at the same assets, together. */
  readonly conditions: readonly {
    readonly assets: readonly string[];
    readonly under: readonly DetectorRun[];
  }[];
};

/** The hours of a span in which something ran, in their order. */
function* ticksOf(runs: readonly DetectorRun[], { from, to }: RanSpan): Generator<Hour> {
  const starts = runs.map((run) => Math.max(run.from, Math.floor(from / HOUR_S) * HOUR_S));
  const ends = runs.map((run) => Math.min(run.to, to));
  const last = Math.max(from, ...ends);
  for (let hour = Math.min(last, ...starts); hour < last; hour += HOUR_S) {
    const under = runs.filter((run) => run.from <= hour && run.to > hour);
    const byAssets = new Map<string, DetectorRun[]>();
    for (const run of under) collect(byAssets, run.assets.join(' '), run);
    const conditions = [...byAssets.values()].flatMap((same) => {
      const [first] = same;
      return first === undefined ? [] : [{ assets: first.assets, under: same }];
    });
    if (conditions.length > 0) yield { hour, conditions };
  }
}

/** By what one call excludes another. */
function keyOf(said: EmissionStatement): string {
  const { kind, asset, direction, detector_version, window } = said;
  return [kind, asset, direction, detector_version, window].join(' ');
}

function differenceAt(at: UnixSeconds, detector_version: string): Difference {
  return { found: 'whole', at, detector_version, call_id: null, asset: null, direction: null };
}

function differencesOf(
  emitted: readonly EmittedCall[],
  replayed: readonly NewEmission[],
): readonly Difference[] {
  const before = new Set(emitted.map(({ hash }) => hash));
  const after = new Set(replayed.map(({ hash }) => hash));
  const differenceOn = (
    found: Difference['found'],
    call_id: string,
    said: Pick<EmissionStatement, 'emitted_at' | 'detector_version' | 'asset' | 'direction'>,
  ): Difference => {
    const { emitted_at: at, detector_version, asset, direction } = said;
    return { found, at, detector_version, call_id, asset, direction };
  };
  return [
    ...emitted
      .filter(({ hash }) => !after.has(hash))
      .map((call) => differenceOn('only_emitted', call.call_id, call)),
    ...replayed
      .filter(({ hash }) => !before.has(hash))
      .map(({ call_id, said }) => differenceOn('only_replayed', call_id, said)),
  ].sort((a, b) => a.at - b.at);
}
