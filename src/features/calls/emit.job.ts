// Emits the calls of each hour, then settles what has come to its end, in one process at a time by
// a lease. A tick stands at a fixed minute of its hour and is judged on what was received by then;
// a tick that nobody made in time is not made up.

import { HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import type { Why } from '../../evidence/reasons.ts';
import { type BoundedTask, type RoundPace, repeatRounds } from '../../evidence/waiting.ts';
import {
  DETECTOR_KINDS,
  type DetectorVersion,
  EMISSION_LEASE,
  type EmissionStore,
  type EmittedCalls,
} from '../../ports/emitted-calls.ts';
import type { Leases } from '../../ports/indexing.ts';
import type { SeriesStore } from '../../ports/series.ts';
import { callDispatch, hashVersion } from './call.ts';
import { type ClosingParts, type SettleCounts, settleCalls } from './settle.ts';
import { lookAt, tickAt, type VersionLook } from './tick.ts';
import { DETECTOR_VERSIONS, newestVersion } from './versions.ts';

const LEASE_S = 600;

export type EmitParts = ClosingParts & {
  readonly store: EmissionStore;
  readonly versions: EmittedCalls['versions'];
  readonly series: Pick<SeriesStore, 'read'>;
  readonly leases: Leases;
  readonly assets: readonly string[];
  readonly now: () => UnixSeconds;
};

/** What a round did, in numbers. */
export type EmitCounts = SettleCounts & { readonly ticks: number; readonly calls: number };

/** A tick where one is due, and what is to be settled; `null`: another process holds the lease. */
export function emitOnce(parts: EmitParts, signal: AbortSignal): Promise<EmitCounts | Why | null> {
  return workOnce(parts, true, signal);
}

async function workOnce(
  parts: EmitParts,
  settles: boolean,
  signal: AbortSignal,
): Promise<EmitCounts | Why | null> {
  const taken = await parts.leases.take(EMISSION_LEASE, LEASE_S);
  if (!taken.checked) return taken.why;
  if (taken.value === null) return null;
  const { epoch } = taken.value;
  try {
    const made = await makeTick(parts, epoch, signal);
    if ('reason' in made) return made;
    const settled = settles ? await settleCalls(parts, epoch, signal) : NOTHING_SETTLED;
    return 'reason' in settled ? settled : { ...made, ...settled };
  } finally {
    await parts.leases.release(EMISSION_LEASE);
  }
}

const NOTHING_SETTLED: SettleCounts = { settled: 0, restated: 0 };
type Made = { readonly ticks: number; readonly calls: number };
const NOTHING_MADE: Made = { ticks: 0, calls: 0 };

async function makeTick(parts: EmitParts, epoch: number, signal: AbortSignal): Promise<Made | Why> {
  const { store, series, assets, now } = parts;
  const published = await store.publishVersions(DETECTOR_VERSIONS.map(hashVersion), now());
  if (!published.checked) return published.why;
  const tick = tickAt(now());
  if (tick === null || assets.length === 0) return NOTHING_MADE;
  const due = await dueVersions(parts, tick);
  if ('reason' in due) return due;
  if (due.versions.length === 0) return NOTHING_MADE;
  const found = await lookAt(series, { versions: due.versions, assets, tick }, signal);
  if ('reason' in found) return found;
  return keepTick(parts, { epoch, tick }, found.looks);
}

/** The versions that were in force at a tick and have not run at it. */
async function dueVersions(
  { store, versions }: EmitParts,
  tick: UnixSeconds,
): Promise<{ readonly versions: readonly DetectorVersion[] } | Why> {
  const known = await versions();
  if (!known.checked) return known.why;
  const hour = Math.floor(tick / HOUR_S) * HOUR_S;
  const runs = await store.runs({ from: hour, to: hour + 1 });
  if (!runs.checked) return runs.why;
  const inForce = new Set(
    known.value.filter((one) => one.in_force_from <= tick).map(({ version }) => version),
  );
  const due = DETECTOR_KINDS.filter((kind) => !runs.value.some((run) => run.kind === kind))
    .map(newestVersion)
    .filter(({ version }) => inForce.has(version));
  return { versions: due };
}

async function keepTick(
  { store, now }: EmitParts,
  { epoch, tick }: { readonly epoch: number; readonly tick: UnixSeconds },
  looks: readonly VersionLook[],
): Promise<Made | Why> {
  let [ticks, made] = [0, 0];
  const from = Math.floor(tick / HOUR_S) * HOUR_S;
  for (const { version, assets, whole, calls } of looks) {
    const detector_version = version.version;
    const kept = await store.emit({
      epoch,
      run: { kind: version.kind, detector_version, from, to: from + HOUR_S, whole, assets },
      calls,
      dispatches: new Map(calls.map((call) => [call.call_id, callDispatch(call)])),
      at: now(),
    });
    if (!kept.checked) return kept.why;
    if (kept.value === null) continue;
    ticks += 1;
    made += kept.value.length;
  }
  return { ticks, calls: made };
}

type Rounds = EmitParts & RoundPace<Why> & { readonly onRound: (counts: EmitCounts) => void };

/** Rounds until it is stopped: ticks as soon as they are due, settlements once an hour. */
export function emitRounds(parts: Rounds): BoundedTask {
  let settledIn: number | null = null;
  return repeatRounds(parts, async (signal) => {
    const hour = Math.floor(parts.now() / HOUR_S);
    const outcome = await workOnce(parts, hour !== settledIn, signal);
    if (outcome !== null && 'reason' in outcome) return outcome;
    if (outcome !== null) settledIn = hour;
    if (outcome !== null && hasWorked(outcome)) parts.onRound(outcome);
    return null;
  });
}

function hasWorked({ ticks, settled, restated }: EmitCounts): boolean {
  return ticks + settled + restated > 0;
}
