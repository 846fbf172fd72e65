// Walks due addresses and stores the results, one at a time in a process, from a queue that all
// processes share. A walk is committed whole or not at all; a failed one is due again later, and
// leaves the record before it.

import { MS_PER_S } from '../../chain/time.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type BoundedTask,
  type RunEnd,
  signalFor,
  untilStopped,
  type WatchRun,
  WITHOUT_WATCH,
} from '../../evidence/waiting.ts';
import type { DeployerWalks, WalkAndCommit, WalkEnd, WalkSources } from '../../ports/deployers.ts';
import { type DeployerWalkLimits, walkDeployer } from './walk.ts';

/** A walk takes no longer than this. */
const WALK_MAX_S = 900;
/** A walk is another's to take over once it was taken so long ago. */
const TAKEN_S = WALK_MAX_S + 60;

type WalkerParts = {
  /** `null` where nobody can be asked who made a contract. */
  readonly sources: WalkSources | null;
  readonly walks: DeployerWalks;
  readonly limits: DeployerWalkLimits;
  /** Unix seconds. */
  readonly now: () => number;
};

/** The job that walks an address and commits the record. */
export function walker({ sources, walks, limits, now }: WalkerParts): WalkAndCommit {
  return async (address, signal) => {
    if (sources === null) return { end: 'failed', why: walksNotConfigured() };
    const timed = AbortSignal.any([signal, AbortSignal.timeout(WALK_MAX_S * MS_PER_S)]);
    const bounded = signalFor('walks of deployers', timed);
    const before = await walks.walkBefore(address);
    if (!before.checked) return { end: 'failed', why: before.why };
    const options = { limits, now, before: before.value };
    const outcome = await walkDeployer(sources, address, options, bounded);
    if (signal.aborted) return { end: 'stopped' };
    if (!outcome.walked) {
      const failed = { at: now(), reason: outcome.why.reason };
      const noted = await walks.fail(address, failed, outcome.cost);
      return { end: 'failed', why: noted.checked ? outcome.why : noted.why };
    }
    const { walk, cut } = outcome;
    const kept = await (cut === null ? walks.commit(walk) : walks.commit(walk, cut));
    if (!kept.checked) return { end: 'failed', why: kept.why };
    return { end: 'committed', walk };
  };
}

/** Why nobody is walked where no explorer is set. */
export function walksNotConfigured(): Why {
  return why('not_configured', { what: 'An explorer of Ethereum (EXHIBIT_EXPLORER_URL)' });
}

type QueueParts = {
  readonly walks: DeployerWalks;
  readonly walk: WalkAndCommit;
  /** How often an empty queue is looked at. */
  readonly pollMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onFailure: (address: string | null, why: Why) => void;
  readonly onBug: (error: unknown) => void;
  readonly watch?: WatchRun;
};

/** Starts walking whoever is due. `stop` ends the walk under way and waits for it. */
export function walkQueue(parts: QueueParts): BoundedTask {
  return untilStopped(async (signal) => {
    while (!signal.aborted) {
      const round = await oneRound(parts, signal);
      if (round === 'idle') await parts.sleep(parts.pollMs, signal);
    }
  });
}

/** Walks the next address that is due, if one is. A bug in a walk is told and ends no other. */
async function oneRound(
  { walks, walk, onFailure, onBug, watch = WITHOUT_WATCH }: QueueParts,
  signal: AbortSignal,
): Promise<'walked' | 'idle'> {
  try {
    const next = await walks.take(TAKEN_S);
    if (!next.checked) onFailure(null, next.why);
    if (!next.checked || next.value === null) return 'idle';
    const address = next.value;
    const end = await watch(() => walk(address, signal), runEndOf);
    if (end.end === 'failed') onFailure(address, end.why);
    return 'walked';
  } catch (error) {
    onBug(error);
    return 'idle';
  }
}

function runEndOf({ end }: WalkEnd): RunEnd {
  return end === 'failed' ? 'failed' : 'done';
}
