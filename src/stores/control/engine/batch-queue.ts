// Answers one question: how do callers that wait together share one statement.
// A batch starts with the event-loop tick after the one before it has ended; what comes
// meanwhile waits for the next. It refuses callers past its bound rather than let them wait
// without end.

import { StoreUnavailable } from './database.ts';

/** Bounds of a queue. */
type BatchLimits = {
  /** Items in one batch. */
  readonly batchMax: number;
  /** Items that wait for the batches after it. */
  readonly waitingMax: number;
};

type Waiter<I, O> = {
  readonly item: I;
  readonly resolve: (output: O) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Makes a function of one item from one of many: `run` gets the items of a batch in the order of
 * their coming and answers in that order. Where it throws, each caller gets that error.
 */
export function batchQueue<I, O>(
  run: (items: readonly I[]) => Promise<readonly O[]>,
  limits: BatchLimits,
): (item: I) => Promise<O> {
  let waiting: Waiter<I, O>[] = [];
  let running = false;

  async function runBatch(batch: readonly Waiter<I, O>[]): Promise<void> {
    try {
      const outputs = await run(batch.map((waiter) => waiter.item));
      for (const [i, waiter] of batch.entries()) {
        const output = outputs[i];
        if (output === undefined) waiter.reject(new Error('batch: an item was not answered'));
        else waiter.resolve(output);
      }
    } catch (error) {
      // Not swallowed: every caller of the batch is told.
      for (const waiter of batch) waiter.reject(error);
    }
  }

  // The callers just answered, and whoever comes in the same tick, go together: fewer and fuller
  // statements. To wait for more ticks saves work, and leaves the loop idle where little else runs.
  const nextTick = () => new Promise<void>((reached) => setImmediate(reached));

  async function runAll(): Promise<void> {
    do {
      await nextTick();
      const batch = waiting.slice(0, limits.batchMax);
      waiting = waiting.slice(limits.batchMax);
      await runBatch(batch);
    } while (waiting.length > 0);
    running = false;
  }

  return (item) =>
    new Promise<O>((resolve, reject) => {
      if (waiting.length >= limits.waitingMax) {
        reject(new StoreUnavailable('too many callers wait', 'EBUSY'));
        return;
      }
      waiting.push({ item, resolve, reject });
      if (running) return;
      running = true;
      void runAll();
    });
}
