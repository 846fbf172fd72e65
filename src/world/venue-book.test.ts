import { expect, test } from 'vitest';
import { TRADER_KINDS, WORLD_TRADERS } from './traders.ts';
import { HOUR_MS } from './trading.ts';
import { worldVenueBook } from './venue-book.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 30);
const book = worldVenueBook(() => NOW);

test('every trader has a role, fills of the past and no funding of a stranger', () => {
  for (const { address, kind } of WORLD_TRADERS) {
    expect(book.roleOf(address).role).not.toBe('missing');
    const fills = book.fillsOf(address);
    expect(fills.length > 0).toBe(kind !== 'agent');
    expect(fills.every(({ at }, n) => at <= NOW && at >= Number(fills[n - 1]?.at ?? 0))).toBe(true);
  }
  expect(TRADER_KINDS).toContain('agent');
  const stranger = `0x${'5'.repeat(40)}`;
  expect(book.roleOf(stranger)).toEqual({ role: 'missing' });
  expect([book.fillsOf(stranger), book.fundingOf(stranger)]).toEqual([[], []]);
});

test('each hour has a candle and a settlement, the one under way too, and no other coin has any', () => {
  const from = Math.floor(NOW / HOUR_MS) * HOUR_MS - 9 * HOUR_MS;
  const candles = book.candlesOf('BTC', from, NOW);
  expect(candles.map(({ at }) => (at - from) / HOUR_MS)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(candles.every(({ open, close }) => open > 0 && close > 0)).toBe(true);
  expect(book.settlementsOf('BTC', from, NOW)).toHaveLength(10);
  expect([book.candlesOf('NONE', from, NOW), book.settlementsOf('NONE', from, NOW)]).toEqual([
    [],
    [],
  ]);
});
