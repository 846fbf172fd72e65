// Luck is told as published, and on pure noise no more often as an edge than it says.

import { describe, expect, test } from 'vitest';
import { measureNoise } from '../../testing/edge-noise.ts';
import { FIRST_HOUR, noiseRecord, testRecord } from '../../testing/edge-records.ts';
import { closedCalls } from './backtest.ts';
import { deflateSharpe, expectedBest, holdAssets, testEntries } from './luck.ts';

describe('the deflated ratio of Bailey and López de Prado', () => {
  const YEAR = 250;
  const sharpe = 2.5 / Math.sqrt(YEAR);
  const variance = 0.5 / YEAR;
  const fat = { n: 1_250, skew: -3, kurtosis: 10 };
  const normal = { n: 1_250, skew: 0, kurtosis: 3 };
  test.each([
    [100, fat, 0.1132, 0.9004],
    [46, fat, null, 0.9505],
    [88, normal, null, 0.9505],
    [1_000, fat, null, 0.6399],
  ])('after %d tries', (trials, moments, sharpe_0, probability) => {
    const told = deflateSharpe(sharpe, moments, { trials, variance });
    expect(told.probability).toBeCloseTo(probability, 4);
    if (sharpe_0 !== null) expect(told.sharpe_0).toBeCloseTo(sharpe_0, 4);
  });
  test('is of the raw kurtosis: what is over that of a normal distribution gives another', () => {
    const tries = { trials: 100, variance };
    const excess = deflateSharpe(sharpe, { ...fat, kurtosis: fat.kurtosis - 3 }, tries);
    expect(excess.probability).toBeCloseTo(0.9018, 4);
    expect(deflateSharpe(sharpe, fat, tries).probability).not.toBeCloseTo(0.9018, 4);
  });
  test('is of ratios of a day: those of a year would make almost anything certain', () => {
    const yearly = deflateSharpe(2.5, fat, { trials: 100, variance: 0.5 });
    expect(yearly.probability).toBeGreaterThan(0.999);
    const { probability } = deflateSharpe(sharpe, fat, { trials: 100, variance });
    expect(probability).toBeLessThan(0.999);
  });
  test('expects nothing of a single try', () => {
    expect(expectedBest({ trials: 1, variance })).toBe(0);
    expect(expectedBest({ trials: 2, variance })).toBeGreaterThan(0);
  });
});

describe('random entries', () => {
  test('move the whole set: p is that of counting every move one by one', () => {
    const record = noiseRecord(7, { assets: 3, hours: 400, bursts: 4 });
    const hours = { from: FIRST_HOUR, to: FIRST_HOUR + 399 };
    const picked = closedCalls(record, Uint32Array.from(record.calls.keys()));
    const told = testEntries(record, picked, hours, 11);
    const length = hours.to - hours.from;
    const gain = (shift: number) =>
      [...picked].reduce((sum, at) => {
        const { columns, prices } = record;
        const moves = prices[Number(columns.instrument[at])]?.moves;
        let own = 0;
        for (let h = Number(columns.entryHour[at]); h < Number(columns.exitHour[at]); h += 1) {
          const place = (h - FIRST_HOUR + shift) % length;
          own += Math.log1p(Number(moves?.[place]));
        }
        return sum + own * Number(columns.direction[at]);
      }, 0);
    const gains = Array.from({ length }, (_, shift) => gain(shift));
    const share = gains.filter((one) => one >= Number(gains[0]) - 1e-12).length / length;
    expect(told.reason).toBeNull();
    expect(Math.abs(Number(told.p) - share)).toBeLessThan(0.05);
    expect(testEntries(record, picked, hours, 11)).toEqual(told);
  });

  test('say why they tell nothing', () => {
    const none = testRecord({ calls: [], opens: {} });
    const hours = { from: FIRST_HOUR, to: FIRST_HOUR + 100 };
    const empty = testEntries(none, new Uint32Array(0), hours, 1);
    expect(empty).toMatchObject({ p: null, reason: 'no_closed_call' });
    const opens = {
      BTC: Array.from({ length: 120 }, (_, hour) => (hour < 20 ? null : 100 + hour)),
    };
    const holed = testRecord({ calls: [{ entry_h: 30, exit_h: 40 }, { entry_h: 119 }], opens });
    const closed = closedCalls(holed, Uint32Array.from(holed.calls.keys()));
    const read = { from: FIRST_HOUR + 29, to: FIRST_HOUR + 110 };
    expect(testEntries(holed, closed, read, 1).reason).toBeNull();
    const unread = { from: holed.fromHour, to: FIRST_HOUR + 118 };
    expect(testEntries(holed, closed, { ...unread, from: holed.fromHour }, 1).reason).toBeNull();
    expect(
      testEntries(holed, closed, { from: FIRST_HOUR + 30, to: FIRST_HOUR + 60 }, 1),
    ).toMatchObject({ p: null, reason: 'span_too_short' });
  });
});

test('buying and holding takes the same assets and hours, long', () => {
  const opens = { BTC: [100, 100, 110, 99, 99] };
  const record = testRecord({
    calls: [{ entry_h: 1, exit_h: 3, direction: 'short' }],
    opens,
  });
  const hours = { from: FIRST_HOUR, to: FIRST_HOUR + 3 };
  const held = holdAssets(record, closedCalls(record, Uint32Array.of(0)), hours, true);
  expect(held.mean_return_bps).toBeCloseTo(-100, 9);
  expect(held.total_return).toBeCloseTo(-0.01, 12);
});

/** A tenth of the records; `npm run bench:edge` measures all. */
const RECORDS = 100;

test('noise is no edge: p, intervals and deflated ratios hold what they say', () => {
  const told = measureNoise(RECORDS);
  // 5% of 100, and the upper end that a share of 5% has among so many.
  expect(told.lowP / RECORDS).toBeLessThanOrEqual(0.11);
  expect(told.holdsHalf / RECORDS).toBeGreaterThanOrEqual(0.9);
  // Each call alone: overlapping ones tell the same thing twice, and the interval is too small.
  expect(told.holdsHalfAlone / RECORDS).toBeLessThan(0.9);
  expect(told.bestLooksGood / RECORDS).toBeGreaterThan(0.3);
  expect(told.bestDeflated / RECORDS).toBeLessThanOrEqual(0.05);
});
