// The venue against a stand-in of its exact form: what is whole is read, whatever its order, and
// nothing else is.

import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { map, Part, type Partly, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { AccountSource, MarketSource } from '../../ports/series.ts';
import { CALL, passOn, startFront, WIRE } from '../../testing/damaged-front.ts';
import {
  HYPERLIQUID_FAULTS,
  type HyperliquidFault,
  settlementsIn,
  startHyperliquid,
  type VenueBook,
} from '../../world/hyperliquid-api.ts';
import { bodyOf, startStandIn } from '../../world/stand-in.ts';
import type { SimulatedFill } from '../../world/trading.ts';
import { jsonIn } from '../http/fetch.ts';
import { providerGuard } from '../http/provider.ts';
import { weightWindow } from '../http/weight-window.ts';
import { hyperliquidMarket, WEIGHT_WINDOW } from './info.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 20, 12, 30);
const USER = '0x00000000000000000000000000000000000000aa';
const SIGNAL = new AbortController().signal;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function fill(at: number, n: number): SimulatedFill {
  const own = {
    coin: 'BTC',
    side: 'buy',
    px: 100,
    sz: 1,
    start_position: 0,
    closed_pnl: 0,
  } as const;
  return { ...own, at, oid: n, tid: n };
}

const NOTHING: VenueBook = {
  roleOf: () => ({ role: 'user' }),
  fillsOf: () => [],
  fundingOf: () => [],
  candlesOf: () => [],
  settlementsOf: () => [],
  instruments: () => [],
};

function marketAt(url: URL, now = NOW, windowMs = 1): MarketSource & AccountSource {
  const limits = { callsPerS: 1e6, retriesMax: 0, backoffMs: 1, failuresMax: 1e6, restMs: 1 };
  return hyperliquidMarket({
    url,
    guard: providerGuard(limits, () => performance.now()),
    window: weightWindow({ ...WEIGHT_WINDOW, windowMs }, () => performance.now()),
    now: () => now / 1_000,
    timeMs: 60_000,
    callsMax: 100,
    simulated: false,
  });
}

async function venue(book: Partial<VenueBook>, weightMax = 1e9) {
  const started = await startHyperliquid({ ...NOTHING, ...book }, { nowMs: () => NOW, weightMax });
  closing.push(started.close);
  return { ...started, market: marketAt(started.url) };
}

const TIMED = z.array(z.looseObject({ time: z.number() }));
const QUESTION = z.looseObject({
  startTime: z.number().default(0),
  endTime: z.number().default(0),
});

/** A venue that answers by one recorded body, a list by those of its rows that are asked for. */
async function recorded(body: unknown) {
  const { origin, close } = await startStandIn((request, response) => {
    bodyOf(request, 10_000).then(
      (text) => {
        const { startTime, endTime } = QUESTION.parse(jsonIn(text));
        const rows = TIMED.safeParse(body);
        const told = rows.success
          ? rows.data.filter(({ time }) => time >= startTime && time <= endTime)
          : body;
        response.end(JSON.stringify(told));
      },
      () => response.destroy(),
    );
    return true;
  });
  closing.push(close);
  return marketAt(new URL(origin));
}

function recording(situation: string): unknown {
  const file = new URL(`./recordings/${situation}.json`, import.meta.url);
  return jsonIn(readFileSync(file, 'utf8'));
}

function value<T>(reading: Partly<T, never>): T | undefined {
  return rowsSeen(map(reading, (one) => [one]))?.[0];
}

describe('recorded answers', () => {
  test('a fill of today is read with all of its figures', async () => {
    const market = await recorded(recording('fills'));
    const told = await market.fills(USER, { from: NOW - HOUR, to: NOW - 60_000 }, SIGNAL);
    expect(told).toBeInstanceOf(Read);
    expect(value(told)).toMatchObject({
      horizon_reached: false,
      rows: [
        {
          at: NOW - 1_200_000,
          coin: 'ETH',
          side: 'sell',
          px: '3010.5',
          sz: '1.25',
          start_position: '1.25',
          dir: 'Close Long',
          closed_pnl: '13.125',
          fee: '-0.3763',
          fee_token: 'USDC',
          oid: 330_000_000_001,
          tid: 700_000_000_000_001,
          crossed: false,
          liquidation: null,
        },
        { tid: 700_000_000_000_002, side: 'buy' },
        { tid: 700_000_000_000_002, side: 'sell', crossed: false },
        { liquidation: { liquidated: USER, mark_px: '2990.0', method: 'market' } },
      ],
    });
  });

  test('a fill of 2023 has no tid and no token of its fee', async () => {
    const market = await recorded(recording('fills-of-2023'));
    const told = await market.fills(USER, { from: 0, to: 1e12 * 2 }, SIGNAL);
    expect(value(told)?.rows).toMatchObject([
      { tid: null, fee_token: null, fee: '0.0', closed_pnl: '-0.25686' },
    ]);
  });

  test('account funding keeps what the venue booked, its mean of samples too', async () => {
    const market = await recorded(recording('account-funding'));
    const told = await market.accountFunding(USER, { from: 0, to: NOW - HOUR }, SIGNAL);
    expect(value(told)?.rows).toEqual([
      {
        at: NOW - 2 * HOUR - 1_800_000,
        coin: 'APE',
        usdc: '0.145796',
        szi: '40.13333333',
        rate: '-0.00029319',
        samples: 3,
        hash: `0x${'1'.repeat(64)}`,
      },
      { ...value(told)?.rows[0], coin: 'ARB', usdc: '-2.694388', szi: '60.5', samples: null },
    ]);
  });

  test.each([
    ['role-user', { role: 'user' }],
    ['role-missing', { role: 'missing' }],
    ['role-vault', { role: 'vault' }],
    ['role-agent', { role: 'agent', of: '0x00000000000000000000000000000000000000bb' }],
    ['role-sub-account', { role: 'sub_account', of: '0x00000000000000000000000000000000000000cc' }],
  ])('%s is told', async (situation, role) => {
    const market = await recorded(recording(situation));
    expect(value(await market.role(USER, SIGNAL))).toEqual(role);
  });
});

describe('nothing there', () => {
  test('an account without fills and funding is read, to a minute and half an hour ago', async () => {
    const { market } = await venue({});
    const span = { from: NOW - 5 * HOUR, to: NOW - HOUR };
    const fills = await market.fills(USER, span, SIGNAL);
    expect(fills).toBeInstanceOf(Read);
    expect(value(fills)).toEqual({
      rows: [],
      covered: [{ from: span.from, to: NOW - 60_000 }],
      gone: [],
      horizon_reached: false,
    });
    const funding = await market.accountFunding(USER, span, SIGNAL);
    expect(funding).toBeInstanceOf(Read);
    const now = { from: NOW - HOUR, to: NOW };
    expect(await market.fills(USER, now, SIGNAL)).toBeInstanceOf(Part);
    const late = await market.accountFunding(USER, now, SIGNAL);
    expect(late).toBeInstanceOf(Part);
    expect(value(late)?.covered).toEqual([{ from: NOW - HOUR, to: NOW - HOUR / 2 }]);
  });

  test('an hour without a candle or a settlement is a hole, never nothing', async () => {
    const { market } = await venue({});
    const span = { from: NOW - 5 * HOUR, to: NOW - 3 * HOUR };
    const candles = await market.candles('BTC', span, SIGNAL);
    expect(candles).toMatchObject({ checked: false, why: { code: 'series_in_part' } });
    const funding = await market.funding('BTC', span, SIGNAL);
    expect(funding).toMatchObject({ checked: false, why: { code: 'series_in_part' } });
  });

  test('a venue that is not set is not read', async () => {
    const market = hyperliquidMarket(null);
    const told = await market.fills(USER, { from: 0, to: 1 }, SIGNAL);
    expect(told).toMatchObject({ checked: false, why: { code: 'not_configured' } });
  });
});

describe('fills by time', () => {
  const from = NOW - 400 * HOUR;
  const many = (count: number, each: number) =>
    Array.from({ length: count }, (_, n) => fill(from + 1_000 + n * each, n));

  test.each([null, 'newest-first'] as const)('pages are put together, %s', async (fault) => {
    // Three of each moment, so that pages end within one.
    const fills = many(7_001, 30_000).map((one, n) => {
      return { ...one, at: from + Math.floor(n / 3) * 90_000 };
    });
    const { market, asked, fault: set } = await venue({ fillsOf: () => fills });
    set(fault);
    const told = await market.fills(USER, { from, to: NOW - HOUR }, SIGNAL);
    expect(told).toBeInstanceOf(Read);
    const rows = value(told)?.rows.map(({ tid }) => Number(tid));
    expect(rows?.toSorted((a, b) => a - b)).toEqual(fills.map(({ tid }) => tid));
    expect(value(told)?.rows.map(({ at }) => at)).toEqual(fills.map(({ at }) => at));
    expect(asked.length).toBeLessThan(12);
  });

  test('of 10,000 fills the horizon is reached, and nothing before them is covered', async () => {
    const { market } = await venue({ fillsOf: () => many(10_400, 60_000) });
    const told = await market.fills(USER, { from, to: NOW - HOUR }, SIGNAL);
    expect(told).toBeInstanceOf(Part);
    const oldest = from + 1_000 + 400 * 60_000;
    expect(value(told)).toMatchObject({
      horizon_reached: true,
      covered: [{ from: oldest + 1, to: NOW - 60_000 }],
      gone: [{ from, to: oldest + 1 }],
    });
    expect(value(told)?.rows).toHaveLength(10_000);
  });

  test('a span before the horizon is not read as empty', async () => {
    const { market } = await venue({ fillsOf: () => many(10_400, 60_000) });
    const told = await market.fills(USER, { from, to: from + HOUR }, SIGNAL);
    expect(told).toBeInstanceOf(Part);
    expect(value(told)).toMatchObject({ horizon_reached: true });
    expect(value(told)?.covered[0]?.from).toBeGreaterThan(from + HOUR);
  });

  test('9,999 fills are all of them; those that come while they are read count', async () => {
    const fills = many(9_999, 60_000);
    const { market } = await venue({ fillsOf: () => fills });
    const told = await market.fills(USER, { from, to: NOW - HOUR }, SIGNAL);
    expect(told).toBeInstanceOf(Read);
    let questions = 0;
    const growing = await venue({
      fillsOf: () => {
        questions += 1;
        return questions < 8 ? fills : [...fills, fill(NOW, 1e6), fill(NOW, 1e6 + 1)];
      },
    });
    const slow = marketAt(growing.url, NOW - 1);
    const grown = await slow.fills(USER, { from, to: NOW - HOUR }, SIGNAL);
    expect(value(grown)).toMatchObject({ horizon_reached: true });
  });

  test('a moment that fills a page alone is one of which the venue does not tell all', async () => {
    const moment = NOW - 9 * HOUR;
    const fills = [
      fill(moment - 5, 1),
      ...Array.from({ length: 2_500 }, (_, n) => fill(moment, 10 + n)),
      fill(moment + 5, 2),
    ];
    const { market } = await venue({ fillsOf: () => fills });
    const told = await market.fills(USER, { from: NOW - 10 * HOUR, to: NOW - HOUR }, SIGNAL);
    expect(told).toBeInstanceOf(Part);
    expect(value(told)?.covered).toEqual([
      { from: NOW - 10 * HOUR, to: moment },
      { from: moment + 1, to: NOW - 60_000 },
    ]);
    expect(value(told)?.gone).toEqual([{ from: moment, to: moment + 1 }]);
    expect(value(told)?.rows.map(({ tid }) => tid)).toEqual(expect.arrayContaining([1, 2]));
  });
});

describe('funding and candles by time', () => {
  const from = NOW - 1_000 * HOUR - HOUR / 2;
  const hourly = (missing: (hour: number) => boolean = () => false): Partial<VenueBook> => ({
    settlementsOf: (_, first, last) =>
      settlementsIn(first, last, () => 0.0000125).filter(({ at }) => !missing(at)),
    candlesOf: (_, first, last) =>
      settlementsIn(first, last, () => 0)
        .map(({ at }) => ({ at: at - 48, open: 100, close: 101.5 }))
        .filter(({ at }) => !missing(at)),
    fundingOf: () =>
      settlementsIn(from, NOW, () => 1).flatMap(({ at }) =>
        ['BTC', 'ETH'].map((coin) => ({ at, coin, szi: 1, rate: 0.00001, usdc: -0.001 })),
      ),
  });

  test.each([null, 'newest-first'] as const)(
    'a thousand hours are read whole, %s',
    async (fault) => {
      const { market, fault: set } = await venue(hourly());
      set(fault);
      const span = { from, to: NOW - 2 * HOUR - HOUR / 2 };
      const funding = await market.funding('BTC', span, SIGNAL);
      expect(funding).toBeInstanceOf(Read);
      expect(value(funding)?.rows).toHaveLength(998);
      expect(value(funding)?.rows[0]).toEqual({
        at: from + 48,
        rate: '0.0000125',
        interval_s: 3_600,
      });
      const candles = await market.candles('BTC', span, SIGNAL);
      expect(candles).toBeInstanceOf(Read);
      expect(value(candles)?.rows).toHaveLength(998);
      const account = await market.accountFunding(USER, span, SIGNAL);
      expect(account).toBeInstanceOf(Read);
      expect(value(account)?.rows).toHaveLength(1_996);
    },
  );

  test('a missing hour is a hole, and the hour under way is none of the rows', async () => {
    const hole = NOW - 50 * HOUR - HOUR / 2;
    const { market } = await venue(hourly((at) => at >= hole && at < hole + HOUR));
    const span = { from, to: NOW };
    const funding = await market.funding('BTC', span, SIGNAL);
    expect(value(funding)?.covered).toEqual([
      { from, to: hole },
      { from: hole + HOUR, to: NOW - HOUR / 2 },
    ]);
    const candles = await market.candles('BTC', span, SIGNAL);
    expect(value(candles)?.covered).toEqual([
      { from, to: hole },
      { from: hole + HOUR, to: NOW - HOUR / 2 },
    ]);
    expect(candles).toBeInstanceOf(Part);
    expect(value(candles)?.rows.every(({ at }) => at + HOUR <= NOW)).toBe(true);
  });

  test('candles before the newest 5,000 are gone at the venue', async () => {
    const { market } = await venue(hourly());
    const first = NOW - 6_000 * HOUR - HOUR / 2;
    const told = await market.candles('BTC', { from: first, to: NOW - 2 * HOUR }, SIGNAL);
    expect(told).toBeInstanceOf(Part);
    const [gone] = value(told)?.gone ?? [];
    expect(gone?.from).toBe(first);
    const kept = Math.floor(NOW / HOUR - 5_000) * HOUR;
    expect(gone?.to).toBe(kept);
  });

  test('a candle that no later one follows is open until the clock is sure', async () => {
    const last = NOW - HOUR / 2 - HOUR;
    const { market } = await venue({
      candlesOf: () => [{ at: last, open: 1, close: 1 }],
    });
    const told = await market.candles('BTC', { from: last, to: last + HOUR }, SIGNAL);
    expect(told).toBeInstanceOf(Part);
    expect(value(told)?.rows).toEqual([]);
  });
});

describe('faults', () => {
  const silentOnes = HYPERLIQUID_FAULTS.filter(
    (fault) =>
      !['one-moment', 'newest-first', 'timeout', 'other-asset', 'other-time'].includes(fault),
  );
  const book: Partial<VenueBook> = {
    fillsOf: () => [fill(NOW - 2 * HOUR, 1)],
    fundingOf: () => [{ at: NOW - 3 * HOUR, coin: 'BTC', szi: 1, rate: 1, usdc: -1 }],
    settlementsOf: (_, from, to) => settlementsIn(from, to, () => 0.00001),
    candlesOf: (_, from, to) =>
      settlementsIn(from, to, () => 0).map(({ at }) => ({ at: at - 48, open: 1, close: 2 })),
  };
  const span = { from: NOW - 4 * HOUR - HOUR / 2, to: NOW - HOUR };
  const questions = ['candles', 'funding', 'fills', 'accountFunding'] as const;
  const askAll = (market: MarketSource & AccountSource) =>
    Promise.all([
      ...questions.map((name) => market[name](name.includes('f') ? USER : 'BTC', span, SIGNAL)),
      market.role(USER, SIGNAL),
      market.board(['BTC'], SIGNAL),
    ]);

  test.each(silentOnes)('%s is no answer to any question', async (fault) => {
    const { market, fault: set } = await venue(book);
    set(fault);
    for (const told of await askAll(market)) expect(told).toBeInstanceOf(Unread);
  });

  test.each([
    ['other-asset', 'funding'],
    ['other-asset', 'candles'],
    ['other-time', 'funding'],
    ['other-time', 'candles'],
    ['other-time', 'fills'],
    ['other-time', 'accountFunding'],
  ] as const)('%s of %s is no answer', async (fault: HyperliquidFault, name) => {
    const { market, fault: set } = await venue(book);
    set(fault);
    const of = name === 'fills' || name === 'accountFunding' ? USER : 'BTC';
    expect(await market[name](of, span, SIGNAL)).toBeInstanceOf(Unread);
  });

  test.each(Object.entries(WIRE))('%s is no answer to any question', async (_, damage) => {
    const { url } = await venue(book);
    const front = await startFront(passOn(url));
    closing.push(async () => front.close());
    for (const told of await askAll(marketAt(front.url))) expect(told).toBeInstanceOf(Read);
    front.set({ kind: 'the question', damage, isOfCall: false });
    for (const told of await askAll(marketAt(front.url))) expect(told).toBeInstanceOf(Unread);
  });

  test('a role that says it is not all is no answer', async () => {
    const { url } = await venue(book);
    const front = await startFront(passOn(url));
    closing.push(async () => front.close());
    const damage = CALL['a word that it is not all'];
    if (damage === undefined) throw new Error('test: no such damage');
    front.set({ kind: 'the question', damage, isOfCall: false });
    expect(await marketAt(front.url).role(USER, SIGNAL)).toBeInstanceOf(Unread);
    expect(front.hits()).toBe(1);
  });

  test('a venue that does not answer is silent when the time is over, or its caller has gone', async () => {
    const { url, fault } = await venue(book);
    fault('timeout');
    const limits = { callsPerS: 1e6, retriesMax: 0, backoffMs: 1, failuresMax: 1e6, restMs: 1 };
    const market = hyperliquidMarket({
      url,
      guard: providerGuard(limits, () => performance.now()),
      window: weightWindow(WEIGHT_WINDOW, () => performance.now()),
      now: () => NOW / 1_000,
      timeMs: 100,
      callsMax: 9,
      simulated: false,
    });
    expect(await market.role(USER, SIGNAL)).toMatchObject({ why: { code: 'time_budget' } });
  });

  test('two words about one fill in one answer are no answer', async () => {
    const told = recording('fills');
    const [first] = z.array(z.looseObject({})).parse(told);
    const market = await recorded([first, { ...first, px: '1.0' }]);
    const fills = await market.fills(USER, { from: NOW - HOUR, to: NOW - 60_000 }, SIGNAL);
    expect(fills).toBeInstanceOf(Unread);
  });

  test.each([
    ['an amount as a number', { sz: 1.25 }],
    ['an amount with an exponent', { px: '1e3' }],
    ['no price', { px: undefined }],
    ['another side', { side: 'X' }],
    ['a time as text', { time: '2026-11-20' }],
  ])('%s is no fill', async (_, over) => {
    const [first] = z.array(z.looseObject({})).parse(recording('fills'));
    const market = await recorded([{ ...first, ...over }]);
    const fills = await market.fills(USER, { from: NOW - HOUR, to: NOW - 60_000 }, SIGNAL);
    expect(fills).toBeInstanceOf(Unread);
  });
});

test('the weight of a minute is never passed, however many ask', async () => {
  const fills = Array.from({ length: 2_300 }, (_, n) => fill(NOW - 90 * HOUR + n * 60_000, n));
  const { url, heaviestMinute, asked } = await venue({ fillsOf: () => fills });
  const market = marketAt(url, NOW, WEIGHT_WINDOW.windowMs);
  const ended = new AbortController();
  const span = { from: NOW - 100 * HOUR, to: NOW - HOUR };
  const asking = Array.from({ length: 12 }, () => market.fills(USER, span, ended.signal));
  // Eight full pages of 120 are 960: a ninth would pass 1,000, so the others wait.
  await vi.waitFor(() => expect(asked).toHaveLength(8), 10_000);
  await vi.waitFor(() => expect(heaviestMinute()).toBe(960), 10_000);
  ended.abort();
  for (const told of await Promise.all(asking)) expect(told).toBeInstanceOf(Unread);
  expect(asked).toHaveLength(8);
});

describe('the board', () => {
  const instruments = () => [
    { coin: 'BTC', isDelisted: false, rate: 0.0000125, open_interest: 25_000.5, price: 86_000.5 },
    { coin: 'MATIC', isDelisted: true, rate: 0, open_interest: 0, price: 0.37621 },
  ];

  test('tells what trades and what was taken off, and of which coin nothing is listed', async () => {
    const { market } = await venue({ instruments });
    const told = await market.board(['BTC', 'MATIC', 'GONE'], SIGNAL);
    const untold = { price: null, funding_rate: null, open_interest: null };
    expect(value(told)?.rows).toEqual([
      {
        of: 'BTC',
        state: 'trading',
        price: '86000.5',
        funding_rate: '0.0000125',
        open_interest: { contracts: '25000.5', sides: 'untold' },
      },
      {
        of: 'MATIC',
        state: 'delisted',
        price: '0.37621',
        funding_rate: '0.0',
        open_interest: { contracts: '0.0', sides: 'untold' },
      },
      { of: 'GONE', state: 'absent', ...untold },
    ]);
  });

  test.each(['html', 'cut-body', 'wrong-shape', 'rate-limited', 'null'] as const)(
    '%s is unread, and no market without instruments',
    async (fault) => {
      const { market, fault: set } = await venue({ instruments });
      set(fault);
      expect(await market.board(['BTC'], SIGNAL)).toBeInstanceOf(Unread);
    },
  );
});
