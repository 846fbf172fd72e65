// A stand-in for Bybit's public API of linear contracts and its stream of liquidations, in their
// exact form: rows descend, refusals come with HTTP 200, and faults on demand.

import type { ServerResponse } from 'node:http';
import {
  assetOf,
  type DerivativesFault,
  instrumentOf,
  type StartedDerivatives,
} from './binance-api.ts';
import type { BookInstrument, DerivativesBook } from './derivatives-book.ts';
import { answerPage, startStandIn } from './stand-in.ts';
import { venueStream } from './venue-streams.ts';

const ASKED_KEPT_MAX = 10_000;
const BEAT_MS = 500;
const STREAM_PATH = '/v5/public/linear';
const DEFAULT_ROWS = 200;
const BAD_PARAMETER = 10_001;
const TOO_MANY = 10_006;

/** Starts a stand-in on a free port of 127.0.0.1; its stream beats each `beatMs`. */
export async function startBybit(
  book: DerivativesBook,
  { nowMs, beatMs = BEAT_MS }: { readonly nowMs: () => number; readonly beatMs?: number },
): Promise<StartedDerivatives> {
  const asked: string[] = [];
  let fault: DerivativesFault | null = null;
  const stream = venueStream(
    {
      path: STREAM_PATH,
      answer: ({ op, req_id }) =>
        op === 'ping'
          ? { success: true, ret_msg: 'pong', op }
          : { success: true, ret_msg: '', conn_id: 'one', req_id, op },
      subscribes: ({ op }) => op === 'subscribe',
      heartbeat: (now) => ({
        topic: 'tickers.BTCUSDT',
        type: 'delta',
        ts: now,
        data: { symbol: 'BTCUSDT' },
      }),
      due: (from, to) => batchesOf(book.liquidations(from, to)),
    },
    { nowMs, beatMs },
  );
  const { origin, close } = await startStandIn((request, response) => {
    const url = new URL(String(request.url), 'http://stand-in');
    const told = answerTo(book, url, nowMs());
    if (told === undefined) return false;
    if (asked.length < ASKED_KEPT_MAX) asked.push(`${url.pathname}${url.search}`);
    sendAnswer(response, told, nowMs(), fault);
    return true;
  }, stream.upgrade);
  return {
    url: new URL(origin),
    stream,
    streamUrl: new URL(`${origin.replace('http', 'ws')}${STREAM_PATH}`),
    asked,
    fault: (next) => {
      fault = next;
    },
    close: async () => {
      stream.close();
      await close();
    },
  };
}

type Answer = { readonly retCode: number; readonly result: object };

function sendAnswer(
  response: ServerResponse,
  { retCode, result }: Answer,
  time: number,
  fault: DerivativesFault | null,
): void {
  const json = { 'content-type': 'application/json' };
  const say = (code: number, of: object, status = 200) => {
    const body = { retCode: code, retMsg: code === 0 ? 'OK' : 'refused', result: of, time };
    return response.writeHead(status, json).end(JSON.stringify({ ...body, retExtInfo: {} }));
  };
  if (fault === 'timeout') return;
  if (fault === 'html') answerPage(response, 200);
  else if (fault === 'rate-limited') say(TOO_MANY, {});
  else if (fault === 'banned' || fault === 'region') say(0, {}, 403);
  else if (fault === 'refused') say(BAD_PARAMETER, {});
  else if (fault === 'wrong-shape') say(0, { list: {} });
  else {
    const body = { retCode, retMsg: 'OK', result, retExtInfo: {}, time };
    const text = JSON.stringify(body);
    const shown = fault === 'other-instrument' ? text.replaceAll('USDT"', 'USDC"') : text;
    const sent = fault === 'cut-body' ? shown.slice(0, -1) : shown;
    response.writeHead(200, json).end(sent);
  }
}

function answerTo(book: DerivativesBook, url: URL, now: number): Answer | undefined {
  const { searchParams: query, pathname } = url;
  const symbol = String(query.get('symbol'));
  const asset = assetOf(symbol);
  const category = 'linear';
  const list = <R>(start: string, end: string, of: (from: number, to: number) => readonly R[]) => {
    const [from, to] = [query.get(start), query.get(end)];
    const limit = query.get('limit');
    const rows = of(from === null ? 0 : Number(from), (to === null ? now : Number(to)) + 1);
    return rows.slice(-(limit === null ? DEFAULT_ROWS : Number(limit))).reverse();
  };
  switch (pathname) {
    case '/v5/market/kline': {
      const told = list('start', 'end', (from, to) => book.candles(asset, from, to)).map(
        ({ at, open, high, low, close, volume }) => [
          String(at),
          open,
          high,
          low,
          close,
          volume,
          '0',
        ],
      );
      return { retCode: 0, result: { category, symbol, list: told } };
    }
    case '/v5/market/funding/history': {
      if (query.has('startTime') && !query.has('endTime')) {
        return { retCode: BAD_PARAMETER, result: {} };
      }
      const settled = list('startTime', 'endTime', (from, to) => book.settlements(asset, from, to));
      const told = settled.map(({ at, rate }) => {
        return { symbol, fundingRate: rate, fundingRateTimestamp: String(at) };
      });
      return { retCode: 0, result: { category, list: told } };
    }
    case '/v5/market/open-interest': {
      const samples = list('startTime', 'endTime', (from, to) => book.interest(asset, from, to));
      const told = samples.map(({ at, contracts }) => ({
        openInterest: String(2 * Number(contracts)),
        singleOpenInterest: contracts,
        timestamp: String(at),
      }));
      return { retCode: 0, result: { category, symbol, list: told, nextPageCursor: '' } };
    }
    case '/v5/market/tickers': {
      // What was taken off is no ticker any more.
      const trading = book.instruments().filter(({ state }) => state === 'trading');
      return {
        retCode: 0,
        result: { category, list: trading.map((one) => tickerOf(book, one, now)) },
      };
    }
    default:
      return undefined;
  }
}

function tickerOf(book: DerivativesBook, { asset, price, rate }: BookInstrument, now: number) {
  const [sample] = book.interest(asset, now - 2 * 3_600_000, now + 1).slice(-1);
  const contracts = sample === undefined ? '' : sample.contracts;
  return {
    symbol: instrumentOf(asset),
    lastPrice: price,
    markPrice: price,
    fundingRate: rate,
    fundingIntervalHour: '8',
    singleOpenInterest: contracts,
  };
}

type Liquidated = ReturnType<DerivativesBook['liquidations']>;

/** One message for each instrument: all of its liquidations since the last one. */
function batchesOf(told: Liquidated): readonly object[] {
  return [...new Set(told.map(({ asset }) => asset))].map((asset) => {
    const own = told.filter((one) => one.asset === asset);
    const data = own.map(({ at, side, size, price }) => ({
      T: at,
      s: instrumentOf(asset),
      // The side of the position, not of the order that closes it.
      S: side === 'long' ? 'Buy' : 'Sell',
      v: size,
      p: price,
    }));
    return {
      topic: `allLiquidation.${instrumentOf(asset)}`,
      type: 'snapshot',
      ts: data.at(-1)?.T,
      data,
    };
  });
}
