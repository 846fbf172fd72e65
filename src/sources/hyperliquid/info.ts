// The public info API of Hyperliquid: candles, funding, fills and account funding by time, and the
// role of an address. No order of rows is promised, and no end of a span is named: a page that is
// full leaves both of its ends open. Only the newest 10,000 fills and 5,000 candles exist there.

import { z } from 'zod';
import { DAY_S, MS_PER_S } from '../../chain/time.ts';
import { type Partly, Read, unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type AccountFunding,
  type AccountRole,
  CANDLE_MS,
  type Candle,
  type Fill,
  type FundingPoint,
  identityOf,
  type MarketPort,
  type MarketRows,
  type MarketSource,
  type SeriesKind,
  type SeriesRow,
  type SeriesSpan,
} from '../../ports/series.ts';
import {
  candleSpans,
  fundingSpans,
  holesOf,
  joinSpans,
  spansWithin,
  spansWithout,
  whyHoles,
  withIntervals,
} from '../../ports/series-coverage.ts';
import { fetchJson, type JsonLimits, outsideBody, outsideRow } from '../http/fetch.ts';
import { originText } from '../http/outbound-call.ts';
import {
  type CallBudget,
  ProviderFault,
  type ProviderGuard,
  type ProviderTerms,
  readProvider,
} from '../http/provider.ts';
import type { WeightWindow } from '../http/weight-window.ts';

const PORT: MarketPort = 'market_source';
const NAME = 'Hyperliquid';
const UNSET = 'Hyperliquid (EXHIBIT_HYPERLIQUID_URL)';
const LIMITS: JsonLimits = { deadlineMs: 15_000, bytesMax: 16 * 2 ** 20 };

/** The options of asking. `url` is the root of the API, under which `/info` stands. */
export type HyperliquidOptions = ProviderTerms & {
  readonly url: URL;
  readonly guard: ProviderGuard;
  readonly window: WeightWindow;
};

/** A minute takes a weight of 1,200 from one address; what is left is for other clocks. */
export const WEIGHT_WINDOW = { max: 1_000, windowMs: 60_000 } as const;
const QUESTION_WEIGHT = 20;
const ROLE_WEIGHT = 60;
const ROWS_A_WEIGHT = 20;
const CANDLES_A_WEIGHT = 60;

/** Rows of one answer to a question of fills, and of other questions by time. */
const FILLS_PAGE = 2_000;
const FUNDING_PAGE = 500;
const FUNDING_ROWS_MAX = 2_000;
/** No more than the newest so many exist. */
const FILLS_KEPT = 10_000;
const CANDLES_KEPT = 5_000;
/** Pages of one question: five full ones of fills, each with both ends, and some to spare. */
const PAGES_MAX = 24;

/** What is younger may still be missing in an answer. */
const SETTLE_S = 60;
const SETTLE_MS = SETTLE_S * MS_PER_S;
/** A candle that is the last of an answer is closed from so long after its end. */
const CLOSED_FOR_SURE_S = 7_200;
/** Settlements were stamped up to 24 minutes after their hour. */
const FUNDING_SETTLE_MS = 1_800_000;
/** So far before a span settlements are read, to tell their interval. */
const FUNDING_LEAD_MS = 2 * DAY_S * MS_PER_S;

const decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
const ms = z.number().int().nonnegative();
const count = z.number().int().nonnegative();

const wireFill = outsideRow({
  coin: z.string().min(1),
  px: decimal,
  sz: decimal,
  side: z.enum(['B', 'A']),
  time: ms,
  startPosition: decimal,
  dir: z.string(),
  closedPnl: decimal,
  hash: z.string(),
  oid: count,
  crossed: z.boolean(),
  fee: decimal,
  tid: count.nullish(),
  feeToken: z.string().nullish(),
  liquidation: outsideRow({
    liquidatedUser: z.string().nullish(),
    markPx: decimal,
    method: z.string(),
  }).nullish(),
});

const wireAccountFunding = outsideRow({
  time: ms,
  hash: z.string(),
  delta: outsideRow({
    type: z.literal('funding'),
    coin: z.string().min(1),
    usdc: decimal,
    szi: decimal,
    fundingRate: decimal,
    nSamples: count.nullish(),
  }),
});

const wireFunding = outsideRow({ coin: z.string(), fundingRate: decimal, time: ms });

const wireCandle = outsideRow({
  t: ms,
  T: ms,
  s: z.string(),
  i: z.literal('1h'),
  o: decimal,
  h: decimal,
  l: decimal,
  c: decimal,
  v: decimal,
});

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text.toLowerCase());
const wireRole = z.discriminatedUnion('role', [
  outsideBody({ role: z.literal('missing') }),
  outsideBody({ role: z.literal('user') }),
  outsideBody({ role: z.literal('vault') }),
  outsideBody({ role: z.literal('agent'), data: outsideRow({ user: address }) }),
  outsideBody({ role: z.literal('subAccount'), data: outsideRow({ master: address }) }),
]);

/** Asks the API for one body; `weigh` tells what the answer has cost. */
type Ask = <T>(
  body: Readonly<Record<string, unknown>>,
  schema: z.ZodType<T>,
  weight: { readonly most: number; readonly of: (answer: T) => number },
) => Promise<T>;

/** The Hyperliquid venue; where it is not set, nothing is read of it. */
export function hyperliquidMarket(options: HyperliquidOptions | null): MarketSource {
  if (options === null) {
    const unset = async () => unread(PORT, why('not_configured', { what: UNSET }));
    return { candles: unset, funding: unset, fills: unset, accountFunding: unset, role: unset };
  }
  const nowMs = () => Math.floor(options.now() * MS_PER_S);
  const series =
    <S extends SeriesKind, T extends MarketRows<SeriesRow<S>>>(
      kind: S,
      look: (ask: Ask, of: string, span: SeriesSpan, nowMs: () => number) => Promise<T>,
    ) =>
    async (of: string, span: SeriesSpan, signal: AbortSignal): Promise<Partly<T, MarketPort>> => {
      const told = await askProvider(options, signal, (ask) => look(ask, of, span, nowMs));
      if (!(told instanceof Read)) return told;
      const holes = holesOf(span, told.value);
      if (holes.length === 0) return told;
      return weaken(told, whyHoles({ venue: 'hyperliquid', series: kind, of }, holes));
    };
  return {
    candles: series('candles', candlesIn),
    funding: series('funding', fundingIn),
    fills: series('fills', fillsIn),
    accountFunding: series('account_funding', accountFundingIn),
    role: (user, signal) =>
      askProvider(options, signal, async (ask) => {
        const body = { type: 'userRole', user };
        return roleOf(await ask(body, wireRole, { most: ROLE_WEIGHT, of: () => ROLE_WEIGHT }));
      }),
  };
}

function askProvider<T>(
  options: HyperliquidOptions,
  signal: AbortSignal,
  work: (ask: Ask) => Promise<T>,
) {
  const { url, now, simulated, timeMs, callsMax } = options;
  const shown = originText(url);
  const toReason = (fault: string) =>
    why('provider_failed', { provider: `${NAME} ${shown}`, fault });
  const provider = { name: NAME, url: shown, simulated, now, toReason };
  return readProvider(PORT, provider, { timeMs, callsMax, signal }, (budget) =>
    work(askWithin(options, budget)),
  );
}

function askWithin({ url: root, guard, window }: HyperliquidOptions, budget: CallBudget): Ask {
  const url = new URL(root);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/info`;
  return (body, schema, weight) =>
    guard.ask(budget, async (signal) => {
      const reserved = await window.reserve(weight.most, signal);
      let spent = weight.most;
      try {
        const told = schema.safeParse(await fetchJson({ url, body, limits: LIMITS, signal }));
        if (!told.success) throw new ProviderFault('answered JSON of another shape', 'passing');
        spent = weight.of(told.data);
        return told.data;
      } finally {
        reserved.settle(spent);
      }
    });
}

/** The weight of a list, which grows with its rows. */
function listWeight(rowsMost: number, rowsAWeight = ROWS_A_WEIGHT) {
  const weigh = (rows: number) => QUESTION_WEIGHT + Math.ceil(rows / rowsAWeight);
  return { most: weigh(rowsMost), of: (answer: readonly unknown[]) => weigh(answer.length) };
}

function roleOf(told: z.output<typeof wireRole>): AccountRole {
  if (told.role === 'agent') return { role: 'agent', of: told.data.user };
  if (told.role === 'subAccount') return { role: 'sub_account', of: told.data.master };
  return { role: told.role };
}

/** How one kind of rows is read by time, and how full an answer may be. */
type Paging<R> = {
  readonly ask: (from: number, to: number) => Promise<readonly R[]>;
  readonly identity: (row: R) => string;
  /** An answer of so many rows may be cut at either end. */
  readonly fullAt: number;
  /** Whether a shorter answer is the whole; else only one that brings nothing new is. */
  readonly endsOnShort: boolean;
};

/**
 * All rows of a span. A full answer is whole between its first and its last moment, so both ends
 * are asked again; where one moment alone fills an answer, that moment is cut, and so is what the
 * last page leaves.
 */
async function readPages<R extends { readonly at: number }>(
  span: SeriesSpan,
  { ask, identity, fullAt, endsOnShort }: Paging<R>,
): Promise<{ readonly rows: readonly R[]; readonly cut: readonly SeriesSpan[] }> {
  const found = new Map<string, R>();
  const cut: SeriesSpan[] = [];
  const open: { readonly from: number; readonly to: number }[] = [];
  const leave = (from: number, to: number): void => {
    if (from <= to) open.push({ from, to });
  };
  leave(span.from, span.to - 1);
  for (let pages = 0; ; pages += 1) {
    const next = open.pop();
    if (next === undefined) return { rows: inTime([...found.values()]), cut };
    if (pages === PAGES_MAX) {
      for (const { from, to } of [next, ...open]) cut.push({ from, to: to + 1 });
      return { rows: inTime([...found.values()]), cut };
    }
    const page = await ask(next.from, next.to);
    const before = found.size;
    for (const row of page) keepRow(found, identity(row), row);
    const isFull = page.length >= fullAt;
    const isWhole = endsOnShort || found.size === before || next.from === next.to;
    if (page.length === 0 || (!isFull && isWhole)) continue;
    const times = page.map(({ at }) => at);
    const [first, last] = [Math.min(...times), Math.max(...times)];
    const isOneMoment = first === last;
    if (isFull && isOneMoment) cut.push({ from: first, to: first + 1 });
    leave(next.from, isOneMoment ? first - 1 : first);
    leave(isOneMoment ? last + 1 : last, next.to);
  }
}

/** Two rows of one identity have to say the same. */
function keepRow<R>(found: Map<string, R>, identity: string, row: R): void {
  const known = found.get(identity);
  if (known === undefined) found.set(identity, row);
  else if (JSON.stringify(known) !== JSON.stringify(row)) {
    throw new ProviderFault('answered one row in two ways', 'passing');
  }
}

function inTime<R extends { readonly at: number }>(rows: readonly R[]): readonly R[] {
  return [...rows].sort((a, b) => a.at - b.at);
}

/** Rows of an answer, each within what was asked. */
function within<R extends { readonly at: number }>(
  rows: readonly R[],
  from: number,
  to: number,
): readonly R[] {
  if (rows.every(({ at }) => at >= from && at <= to)) return rows;
  throw new ProviderFault('answered rows of another time', 'passing');
}

async function fillsIn(ask: Ask, user: string, span: SeriesSpan, nowMs: () => number) {
  const page = async (startTime: number, endTime: number) => {
    const body = { type: 'userFillsByTime', user, startTime, endTime, aggregateByTime: false };
    const told = await ask(body, z.array(wireFill), listWeight(FILLS_PAGE));
    return within(told.map(fillOf), startTime, endTime);
  };
  // What is older than the newest fills is gone without a word, so all of them are counted, up to
  // now, those that come meanwhile too.
  const asked = nowMs();
  const { rows, cut } = await readPages<Fill>(
    { from: span.from, to: asked + 1 },
    {
      ask: page,
      identity: (row) => identityOf('fills', row),
      fullAt: FILLS_PAGE,
      endsOnShort: true,
    },
  );
  const mayBeCut = rows.length > FILLS_KEPT - FILLS_PAGE;
  const meanwhile = mayBeCut ? (await page(asked + 1, nowMs() + 1)).length : 0;
  const horizon_reached = rows.length + meanwhile >= FILLS_KEPT;
  const oldest = rows[0];
  const from = horizon_reached && oldest !== undefined ? oldest.at + 1 : span.from;
  const covered = spansWithout({ from, to: asked - SETTLE_MS }, cut);
  const gone = joinSpans([{ from: span.from, to: from }]);
  return { rows, covered, gone, horizon_reached };
}

const NO_SPANS: readonly SeriesSpan[] = [];
const NO_POINTS: readonly FundingPoint[] = [];

function fillOf({ liquidation, ...told }: z.output<typeof wireFill>): Fill {
  return {
    at: told.time,
    coin: told.coin,
    side: told.side === 'B' ? 'buy' : 'sell',
    px: told.px,
    sz: told.sz,
    start_position: told.startPosition,
    dir: told.dir,
    closed_pnl: told.closedPnl,
    fee: told.fee,
    fee_token: told.feeToken ?? null,
    oid: told.oid,
    tid: told.tid ?? null,
    crossed: told.crossed,
    hash: told.hash,
    liquidation:
      liquidation === undefined || liquidation === null
        ? null
        : {
            liquidated: liquidation.liquidatedUser?.toLowerCase() ?? null,
            mark_px: liquidation.markPx,
            method: liquidation.method,
          },
  };
}

async function accountFundingIn(ask: Ask, user: string, span: SeriesSpan, nowMs: () => number) {
  const asked = nowMs();
  const { rows, cut } = await readPages<AccountFunding>(span, {
    ask: async (startTime, endTime) => {
      const body = { type: 'userFunding', user, startTime, endTime };
      const told = await ask(body, z.array(wireAccountFunding), listWeight(FUNDING_ROWS_MAX));
      return within(told.map(accountFundingOf), startTime, endTime);
    },
    identity: (row) => identityOf('account_funding', row),
    fullAt: FUNDING_PAGE,
    endsOnShort: false,
  });
  const settled = { from: span.from, to: Math.min(span.to, asked - FUNDING_SETTLE_MS) };
  return { rows, covered: spansWithout(settled, cut), gone: NO_SPANS };
}

function accountFundingOf({ time, hash, delta }: z.output<typeof wireAccountFunding>) {
  const { coin, usdc, szi, fundingRate: rate, nSamples } = delta;
  return { at: time, coin, usdc, szi, rate, samples: nSamples ?? null, hash };
}

async function fundingIn(ask: Ask, coin: string, span: SeriesSpan, nowMs: () => number) {
  const asked = nowMs();
  const lead = { from: Math.max(0, span.from - FUNDING_LEAD_MS), to: span.to };
  const { rows: told } = await readPages(lead, {
    ask: async (startTime, endTime) => {
      const body = { type: 'fundingHistory', coin, startTime, endTime };
      const page = await ask(body, z.array(wireFunding), listWeight(FUNDING_ROWS_MAX));
      if (page.some((one) => one.coin !== coin)) {
        throw new ProviderFault('answered the funding of another asset', 'passing');
      }
      const points = page.map(({ time, fundingRate }) => ({ at: time, rate: fundingRate }));
      return within(points, startTime, endTime);
    },
    identity: ({ at }) => String(at),
    fullAt: FUNDING_PAGE,
    endsOnShort: false,
  });
  const points = withIntervals(told);
  if (points === null) return { rows: NO_POINTS, covered: NO_SPANS, gone: NO_SPANS };
  const settled = { from: span.from, to: Math.min(span.to, asked - FUNDING_SETTLE_MS) };
  return {
    rows: points.filter(({ at }) => at >= span.from && at < span.to),
    covered: spansWithin(settled, fundingSpans(points)),
    gone: NO_SPANS,
  };
}

async function candlesIn(ask: Ask, coin: string, span: SeriesSpan, nowMs: () => number) {
  const asked = nowMs();
  // The next one as well: where it has begun, the one before is closed by the venue's own clock.
  const end = span.to + CANDLE_MS;
  const req = { coin, interval: '1h', startTime: span.from, endTime: end - 1 };
  const body = { type: 'candleSnapshot', req };
  const weight = listWeight(CANDLES_KEPT + 1, CANDLES_A_WEIGHT);
  const told = await ask(body, z.array(wireCandle), weight);
  const last = Math.max(...told.map(({ t }) => t));
  const found = new Map<string, Candle>();
  for (const one of told) {
    const isHour = one.t % CANDLE_MS === 0 && one.T === one.t + CANDLE_MS - 1;
    if (one.s !== coin || !isHour) {
      throw new ProviderFault('answered candles of another asset or length', 'passing');
    }
    const { t: at, o: open, h: high, l: low, c: close, v: volume } = one;
    const closedS = (asked - at - CANDLE_MS) / MS_PER_S;
    const isClosed = closedS >= (at < last ? SETTLE_S : CLOSED_FOR_SURE_S);
    if (isClosed) keepRow(found, String(at), { at, open, high, low, close, volume });
  }
  // The candle that holds the begin of the span is told too.
  const rows = within(inTime([...found.values()]), span.from - CANDLE_MS + 1, end - 1);
  const covered = candleSpans(rows);
  // The oldest candle that may still exist: one more than are promised.
  const kept = Math.floor(asked / CANDLE_MS - CANDLES_KEPT) * CANDLE_MS;
  const gone = spansWithout({ from: span.from, to: Math.min(span.to, kept) }, covered);
  return { rows, covered, gone };
}
