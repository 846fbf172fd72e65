// The record follows what its venue says later: a candle that was corrected is read again.

import { expect, test } from 'vitest';
import { DAY_S, HOUR_S, MS_PER_S } from '../../chain/time.ts';
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
  const readRecord = keepRecord({ emittedCalls, marketSeries });
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
