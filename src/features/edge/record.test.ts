// The record follows what its venue says later: a candle that was corrected is read again, and one
// that came into a hole too.

import { describe, expect, test } from 'vitest';
import { DAY_S, HOUR_S, MS_PER_S } from '../../chain/time.ts';
import { Read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { PLANTED } from '../../testing/twins/dated.ts';
import {
  emittedCallOf,
  memoryEmittedCalls,
  NOTHING_EMITTED,
} from '../../testing/twins/emitted-calls.ts';
import { memorySeriesStore } from '../../testing/twins/series.ts';
import { keepRecord } from './record.ts';

const HOUR_MS = HOUR_S * MS_PER_S;
const NAME = { venue: 'hyperliquid', series: 'candles', of: 'BTC' } as const;
const LAST = Math.floor(PLANTED.as_of / HOUR_S) * HOUR_S;
const FIRST = LAST - 60 * DAY_S;
const DOWN = why('timed_out', { what: 'The warehouse', limit: '30 s' });

test('a candle that the venue corrected weeks later is read again', async () => {
  const marketSeries = memorySeriesStore();
  const candle = (at: number, open: string) => {
    return { at, open, high: '100', low: '90', close: '100', volume: '1' };
  };
  const span = { from: FIRST * MS_PER_S, to: LAST * MS_PER_S };
  const told = { covered: [span], source: 'a test', origin: 'observed' } as const;
  const rows = Array.from({ length: (LAST - FIRST) / HOUR_S }, (_, hour) =>
    candle(span.from + hour * HOUR_MS, '100'),
  );
  await marketSeries.add(NAME, rows, { ...told, received_at: span.to });
  const changes = [
    emittedCallOf({ emitted_at: FIRST, window: 1 }, { state: 'open' }, 1),
    emittedCallOf({ emitted_at: LAST, window: 2 }, { state: 'open' }, 2),
  ];
  const { emittedCalls } = memoryEmittedCalls({ ...NOTHING_EMITTED, changes });
  const readRecord = keepRecord({ emittedCalls, marketSeries }, () => 0);
  const corrected = LAST - 20 * DAY_S;
  const openThen = async () => {
    const told = await readRecord('priced');
    if ('silent' in told) throw new Error(`test: ${told.silent.reason}`);
    const { prices, fromHour } = told.record.value;
    return prices[0]?.opens[corrected / HOUR_S - fromHour];
  };
  expect(await openThen()).toBe(100);
  const again = [candle(corrected * MS_PER_S, '90')];
  await marketSeries.add(NAME, again, { ...told, received_at: span.to + 1 });
  // The next hour has begun: the record reaches further.
  const next = { emitted_at: LAST + HOUR_S, window: 3 };
  changes.push(emittedCallOf(next, { state: 'open' }, 3));
  expect(await openThen()).toBe(90);
});

describe('candles that came after the record was read, within the same hour of it', () => {
  const MINUTE_MS = 60_000;
  const DAY_MS = DAY_S * MS_PER_S;
  const span = { from: FIRST * MS_PER_S, to: LAST * MS_PER_S };
  const hole = { from: span.from + 5 * HOUR_MS, to: span.from + 9 * HOUR_MS };
  const changes = [
    emittedCallOf({ emitted_at: FIRST, window: 1 }, { state: 'open' }, 1),
    emittedCallOf({ emitted_at: LAST, window: 2 }, { state: 'open' }, 2),
  ];

  function start() {
    const clock = { ms: 0 };
    const marketSeries = memorySeriesStore();
    let reads = 0;
    let isDown = false;
    const counted: typeof marketSeries = {
      ...marketSeries,
      read: (name, asked, options) => {
        reads += 1;
        if (isDown) return Promise.resolve(unread('market_series', DOWN));
        return marketSeries.read(name, asked, options);
      },
    };
    const { emittedCalls } = memoryEmittedCalls({ ...NOTHING_EMITTED, changes });
    const readRecord = keepRecord({ emittedCalls, marketSeries: counted }, () => clock.ms);
    return {
      clock,
      reads: () => reads,
      silence: (is: boolean) => {
        isDown = is;
      },
      add: (from: number, to: number, open: string) => {
        const rows = Array.from({ length: (to - from) / HOUR_MS }, (_, hour) => {
          const same = { open, high: open, low: open, close: open };
          return { at: from + hour * HOUR_MS, ...same, volume: '1' };
        });
        const told = { covered: [{ from, to }], source: 'a test', origin: 'observed' } as const;
        return marketSeries.add(NAME, rows, { ...told, received_at: span.to + clock.ms });
      },
      look: async () => {
        const told = await readRecord('priced');
        if ('silent' in told) throw new Error(`test: ${told.silent.reason}`);
        const [prices] = told.record.value.prices;
        return {
          record: told.record.value,
          open: prices?.opens[6],
          unread: prices?.unreadBefore.at(-1),
          isWhole: told.candles[0] instanceof Read,
        };
      },
    };
  }

  test('fill a hole a minute later', async () => {
    const { clock, add, look, reads } = start();
    await add(span.from, hole.from, '100');
    await add(hole.to, span.to, '100');
    const before = await look();
    expect(before).toMatchObject({ open: 100, unread: 4, isWhole: false });
    await add(hole.from, hole.to, '90');
    clock.ms = MINUTE_MS - 1;
    expect((await look()).record).toBe(before.record);
    clock.ms = MINUTE_MS;
    expect(await look()).toMatchObject({ open: 90, unread: 0, isWhole: true });
    expect(reads()).toBe(2);
  });

  test('are looked for once a minute while there is a hole, and cost no answer that was made', async () => {
    const { clock, add, look, reads } = start();
    await add(span.from, hole.from, '100');
    await add(hole.to, span.to, '100');
    const { record } = await look();
    for (let minute = 1; minute <= 5; minute += 1) {
      clock.ms = minute * MINUTE_MS;
      expect((await look()).record).toBe(record);
      expect((await look()).record).toBe(record);
    }
    expect(reads()).toBe(6);
  });

  test('correct what was whole a day later at the latest', async () => {
    const { clock, add, look, reads } = start();
    await add(span.from, span.to, '100');
    const { record } = await look();
    clock.ms = 1;
    await add(hole.from, hole.to, '90');
    clock.ms = DAY_MS - 1;
    expect((await look()).record).toBe(record);
    clock.ms = DAY_MS;
    expect(await look()).toMatchObject({ open: 90, isWhole: true });
    expect(reads()).toBe(2);
  });

  test('are missed while the store is silent, and what was read stands', async () => {
    const { clock, add, look, silence } = start();
    await add(span.from, hole.from, '100');
    await add(hole.to, span.to, '100');
    const { record } = await look();
    await add(hole.from, hole.to, '90');
    clock.ms = MINUTE_MS;
    silence(true);
    expect((await look()).record).toBe(record);
    silence(false);
    clock.ms = 2 * MINUTE_MS;
    expect(await look()).toMatchObject({ open: 90, unread: 0 });
  });
});
