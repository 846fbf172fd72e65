// A backtest is what anybody gets from the calls and the candles by the definitions: by hand for
// small records, and in another language for three years of recorded candles.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sharesFrom } from '../../evidence/random.ts';
import {
  FIRST_HOUR,
  noiseOpens,
  ranFor,
  type TestCall,
  type TestOpens,
  testRecord,
} from '../../testing/edge-records.ts';
import { SHARED_DATA } from '../../testing/shared-data.ts';
import { maxDrawdown, momentsOf } from './backtest.ts';
import type { Filter } from './filters.ts';
import { runBacktest } from './question.ts';

const ALL: Filter = {
  kinds: null,
  asset: null,
  direction: null,
  horizon_h: null,
  days: 3_650,
  cost_bps: 0,
  min_conviction: null,
};

function backtest(calls: readonly TestCall[], opens: TestOpens, over: Partial<Filter> = {}) {
  const hours = Math.max(1, ...Object.values(opens).map((rows) => rows.length - 1));
  return runBacktest(testRecord({ calls, opens, ran: ranFor(hours) }), { ...ALL, ...over });
}

describe('by hand', () => {
  test('returns of +10%, −20% and +5%, one after another, come to 0.924 with a drawdown of 0.2', () => {
    const opens = { BTC: [100, 110, 88, 92.4, 92.4] };
    const calls = [0, 1, 2].map((entry_h) => ({ entry_h, exit_h: entry_h + 1 }));
    const told = backtest(calls, opens);
    expect(told.equity?.at(-1)?.v).toBeCloseTo(0.924, 12);
    expect(told.max_drawdown).toBeCloseTo(0.2, 12);
    expect(told.calls.hit_rate).toBeCloseTo(2 / 3, 12);
    expect(told.calls.mean_return_bps).toBeCloseTo(-500 / 3, 9);
    expect(told.calls.median_return_bps).toBeCloseTo(500, 9);
  });

  test('calls that overlap share their hours, and are one cluster', () => {
    const opens = { BTC: [100, 110, 121, 133.1, 133.1], ETH: [10, 10, 9, 9, 9] };
    const told = backtest(
      [
        { entry_h: 0, exit_h: 3 },
        { entry_h: 1, exit_h: 2 },
        { entry_h: 1, exit_h: 2, asset: 'ETH', direction: 'short' },
      ],
      opens,
    );
    // Each hour is the mean of what is open: 10%, then three times 10%, then 10%.
    expect(told.equity?.at(-1)?.v).toBeCloseTo(1.331, 12);
    expect(told.calls).toMatchObject({ n: 3, closed: 3, open: 0, unpriced: 0, hits: 3 });
    expect(told.calls.effective_n).toBeCloseTo(9 / 5, 12);
  });

  test('one call: its net return is its gross return less funding and cost, once', () => {
    const told = backtest(
      [{ entry_h: 1, exit_h: 3, funding_paid: '0.001' }],
      {
        BTC: [100, 100, 104, 102, 102],
      },
      { cost_bps: 5 },
    );
    expect(told.calls.gross.mean_return_bps).toBeCloseTo(200, 9);
    expect(told.calls.mean_funding_bps).toBeCloseTo(10, 9);
    expect(told.calls.breakeven_cost_bps).toBeCloseTo(190, 9);
    expect(told.calls.mean_return_bps).toBeCloseTo(185, 9);
    expect(told.equity?.at(-1)?.v).toBeCloseTo(
      (1 + 0.04 - 0.0005 - 0.00025) * (1 - 2 / 104 - 0.00075),
      12,
    );
    expect(told.sharpe).toBeNull();
  });

  test('doubling the cost lowers the mean by exactly it, and moves no break-even', () => {
    const opens = { BTC: noiseOpens(400, sharesFrom(3)) };
    const calls = [3, 40, 41, 90, 300].map((entry_h) => ({ entry_h, exit_h: entry_h + 24 }));
    const [once, twice] = [7, 14].map((cost_bps) => backtest(calls, opens, { cost_bps }).calls);
    expect(Number(once?.mean_return_bps) - Number(twice?.mean_return_bps)).toBeCloseTo(7, 9);
    expect(twice?.breakeven_cost_bps).toBe(once?.breakeven_cost_bps);
    expect(Number(once?.gross.mean_return_bps)).toBeCloseTo(Number(once?.breakeven_cost_bps), 9);
  });

  test('nothing called measures nothing', () => {
    const told = backtest([], { BTC: [1, 2, 3] });
    expect(told.calls).toEqual({
      n: 0,
      closed: 0,
      open: 0,
      unpriced: 0,
      hits: 0,
      hit_rate: null,
      interval: null,
      effective_n: 0,
      mean_return_bps: null,
      median_return_bps: null,
      gross: { hit_rate: null, mean_return_bps: null, median_return_bps: null },
      mean_funding_bps: null,
      breakeven_cost_bps: null,
    });
    expect(told).toMatchObject({ equity: [], max_drawdown: null, sharpe: null, sharpe_n: 0 });
  });

  test('open and unpriced calls are counted and are in no rate', () => {
    const opens = { BTC: [100, 90, 80, 70] };
    const told = backtest(
      [{ entry_h: 0, exit_h: 1 }, { entry_h: 1, exit_h: 2, unpriced: true }, { entry_h: 2 }],
      opens,
    );
    expect(told.calls).toMatchObject({ n: 3, closed: 1, open: 1, unpriced: 1, hit_rate: 0 });
    expect(told.calls.interval?.low).toBe(0);
  });

  test('all losing, and a loss of the whole: nothing is left and nothing comes back', () => {
    const falling = backtest(
      [0, 1, 2].map((entry_h) => ({ entry_h, exit_h: entry_h + 1 })),
      { BTC: [100, 90, 81, 72.9, 72.9] },
    );
    expect(falling.calls).toMatchObject({ hits: 0, hit_rate: 0 });
    expect(falling.max_drawdown).toBeCloseTo(0.271, 12);
    const lost = backtest(
      [
        { entry_h: 0, exit_h: 1, delisted_at: '0' },
        { entry_h: 2, exit_h: 3 },
      ],
      { BTC: [100, 100, 100, 150, 150] },
    );
    expect(lost.calls.median_return_bps).toBeCloseTo((-10_000 + 5_000) / 2, 9);
    expect(lost.max_drawdown).toBe(1);
    expect(lost.equity?.at(-1)?.v).toBe(0);
  });

  test('a delisted coin is settled at its last price, whatever its candles say', () => {
    const told = backtest([{ entry_h: 0, exit_h: 2, delisted_at: '40' }], {
      BTC: [100, 80, 50, null],
    });
    expect(told.calls.mean_return_bps).toBeCloseTo(-6_000, 9);
    expect(told.equity?.at(-1)?.v).toBeCloseTo(0.4, 12);
  });

  test('an hour that nobody read moves nothing, is told, and is made up for by the next', () => {
    const quiet = Array.from({ length: 200 }, () => 132);
    const told = backtest([{ entry_h: 0, exit_h: 150 }], { BTC: [100, null, 120, ...quiet] });
    expect(told.hours_unread).toBe(1);
    expect(told.equity?.at(-1)?.v).toBeCloseTo(1.32, 12);
  });

  test('a curve over hours that nobody read is not measured, and its calls are', () => {
    const told = backtest([{ entry_h: 0, exit_h: 3 }], { BTC: [100, null, 120, 132, 132] });
    expect(told.calls.mean_return_bps).toBeCloseTo(3_200, 9);
    expect(told).toMatchObject({ hours_unread: 1, equity: null, max_drawdown: null, sharpe_n: 0 });
    expect(told.hold?.total_return).toBeNull();
  });
});

describe('days', () => {
  const DAYS = 40;
  const hours = DAYS * 24;
  const opens = { BTC: noiseOpens(hours + 1, sharesFrom(5)) };

  test('in which nothing was called count as days without a movement', () => {
    const calls = [{ entry_h: 0, exit_h: hours / 2 }];
    const told = backtest(calls, opens);
    expect(told).toMatchObject({ sharpe_n: DAYS, days_unread: 0 });
    expect(told.sharpe).not.toBeNull();
  });

  test('in which no producer ran count nowhere', () => {
    const calls = [{ entry_h: 0, exit_h: hours / 2 }];
    const ran = { ...ranFor(hours), whale: ranFor(30 * 24).whale };
    const record = testRecord({ calls, opens, ran });
    expect(runBacktest(record, ALL)).toMatchObject({ sharpe_n: 30, days_unread: 10 });
    const funding = runBacktest(record, { ...ALL, kinds: ['funding'] });
    expect(funding).toMatchObject({ sharpe_n: DAYS, days_unread: 0 });
    const whale = runBacktest(record, { ...ALL, kinds: ['whale'] });
    expect(whale.sharpe).toBeNull();
  });

  test('under thirty, or that never differ, have no ratio', () => {
    expect(momentsOf(new Array(29).fill(0).map((_, at) => at % 2))).toBeNull();
    expect(momentsOf(new Array(60).fill(0.01))).toBeNull();
    expect(momentsOf(new Array(60).fill(0).map((_, at) => at % 2))?.skew).toBeCloseTo(0, 12);
  });

  test('are at most a thousand points of the curve, the first and the last among them', () => {
    const long = 1_200 * 24;
    const many = { BTC: noiseOpens(long + 1, sharesFrom(6)) };
    const { equity } = backtest([{ entry_h: 5, exit_h: 700 }], many);
    expect(equity?.length).toBeLessThanOrEqual(1_000);
    expect(equity?.length).toBeGreaterThan(500);
    expect(equity?.[0]).toEqual({ t: FIRST_HOUR * 3_600, v: 1 });
    expect(equity?.at(-1)?.t).toBe((FIRST_HOUR + long) * 3_600);
  });
});

const OHLC = join(SHARED_DATA, 'ohlc');
const noCandles = !existsSync(OHLC);
const recomputed = z.record(z.string(), z.union([z.number(), z.tuple([z.number(), z.number()])]));

/** The cells of a column of a recorded file. */
function columnOf(asset: string, name: string): number[] {
  const text = gunzipSync(readFileSync(join(OHLC, `${asset}USDT_1h.csv.gz`))).toString();
  const [head = '', ...lines] = text.trim().split('\n');
  const place = head.trim().split(',').indexOf(name);
  expect(place).toBeGreaterThan(-1);
  return lines.map((line) => Number(line.split(',')[place]));
}

describe.skipIf(noCandles)(
  `recorded candles${noCandles ? ' (skipped: no shared data)' : ''}`,
  () => {
    test.each([
      ['BTC', 0.77242328],
      ['ETH', 0.81384066],
      ['SOL', 0.9680842],
    ])('the closes of %s draw down %d', (asset, most) => {
      expect(maxDrawdown(columnOf(asset, 'close'))).toBeCloseTo(most, 8);
    });

    test('give the same figures in Python', () => {
      const hours = 5_000;
      const opens = Object.fromEntries(
        ['BTC', 'ETH', 'SOL'].map((asset) => [asset, columnOf(asset, 'open').slice(0, hours + 1)]),
      );
      const shares = sharesFrom(29);
      const calls = Array.from({ length: 300 }, () => {
        const entry_h = Math.floor(shares() * (hours - 200));
        return {
          asset: String(['BTC', 'ETH', 'SOL'][Math.floor(shares() * 3)]),
          direction: shares() < 0.5 ? ('long' as const) : ('short' as const),
          entry_h,
          exit_h: entry_h + 1 + Math.floor(shares() * 72),
          funding_paid: (shares() / 1_000 - 0.0004).toFixed(8),
        };
      });
      const cost_bps = 3.5;
      const told = backtest(calls, opens, { cost_bps });
      const { status, stdout, stderr } = spawnSync('python3', ['bench/edge_backtest.py'], {
        input: JSON.stringify({
          opens,
          calls: calls.map((one) => ({ ...one, funding_paid: Number(one.funding_paid) })),
          cost_bps,
          from_h: 0,
          to_h: hours,
        }),
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([0, '']);
      const other = recomputed.parse(JSON.parse(stdout));
      const own = {
        hit_rate: told.calls.hit_rate,
        interval: [told.calls.interval?.low, told.calls.interval?.high],
        effective_n: told.calls.effective_n,
        mean: told.calls.mean_return_bps,
        median: told.calls.median_return_bps,
        gross_mean: told.calls.gross.mean_return_bps,
        gross_median: told.calls.gross.median_return_bps,
        breakeven: told.calls.breakeven_cost_bps,
        last: told.equity?.at(-1)?.v,
        max_drawdown: told.max_drawdown,
        sharpe: told.sharpe,
        sharpe_n: told.sharpe_n,
        skew: told.moments?.skew,
        kurtosis: told.moments?.kurtosis,
      };
      for (const [name, value] of Object.entries(other)) {
        const mine = [Reflect.get(own, name)].flat();
        for (const [at, one] of [value].flat().entries()) {
          expect(Math.abs(Number(mine[at]) - one), name).toBeLessThan(
            1e-9 * Math.max(1, Math.abs(one)),
          );
        }
      }
      expect(Object.keys(other).sort()).toEqual(Object.keys(own).sort());
    });
  },
);
