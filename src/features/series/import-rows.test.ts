import { describe, expect, test } from 'vitest';
import { importedRows } from './import-rows.ts';
import { localTimes, parseStamp, type Zone, zoneNamed } from './local-times.ts';

const HOUR = 3_600_000;

function zone(name: string): Zone {
  const found = zoneNamed(name);
  if (found === null) throw new Error(`test: no zone ${name}`);
  return found;
}

function wall(text: string): number {
  return Date.parse(`${text}Z`);
}

describe('times', () => {
  test.each([
    ['2020-10-23 11:00:00+03:00', '2020-10-23T08:00:00Z'],
    ['2020-10-23T08:00Z', '2020-10-23T08:00:00Z'],
    ['2020-10-23 08:00:00.250 UTC', '2020-10-23T08:00:00.250Z'],
    ['2020-10-23T03:00:00.5-0500', '2020-10-23T08:00:00.500Z'],
    ['2020-10-23T10:30+0230', '2020-10-23T08:00:00Z'],
    ['1603440000', '2020-10-23T08:00:00Z'],
    ['1603440000000', '2020-10-23T08:00:00Z'],
    ['1603440000000000', '2020-10-23T08:00:00Z'],
  ])('%s is a moment', (text, iso) => {
    expect(parseStamp(text)).toEqual({ at: Date.parse(iso) });
  });

  test('a time without an offset is that of a wall clock', () => {
    expect(parseStamp('2020-10-23 08:00:00')).toEqual({ local: wall('2020-10-23T08:00:00') });
  });

  test.each([
    ...['', 'yesterday', '2020-10-23', '2023-02-29 01:00:00', '2020-10-23 24:00:00'],
    ...['2020-10-23 08:60:00', '2020-13-01 08:00:00', '12', '160344000000'.slice(0, 11)],
  ])('%j is none', (text) => {
    expect(parseStamp(text)).toBeNull();
  });

  test('a wall clock set back shows an hour twice, in the order of the rows', () => {
    const hours = ['00:00', '01:00', '01:00', '02:00'].map((at) => wall(`2020-10-25T${at}`));
    const told = localTimes(hours, zone('Asia/Jerusalem'));
    const utc = ['2020-10-24T21:00', '2020-10-24T22:00', '2020-10-24T23:00', '2020-10-25T00:00'];
    expect(told).toEqual(utc.map((at) => ({ at: wall(at) })));
    const backward = localTimes(hours.toReversed(), zone('Asia/Jerusalem'));
    expect(backward).toEqual(utc.toReversed().map((at) => ({ at: wall(at) })));
  });

  test('two rows of the hour that repeats are a pair at any of its minutes', () => {
    const hours = ['00:10', '01:10', '01:20', '02:00'].map((at) => wall(`2020-10-25T${at}`));
    const utc = ['2020-10-24T21:10', '2020-10-24T22:10', '2020-10-24T23:20', '2020-10-25T00:00'];
    expect(localTimes(hours, zone('Asia/Jerusalem'))).toEqual(utc.map((at) => ({ at: wall(at) })));
  });

  test.each([
    ['stands once', ['00:00', '01:00', '02:00'], 1],
    ['stands three times', ['00:00', '01:00', '01:00', '01:00', '02:00'], 3],
    ['stands alone in the file', ['01:00', '01:00'], 2],
    ['has rows of no order around it', ['00:00', '01:00', '01:00', '00:30'], 2],
    ['does not stand in a row', ['01:00', '02:00', '01:00'], 2],
  ])('an hour that repeats and %s is told by no order', (_, hours, refused) => {
    const walls = hours.map((at) => wall(`2020-10-25T${at}`));
    const told = localTimes(walls, zone('Asia/Jerusalem'));
    expect(told.filter((one) => 'problem' in one)).toEqual(
      Array.from({ length: refused }, () => ({ problem: 'repeated' })),
    );
  });

  test('an hour that the clock skips does not exist', () => {
    const told = localTimes([wall('2021-03-26T02:30')], zone('Asia/Jerusalem'));
    expect(told).toEqual([{ problem: 'skipped' }]);
    expect(zoneNamed('Nowhere/Land')).toBeNull();
  });

  test.each(['Asia/Jerusalem', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'UTC'])(
    'every hour of a year comes back from the wall clocks of %s',
    (name) => {
      const format = new Intl.DateTimeFormat('sv-SE', {
        timeZone: name,
        dateStyle: 'short',
        timeStyle: 'medium',
      });
      const from = Date.UTC(2023, 0, 1);
      const hours = Array.from({ length: 8_760 }, (_, n) => from + n * HOUR);
      const walls = hours.map((at) => wall(format.format(at).replace(' ', 'T')));
      expect(localTimes(walls, zone(name))).toEqual(hours.map((at) => ({ at })));
    },
  );
});

const COLUMNS = ['time', 'open', 'high', 'low', 'close', 'volume'];
const at = (n: number) => `2026-01-01 ${String(n).padStart(2, '0')}:00:00+00:00`;
const row = (n: number, close = '100.5') => [at(n), '100', '101', '99', close, '3'];
const candles = (rows: readonly (readonly string[])[], columns = COLUMNS) =>
  importedRows([{ name: 'a.csv', columns, rows }], { series: 'candles', asset: 'BTC', zone: null });
const START = Date.UTC(2026, 0, 1);

describe('candles', () => {
  test('only the hours that stand in the file are covered', () => {
    const told = candles([row(2), row(0), row(1), row(4)]);
    expect(told.covered).toEqual([
      { from: START, to: START + 3 * HOUR },
      { from: START + 4 * HOUR, to: START + 5 * HOUR },
    ]);
    expect(told.rows.map((one) => one.at)).toEqual([0, 1, 2, 4].map((n) => START + n * HOUR));
    expect(told.refused).toEqual([]);
  });

  test('a row that comes twice is one, two words about an hour are none', () => {
    const told = candles([row(0), row(0), row(1), row(1, '99.5'), row(2)]);
    expect(told).toMatchObject({ repeated: 1, rows: [{ at: START }, { at: START + 2 * HOUR }] });
    expect(told.refused).toEqual([
      { file: 'a.csv', row: 3, code: 'two_words' },
      { file: 'a.csv', row: 4, code: 'two_words' },
    ]);
  });

  test.each([
    ['no_time', ['soon', '1', '1', '1', '1', '1']],
    ['no_offset', ['2026-01-01 00:00:00', '1', '1', '1', '1', '1']],
    ['not_the_hour', ['2026-01-01 00:30:00Z', '1', '1', '1', '1', '1']],
    ['not_the_hour', ['2026-01-01 00:00:00+05:30', '1', '1', '1', '1', '1']],
    ['not_a_number', [at(0), '1', '1', '1', '', '1']],
    ['not_a_number', [at(0), '1', 'NaN', '1', '1', '1']],
    ['not_a_candle', [at(0), '1', '1', '2', '1', '1']],
    ['not_a_candle', [at(0), '0', '0', '0', '0', '1']],
    ['not_a_candle', [at(0), '1', '1', '1', '1', '-1']],
  ])('%s refuses a row', (code, cells) => {
    expect(candles([cells]).refused).toEqual([{ file: 'a.csv', row: 1, code }]);
  });

  test('a row of another asset, and a time with an offset beside a zone, are refused', () => {
    const told = candles(
      [
        [...row(0), 'ETH'],
        [...row(1), 'BTC'],
      ],
      [...COLUMNS, 'symbol'],
    );
    expect(told.refused).toEqual([{ file: 'a.csv', row: 1, code: 'other_asset' }]);
    const zoned = importedRows([{ name: 'a.csv', columns: COLUMNS, rows: [row(0)] }], {
      series: 'candles',
      asset: 'BTC',
      zone: zone('UTC'),
    });
    expect(zoned.refused).toEqual([{ file: 'a.csv', row: 1, code: 'offset_and_zone' }]);
  });

  test('a file without a column that is needed has no rows', () => {
    expect(candles([row(0)], ['time', 'open', 'high', 'low', 'close', 'size'])).toMatchObject({
      fault: 'a.csv has no column volume',
      rows: [],
    });
  });
});

describe('funding', () => {
  const funding = (hours: readonly number[]) =>
    importedRows(
      [
        {
          name: 'f.jsonl',
          columns: ['coin', 'fundingrate', 'time'],
          rows: hours.map((n) => ['BTC', '0.0000125', String(START + n * HOUR + 231)]),
        },
      ],
      { series: 'funding', asset: 'BTC', zone: null },
    );

  test('the interval is told by a row of equal distances, and a missing one is a hole', () => {
    const told = funding([0, 8, 16, 24, 25, 26, 27, 29, 30]);
    expect(told.rows.map((one) => 'interval_s' in one && one.interval_s / 3_600)).toEqual([
      ...[8, 8, 8, 8, 1, 1, 1, 1, 1],
    ]);
    expect(told.covered).toEqual([
      { from: START, to: START + 28 * HOUR },
      { from: START + 29 * HOUR, to: START + 31 * HOUR },
    ]);
  });

  test('every second one missing makes no interval of two hours', () => {
    const told = funding([0, 1, 2, 3, 5, 7, 8, 9]);
    expect(told.rows.every((one) => 'interval_s' in one && one.interval_s === 3_600)).toBe(true);
    expect(told.covered).toHaveLength(3);
  });

  test.each([[[0]], [[0, 1, 2]], [[0, 2, 3, 5]]])('%j tell no interval', (hours) => {
    expect(funding(hours).fault).toMatch(/tell no interval/);
  });
});
