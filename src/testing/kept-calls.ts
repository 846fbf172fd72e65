// Puts calls and what became of them into a control store, as detectors and settlement keep them.

import { Read, type Reading } from '../evidence/reading.ts';
import { hashVersion, makeEmission } from '../features/calls/call.ts';
import { emissionTable } from '../features/calls/calls.store.ts';
import { newestVersion } from '../features/calls/versions.ts';
import {
  DETECTOR_KINDS,
  EMISSION_LEASE,
  type EmissionTick,
  type EmittedCall,
} from '../ports/emitted-calls.ts';
import type { Database } from '../stores/control/engine/database.ts';
import { leasesIn } from './control-store.ts';

const HOUR_S = 3_600;
const LEASE_S = 60;
/** No chat hears of them. */
const NOBODY_TOLD: EmissionTick['dispatches'] = new Map();

async function readValue<T>(reading: Promise<Reading<T, never>>): Promise<T> {
  const told = await reading;
  if (!(told instanceof Read)) throw new Error(`test: unread: ${told.why.reason}`);
  return told.value;
}

/**
 * Keeps them under the newest versions, as made up or as observed. The producers ran from the first
 * hour of the calls to the last.
 */
export async function keepCalls(
  database: Database,
  calls: readonly EmittedCall[],
  { simulated }: { readonly simulated: boolean },
): Promise<void> {
  const times = calls.map(({ emitted_at }) => emitted_at);
  const from = Math.floor(Math.min(...times) / HOUR_S) * HOUR_S;
  const to = Math.ceil(Math.max(...times) / HOUR_S) * HOUR_S;
  const store = emissionTable(database, { simulated, nowMs: () => to * 1_000 });
  const leases = leasesIn(database, 'a test');
  const lease = await readValue(leases.take(EMISSION_LEASE, LEASE_S));
  if (lease === null) throw new Error('test: somebody else emits calls');
  const { epoch } = lease;
  const assets = [...new Set(calls.map(({ asset }) => asset))];
  for (const kind of DETECTOR_KINDS) {
    const version = newestVersion(kind);
    const detector_version = version.version;
    await readValue(store.publishVersions([hashVersion(version)], from));
    const own = calls
      .filter((call) => call.kind === kind)
      .map(({ call_id: _, hash: __, leaf: ___, outcome, ...said }) => {
        return { call: makeEmission({ ...said, detector_version, simulated }), outcome };
      });
    const run = { kind, detector_version, from, to, whole: true, assets };
    await readValue(
      store.emit({
        epoch,
        run,
        calls: own.map(({ call }) => call),
        dispatches: NOBODY_TOLD,
        at: to,
      }),
    );
    for (const { call, outcome } of own) {
      if (outcome.state !== 'open') await readValue(store.settle(call.call_id, outcome, epoch));
    }
  }
  await readValue(leases.release(EMISSION_LEASE));
}
