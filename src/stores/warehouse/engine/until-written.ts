// What did the warehouse say that cannot have changed since?
// An answer stands for as long as nothing was written, which the executor counts. Whoever asks
// while another waits for its turn shares that turn, which begins after both asked.

import type { Warehouse } from './executor.ts';

/**
 * How long an answer stands at most. A statement that was given up may go on in the engine where
 * nobody counts it, so nothing stands for good.
 */
const KEEP_MS = 1_000;

type Kept<T> = { readonly value: T; readonly writes: number; readonly atMs: number };

/** The same question, asked anew only where something can have been written since. */
export function untilWritten<T>(
  { writes }: Pick<Warehouse, 'writes'>,
  ask: () => Promise<T>,
): () => Promise<T> {
  let kept: Kept<T> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<T> | null = null;

  const standing = (): Kept<T> | null => {
    if (kept === null || kept.writes !== writes()) return null;
    return performance.now() - kept.atMs < KEEP_MS ? kept : null;
  };

  const turn = async (): Promise<T> => {
    waiting = null;
    const known = standing();
    if (known !== null) return known.value;
    const before = writes();
    const atMs = performance.now();
    const value = await ask();
    kept = before === null || writes() !== before ? null : { value, writes: before, atMs };
    return value;
  };

  return () => {
    const known = standing();
    if (known !== null) return Promise.resolve(known.value);
    if (waiting === null) {
      waiting = last.then(turn);
      last = waiting.catch(() => undefined);
    }
    return waiting;
  };
}
