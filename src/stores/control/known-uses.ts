// Answers one question: is an allowance known here to be spent, without asking the store.
// Use only grows within a period, so a spent allowance stays spent; anything else ages.

/** How long a use that was seen stands for what is left. */
export const SEEN_FRESH_MS = 2_000;
/** Uses kept; past it all are forgotten, and read again. */
const KEPT_MAX = 50_000;

/** What this process has seen of uses. */
export type KnownUse = {
  /** Notes the use that a charge or a reading showed. */
  readonly saw: (subject: string, period: string, used: number) => void;
  /** The use, where it was seen lately or spends the limit; else `null`. */
  readonly recent: (subject: string, period: string, limit: number) => number | null;
};

/** Starts with nothing known. */
export function knownUses(nowMs: () => number): KnownUse {
  const seen = new Map<string, { used: number; period: string; atMs: number }>();
  return {
    saw: (subject, period, used) => {
      const last = seen.get(subject);
      // Answers can come out of order; the larger use is the later one.
      if (last !== undefined && last.period === period && last.used > used) return;
      if (last === undefined && seen.size >= KEPT_MAX) seen.clear();
      seen.set(subject, { used, period, atMs: nowMs() });
    },
    recent: (subject, period, limit) => {
      const last = seen.get(subject);
      if (last === undefined || last.period !== period) return null;
      const ageMs = nowMs() - last.atMs;
      const fresh = ageMs >= 0 && ageMs < SEEN_FRESH_MS;
      return fresh || last.used >= limit ? last.used : null;
    },
  };
}
