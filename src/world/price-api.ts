// A stand-in for tests and the simulated world. A coin without a market is missing from its answer,
// with HTTP 200; its faults come on demand.

import { createHash } from 'node:crypto';
import { DAY_S } from '../chain/time.ts';
import { answerPage, type StandIn, startStandIn } from './stand-in.ts';

/** The faults that a price source can be given. */
export const PRICE_FAULTS = [
  'rate-limited',
  'html',
  'forgets-all',
  'wrong-shape',
  'timeout',
  'error500',
  'stale',
  'other-coin',
] as const;
type PriceFault = (typeof PRICE_FAULTS)[number];

/** A price at a time, as the wire has it. */
export type PricePoint = {
  readonly price: number;
  /** Unix seconds of the price found. */
  readonly timestamp: number;
  readonly confidence?: number;
};

/** The parts of the stand-in. `priceOf` is `null` for a coin that has no market. */
type PriceApiOptions = {
  readonly now: () => number;
  readonly priceOf: (id: string, at: number) => PricePoint | null;
  readonly fault: () => PriceFault | null;
};

/** The part of a server that is a price source: answers its paths, and says whether it did. */
function priceApiPart(options: PriceApiOptions): StandIn {
  return (request, response) => {
    const url = new URL(String(request.url), 'http://prices.invalid');
    const isCurrent = url.pathname.startsWith(CURRENT_PATH);
    if (!isCurrent && url.pathname !== BATCH_PATH) return false;
    const fault = options.fault();
    const told = fault === 'stale' ? pricesOfAMonthAgo(options) : options;
    const asked = isCurrent ? currentOf(url.pathname, told) : historicalOf(url, told);
    const coins =
      fault === 'other-coin'
        ? Object.fromEntries(Object.entries(asked).map(([id, one]) => [`${id}0`, one]))
        : asked;
    if (fault === 'timeout') return true;
    if (fault === 'error500') answerPage(response, 500);
    else if (fault === 'rate-limited') response.writeHead(429, { 'retry-after': '1' }).end('{}');
    else if (fault === 'html') answerPage(response, 200);
    else {
      const said = fault === 'forgets-all' ? { coins: {} } : { coins };
      const body = fault === 'wrong-shape' ? { coins: [] } : said;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }
    return true;
  };
}

/** Prices that are a month old, dated as such: a source that stood still. */
function pricesOfAMonthAgo(options: PriceApiOptions): PriceApiOptions {
  return { ...options, priceOf: (id, at) => options.priceOf(id, at - WAVE_DAYS * DAY_S) };
}

const CURRENT_PATH = '/prices/current/';
const BATCH_PATH = '/batchHistorical';

function currentOf(path: string, { now, priceOf }: PriceApiOptions): Record<string, unknown> {
  const ids = decodeURIComponent(path.slice(CURRENT_PATH.length)).split(',');
  const found = ids.map((id) => [id, priceOf(id, now())] as const);
  return Object.fromEntries(
    found.flatMap(([id, point]) => (point === null ? [] : [[id, { symbol: 'MADE', ...point }]])),
  );
}

function historicalOf(url: URL, { priceOf }: PriceApiOptions): Record<string, unknown> {
  const asked: unknown = JSON.parse(String(url.searchParams.get('coins')));
  if (typeof asked !== 'object' || asked === null) return {};
  const found: [string, unknown][] = [];
  for (const [id, times] of Object.entries(asked)) {
    const list: unknown[] = Array.isArray(times) ? times : [];
    const prices = list.flatMap((at) => {
      const point = priceOf(id, Number(at));
      return point === null ? [] : [point];
    });
    if (prices.length > 0) found.push([id, { symbol: 'MADE', prices }]);
  }
  return Object.fromEntries(found);
}

const WAVE_DAYS = 30;
const NATIVE = /:0x0{40}$|^coingecko:|^solana:So1{41}2$/;

/**
 * A price of the simulated world: the same for the same coin and time, a few per cent up and down
 * over a month. One coin in five has no market, one in ten a thin one; chains' own coins have.
 */
export function worldPriceOf(seed: string, id: string, at: number): PricePoint | null {
  const [kind, size, phase] = createHash('sha256').update(`${seed}\nprice\n${id}`).digest();
  const native = NATIVE.test(id);
  if (!native && Number(kind) % 5 === 0) return null;
  const base = native ? 1_000 + Number(size) * 10 : (Number(size) + 1) / 64;
  const wave = Math.sin(((at / DAY_S + Number(phase)) / WAVE_DAYS) * 2 * Math.PI);
  const price = Number((base * (1 + wave / 20)).toPrecision(8));
  const thin = !native && Number(kind) % 10 === 1;
  return { price, timestamp: at, confidence: thin ? 0.4 : 0.99 };
}

/** A stand-in of its own on 127.0.0.1. */
export type StartedPriceApi = {
  readonly url: URL;
  /** The path and query of every question so far. */
  readonly asked: readonly string[];
  readonly fault: (fault: PriceFault | null) => void;
  readonly close: () => Promise<void>;
};

const ASKED_KEPT_MAX = 1_000;

/** Starts a stand-in on a free port of 127.0.0.1. */
export async function startPriceApi(
  options: Omit<PriceApiOptions, 'fault'>,
): Promise<StartedPriceApi> {
  let fault: PriceFault | null = null;
  const asked: string[] = [];
  const part = priceApiPart({ ...options, fault: () => fault });
  const { origin, close } = await startStandIn((request, response) => {
    if (asked.length < ASKED_KEPT_MAX) asked.push(String(request.url));
    return part(request, response);
  });
  return {
    url: new URL(origin),
    asked,
    fault: (next) => {
      fault = next;
    },
    close,
  };
}
