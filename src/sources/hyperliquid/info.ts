// The public info API of Hyperliquid: candles, funding, fills and account funding by time, and the
// role of an address. No order of rows is promised, and no end of a span is named: a page that is
// full leaves both of its ends open. Only the newest 10,000 fills and 5,000 candles exist there.

import { z } from 'zod';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type AccountFunding,
  type AccountRole,
  type AccountSource,
  CANDLE_MS,
  type Fill,
  type InstrumentState,
  identityOf,
  type MarketBoard,
  type MarketPort,
  type MarketSource,
  type SeriesSpan,
} from '../../ports/series.ts';
import { joinSpans, spansWithout } from '../../ports/series-coverage.ts';
import { fetchJson, type JsonLimits, outsideBody, outsideRow } from '../http/fetch.ts';
import { askWeighed, type MarketOptions, venueReader } from '../http/market-venue.ts';
import { type CallBudget, ProviderFault } from '../http/provider.ts';
import {
  ANSWER_SETTLE_MS,
  absentRow,
  candleRows,
  closedCandles,
  FUNDING_SETTLE_MS,
  leadOf,
  readPages,
  requireWithin,
  settledFunding,
} from '../http/timed-rows.ts';

const PORT: MarketPort = 'market_source';
const NAME = 'Hyperliquid';
const UNSET = 'Hyperliquid (EXHIBIT_HYPERLIQUID_URL)';
const LIMITS: JsonLimits = { deadlineMs: 15_000, bytesMax: 16 * 2 ** 20 };

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

/** Instruments and their figures, matched by their places. */
const wireBoard = z.tuple([
  outsideBody({
    universe: z.array(outsideRow({ name: z.string(), isDelisted: z.boolean().optional() })),
  }),
  z.array(outsideRow({ funding: decimal, openInterest: decimal, markPx: decimal })),
]);

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
export function hyperliquidMarket(options: MarketOptions | null): MarketSource & AccountSource {
  if (options === null) {
    const unset = async () => unread(PORT, why('not_configured', { what: UNSET }));
    const prices = { candles: unset, funding: unset, openInterest: null, board: unset };
    return { ...prices, fills: unset, accountFunding: unset, role: unset };
  }
  const { read, series } = venueReader(options, {
    venue: 'hyperliquid',
    name: NAME,
    askWithin: (budget) => askWithin(options, budget),
  });
  return {
    candles: series('candles', candlesIn),
    funding: series('funding', fundingIn),
    openInterest: null,
    board: (assets, signal) => read(signal, (ask, nowMs) => boardIn(ask, assets, nowMs)),
    fills: series('fills', fillsIn),
    accountFunding: series('account_funding', accountFundingIn),
    role: (user, signal) =>
      read(signal, async (ask) => {
        const body = { type: 'userRole', user };
        return roleOf(await ask(body, wireRole, { most: ROLE_WEIGHT, of: () => ROLE_WEIGHT }));
      }),
  };
}

function askWithin({ url: root, guard, window }: MarketOptions, budget: CallBudget): Ask {
  const url = new URL(root);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/info`;
  return (body, schema, weight) =>
    guard.ask(budget, (signal) =>
      askWeighed(window, signal, weight, async () => {
        const told = schema.safeParse(await fetchJson({ url, body, limits: LIMITS, signal }));
        if (told.success) return told.data;
        throw new ProviderFault('answered JSON of another shape', 'passing');
      }),
    );
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

async function fillsIn(ask: Ask, user: string, span: SeriesSpan, nowMs: () => number) {
  const page = async (startTime: number, endTime: number) => {
    const body = { type: 'userFillsByTime', user, startTime, endTime, aggregateByTime: false };
    const told = await ask(body, z.array(wireFill), listWeight(FILLS_PAGE));
    return requireWithin(told.map(fillOf), startTime, endTime);
  };
  // What is older than the newest fills is gone without a word, so all of them are counted, up to
  // now, those that come meanwhile too.
  const asked = nowMs();
  const { rows, cut, crowded } = await readPages<Fill>(
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
  const covered = spansWithout({ from, to: asked - ANSWER_SETTLE_MS }, [...cut, ...crowded]);
  const gone = joinSpans([{ from: span.from, to: from }, ...crowded]);
  return { rows, covered, gone, horizon_reached };
}

const NO_SPANS: readonly SeriesSpan[] = [];

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
  const { rows, cut, crowded } = await readPages<AccountFunding>(span, {
    ask: async (startTime, endTime) => {
      const body = { type: 'userFunding', user, startTime, endTime };
      const told = await ask(body, z.array(wireAccountFunding), listWeight(FUNDING_ROWS_MAX));
      return requireWithin(told.map(accountFundingOf), startTime, endTime);
    },
    identity: (row) => identityOf('account_funding', row),
    fullAt: FUNDING_PAGE,
    endsOnShort: false,
  });
  const settled = { from: span.from, to: Math.min(span.to, asked - FUNDING_SETTLE_MS) };
  return { rows, covered: spansWithout(settled, [...cut, ...crowded]), gone: NO_SPANS };
}

function accountFundingOf({ time, hash, delta }: z.output<typeof wireAccountFunding>) {
  const { coin, usdc, szi, fundingRate: rate, nSamples } = delta;
  return { at: time, coin, usdc, szi, rate, samples: nSamples ?? null, hash };
}

async function fundingIn(ask: Ask, coin: string, span: SeriesSpan, nowMs: () => number) {
  const asked = nowMs();
  const lead = { from: leadOf(span), to: span.to };
  const { rows: told } = await readPages(lead, {
    ask: async (startTime, endTime) => {
      const body = { type: 'fundingHistory', coin, startTime, endTime };
      const page = await ask(body, z.array(wireFunding), listWeight(FUNDING_ROWS_MAX));
      if (page.some((one) => one.coin !== coin)) {
        throw new ProviderFault('answered the funding of another asset', 'passing');
      }
      const points = page.map(({ time, fundingRate }) => ({ at: time, rate: fundingRate }));
      return requireWithin(points, startTime, endTime);
    },
    identity: ({ at }) => String(at),
    fullAt: FUNDING_PAGE,
    endsOnShort: false,
  });
  return settledFunding(told, span, asked);
}

async function candlesIn(ask: Ask, coin: string, span: SeriesSpan, nowMs: () => number) {
  const asked = nowMs();
  // The next one as well: where it has begun, the one before is closed by the venue's own clock.
  const end = span.to + CANDLE_MS;
  const req = { coin, interval: '1h', startTime: span.from, endTime: end - 1 };
  const body = { type: 'candleSnapshot', req };
  const weight = listWeight(CANDLES_KEPT + 1, CANDLES_A_WEIGHT);
  const told = await ask(body, z.array(wireCandle), weight);
  const candles = told.map((one) => {
    const isHour = one.t % CANDLE_MS === 0 && one.T === one.t + CANDLE_MS - 1;
    if (one.s !== coin || !isHour) {
      throw new ProviderFault('answered candles of another asset or length', 'passing');
    }
    const { t: at, o: open, h: high, l: low, c: close, v: volume } = one;
    return { at, open, high, low, close, volume };
  });
  // The candle that holds the begin of the span is told too.
  const rows = requireWithin(closedCandles(candles, asked), span.from - CANDLE_MS + 1, end - 1);
  // The oldest candle that may still exist: one more than are promised.
  const kept = Math.floor(asked / CANDLE_MS - CANDLES_KEPT) * CANDLE_MS;
  return candleRows(rows, span, kept);
}

/** The exchange of an asset: the first one, or the one that stands before a colon. */
function exchangeOf(asset: string): string {
  const colon = asset.indexOf(':');
  return colon < 0 ? '' : asset.slice(0, colon);
}

async function boardIn(
  ask: Ask,
  assets: readonly string[],
  nowMs: () => number,
): Promise<MarketBoard> {
  const rows: InstrumentState[] = [];
  let at = nowMs();
  for (const dex of new Set(assets.map(exchangeOf))) {
    const body = { type: 'metaAndAssetCtxs', ...(dex === '' ? null : { dex }) };
    const weight = { most: QUESTION_WEIGHT, of: () => QUESTION_WEIGHT };
    const [{ universe }, figures] = await ask(body, wireBoard, weight);
    at = nowMs();
    if (universe.length !== figures.length) {
      throw new ProviderFault('answered more or fewer figures than instruments', 'passing');
    }
    const listed = new Map(universe.map((one, n) => [one.name, { ...one, figures: figures[n] }]));
    for (const of of assets.filter((asset) => exchangeOf(asset) === dex)) {
      const one = listed.get(of);
      rows.push(one?.figures === undefined ? absentRow(of) : boardRow(one, one.figures));
    }
  }
  return { at, rows };
}

function boardRow(
  { name: of, isDelisted }: z.output<typeof wireBoard>[0]['universe'][number],
  { funding, openInterest, markPx }: z.output<typeof wireBoard>[1][number],
): InstrumentState {
  return {
    of,
    state: isDelisted === true ? 'delisted' : 'trading',
    price: markPx,
    funding_rate: funding,
    open_interest: { contracts: openInterest, sides: 'untold' },
  };
}
