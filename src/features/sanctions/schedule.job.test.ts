import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HOUR_S } from '../../chain/time.ts';
import type { RefreshOutcome } from '../../ports/sanctions.ts';
import { delayS, oneAtATime, scheduleRefresh } from './refresh.job.ts';

const UNREACHABLE: RefreshOutcome = { kind: 'unreachable', reason: 'r', tried: [], retry: 'soon' };
const UNCHANGED: RefreshOutcome = {
  kind: 'unchanged',
  list: { published: '2026-11-18', addresses: 1, sha256: 'a', source: 's', checked_at: 1 },
  tried: [],
  retry: 'in_turn',
};

describe('when the publisher is asked again', () => {
  test('after an answer at the interval, after silence sooner and less and less so', () => {
    const delays = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((failures) => delayS(HOUR_S, failures, 0.5));
    expect(delays).toEqual([3600, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
  });

  test('never later than the interval and a tenth, never at once, never all together', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 60, max: 7 * 86_400 }),
        fc.nat(10_000),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (interval, failures, random) => {
          const delay = delayS(interval, failures, random);
          expect(delay).toBeGreaterThanOrEqual(0.9 * 60);
          expect(delay).toBeLessThanOrEqual(1.1 * interval);
        },
      ),
    );
    expect(delayS(HOUR_S, 0, 0)).toBeLessThan(delayS(HOUR_S, 0, 0.9));
  });
});

describe('the schedule', () => {
  test('asks at once, then waits as the outcomes say, and a bug ends nothing', async () => {
    const outcomes: (RefreshOutcome | Error)[] = [
      UNCHANGED,
      UNREACHABLE,
      { ...UNREACHABLE, after_s: 900 },
      { ...UNREACHABLE, after_s: 7 * 86_400 },
      new Error('a bug'),
      UNCHANGED,
    ];
    const waits: number[] = [];
    const told: string[] = [];
    const bugs: unknown[] = [];
    const { promise: over, resolve: finish } = deferred();
    const schedule = scheduleRefresh({
      intervalS: HOUR_S,
      random: () => 0.5,
      refresh: async () => {
        const next = outcomes.shift();
        if (next === undefined) throw new Error('asked once too often');
        if (next instanceof Error) throw next;
        return next;
      },
      sleep: async (ms, signal) => {
        waits.push(ms / 1_000);
        if (outcomes.length > 0) return;
        finish();
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      },
      onOutcome: ({ kind }) => void told.push(kind),
      onBug: (error) => void bugs.push(error),
    });
    await over;
    await schedule.stop();
    expect(told).toEqual(['unchanged', 'unreachable', 'unreachable', 'unreachable', 'unchanged']);
    // The publisher's own wish goes before ours where it is longer, up to six hours.
    expect(waits).toEqual([3600, 60, 900, 6 * HOUR_S, 480, 3600]);
    expect(bugs).toHaveLength(1);
  });

  test('stopping ends a download that is under way and waits for its end', async () => {
    const { promise: begun, resolve: begin } = deferred();
    let ended = false;
    const schedule = scheduleRefresh({
      intervalS: HOUR_S,
      random: () => 0.5,
      refresh: async (_, signal) => {
        begin();
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        ended = true;
        return UNREACHABLE;
      },
      sleep: async () => undefined,
      onOutcome: () => {
        throw new Error('a stopped refresh has no outcome to tell');
      },
      onBug: (error) => {
        throw error;
      },
    });
    await begun;
    await schedule.stop();
    expect(ended).toBe(true);
  });

  test('one refresh at a time in a process, each caller with its own outcome', async () => {
    let running = 0;
    const asked: (string | null)[] = [];
    const refresh = oneAtATime(async (acceptance) => {
      running += 1;
      expect(running).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      asked.push(acceptance === null ? null : acceptance.why);
      if (acceptance?.why === 'fails') throw new Error('a bug');
      return acceptance === null ? UNCHANGED : UNREACHABLE;
    });
    const signal = new AbortController().signal;
    const acceptance = (why: string) => ({ sha256: 'a', why });
    const all = await Promise.allSettled([
      refresh(null, signal),
      refresh(acceptance('fails'), signal),
      refresh(acceptance('second'), signal),
    ]);
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(asked).toEqual([null, 'fails', 'second']);
  });
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let settle: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle() };
}
