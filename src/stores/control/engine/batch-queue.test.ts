import { describe, expect, test } from 'vitest';
import { batchQueue, StoreUnavailable } from './database.ts';

const LIMITS = { batchMax: 10, waitingMax: 25 };

describe('a queue of batches', () => {
  test('what comes in one tick goes together, what comes meanwhile goes next', async () => {
    const batches: number[][] = [];
    const double = batchQueue<number, number>(async (items) => {
      batches.push([...items]);
      await new Promise((resolve) => setImmediate(resolve));
      return items.map((item) => item * 2);
    }, LIMITS);
    const first = [double(1), double(2)];
    await new Promise((resolve) => setImmediate(resolve));
    const next = [double(3), double(4)];
    expect(await Promise.all([...first, ...next])).toEqual([2, 4, 6, 8]);
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test('a batch and the wait are bounded; past it callers are refused', async () => {
    const sizes: number[] = [];
    const same = batchQueue<number, number>(async (items) => {
      sizes.push(items.length);
      return items;
    }, LIMITS);
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, (_, n) => same(n)));
    expect(outcomes.slice(0, 25).every((one) => one.status === 'fulfilled')).toBe(true);
    for (const one of outcomes.slice(25)) {
      expect(one.status === 'rejected' && one.reason).toBeInstanceOf(StoreUnavailable);
    }
    expect(sizes).toEqual([10, 10, 5]);
  });

  test('a batch that fails fails for its own callers only, and the queue goes on', async () => {
    let calls = 0;
    const flaky = batchQueue<number, number>(async (items) => {
      calls += 1;
      if (calls === 1) throw new Error('first');
      return items;
    }, LIMITS);
    await expect(Promise.all([flaky(1), flaky(2)])).rejects.toThrow('first');
    expect(await flaky(3)).toBe(3);
  });

  test('an item that was not answered is an error, not a wait without end', async () => {
    const forgetful = batchQueue<number, number>(async (items) => items.slice(1), LIMITS);
    const outcomes = await Promise.allSettled([forgetful(1), forgetful(2)]);
    expect(outcomes.map((one) => one.status)).toEqual(['fulfilled', 'rejected']);
  });
});
