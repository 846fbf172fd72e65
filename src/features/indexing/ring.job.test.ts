// The ring is built from the start of a service on, and nothing waits for it: no start, no stop.

import { expect, test, vi } from 'vitest';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import {
  type RawRingPort,
  RING_FILL_STATES,
  type RingFillState,
  type RingStatus,
} from '../../ports/history.ts';

import { keepFilling, keepRing } from './ring.job.ts';

const source = { name: 'W', url: 'urn:w', as_of: 0, kind: 'table', simulated: false } as const;
const EMPTY: RingStatus = { listed: 0, pairs: 0, bytes: 0, build_ms: 1, chains: [], gaps: [] };
const BUILT: Reading<RingStatus, RawRingPort> = read(EMPTY, { port: 'raw_ring', source });
const UNBUILT = unread('raw_ring', why('ring_unbuilt', { cause: 'a test' }));

/** A sleep that notes how long it was to be, and ends only with its signal from the nth on. */
function sleeping(turns: number) {
  const waits: number[] = [];
  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      waits.push(ms);
      if (waits.length <= turns) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
  return { waits, sleep };
}

const told = (bugs: unknown[]) => (fault: unknown) => void bugs.push(fault);

test('a build that never ends keeps no start and no stop waiting, and nothing is said of it', async () => {
  const { sleep } = sleeping(1);
  const status = () => new Promise<never>(() => undefined);
  const ring = keepRing({ status, isReading: () => false, sleep, now: () => 7, onBug: told([]) });
  const job = ring.start();
  expect(ring.report()).toBeNull();
  await job.stop();
  expect(ring.report()).toBeNull();
});

test('what was seen last is told with its time, also where the ring could not be told', async () => {
  const { sleep, waits } = sleeping(3);
  const answers = [UNBUILT, BUILT];
  let now = 6;
  const status = async () => answers.shift() ?? BUILT;
  const world = { status, isReading: () => waits.length < 3, sleep, onBug: told([]) };
  const ring = keepRing({ ...world, now: () => ++now });
  const job = ring.start();
  await vi.waitFor(() => expect(waits).toEqual([0, 10_000, 60_000, 300_000]));
  expect(ring.report()).toEqual({ as_of: 9, status: BUILT });
  await job.stop();
});

test('a bug in one turn is told and ends nothing; what is held up is tried later and later', async () => {
  const { sleep, waits } = sleeping(6);
  const bugs: unknown[] = [];
  const none = { lists_held: 0, lists: 0, calls_today: 0, calls_a_day: 1 } as const;
  const state: RingFillState = { state: 'held_up', why: UNBUILT.why, since: 0, ...none };
  let turns = 0;
  const fill = async (): Promise<RingFillState> => {
    turns += 1;
    if (turns === 2) throw new Error('a bug');
    return turns > 5 ? { ...state, state: 'filled', why: null } : state;
  };
  const job = keepFilling({ state: () => state, fill }, { sleep, onBug: told(bugs) });
  await vi.waitFor(() => expect(waits).toHaveLength(7));
  expect(waits).toEqual([30_000, 60_000, 300_000, 120_000, 240_000, 300_000, 300_000]);
  expect(bugs.map(String)).toEqual(['Error: a bug']);
  await job.stop();
});

test('a round is told as done only where nothing was left to read', async () => {
  const { sleep } = sleeping(RING_FILL_STATES.length);
  const none = { lists_held: 0, lists: 0, calls_today: 0, calls_a_day: 1 } as const;
  const waiting = [...RING_FILL_STATES];
  const fill = async (): Promise<RingFillState> => {
    const state = waiting.shift();
    if (state === undefined) throw new Error('test: no round is left');
    return { state, why: null, since: 0, ...none };
  };
  const ends: string[] = [];
  const watch: WatchRun = async (run, endOf) => {
    const result = await run();
    ends.push(endOf(result));
    return result;
  };
  const again = { sleep, onBug: told([]) };
  const job = keepFilling(
    { state: () => ({ state: 'off', why: null, since: 0, ...none }), fill },
    again,
    watch,
  );
  await vi.waitFor(() => expect(ends).toHaveLength(RING_FILL_STATES.length));
  const done = RING_FILL_STATES.filter((_, at) => ends[at] === 'done');
  const failed = RING_FILL_STATES.filter((_, at) => ends[at] === 'failed');
  expect([done, failed]).toEqual([['filled'], ['held_up', 'budget_spent']]);
  await job.stop();
});
