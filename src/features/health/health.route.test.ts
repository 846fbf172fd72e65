// Anybody may ask for the state, as often as they like: what it is made of is read once a second.

import { expect, test } from 'vitest';
import { NOBODY } from '../../contract/route.ts';
import { TEST_SERVICE } from '../../testing/service.ts';
import { healthHandler } from './health.route.tsx';

test('it is made once a second, however many ask together or in turn, and anew in the next', async () => {
  let clock = 1_790_000_000;
  let read = 0;
  const freshness = async () => {
    read += 1;
    return {};
  };
  const ask = healthHandler({ ...TEST_SERVICE, freshness });
  const context = { now: () => clock, signal: new AbortController().signal };
  const once = () => ask({ params: {}, query: {}, body: undefined }, context, NOBODY);
  const replies = [...(await Promise.all(Array.from({ length: 50 }, once))), await once()];
  expect([read, new Set(replies).size]).toEqual([1, 1]);
  clock += 1;
  expect(replies).not.toContain(await once());
  expect(read).toBe(2);
});
