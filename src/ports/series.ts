// Market series: candles and funding of an asset, fills and funding of an account. Rows are only
// added: a correction is a further revision. A hole is a time that nobody read, never a time in
// which nothing happened.
//
// Times are integers, milliseconds since 1970 in UTC. Amounts, prices and rates are decimal text.

import { z } from 'zod';
import type { Partly, Reading, Unread } from '../evidence/reading.ts';
import type { ImportOrigin } from '../evidence/source.ts';
import type { TableFilePort } from './tables.ts';

/** The name of the kept series in readings, and of the venues that are asked for them. */
export type SeriesPort = 'market_series';
export type MarketPort = 'market_source';

export const SERIES_VENUES = ['hyperliquid'] as const;
export type SeriesVenue = (typeof SERIES_VENUES)[number];

export const SERIES_KINDS = ['candles', 'funding', 'fills', 'account_funding'] as const;
export type SeriesKind = (typeof SERIES_KINDS)[number];

/**
 * A series: `of` is the asset as the venue writes it (`BTC`, `kPEPE`, `xyz:SP500`), or the account
 * (`0x…` in lower case) of fills and account funding. Candles are hourly.
 */
export type SeriesName<S extends SeriesKind = SeriesKind> = {
  readonly venue: SeriesVenue;
  readonly series: S;
  readonly of: string;
};

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

/** The rows of each kind of series. */
export const SERIES_ROWS = {
  candles: candle,
  funding: fundingPoint,
  fills: fill,
  account_funding: accountFunding,
} as const;

type RowOf = {
  readonly candles: Candle;
  readonly funding: FundingPoint;
  readonly fills: Fill;
  readonly account_funding: AccountFunding;
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

/**
 * A venue. A reading is a part where the span was not read to its end (cut, or out of reach); what
 * was refused or answered in another form is unread. An account without any fill is read, and has
 * no rows.
 */
export type MarketSource = {
  readonly candles: MarketQuestion<MarketRows<Candle>>;
  readonly funding: MarketQuestion<MarketRows<FundingPoint>>;
  readonly fills: MarketQuestion<MarketFills>;
  readonly accountFunding: MarketQuestion<MarketRows<AccountFunding>>;
  readonly role: (
    account: string,
    signal: AbortSignal,
  ) => Promise<Reading<AccountRole, MarketPort>>;
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
  ) => Promise<GatheredSeries<S>>;
  /** What an address is at a venue; an answer holds for hours. */
  readonly roleOf: (
    venue: SeriesVenue,
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
};
