// The guarantees of every store of market series, whatever holds it. Each one's test runs them.

import { describe, expect, test } from 'vitest';
import { map, Part, type Partly, Read, rowsSeen, Unread } from '../evidence/reading.ts';
import {
  CANDLE_MS,
  type Candle,
  type Fill,
  type SeriesKind,
  type SeriesName,
  type SeriesPort,
  type SeriesRows,
  type SeriesStore,
} from './series.ts';

const HOUR = CANDLE_MS;
const START = Date.UTC(2026, 0, 1);
const SIGNAL = new AbortController().signal;
const BTC: SeriesName<'candles'> = { venue: 'hyperliquid', series: 'candles', of: 'BTC' };
const FILLS: SeriesName<'fills'> = {
  venue: 'hyperliquid',
  series: 'fills',
  of: '0x00000000000000000000000000000000000000aa',
};

/** An observation that covers nothing. */
const OBSERVED = { covered: [], received_at: 5, source: 'a file', origin: 'observed' } as const;

function hour(n: number): number {
  return START + n * HOUR;
}

function candleAt(n: number, close = '100.5'): Candle {
  return { at: hour(n), open: '100', high: '101', low: '99.5', close, volume: '12.25' };
}

/** A fill in which everything but the named is the same. */
export function fillOf(named: Partial<Fill>): Fill {
  return {
    at: START,
    coin: 'BTC',
    side: 'buy',
    px: '100.1',
    sz: '0.5',
    start_position: '0.0',
    dir: 'Open Long',
    closed_pnl: '0.0',
    fee: '0.01',
    fee_token: 'USDC',
    oid: 1,
    tid: 11,
    crossed: true,
    hash: `0x${'0'.repeat(64)}`,
    liquidation: null,
    ...named,
  };
}

type Told<S extends SeriesKind> = Partly<SeriesRows<S>, SeriesPort>;

function holesIn<S extends SeriesKind>(reading: Told<S>) {
  return rowsSeen(map(reading, ({ holes }) => holes));
}

function rowsIn<S extends SeriesKind>(reading: Told<S>) {
  return rowsSeen(map(reading, ({ rows }) => rows));
}

/** Holds a store of market series to its promises. `make` gives an empty one. */
export function seriesStoreKeeps(name: string, made: () => Promise<SeriesStore>): void {
  const addBtc = async (store: SeriesStore, hours: readonly number[], over = {}) => {
    const covered = hours.map((n) => ({ from: hour(n), to: hour(n + 1) }));
    const rows = hours.map((n) => candleAt(n));
    return store.add(BTC, rows, { ...OBSERVED, covered, ...over });
  };

  describe(`${name} keeps the promises of a store of market series`, () => {
    test('a span is read whole only where coverage holds every instant of it', async () => {
      const store = await made();
      await addBtc(store, [0, 1, 3]);
      const whole = await store.read(BTC, { from: hour(0), to: hour(2) }, { signal: SIGNAL });
      expect(whole).toBeInstanceOf(Read);
      expect(rowsIn(whole)).toEqual([
        { ...candleAt(0), received_at: 5, revision: 0 },
        { ...candleAt(1), received_at: 5, revision: 0 },
      ]);
      const cut = await store.read(BTC, { from: hour(0), to: hour(4) }, { signal: SIGNAL });
      expect(cut).toBeInstanceOf(Part);
      expect(holesIn(cut)).toEqual([{ from: hour(2), to: hour(3), gone: false }]);
      expect(rowsIn(cut)?.map(({ at }) => at)).toEqual([hour(0), hour(1), hour(3)]);
      const late = await store.read(BTC, { from: hour(3), to: hour(4) + 1 }, { signal: SIGNAL });
      expect(holesIn(late)).toEqual([{ from: hour(4), to: hour(4) + 1, gone: false }]);
    });

    test('a span that no coverage touches is not read, and neither is another series', async () => {
      const store = await made();
      await addBtc(store, [0]);
      const span = { from: hour(5), to: hour(6) };
      expect(await store.read(BTC, span, { signal: SIGNAL })).toBeInstanceOf(Unread);
      const eth = { ...BTC, of: 'ETH' };
      const first = { from: hour(0), to: hour(1) };
      expect(await store.read(eth, first, { signal: SIGNAL })).toBeInstanceOf(Unread);
      const funding = { ...BTC, series: 'funding' as const };
      expect(await store.read(funding, first, { signal: SIGNAL })).toBeInstanceOf(Unread);
    });

    test('coverage without rows is a span in which nothing happened', async () => {
      const store = await made();
      const span = { from: hour(0), to: hour(9) };
      await store.add(FILLS, [], { ...OBSERVED, covered: [span] });
      const reading = await store.read(FILLS, span, { signal: SIGNAL });
      expect(reading instanceof Read && reading.value).toEqual({ ...span, rows: [], holes: [] });
    });

    test('the same rows again change nothing, another word is a revision', async () => {
      const store = await made();
      const covered = [{ from: hour(0), to: hour(2) }];
      const add = (rows: readonly Candle[], received_at: number) =>
        store.add(BTC, rows, { ...OBSERVED, covered, received_at });
      const value = async (told: ReturnType<typeof add>) => {
        const reading = await told;
        return reading instanceof Read ? reading.value : reading.why;
      };
      const rows = [candleAt(0), candleAt(1)];
      const counts = { added: 0, revised: 0, unchanged: 0 };
      expect(await value(add(rows, 5))).toEqual({ ...counts, added: 2 });
      expect(await value(add(rows, 6))).toEqual({ ...counts, unchanged: 2 });
      expect(await value(add([candleAt(0), candleAt(1, '100.75')], 7))).toEqual({
        ...counts,
        revised: 1,
        unchanged: 1,
      });
      const read = (asOf?: number) =>
        store.read(BTC, { from: hour(0), to: hour(2) }, { ...(asOf && { asOf }), signal: SIGNAL });
      expect(rowsIn(await read())).toEqual([
        { ...candleAt(0), received_at: 5, revision: 0 },
        { ...candleAt(1, '100.75'), received_at: 7, revision: 1 },
      ]);
      expect(rowsIn(await read(6))?.at(1)).toEqual({
        ...candleAt(1),
        received_at: 5,
        revision: 0,
      });
      expect(await read(4)).toBeInstanceOf(Unread);
    });

    test('the order of the fields of a row makes no revision, two rows of one identity are a bug', async () => {
      const store = await made();
      const { at, ...prices } = candleAt(0);
      await store.add(BTC, [{ at, ...prices }], OBSERVED);
      const told = await store.add(BTC, [{ ...prices, at }], { ...OBSERVED, received_at: 6 });
      expect(told).toMatchObject({ value: { added: 0, revised: 0, unchanged: 1 } });
      const twice = store.add(BTC, [candleAt(0), candleAt(0, '7')], OBSERVED);
      await expect(twice).rejects.toThrow(RangeError);
    });

    test('a word that returns to an earlier one is one more revision', async () => {
      const store = await made();
      const covered = [{ from: hour(0), to: hour(1) }];
      for (const [received_at, close] of [
        [5, '1'],
        [6, '2'],
        [7, '1'],
      ] as const) {
        await store.add(BTC, [candleAt(0, close)], { ...OBSERVED, covered, received_at });
      }
      const reading = await store.read(BTC, { from: hour(0), to: hour(1) }, { signal: SIGNAL });
      expect(rowsIn(reading)).toEqual([{ ...candleAt(0, '1'), received_at: 7, revision: 2 }]);
    });

    test('two fills of one moment are two, the two sides of one trade as well', async () => {
      const store = await made();
      const span = { from: hour(0), to: hour(1) };
      const fills = [
        fillOf({ oid: 1, tid: 11 }),
        fillOf({ oid: 1, tid: 12 }),
        fillOf({ oid: 2, tid: 12, side: 'sell', crossed: false }),
        fillOf({ oid: 3, tid: null, fee_token: null }),
        fillOf({ oid: 3, tid: null, fee_token: null, start_position: '0.5' }),
      ];
      const observed = { ...OBSERVED, covered: [span] };
      const told = await store.add(FILLS, fills, observed);
      expect(told instanceof Read && told.value).toEqual({ added: 5, revised: 0, unchanged: 0 });
      const again = await store.add(FILLS, fills, { ...observed, received_at: 6 });
      expect(again instanceof Read && again.value).toEqual({ added: 0, revised: 0, unchanged: 5 });
      const reading = await store.read(FILLS, span, { signal: SIGNAL });
      const kept = rowsIn(reading);
      expect(kept).toHaveLength(5);
      for (const one of fills) {
        expect(kept).toContainEqual({ ...one, received_at: 5, revision: 0 });
      }
    });

    test('what a venue does not give any more is a hole that is gone, until it is held', async () => {
      const store = await made();
      const span = { from: hour(0), to: hour(4) };
      await store.add(FILLS, [], {
        ...OBSERVED,
        covered: [{ from: hour(2), to: hour(4) }],
        gone: [{ from: hour(0), to: hour(2) }],
      });
      const cut = await store.read(FILLS, span, { signal: SIGNAL });
      expect(holesIn(cut)).toEqual([{ from: hour(0), to: hour(2), gone: true }]);
      await store.add(FILLS, [], {
        ...OBSERVED,
        covered: [{ from: hour(0), to: hour(2) }],
        received_at: 6,
      });
      expect(await store.read(FILLS, span, { signal: SIGNAL })).toBeInstanceOf(Read);
    });

    test('every series is listed with its rows, revisions and coverage', async () => {
      const store = await made();
      expect(await store.held(SIGNAL)).toMatchObject({ value: [] });
      await addBtc(store, [0, 1, 3]);
      await store.add(BTC, [candleAt(0, '7')], { ...OBSERVED, received_at: 9 });
      expect(await store.held(SIGNAL)).toMatchObject({
        value: [
          {
            name: BTC,
            rows: 3,
            revisions: 4,
            covered: [
              { from: hour(0), to: hour(2) },
              { from: hour(3), to: hour(4) },
            ],
            gone: [],
            origin: 'observed',
            received_at: 9,
          },
        ],
      });
    });

    test('simulated rows are shown, and deny nothing', async () => {
      const store = await made();
      await addBtc(store, [0], { origin: 'simulated' });
      await addBtc(store, [1]);
      const reading = await store.read(BTC, { from: hour(0), to: hour(1) }, { signal: SIGNAL });
      expect(reading).toBeInstanceOf(Part);
      expect(reading).toMatchObject({ why: { code: 'simulated' } });
      expect(rowsIn(reading)).toHaveLength(1);
      const cut = await store.read(BTC, { from: hour(-1), to: hour(1) }, { signal: SIGNAL });
      expect(cut).toMatchObject({ checked: false, why: { code: 'series_in_part' } });
      const other = await store.read(BTC, { from: hour(1), to: hour(2) }, { signal: SIGNAL });
      expect(other).toBeInstanceOf(Read);
    });
  });
}
