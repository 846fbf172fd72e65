// Simulated markets of which it is known what foretells what: extreme funding is followed by a move
// against who pays it, with a strength that is given; large transfers, flows and liquidations
// foretell nothing. One venue corrects some of its candles, one falls silent for a while, and one
// asset is taken off. The same plan makes the same rows, whatever is asked of them first.

import { createHash } from 'node:crypto';
import { multiplyDecimals } from '../chain/amount.ts';
import { sharesFrom } from '../evidence/random.ts';
import {
  type Candle,
  type FundingPoint,
  identityOf,
  type Kept,
  type Liquidation,
  type Listing,
  MARKET_VENUES,
  type MarketVenue,
  type NetFlow,
  type SeriesKind,
  type SeriesName,
  type SeriesRow,
  type SeriesSpan,
  type WhaleTransfer,
} from '../ports/series.ts';
import { HOUR_MS, normalsFrom } from './trading.ts';

/** What is simulated. Times are milliseconds; `from` is the beginning of an hour. */
export type MarketPlan = {
  readonly seed: number | string;
  readonly assets: readonly string[];
  readonly from: number;
  readonly hours: number;
  /**
   * How far an hour moves against funding: so many usual hourly moves for each deviation of it.
   * Zero: funding foretells nothing.
   */
  readonly reversion: number;
  /**
   * The price of an asset at an hour, where another simulation has made it: funding then leans
   * against the move of the day that follows, by `reversion` of its deviation.
   */
  readonly priceOf?: (asset: string, at: number) => number;
  /** A venue that says something else of one of so many candles, three hours later. */
  readonly revises: { readonly venue: MarketVenue; readonly oneOf: number } | null;
  /** An asset that every venue takes off at the beginning of an hour. */
  readonly delists: { readonly asset: string; readonly at: number } | null;
  /**
   * A venue of which nothing arrives for a time. Candles and settlements of it are told afterwards,
   * what is only told as it happens never.
   */
  readonly silent: ({ readonly venue: MarketVenue } & SeriesSpan) | null;
};

/** Rows that arrive together, and of which times they are all that there is. */
export type MarketBatch<S extends SeriesKind> = {
  readonly received_at: number;
  readonly rows: readonly SeriesRow<S>[];
  readonly covered: readonly SeriesSpan[];
};

/** Markets that were made by a plan. */
export type SimulatedMarkets = {
  readonly plan: MarketPlan;
  /** The series that the plan has rows of. */
  readonly names: readonly SeriesName[];
  /** What arrives of a series about the hours of a span, in the order of arrival. */
  readonly batches: <S extends SeriesKind>(
    name: SeriesName<S>,
    span: SeriesSpan,
  ) => readonly MarketBatch<S>[];
  /** Every word about the times of a span, in the order of arrival, with its revision. */
  readonly rows: <S extends SeriesKind>(
    name: SeriesName<S>,
    span: SeriesSpan,
  ) => readonly Kept<SeriesRow<S>>[];
  /** The price of an asset at the beginning of an hour, before any venue. */
  readonly priceAt: (asset: string, at: number) => number;
};

const YEAR_HOURS = 8_760;
/** The planted strength: of the days after an extreme about four of five go against it. */
const REVERSION = 0.08;

/** A year of markets up to an hour, with one of each thing that may go wrong. */
export function planYear(seed: MarketPlan['seed'], until: number): MarketPlan {
  const from = Math.floor(until / HOUR_MS) * HOUR_MS - YEAR_HOURS * HOUR_MS;
  const silentFrom = from + 3_000 * HOUR_MS;
  return {
    seed,
    assets: ['BTC', 'ETH', 'SOL', 'MADE'],
    from,
    hours: YEAR_HOURS,
    reversion: REVERSION,
    revises: { venue: 'bybit', oneOf: 50 },
    delists: { asset: 'MADE', at: from + 6_000 * HOUR_MS },
    silent: { venue: 'binance', from: silentFrom, to: silentFrom + 36 * HOUR_MS },
  };
}

const HOURLY_MOVE = 0.006;
const PRICES: Readonly<Record<string, number>> = { BTC: 60_000, ETH: 3_000, SOL: 150 };
const OTHER_PRICE = 2;
/** Funding of an hour: its usual rate, what one deviation adds, how much stays, and its shocks. */
const FUNDING = { usual: 0.000006, deviation: 0.000024, stays: 0.97, shocks: 0.004, shock: 3 };
/** US dollars that stand open, that flow in an hour, and that a large transfer moves at least. */
const OPEN_USD = 500_000_000;
const FLOW_USD = 20_000_000;
const WHALE_USD = 10_000_000;
const WHALES_AN_HOUR = 0.05;
/** A move from which on positions are liquidated. */
const LIQUIDATED_FROM = 0.012;
const REVISED_AFTER_MS = 3 * HOUR_MS;
const EIGHT_HOURS = 8;

/** How long after its time each kind of row is received. */
const LATE_MS: { readonly [S in SeriesKind]: number } = {
  candles: HOUR_MS + 60_000,
  funding: 60_000,
  open_interest: 30_000,
  marks: 1_000,
  listings: 1_000,
  liquidations: 1_000,
  net_flow: HOUR_MS + 600_000,
  whale_transfers: HOUR_MS + 600_000,
  fills: 0,
  account_funding: 0,
};

const OF_VENUES = ['candles', 'funding', 'open_interest', 'marks', 'listings'] as const;
const OF_CHAINS = ['net_flow', 'whale_transfers'] as const;
/** No venue but these tells of everybody's liquidations. */
const LIQUIDATION_VENUES = ['binance', 'bybit'] as const;
/** What a venue that was silent tells of the past when it is asked again. */
const TOLD_LATER: readonly SeriesKind[] = ['candles', 'funding'];

/** One asset by hours: its price at the beginning of each, and the deviation of its funding. */
type Path = { readonly opens: Float64Array; readonly deviations: Float64Array };

/** Makes the markets of a plan. */
export function simulateMarkets(plan: MarketPlan): SimulatedMarkets {
  const paths = new Map(plan.assets.map((asset) => [asset, pathOf(plan, asset)]));
  const names = namesOf(plan);
  const known = new Set(names.map(keyOf));
  const batches = <S extends SeriesKind>(
    name: SeriesName<S>,
    { from, to }: SeriesSpan,
  ): readonly MarketBatch<S>[] => {
    const path = paths.get(name.of);
    const told: MarketBatch<S>[] = [];
    if (path === undefined || !known.has(keyOf(name))) return told;
    const first = Math.max(0, Math.floor((from - plan.from) / HOUR_MS));
    const end = Math.min(plan.hours, Math.ceil((to - plan.from) / HOUR_MS));
    for (let n = first; n < end; n += 1) {
      told.push(...hourBatches({ plan, path, name, n, at: plan.from + n * HOUR_MS }));
    }
    return told.sort((a, b) => a.received_at - b.received_at);
  };
  return {
    plan,
    names,
    batches,
    rows: (name, span) => reviseRows(name, span, batches(name, span)),
    priceAt: (asset, at) => {
      const path = paths.get(asset);
      if (path === undefined) throw new RangeError(`no simulated asset ${asset}`);
      return Number(path.opens[Math.floor((at - plan.from) / HOUR_MS)]);
    },
  };
}

function keyOf({ venue, series, of }: SeriesName): string {
  return `${venue} ${series} ${of}`;
}

function namesOf({ assets }: MarketPlan): readonly SeriesName[] {
  return assets.flatMap((of): readonly SeriesName[] => [
    ...MARKET_VENUES.flatMap((venue) => OF_VENUES.map((series) => ({ venue, series, of }))),
    ...LIQUIDATION_VENUES.map((venue) => ({ venue, series: 'liquidations' as const, of })),
    ...OF_CHAINS.map((series) => ({ venue: 'chain' as const, series, of })),
  ]);
}

function seedOf(...parts: readonly (string | number)[]): number {
  return createHash('sha256').update(parts.join('\n')).digest().readUInt32BE(0);
}

function pathOf(plan: MarketPlan, asset: string): Path {
  const { seed, hours, reversion, priceOf: priced } = plan;
  if (priced !== undefined) return pathAlong(plan, asset, (at) => priced(asset, at));
  const moves = normalsFrom(seedOf(seed, asset, 'moves'));
  const normal = normalsFrom(seedOf(seed, asset, 'funding'));
  const draw = sharesFrom(seedOf(seed, asset, 'shocks'));
  const opens = new Float64Array(hours + 1);
  const deviations = new Float64Array(hours + 1);
  const { stays, shocks, shock } = FUNDING;
  const price = PRICES[asset];
  opens[0] = price === undefined ? OTHER_PRICE : price;
  deviations[0] = normal();
  for (let hour = 0; hour < hours; hour += 1) {
    const deviation = Number(deviations[hour]);
    const move = HOURLY_MOVE * (moves() - reversion * deviation);
    opens[hour + 1] = Number(opens[hour]) * Math.exp(move);
    const isShocked = draw() < shocks;
    const sign = draw() < HALF ? -1 : 1;
    const next = deviation * stays + Math.sqrt(1 - stays ** 2) * normal();
    deviations[hour + 1] = isShocked ? sign * shock : next;
  }
  return { opens, deviations };
}

const HALF = 0.5;
const DAY_HOURS = 24;

/** Funding beside prices that are given: each hour is the same in whichever plan it lies. */
function pathAlong(
  { seed, from, hours, reversion }: MarketPlan,
  asset: string,
  priced: (at: number) => number,
): Path {
  const usualDay = HOURLY_MOVE * Math.sqrt(DAY_HOURS);
  const at = (hour: number) => from + hour * HOUR_MS;
  const noise = Float64Array.from({ length: hours + 1 + DAY_HOURS }, (_, n) =>
    normalsFrom(seedOf(seed, asset, 'funding', at(n - DAY_HOURS)))(),
  );
  const deviations = Float64Array.from({ length: hours + 1 }, (_, hour) => {
    const lasting = noise.subarray(hour, hour + DAY_HOURS).reduce((sum, one) => sum + one, 0);
    const ahead = Math.log(priced(at(hour + DAY_HOURS)) / priced(at(hour))) / usualDay;
    return (Math.sqrt(1 - reversion ** 2) * lasting) / Math.sqrt(DAY_HOURS) - reversion * ahead;
  });
  return {
    opens: Float64Array.from({ length: hours + 1 }, (_, hour) => priced(at(hour))),
    deviations,
  };
}

/** One hour of a series. */
type Hour<S extends SeriesKind = SeriesKind> = {
  readonly plan: MarketPlan;
  readonly path: Path;
  readonly name: SeriesName<S>;
  readonly n: number;
  readonly at: number;
};

/** What a venue says of an hour, and what it says of the same some hours later. */
type Words<S extends SeriesKind> = {
  readonly first: readonly SeriesRow<S>[];
  readonly later: readonly SeriesRow<S>[];
};

function hourBatches<S extends SeriesKind>(hour: Hour<S>): readonly MarketBatch<S>[] {
  const { plan, name, at } = hour;
  if (isOff(hour) && name.venue !== 'chain' && name.series !== 'listings') return [];
  const arrives = at + LATE_MS[name.series];
  const { silent } = plan;
  const isSilent =
    silent !== null && silent.venue === name.venue && arrives >= silent.from && arrives < silent.to;
  if (isSilent && !TOLD_LATER.includes(name.series)) return [];
  const received_at = isSilent ? silent.to + LATE_MS[name.series] : arrives;
  const { first, later } = WORDS[name.series](hour);
  const told = { received_at, rows: first, covered: spansOf(hour) };
  if (later.length === 0) return [told];
  return [told, { received_at: received_at + REVISED_AFTER_MS, rows: later, covered: [] }];
}

function isOff({ plan: { delists }, name, at }: Hour): boolean {
  return delists !== null && delists.asset === name.of && at >= delists.at;
}

/** The time for which the rows of an hour are all: that up to the next ones. */
function spansOf({ plan, name, at }: Hour): readonly SeriesSpan[] {
  if (name.series !== 'funding') return [{ from: at, to: at + HOUR_MS }];
  const interval = intervalOf(name.venue) * HOUR_MS;
  if (at % interval === 0) return [{ from: at, to: at + interval }];
  return at === plan.from ? [{ from: at, to: Math.ceil(at / interval) * interval }] : [];
}

/** The hours from one settlement of funding to the next. */
function intervalOf(venue: SeriesName['venue']): number {
  return venue === 'hyperliquid' ? 1 : EIGHT_HOURS;
}

const WORDS: { readonly [S in SeriesKind]: (hour: Hour) => Words<S> } = {
  candles: (hour) => {
    const { plan, name, at } = hour;
    const first = [candleOf(hour)];
    const { revises } = plan;
    if (revises === null || revises.venue !== name.venue) return { first, later: [] };
    const isRevised = seedOf(plan.seed, keyOf(name), at, 'revised') % revises.oneOf === 0;
    return { first, later: isRevised ? first.map(correctCandle) : [] };
  },
  funding: (hour) => ({ first: settlementsAt(hour), later: [] }),
  open_interest: (hour) => {
    const { path, n, at } = hour;
    const usd = OPEN_USD * Math.exp(0.1 * Number(path.deviations[n]));
    const contracts = amountText(usd / priceOf(hour, n));
    const sides = hour.name.venue === 'hyperliquid' ? 'untold' : 'one';
    return { first: [{ at, contracts, sides, interval_s: HOUR_S }], later: [] };
  },
  marks: (hour) => ({ first: [{ at: hour.at, price: priceText(hour, hour.n) }], later: [] }),
  listings: (hour) => ({ first: listingsAt(hour), later: [] }),
  liquidations: (hour) => ({ first: liquidationsIn(hour), later: [] }),
  net_flow: (hour) => ({ first: [flowIn(hour)], later: [] }),
  whale_transfers: (hour) => ({ first: whalesIn(hour), later: [] }),
  fills: () => ({ first: [], later: [] }),
  account_funding: () => ({ first: [], later: [] }),
};

const HOUR_S = 3_600;
const MOVE_DECIMALS = 10;

/** A number as decimal text without an exponent and without zeros at its end. */
function amountText(value: number): string {
  return value.toFixed(MOVE_DECIMALS).replace(/\.?0+$/, '');
}

/** The price of a venue at the beginning of an hour: close to those of the others. */
function priceOf({ plan: { seed, from }, path, name }: Hour, n: number): number {
  if (name.venue === 'chain') return Number(path.opens[n]);
  const basis = normalsFrom(seedOf(seed, name.venue, name.of, from + n * HOUR_MS))() * BASIS;
  return Number(path.opens[n]) * (1 + basis);
}

const BASIS = 0.0001;
const PRICE_DIGITS = 7;
/** How far a candle reaches beyond its ends. */
const WICK = 0.0012;

function priceText(hour: Hour, n: number): string {
  return amountText(Number(priceOf(hour, n).toPrecision(PRICE_DIGITS)));
}

function candleOf(hour: Hour): Candle {
  const { plan, name, n, at } = hour;
  const draw = sharesFrom(seedOf(plan.seed, keyOf(name), at));
  const [open, close] = [priceText(hour, n), priceText(hour, n + 1)];
  const prices = [Number(open), Number(close)];
  const beyond = 1 + WICK * draw();
  return {
    at,
    open,
    high: amountText(Math.max(...prices) * beyond),
    low: amountText(Math.min(...prices) / beyond),
    close,
    volume: amountText(100 + 900 * draw()),
  };
}

/** Another word about a candle: both of its ends a thousandth higher. */
function correctCandle({ at, open, high, low, close, volume }: Candle): Candle {
  const lift = (price: string) => amountText(Number(price) * LIFT);
  return { at, open: lift(open), high: lift(high), low: lift(low), close: lift(close), volume };
}

const LIFT = 1.001;

/** The rate of an hour of funding, which is known when it is settled. */
function hourlyRate({ deviations }: Path, n: number): number {
  return FUNDING.usual + FUNDING.deviation * Number(deviations[n]);
}

function settlementsAt({ path, name, n, at }: Hour): readonly FundingPoint[] {
  const hours = intervalOf(name.venue);
  if (at % (hours * HOUR_MS) !== 0) return [];
  const held = Array.from({ length: Math.min(hours, n + 1) }, (_, back) => n - back);
  const mean = held.reduce((sum, of) => sum + hourlyRate(path, of), 0) / held.length;
  return [{ at, rate: amountText(mean * hours), interval_s: hours * HOUR_S }];
}

/** A row where the state begins: with the plan, and where the asset is taken off. */
function listingsAt(hour: Hour): readonly Listing[] {
  const { plan, n, at } = hour;
  const price = priceText(hour, n);
  if (plan.delists !== null && isOff(hour)) {
    return at === plan.delists.at ? [{ at, state: 'delisted', price }] : [];
  }
  return at === plan.from ? [{ at, state: 'trading', price }] : [];
}

function liquidationsIn(hour: Hour): readonly Liquidation[] {
  const { plan, path, name, n, at } = hour;
  const draw = sharesFrom(seedOf(plan.seed, keyOf(name), at));
  const move = Number(path.opens[n + 1]) / Number(path.opens[n]) - 1;
  const beyond = Math.max(0, Math.abs(move) / LIQUIDATED_FROM - 1);
  const count = Math.min(LIQUIDATIONS_MAX, Math.floor(draw() * 2 + 20 * beyond));
  const times = Array.from({ length: count }, () => Math.floor(draw() * HOUR_MS)).sort(
    (a, b) => a - b,
  );
  return times.map((into, nth) => {
    const price = amountText(
      Number((priceOf(hour, n) * (1 + (move * into) / HOUR_MS)).toPrecision(PRICE_DIGITS)),
    );
    const size = amountText(Number((LIQUIDATED_USD / (1 - draw()) / Number(price)).toFixed(4)));
    return {
      at: at + into,
      side: move < 0 ? 'long' : 'short',
      size,
      price,
      price_is: name.venue === 'binance' ? 'fill' : 'bankruptcy',
      notional: multiplyDecimals(size, price),
      nth: times.slice(0, nth).filter((one) => one === into).length,
    };
  });
}

const LIQUIDATIONS_MAX = 60;
const LIQUIDATED_USD = 20_000;

function flowIn(hour: Hour): NetFlow {
  const { plan, name, n, at } = hour;
  const normal = normalsFrom(seedOf(plan.seed, keyOf(name), at));
  const price = amountText(Number(priceOf(hour, n).toPrecision(PRICE_DIGITS)));
  const [in_amount, out_amount] = [normal(), normal()].map((of) =>
    ((FLOW_USD * Math.exp(of)) / Number(price)).toFixed(2),
  ) as [string, string];
  return {
    at,
    interval_s: HOUR_S,
    in_amount,
    out_amount,
    in_usd: multiplyDecimals(in_amount, price),
    out_usd: multiplyDecimals(out_amount, price),
    transfers: 100,
  };
}

const EXCHANGES = ['Example Exchange', 'Other Exchange', null, null] as const;

function whalesIn(hour: Hour): readonly WhaleTransfer[] {
  const { plan, name, n, at } = hour;
  const draw = sharesFrom(seedOf(plan.seed, keyOf(name), at));
  if (draw() >= WHALES_AN_HOUR) return [];
  const price = amountText(Number(priceOf(hour, n).toPrecision(PRICE_DIGITS)));
  const amount = (WHALE_USD / (1 - draw() * HALF) / Number(price)).toFixed(2);
  const party = (of: string) => {
    const label = EXCHANGES[Math.floor(draw() * EXCHANGES.length)];
    const address = hexOf(ADDRESS_HEX, keyOf(name), at, of);
    return { label: label === undefined ? null : label, address };
  };
  const [from, to] = [party('from'), party('to')];
  return [
    {
      at: at + Math.floor(draw() * HOUR_MS),
      chain: 'ethereum',
      tx: hexOf(TX_HEX, keyOf(name), at),
      index: 0,
      from: from.address,
      to: to.address,
      amount,
      usd: multiplyDecimals(amount, price),
      from_label: from.label,
      to_label: to.label,
    },
  ];
}

const ADDRESS_HEX = 40;
const TX_HEX = 64;

function hexOf(chars: number, ...parts: readonly (string | number)[]): string {
  return `0x${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, chars)}`;
}

/** Rows of a span in the order of arrival, each with the number of its word. */
function reviseRows<S extends SeriesKind>(
  { series }: SeriesName<S>,
  { from, to }: SeriesSpan,
  batches: readonly MarketBatch<S>[],
): readonly Kept<SeriesRow<S>>[] {
  const words = new Map<string, number>();
  return batches.flatMap(({ received_at, rows }) =>
    rows
      .filter(({ at }) => at >= from && at < to)
      .map((row) => {
        const identity = identityOf(series, row);
        const known = words.get(identity);
        const revision = known === undefined ? 0 : known + 1;
        words.set(identity, revision);
        return { ...row, received_at, revision };
      }),
  );
}
