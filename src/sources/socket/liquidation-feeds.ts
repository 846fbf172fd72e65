// Liquidations of everybody as venues tell them over sockets: of Binance a sample, the largest of a
// second, of Bybit all. The word for the side means the opposite at the other venue.

import { z } from 'zod';
import { multiplyDecimals } from '../../chain/amount.ts';
import { tally } from '../../evidence/measure.ts';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  HeardLiquidations,
  Liquidation,
  LiquidationFeed,
  MarketPort,
  SeriesSpan,
} from '../../ports/series.ts';
import { joinSpans } from '../../ports/series-coverage.ts';
import { outsideRow } from '../http/fetch.ts';
import { FetchFault, originText } from '../http/outbound-call.ts';
import { observation } from '../http/provider.ts';
import { tetherSymbol } from '../http/timed-rows.ts';
import {
  type HeardMessage,
  hearSocket,
  type SocketBounds,
  type SocketPlan,
} from './heard-socket.ts';

const PORT: MarketPort = 'market_source';

/** A row before those that say the same of one moment are told apart. */
export type FeedRow = { readonly of: string; readonly row: Omit<Liquidation, 'nth'> };

/** How a venue is listened to. */
export type LiquidationFeedOptions = {
  readonly url: URL;
  readonly bounds: SocketBounds;
  /** What was heard is handed over so often. */
  readonly flushMs: number;
  readonly simulated: boolean;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Takes how each hand-over ended, for whoever watches the venue. */
  readonly onEnd: (fault: string | null) => void;
};

type VenueWords = {
  readonly name: string;
  readonly plan: (assets: readonly string[]) => Omit<SocketPlan<FeedRow>, 'url'>;
};

const decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
const ms = z.number().int().nonnegative();

const forceOrder = outsideRow({
  e: z.literal('forceOrder'),
  o: outsideRow({
    s: z.string(),
    S: z.enum(['SELL', 'BUY']),
    ap: decimal,
    z: decimal,
    T: ms,
  }),
  /** 1: contracts in US dollars; 2: in coins, whose figures mean something else. */
  st: z.number().int().optional(),
});
const markUpdate = outsideRow({ e: z.literal('markPriceUpdate'), E: ms });
const binanceWord = z.union([
  outsideRow({ result: z.null(), id: z.number() }).transform(() => 'confirmed' as const),
  outsideRow({ code: z.number().int() }).transform(() => 'refused' as const),
  outsideRow({ error: outsideRow({ code: z.number().int() }) }).transform(() => 'refused' as const),
]);

const UNREADABLE = 'sent a message of another shape';

function namesOf(assets: readonly string[]): ReadonlyMap<string, string> {
  return new Map(assets.map((asset) => [tetherSymbol(asset), asset]));
}

function rowOf(
  row: Pick<Liquidation, 'at' | 'side' | 'size' | 'price' | 'price_is'>,
): FeedRow['row'] {
  return { ...row, notional: multiplyDecimals(row.size, row.price) };
}

/** Liquidations of Binance: of each instrument no more than one order of a second is told. */
export const BINANCE_WORDS: VenueWords = {
  name: 'Binance',
  plan: (assets) => {
    const names = namesOf(assets);
    const params = ['!forceOrder@arr', 'btcusdt@markPrice@1s'];
    return {
      subscriptions: [JSON.stringify({ method: 'SUBSCRIBE', params, id: 1 })],
      // The server pings, which the client of sockets answers by itself.
      ping: null,
      lateMs: 3_000,
      read: (message): HeardMessage<FeedRow> => {
        const beat = markUpdate.safeParse(message);
        if (beat.success) return { kind: 'heartbeat', at: beat.data.E };
        const order = forceOrder.safeParse(message);
        if (order.success) {
          const { o, st } = order.data;
          const of = names.get(o.s);
          if (of === undefined || (st !== undefined && st !== 1)) return { kind: 'other' };
          const side = o.S === 'SELL' ? 'long' : 'short';
          const row = rowOf({ at: o.T, side, size: o.z, price: o.ap, price_is: 'fill' });
          return { kind: 'rows', rows: [{ of, row }] };
        }
        const word = binanceWord.safeParse(message);
        if (word.success) return { kind: word.data };
        throw new FetchFault(UNREADABLE);
      },
    };
  },
};

const allLiquidation = outsideRow({
  topic: z.string().startsWith('allLiquidation.'),
  data: z.array(
    outsideRow({ T: ms, s: z.string(), S: z.enum(['Buy', 'Sell']), v: decimal, p: decimal }),
  ),
});
const ticker = outsideRow({ topic: z.string().startsWith('tickers.'), ts: ms });
const bybitWord = outsideRow({ success: z.boolean(), op: z.string() });
const BYBIT_PING_MS = 20_000;

/** Liquidations of Bybit: all of them, at the price at which the position was bankrupt. */
export const BYBIT_WORDS: VenueWords = {
  name: 'Bybit',
  plan: (assets) => {
    const names = namesOf(assets);
    const topics = [...names.keys()].map((symbol) => `allLiquidation.${symbol}`);
    const args = ['tickers.BTCUSDT', ...topics];
    return {
      subscriptions: [JSON.stringify({ req_id: 'exhibit', op: 'subscribe', args })],
      ping: { text: JSON.stringify({ op: 'ping' }), eachMs: BYBIT_PING_MS },
      lateMs: 2_000,
      read: (message): HeardMessage<FeedRow> => {
        const beat = ticker.safeParse(message);
        if (beat.success) return { kind: 'heartbeat', at: beat.data.ts };
        const told = allLiquidation.safeParse(message);
        if (told.success) {
          const rows: FeedRow[] = [];
          for (const { T: at, s, S, v: size, p: price } of told.data.data) {
            const of = names.get(s);
            // The side of the position, where Binance tells that of the order that closes it.
            const side = S === 'Buy' ? 'long' : 'short';
            const row = rowOf({ at, side, size, price, price_is: 'bankruptcy' });
            if (of !== undefined) rows.push({ of, row });
          }
          return { kind: 'rows', rows };
        }
        const word = bybitWord.safeParse(message);
        if (!word.success) throw new FetchFault(UNREADABLE);
        if (word.data.op !== 'subscribe') return { kind: 'other' };
        return { kind: word.data.success ? 'confirmed' : 'refused' };
      },
    };
  },
};

/** Listens to a venue by its words. */
export function liquidationFeed(
  { name, plan }: VenueWords,
  options: LiquidationFeedOptions,
): LiquidationFeed {
  const { url, bounds, flushMs, simulated, nowMs, pause, onEnd } = options;
  const shown = originText(url);
  const source = () => observation({ name, url: shown, simulated }, () => nowMs() / 1_000);
  return {
    listen: async (assets, onReading, signal) => {
      let rows: FeedRow[] = [];
      let covered: readonly SeriesSpan[] = NO_SPANS;
      let fault: string | null = null;
      const handOver = async (): Promise<void> => {
        const value = { rows: tellApart(rows), covered };
        const failed = fault;
        [rows, covered, fault] = [[], NO_SPANS, null];
        if (value.covered.length > 0) {
          await onReading(read(value, { port: PORT, source: source() }));
        }
        if (failed !== null) {
          const provider = `${name} ${shown}`;
          await onReading(unread(PORT, why('provider_failed', { provider, fault: failed })));
        }
        if (failed !== null || value.covered.length > 0) onEnd(failed);
      };
      const sink = {
        onHeard: (more: readonly FeedRow[], span: SeriesSpan | null) => {
          if (rows.length + more.length > ROWS_MAX) {
            throw new FetchFault(`told over ${ROWS_MAX} liquidations that wait to be kept`);
          }
          rows.push(...more);
          if (span !== null) covered = joinSpans([...covered, span]);
        },
        onFault: (told: string) => {
          fault = told;
        },
      };
      const ended = new AbortController();
      const own = AbortSignal.any([signal, ended.signal]);
      const hearing = hearSocket({ url, ...plan(assets) }, bounds, sink, { nowMs, pause }, own);
      try {
        while (!own.aborted) {
          await pause(flushMs, own);
          await handOver();
        }
      } finally {
        ended.abort();
        await hearing;
      }
    },
  };
}

/** Liquidations that wait to be kept. */
const ROWS_MAX = 50_000;
const NO_SPANS: readonly SeriesSpan[] = [];

/** Numbers those that say the same of one moment. */
function tellApart(rows: readonly FeedRow[]): HeardLiquidations['rows'] {
  const counts = new Map<string, number>();
  return rows.map(({ of, row }) => {
    const key = [of, row.at, row.side, row.size, row.price].join(' ');
    tally(counts, key);
    return { of, row: { ...row, nth: Number(counts.get(key)) - 1 } };
  });
}
