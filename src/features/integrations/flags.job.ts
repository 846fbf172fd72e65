// How do flags come into the queues of the chats? From their log, in order, until it is stopped.
// Several processes may do it: each step is taken by one of them.

import type { UnixSeconds } from '../../chain/time.ts';
import { Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { type Running, untilStopped } from '../../evidence/until-stopped.ts';
import type { FlagStep, FlagsTold } from '../../ports/chat/flags-told.ts';
import type { FlagEventChunk, FlagEvents } from '../../ports/flags/flag-events.ts';
import { flagDispatch, gapDispatch } from './flag-message.ts';

type Parts = {
  readonly flagEvents: Pick<FlagEvents, 'after' | 'bounds'>;
  readonly flagsTold: FlagsTold;
  readonly simulated: boolean;
  readonly now: () => UnixSeconds;
};

/** Events that one transaction queues for everybody. */
const STEP_MAX = 100;

/** Takes one step; `true`: there may be more. */
export async function tellFlags({ flagEvents, flagsTold, ...said }: Parts): Promise<boolean | Why> {
  const bounds = await flagEvents.bounds();
  if (bounds instanceof Unread) return bounds.why;
  const place = await flagsTold.place(bounds.value.newest);
  if (place instanceof Unread) return place.why;
  if (place.value >= bounds.value.newest) return false;
  const chunk = await flagEvents.after(place.value);
  if (chunk instanceof Unread) return chunk.why;
  const step = stepOf(place.value, chunk.value, { at: said.now(), simulated: said.simulated });
  const told = await flagsTold.tell(step);
  return told instanceof Unread ? told.why : true;
}

type Said = Parameters<typeof gapDispatch>[2];

function stepOf(after: number, { events, newest }: FlagEventChunk, said: Said): FlagStep {
  const [first] = events;
  const before = first === undefined ? newest : first.seq - 1;
  if (before > after) {
    return { after, up_to: before, dispatches: [gapDispatch(after + 1, before, said)] };
  }
  const told = events.slice(0, STEP_MAX);
  return { after, up_to: after + told.length, dispatches: told.map(flagDispatch) };
}

type Telling = Parts & {
  readonly pollMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onFailure: (why: Why) => void;
  readonly onBug: (error: unknown) => void;
};

/** Tells what is flagged, as it is flagged. */
export function tellFlagsUntilStopped(parts: Telling): Running {
  return untilStopped(async (signal) => {
    while (!signal.aborted) {
      const more = await tellFlags(parts).catch(parts.onBug);
      if (typeof more === 'object') parts.onFailure(more);
      if (more !== true) await parts.sleep(parts.pollMs, signal);
    }
  });
}
