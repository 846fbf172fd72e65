// Recorded markets: candles of three years by the sessions in which they moved, and what
// Hyperliquid answered in 2023, read by the adapter that asks it today.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MS_PER_S } from './chain/time.ts';
import { map, Part, type Partly, Read, rowsSeen } from './evidence/reading.ts';
import { seriesImport } from './features/series/series.command.ts';
import { type AccountSource, CANDLE_MS, type MarketSource } from './ports/series.ts';
import { spansWithout } from './ports/series-coverage.ts';
import { jsonIn } from './sources/http/fetch.ts';
import { providerGuard } from './sources/http/provider.ts';
import { weightWindow } from './sources/http/weight-window.ts';
import { hyperliquidMarket, WEIGHT_WINDOW } from './sources/hyperliquid/info.ts';
import { warehouseSeries } from './stores/warehouse/series/market-series.ts';
import { seriesFiles } from './stores/warehouse/series/series-files.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { ran } from './testing/recording-io.ts';
import { SHARED_DATA } from './testing/shared-data.ts';
import { bodyOf, startStandIn } from './world/stand-in.ts';

const SIGNAL = new AbortController().signal;
const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

const OHLC = join(SHARED_DATA, 'ohlc');
const noCandles = !existsSync(OHLC);

function cents(text: string): bigint {
  const [whole, fraction = ''] = text.replace('-', '').split('.');
  const value = BigInt(`${whole}${fraction.padEnd(2, '0')}`);
  return text.startsWith('-') ? -value : value;
}

describe.skipIf(noCandles)(`candles${noCandles ? ' (skipped: no shared data)' : ''}`, () => {
  test('stand without hole or double, and give their sessions by the clock of UTC', async () => {
    const warehouse = await freshWarehouse();
    closing.push(warehouse.close);
    const now = () => Date.UTC(2026, 10, 20) / MS_PER_S;
    const store = warehouseSeries(warehouse, now);
    const series = { simulated: false, now, files: seriesFiles(warehouse), store };
    const told = await ran(
      'series import BTCUSDT_1h.csv.gz --venue hyperliquid --series candles --asset BTC --json',
      [seriesImport],
      { series },
      { cwd: OHLC },
    );
    expect(told.errors).toEqual([]);
    expect(jsonIn(String(told.lines[0]))).toMatchObject({
      rows: 31_973,
      repeated: 0,
      rows_refused: 0,
      from: '2020-10-23T08:00:00Z',
      to: '2024-06-16T13:00:00Z',
      holes: [],
    });
    const span = { from: Date.UTC(2020, 9, 23, 8), to: Date.UTC(2024, 5, 16, 13) };
    const name = { venue: 'hyperliquid', series: 'candles', of: 'BTC' } as const;
    const reading = await store.read(name, span, { signal: SIGNAL });
    expect(reading).toBeInstanceOf(Read);
    const rows = reading instanceof Read ? reading.value.rows : [];
    const gainOf = (holds: (at: Date) => boolean) => {
      const own = rows.filter(({ at }) => holds(new Date(at)));
      return own.reduce((sum, { open, close }) => sum + cents(close) - cents(open), 0n);
    };
    const sessions = [0, 8, 16].map((first) =>
      gainOf((at) => at.getUTCHours() >= first && at.getUTCHours() < first + 8),
    );
    expect(sessions).toEqual([-680_249n, 3_099_991n, 2_950_014n]);
    const isWeekend = (at: Date) => at.getUTCDay() % 6 === 0;
    expect(gainOf((at) => !isWeekend(at))).toBe(3_252_219n);
    expect(gainOf(isWeekend)).toBe(2_117_537n);
  });
});

const CASSETTES = join(SHARED_DATA, 'hyperliquid/cassettes/info_test');
const noAnswers = !existsSync(CASSETTES);
const ROWS = z.array(z.looseObject({ time: z.number() }));
const QUESTION = z.looseObject({ startTime: z.number(), endTime: z.number() });

/** The last answer of a cassette, which has it as quoted text in lines. */
async function recordedRows(cassette: string) {
  const text = await readFile(join(CASSETTES, `${cassette}.yaml`), 'utf8');
  const bodies = [...text.matchAll(/string: '((?:[^']|'')*)'/g)].map(([, body]) => String(body));
  return ROWS.parse(jsonIn(String(bodies.at(-1)).replace(/\n\s+/g, ' ').replaceAll("''", "'")));
}

/** A venue that gives the recorded rows of what it is asked for, in their order. */
async function recordedMarket(
  cassette: string,
  nowMs: number,
): Promise<MarketSource & AccountSource> {
  const rows = await recordedRows(cassette);
  const { origin, close } = await startStandIn((request, response) => {
    bodyOf(request, 10_000).then(
      (text) => {
        const { startTime, endTime } = QUESTION.parse(jsonIn(text));
        const told = rows.filter(({ time }) => time >= startTime && time <= endTime);
        response.end(JSON.stringify(told));
      },
      () => response.destroy(),
    );
    return true;
  });
  closing.push(close);
  const limits = { callsPerS: 1e6, retriesMax: 0, backoffMs: 1, failuresMax: 9, restMs: 1 };
  const clock = () => performance.now();
  return hyperliquidMarket({
    url: new URL(origin),
    guard: providerGuard(limits, clock),
    window: weightWindow(WEIGHT_WINDOW, clock),
    now: () => nowMs / MS_PER_S,
    timeMs: 30_000,
    callsMax: 40,
    simulated: false,
  });
}

function valueIn<T>(reading: Partly<T, never>): T {
  const [value] = rowsSeen(map(reading, (one) => [one])) ?? [];
  if (value === undefined) throw new Error('test: nothing was read');
  return value;
}

const ACCOUNT = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';

/** Decimal text in millionths, exactly. */
function micros(text: string): bigint {
  const [whole, fraction = ''] = text.replace('-', '').split('.');
  expect(fraction.length).toBeLessThanOrEqual(6);
  const value = BigInt(`${whole}${fraction.padEnd(6, '0')}`);
  return text.startsWith('-') ? -value : value;
}

describe.skipIf(noAnswers)(
  `Hyperliquid in 2023${noAnswers ? ' (skipped: no shared data)' : ''}`,
  () => {
    test('500 fills over 330 seconds have a closed profit of −152.586132 USDC', async () => {
      const market = await recordedMarket('test_get_user_fills_by_time', Date.UTC(2023, 4, 6));
      const span = { from: Date.UTC(2023, 4, 5), to: Date.UTC(2023, 4, 5, 12) };
      const told = await market.fills(ACCOUNT, span, SIGNAL);
      expect(told).toBeInstanceOf(Read);
      const { rows, horizon_reached } = valueIn(told);
      expect(rows).toHaveLength(500);
      expect(horizon_reached).toBe(false);
      const times = rows.map(({ at }) => at);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(Number(times.at(-1)) - Number(times[0])).toBeLessThan(330_000);
      const closed = rows.reduce((sum, { closed_pnl }) => sum + micros(closed_pnl), 0n);
      expect(closed).toBe(-152_586_132n);
      expect(rows.every(({ tid, fee_token }) => tid === null && fee_token === null)).toBe(true);
    });

    test('218 settlements of an account sum to 695.136103 USDC, as booked', async () => {
      const cassette = 'test_user_funding_history_without_end_time';
      const market = await recordedMarket(cassette, Date.UTC(2024, 0, 1));
      const span = { from: 1_681_923_833_000, to: Date.UTC(2023, 11, 1) };
      const told = await market.accountFunding(ACCOUNT, span, SIGNAL);
      expect(told).toBeInstanceOf(Read);
      const { rows } = valueIn(told);
      expect(rows).toHaveLength(218);
      expect(rows.reduce((sum, { usdc }) => sum + micros(usdc), 0n)).toBe(695_136_103n);
      const wrong = rows.filter(({ usdc, szi, rate }) => {
        return Math.sign(Number(usdc)) !== -Math.sign(Number(szi) * Number(rate));
      });
      expect(wrong).toEqual([]);
      // A mean of several samples: what was booked is kept, and nothing is made of size and rate.
      expect(rows.some(({ samples }) => samples !== null && samples > 1)).toBe(true);
    });

    test('the funding of BTC goes from eight hours to one, with one hour missing', async () => {
      const recorded = await recordedRows('test_get_funding_history[None]');
      const market = await recordedMarket('test_get_funding_history[None]', Date.UTC(2024, 0, 1));
      const last = Math.floor(Number(recorded.at(-1)?.time) / CANDLE_MS) * CANDLE_MS;
      const span = { from: Date.UTC(2023, 4, 12), to: last + CANDLE_MS };
      const told = await market.funding('BTC', span, SIGNAL);
      expect(told).toBeInstanceOf(Part);
      const { rows, covered } = valueIn(told);
      expect(rows).toHaveLength(1_038);
      const change = Date.UTC(2023, 5, 8);
      for (const { at, interval_s } of rows) {
        expect(interval_s).toBe(at < change + CANDLE_MS ? 8 * 3_600 : 3_600);
      }
      const missing = Date.UTC(2023, 6, 2, 20);
      expect(spansWithout(span, covered)).toEqual([{ from: missing, to: missing + CANDLE_MS }]);
      expect(rows.map(({ at, rate }) => [at, rate])).toEqual(
        recorded.map(({ time, fundingRate }) => [time, fundingRate]),
      );
    });
  },
);
