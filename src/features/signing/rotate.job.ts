// Makes the next key before it is due, and erases private parts that sign no more.

import type { UnixSeconds } from '../../chain/time.ts';
import { type Reading, Unread } from '../../evidence/reading.ts';
import { type BoundedTask, untilStopped } from '../../evidence/waiting.ts';
import type { KeptKeys, SigningPort } from '../../ports/signing.ts';
import { chooseDue, type Make } from './keys.ts';

/** Often enough for a key that is published an hour ahead. */
const ROUND_MS = 600_000;

/** The dependencies of a round. */
export type RotationParts = {
  readonly kept: Pick<KeptKeys, 'add' | 'erase'>;
  readonly make: Make;
  readonly now: () => UnixSeconds;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly warn: (reason: string) => void;
};

/** One round: the key that is due, then the private parts whose time is over. */
export async function rotateOnce({
  kept,
  make,
  now,
}: Pick<RotationParts, 'kept' | 'make' | 'now'>): Promise<Reading<number, SigningPort>> {
  const added = await kept.add(chooseDue(make, now()));
  return added instanceof Unread ? added : kept.erase(now());
}

/** Rounds until it is stopped. */
export function rotateUntilStopped(parts: RotationParts): BoundedTask {
  return untilStopped(async (signal) => {
    while (!signal.aborted) {
      const done = await rotateOnce(parts);
      if (done instanceof Unread) parts.warn(done.why.reason);
      await parts.pause(ROUND_MS, signal);
    }
  });
}
