// Does a stream tell each change of its own membership's watchlist once, in order, and end where
// its log cannot be read? The handler over a real store; its doors are the transport's.

import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { Reply } from './contract/answer.ts';
import { Refusal } from './contract/refusals.ts';
import type { Caller } from './contract/route.ts';
import { watchStreamHandler } from './features/watchlist/watch-stream.route.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW, stillClock } from './testing/clock.ts';
import { accessIn, embeddedControl } from './testing/control-store.ts';
import { listedEntry } from './testing/walked-world.ts';
import { watchingIn } from './testing/watching.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const fresh = embeddedControl();
const WATCHED = evm('watched');
const message = z.looseObject({ type: z.string(), seq: z.number().optional() });

function callerOf(membership_id: string): Caller {
  return { kind: 'member', membership_id, plan: 'analyst', key_id: `key_of_${membership_id}` };
}

async function deployment() {
  const database = fresh();
  const { memberships } = accessIn(database, Date.now);
  for (const membership_id of ['mem_mine', 'mem_theirs']) {
    await memberships.record({ membership_id, plan: 'desk', status: 'active', at: STILL_NOW });
  }
  const watching = watchingIn(database);
  const calls = new Set<() => void>();
  const handle = watchStreamHandler({
    watchlist: watching.watchlist,
    onAppended: (call) => {
      calls.add(call);
      return () => calls.delete(call);
    },
  });
  const ended = new AbortController();
  const open = async (membershipId: string, since: number | null) => {
    const asked = { query: {}, since, signal: ended.signal, now: stillClock() };
    const said = await handle({ ...asked, caller: callerOf(membershipId) });
    if (said instanceof Refusal || said instanceof Reply) throw new Error('refused');
    const told: z.output<typeof message>[] = [];
    let isOver = false;
    const take = () => {
      for (let one = said.messages.next(); one !== 'wait'; one = said.messages.next()) {
        if (one === 'end') isOver = true;
        if (typeof one !== 'object') return;
        told.push(message.parse(one.body));
      }
    };
    said.messages.onMore(take);
    take();
    return { welcome: message.parse(said.welcome.body), told, isOver: () => isOver };
  };
  const callAll = () => {
    for (const call of calls) call();
  };
  /** The watched address enters the list, leaves it, enters it again, so many times in all. */
  const move = async (times: number, from = 0) => {
    for (let n = from; n < from + times; n += 1) {
      const listed = n % 2 === 0 ? [listedEntry(WATCHED)] : [];
      watching.be({ version: String((n % 8) + 2), listed });
      await watching.round();
    }
    callAll();
  };
  await watching.watch('mem_mine', WATCHED);
  await watching.round();
  return { ...watching, database, open, move, callAll, leave: () => ended.abort(), calls };
}

test('tells each change once and in order, to the readers of its membership alone', async () => {
  const { open, move, leave, calls } = await deployment();
  const mine = await open('mem_mine', null);
  const theirs = await open('mem_theirs', null);
  expect(mine.welcome).toMatchObject({ type: 'welcome', seq: 0, gap: null });
  await move(3);
  await vi.waitFor(() => expect(mine.told).toHaveLength(3));
  expect(mine.told).toMatchObject([
    { type: 'change', seq: 1, change: 'entered', address: WATCHED, part: 'sanctions_list' },
    { type: 'change', seq: 2, change: 'left', after: [] },
    { type: 'change', seq: 3, change: 'entered' },
  ]);
  expect(theirs.told).toEqual([]);
  leave();
  expect(calls.size).toBe(0);
});

test('goes on after the number that a reader has, and names what is gone', async () => {
  const { open, move, database, leave } = await deployment();
  await move(4);
  const resumed = await open('mem_mine', 2);
  await vi.waitFor(() => expect(resumed.told.map(({ seq }) => seq)).toEqual([3, 4]));
  await database.query('delete from watch_changes where seq <= 3');
  const late = await open('mem_mine', 1);
  expect(late.welcome).toMatchObject({ seq: 3, gap: { from: 2, to: 3 } });
  await vi.waitFor(() => expect(late.told.map(({ seq }) => seq)).toEqual([4]));
  leave();
});

test('ends with a word where its log cannot be read, and refuses to begin', async () => {
  const { open, database, callAll, leave } = await deployment();
  const { told, isOver } = await open('mem_mine', null);
  database.silence('it is down');
  await vi.waitFor(
    () => {
      callAll();
      expect(told).toMatchObject([{ type: 'error', code: 'unread' }]);
    },
    { interval: 50 },
  );
  expect(isOver()).toBe(true);
  await expect(open('mem_mine', null)).rejects.toThrow('refused');
  leave();
});
