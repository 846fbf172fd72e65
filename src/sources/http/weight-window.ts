// A budget of weight in a sliding window, as venues count it: what was spent counts for a whole
// window from the end of its call on, since the venue counts a call when it arrives.

/** Weight that is set aside for a call; `settle` tells once what the call has cost in the end. */
export type ReservedWeight = { readonly settle: (weight: number) => void };

export type WeightWindow = {
  /** Waits, in the order of coming, until so much is free. Rejects with the signal's reason. */
  readonly reserve: (weight: number, signal: AbortSignal) => Promise<ReservedWeight>;
};

type Entry = { weight: number; endedAt: number | null };
type Waiting = { readonly weight: number; readonly begin: (reserved: ReservedWeight) => void };

/** At most `max` in any window of `windowMs`. `nowMs` is a clock that does not go back. */
export function weightWindow(
  { max, windowMs }: { readonly max: number; readonly windowMs: number },
  nowMs: () => number,
): WeightWindow {
  let entries: Entry[] = [];
  const waiting = new Set<Waiting>();
  let timer: NodeJS.Timeout | undefined;

  const reserveNow = (weight: number): ReservedWeight => {
    const entry: Entry = { weight, endedAt: null };
    entries.push(entry);
    return {
      settle: (spent) => {
        if (entry.endedAt !== null) return;
        entry.weight = spent;
        entry.endedAt = nowMs();
        give();
      },
    };
  };
  const give = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const now = nowMs();
    entries = entries.filter(({ endedAt }) => endedAt === null || endedAt > now - windowMs);
    for (const one of waiting) {
      const used = entries.reduce((sum, { weight }) => sum + weight, 0);
      if (used + one.weight > max) break;
      waiting.delete(one);
      one.begin(reserveNow(one.weight));
    }
    if (waiting.size === 0) return;
    const ends = entries.flatMap(({ endedAt }) => (endedAt === null ? [] : [endedAt + windowMs]));
    // Where every call is under way, the first to end gives again.
    if (ends.length > 0) timer = setTimeout(give, Math.max(1, Math.min(...ends) - now));
  };

  return {
    reserve: async (weight, signal) => {
      if (weight > max) throw new RangeError('a call that weighs more than the whole window');
      signal.throwIfAborted();
      return new Promise((resolve, reject) => {
        const one: Waiting = {
          weight,
          begin: (reserved) => {
            signal.removeEventListener('abort', leave);
            resolve(reserved);
          },
        };
        const leave = (): void => {
          waiting.delete(one);
          reject(signal.reason);
          give();
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.add(one);
        give();
      });
    },
  };
}
