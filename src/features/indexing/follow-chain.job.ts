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
import { FollowSteps, type FollowWorld } from './follow-chain-steps.job.ts';
import { followUnderLease, type LeaseWorld } from './follow-lease.job.ts';

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
): Promise<FollowEnd> {
  const { signal } = watch;
  const steps = new FollowSteps(world, fromBlock, signal);
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
};

/**
 * Follows several chains at once, each on its own: what happens to one is nothing to the others.
 * `stop` ends them and waits; what was begun is finished or undone at the next start.
 */
export function followChains(
  chains: readonly FollowedChain[],
  watch: FollowChainsWatch,
): { readonly stop: () => Promise<void> } {
  const ended = new AbortController();
  const { signal } = ended;
  const running = chains.map(async ({ followable, fromBlock }) => {
    try {
      watch.onEnd(await followable.follow(fromBlock, { onState: watch.onState, signal }));
    } catch (error) {
      watch.onBug(error);
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
export function followable(world: FollowWorld, lease: Omit<LeaseWorld, 'chain'>): Followable {
  const { chain } = world.node;
  const watches = new Set<FollowWatch>();
  let running: Promise<FollowEnd> | null = null;
  let last = new FollowSteps(world, null, new AbortController().signal).state(null);
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
          (leased) => followChain(world, fromBlock, leased),
          { onState, signal: watch.signal },
          (fault) => ({ ...last, fault }),
        );
        return await running.finally(() => {
          running = null;
        });
      } finally {
        watches.delete(watch);
      }
    },
  };
}
