// The public API of Bybit's linear contracts: candles, settled funding and open interest by time,
// and the tickers of now. Rows descend, HTTP 200 may hold a refusal, and a funding question without
// both of its ends is one.

import { z } from 'zod';
import { MS_PER_S } from '../../chain/time.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  CANDLE_MS,
  type InstrumentState,
  type MarketBoard,
  type MarketPort,
  type MarketRows,
  type MarketSource,
  type OpenInterest,
  type SeriesSpan,
} from '../../ports/series.ts';
import { spansWithin } from '../../ports/series-coverage.ts';
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
const NAME = 'Bybit';
const UNSET = 'Bybit (EXHIBIT_BYBIT_URL)';
const LIMITS: JsonLimits = { deadlineMs: 15_000, bytesMax: 16 * 2 ** 20 };

/** Five seconds take 600 questions from one address. */
export const BYBIT_WINDOW = { max: 200, windowMs: 5_000 } as const;
/** After a 403 for asking too often everything is to stop so long. */
const REST_MS = 600_000;

const CANDLES_PAGE = 1_000;
const FUNDING_PAGE = 200;
const INTEREST_PAGE = 200;
const HOUR_S = 3_600;
const NO_SPANS: readonly SeriesSpan[] = [];

const decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
const msText = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

const wireCandles = outsideRow({
  symbol: z.string(),
  list: z.array(z.tuple([msText, decimal, decimal, decimal, decimal, decimal, decimal])),
});
const wireFunding = outsideRow({
  list: z.array(
    outsideRow({ symbol: z.string(), fundingRate: decimal, fundingRateTimestamp: msText }),
  ),
});
const wireInterest = outsideRow({
  symbol: z.string(),
  list: z.array(outsideRow({ singleOpenInterest: decimal, timestamp: msText })),
});
/** An empty text is a figure that an instrument has not. */
const figure = z.union([decimal, z.literal('')]);
const wireTickers = outsideRow({
  list: z
    .array(
      outsideRow({
        symbol: z.string(),
        markPrice: figure,
        fundingRate: figure,
        singleOpenInterest: figure.optional(),
      }),
    )
    .min(1),
});

/** Refusals that the same question may outlive; every other one stays. */
const PASSING: ReadonlySet<number> = new Set([10_006, 10_016, 10_429]);

type Query = Readonly<Record<string, string | number>>;
type Ask = <T>(
  path: string,
  query: Query,
  schema: z.ZodType<T>,
) => Promise<{ readonly at: number; readonly result: T }>;

/** The Bybit venue; where it is not set, nothing is read of it. */
export function bybitMarket(options: MarketOptions | null): MarketSource {
  if (options === null) {
    const unset = async () => unread(PORT, why('not_configured', { what: UNSET }));
    return { candles: unset, funding: unset, openInterest: unset, board: unset };
  }
  const rest = restingAfter(restOf, () => performance.now());
  const { read, series } = venueReader(options, {
    venue: 'bybit',
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
  if (status !== 403 && status !== 429) return null;
  return retryAfterMs === null ? REST_MS : retryAfterMs;
}

function askWithin(
  { url: root, guard, window }: MarketOptions,
  budget: CallBudget,
  rest: ReturnType<typeof restingAfter>,
): Ask {
  return (path, query, schema) => {
    const url = new URL(root);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/v5/market/${path}`;
    for (const [name, value] of Object.entries({ category: 'linear', ...query })) {
      url.searchParams.set(name, String(value));
    }
    const envelope = outsideBody({ retCode: z.literal(0), time: z.number().int(), result: schema });
    return guard.ask(budget, (signal) =>
      askWeighed(window, signal, { most: 1, of: () => 1 }, async () => {
        const body = await rest(() => fetchJson({ url, body: null, limits: LIMITS, signal }));
        const refused = refusal.safeParse(body);
        if (refused.success && refused.data.retCode !== 0) {
          const { retCode } = refused.data;
          const kind = PASSING.has(retCode) ? 'passing' : 'lasting';
          throw new ProviderFault(`answered the code ${retCode}`, kind);
        }
        const told = envelope.safeParse(body);
        if (told.success) return { at: told.data.time, result: told.data.result };
        throw new ProviderFault('answered JSON of another shape', 'passing');
      }),
    );
  };
}

const refusal = outsideRow({ retCode: z.number().int() });

/** Refuses an answer that is about another instrument. */
function requireSymbol(told: string, symbol: string): void {
  if (told === symbol) return;
  throw new ProviderFault('answered rows of another instrument', 'passing');
}

async function candlesIn(ask: Ask, of: string, span: SeriesSpan, nowMs: () => number) {
  const asked = nowMs();
  const symbol = tetherSymbol(of);
  const { rows } = await readPages(
    // The next one as well: where it has begun, the one before is closed by the venue's own clock.
    { from: Math.floor(span.from / CANDLE_MS) * CANDLE_MS, to: span.to + CANDLE_MS },
    {
      ask: async (start, end) => {
        const query = { symbol, interval: '60', start, end, limit: CANDLES_PAGE };
        const { result } = await ask('kline', query, wireCandles);
        requireSymbol(result.symbol, symbol);
        const candles = result.list.map(([at, open, high, low, close, volume]) => {
          if (at % CANDLE_MS === 0) return { at, open, high, low, close, volume };
          throw new ProviderFault('answered candles of another length', 'passing');
        });
        return requireWithin(candles, start, end);
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
        const { result } = await ask('funding/history', query, wireFunding);
        const points = result.list.map((one) => {
          requireSymbol(one.symbol, symbol);
          return { at: one.fundingRateTimestamp, rate: one.fundingRate };
        });
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
  const { rows } = await readPages<OpenInterest>(span, {
    ask: async (startTime, endTime) => {
      const query = { symbol, intervalTime: '1h', startTime, endTime, limit: INTEREST_PAGE };
      const { result } = await ask('open-interest', query, wireInterest);
      requireSymbol(result.symbol, symbol);
      const samples = result.list.map(({ timestamp: at, singleOpenInterest: contracts }) => {
        return { at, contracts, sides: 'one', interval_s: HOUR_S } as const;
      });
      return requireWithin(samples, startTime, endTime);
    },
    identity: ({ at }) => String(at),
    fullAt: INTEREST_PAGE,
    endsOnShort: true,
  });
  const settled = { from: span.from, to: Math.min(span.to, asked - ANSWER_SETTLE_MS) };
  const spans = rows.map(({ at }) => ({ from: at, to: at + HOUR_S * MS_PER_S }));
  return { rows, covered: spansWithin(settled, spans), gone: NO_SPANS };
}

async function boardIn(ask: Ask, assets: readonly string[]): Promise<MarketBoard> {
  const { at, result } = await ask('tickers', {}, wireTickers);
  const listed = new Map(result.list.map((one) => [one.symbol, one]));
  const rows = assets.map((of): InstrumentState => {
    const one = listed.get(tetherSymbol(of));
    // What was taken off is on the list of tickers no more.
    if (one === undefined) return absentRow(of);
    const contracts = figureOf(one.singleOpenInterest);
    return {
      of,
      state: 'trading',
      price: figureOf(one.markPrice),
      funding_rate: figureOf(one.fundingRate),
      open_interest: contracts === null ? null : { contracts, sides: 'one' },
    };
  });
  return { at, rows };
}

function figureOf(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text;
}
