// Answers one question: how does work go on until somebody stops it?

/** Work that goes on. `stop` tells it to end, and waits until it has. */
export type Running = { readonly stop: () => Promise<void> };

/** Begins work at once; it has to end soon after the signal. */
export function untilStopped(work: (signal: AbortSignal) => Promise<unknown>): Running {
  const ended = new AbortController();
  const running = work(ended.signal);
  return {
    stop: async () => {
      ended.abort();
      await running;
    },
  };
}
