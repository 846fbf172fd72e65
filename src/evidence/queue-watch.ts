// Whether a queue is too long, told by how long those waited whose turn came, as CoDel does.
// A burst, or one long turn, has the queue empty again soon: then some waited for next to nothing.
// Where everybody has waited for a while, whoever comes now would too.

/** How long a turn may be waited for, where all wait. */
export const TURN_WAIT_MS_MAX = 2_000;
/** For so long all have waited longer than that before the queue is too long. */
export const LATE_FOR_MS = 1_000;
/** A queue of which nothing was heard for so long stands still: that is no overload. */
export const HEARD_WITHIN_MS = 5_000;

export type QueueWatch = {
  /** Hears of a turn as it comes: how long it was waited for. */
  readonly noteTurn: (waitedMs: number) => void;
  readonly isLate: () => boolean;
};

/** Watches one queue. `nowMs` is of a clock that does not go back. */
export function watchQueue(nowMs: () => number): QueueWatch {
  let lateSinceMs: number | null = null;
  let heardMs = nowMs();
  return {
    noteTurn: (waitedMs) => {
      heardMs = nowMs();
      if (waitedMs <= TURN_WAIT_MS_MAX) lateSinceMs = null;
      else if (lateSinceMs === null) lateSinceMs = heardMs;
    },
    isLate: () => {
      if (lateSinceMs === null) return false;
      const now = nowMs();
      return now - lateSinceMs >= LATE_FOR_MS && now - heardMs < HEARD_WITHIN_MS;
    },
  };
}
