// Makes the next key before it is due, and erases private parts that sign no more.

import type { UnixSeconds } from '../../chain/time.ts';
import { type Reading, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { type BoundedTask, type RoundPace, repeatRounds } from '../../evidence/waiting.ts';
import type { KeptKeys, SigningPort } from '../../ports/signing.ts';
import { chooseDue, type Make } from './keys.ts';

/** The dependencies of a round. */
type RotationParts = {
  readonly kept: Pick<KeptKeys, 'add' | 'erase'>;
  readonly make: Make;
  readonly now: () => UnixSeconds;
};

/** One round: the key that is due, then the private parts whose time is over. */
export async function rotateOnce({
  kept,
  make,
  now,
}: RotationParts): Promise<Reading<number, SigningPort>> {
  const added = await kept.add(chooseDue(make, now()));
  return added instanceof Unread ? added : kept.erase(now());
}

/** Rounds until it is stopped. */
export function rotateUntilStopped(parts: RotationParts & RoundPace<Why>): BoundedTask {
  return repeatRounds(parts, async () => {
    const done = await rotateOnce(parts);
    return done instanceof Unread ? done.why : null;
  });
}
