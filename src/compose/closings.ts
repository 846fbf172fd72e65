// Closes opened resources in reverse order, each whatever became of the others, and reports the
// faults.

/** The resources opened so far. */
export type Closings = {
  readonly add: (name: string, close: () => void | Promise<void>) => void;
  /** Closes what was added, the last first. A second call closes only what was added since. */
  readonly closeAll: () => Promise<void>;
};

/** Starts with nothing opened. `told` hears of each that could not be closed. */
export function closings(told: (name: string, fault: unknown) => void): Closings {
  const opened: { readonly name: string; readonly close: () => void | Promise<void> }[] = [];
  return {
    add: (name, close) => void opened.push({ name, close }),
    closeAll: async () => {
      for (let one = opened.pop(); one !== undefined; one = opened.pop()) {
        const { name, close } = one;
        await Promise.resolve()
          .then(close)
          .catch((fault: unknown) => told(name, fault));
      }
    },
  };
}

/** Opens something of several parts; where that fails, closes those that were opened already. */
export async function openWhole<T>(
  opened: Closings,
  open: (opened: Closings) => Promise<T>,
): Promise<T> {
  try {
    return await open(opened);
  } catch (fault) {
    await opened.closeAll();
    throw fault;
  }
}
