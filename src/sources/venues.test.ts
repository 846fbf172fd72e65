// Venues of derivatives against stand-ins of their exact form: what is whole is read, in one unit
// and with the venue's own words, and nothing else is.

import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { map, Part, type Partly, Read, rowsSeen, Unread } from '../evidence/reading.ts';
import { CANDLE_MS, fundingPer8h, type MarketSource, type SeriesSpan } from '../ports/series.ts';
import { CALL, passOn, startFront, WIRE } from '../testing/damaged-front.ts';
import { DERIVATIVES_FAULTS, type StartedDerivatives, startBinance } from '../world/binance-api.ts';
import { startBybit } from '../world/bybit-api.ts';
import { derivativesBook } from '../world/derivatives-book.ts';
import { planYear, simulateMarkets } from '../world/markets.ts';
import { startStandIn } from '../world/stand-in.ts';
import { binanceMarket } from './binance/market.ts';
import { bybitMarket } from './bybit/market.ts';
import { jsonIn } from './http/fetch.ts';
import type { MarketOptions } from './http/market-venue.ts';
import { providerGuard } from './http/provider.ts';
import { weightWindow } from './http/weight-window.ts';

const HOUR = CANDLE_MS;
const NOW = 1_795_250_000_000;
const PLAN = { ...planYear(7, NOW + 24 * HOUR), silent: null };
const MARKETS = simulateMarkets(PLAN);
const SIGNAL = new AbortController().signal;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function optionsAt(url: URL, now = NOW): MarketOptions {
  const limits = { callsPerS: 1e6, retriesMax: 0, backoffMs: 1, failuresMax: 1e6, restMs: 1 };
  const clock = () => performance.now();
  return {
    url,
    guard: providerGuard(limits, clock),
    window: weightWindow({ max: 1e6, windowMs: 1 }, clock),
    now: () => now / 1_000,
    timeMs: 5_000,
    callsMax: 100,
    simulated: false,
  };
}

const VENUES = [
  {
    venue: 'binance',
    start: startBinance,
    market: (url: URL) => binanceMarket(optionsAt(url)),
    pages: 'klines',
  },
  {
    venue: 'bybit',
    start: startBybit,
    market: (url: URL) => bybitMarket(optionsAt(url)),
    pages: 'kline',
  },
] as const;

async function open({ venue, start, market }: (typeof VENUES)[number]) {
  const book = derivativesBook(
    () => MARKETS,
    venue,
    () => NOW,
  );
  const started: StartedDerivatives = await start(book, { nowMs: () => NOW });
  closing.push(started.close);
  return { ...started, market: market(started.url) };
}

function rowsIn<R>(reading: Partly<{ readonly rows: readonly R[] }, never>): readonly R[] {
  return rowsSeen(map(reading, ({ rows }) => rows)) ?? [];
}

const SPAN: SeriesSpan = { from: NOW - 300 * HOUR, to: NOW - 12 * HOUR };
const hourly = ({ from, to }: SeriesSpan): SeriesSpan => ({
  from: Math.ceil(from / HOUR) * HOUR,
  to: Math.floor(to / HOUR) * HOUR,
});

const fresh = () => new AbortController().signal;

/** Every question to a venue about one asset, by its name. */
const QUESTIONS = {
  candles: (market: MarketSource) => market.candles('BTC', hourly(SPAN), fresh()),
  funding: (market: MarketSource) => market.funding('BTC', hourly(SPAN), fresh()),
  openInterest: (market: MarketSource) => market.openInterest?.('BTC', hourly(SPAN), fresh()),
  board: (market: MarketSource) => market.board(['BTC'], fresh()),
} as const;

const askAll = (market: MarketSource) =>
  Promise.all(Object.values(QUESTIONS).map((ask) => ask(market)));

describe.each(VENUES)('$venue', (one) => {
  test('tells candles, funding and open interest as they were, over several pages', async () => {
    const { market, asked } = await open(one);
    const span = hourly({ from: NOW - 2_500 * HOUR, to: NOW - HOUR });
    const name = { venue: one.venue, of: 'BTC' } as const;
    const candles = await market.candles('BTC', span, SIGNAL);
    expect(candles).toBeInstanceOf(Read);
    expect(rowsIn(candles).filter(({ at }) => at >= span.from)).toHaveLength(
      (span.to - span.from) / HOUR,
    );
    expect(asked.filter((path) => path.includes(`/${one.pages}?`)).length).toBeGreaterThan(2);
    const funding = await market.funding('BTC', span, SIGNAL);
    expect(funding).toBeInstanceOf(Read);
    const settled = MARKETS.rows({ ...name, series: 'funding' }, span);
    expect(rowsIn(funding)).toEqual(
      settled.map(({ at, rate, interval_s }) => ({ at, rate, interval_s })),
    );
    const month = hourly({ from: NOW - 600 * HOUR, to: NOW - HOUR });
    const interest = await market.openInterest?.('BTC', month, SIGNAL);
    expect(interest).toBeInstanceOf(Read);
    const samples = MARKETS.rows({ ...name, series: 'open_interest' }, month);
    expect(interest && rowsIn(interest)).toEqual(
      samples.map(({ received_at: _, revision: __, ...row }) => row),
    );
  });

  test('says nothing of the hour that is not over, and of what is not settled', async () => {
    const { market } = await open(one);
    const span = { from: NOW - 5 * HOUR, to: NOW + HOUR };
    for (const told of [
      await market.candles('BTC', span, SIGNAL),
      await market.funding('BTC', { ...span, from: NOW - 40 * HOUR }, SIGNAL),
      await market.openInterest?.('BTC', span, SIGNAL),
    ]) {
      expect(told).toBeInstanceOf(Part);
    }
    const candles = rowsIn(await market.candles('BTC', span, SIGNAL));
    expect(candles.every(({ at }) => at + HOUR <= NOW)).toBe(true);
  });

  test('an asset that was taken off has no trading, one that never was there neither', async () => {
    const { market } = await open(one);
    const board = await market.board(['BTC', 'MADE', 'NOWHERE'], SIGNAL);
    const states =
      board instanceof Read ? board.value.rows.map(({ of, state }) => [of, state]) : [];
    expect(states).toEqual([
      ['BTC', 'trading'],
      ['MADE', one.venue === 'binance' ? 'delisted' : 'absent'],
      ['NOWHERE', 'absent'],
    ]);
  });

  test.each(DERIVATIVES_FAULTS)('%s is unread, never an empty market', async (fault) => {
    const book = derivativesBook(
      () => MARKETS,
      one.venue,
      () => NOW,
    );
    const started = await one.start(book, { nowMs: () => NOW });
    closing.push(started.close);
    const options = { ...optionsAt(started.url), timeMs: fault === 'timeout' ? 200 : 5_000 };
    const market = one.venue === 'binance' ? binanceMarket(options) : bybitMarket(options);
    started.fault(fault);
    const told = await askAll(market);
    // A board of other instruments tells that this one is absent; candles of Binance name none.
    const from = one.venue === 'binance' ? 1 : 0;
    const judged = fault === 'other-instrument' ? told.slice(from, -1) : told;
    for (const reading of judged) expect(reading).toBeInstanceOf(Unread);
    expect(JSON.stringify(told)).not.toContain('/fapi');
  });

  test('no damage of an answer on its way is read', { timeout: 60_000 }, async () => {
    const { url } = await open(one);
    const front = await startFront(passOn(url));
    closing.push(front.close);
    const market = one.market(front.url);
    expect((await askAll(market)).every((reading) => reading instanceof Read)).toBe(true);
    const wrong: string[] = [];
    let met = 0;
    for (const [name, damage] of Object.entries({ ...WIRE, ...CALL })) {
      for (const [question, ask] of Object.entries(QUESTIONS)) {
        front.set({ kind: 'the question', damage, isOfCall: false });
        const told = await ask(one.market(front.url));
        // A damage that cannot be done to this body leaves it whole.
        if (front.hits() === 0) continue;
        met += 1;
        if (!(told instanceof Unread || told instanceof Part)) wrong.push(`${name}: ${question}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(met).toBeGreaterThan(Object.keys(WIRE).length * Object.keys(QUESTIONS).length);
  });

  test('is left alone where it asks for it', async () => {
    const { market, fault, asked } = await open(one);
    fault('banned');
    expect(await market.candles('BTC', hourly(SPAN), SIGNAL)).toBeInstanceOf(Unread);
    const before = asked.length;
    fault(null);
    const told = await market.candles('BTC', hourly(SPAN), SIGNAL);
    expect(told).toMatchObject({ checked: false, why: { code: 'provider_failed' } });
    expect(asked.length).toBe(before);
  });
});

test('a venue that is not set is not asked', async () => {
  for (const market of [binanceMarket(null), bybitMarket(null)]) {
    for (const reading of await askAll(market)) {
      expect(reading).toMatchObject({ checked: false, why: { code: 'not_configured' } });
    }
  }
});

const ROW = z.record(z.string(), z.unknown());

function recording(path: string): unknown {
  return jsonIn(readFileSync(new URL(path, import.meta.url), 'utf8'));
}

/** A venue that answers each path by one body. */
async function recorded(bodies: Readonly<Record<string, unknown>>): Promise<URL> {
  const { origin, close } = await startStandIn((request, response) => {
    const { pathname } = new URL(String(request.url), 'http://x');
    if (!Object.hasOwn(bodies, pathname)) return false;
    response.end(JSON.stringify(bodies[pathname]));
    return true;
  });
  closing.push(close);
  return new URL(origin);
}

describe('recorded answers', () => {
  const span = { from: 1_795_132_800_000, to: 1_795_219_200_000 };

  test.each([
    ['Binance', './binance/recordings/funding-rate.json', '/fapi/v1/fundingRate', binanceMarket],
    ['Bybit', './bybit/recordings/funding-history.json', '/v5/market/funding/history', bybitMarket],
  ] as const)('%s settles each eight hours, and long pays at a positive rate', async (...row) => {
    const [, file, path, market] = row;
    const source = market(optionsAt(await recorded({ [path]: recording(file) }), NOW + 9 * HOUR));
    // The venue answers by its own rows whatever is asked: so the lead lies in the span as well.
    const told = await source.funding('BTC', { from: span.from - 60 * HOUR, to: NOW }, SIGNAL);
    const rows = rowsIn(told);
    expect(rows.map(({ interval_s }) => interval_s)).toEqual(Array(5).fill(28_800));
    expect(rows.map((point) => Number(fundingPer8h(point)))).toEqual([
      0.0001, -0.00002154, 0.000512, 0.00009871, 0.0001,
    ]);
  });

  test('Binance: what settles was taken off, what is halted is no trading, a thousand is k', async () => {
    const { rules, marks } = z
      .object({ rules: ROW, marks: z.array(ROW) })
      .parse(recording('./binance/recordings/board.json'));
    const url = await recorded({ '/fapi/v1/exchangeInfo': rules, '/fapi/v1/premiumIndex': marks });
    const board = await binanceMarket(optionsAt(url)).board(
      ['BTC', 'kPEPE', 'MATIC', 'NEW', 'ODD'],
      SIGNAL,
    );
    expect(board instanceof Read && board.value).toEqual({
      at: NOW,
      rows: [
        row('BTC', 'trading', '86120.00000000', '0.00010000'),
        row('kPEPE', 'trading', '0.00912000', '0.00005000'),
        row('MATIC', 'delisted', '0.37621000', '0.00000000'),
        row('NEW', 'absent', null, null),
        row('ODD', 'frozen', null, null),
      ],
    });
  });

  test('Bybit: open interest is of one side, an empty figure is none', async () => {
    const url = await recorded({
      '/v5/market/tickers': recording('./bybit/recordings/tickers.json'),
    });
    const board = await bybitMarket(optionsAt(url)).board(['BTC', 'ETH'], SIGNAL);
    expect(board instanceof Read && board.value).toEqual({
      at: NOW,
      rows: [
        {
          ...row('BTC', 'trading', '86120.10', '0.0001'),
          open_interest: { contracts: '52000.25', sides: 'one' },
        },
        row('ETH', 'absent', null, null),
      ],
    });
  });
});

function row(of: string, state: string, price: string | null, funding_rate: string | null) {
  return { of, state, price, funding_rate, open_interest: null };
}
