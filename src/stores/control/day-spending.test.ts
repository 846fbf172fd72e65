// What several processes spend in a day never passes the day's bound, whoever restarts and is
// killed in between; the next day has a bound of its own.

import { expect, test } from 'vitest';
import { Read, type Reading } from '../../evidence/reading.ts';
import type { DaySpending } from '../../ports/day-spending.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine } from '../../testing/control-store.ts';
import { memorySpending } from '../../testing/day-spending.ts';
import { daySpendingTable } from './day-spending.ts';

const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const DAY_S = 86_400;
const TODAY = '2026-09-24';
const CALLS = 'signal_calls';

async function value<T>(reading: Promise<Reading<T, never>>): Promise<T> {
  const told = await reading;
  if (!(told instanceof Read)) throw new Error(`test: unread: ${told.why.reason}`);
  return told.value;
}

type Opened = {
  readonly spending: DaySpending;
  readonly setClock: (seconds: number) => Promise<void>;
};

function holdTheBound(name: string, open: () => Promise<Opened>): void {
  test(`${name}: a bound is spent to its end and no further`, async () => {
    const { spending } = await open();
    const take = (most: number, least: number) =>
      value(spending.setAside(CALLS, { most, least, limit: 10 }));
    expect(await take(6, 6)).toEqual({ day: TODAY, amount: 6, spent: 6 });
    expect(await take(6, 6)).toEqual({ day: TODAY, amount: 0, spent: 6 });
    expect(await take(6, 1)).toEqual({ day: TODAY, amount: 4, spent: 10 });
    expect(await take(6, 1)).toEqual({ day: TODAY, amount: 0, spent: 10 });
    await value(spending.giveBack(CALLS, { day: TODAY, amount: 3 }));
    expect(await take(6, 1)).toEqual({ day: TODAY, amount: 3, spent: 10 });
    // Money is another bound.
    const money = { most: 5, least: 5, limit: 5 };
    expect(await value(spending.setAside('analyst_usd_millionths', money))).toMatchObject({
      amount: 5,
      spent: 5,
    });
  });

  test(`${name}: the next day is another, and what is given back goes to its own`, async () => {
    const { spending, setClock } = await open();
    const take = () => value(spending.setAside(CALLS, { most: 5, least: 1, limit: 5 }));
    expect(await take()).toMatchObject({ day: TODAY, amount: 5 });
    await setClock(STILL_NOW + DAY_S);
    expect(await take()).toEqual({ day: '2026-09-25', amount: 5, spent: 5 });
    await value(spending.giveBack(CALLS, { day: TODAY, amount: 2 }));
    expect(await take()).toEqual({ day: '2026-09-25', amount: 0, spent: 5 });
    await setClock(STILL_NOW);
    expect(await take()).toEqual({ day: TODAY, amount: 2, spent: 5 });
  });

  test(`${name}: many at once take what there is`, async () => {
    const { spending } = await open();
    const taken = await Promise.all(
      Array.from({ length: 40 }, () =>
        value(spending.setAside(CALLS, { most: 7, least: 1, limit: 100 })),
      ),
    );
    expect(taken.reduce((sum, { amount }) => sum + amount, 0)).toBe(100);
  });
}

holdTheBound('memory', async () => {
  let now = STILL_NOW;
  return {
    spending: memorySpending(() => now),
    setClock: async (seconds) => {
      now = seconds;
    },
  };
});

onEachEngine((name, fresh) => {
  holdTheBound(name, async () => {
    const database = fresh();
    await database.setClock(STILL_NOW);
    return { spending: daySpendingTable(database, CONTEXT), setClock: database.setClock };
  });

  test(`${name}: a store that cannot be read gives nothing`, async () => {
    const database = fresh();
    database.silence('a planted fault');
    const spending = daySpendingTable(database, CONTEXT);
    const told = await spending.setAside(CALLS, { most: 1, least: 1, limit: 1 });
    expect(told).toHaveProperty('why.code', 'store_unreadable');
  });
});
