// Answers one question: what time is it, for everything that this process composes.

const MS_PER_S = 1_000;

/** Unix seconds, whole. */
export function nowS(): number {
  return Math.floor(Date.now() / MS_PER_S);
}
