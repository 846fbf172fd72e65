import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { weightWindow } from './weight-window.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const WINDOW = { max: 100, windowMs: 1_000 };
const SIGNAL = new AbortController().signal;
const nowMs = () => Date.now();

test('no window of any begin holds more than the most, and everybody has a turn', async () => {
  const asks = fc.array(
    fc.record({
      most: fc.integer({ min: 1, max: 100 }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      lastsMs: fc.integer({ min: 0, max: 700 }),
      pauseMs: fc.integer({ min: 0, max: 300 }),
    }),
    { minLength: 1, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(asks, async (all) => {
      const window = weightWindow(WINDOW, nowMs);
      // What a venue sees: each call arrives somewhere between its reservation and its end.
      const arrived: { readonly at: number; readonly weight: number }[] = [];
      const calls = all.map(async ({ most, share, lastsMs }, n) => {
        const reserved = await window.reserve(most, SIGNAL);
        const weight = Math.ceil(most * share);
        const late = Math.floor(lastsMs / (1 + (n % 3)));
        setTimeout(() => arrived.push({ at: Date.now(), weight }), late);
        await new Promise((done) => setTimeout(done, lastsMs));
        reserved.settle(weight);
      });
      await vi.advanceTimersByTimeAsync(200_000);
      await Promise.all(calls);
      expect(arrived).toHaveLength(all.length);
      for (const { at } of arrived) {
        const within = arrived.filter((one) => one.at >= at && one.at < at + WINDOW.windowMs);
        expect(within.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThanOrEqual(100);
      }
    }),
    { numRuns: 60 },
  );
});

test('who leaves gives its place to the next, and a call over the most is a bug', async () => {
  const window = weightWindow(WINDOW, nowMs);
  const first = await window.reserve(80, SIGNAL);
  const gone = new AbortController();
  const left = window.reserve(90, gone.signal);
  const next = window.reserve(20, SIGNAL);
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  const given = await next;
  given.settle(20);
  first.settle(80);
  first.settle(0);
  const later = window.reserve(1, SIGNAL);
  let isGiven = false;
  later.then(
    () => {
      isGiven = true;
    },
    () => undefined,
  );
  await vi.advanceTimersByTimeAsync(999);
  expect(isGiven).toBe(false);
  await vi.advanceTimersByTimeAsync(2);
  await later;
  await expect(window.reserve(101, SIGNAL)).rejects.toThrow(RangeError);
  await expect(window.reserve(1, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
});
