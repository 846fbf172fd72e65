// What a venue told of an account, as an analysis; and each way in which it tells nothing.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { type AccountFunding, CANDLE_MS, type Fill, type SeriesKind } from '../../ports/series.ts';
import { asFill, asFunding } from '../../testing/noise-traders.ts';
import { NO_SHARED_DATA, SHARED_DATA } from '../../testing/shared-data.ts';
import { memorySource } from '../../testing/twins/dated.ts';
import { memorySeriesStore } from '../../testing/twins/series.ts';
import {
  isWorldCoin,
  WORLD_TRADERS,
  worldCandles,
  worldFills,
  worldFunding,
  worldRole,
} from '../../world/traders.ts';
import { type AnalyseDependencies, analyseTrader, seedOfTrader, workOut } from './analyse.ts';
import { concentrate } from './concentration.ts';
import { exposedHours } from './exposure.ts';
import { fundingReceived, sortFills } from './trades.ts';

const NOW = Date.UTC(2026, 8, 24, 12) / 1_000;
const AWAY = why('store_unreadable', { what: 'The venue', fault: 'it answered 429' });
const signal = new AbortController().signal;

type Told = {
  readonly fills?: readonly Fill[];
  readonly funding?: readonly AccountFunding[];
  readonly role?: Awaited<ReturnType<AnalyseDependencies['gathering']['roleOf']>>;
  /** The series that the venue did not answer for. */
  readonly faults?: readonly SeriesKind[];
  /** Fills before it are kept no longer, or were cut. */
  /** Up to when funding is booked; left out: up to now. */
  readonly bookedUntil?: number;
  readonly goneBefore?: number;
  readonly cutBefore?: number;
  readonly silent?: Why;
  /** Unix seconds. */
  readonly now?: number;
};

const USER = { role: 'user' } as const;

/** Analyses an address of which a venue told these things, over series in memory. */
async function analyse(address: string, told: Told, permutations = 200) {
  const store = memorySeriesStore({ as_of: NOW, simulated: false });
  const { fills = [], funding = [], faults = [], goneBefore, cutBefore, now = NOW } = told;
  const whole = { from: Date.UTC(2022, 0, 1), to: now * 1_000 };
  const begins = goneBefore ?? cutBefore ?? whole.from;
  const observed = { received_at: NOW, source: 'memory:', origin: 'observed' } as const;
  await store.add({ venue: 'hyperliquid', series: 'fills', of: address }, fills, {
    ...observed,
    covered: [{ from: begins, to: whole.to }],
    gone: goneBefore === undefined ? [] : [{ from: whole.from, to: begins }],
  });
  await store.add({ venue: 'hyperliquid', series: 'account_funding', of: address }, funding, {
    ...observed,
    covered: [{ ...whole, to: told.bookedUntil ?? whole.to }],
  });
  for (const coin of new Set(fills.map((one) => one.coin))) {
    const from = Math.min(...fills.map(({ at }) => at));
    const made = worldCandles(isWorldCoin(coin) ? coin : 'BTC', from - CANDLE_MS, whole.to);
    const rows = made.map(({ at, open, close }) => {
      const [first, last] = [String(open), String(close)];
      return { at, open: first, high: first, low: last, close: last, volume: '1' };
    });
    const name = { venue: 'hyperliquid', series: 'candles', of: coin } as const;
    await store.add(name, rows, { ...observed, covered: [whole] });
  }
  const given: AnalyseDependencies = {
    gathering: {
      gather: async (name, span, asked) => ({
        reading:
          told.silent === undefined
            ? await store.read(name, span, { signal: asked })
            : unread('market_series', told.silent),
        fault: faults.includes(name.series) ? unread('market_source', AWAY) : null,
      }),
      roleOf: async () => told.role ?? roleRead(USER),
    },
    workOut: async (record) => workOut({ ...record, permutations }),
    now: () => now,
    simulated: false,
  };
  return analyseTrader(given, address, signal);
}

function roleRead(role: ReturnType<typeof worldRole>) {
  const source = memorySource('Venue', 'observation', { as_of: NOW, simulated: false });
  return read(role, { port: 'market_source', source } as const);
}

const fillsOfWorld = (kind: string, n = 0) => {
  const trader = WORLD_TRADERS.find((one) => one.kind === kind && one.n === n);
  if (trader === undefined) throw new Error(`test: no trader ${kind} ${n}`);
  return { trader, fills: worldFills(trader, NOW * 1_000).map(asFill) };
};

test('is analysed in the first half hour too, while the venue books the funding of the hour', async () => {
  const { trader, fills } = fillsOfWorld('one_session');
  const now = NOW + 600;
  const bookedUntil = (now - 1_800) * 1_000;
  const attempt = await analyse(trader.address, { fills, now, bookedUntil });
  expect(attempt.end).toBe('analysed');
});

describe('an account of the world', () => {
  test('with one session has its label, and the seed is made of its address', async () => {
    const { trader, fills } = fillsOfWorld('one_session');
    const told = await analyse(trader.address, { fills }, 2_000);
    if (told.end !== 'analysed') throw new Error(`test: ${told.end}`);
    const { classification, null_model, coverage } = told.analysis;
    expect(classification.labels.map(({ label }) => label)).toContain(trader.styles[0]);
    expect(null_model.seed).toBe(seedOfTrader(trader.address));
    expect(null_model.tests).toBeGreaterThanOrEqual(10);
    expect(coverage).toMatchObject({ fills: fills.length, self_trades: 0, missing_candle_h: 0 });
    for (const mode of ['realization', 'exposure'] as const) {
      const buckets = Object.values(told.analysis.modes[mode]).flat();
      for (const { p_value, tested } of buckets) {
        expect(tested ? Number(p_value) > 0 : p_value === null).toBe(true);
      }
    }
  });

  test('that trades with itself alone has no trade, however many there are', async () => {
    const { trader, fills } = fillsOfWorld('washes');
    const newest = fills.slice(-10_000);
    const told = await analyse(trader.address, { fills: newest });
    if (told.end !== 'analysed') throw new Error(`test: ${told.end}`);
    const { classification, coverage, modes } = told.analysis;
    expect(newest).toHaveLength(10_000);
    expect(coverage.self_trades).toBe(5_000);
    expect(classification).toEqual({ labels: [], no_label: 'no_trades' });
    expect(modes.realization.session.map(({ trades }) => trades)).toEqual([0, 0, 0]);
    expect(modes.realization.session.map(({ share, ratio }) => [share, ratio])).toEqual([
      [null, null],
      [null, null],
      [null, null],
    ]);
  });

  test('whose older fills are gone has no label, whatever its buckets show', async () => {
    const { trader, fills } = fillsOfWorld('one_session');
    const told = await analyse(trader.address, { fills, goneBefore: fills[0]?.at ?? 0 }, 500);
    if (told.end !== 'analysed') throw new Error(`test: ${told.end}`);
    expect(told.analysis.coverage.horizon_reached).toBe(true);
    expect(told.analysis.classification).toEqual({ labels: [], no_label: 'horizon_reached' });
  });

  test('has its funding apart, as the venue booked it', async () => {
    const { trader, fills } = fillsOfWorld('always_in');
    const funding = worldFunding(trader, NOW * 1_000).map(asFunding);
    const told = await analyse(trader.address, { fills, funding });
    if (told.end !== 'analysed') throw new Error(`test: ${told.end}`);
    const { totals, coverage } = told.analysis;
    expect(totals.funding_usd).toBe(fundingReceived(funding.filter(({ at }) => at < NOW * 1_000)));
    const parts = Number(totals.closed_pnl_usd) - Number(totals.fees_usd);
    expect(Number(totals.net_usd)).toBeCloseTo(parts + Number(totals.funding_usd), 6);
    expect(coverage.unpriced_funding_h).toBe(0);
  });
});

describe('nothing is analysed', () => {
  const { trader, fills } = fillsOfWorld('no_style');

  test.each([
    ['its role', { role: unread('market_source', AWAY) }],
    ['its fills', { fills, faults: ['fills'] }],
    ['its candles', { fills, faults: ['candles'] }],
    ['its funding', { fills, faults: ['account_funding'] }],
  ] as const)('where the venue did not tell %s', async (_, told) => {
    expect(await analyse(trader.address, told)).toEqual({
      end: 'failed',
      why: AWAY,
      outside: true,
    });
  });

  test('where the record was cut and the rest can still be had', async () => {
    const told = await analyse(trader.address, { fills, cutBefore: Date.UTC(2026, 7, 1) });
    expect(told).toMatchObject({ end: 'failed', outside: true });
  });

  test('where only our own store did not answer, which is not the venue', async () => {
    const told = await analyse(trader.address, { fills, silent: AWAY });
    expect(told).toMatchObject({ end: 'failed', outside: false });
  });

  test('of an agent wallet, an unknown account and one that never traded', async () => {
    const agent = WORLD_TRADERS.find(({ kind }) => kind === 'agent');
    const role = worldRole(String(agent?.address));
    if (role.role !== 'agent') throw new Error('test: an agent');
    expect(await analyse(trader.address, { role: roleRead(role) })).toEqual({
      end: 'unanalysable',
      because: 'agent',
      of: role.of,
    });
    const missing = roleRead(worldRole('0x0000000000000000000000000000000000000001'));
    expect(await analyse(trader.address, { role: missing })).toMatchObject({
      because: 'no_account',
    });
    expect(await analyse(trader.address, {})).toMatchObject({
      end: 'unanalysable',
      because: 'no_fills',
    });
  });
});

const CASSETTES = join(SHARED_DATA, 'hyperliquid/cassettes/info_test');
const rows = z.array(z.record(z.string(), z.unknown()));
const recorded = (name: string) => {
  const text = readFileSync(join(CASSETTES, name), 'utf8');
  const [, body = ''] = /\n {6}string: '((?:[^']|'')*)'/.exec(text) ?? [];
  return rows.parse(JSON.parse(body.replaceAll("''", "'").replace(/\n +/g, ' ')));
};
const HAS_RECORDS = existsSync(CASSETTES);

describe.skipIf(!HAS_RECORDS)(HAS_RECORDS ? 'recorded' : NO_SHARED_DATA, () => {
  const recordedFills = () =>
    recorded('test_get_user_fills.yaml').map(
      (row): Fill => ({
        at: Number(row['time']),
        coin: String(row['coin']),
        side: row['side'] === 'B' ? 'buy' : 'sell',
        px: String(row['px']),
        sz: String(row['sz']),
        start_position: String(row['startPosition']),
        dir: String(row['dir']),
        closed_pnl: String(row['closedPnl']),
        fee: String(row['fee']),
        fee_token: null,
        oid: Number(row['oid']),
        tid: null,
        crossed: row['crossed'] === true,
        hash: String(row['hash']),
        liquidation: null,
      }),
    );

  test('fills of 330 seconds: self-trades are left out, and the record is too short', async () => {
    const fills = recordedFills();
    const sorted = sortFills(fills, new Set());
    expect(fills).toHaveLength(500);
    expect(sorted.closed_pnl_usd).toBe('-152.586132');
    expect(sorted.self_trades).toBe(83);
    expect(sorted.perps).toHaveLength(500 - 2 * 83);
    const account = `0x${'b7'.repeat(20)}`;
    const now = Date.UTC(2023, 4, 5, 3) / 1_000;
    const told = await analyse(account, { fills, now });
    if (told.end !== 'analysed') throw new Error(`test: ${told.end}`);
    const { classification, modes, null_model, totals } = told.analysis;
    expect(totals.closed_pnl_usd).toBe('-152.586132');
    expect(null_model.tests).toBe(0);
    expect(modes.realization.session.every(({ tested }) => !tested)).toBe(true);
    expect(classification).toEqual({ labels: [], no_label: 'record_too_short' });
  });

  test('a trade is a closing order: its fills are one, and it gained what they closed', () => {
    const { trades, perps, left_out_pnl_usd } = sortFills(recordedFills(), new Set());
    expect(new Set(trades.map(({ coin, oid }) => `${coin} ${oid}`)).size).toBe(trades.length);
    const inTrades = trades.reduce((sum, { pnl }) => sum + pnl, 0);
    const open = perps.filter(
      ({ closed_pnl, start_position, side }) =>
        Number(closed_pnl) !== 0 && Number(start_position) * (side === 'buy' ? 1 : -1) >= 0,
    );
    expect(open).toEqual([]);
    expect(inTrades / 1e6 + Number(left_out_pnl_usd)).toBeCloseTo(-152.586132, 6);
  });

  test('funding of an account: as the venue booked it, with the sign of size and rate', () => {
    const rows = recorded('test_user_funding_history_without_end_time.yaml').map(({ delta }) => {
      const { usdc, szi, fundingRate } = Object(delta);
      return { usdc: String(usdc), szi: Number(szi), rate: Number(fundingRate) };
    });
    expect(rows).toHaveLength(218);
    expect(fundingReceived(rows)).toBe('695.136103');
    for (const { usdc, szi, rate } of rows) {
      expect(Math.sign(Number(usdc))).toBe(-Math.sign(szi * rate) + 0);
    }
  });
});

const CANDLES = join(SHARED_DATA, 'ohlc/BTCUSDT_1h.csv.gz');
const HAS_CANDLES = existsSync(CANDLES);

test.skipIf(!HAS_CANDLES)(
  HAS_CANDLES ? 'one BTC held throughout gains by session what was counted' : NO_SHARED_DATA,
  () => {
    const lines = gunzipSync(readFileSync(CANDLES)).toString('utf8').trim().split('\n').slice(1);
    const candles = new Map(
      lines.map((line) => {
        const [time = '', open = '', , , close = ''] = line.split(',');
        return [Date.parse(time.replace(' ', 'T')), { open, close }] as const;
      }),
    );
    expect(candles.size).toBe(31_973);
    const from = Math.min(...candles.keys());
    const bought: Fill = {
      ...asFill({
        at: from,
        coin: 'BTC',
        side: 'buy',
        px: Number(candles.get(from)?.open),
        sz: 1,
        start_position: 0,
        closed_pnl: 0,
        oid: 1,
        tid: 1,
      }),
    };
    const to = Math.max(...candles.keys()) + CANDLE_MS;
    const hours = exposedHours([bought], new Map([['BTC', candles]]), to);
    expect(hours).toHaveLength(31_973);
    const input = { trades: [], hours, seed: 1, permutations: 0, testable: false };
    const { exposure } = concentrate(input).modes;
    const gained = (rows: readonly { readonly pnl_usd: number }[]) =>
      rows.map(({ pnl_usd }) => Number(pnl_usd.toFixed(2)));
    expect(gained(exposure.session)).toEqual([-6_802.49, 30_999.91, 29_500.14]);
    expect(gained(exposure.weekpart)).toEqual([32_522.19, 21_175.37]);
  },
);
