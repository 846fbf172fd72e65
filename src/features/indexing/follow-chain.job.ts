// Answers one question: is what we hold of a chain what its node says now, up to its head.
// Old blocks come final, newer ones stay undoable until the node will not take them back. Each step
// asks the store where it stands, so a killed process goes on without gap or double.

import { type Why, why } from '../../evidence/reasons.ts';
import type {
  Followable,
  FollowEnd,
  FollowState,
  FollowWatch,
} from '../../ports/indexing/chain-following.ts';
import type { ChainNode } from '../../ports/indexing/chain-node.ts';
import type { Tenure } from '../../ports/indexing/transfer-store.ts';
import { FollowSteps, type FollowWorld, notBegun } from './follow-chain-steps.job.ts';
import { followUnderLease, type LeaseWorld } from './follow-lease.job.ts';
import { type ReportWorld, reporter } from './follow-report.job.ts';

/** How often a node is asked for a newer head. */
export const FOLLOW_POLL_MS = 2_000;
/** Over an hour of a chain of four blocks a second; a chain that stays so long undecided waits. */
export const TIP_BLOCKS_MAX = 16_384;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 60_000;
const DOUBLINGS_MAX = 10;
/** How often in a row a chain may move away under a reading before that is told as a fault. */
const MOVES_MAX = 10;

/**
 * Follows a chain until it is stopped. `fromBlock` counts on the first start of a chain only;
 * `null` begins at the newest final block.
 */
export async function followChain(
  world: FollowWorld,
  fromBlock: number | null,
  watch: FollowWatch,
  tenure: Tenure,
): Promise<FollowEnd> {
  const { signal } = watch;
  const steps = new FollowSteps(world, fromBlock, tenure, signal);
  let failures = 0;
  let moves = 0;
  while (!signal.aborted) {
    const took = await steps.next();
    if (signal.aborted) break;
    moves = took.step === 'moved' ? moves + 1 : 0;
    failures = took.step === 'silent' || moves > MOVES_MAX ? failures + 1 : 0;
    const restless = moves > MOVES_MAX ? restlessness(world) : null;
    const fault = 'why' in took ? took.why : restless;
    watch.onState(steps.state(fault));
    if (took.step === 'broken')
      return { end: 'broken', state: steps.state(took.why), why: took.why };
    if (took.step !== 'ahead') await world.sleep(waitMs(world.pollMs, failures), signal);
  }
  return { end: 'stopped', state: steps.state(null) };
}

function restlessness({ node }: FollowWorld): Why {
  const fault = 'keeps changing its chain while it is read';
  return why('provider_failed', { provider: node.source, fault });
}

function waitMs(pollMs: number, failures: number): number {
  if (failures === 0) return pollMs;
  return Math.min(RETRY_MS * 2 ** Math.min(failures - 1, DOUBLINGS_MAX), RETRY_MAX_MS);
}

/** How a chain is followed once its lease is held: `followChain`, here or in another process. */
type Follow = (fromBlock: number | null, watch: FollowWatch, tenure: Tenure) => Promise<FollowEnd>;

/** One chain among several. `fromBlock` as in `followChain`. */
type FollowedChain = {
  readonly followable: Followable;
  readonly fromBlock: number | null;
};

/** What follows several chains tells: where each stands, how each ended, and bugs. */
type FollowChainsWatch = {
  readonly onState: (state: FollowState) => void;
  readonly onEnd: (end: FollowEnd) => void;
  readonly onBug: (error: unknown) => void;
  /** As in `FollowWorld`. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** The pause before a chain that has ended is tried again; each further one doubles it. */
const AGAIN_MS = 5_000;

/**
 * Follows several chains at once, each on its own: what happens to one is nothing to the others.
 * One that ended by itself is tried again, ever more seldom. `stop` ends them and waits; what was
 * begun is finished or undone at the next start.
 */
export function followChains(
  chains: readonly FollowedChain[],
  watch: FollowChainsWatch,
): { readonly stop: () => Promise<void> } {
  const ended = new AbortController();
  const { signal } = ended;
  const running = chains.map(async ({ followable, fromBlock }) => {
    let waitMs = AGAIN_MS;
    while (!signal.aborted) {
      try {
        const onState = (state: FollowState) => {
          if (state.fault === null) waitMs = AGAIN_MS;
          watch.onState(state);
        };
        watch.onEnd(await followable.follow(fromBlock, { onState, signal }));
      } catch (error) {
        watch.onBug(error);
      }
      await watch.sleep(waitMs, signal);
      waitMs = Math.min(waitMs * 2, RETRY_MAX_MS);
    }
  });
  return {
    stop: async () => {
      ended.abort();
      await Promise.all(running);
    },
  };
}

/**
 * A chain that is followed once at a time, since it has one writer: in this process, and by lease
 * among all that share a control store. A second caller, while it is
 * followed here already, is told of that and leaves without ending it.
 */
export function followable(
  { chain, source }: Pick<ChainNode, 'chain' | 'source'>,
  follow: Follow,
  lease: Omit<LeaseWorld, 'chain'>,
  report: ReportWorld,
): Followable {
  const told = reporter(report, chain);
  /** As the one that holds the lease: its word on how it goes is everybody's. */
  const asHolder = async (fromBlock: number | null, watch: FollowWatch, tenure: Tenure) => {
    const heard = (state: FollowState): void => {
      told.onState(state);
      watch.onState(state);
    };
    try {
      const end = await follow(fromBlock, { ...watch, onState: heard }, tenure);
      if (end.end === 'broken') await told.stopped(end.why.reason, end.state.last_block);
      return end;
    } catch (error) {
      await told.stopped(why('follower_failed', { chain }).reason, last.last_block);
      throw error;
    }
  };
  const watches = new Set<FollowWatch>();
  let running: Promise<FollowEnd> | null = null;
  let last = notBegun(chain, source);
  const onState = (state: FollowState): void => {
    last = state;
    for (const watch of watches) watch.onState(state);
  };
  const looksOn = (first: Promise<FollowEnd>, { signal }: FollowWatch): Promise<FollowEnd> => {
    const left = new Promise<FollowEnd>((resolve) => {
      const leave = (): void => resolve({ end: 'stopped', state: last });
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
    });
    return Promise.race([first, left]);
  };
  return {
    chain,
    follow: async (fromBlock, watch) => {
      watches.add(watch);
      try {
        if (running !== null) return await looksOn(running, watch);
        running = followUnderLease(
          { ...lease, chain },
          (leased, tenure) => asHolder(fromBlock, leased, tenure),
          { onState, signal: watch.signal },
          (fault) => ({ ...last, fault }),
        );
        const end = await running.finally(() => {
          running = null;
        });
        // Who waited for another process to leave has nothing to tell of the chain.
        const held = end.end === 'stopped' && end.state.fault === null;
        if (held)
          await told.stopped(why('follower_stopped', { chain }).reason, end.state.last_block);
        return end;
      } finally {
        watches.delete(watch);
      }
    },
  };
}
