// The public API of Binance's futures in US dollars: candles, settled funding and open interest by
// time, marks and listings of now. Rows ascend, and an answer that is full begins where it was
// asked to; open interest is told of the last month alone.

import { z } from 'zod';
import { DAY_S, MS_PER_S } from '../../chain/time.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  CANDLE_MS,
  type InstrumentState,
  type Listing,
  type MarketBoard,
  type MarketPort,
  type MarketRows,
  type MarketSource,
  type OpenInterest,
  type SeriesSpan,
} from '../../ports/series.ts';
import { joinSpans, spansWithin } from '../../ports/series-coverage.ts';
import {
  fetchJson,
  type JsonLimits,
  outsideBody,
  outsideRow,
  type StatusFault,
} from '../http/fetch.ts';
import { askWeighed, type MarketOptions, venueReader } from '../http/market-venue.ts';
import { type CallBudget, ProviderFault } from '../http/provider.ts';
import { restingAfter } from '../http/rest-after.ts';
import {
  ANSWER_SETTLE_MS,
  absentRow,
  candleRows,
  closedCandles,
  leadOf,
  readPages,
  requireWithin,
  settledFunding,
  tetherSymbol,
} from '../http/timed-rows.ts';

const PORT: MarketPort = 'market_source';
const NAME = 'Binance';
const UNSET = 'Binance (EXHIBIT_BINANCE_URL)';
/** Every instrument's rules in one answer are some megabytes. */
const LIMITS: JsonLimits = { deadlineMs: 20_000, bytesMax: 32 * 2 ** 20 };

/** A minute takes a weight of 2,400 from one address; what is left is for others behind it. */
export const BINANCE_WINDOW = { max: 1_200, windowMs: 60_000 } as const;
/** How long it is left alone after a refusal that names no time: going on is answered by a ban. */
const REST_MS = 120_000;
const TOO_OFTEN: ReadonlySet<number> = new Set([418, 429]);

const CANDLES_PAGE = 1_000;
const CANDLES_WEIGHT = 5;
const FUNDING_PAGE = 1_000;
const INTEREST_PAGE = 500;
const BOARD_WEIGHT = 11;
/** Open interest of the last month is told: two days less are surely there. */
const INTEREST_KEPT_MS = 28 * DAY_S * MS_PER_S;
const HOUR_S = 3_600;

const decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
const ms = z.number().int().nonnegative();

const wireCandles = z.array(
  z.tuple([
    ...[ms, decimal, decimal, decimal, decimal, decimal],
    ...[ms, decimal, z.number(), decimal, decimal, z.string()],
  ] as const),
);
const wireFunding = z.array(
  outsideRow({ symbol: z.string(), fundingRate: decimal, fundingTime: ms }),
);
const wireInterest = z.array(
  outsideRow({ symbol: z.string(), sumOpenInterest: decimal, timestamp: ms }),
);
/** Contracts with a date of delivery have empty figures, and are of no use here. */
const wireMarks = z
  .array(outsideRow({ symbol: z.string(), markPrice: z.string(), lastFundingRate: z.string() }))
  .min(1);
const wireRules = outsideBody({
  serverTime: ms,
  symbols: z.array(outsideRow({ symbol: z.string(), status: z.string() })).min(1),
});

type Query = Readonly<Record<string, string | number>>;
type Ask = <T>(path: string, query: Query, schema: z.ZodType<T>, weight: number) => Promise<T>;

/** The Binance venue; where it is not set, nothing is read of it. */
export function binanceMarket(options: MarketOptions | null): MarketSource {
  if (options === null) {
    const unset = async () => unread(PORT, why('not_configured', { what: UNSET }));
    return { candles: unset, funding: unset, openInterest: unset, board: unset };
  }
  const rest = restingAfter(restOf, () => performance.now());
  const { read, series } = venueReader(options, {
    venue: 'binance',
    name: NAME,
    askWithin: (budget) => askWithin(options, budget, rest),
  });
  return {
    candles: series('candles', candlesIn),
    funding: series('funding', fundingIn),
    openInterest: series('open_interest', interestIn),
    board: (assets, signal) => read(signal, (ask) => boardIn(ask, assets)),
  };
}

function restOf({ status, retryAfterMs }: StatusFault): number | null {
  if (!TOO_OFTEN.has(status)) return null;
  return retryAfterMs === null ? REST_MS : retryAfterMs;
}

function askWithin(
  { url: root, guard, window }: MarketOptions,
  budget: CallBudget,
  rest: ReturnType<typeof restingAfter>,
): Ask {
  return (path, query, schema, most) => {
    const url = new URL(root);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    return guard.ask(budget, (signal) =>
      askWeighed(window, signal, { most, of: () => most }, async () => {
        const asked = { url, body: null, limits: LIMITS, signal };
        const told = schema.safeParse(await rest(() => fetchJson(asked)));
        if (told.success) return told.data;
        throw new ProviderFault('answered JSON of another shape', 'passing');
      }),
    );
  };
}

/** Refuses rows that are about another instrument. */
function requireSymbol(rows: readonly { readonly symbol: string }[], symbol: string): void {
  if (rows.every((row) => row.symbol === symbol)) return;
  throw new ProviderFault('answered rows of another instrument', 'passing');
}

async function candlesIn(ask: Ask, of: string, span: SeriesSpan, nowMs: () => number) {
  const asked = nowMs();
  const { rows } = await readPages(
    // The next one as well: where it has begun, the one before is closed by the venue's own clock.
    { from: Math.floor(span.from / CANDLE_MS) * CANDLE_MS, to: span.to + CANDLE_MS },
    {
      ask: async (startTime, endTime) => {
        const query = { symbol: tetherSymbol(of), interval: '1h', startTime, endTime };
        const paged = { ...query, limit: CANDLES_PAGE };
        const told = await ask('/fapi/v1/klines', paged, wireCandles, CANDLES_WEIGHT);
        const candles = told.map(([at, open, high, low, close, volume, ends]) => {
          if (at % CANDLE_MS !== 0 || ends !== at + CANDLE_MS - 1) {
            throw new ProviderFault('answered candles of another length', 'passing');
          }
          return { at, open, high, low, close, volume };
        });
        return requireWithin(candles, startTime, endTime);
      },
      identity: ({ at }) => String(at),
      fullAt: CANDLES_PAGE,
      endsOnShort: true,
    },
  );
  return candleRows(closedCandles(rows, asked), span, 0);
}

async function fundingIn(ask: Ask, of: string, span: SeriesSpan, nowMs: () => number) {
  const asked = nowMs();
  const symbol = tetherSymbol(of);
  const { rows } = await readPages(
    { from: leadOf(span), to: span.to },
    {
      ask: async (startTime, endTime) => {
        const query = { symbol, startTime, endTime, limit: FUNDING_PAGE };
        const told = await ask('/fapi/v1/fundingRate', query, wireFunding, 1);
        requireSymbol(told, symbol);
        const points = told.map(({ fundingTime: at, fundingRate: rate }) => ({ at, rate }));
        return requireWithin(points, startTime, endTime);
      },
      identity: ({ at }) => String(at),
      fullAt: FUNDING_PAGE,
      endsOnShort: true,
    },
  );
  return settledFunding(rows, span, asked);
}

async function interestIn(
  ask: Ask,
  of: string,
  span: SeriesSpan,
  nowMs: () => number,
): Promise<MarketRows<OpenInterest>> {
  const asked = nowMs();
  const symbol = tetherSymbol(of);
  const kept = { from: Math.max(span.from, asked - INTEREST_KEPT_MS), to: span.to };
  const gone = joinSpans([{ from: span.from, to: Math.min(span.to, kept.from) }]);
  const { rows } = await readPages<OpenInterest>(kept, {
    ask: async (startTime, endTime) => {
      const query = { symbol, period: '1h', startTime, endTime, limit: INTEREST_PAGE };
      const told = await ask('/futures/data/openInterestHist', query, wireInterest, 1);
      requireSymbol(told, symbol);
      const samples = told.map(({ timestamp: at, sumOpenInterest: contracts }) => {
        return { at, contracts, sides: 'one', interval_s: HOUR_S } as const;
      });
      return requireWithin(samples, startTime, endTime);
    },
    identity: ({ at }) => String(at),
    fullAt: INTEREST_PAGE,
    endsOnShort: true,
  });
  const settled = { from: kept.from, to: Math.min(span.to, asked - ANSWER_SETTLE_MS) };
  const spans = rows.map(({ at }) => ({ from: at, to: at + HOUR_S * MS_PER_S }));
  return { rows, covered: spansWithin(settled, spans), gone };
}

async function boardIn(ask: Ask, assets: readonly string[]): Promise<MarketBoard> {
  const { serverTime: at, symbols } = await ask('/fapi/v1/exchangeInfo', {}, wireRules, 1);
  const marks = await ask('/fapi/v1/premiumIndex', {}, wireMarks, BOARD_WEIGHT - 1);
  const states = new Map(symbols.map(({ symbol, status }) => [symbol, stateOf(status)]));
  const figures = new Map(marks.map((one) => [one.symbol, one]));
  const rows = assets.map((of): InstrumentState => {
    const state = states.get(tetherSymbol(of));
    if (state === undefined) return absentRow(of);
    const told = figures.get(tetherSymbol(of));
    const [price, rate] = [
      decimal.safeParse(told?.markPrice),
      decimal.safeParse(told?.lastFundingRate),
    ];
    return {
      of,
      state,
      price: price.success ? price.data : null,
      funding_rate: rate.success ? rate.data : null,
      open_interest: null,
    };
  });
  return { at, rows };
}

/** A perpetual that was taken off stays on the list as settling. */
const OFF: ReadonlySet<string> = new Set([
  ...['PRE_DELIVERING', 'DELIVERING', 'DELIVERED', 'PRE_SETTLE', 'SETTLING', 'CLOSE'],
]);

/** A state of which nothing is known is no trading: its price is not taken for one. */
function stateOf(status: string): Listing['state'] {
  if (status === 'TRADING') return 'trading';
  if (status === 'PENDING_TRADING') return 'absent';
  return OFF.has(status) ? 'delisted' : 'frozen';
}
