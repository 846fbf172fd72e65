// The record of calls in memory for whoever adds to it, and a lease that nobody else wants.

import { read } from '../evidence/reading.ts';
import {
  DETECTOR_KINDS,
  type DetectorRun,
  type EmissionStore,
  type EmittedCall,
  type EmittedCalls,
  type EmittedCallsPort,
  type KeptVersion,
} from '../ports/emitted-calls.ts';
import type { Leases } from '../ports/indexing.ts';
import { memorySource, PLANTED } from './twins/dated.ts';

const SOURCE = memorySource('Record of calls', 'table', PLANTED);
const ORIGIN = { port: 'emitted_calls', source: SOURCE } as const;
const mint = async <T>(value: T) => read<T, EmittedCallsPort>(value, ORIGIN);

/** What was kept, for a test to look at. */
export type MemoryEmission = EmissionStore & {
  readonly calls: Map<string, EmittedCall>;
  readonly kept: DetectorRun[];
  readonly versions: EmittedCalls['versions'];
};

export function memoryEmission(): MemoryEmission {
  const calls = new Map<string, EmittedCall>();
  const keys = new Set<string>();
  const kept: DetectorRun[] = [];
  const versions: KeptVersion[] = [];
  let leaves = 0;
  const nextLeaf = (): number => {
    leaves += 1;
    return leaves - 1;
  };
  const inOrder = () => [...calls.values()].sort((a, b) => a.leaf - b.leaf);
  return {
    calls,
    kept,
    versions: () => mint(versions),
    publishVersions: (told, now) => {
      const fresh = told.filter(({ hash }) => versions.every((one) => one.hash !== hash));
      for (const one of fresh) versions.push({ ...one, leaf: nextLeaf(), in_force_from: now });
      return mint(fresh.length);
    },
    emit: ({ run, calls: said }) => {
      const isKnown = kept.some(({ kind, to }) => kind === run.kind && to > run.from);
      if (isKnown) return mint(null);
      kept.push(run);
      const ids: string[] = [];
      for (const { call_id, hash, said: one } of said) {
        const key = [one.kind, one.asset, one.direction, one.detector_version, one.window].join();
        if (keys.has(key)) continue;
        keys.add(key);
        ids.push(call_id);
        calls.set(call_id, { ...one, call_id, hash, leaf: nextLeaf(), outcome: { state: 'open' } });
      }
      return mint(ids);
    },
    runs: ({ from, to }) =>
      mint(kept.filter((run) => run.from < to && run.to > from).sort((a, b) => a.from - b.from)),
    emitted: ({ from, to }, afterLeaf, limit) =>
      mint(
        inOrder()
          .filter((one) => one.emitted_at >= from && one.emitted_at < to && one.leaf > afterLeaf)
          .slice(0, limit),
      ),
    undecided: (now, _after, limit) =>
      mint(
        inOrder()
          .filter((one) => one.outcome.state === 'open')
          .filter((one) => one.emitted_at + one.horizon_h * 3_600 <= now)
          .slice(0, limit),
      ),
    settle: (id, outcome) => {
      const call = calls.get(id);
      if (call?.outcome.state !== 'open') return mint(false);
      calls.set(id, { ...call, outcome });
      return mint(true);
    },
    closed: (since, afterLeaf, limit) =>
      mint(
        inOrder()
          .filter(({ outcome }) => outcome.state === 'closed' && outcome.closed_at >= since)
          .filter(({ leaf }) => leaf > afterLeaf)
          .slice(0, limit),
      ),
    restate: (id, restated) => {
      const call = calls.get(id);
      if (call?.outcome.state !== 'closed') return mint(false);
      calls.set(id, { ...call, outcome: { ...call.outcome, restated } });
      return mint(true);
    },
  };
}

/** The hours in which every kind ran whole, by the beginning of each. */
export function wholeHours(kept: readonly DetectorRun[]): ReadonlyMap<string, number> {
  return new Map(
    DETECTOR_KINDS.map((kind) => [
      kind,
      kept.filter((run) => run.kind === kind && run.whole).length,
    ]),
  );
}

/** A lease that is always there. */
export const OWN_LEASE: Leases = {
  take: async () => read({ epoch: 1, released: true }, { port: 'leases', source: SOURCE }),
  release: async () => read(true as const, { port: 'leases', source: SOURCE }),
};
