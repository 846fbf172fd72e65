// A coin that DefiLlama leaves out has no price there; one that could not be read is not in the
// answer. A price too far from its time is none. Each question holds a coin that has one: a source
// that has lost that too was not read.

import { z } from 'zod';
import { plainDecimal } from '../../chain/amount.ts';
import type { ChainName } from '../../chain/chain.ts';
import { DAY_S, formatIsoTime, type UnixSeconds } from '../../chain/time.ts';
import { slices } from '../../evidence/measure.ts';
import { map, type Partly, read, some } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type Coin,
  type Market,
  type Price,
  type PriceAsk,
  type Priced,
  type Prices,
  type PricesPort,
  priceTime,
} from '../../ports/history.ts';
import { type JsonLimits, outsideBody, outsideRow } from '../http/fetch.ts';
import { originText } from '../http/outbound-call.ts';
import {
  askJson,
  BudgetSpent,
  type CallBudget,
  observationOfPast,
  ProviderFault,
  type ProviderGuard,
  type ProviderTerms,
  tryReading,
  whyUnanswered,
  withBudget,
} from '../http/provider.ts';
import { keepPrices } from './priced-history.ts';

const PORT = 'prices';

/** The options of reading prices. `url` is the root of the API, and may carry a key in its path. */
type DefillamaOptions = ProviderTerms & { readonly url: URL; readonly guard: ProviderGuard };

/** A price found further from the time asked for is none. */
const WINDOW_S = 3_600;
/** A source whose price is further from its time is stale, or answers another question. */
const STALE_S = DAY_S;
/** Below it the source itself calls a market thin. */
const CONFIDENCE_MIN = 0.9;
const PRICES_KEPT_MAX = 50_000;
const PRICE_KEPT_S = 86_400;
const MARKETS_KEPT_MAX = 50_000;
const MARKET_KEPT_S = 3_600;
const LIMITS: JsonLimits = { deadlineMs: 10_000, bytesMax: 4 * 2 ** 20 };
const IDS_PER_CALL_MAX = 50;
const TIMES_PER_CALL_MAX = 200;
/** A coin that any price source knows. */
const CANARY_ID = 'coingecko:ethereum';
const NO_CANARY = `answered without ${CANARY_ID}, so that a missing coin means nothing`;

/** Prices of a DefiLlama-compatible API. */
export function defillamaPrices(options: DefillamaOptions): Prices {
  const prices = keepPrices<Price | null>(PRICES_KEPT_MAX, PRICE_KEPT_S, options.now);
  const markets = keepPrices<boolean>(MARKETS_KEPT_MAX, MARKET_KEPT_S, options.now);
  return {
    historical: (asks, signal) =>
      answerInquiry(options, signal, {
        questions: asks,
        known: (ask) => {
          const price = prices.get(priceKey(ask));
          return price && { answer: { ask, price: price.value }, at: price.at };
        },
        batches: priceBatches,
        read: async (batch, budget) => {
          const found = await historicalOf(options, batch, budget);
          for (const { ask, price } of found) prices.set(priceKey(ask), price);
          return found;
        },
      }),
    markets: (coins, signal) =>
      answerInquiry(options, signal, {
        questions: coins,
        known: (coin) => {
          const market = markets.get(coinId(coin));
          return market && { answer: { coin, has_market: market.value }, at: market.at };
        },
        batches: coinBatches,
        read: async (batch, budget) => {
          const found = await marketsOf(options, batch, budget);
          for (const { coin, has_market } of found) markets.set(coinId(coin), has_market);
          return found;
        },
      }),
  };
}

function priceKey(ask: PriceAsk): string {
  return `${coinId(ask)} ${priceTime(ask.at)}`;
}

type Inquiry<Q, A> = {
  readonly questions: readonly Q[];
  /** The cached answer to a request, and its time. */
  readonly known: (question: Q) => { readonly answer: A; readonly at: number } | undefined;
  readonly batches: (questions: readonly Q[]) => Q[][];
  readonly read: (batch: readonly Q[], budget: CallBudget) => Promise<readonly A[]>;
};

/** Answers from the cache first; reads the rest, batch after batch, within the budget. */
async function answerInquiry<Q, A>(
  options: DefillamaOptions,
  signal: AbortSignal,
  { questions, known, batches, read: ask }: Inquiry<Q, A>,
): Promise<Partly<readonly A[], PricesPort>> {
  const { url, timeMs, callsMax, simulated, now } = options;
  const shown = originText(url);
  const name = 'DefiLlama-compatible API';
  const originAt = (asked_at: number) => {
    const source = observationOfPast({ name, url: shown, simulated }, asked_at);
    return { port: PORT, source } as const;
  };
  const had: A[] = [];
  const missing: Q[] = [];
  // The cached answers are as old as the oldest of them.
  let keptSince = now();
  for (const question of questions) {
    const held = known(question);
    if (held === undefined) missing.push(question);
    else {
      had.push(held.answer);
      keptSince = Math.min(keptSince, held.at);
    }
  }
  const readings: Partly<readonly A[], PricesPort>[] = [];
  if (had.length > 0 || missing.length === 0) readings.push(read(had, originAt(keptSince)));
  await withBudget({ timeMs, callsMax, signal }, async (budget) => {
    const toWhy = (error: unknown) => whyOf(error, `${name} ${shown}`);
    for (const batch of batches(missing)) {
      const work = async () => read(await ask(batch, budget), originAt(now()));
      readings.push(await tryReading(PORT, toWhy, work));
    }
  });
  return map(some(readings), (lists) => lists.flat());
}

function whyOf(error: unknown, provider: string): Why {
  if (error instanceof BudgetSpent && error.of === 'time') {
    return why('timed_out', { what: provider, limit: 'the time that a request may take' });
  }
  return whyUnanswered(error, (fault) => why('provider_failed', { provider, fault }));
}

function coinBatches(coins: readonly Coin[]): Coin[][] {
  const byId = new Map(coins.map((coin) => [coinId(coin), coin]));
  return [...slices([...byId.values()], IDS_PER_CALL_MAX)];
}

function priceBatches(asks: readonly PriceAsk[]): PriceAsk[][] {
  const byCoin = [...asks].sort((a, b) => compare(coinId(a), coinId(b)) || a.at - b.at);
  const batches: PriceAsk[][] = [];
  let ids = new Set<string>();
  let times = new Set<string>();
  for (const ask of byCoin) {
    const last = batches.at(-1);
    ids.add(coinId(ask));
    times.add(priceKey(ask));
    const full = ids.size > IDS_PER_CALL_MAX || times.size > TIMES_PER_CALL_MAX;
    if (last !== undefined && !full) {
      last.push(ask);
      continue;
    }
    batches.push([ask]);
    ids = new Set([coinId(ask)]);
    times = new Set([priceKey(ask)]);
  }
  return batches;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

type Question<T> = {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly schema: z.ZodType<T>;
  /** Throws for an answer that tells of another thing: the guard then leaves the source alone. */
  readonly check: (answer: T) => void;
};

async function askApi<T>(
  { url, guard }: DefillamaOptions,
  { path, params, schema, check }: Question<T>,
  budget: CallBudget,
): Promise<T> {
  const whole = new URL(url);
  whole.pathname = `${whole.pathname.replace(/\/+$/, '')}${path}`;
  for (const [name, value] of Object.entries(params)) whole.searchParams.set(name, value);
  return askJson({ guard, budget, url: whole, body: null, limits: LIMITS }, (told) => {
    const answer = schema.safeParse(told);
    if (!answer.success) throw new ProviderFault('answered JSON of another shape', 'passing');
    check(answer.data);
    return answer.data;
  });
}

const point = outsideRow({
  timestamp: z.number().int().nonnegative(),
  price: z.number().nonnegative(),
  confidence: z.number().min(0).max(1).nullish(),
});
const history = outsideBody({
  coins: z.record(z.string(), outsideRow({ prices: z.array(point) })),
});
const current = outsideBody({ coins: z.record(z.string(), point) });

async function historicalOf(
  options: DefillamaOptions,
  batch: readonly PriceAsk[],
  budget: CallBudget,
): Promise<readonly Priced[]> {
  const times = new Map<string, number[]>();
  for (const ask of batch) {
    const id = coinId(ask);
    const known = times.get(id);
    const at = priceTime(ask.at);
    if (known === undefined) times.set(id, [at]);
    else if (!known.includes(at)) known.push(at);
  }
  times.set(CANARY_ID, [priceTime(options.now() - DAY_S)]);
  const question = {
    path: '/batchHistorical',
    params: { coins: JSON.stringify(Object.fromEntries(times)), searchWidth: '1h' },
    schema: history,
    check: (answer: z.output<typeof history>) => requireAsked(answer, times),
  };
  const { coins } = await askApi(options, question, budget);
  return batch.map((ask) => {
    const points = coins[coinId(ask)];
    return { ask, price: points === undefined ? null : nearest(points.prices, priceTime(ask.at)) };
  });
}

/** Refuses prices without the known coin, of a coin or of a time that was not asked for. */
function requireAsked(
  { coins }: z.output<typeof history>,
  times: ReadonlyMap<string, readonly UnixSeconds[]>,
): void {
  if (!coins[CANARY_ID]?.prices.length) throw new ProviderFault(NO_CANARY, 'passing');
  for (const [id, { prices }] of Object.entries(coins)) {
    const asked = times.get(id);
    if (asked === undefined) {
      throw new ProviderFault('answered about a coin that was not asked for', 'passing');
    }
    const isNear = (timestamp: UnixSeconds) =>
      asked.some((at) => Math.abs(timestamp - at) <= STALE_S);
    if (!prices.every(({ timestamp }) => isNear(timestamp))) {
      throw new ProviderFault('answered prices of another time than was asked for', 'passing');
    }
  }
}

/** The price nearest to a time, none of which may be a zero or outside of the window. */
function nearest(points: readonly z.output<typeof point>[], at: UnixSeconds): Price | null {
  const near = points
    .filter(({ timestamp, price }) => Math.abs(timestamp - at) <= WINDOW_S && price > 0)
    .sort((a, b) => Math.abs(a.timestamp - at) - Math.abs(b.timestamp - at));
  const [found] = near;
  const usd = found === undefined ? null : plainDecimal(String(found.price));
  if (found === undefined || usd === null) return null;
  return { usd, basis: basisOf(found) };
}

function basisOf({ timestamp, confidence }: z.output<typeof point>): string {
  const of = `DefiLlama-compatible price of ${formatIsoTime(timestamp)}`;
  if (confidence === null || confidence === undefined) return of;
  return confidence < CONFIDENCE_MIN ? `${of}, thin market (confidence ${confidence})` : of;
}

async function marketsOf(
  options: DefillamaOptions,
  batch: readonly Coin[],
  budget: CallBudget,
): Promise<readonly Market[]> {
  const ids = [...batch.map(coinId), CANARY_ID].join(',');
  const question = {
    path: `/prices/current/${ids}`,
    params: {},
    schema: current,
    check: (answer: z.output<typeof current>) => requireCurrent(answer, options.now()),
  };
  const { coins } = await askApi(options, question, budget);
  return batch.map((coin) => ({ coin, has_market: coins[coinId(coin)] !== undefined }));
}

/** Refuses current prices without the known coin, or with an old one of it. */
function requireCurrent({ coins }: z.output<typeof current>, now: UnixSeconds): void {
  const canary = coins[CANARY_ID];
  if (canary === undefined) throw new ProviderFault(NO_CANARY, 'passing');
  if (now - canary.timestamp <= STALE_S) return;
  const of = formatIsoTime(canary.timestamp);
  throw new ProviderFault(`answered a price of ${CANARY_ID} of ${of}: it is stale`, 'passing');
}

/** Its names of the chains, where they are not ours. */
const CHAIN_NAMES: Readonly<Partial<Record<ChainName, string>>> = { hyperevm: 'hyperliquid' };

const NULL_ADDRESS = `0x${'0'.repeat(40)}`;
const NATIVE: Readonly<Partial<Record<ChainName, string>>> = {
  solana: 'solana:So11111111111111111111111111111111111111112',
  bitcoin: 'coingecko:bitcoin',
};

/** The id, whose case is kept: an answer names coins as they were asked for. */
export function coinId({ chain, token }: Coin): string {
  const known = CHAIN_NAMES[chain];
  const name = known === undefined ? chain : known;
  if (token !== null) return `${name}:${token}`;
  const native = NATIVE[chain];
  return native === undefined ? `${name}:${NULL_ADDRESS}` : native;
}
