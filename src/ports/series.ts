// Market series: what venues tell of an asset or book of an account, and what chains show of an
// asset. Rows are only added: a correction is a further revision. A hole is a time that nobody
// read, never a time in which nothing happened.
//
// Times are integers, milliseconds since 1970 in UTC. Amounts, prices and rates are decimal text.

import { z } from 'zod';
import { multiplyDecimals, plainDecimal } from '../chain/amount.ts';
import type { Partly, Reading, Unread } from '../evidence/reading.ts';
import type { ImportOrigin } from '../evidence/source.ts';
import type { TableFilePort } from './tables.ts';

/** The name of the kept series in readings, and of the venues that are asked for them. */
export type SeriesPort = 'market_series';
export type MarketPort = 'market_source';

/** The venues that trade, each asked by its own interface. */
export const MARKET_VENUES = ['hyperliquid', 'binance', 'bybit'] as const;
export type MarketVenue = (typeof MARKET_VENUES)[number];

/** The venue that tells what an account does. */
export type AccountVenue = 'hyperliquid';

/** `chain` stands for the chains together: what the warehouse shows of an asset. */
export const SERIES_VENUES = [...MARKET_VENUES, 'chain'] as const;
export type SeriesVenue = (typeof SERIES_VENUES)[number];

export const SERIES_KINDS = [
  'candles',
  'funding',
  'fills',
  'account_funding',
  'open_interest',
  'liquidations',
  'marks',
  'listings',
  'net_flow',
  'whale_transfers',
] as const;
export type SeriesKind = (typeof SERIES_KINDS)[number];

/**
 * A series: `of` is the asset in the words of this service (`BTC`, `kPEPE`, `xyz:SP500`; an adapter
 * knows its instrument at the venue), or the account (`0x…` in lower case) of fills and account
 * funding. Candles are hourly.
 */
export type SeriesName<S extends SeriesKind = SeriesKind> = {
  readonly venue: SeriesVenue;
  readonly series: S;
  readonly of: string;
};

/** An asset as venues write it, letter case included: `BTC`, `kPEPE`, `xyz:SP500`, `@107`. */
export const ASSET_NAME = /^[A-Za-z0-9@#:/._-]{1,40}$/;

/** The length of a candle. */
export const CANDLE_MS = 3_600_000;

/** Decimal text with an optional sign, without an exponent. */
const decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
const ms = z.number().int();

/** A candle: `at` is its open time; it ends `CANDLE_MS` later. `volume` is in the asset. */
export const candle = z.strictObject({
  at: ms,
  open: decimal,
  high: decimal,
  low: decimal,
  close: decimal,
  volume: decimal,
});
export type Candle = z.output<typeof candle>;

/**
 * A settlement of funding: `at` as the venue stamps it, some seconds to minutes past the hour;
 * `rate` is the fraction of one interval, positive where long pays.
 */
export const fundingPoint = z.strictObject({
  at: ms,
  rate: decimal,
  interval_s: z.number().int().positive(),
});
export type FundingPoint = z.output<typeof fundingPoint>;

/** A fill as the venue tells it. `closed_pnl` is before fees; a negative `fee` is a rebate. */
export const fill = z.strictObject({
  at: ms,
  coin: z.string(),
  side: z.enum(['buy', 'sell']),
  px: decimal,
  sz: decimal,
  /** The position before it as the venue tells it: a hint, since it does not chain. */
  start_position: decimal,
  /** Display text of the venue, of no closed set. */
  dir: z.string(),
  closed_pnl: decimal,
  fee: decimal,
  fee_token: z.string().nullable(),
  oid: z.number().int(),
  /** Both sides of a self-trade carry one. `null` in fills of 2023. */
  tid: z.number().int().nullable(),
  crossed: z.boolean(),
  /** All zeros in system trades: never a key. */
  hash: z.string(),
  /** `liquidated` is the victim: the account itself, or the other side. */
  liquidation: z
    .strictObject({ liquidated: z.string().nullable(), mark_px: decimal, method: z.string() })
    .nullable(),
});
export type Fill = z.output<typeof fill>;

/** Funding that an account received (`usdc` above zero) or paid, as the venue booked it. */
export const accountFunding = z.strictObject({
  at: ms,
  coin: z.string(),
  usdc: decimal,
  szi: decimal,
  rate: decimal,
  /** `szi` is a mean over so many samples; `null` where the venue does not say. */
  samples: z.number().int().nullable(),
  hash: z.string(),
});
export type AccountFunding = z.output<typeof accountFunding>;

/**
 * What stands open in an instrument at an instant, in the asset. `sides` is `one` where the venue
 * counts each contract once, `untold` where it does not say, so that venues are compared knowingly.
 */
export const openInterest = z.strictObject({
  at: ms,
  contracts: decimal,
  sides: z.enum(['one', 'untold']),
  /** The time up to the next sample of the venue. */
  interval_s: z.number().int().positive(),
});
export type OpenInterest = z.output<typeof openInterest>;

/**
 * A position that a venue closed by force. `side` is that of the position: a liquidated `long` was
 * sold. `price` is what the closing order was filled at (`fill`), or the price at which the
 * position was bankrupt (`bankruptcy`), by which `notional` = size × price is an estimate.
 */
export const liquidation = z.strictObject({
  at: ms,
  side: z.enum(['long', 'short']),
  /** In the asset. */
  size: decimal,
  price: decimal,
  price_is: z.enum(['fill', 'bankruptcy']),
  /** US dollars. */
  notional: decimal,
  /** From 0: tells liquidations apart that say the same of one moment. */
  nth: z.number().int().nonnegative(),
});
export type Liquidation = z.output<typeof liquidation>;

/** Venues that tell one liquidation of a second at most: a sum of theirs is a lower bound. */
export const SAMPLED_LIQUIDATIONS: readonly MarketVenue[] = ['binance'];

/**
 * The mark price of an instrument that trades. One that is frozen or was taken off the venue has no
 * row: its price is unmeasured.
 */
export const markPrice = z.strictObject({ at: ms, price: decimal });
export type MarkPrice = z.output<typeof markPrice>;

/**
 * What an instrument was at its venue from `at` on, up to the next row, as far as coverage reaches:
 * trading, frozen (listed, with a price that does not move and funding of zero), taken off
 * (`delisted`), or not on the venue's list (`absent`).
 */
export const listing = z.strictObject({
  at: ms,
  state: z.enum(['trading', 'frozen', 'delisted', 'absent']),
  /** The last price that the venue told; `null`: it never told one. */
  price: decimal.nullable(),
});
export type Listing = z.output<typeof listing>;

/**
 * Transfers of an asset between labelled exchange addresses and others in the hour from `at` on, of
 * the chains that `of` is read on. Transfers between exchange addresses are in neither sum.
 */
export const netFlow = z.strictObject({
  at: ms,
  interval_s: z.number().int().positive(),
  /** Into exchanges and out of them, in the asset and in US dollars at the price of that hour. */
  in_amount: decimal,
  out_amount: decimal,
  in_usd: decimal,
  out_usd: decimal,
  /** Transfers in both sums. */
  transfers: z.number().int().nonnegative(),
});
export type NetFlow = z.output<typeof netFlow>;

/** A transfer of an asset over a bound in US dollars. A label is that of an exchange, or `null`. */
export const whaleTransfer = z.strictObject({
  at: ms,
  chain: z.string(),
  /** The transaction, and which of its transfers this is. */
  tx: z.string(),
  index: z.number().int().nonnegative(),
  from: z.string(),
  to: z.string(),
  amount: decimal,
  usd: decimal,
  from_label: z.string().nullable(),
  to_label: z.string().nullable(),
});
export type WhaleTransfer = z.output<typeof whaleTransfer>;

/** The rows of each kind of series. */
export const SERIES_ROWS = {
  candles: candle,
  funding: fundingPoint,
  fills: fill,
  account_funding: accountFunding,
  open_interest: openInterest,
  liquidations: liquidation,
  marks: markPrice,
  listings: listing,
  net_flow: netFlow,
  whale_transfers: whaleTransfer,
} as const;

type RowOf = {
  readonly candles: Candle;
  readonly funding: FundingPoint;
  readonly fills: Fill;
  readonly account_funding: AccountFunding;
  readonly open_interest: OpenInterest;
  readonly liquidations: Liquidation;
  readonly marks: MarkPrice;
  readonly listings: Listing;
  readonly net_flow: NetFlow;
  readonly whale_transfers: WhaleTransfer;
};
export type SeriesRow<S extends SeriesKind> = RowOf[S];

/** A row as it is kept: when it was received, and which word of its identity it is, from 0. */
export type Kept<R> = R & { readonly received_at: number; readonly revision: number };

/** From `from` on, up to `to` without it. */
export type SeriesSpan = { readonly from: number; readonly to: number };

/**
 * A time that no coverage holds. `gone`: the venue was asked and does not give it any more (only
 * the newest 10,000 fills and 5,000 candles exist there), so that asking again is of no use.
 */
export type SeriesHole = SeriesSpan & { readonly gone: boolean };

/** The rows of one series from `from` up to `to`, in the order of time, and what is missing. */
export type SeriesRows<S extends SeriesKind> = SeriesSpan & {
  readonly rows: readonly Kept<SeriesRow<S>>[];
  readonly holes: readonly SeriesHole[];
};

/** What was observed, and of which time it is all that there is. */
export type SeriesObserved = {
  readonly covered: readonly SeriesSpan[];
  /** What the venue does not give any more. */
  readonly gone?: readonly SeriesSpan[];
  readonly received_at: number;
  /** Whence: a scheme and a host, or the name of a file. */
  readonly source: string;
  readonly origin: ImportOrigin;
};

/** How many rows were new, how many said something else of a known identity, how many the same. */
export type SeriesAdded = {
  readonly added: number;
  readonly revised: number;
  readonly unchanged: number;
};

/** A series that is kept, and how much of it. Rows count identities, not their revisions. */
export type SeriesHeld = {
  readonly name: SeriesName;
  readonly rows: number;
  readonly revisions: number;
  readonly covered: readonly SeriesSpan[];
  readonly gone: readonly SeriesSpan[];
  /** Simulated where any of its coverage is. */
  readonly origin: ImportOrigin;
  /** Of its last coverage. */
  readonly received_at: number;
};

/**
 * The kept series. `read` is a `Read` only where coverage holds every instant of the span; with
 * holes, or of simulated rows, it is a part, and where no coverage touches the span it is unread.
 */
export type SeriesStore = {
  /** The newest revisions; with `asOf` the newest of those that were received until then. */
  readonly read: <S extends SeriesKind>(
    name: SeriesName<S>,
    span: SeriesSpan,
    options: { readonly asOf?: number; readonly signal: AbortSignal },
  ) => Promise<Partly<SeriesRows<S>, SeriesPort>>;
  /**
   * Keeps rows, then what they cover. The same rows again change nothing; one identity stands in
   * the rows once.
   */
  readonly add: <S extends SeriesKind>(
    name: SeriesName<S>,
    rows: readonly SeriesRow<S>[],
    observed: SeriesObserved,
  ) => Promise<Reading<SeriesAdded, SeriesPort>>;
  /** Every series that is kept, by venue, kind and name. */
  readonly held: (signal: AbortSignal) => Promise<Reading<readonly SeriesHeld[], SeriesPort>>;
};

/** What a venue told of a span: the rows, and of which part of the span they are all. */
export type MarketRows<R> = {
  readonly rows: readonly R[];
  readonly covered: readonly SeriesSpan[];
  readonly gone: readonly SeriesSpan[];
};

/** The rows of an account's fills. `horizon_reached`: the venue keeps no older ones. */
export type MarketFills = MarketRows<Fill> & { readonly horizon_reached: boolean };

/** What an address is at a venue. An agent signs for `of`; a sub-account belongs to it. */
export type AccountRole =
  | { readonly role: 'missing' | 'user' | 'vault' }
  | { readonly role: 'agent' | 'sub_account'; readonly of: string };

/** What a venue tells of one instrument now. */
export type InstrumentState = {
  readonly of: string;
  /** In the venue's own words: that a price does not move is for whoever has seen it before. */
  readonly state: Listing['state'];
  /** Its mark price; `null`: none is told. */
  readonly price: string | null;
  /** The rate at which its next funding stands; `null`: none is told. */
  readonly funding_rate: string | null;
  /** `null`: not told here. */
  readonly open_interest: Pick<OpenInterest, 'contracts' | 'sides'> | null;
};

/** The instruments that were asked for, one row each, at a time of the venue or of the asker. */
export type MarketBoard = { readonly at: number; readonly rows: readonly InstrumentState[] };

/**
 * A venue. A reading is a part where the span was not read to its end (cut, or out of reach); what
 * was refused or answered in another form is unread.
 */
export type MarketSource = {
  readonly candles: MarketQuestion<MarketRows<Candle>>;
  readonly funding: MarketQuestion<MarketRows<FundingPoint>>;
  /** `null`: the venue tells open interest of now alone, on its board. */
  readonly openInterest: MarketQuestion<MarketRows<OpenInterest>> | null;
  readonly board: (
    assets: readonly string[],
    signal: AbortSignal,
  ) => Promise<Reading<MarketBoard, MarketPort>>;
};

/** What a venue tells of accounts. One without any fill is read, and has no rows. */
export type AccountSource = {
  readonly fills: MarketQuestion<MarketFills>;
  readonly accountFunding: MarketQuestion<MarketRows<AccountFunding>>;
  readonly role: (
    account: string,
    signal: AbortSignal,
  ) => Promise<Reading<AccountRole, MarketPort>>;
};

/**
 * Liquidations as they happened: of which assets, and of which times they are all that the venue
 * told. A venue that tells a sample tells no more than that of a covered time.
 */
export type HeardLiquidations = {
  readonly rows: readonly { readonly of: string; readonly row: Liquidation }[];
  readonly covered: readonly SeriesSpan[];
};

/**
 * A venue that tells of everybody's liquidations as they happen, and of none afterwards. Readings
 * are handed over one after the other until the signal; while nothing is heard they are unread.
 */
export type LiquidationFeed = {
  readonly listen: (
    assets: readonly string[],
    onReading: (told: Reading<HeardLiquidations, MarketPort>) => Promise<void>,
    signal: AbortSignal,
  ) => Promise<void>;
};

/** The venues, each as far as it tells. */
export type MarketSources = {
  readonly [V in MarketVenue]: V extends AccountVenue ? MarketSource & AccountSource : MarketSource;
};
type MarketQuestion<T> = (
  of: string,
  span: SeriesSpan,
  signal: AbortSignal,
) => Promise<Partly<T, MarketPort>>;

/** A span after its venue was asked; `fault` is why the venue gave nothing of what was missing. */
export type GatheredSeries<S extends SeriesKind> = {
  readonly reading: Partly<SeriesRows<S>, SeriesPort>;
  readonly fault: Unread<MarketPort> | null;
};

/**
 * Series as they are kept, completed from the venue: the holes of the span are asked for, kept, and
 * the span is read again. What the venue did not give stays a hole.
 */
export type SeriesGathering = {
  readonly gather: <S extends SeriesKind>(
    name: SeriesName<S>,
    span: SeriesSpan,
    signal: AbortSignal,
    /** `all`: what is held is asked for again too, since venues change their word. */
    reach?: 'holes' | 'all',
  ) => Promise<GatheredSeries<S>>;
  /** What an address is at a venue that tells of accounts; an answer holds for hours. */
  readonly roleOf: (
    venue: AccountVenue,
    account: string,
    signal: AbortSignal,
  ) => Promise<Reading<AccountRole, MarketPort>>;
};

/** A file of a series: the cells of the columns that were wanted, by their names in lower case. */
export type SeriesFile = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** Files of this machine; a cell that is not there is an empty text. */
export type SeriesFiles = {
  readonly read: (
    path: string,
    wanted: readonly string[],
    signal: AbortSignal,
  ) => Promise<Reading<SeriesFile, TableFilePort>>;
};

/** The identity of a row in its series: two rows with one are two words about the same thing. */
export function identityOf<S extends SeriesKind>(series: S, row: SeriesRow<S>): string {
  return IDENTITIES[series](row);
}

const IDENTITIES: { readonly [S in SeriesKind]: (row: SeriesRow<S>) => string } = {
  candles: ({ at }) => String(at),
  funding: ({ at }) => String(at),
  // Both sides of a self-trade carry one tid; without it the fill's own figures tell it apart.
  fills: ({ at, coin, side, oid, px, sz, start_position, tid }) =>
    [at, coin, side, ...(tid === null ? [oid, px, sz, start_position] : [tid])].join(' '),
  account_funding: ({ at, coin }) => `${at} ${coin}`,
  open_interest: ({ at }) => String(at),
  liquidations: ({ at, side, size, price, nth }) => [at, side, size, price, nth].join(' '),
  marks: ({ at }) => String(at),
  listings: ({ at }) => String(at),
  net_flow: ({ at }) => String(at),
  whale_transfers: ({ chain, tx, index }) => [chain, tx, index].join(' '),
};

const EIGHT_HOURS_S = 28_800;

/**
 * A rate of funding for eight hours, exactly where its interval divides them, so that venues and
 * times with other intervals are compared in one unit.
 */
export function fundingPer8h({ rate, interval_s }: Omit<FundingPoint, 'at'>): string {
  const factor = plainDecimal(String(EIGHT_HOURS_S / interval_s));
  if (factor === null) throw new RangeError('an interval is a positive number of seconds');
  return multiplyDecimals(rate, factor);
}
