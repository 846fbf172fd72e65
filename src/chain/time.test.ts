import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DAY_S,
  endOfWashingtonDay,
  formatIsoDate,
  formatIsoTime,
  HOUR_S,
  nextUtcMidnight,
  nextUtcMonth,
  parseIsoDate,
  startOfDay,
} from './time.ts';

const MIDNIGHT = 1_709_164_800;
const second = fc.integer({ min: -30_000_000_000, max: 250_000_000_000 });

describe('ISO dates', () => {
  test('a day is its first second, UTC', () => {
    expect(parseIsoDate('1970-01-01')).toBe(0);
    expect(parseIsoDate('2024-02-29')).toBe(MIDNIGHT);
    expect(parseIsoDate('1969-12-31')).toBe(-DAY_S);
    expect(formatIsoDate(MIDNIGHT + DAY_S - 1)).toBe('2024-02-29');
    expect(formatIsoDate(MIDNIGHT - 0.001)).toBe('2024-02-28');
  });

  test('every day is read back as it was written', () => {
    fc.assert(
      fc.property(second, (at) => {
        const day = formatIsoDate(at);
        expect(parseIsoDate(day)).toBe(Math.floor(at / DAY_S) * DAY_S);
      }),
    );
  });

  test('a day that no calendar has is null, never the next one', () => {
    const days = ['2023-02-29', '1900-02-29', '2024-02-30', '2024-04-31', '2024-13-01'];
    const more = ['2024-00-10', '2024-01-00', '0000-01-01', '0099-01-01', '0999-12-31'];
    for (const day of [...days, ...more, '9999-12-32']) {
      expect(parseIsoDate(day)).toBeNull();
    }
  });

  test('any other spelling is null', () => {
    const texts = ['', '2024-2-9', '20240229', '2024/02/29', '02/29/2024', ' 2024-02-29'];
    const more = ['2024-02-29\n', '2024-02-29T00:00:00Z', '+2024-02-29', '٢٠٢٤-02-29', 'today'];
    for (const text of [...texts, ...more]) expect(parseIsoDate(text)).toBeNull();
  });

  test('milliseconds taken for seconds are a bug, not a date', () => {
    expect(() => formatIsoDate(MIDNIGHT * 1000)).toThrow(RangeError);
    expect(() => formatIsoDate(Number.NaN)).toThrow(RangeError);
  });
});

describe('what comes next', () => {
  test('midnight is after now, within a day, on a day boundary', () => {
    fc.assert(
      fc.property(second, (now) => {
        const next = nextUtcMidnight(now);
        expect(next).toBeGreaterThan(now);
        expect(next - now).toBeLessThanOrEqual(DAY_S);
        expect(Math.abs(next % DAY_S)).toBe(0);
      }),
    );
    expect(nextUtcMidnight(MIDNIGHT)).toBe(MIDNIGHT + DAY_S);
    expect(nextUtcMidnight(MIDNIGHT - 0.5)).toBe(MIDNIGHT);
  });

  test('the month after any second begins on a first, and December ends a year', () => {
    expect(formatIsoDate(nextUtcMonth(MIDNIGHT))).toBe('2024-03-01');
    expect(formatIsoDate(nextUtcMonth(MIDNIGHT + DAY_S))).toBe('2024-04-01');
    expect(nextUtcMonth(Date.UTC(2025, 11, 31, 23, 59, 59) / 1000)).toBe(
      Date.UTC(2026, 0, 1) / 1000,
    );
    fc.assert(
      fc.property(second, (now) => {
        const next = nextUtcMonth(now);
        expect(formatIsoDate(next)).toMatch(/-01$/);
        expect(next).toBeGreaterThan(now);
        expect(next - now).toBeLessThanOrEqual(31 * DAY_S);
      }),
    );
  });
});

test('a time is written in full, a day begins at its midnight, and no other text is a day', () => {
  expect(formatIsoTime(startOfDay('2026-11-21'))).toBe('2026-11-21T00:00:00.000Z');
  expect(() => startOfDay('2026-02-30')).toThrow(RangeError);
});

test('a day in Washington ends at its own midnight, in summer, in winter and between', () => {
  const ends = ['2026-07-04', '2026-12-31', '2026-03-07', '2026-03-08', '2026-10-31', '2026-11-01'];
  expect(ends.map((day) => formatIsoTime(endOfWashingtonDay(day)))).toEqual([
    '2026-07-05T04:00:00.000Z',
    '2027-01-01T05:00:00.000Z',
    '2026-03-08T05:00:00.000Z',
    '2026-03-09T04:00:00.000Z',
    '2026-11-01T04:00:00.000Z',
    '2026-11-02T05:00:00.000Z',
  ]);
  expect(endOfWashingtonDay('9999-12-31')).toBe(startOfDay('9999-12-31') + 29 * HOUR_S);
});
