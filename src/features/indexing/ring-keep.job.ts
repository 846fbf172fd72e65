// Keeps the ring around the list while a service runs: built from its start on, and read ahead.
// Nobody waits for it: a walk that comes earlier goes address by address, and `/health` says where
// the ring stands.

import { inTime, OUT_OF_TIME } from '../../evidence/deadline.ts';
import { Read } from '../../evidence/reading.ts';
import { untilStopped } from '../../evidence/until-stopped.ts';
import type { RingFilling } from '../../ports/indexing/ring-filling.ts';
import type { RingKeeping, RingReport } from '../../ports/indexing/ring-keeping.ts';

/** What goes on and on. A bug in one turn is told, and does not end it. */
type Again = {
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onBug: (fault: unknown) => void;
};

/** How often it is looked at, and while its lists are being read, or it cannot be told. */
const LOOK_MS = 300_000;
const LOOK_WHILE_READING_MS = 60_000;
const LOOK_SOON_MS = 10_000;

/** Builds the ring and looks at it again and again. */
export function keepRing(
  world: Again & {
    readonly status: RingKeeping['status'];
    readonly isReading: () => boolean;
    readonly now: () => number;
  },
) {
  const { status, isReading, now } = world;
  let report: RingReport = null;

  async function look(signal: AbortSignal): Promise<number> {
    const told = await inTime(status, signal);
    if (told === OUT_OF_TIME) return LOOK_SOON_MS;
    report = { as_of: now(), status: told };
    if (!(told instanceof Read)) return LOOK_SOON_MS;
    return isReading() ? LOOK_WHILE_READING_MS : LOOK_MS;
  }

  return { report: (): RingReport => report, start: () => begun(world, 0, look) };
}

/** What is asked first at a start are answers: reading ahead takes its turn after them. */
const FIRST_ROUND_MS = 30_000;
const ROUND_MS = 300_000;
/** After a round that was held up; twice as long after each further one, up to `ROUND_MS`. */
const HELD_UP_MS = 30_000;

/** Makes round after round. */
export function keepFilling(filling: RingFilling, again: Again) {
  let wait = HELD_UP_MS;
  return begun(again, FIRST_ROUND_MS, async (signal) => {
    const { state } = await filling.fill(() => undefined, signal);
    if (state !== 'held_up') {
      wait = HELD_UP_MS;
      return ROUND_MS;
    }
    wait = Math.min(wait * 2, ROUND_MS);
    return wait;
  });
}

/** Turns that are taken until they are stopped, each of which says when the next one is due. */
function begun(
  { sleep, onBug }: Again,
  firstMs: number,
  turn: (signal: AbortSignal) => Promise<number>,
) {
  return untilStopped(async (signal) => {
    await sleep(firstMs, signal);
    while (!signal.aborted) {
      let wait = LOOK_MS;
      try {
        wait = await turn(signal);
      } catch (fault) {
        onBug(fault);
      }
      await sleep(wait, signal);
    }
  });
}
