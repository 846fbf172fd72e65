// The guarantees of every bus, whatever carries it. Each adapter's test runs them.

import { describe, expect, test, vi } from 'vitest';
import type { Bus, HeldStreams } from './streams.ts';

/** Within the time of a test; the machine may have much else to do. */
const PATIENT = { timeout: 20_000, interval: 20 };

const held = (own: number, holder = 'token:1'): HeldStreams => ({ holder, tier: 'free', own });

/** Runs the promises on the buses that `join` gives: each the bus of a process of its own. */
export function busKeeps(name: string, join: () => Promise<Bus>): void {
  describe(`${name}: a bus`, () => {
    test('calls who listens, and nobody who has left', async () => {
      const bus = await join();
      let [stays, left] = [0, 0];
      bus.listen(() => {
        stays += 1;
      });
      bus.listen(() => {
        left += 1;
      })();
      bus.callAll();
      await vi.waitFor(() => expect(stays).toBeGreaterThan(0), PATIENT);
      expect(left).toBe(0);
    });

    test('grants what is held up to its bound, and counts none of it as held elsewhere', async () => {
      const bus = await join();
      expect(await bus.hold(held(10), 10)).toMatchObject({ value: { granted: true, others: 0 } });
      expect(await bus.hold(held(11), 10)).toMatchObject({ value: { granted: false, others: 0 } });
      await bus.hold(held(10), null);
      expect(await bus.others('free')).toMatchObject({ value: 0 });
    });
  });
}
