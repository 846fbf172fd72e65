// A stand-in for Binance's futures API and its stream of liquidations, in their exact form: rows
// ascend from where they are asked, open interest ends after a month, and faults on demand.

import type { ServerResponse } from 'node:http';
import type { BookInstrument, DerivativesBook } from './derivatives-book.ts';
import { answerPage, startStandIn } from './stand-in.ts';
import { type StartedStream, venueStream } from './venue-streams.ts';

/** The faults that a venue of derivatives can be given. */
export const DERIVATIVES_FAULTS = [
  'rate-limited',
  'banned',
  'region',
  'html',
  'wrong-shape',
  'cut-body',
  'other-instrument',
  'refused',
  'timeout',
] as const;
export type DerivativesFault = (typeof DERIVATIVES_FAULTS)[number];

/** A stand-in of a venue on 127.0.0.1. */
export type StartedDerivatives = {
  readonly url: URL;
  readonly stream: StartedStream;
  readonly streamUrl: URL;
  /** The path of every question so far. */
  readonly asked: readonly string[];
  readonly fault: (fault: DerivativesFault | null) => void;
  readonly close: () => Promise<void>;
};

const ASKED_KEPT_MAX = 10_000;
const MONTH_MS = 30 * 24 * 3_600_000;
const BEAT_MS = 1_000;
const STREAM_PATH = '/market/ws';
const DEFAULT_ROWS = { klines: 500, fundingRate: 100, openInterestHist: 30 } as const;

/** Starts a stand-in on a free port of 127.0.0.1; its stream beats each `beatMs`. */
export async function startBinance(
  book: DerivativesBook,
  { nowMs, beatMs = BEAT_MS }: { readonly nowMs: () => number; readonly beatMs?: number },
): Promise<StartedDerivatives> {
  const asked: string[] = [];
  let fault: DerivativesFault | null = null;
  const stream = venueStream(
    {
      path: STREAM_PATH,
      answer: ({ id }) => ({ result: null, id }),
      subscribes: ({ method }) => method === 'SUBSCRIBE',
      heartbeat: (now) => ({ e: 'markPriceUpdate', E: now, s: 'BTCUSDT', p: '1', r: '0' }),
      due: (from, to) => book.liquidations(from, to).map(liquidationOf),
    },
    { nowMs, beatMs },
  );
  const { origin, close } = await startStandIn((request, response) => {
    const url = new URL(String(request.url), 'http://stand-in');
    const told = answerTo(book, url, nowMs());
    if (told === undefined) return false;
    if (asked.length < ASKED_KEPT_MAX) asked.push(`${url.pathname}${url.search}`);
    sendAnswer(response, told, fault);
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

type Answer = { readonly status: number; readonly body: unknown };

function sendAnswer(
  response: ServerResponse,
  { status, body }: Answer,
  fault: DerivativesFault | null,
): void {
  const json = { 'content-type': 'application/json' };
  const refuse = (code: number, of: number, over = {}) =>
    response.writeHead(of, { ...json, ...over }).end(JSON.stringify({ code, msg: 'refused' }));
  if (fault === 'timeout') return;
  if (fault === 'html') answerPage(response, 200);
  else if (fault === 'rate-limited') refuse(-1003, 429, { 'retry-after': '7' });
  else if (fault === 'banned') refuse(-1003, 418, { 'retry-after': '120' });
  else if (fault === 'region') refuse(0, 451);
  else if (fault === 'refused') refuse(-1121, 400);
  else {
    const text = JSON.stringify(fault === 'wrong-shape' ? { code: 0 } : body);
    const shown = fault === 'other-instrument' ? text.replaceAll('USDT"', 'USDC"') : text;
    const sent = fault === 'cut-body' ? shown.slice(0, -1) : shown;
    response.writeHead(status, json).end(sent);
  }
}

/** The instrument of an asset, and the asset of an instrument. */
export function instrumentOf(asset: string): string {
  return `${asset.replace(/^k(?=[A-Z])/, '1000')}USDT`;
}
export function assetOf(symbol: string): string {
  return symbol.replace(/USDT$/, '').replace(/^1000/, 'k');
}

function answerTo(book: DerivativesBook, url: URL, now: number): Answer | undefined {
  const { searchParams: query, pathname } = url;
  const symbol = String(query.get('symbol'));
  const asset = assetOf(symbol);
  const rows = (name: keyof typeof DEFAULT_ROWS) => {
    const start = query.get('startTime');
    const end = query.get('endTime');
    const limit = query.get('limit');
    return {
      from: start === null ? 0 : Number(start),
      to: (end === null ? now : Number(end)) + 1,
      limit: limit === null ? DEFAULT_ROWS[name] : Number(limit),
    };
  };
  switch (pathname) {
    case '/fapi/v1/exchangeInfo':
      return whole({ serverTime: now, symbols: book.instruments().map(ruleOf) });
    case '/fapi/v1/premiumIndex':
      return whole([...book.instruments().map((one) => premiumOf(one, now)), DELIVERY]);
    case '/fapi/v1/klines': {
      const { from, to, limit } = rows('klines');
      const candles = book.candles(asset, from, to).slice(0, limit);
      return whole(
        candles.map(({ at, open, high, low, close, volume }) => [
          ...[at, open, high, low, close, volume],
          ...[at + 3_599_999, '0', 3, '0', '0', '0'],
        ]),
      );
    }
    case '/fapi/v1/fundingRate': {
      const { from, to, limit } = rows('fundingRate');
      const settled = book.settlements(asset, from, to).slice(0, limit);
      return whole(
        settled.map(({ at, rate }) => {
          return { symbol, fundingRate: rate, fundingTime: at, markPrice: '1.0' };
        }),
      );
    }
    case '/futures/data/openInterestHist': {
      const { from, to, limit } = rows('openInterestHist');
      if (from < now - MONTH_MS) return { status: 400, body: { code: -1130, msg: 'startTime' } };
      const samples = book.interest(asset, from, to).slice(0, limit);
      return whole(
        samples.map(({ at, contracts }) => {
          return { symbol, sumOpenInterest: contracts, sumOpenInterestValue: '1', timestamp: at };
        }),
      );
    }
    default:
      return undefined;
  }
}

function whole(body: unknown): Answer {
  return { status: 200, body };
}

function ruleOf({ asset, state }: BookInstrument) {
  const status = state === 'trading' ? 'TRADING' : 'SETTLING';
  return { symbol: instrumentOf(asset), status, contractType: 'PERPETUAL' };
}

/** A contract with a date of delivery: it has no funding. */
const DELIVERY = {
  symbol: 'BTCUSDT_271231',
  markPrice: '70000.0',
  lastFundingRate: '',
  nextFundingTime: 0,
};

function premiumOf({ asset, price, rate }: BookInstrument, time: number) {
  return { symbol: instrumentOf(asset), markPrice: price, lastFundingRate: rate, time };
}

/** The order that closes a position: a long is sold. */
function liquidationOf({
  asset,
  side,
  size,
  price,
  at,
}: ReturnType<DerivativesBook['liquidations']>[number]) {
  const order = { s: instrumentOf(asset), S: side === 'long' ? 'SELL' : 'BUY', o: 'LIMIT' };
  const amounts = { q: size, p: price, ap: price, l: size, z: size };
  return {
    e: 'forceOrder',
    E: at,
    o: { ...order, f: 'IOC', ...amounts, X: 'FILLED', T: at },
    st: 1,
    ps: instrumentOf(asset),
  };
}
