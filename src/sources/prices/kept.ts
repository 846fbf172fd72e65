// Answers one question: what was read of late, and need not be asked again yet?
// It is bounded: what was written longest ago goes first.

/** A bounded memory, each entry of which is known for a time. */
export type KeptPrices<V> = {
  /** What is kept under a key, and when it was (Unix seconds). */
  readonly get: (key: string) => { readonly value: V; readonly at: number } | undefined;
  readonly set: (key: string, value: V) => void;
};

/** A memory of at most `entriesMax` entries, each for `keptS` seconds of the clock given. */
export function kept<V>(entriesMax: number, keptS: number, now: () => number): KeptPrices<V> {
  const entries = new Map<string, { readonly value: V; readonly at: number }>();
  return {
    get: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (now() < entry.at + keptS) return entry;
      entries.delete(key);
      return undefined;
    },
    set: (key, value) => {
      entries.delete(key);
      entries.set(key, { value, at: now() });
      if (entries.size <= entriesMax) return;
      for (const oldest of entries.keys()) {
        entries.delete(oldest);
        return;
      }
    },
  };
}
