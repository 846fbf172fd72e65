// Keeps what is held of a chain what its node says now, up to its head. Old blocks come final,
// newer ones stay undoable until the node will not take them back. Each step asks the store where
// it stands, so a killed process goes on without gap or double. Two that follow one chain into one
// warehouse would undo each other's blocks, so whoever follows holds a lease.

import type { ChainName } from '../../chain/chain.ts';
import { MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type ChainNode,
  type Followable,
  type FollowEnd,
  type FollowReports,
  type FollowState,
  type FollowWatch,
  type Leases,
  REPORT_EACH_S,
  type Tenure,
} from '../../ports/indexing.ts';
import { FollowSteps, type FollowWorld, notBegun } from './follow-steps.ts';

/** How often a node is asked for a newer head. */
export const FOLLOW_POLL_MS = 2_000;
/** Over an hour of a chain of four blocks a second; a chain that stays so long undecided waits. */
export const TIP_BLOCKS_MAX = 16_384;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 60_000;
const DOUBLINGS_MAX = 10;
/** How often in a row a chain may move away under a reading before that is told as a fault. */
const MOVES_MAX = 10;
const RESTLESS = 'keeps changing its chain while it is read';

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
  const provider = world.node.source;
  const steps = new FollowSteps(world, fromBlock, tenure, signal);
  let failures = 0;
  let moves = 0;
  while (!signal.aborted) {
    const took = await steps.next();
    if (signal.aborted) break;
    moves = took.step === 'moved' ? moves + 1 : 0;
    failures = took.step === 'silent' || moves > MOVES_MAX ? failures + 1 : 0;
    const restless =
      moves > MOVES_MAX ? why('provider_failed', { provider, fault: RESTLESS }) : null;
    const fault = 'why' in took ? took.why : restless;
    watch.onState(steps.state(fault));
    if (took.step === 'broken')
      return { end: 'broken', state: steps.state(took.why), why: took.why };
    if (took.step !== 'ahead') await world.sleep(waitMs(world.pollMs, failures), signal);
  }
  return { end: 'stopped', state: steps.state(null) };
}

function waitMs(pollMs: number, failures: number): number {
  if (failures === 0) return pollMs;
  return Math.min(RETRY_MS * 2 ** Math.min(failures - 1, DOUBLINGS_MAX), RETRY_MAX_MS);
}

/** Follows a chain once its lease is held: `followChain`, here or in another process. */
type Follow = (fromBlock: number | null, watch: FollowWatch, tenure: Tenure) => Promise<FollowEnd>;

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
  chains: readonly { readonly followable: Followable; readonly fromBlock: number | null }[],
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
    const noteState = (state: FollowState): void => {
      told.onState(state);
      watch.onState(state);
    };
    try {
      const end = await follow(fromBlock, { ...watch, onState: noteState }, tenure);
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
        // A follower that only waited for another process has no state to report.
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

/** How long a lease is taken for. */
export const LEASE_S = 60;
/** How often it is taken anew, or asked for while another process has it. */
export const LEASE_RENEW_MS = 10_000;
/** Renewals that may fail in a row; the one after would come when the lease has nearly ended. */
const FAILED_MAX = 3;
/** For stores that outlive their client: longer than they let a statement run that counts. */
export const SETTLE_MS = 40_000;

/** The outside of a leased following. `sleep` ends at once when its signal does. */
export type LeaseWorld = {
  readonly chain: string;
  readonly leases: Leases;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How long a holder that is heard of no more may still have a statement under way. */
  readonly settleMs: number;
};

/**
 * Follows while the lease is held, and waits while another process holds it. `waits` is told why it
 * does not follow just now.
 */
export async function followUnderLease(
  world: LeaseWorld,
  follow: (watch: FollowWatch, tenure: Tenure) => Promise<FollowEnd>,
  watch: FollowWatch,
  waits: (why: Why) => FollowEnd['state'],
): Promise<FollowEnd> {
  const { chain, leases, sleep } = world;
  const name = `follow ${chain}`;
  let fault = why('followed_elsewhere', { chain });
  while (!watch.signal.aborted) {
    const taken = await leases.take(name, LEASE_S);
    if (taken.checked && taken.value !== null) {
      const lost = new AbortController();
      const over = new AbortController();
      const signal = AbortSignal.any([watch.signal, lost.signal]);
      const { epoch, released } = taken.value;
      const tenure = { name, epoch, lost };
      const held = keepLease(world, tenure, AbortSignal.any([signal, over.signal]));
      let settled: Promise<void> | null = released ? Promise.resolve() : null;
      const settle = async () => {
        if (settled === null) settled = sleep(world.settleMs, signal);
        await settled;
      };
      const end = await follow({ ...watch, signal }, { epoch, settle });
      over.abort();
      await held;
      await leases.release(name);
      if (end.end === 'broken' || watch.signal.aborted) return end;
    }
    fault = taken.checked ? why('followed_elsewhere', { chain }) : taken.why;
    watch.onState(waits(fault));
    await sleep(LEASE_RENEW_MS, watch.signal);
  }
  return { end: 'stopped', state: waits(fault) };
}

/**
 * Holds a lease until the signal ends it; `lost` is ended where another process took it, also where
 * that one has let it go by now: what is taken then is a new lease, which followed nothing yet.
 */
async function keepLease(
  { leases, sleep }: LeaseWorld,
  { name, epoch, lost }: { name: string; epoch: number; lost: AbortController },
  signal: AbortSignal,
): Promise<void> {
  let failed = 0;
  while (!signal.aborted) {
    await sleep(LEASE_RENEW_MS, signal);
    if (signal.aborted) return;
    const taken = await leases.take(name, LEASE_S);
    failed = taken.checked ? 0 : failed + 1;
    if ((taken.checked && taken.value?.epoch !== epoch) || failed > FAILED_MAX) lost.abort();
  }
}

/** Where reports go, and a clock in milliseconds that only goes forward. */
export type ReportWorld = { readonly reports: FollowReports; readonly elapsedMs: () => number };

/** Tells the states of one follower as they come. */
export function reporter({ reports, elapsedMs }: ReportWorld, chain: ChainName) {
  let told: { readonly reason: string | null; readonly atMs: number } | null = null;
  return {
    onState: ({ fault, last_block, head_block }: FollowState): void => {
      const reason = fault === null ? null : fault.reason;
      const atMs = elapsedMs();
      const isDue = told === null || atMs >= told.atMs + REPORT_EACH_S * MS_PER_S;
      if (!isDue && told !== null && told.reason === reason) return;
      told = { reason, atMs };
      const state = fault === null ? 'following' : 'held_up';
      // A report that is lost is followed by the next one; who reads notices where none comes.
      void reports.tell({ chain, state, reason, last_block, head_block });
    },
    /** Tells that it has ended, and why. */
    stopped: async (reason: string, last_block: number | null): Promise<void> => {
      told = null;
      await reports.tell({ chain, state: 'stopped', reason, last_block, head_block: null });
    },
  };
}

/** The last word of each chain. Values are `null` where nothing is known yet. */
export type FollowLags = {
  readonly onState: (state: FollowState) => void;
  /** Seconds since the last block held was made. */
  readonly lagS: (chain: string) => number | null;
  /** Blocks between the last one held and the node's head, when it was last asked. */
  readonly lagBlocks: (chain: string) => number | null;
  /** Re-orgs met since this start. */
  readonly reorgs: (chain: string) => number | null;
};

/** Keeps the last states, for the metrics. `now` gives Unix seconds. */
export function followLags(now: () => UnixSeconds): FollowLags {
  const states = new Map<string, FollowState>();
  const stateValue = <T>(chain: string, value: (state: FollowState) => T): T | null => {
    const state = states.get(chain);
    return state === undefined ? null : value(state);
  };
  return {
    onState: (state) => void states.set(state.chain, state),
    lagS: (chain) =>
      stateValue(chain, ({ last_time }) =>
        last_time === null ? null : Math.max(0, now() - last_time),
      ),
    lagBlocks: (chain) => stateValue(chain, (state) => state.lag_blocks),
    reorgs: (chain) => stateValue(chain, (state) => state.reorgs),
  };
}
