// Answers one question: what time is it in a test. A clock that stands still.

/** 2026-09-24T12:00:00Z in Unix seconds, the second at which the worlds of the tests stand. */
export const STILL_NOW = 1_790_251_200;

/** A clock that always says this second. */
export function stillClock(now = STILL_NOW): () => number {
  return () => now;
}
