// A stand-in for Hyperliquid's info API: fills, funding, candles and roles in its exact form,
// within its pages, its horizon and its weights, and faults on demand.

import type { ServerResponse } from 'node:http';
import { answerPage, bodyOf, startStandIn } from './stand-in.ts';
import type { WorldFunding } from './traders.ts';
import type { SimulatedFill } from './trading.ts';

/** The faults that the venue can be given. Rows out of order are none to who reads them rightly. */
export const HYPERLIQUID_FAULTS = [
  'rate-limited',
  'html',
  'null',
  'unprocessable',
  'wrong-shape',
  'cut-body',
  'other-asset',
  'other-time',
  'newest-first',
  'timeout',
] as const;
export type HyperliquidFault = (typeof HYPERLIQUID_FAULTS)[number];

export type VenueRole =
  | { readonly role: 'missing' | 'user' | 'vault' }
  | { readonly role: 'agent'; readonly of: string };

/** An instrument of now; one that was taken off keeps its place on the list. */
export type VenueInstrument = {
  readonly coin: string;
  readonly isDelisted: boolean;
  readonly rate: number;
  /** In the coin. */
  readonly open_interest: number;
  readonly price: number;
};

/** What a venue knows. Accounts in lower case, times in milliseconds, rows oldest first. */
export type VenueBook = {
  readonly roleOf: (account: string) => VenueRole;
  readonly fillsOf: (account: string) => readonly SimulatedFill[];
  readonly fundingOf: (account: string) => readonly WorldFunding[];
  /** Candles whose hour begins in a span; none of a coin that is not known. */
  readonly candlesOf: (
    coin: string,
    from: number,
    to: number,
  ) => readonly { readonly at: number; readonly open: number; readonly close: number }[];
  /** The settlements of a coin in a span. */
  readonly settlementsOf: (
    coin: string,
    from: number,
    to: number,
  ) => readonly { readonly at: number; readonly rate: number }[];
  readonly instruments: () => readonly VenueInstrument[];
};

type Question = Readonly<Record<string, unknown>>;

/** A stand-in of its own on 127.0.0.1. */
export type StartedHyperliquid = {
  readonly url: URL;
  /** Every question so far. */
  readonly asked: readonly Question[];
  /** The most weight that fell into any minute so far. */
  readonly heaviestMinute: () => number;
  readonly fault: (fault: HyperliquidFault | null) => void;
  readonly close: () => Promise<void>;
};

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const BODY_CHARS_MAX = 10_000;
const ASKED_KEPT_MAX = 10_000;
const FILLS_PAGE = 2_000;
const FILLS_KEPT = 10_000;
const FUNDING_PAGE = 500;
const CANDLES_KEPT = 5_000;
const HASH = `0x${'0'.repeat(64)}`;
/** Settlements are stamped a little past their hour. */
const LATE_MS = 48;

/** Starts a stand-in on a free port of 127.0.0.1. `weightMax` is of a minute: the venue's 1,200. */
export async function startHyperliquid(
  book: VenueBook,
  { nowMs, weightMax = 1_200 }: { readonly nowMs: () => number; readonly weightMax?: number },
): Promise<StartedHyperliquid> {
  const asked: Question[] = [];
  const spent: { readonly at: number; readonly weight: number }[] = [];
  let heaviest = 0;
  let fault: HyperliquidFault | null = null;
  /** Whether a question of that weight is within the minute. */
  const weigh = (weight: number): boolean => {
    const now = performance.now();
    while (spent[0] !== undefined && spent[0].at <= now - MINUTE_MS) spent.shift();
    spent.push({ at: now, weight });
    const sum = spent.reduce((all, one) => all + one.weight, 0);
    heaviest = Math.max(heaviest, sum);
    return sum <= weightMax;
  };
  const answer = (text: string, response: ServerResponse): void => {
    const question = parseQuestion(text);
    const told = question === null ? undefined : answerTo(book, question, nowMs(), fault);
    if (question !== null && asked.length < ASKED_KEPT_MAX) asked.push(question);
    if (question === null || told === undefined) refuse(response);
    else if (weigh(weightOf(question, told))) sendAnswer(response, told, fault);
    else response.writeHead(429).end('null');
  };
  const { origin, close } = await startStandIn((request, response) => {
    if (request.method !== 'POST' || request.url !== '/info') return false;
    bodyOf(request, BODY_CHARS_MAX).then(
      (text) => answer(text, response),
      () => response.destroy(),
    );
    return true;
  });
  return {
    url: new URL(origin),
    asked,
    heaviestMinute: () => heaviest,
    fault: (next) => {
      fault = next;
    },
    close,
  };
}

function parseQuestion(text: string): Question | null {
  try {
    const told: unknown = JSON.parse(text);
    return typeof told === 'object' && told !== null ? { ...told } : null;
  } catch {
    return null;
  }
}

/** The words of a body that is no question. */
function refuse(response: ServerResponse): void {
  const words = 'Failed to deserialize the JSON body into the target type';
  response.writeHead(422, { 'content-type': 'text/plain' }).end(words);
}

function sendAnswer(response: ServerResponse, told: unknown, fault: HyperliquidFault | null): void {
  const json = { 'content-type': 'application/json' };
  if (fault === 'timeout') return;
  if (fault === 'html') answerPage(response, 200);
  else if (fault === 'unprocessable') refuse(response);
  else if (fault === 'null') response.writeHead(500, json).end('null');
  else if (fault === 'rate-limited') response.writeHead(429, json).end('null');
  else {
    const body = JSON.stringify(fault === 'wrong-shape' ? { error: 'busy' } : told);
    response.writeHead(200, json).end(fault === 'cut-body' ? body.slice(0, -1) : body);
  }
}

/** The answer to a question; `undefined` where it is none. */
function answerTo(
  book: VenueBook,
  question: Question,
  now: number,
  fault: HyperliquidFault | null,
): unknown {
  const text = (name: string) => String(question[name]);
  const user = text('user').toLowerCase();
  switch (question['type']) {
    case 'userRole':
      return roleOf(book.roleOf(user));
    case 'userFillsByTime': {
      const kept = book.fillsOf(user).slice(-FILLS_KEPT);
      return page(kept, question, now, FILLS_PAGE, fault).map(fillOf);
    }
    case 'userFunding':
      return page(book.fundingOf(user), question, now, FUNDING_PAGE, fault).map(fundingOf);
    case 'fundingHistory': {
      const [from, to] = spanOf(question, now);
      const coin = text('coin');
      const all = book.settlementsOf(coin, from, to + 1);
      const told = page(all, question, now, FUNDING_PAGE, fault);
      const shown = fault === 'other-asset' ? 'OTHER' : coin;
      return told.map(({ at, rate }) => {
        return { coin: shown, fundingRate: decimalText(rate), premium: '0.0', time: at };
      });
    }
    case 'metaAndAssetCtxs':
      return boardOf(book.instruments(), fault);
    case 'candleSnapshot':
      return candlesIn(book, question['req'], now, fault);
    default:
      return undefined;
  }
}

function spanOf(question: Question, now: number): readonly [number, number] {
  const end = question['endTime'];
  return [Number(question['startTime']), end === undefined ? now : Number(end)];
}

/** The first rows of a span, or its newest where the venue is made to begin with them. */
function page<R extends { readonly at: number }>(
  all: readonly R[],
  question: Question,
  now: number,
  rowsMax: number,
  fault: HyperliquidFault | null,
): readonly R[] {
  const [from, to] = spanOf(question, now);
  const rows = all.filter(({ at }) => at >= from && at <= to && at <= now);
  if (fault === 'other-time') return rows.map((row) => ({ ...row, at: to + 1 })).slice(0, rowsMax);
  if (fault === 'newest-first') return rows.slice(-rowsMax).reverse();
  return rows.slice(0, rowsMax);
}

function candlesIn(
  book: VenueBook,
  asked: unknown,
  now: number,
  fault: HyperliquidFault | null,
): unknown {
  if (typeof asked !== 'object' || asked === null) return undefined;
  const req: Question = { ...asked };
  if (req['interval'] !== '1h') return undefined;
  const [from, to] = spanOf(req, now);
  const coin = String(req['coin']);
  const first = Math.floor(Math.max(from, now - CANDLES_KEPT * HOUR_MS) / HOUR_MS) * HOUR_MS;
  const told = book.candlesOf(coin, first, Math.min(to, now) + 1);
  const moved = fault === 'other-time' ? -1_000 * HOUR_MS : 0;
  const candles = told.slice(-CANDLES_KEPT).map(({ at, open, close }) => ({
    t: at + moved,
    T: at + moved + HOUR_MS - 1,
    s: fault === 'other-asset' ? 'OTHER' : coin,
    i: '1h',
    o: decimalText(open),
    c: decimalText(close),
    h: decimalText(Math.max(open, close)),
    l: decimalText(Math.min(open, close)),
    v: '1.5',
    n: 3,
  }));
  return fault === 'newest-first' ? candles.reverse() : candles;
}

/** Instruments and their figures, which are matched by their places alone. */
function boardOf(instruments: readonly VenueInstrument[], fault: HyperliquidFault | null) {
  const universe = instruments.map(({ coin, isDelisted }) => ({
    name: fault === 'other-asset' ? 'OTHER' : coin,
    szDecimals: 5,
    maxLeverage: 40,
    marginTableId: 56,
    ...(isDelisted ? { isDelisted } : null),
  }));
  const figures = instruments.map(({ isDelisted, rate, open_interest, price }) => ({
    funding: decimalText(rate),
    openInterest: decimalText(open_interest),
    markPx: decimalText(price),
    oraclePx: decimalText(price),
    midPx: isDelisted ? null : decimalText(price),
    premium: isDelisted ? null : '0.0',
    impactPxs: null,
    dayNtlVlm: '0.0',
    prevDayPx: decimalText(price),
  }));
  return [{ universe, marginTables: [], collateralToken: 0 }, figures];
}

const WEIGHT = 20;
const ROLE_WEIGHT = 60;

function weightOf(question: Question, told: unknown): number {
  if (question['type'] === 'userRole') return ROLE_WEIGHT;
  const rows = Array.isArray(told) ? told.length : 0;
  return WEIGHT + Math.ceil(rows / (question['type'] === 'candleSnapshot' ? 60 : 20));
}

function roleOf(told: VenueRole) {
  return told.role === 'agent' ? { role: 'agent', data: { user: told.of } } : { role: told.role };
}

function fillOf({ at, coin, side, px, sz, oid, tid, ...told }: SimulatedFill) {
  const isClosing = told.closed_pnl !== 0;
  const isLong = isClosing ? side === 'sell' : side === 'buy';
  return {
    coin,
    px: decimalText(px),
    sz: decimalText(sz),
    side: side === 'buy' ? 'B' : 'A',
    time: at,
    startPosition: decimalText(told.start_position),
    dir: `${isClosing ? 'Close' : 'Open'} ${isLong ? 'Long' : 'Short'}`,
    closedPnl: decimalText(told.closed_pnl),
    hash: HASH,
    oid,
    crossed: true,
    fee: decimalText(px * sz * FEE),
    tid,
    feeToken: 'USDC',
    twapId: null,
  };
}

/** The venue's usual fee of who takes. */
const FEE = 0.00045;

function fundingOf({ at, coin, szi, rate, usdc }: WorldFunding) {
  const figures = {
    usdc: decimalText(usdc),
    szi: decimalText(szi),
    fundingRate: decimalText(rate),
  };
  return { time: at, hash: HASH, delta: { type: 'funding', coin, ...figures, nSamples: null } };
}

/** Settlements on the hour, each a little late, in a span. */
export function settlementsIn(
  from: number,
  to: number,
  rateOf: (hour: number) => number,
): readonly { readonly at: number; readonly rate: number }[] {
  const settled: { readonly at: number; readonly rate: number }[] = [];
  for (let hour = Math.floor(from / HOUR_MS); hour * HOUR_MS < to; hour += 1) {
    const at = hour * HOUR_MS + LATE_MS;
    if (at >= from && at < to) settled.push({ at, rate: rateOf(hour) });
  }
  return settled;
}

const DECIMALS = 10;

/** A number as the venue writes it, without an exponent. */
function decimalText(value: number): string {
  return value.toFixed(DECIMALS).replace(/0+$/, '').replace(/\.$/, '.0');
}
