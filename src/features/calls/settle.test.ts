// A call is closed by the candles and the settlements that it was held through, worked out by hand.

import { describe, expect, test } from 'vitest';
import type { EmittedCall } from '../../ports/emitted-calls.ts';
import type {
  Candle,
  FundingPoint,
  Kept,
  Listing,
  SeriesKind,
  SeriesRow,
  SeriesSpan,
} from '../../ports/series.ts';
import { emittedCallOf } from '../../testing/twins/emitted-calls.ts';
import type { Cut } from './observations.ts';
import { type ClosingEvidence, closeCall } from './settle.ts';

const HOUR_S = 3_600;
const FIRST = 1_760_000_400;
/** A quarter past the first hour; held from the second hour on, for four hours. */
const EMITTED = FIRST + 900;
const at = (hour: number): number => (FIRST + hour * HOUR_S) * 1_000;
const LATER = FIRST + 8 * HOUR_S;
const MUCH_LATER = LATER + 8 * 86_400;

const callOf = (direction: EmittedCall['direction']) =>
  emittedCallOf({ direction, emitted_at: EMITTED, horizon_h: 4 });

function cut<S extends SeriesKind>(
  series: S,
  rows: readonly SeriesRow<S>[],
  holes: readonly SeriesSpan[] = [],
): Cut<S> {
  const kept = rows.map((row): Kept<SeriesRow<S>> => ({ ...row, received_at: 0, revision: 0 }));
  const name = { venue: 'hyperliquid', series, of: 'BTC' } as const;
  return { name, rows: kept, holes, isWhole: holes.length === 0, simulated: false };
}

const candle = (hour: number, open: string): Candle => ({
  at: at(hour),
  open,
  high: '999',
  low: '1',
  close: `${Number(open) + 0.5}`,
  volume: '1',
});
const settlement = (hour: number, rate: string): FundingPoint => ({
  at: at(hour) + 71,
  rate,
  interval_s: HOUR_S,
});
const CANDLES = ['100', '101', '102', '103', '110', '108', '90'].map((open, n) => candle(n, open));
const FUNDING = Array.from({ length: 8 }, (_, n) => settlement(n, `0.000${n}`));
const TRADING: Listing = { at: at(-99), state: 'trading', price: '90' };

function evidence(more: Partial<ClosingEvidence> = {}): ClosingEvidence {
  return {
    candles: cut('candles', CANDLES),
    funding: cut('funding', FUNDING),
    listings: cut('listings', [TRADING]),
    ...more,
  };
}

describe('a call', () => {
  test('is entered and left at opens, and pays the funding of the hours that it was held', () => {
    // In at 101 (hour 1), out at 108 (hour 5): 108 ÷ 101 − 1; funding of hours 2, 3, 4 and 5.
    expect(closeCall(callOf('long'), evidence(), LATER)).toEqual({
      state: 'closed',
      entry_at_ms: at(1),
      entry: '101',
      exit_at_ms: at(5),
      exit: '108',
      gross_return: '0.069306930693',
      funding_paid: '0.0014',
      delisted: false,
      closed_at: LATER,
      restated: null,
    });
    expect(closeCall(callOf('short'), evidence(), LATER)).toMatchObject({
      gross_return: '-0.069306930693',
      funding_paid: '-0.0014',
    });
  });

  test('that was emitted as an hour begins is entered at its open', () => {
    const call = emittedCallOf({ direction: 'long', emitted_at: FIRST, horizon_h: 1 });
    expect(closeCall(call, evidence(), LATER)).toMatchObject({
      entry: '100',
      exit: '101',
      gross_return: '0.01',
      funding_paid: '0.0001',
    });
  });

  test('may lose everything', () => {
    const gone = cut('candles', [candle(1, '100'), candle(5, '0')]);
    expect(closeCall(callOf('long'), evidence({ candles: gone }), LATER)).toMatchObject({
      gross_return: '-1',
    });
  });

  test('waits until two hours behind its horizon', () => {
    const end = EMITTED + 4 * HOUR_S;
    expect(closeCall(callOf('long'), evidence(), end + 7_199)).toEqual({ state: 'open' });
    expect(closeCall(callOf('long'), evidence(), end + 7_200)).toMatchObject({ state: 'closed' });
  });
});

describe('what is missing', () => {
  const unpriced = (cause: string, closed_at = LATER) => ({ state: 'unpriced', cause, closed_at });

  test('a candle within two hours prices a call, and none there does not', () => {
    const without = (...hours: readonly number[]) =>
      cut(
        'candles',
        CANDLES.filter((_, n) => !hours.includes(n)),
      );
    expect(closeCall(callOf('long'), evidence({ candles: without(1) }), LATER)).toMatchObject({
      entry: '102',
    });
    expect(closeCall(callOf('long'), evidence({ candles: without(1, 2) }), LATER)).toEqual(
      unpriced('no_entry_candle'),
    );
    expect(closeCall(callOf('long'), evidence({ candles: without(5) }), LATER)).toMatchObject({
      exit: '90',
    });
    expect(closeCall(callOf('long'), evidence({ candles: without(5, 6) }), LATER)).toEqual(
      unpriced('no_exit_candle'),
    );
  });

  test('a hole is waited for a week, since it may hide a candle', () => {
    const holes = [{ from: at(1), to: at(2) }];
    const hidden = cut(
      'candles',
      CANDLES.filter((_, n) => n !== 1),
      holes,
    );
    const given = evidence({ candles: hidden });
    expect(closeCall(callOf('long'), given, LATER)).toEqual({ state: 'open' });
    expect(closeCall(callOf('long'), given, MUCH_LATER)).toEqual(
      unpriced('no_entry_candle', MUCH_LATER),
    );
  });

  test('funding that was not read is never taken for none', () => {
    const holes = [{ from: at(3), to: at(4) }];
    const given = evidence({ funding: cut('funding', FUNDING, holes) });
    expect(closeCall(callOf('long'), given, LATER)).toEqual({ state: 'open' });
    expect(closeCall(callOf('long'), given, MUCH_LATER)).toEqual(
      unpriced('funding_unread', MUCH_LATER),
    );
    const outside = evidence({ funding: cut('funding', FUNDING, [{ from: at(6), to: at(7) }]) });
    expect(closeCall(callOf('long'), outside, LATER)).toMatchObject({ state: 'closed' });
  });
});

describe('an asset that is taken off while a call is held', () => {
  const off = (price: string | null, state: Listing['state'] = 'delisted') =>
    evidence({
      candles: cut('candles', CANDLES.slice(0, 3)),
      funding: cut('funding', FUNDING.slice(0, 3), [{ from: at(3), to: at(9) }]),
      listings: cut('listings', [TRADING, { at: at(3), state, price }]),
    });

  test('settles it at the last price of the venue, less the funding until then', () => {
    for (const state of ['delisted', 'frozen', 'absent'] as const) {
      expect(closeCall(callOf('long'), off('50.5', state), LATER)).toMatchObject({
        state: 'closed',
        exit_at_ms: at(3),
        exit: '50.5',
        gross_return: '-0.5',
        funding_paid: '0.0002',
        delisted: true,
      });
    }
  });

  test('settles it at the close of its last candle where the venue told no price', () => {
    expect(closeCall(callOf('short'), off(null), LATER)).toMatchObject({
      exit: '102.5',
      gross_return: '-0.014851485148',
      delisted: true,
    });
  });

  test('is left at the end of the horizon where it trades again by then', () => {
    const again = evidence({
      listings: cut('listings', [
        TRADING,
        { at: at(2), state: 'frozen', price: '1' },
        { at: at(3), state: 'trading', price: '103' },
      ]),
    });
    expect(closeCall(callOf('long'), again, LATER)).toMatchObject({ exit: '108', delisted: false });
  });

  test('is no entry where it was taken off before one', () => {
    const before = evidence({
      candles: cut('candles', CANDLES.slice(0, 1)),
      listings: cut('listings', [TRADING, { at: at(1), state: 'delisted', price: '100' }]),
    });
    expect(closeCall(callOf('long'), before, LATER)).toMatchObject({ cause: 'no_entry_candle' });
  });
});
