/** 2026-09-24T12:00:00Z in Unix seconds, the second at which the worlds of the tests stand. */
export const STILL_NOW = 1_790_251_200;

/** How old a chain's newest held block may be in the worlds of the tests, in seconds. */
export const TIP_MAX_AGE_S = 3_600;

/** Live readings that are shared while they are under way, and held no longer. */
export const UNHELD = { heldMs: 0, nowMs: () => performance.now() } as const;

/** A clock that always says this second. */
export function stillClock(now = STILL_NOW): () => number {
  return () => now;
}
