// Answers one question: may this process follow a chain now, and for how long?
// Two that follow one chain into one warehouse would undo each other's blocks, so whoever follows
// holds a lease and stops before it has ended, if it could not be held for longer.

import { type Why, why } from '../../evidence/reasons.ts';
import type { FollowEnd, FollowWatch } from '../../ports/indexing/chain-following.ts';
import type { Leases } from '../../ports/indexing/leases.ts';
import type { Tenure } from '../../ports/indexing/transfer-store.ts';

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
      const held = keepLease(world, name, lost, AbortSignal.any([signal, over.signal]));
      const { epoch, released } = taken.value;
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

/** Holds a lease until the signal ends it; `lost` is ended where another process took it. */
async function keepLease(
  { leases, sleep }: LeaseWorld,
  name: string,
  lost: AbortController,
  signal: AbortSignal,
): Promise<void> {
  let failed = 0;
  while (!signal.aborted) {
    await sleep(LEASE_RENEW_MS, signal);
    if (signal.aborted) return;
    const taken = await leases.take(name, LEASE_S);
    failed = taken.checked ? 0 : failed + 1;
    if ((taken.checked && taken.value === null) || failed > FAILED_MAX) lost.abort();
  }
}
