import { afterAll, beforeEach, expect, test } from 'vitest';
import { Unread } from '../../../evidence/reading.ts';
import { seriesStoreKeeps } from '../../../ports/series-store.suite.ts';
import { freshServedWarehouse, freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import { emptied } from '../bulk-import/bulk-import.suite.ts';
import { warehouseSeries } from './market-series.ts';

const now = () => 1_800_000_000;
const embedded = await freshWarehouse();
const served = await freshServedWarehouse();
const both = [embedded, served];
beforeEach(() => Promise.all(both.map(emptied)));
afterAll(() => Promise.all(both.map((one) => one.close())));

seriesStoreKeeps('chDB', async () => warehouseSeries(embedded, now));
seriesStoreKeeps('a ClickHouse server', async () => warehouseSeries(served, now));

const SIGNAL = new AbortController().signal;
const BTC = { venue: 'hyperliquid', series: 'candles', of: 'BTC' } as const;

test('rows of a newer version are not read, and neither is a series while the store is away', async () => {
  const store = warehouseSeries(embedded, now);
  const span = { from: 0, to: 3_600_000 };
  const observed = {
    covered: [span],
    received_at: 5,
    source: 'a file',
    origin: 'observed',
  } as const;
  await store.add(BTC, [], observed);
  await embedded.command(
    `INSERT INTO market_series VALUES ('hyperliquid', 'candles', 'BTC', 0, '0', 5, '{"at":0,"o":1}')`,
    { timeoutMs: 30_000 },
  );
  const newer = await store.read(BTC, span, { signal: SIGNAL });
  expect(newer).toBeInstanceOf(Unread);
  expect(newer).toMatchObject({ why: { code: 'store_unreadable' } });
  const aborted = await store.read(BTC, span, { signal: AbortSignal.abort() });
  expect(aborted).toMatchObject({ checked: false, why: { code: 'store_unreadable' } });
  expect(await store.held(AbortSignal.abort())).toBeInstanceOf(Unread);
});

test('coverage that was never written leaves its rows without a vouch', async () => {
  const cut = Object.assign({}, embedded, {
    insert: (...of: Parameters<typeof embedded.insert>) =>
      of[0] === 'market_coverage' ? Promise.reject(new Error('killed')) : embedded.insert(...of),
  });
  const span = { from: 0, to: 3_600_000 };
  const observed = {
    covered: [span],
    received_at: 5,
    source: 'a file',
    origin: 'observed',
  } as const;
  const candle = { at: 0, open: '1', high: '1', low: '1', close: '1', volume: '0' };
  await expect(warehouseSeries(cut, now).add(BTC, [candle], observed)).rejects.toThrow('killed');
  const store = warehouseSeries(embedded, now);
  expect(await store.read(BTC, span, { signal: SIGNAL })).toMatchObject({
    why: { code: 'series_not_held' },
  });
  expect(await store.held(SIGNAL)).toMatchObject({ value: [{ rows: 1, covered: [] }] });
});
