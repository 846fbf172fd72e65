// Each detector calls what its rule says, in its units, on what was read whole, and nothing else.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { plainDecimal } from '../../chain/amount.ts';
import { sharesFrom } from '../../evidence/random.ts';
import type { DetectorKind, DetectorVersion } from '../../ports/emitted-calls.ts';
import type {
  FundingPoint,
  Kept,
  Liquidation,
  Listing,
  NetFlow,
  SeriesKind,
  SeriesRow,
  WhaleTransfer,
} from '../../ports/series.ts';
import { NO_SHARED_DATA, SHARED_DATA } from '../../testing/shared-data.ts';
import { callOn, concerns, isObserved } from './detectors.ts';
import type { Cut, Observations } from './observations.ts';
import { DETECTOR_VERSIONS, newestVersion } from './versions.ts';

const HOUR = 3_600_000;

const FIRST = 1_760_000_400;
const TICK = FIRST + 900;
const LAST = FIRST * 1_000;

function cut<S extends SeriesKind>(
  venue: Cut<S>['name']['venue'],
  series: S,
  rows: readonly SeriesRow<S>[],
): Cut<S> {
  const kept = rows.map((row): Kept<SeriesRow<S>> => {
    return { ...row, received_at: row.at + 1_000, revision: 0 };
  });
  const name = { venue, series, of: 'BTC' };
  return { name, rows: kept, holes: [], isWhole: true, simulated: false };
}

const TRADING: Listing = { at: 0, state: 'trading', price: '100' };

function observed(more: Partial<Observations>): Observations {
  return {
    asset: 'BTC',
    at: TICK,
    hour: LAST,
    chainHour: LAST - HOUR,
    listings: cut('hyperliquid', 'listings', [TRADING]),
    marks: cut('hyperliquid', 'marks', [
      { at: LAST - HOUR, price: '99' },
      { at: LAST, price: '100' },
    ]),
    candles: cut('hyperliquid', 'candles', []),
    funding: cut('hyperliquid', 'funding', []),
    open_interest: cut('hyperliquid', 'open_interest', []),
    liquidations: [cut('binance', 'liquidations', []), cut('bybit', 'liquidations', [])],
    net_flow: cut('chain', 'net_flow', []),
    whale_transfers: cut('chain', 'whale_transfers', []),
    ...more,
  };
}

function said(kind: DetectorKind, more: Partial<Observations>) {
  const call = callOn(newestVersion(kind), observed(more));
  return call === null ? null : [call.said.direction, call.said.conviction];
}

const fundingOf = (rate: string, interval_s: number) => ({
  funding: cut('hyperliquid', 'funding', [{ at: LAST, rate, interval_s } as FundingPoint]),
});

describe('funding', () => {
  test('a rate is compared per eight hours, whatever its interval', () => {
    expect(said('funding', fundingOf('0.0005', 28_800))).toEqual(['short', '0.5']);
    expect(said('funding', fundingOf('0.0000625', 3_600))).toEqual(['short', '0.5']);
    expect(said('funding', fundingOf('0.00006249', 3_600))).toBe(null);
    expect(said('funding', fundingOf('-0.00025', 14_400))).toEqual(['long', '0.5']);
    expect(said('funding', fundingOf('-0.02', 28_800))).toEqual(['long', '1']);
  });

  test('the newest settlement decides, and none calls nothing', () => {
    const rows = [
      { at: LAST - HOUR, rate: '0.01', interval_s: 3_600 },
      { at: LAST, rate: '0.00001', interval_s: 3_600 },
    ];
    expect(said('funding', { funding: cut('hyperliquid', 'funding', rows) })).toBe(null);
    expect(said('funding', {})).toBe(null);
  });
});

const liquidated = (at: number, side: Liquidation['side'], notional: string): Liquidation => ({
  at,
  side,
  size: '1',
  price: notional,
  price_is: 'fill',
  notional,
  nth: 0,
});

describe('liq', () => {
  const usual = Array.from({ length: 167 }, (_, hour) =>
    liquidated(LAST - (hour + 2) * HOUR, 'long', '100000'),
  ).reverse();
  const cascade = (notional: string, side: Liquidation['side'] = 'long') => ({
    liquidations: [
      cut('binance', 'liquidations', usual),
      cut('bybit', 'liquidations', [liquidated(LAST - HOUR / 2, side, notional)]),
    ],
  });

  test('a cascade is a multiple of what the same side usually loses', () => {
    expect(said('liq', cascade('1000000'))).toEqual(['long', '0.5']);
    expect(said('liq', cascade('999999'))).toBe(null);
    expect(said('liq', cascade('1500000'))).toEqual(['long', '0.75']);
  });

  test('a side without any liquidation before is compared with nothing', () => {
    expect(said('liq', cascade('9000000', 'short'))).toBe(null);
  });

  test('an hour is told as its sum, so that every input of a call can be listed', () => {
    const call = callOn(newestVersion('liq'), observed(cascade('1500000')));
    expect(call?.said.inputs).toHaveLength(169);
    expect(call?.said.inputs.at(-1)).toEqual({
      venue: 'bybit',
      series: 'liquidations',
      of: 'BTC',
      at_ms: LAST - HOUR,
      received_at_ms: LAST - HOUR / 2 + 1_000,
      revision: 0,
      value: 'long 1500000, short 0; 167 of 167 hours before heard',
    });
  });

  /** The cascade, with as many of the hours before it unheard at Binance, a second of each. */
  const heardBut = (hours: number, notional = '1500000') => {
    const [binance, bybit] = cascade(notional).liquidations;
    if (binance === undefined || bybit === undefined) throw new Error('test: no venue');
    const holes = Array.from({ length: hours }, (_, n) => {
      const from = LAST - (n + 2) * HOUR + 1_000;
      return { from, to: from + 1_000 };
    });
    return { liquidations: [{ ...binance, holes, isWhole: hours === 0 }, bybit] };
  };

  test('an hour with a hole is in no mean, so that it is never taken for a quiet one', () => {
    // Each hour that was heard lost 100,000: the mean stays, however many are missing.
    for (const hours of [0, 1, 60, 95])
      expect(said('liq', heardBut(hours))).toEqual(['long', '0.75']);
    const call = callOn(newestVersion('liq'), observed(heardBut(95)));
    expect(call?.said.inputs.filter(({ series }) => series === 'liquidations')).toHaveLength(73);
    expect(call?.said.inputs.at(-2)?.value).toBe(
      'long 100000, short 0; 72 of 167 hours before heard',
    );
  });

  test('with fewer hours than its least, or a hole in the last, it has not looked', () => {
    const [binance, bybit] = heardBut(0).liquidations;
    if (binance === undefined || bybit === undefined) throw new Error('test: no venue');
    const late = { holes: [{ from: LAST - 2_000, to: LAST }], isWhole: false };
    const unheard = { liquidations: [binance, { ...bybit, ...late }] };
    for (const more of [heardBut(96), unheard]) {
      expect(isObserved(newestVersion('liq'), observed(more))).toBe(false);
      expect(said('liq', more)).toBe(null);
    }
  });

  test('each venue is compared over its own hours', () => {
    const quiet = cut('bybit', 'liquidations', [liquidated(LAST - 160 * HOUR, 'long', '7200000')]);
    const holes = Array.from({ length: 95 }, (_, n) => {
      return { from: LAST - (n + 2) * HOUR, to: LAST - (n + 1) * HOUR };
    });
    const now = liquidated(LAST - HOUR / 2, 'long', '2000000');
    const more = {
      liquidations: [
        cut('binance', 'liquidations', [...usual, now]),
        { ...quiet, holes, isWhole: false },
      ],
    };
    // 100,000 an hour at one, 7,200,000 in 72 hours at the other: ten times the two together.
    expect(said('liq', more)).toEqual(['long', '0.5']);
  });

  test('the version before it goes on to ask for every hour, so that its record is replayed', () => {
    const first = DETECTOR_VERSIONS.find(({ version }) => version === 'liq-1');
    if (first === undefined) throw new Error('test: no version');
    expect(isObserved(first, observed(heardBut(0)))).toBe(true);
    expect(isObserved(first, observed(heardBut(1)))).toBe(false);
    expect(callOn(first, observed(heardBut(0)))?.said.inputs.at(-1)?.value).toBe(
      'long 1500000, short 0',
    );
  });
});

const flow = (at: number, in_usd: string, out_usd: string): NetFlow => ({
  at,
  interval_s: 3_600,
  in_amount: '1',
  out_amount: '1',
  in_usd,
  out_usd,
  transfers: 2,
});

describe('netflow', () => {
  const END = LAST - HOUR;
  const flows = (last: string) => {
    const rows = Array.from({ length: 13 }, (_, day) =>
      flow(END - (day + 2) * 24 * HOUR, day % 2 === 0 ? '110' : '90', '100'),
    ).reverse();
    return { net_flow: cut('chain', 'net_flow', [...rows, flow(END - HOUR, last, '100')]) };
  };

  test('a day is compared with the thirteen before it, in their deviations', () => {
    // Seven days of +10 and six of -10: mean 10/13, deviation sqrt(1300/12 - ...) = 10.377…
    expect(said('netflow', flows('133'))).toEqual(['short', '0.5176']);
    expect(said('netflow', flows('131'))).toBe(null);
    expect(said('netflow', flows('60'))).toEqual(['long', '0.6547']);
  });

  test('days that are all alike have no deviation to compare with', () => {
    expect(said('netflow', {})).toBe(null);
  });

  /** With a hole in so many of the thirteen days, from the oldest on. */
  const holed = (days: number, hoursBack = 0) => {
    const { net_flow } = flows('133');
    const holes = Array.from({ length: days }, (_, n) => {
      const from = END - (14 - n) * 24 * HOUR + hoursBack * HOUR;
      return { from, to: from + HOUR };
    });
    return { net_flow: { ...net_flow, holes, isWhole: false } };
  };

  test('a day with a hole is compared with nothing, and is no day without a flow', () => {
    const all = said('netflow', flows('133'));
    const without = said('netflow', holed(3));
    expect(without?.[0]).toBe('short');
    // Five days of +10 and five of -10 are left: mean 0, deviation sqrt(1000/9).
    expect([all, without]).toEqual([
      ['short', '0.5176'],
      ['short', '0.5217'],
    ]);
    const call = callOn(newestVersion('netflow'), observed(holed(3)));
    expect(call?.said.inputs.filter(({ series }) => series === 'net_flow')).toHaveLength(11);
    expect(isObserved(newestVersion('netflow'), observed(holed(4)))).toBe(false);
    const last = { net_flow: { ...flows('133').net_flow, holes: [{ from: END - 1, to: END }] } };
    expect(isObserved(newestVersion('netflow'), observed(last))).toBe(false);
  });
});

const whale = (
  hoursBack: number,
  usd: string,
  [from_label, to_label]: readonly [string | null, string | null],
): WhaleTransfer => ({
  at: LAST - HOUR - hoursBack * HOUR,
  chain: 'ethereum',
  tx: `0x${hoursBack}${usd}`,
  index: 0,
  from: '0xa',
  to: '0xb',
  amount: '1',
  usd,
  from_label,
  to_label,
});

describe('whale', () => {
  const of = (...rows: readonly WhaleTransfer[]) => ({
    whale_transfers: cut('chain', 'whale_transfers', rows),
  });
  const [IN, OUT] = [[null, 'Exchange'] as const, ['Exchange', null] as const];

  test('what goes to exchanges is set off against what leaves them', () => {
    expect(said('whale', of(whale(1, '25000000', IN)))).toEqual(['short', '0.5']);
    expect(said('whale', of(whale(1, '30000000', OUT)))).toEqual(['long', '0.6']);
    expect(said('whale', of(whale(1, '30000000', OUT), whale(2, '10000000', IN)))).toBe(null);
  });

  test('transfers between exchanges, between others, and older ones count for nothing', () => {
    const between = whale(1, '90000000', ['Exchange', 'Other Exchange']);
    expect(said('whale', of(between, whale(1, '80000000', [null, null])))).toBe(null);
    expect(said('whale', of(whale(5, '90000000', IN)))).toBe(null);
  });

  test('it needs the four hours that it looks at, and no other', () => {
    const told = of(whale(1, '25000000', IN));
    const holedFor = (hours: number) => {
      const from = LAST - HOUR - hours * HOUR;
      const holes = [{ from, to: from + HOUR }];
      return { whale_transfers: { ...told.whale_transfers, holes, isWhole: false } };
    };
    expect(said('whale', holedFor(5))).toEqual(['short', '0.5']);
    expect(isObserved(newestVersion('whale'), observed(holedFor(4)))).toBe(false);
  });
});

const KINDS = ['funding', 'liq', 'netflow', 'whale'] as const;
const LOUD = fundingOf('0.01', 3_600);

test('what chains show concerns the own coins of chains, and all versions before concern all', () => {
  for (const version of DETECTOR_VERSIONS) {
    const isOfCoins = ['netflow-2', 'whale-2'].includes(version.version);
    expect(['ETH', 'BTC'].map((asset) => concerns(version, asset))).toEqual([true, !isOfCoins]);
  }
});

describe('every detector', () => {
  test('calls nothing on what does not trade, and has looked at it all the same', () => {
    for (const state of ['frozen', 'delisted', 'absent'] as const) {
      const listings = cut('hyperliquid', 'listings', [TRADING, { ...TRADING, at: LAST, state }]);
      expect(said('funding', { ...LOUD, listings })).toBe(null);
      for (const kind of KINDS)
        expect(isObserved(newestVersion(kind), observed({ listings }))).toBe(true);
    }
  });

  test('calls nothing where a series has a hole, and says that it did not look', () => {
    const holed = { holes: [{ from: LAST - 2 * HOUR, to: LAST }], isWhole: false };
    const broken = observed({
      funding: { ...LOUD.funding, ...holed },
      liquidations: observed({}).liquidations.map((one) => ({ ...one, ...holed })),
      net_flow: { ...observed({}).net_flow, ...holed },
      whale_transfers: { ...observed({}).whale_transfers, ...holed },
    });
    for (const kind of KINDS) {
      expect(isObserved(newestVersion(kind), broken)).toBe(false);
      expect(callOn(newestVersion(kind), broken)).toBe(null);
    }
    for (const kind of KINDS) expect(isObserved(newestVersion(kind), observed({}))).toBe(true);
    const noListing = observed({ ...LOUD, listings: cut('hyperliquid', 'listings', []) });
    expect(isObserved(newestVersion('funding'), noListing)).toBe(false);
    expect(callOn(newestVersion('funding'), noListing)).toBe(null);
    const noMark = observed({ ...LOUD, marks: { ...observed({}).marks, ...holed } });
    expect(callOn(newestVersion('funding'), noMark)).toBe(null);
  });

  test('a call holds the last mark, its bar, its window and every input', () => {
    const call = callOn(newestVersion('funding'), observed(LOUD));
    expect(call?.said).toMatchObject({
      price: '100',
      bar: '0.5',
      emitted_at: TICK,
      window: Math.floor(TICK / 86_400),
      venue: 'hyperliquid',
      simulated: false,
      inputs: [
        { series: 'marks', at_ms: LAST, received_at_ms: LAST + 1_000, value: '100' },
        { series: 'funding', at_ms: LAST, value: '0.01 per 3600 s' },
      ],
      features: { is_long: '0', funding_8h: '0.08', return_24h: null, conviction: '1' },
    });
  });

  test('a stronger observation never has less conviction, and a higher bar only takes away', () => {
    const draw = sharesFrom(7);
    const low: DetectorVersion = { ...newestVersion('funding'), bar: '0' };
    for (let n = 0; n < 500; n += 1) {
      const [a, b] = [draw(), draw()].map((share) => (share * 0.002).toFixed(9)).sort();
      const [weak, strong] = [a, b].map((rate) =>
        callOn(low, observed(fundingOf(String(rate), 28_800))),
      );
      expect(Number(strong?.said.conviction)).toBeGreaterThanOrEqual(Number(weak?.said.conviction));
      const bar = draw().toFixed(4);
      const barred = callOn({ ...low, bar }, observed(fundingOf(String(a), 28_800)));
      expect(barred !== null).toBe(Number(weak?.said.conviction) >= Number(bar));
    }
  });
});

const recordedRow = z.object({
  timestamp: z.string(),
  symbol: z.string(),
  funding_rate: z.string(),
  mark_price: z.string(),
});

const RECORDED = join(SHARED_DATA, 'funding/funding_rates.csv');

describe('recorded funding', () => {
  test('0.05% per eight hours is reached by 166 rows of 40 coins; raw hourly rates find 7', ({
    skip,
  }) => {
    if (!existsSync(RECORDED)) skip(NO_SHARED_DATA);
    const file = readFileSync(RECORDED, 'utf8');
    const rows = z.array(recordedRow).parse(parse(file, { columns: true }));
    const reachedAs = (interval_s: number) =>
      rows.filter(({ funding_rate }) => {
        const rate = String(plainDecimal(funding_rate));
        return said('funding', fundingOf(rate, interval_s)) !== null;
      });
    const reached = reachedAs(3_600);
    expect([reached.length, new Set(reached.map(({ symbol }) => symbol)).size]).toEqual([166, 40]);
    expect(reachedAs(28_800)).toHaveLength(7);
    const moves = new Map<string, Set<string>>();
    for (const { symbol, mark_price, funding_rate } of rows) {
      const seen = moves.get(symbol) ?? new Set();
      moves.set(symbol, seen.add(`${mark_price} ${Number(funding_rate)}`));
    }
    const frozen = [...moves].filter(([, seen]) => {
      return seen.size === 1 && [...seen].every((one) => one.endsWith(' 0'));
    });
    expect([moves.size, frozen.length]).toEqual([228, 38]);
    const coins = new Set(frozen.map(([symbol]) => symbol));
    expect(reached.filter(({ symbol }) => coins.has(symbol))).toEqual([]);
  });
});
