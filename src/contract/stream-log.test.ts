// Does each reader of a shared log get every message once and in order, or is told what is gone,
// however much of it is held, is let go of, or cannot be read?

import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { Refusal } from './refusals.ts';
import { streamRoute } from './stream.ts';
import { shareLogs } from './stream-log.ts';

const AT_ONCE = 3;
const HELD_MAX = 4;
const SOURCE = { name: 'log', url: 'log:', as_of: 0, kind: 'table', simulated: false } as const;
const route = streamRoute({
  name: 'tick_log',
  surface: 'intelligence',
  path: '/ws/ticks',
  eventsPath: '/sse/ticks',
  summary: 'Ticks of the tests.',
  access: 'bearer',
  query: z.strictObject({}),
  welcome: z.strictObject({}),
  events: { tick: z.strictObject({}) },
  notices: {},
  asks: {},
  refused: {},
});

const numbers = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);

/** Logs that hold all numbers from `oldest` to `newest` but those that are `lost`. */
function ticking(readsForEach = false) {
  const world = { newest: 0, oldest: 1, lost: [] as number[], silent: false };
  const asked: [string, number][] = [];
  const calls = new Set<() => void>();
  const open = shareLogs({
    route,
    after: async (name, seq) => {
      asked.push([name, seq]);
      if (world.silent) return unread('ticks', why('time_budget'));
      const { newest, oldest, lost } = world;
      const kept = numbers(oldest, newest).filter((n) => n > seq && !lost.includes(n));
      const entries = kept.slice(0, AT_ONCE).map((n) => ({
        of: n % 2 === 0,
        message: route.event('tick', n, {}),
      }));
      const ends = { newest, oldest: oldest > newest ? null : oldest };
      return read({ ...ends, entries }, { port: 'ticks', source: SOURCE });
    },
    heldMax: HELD_MAX,
    readsForEach,
    onAppended: (call) => {
      calls.add(call);
      return () => calls.delete(call);
    },
    pollMs: 60_000,
    silentReadingsMax: 3,
  });
  const join = async (name: string, since: number | null, isWanted = (_: boolean) => true) => {
    const ended = new AbortController();
    const log = await open(name, { since, signal: ended.signal }, isWanted);
    if (log instanceof Refusal) return log;
    const told: (number | string)[] = [];
    let isSlow = false;
    const take = () => {
      if (isSlow || told.at(-1) === 'end') return;
      for (let said = log.messages.next(); said !== 'wait'; said = log.messages.next()) {
        if (said === 'end') {
          told.push('end');
          return;
        }
        if (typeof said === 'number') continue;
        const { type, seq, from, to } = said.body as { [field: string]: string | number };
        told.push(type === 'tick' ? Number(seq) : type === 'gap' ? `${from}-${to}` : `${type}`);
      }
    };
    log.messages.onMore(take);
    take();
    const be = (slow: boolean) => {
      isSlow = slow;
      take();
    };
    return { standing: log.standing, told, be, leave: () => ended.abort() };
  };
  const opened = async (...asks: Parameters<typeof join>) => {
    const said = await join(...asks);
    if (said instanceof Refusal) throw new Error('refused');
    return said;
  };
  const call = () => {
    for (const one of calls) one();
  };
  return { world, asked, calls, join, opened, call };
}

test('one reading serves all who read the same log, and nobody who reads another', async () => {
  const { world, asked, opened, call } = ticking();
  const [a, b, other] = [await opened('mine', null), await opened('mine', 0), await opened('x', 0)];
  const before = asked.length;
  world.newest = 2;
  call();
  await vi.waitFor(() => expect([a.told, b.told, other.told]).toEqual(Array(3).fill([1, 2])));
  expect(asked.slice(before)).toEqual([
    ['mine', 0],
    ['x', 0],
  ]);
});

test('who is far behind reads on in the store while others stand at the end', async () => {
  const { world, opened, call } = ticking();
  world.newest = 20;
  const [end, even, slow] = [
    await opened('mine', null),
    await opened('mine', 0, (isEven) => isEven),
    await opened('mine', 15),
  ];
  slow.be(true);
  await vi.waitFor(() => expect(even.told).toEqual(numbers(1, 10).map((n) => n * 2)));
  world.newest = 27;
  call();
  await vi.waitFor(() => expect(end.told).toEqual(numbers(21, 27)));
  slow.be(false);
  await vi.waitFor(() => expect(slow.told).toEqual(numbers(16, 27)));
  expect(even.told).toEqual(numbers(1, 13).map((n) => n * 2));
});

test('what was let go of is said as a gap, also where it goes while it is read', async () => {
  const { world, opened, call } = ticking();
  world.newest = 3;
  const reader = await opened('mine', 0);
  expect(reader.told).toEqual([1, 2, 3]);
  Object.assign(world, { newest: 20, oldest: 10, lost: [10, 11, 14, 15] });
  call();
  await vi.waitFor(() => expect(reader.told.at(-1)).toBe(20));
  expect(reader.told.slice(3)).toEqual(['4-11', 12, 13, '14-15', 16, 17, 18, 19, 20]);
  world.oldest = 21;
  const late = await opened('mine', 7);
  await vi.waitFor(() => expect(late.told).toEqual(['10-20']));
});

test('streams end with a word where the log stays silent, and none begins', async () => {
  const { world, join, opened, call } = ticking();
  world.newest = 2;
  const reader = await opened('mine', 0);
  world.silent = true;
  for (const _ of numbers(1, 3)) {
    call();
    await new Promise(setImmediate);
  }
  await vi.waitFor(() => expect(reader.told).toEqual([1, 2, 'error', 'end']));
  expect(await join('mine', 0)).toBeInstanceOf(Refusal);
  world.silent = false;
  const again = await opened('mine', 1);
  await vi.waitFor(() => expect(again.told).toEqual([2]));
});

test('a log that was put back ends its streams, and tells its numbers anew', async () => {
  const { world, opened, call } = ticking(true);
  world.newest = 9;
  const reader = await opened('mine', 7);
  world.newest = 4;
  call();
  await vi.waitFor(() => expect(reader.told).toEqual([8, 9, 'end']));
  const again = await opened('mine', 9);
  expect(again.standing).toMatchObject({ seq: 4, gap: { from: 5, to: 9 } });
  world.newest = 5;
  call();
  await vi.waitFor(() => expect(again.told).toEqual([5]));
});

test('a log is followed while it has a reader, and forgotten after', async () => {
  const { calls, opened, asked } = ticking();
  const [a, b] = [await opened('mine', 0), await opened('mine', 0)];
  expect([calls.size, asked.length]).toEqual([1, 1]);
  a.leave();
  expect(calls.size).toBe(1);
  b.leave();
  expect(calls.size).toBe(0);
  await opened('mine', 0);
  expect(asked).toHaveLength(2);
});
