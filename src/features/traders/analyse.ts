// Analyses one account: what it is, its fills up to the horizon, the candles of its tokens, its
// funding, and then where in time its profit lies. Whatever the venue does not tell ends the
// attempt; what it keeps no longer is counted.

import { createHash } from 'node:crypto';
import { addDecimals, multiplyDecimals } from '../../chain/amount.ts';
import { MS_PER_S } from '../../chain/time.ts';
import { map, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type {
  AccountFunding,
  AccountRole,
  Candle,
  Fill,
  GatheredSeries,
  Kept,
  SeriesGathering,
  SeriesHole,
  SeriesKind,
  SeriesName,
  SeriesRow,
  SeriesRows,
  SeriesSpan,
} from '../../ports/series.ts';
import { CANDLE_MS } from '../../ports/series.ts';
import type { TraderOutcome } from '../../ports/traders.ts';
import { classify, isLongEnough, type RecordLength } from './classification.ts';
import { concentrate } from './concentration.ts';
import { type ExposedHour, exposedHours, hourOf } from './exposure.ts';
import { GENERATOR, PERMUTATIONS } from './null-model.ts';
import type { TraderAnalysis, Unanalysable } from './shapes.ts';
import { fundingReceived, perpetualsOf, type SortedFills, sortFills } from './trades.ts';

const VENUE = 'hyperliquid';
/** Nothing happened at the venue before. */
const VENUE_BEGAN = Date.UTC(2022, 0, 1);
/** Tokens whose candles are read; those traded least are left out beyond it. */
const COINS_MAX = 60;
const HOURS_MAX = 40_000;

export type AnalyseDependencies = {
  readonly gathering: SeriesGathering;
  /** `workOut`, off the thread that answers. */
  readonly workOut: (record: AccountRecord, signal: AbortSignal) => Promise<WorkedOut>;
  /** Unix seconds. */
  readonly now: () => number;
  readonly simulated: boolean;
};
export type TraderAttempt = TraderOutcome<TraderAnalysis, Unanalysable>;

/** What was gathered of a series, or why the attempt ends. */
type Gathered<S extends SeriesKind> =
  | { readonly ended: TraderAttempt }
  | { readonly rows: readonly Kept<SeriesRow<S>>[]; readonly holes: readonly SeriesHole[] };

/** The seed of an address: nobody can choose it. */
export function seedOfTrader(address: string): number {
  return createHash('sha256').update(address).digest().readUInt32BE(0);
}

/**
 * Funding that is younger may not be booked yet. Settlements are stamped up to 24 minutes after
 * their hour, so that none lies between this and the end of the last full hour.
 */
const UNSETTLED_S = 1_860;

/** Analyses an account of the venue, an address in lower case. */
export async function analyseTrader(
  given: AnalyseDependencies,
  address: string,
  signal: AbortSignal,
): Promise<TraderAttempt> {
  const role = await given.gathering.roleOf(VENUE, address, signal);
  if (role instanceof Unread) return failure(role.why, true);
  const known = role.value;
  if (known.role === 'agent') return { end: 'unanalysable', because: 'agent', of: known.of };
  if (known.role === 'missing') return { end: 'unanalysable', because: 'no_account', of: null };
  const to = hourOf(given.now() * MS_PER_S);
  const everything = { from: VENUE_BEGAN, to };
  const fills = await gatherAll(
    given,
    { venue: VENUE, series: 'fills', of: address },
    everything,
    signal,
  );
  if ('ended' in fills) return fills.ended;
  const [first] = fills.rows;
  if (first === undefined) return { end: 'unanalysable', because: 'no_fills', of: null };
  const from = fills.rows.reduce((least, { at }) => Math.min(least, at), first.at);
  const span = { from: Math.max(hourOf(from), to - HOURS_MAX * CANDLE_MS), to };
  const candles = await gatherCandles(given, perpetualsOf(fills.rows), span, signal);
  if ('ended' in candles) return candles.ended;
  const booked = { ...span, to: Math.min(to, (given.now() - UNSETTLED_S) * MS_PER_S) };
  const funding = await gatherAll(
    given,
    { venue: VENUE, series: 'account_funding', of: address },
    booked,
    signal,
  );
  if ('ended' in funding) return funding.ended;
  const { modes, classification, totals, null_model, counts } = await given.workOut(
    {
      fills: fills.rows,
      candles: candles.rows,
      booked: funding.rows.map(({ usdc }) => ({ usdc })),
      without: candles.without,
      unbooked: funding.holes,
      horizon_reached: fills.holes.length > 0,
      to,
      seed: seedOfTrader(address),
      permutations: PERMUTATIONS,
    },
    signal,
  );
  return {
    end: 'analysed',
    analysis: {
      address,
      role: known.role,
      master: 'of' in known ? known.of : null,
      simulated: given.simulated,
      modes,
      classification,
      coverage: {
        fills: fills.rows.length,
        from: Math.floor(from / MS_PER_S),
        to: Math.floor(to / MS_PER_S),
        horizon_reached: fills.holes.length > 0,
        ...counts,
      },
      totals,
      null_model,
    },
  };
}

/** An hourly candle of a token. */
export type CoinCandle = Pick<Candle, 'at' | 'open' | 'close'> & { readonly coin: string };

/** What was read of an account. Times in ms. */
export type AccountRecord = {
  readonly fills: readonly Fill[];
  readonly candles: readonly CoinCandle[];
  /** Funding as the venue booked it. */
  readonly booked: readonly Pick<AccountFunding, 'usdc'>[];
  /** Tokens of which no candles were read. */
  readonly without: ReadonlySet<string>;
  /** When no funding was read. */
  readonly unbooked: readonly SeriesSpan[];
  readonly horizon_reached: boolean;
  readonly to: number;
  readonly seed: number;
  readonly permutations: number;
};

type RecordRows = Pick<AccountRecord, 'fills' | 'candles' | 'booked'>;
type RecordFacts = Omit<AccountRecord, keyof RecordRows>;

/** A record on its way to a thread: rows in pieces, and the facts at last. */
export type RecordPiece = Partial<RecordRows> & { readonly facts?: RecordFacts };

/** What a record comes to. */
export type WorkedOut = Pick<
  TraderAnalysis,
  'modes' | 'classification' | 'totals' | 'null_model'
> & {
  readonly counts: Omit<TraderAnalysis['coverage'], 'fills' | 'from' | 'to' | 'horizon_reached'>;
};

/** Takes pieces in; gives what their record comes to with the last one, and `null` before. */
export function pieceTaker(): (piece: RecordPiece) => WorkedOut | null {
  const [fills, candles, booked]: [Fill[], CoinCandle[], Pick<AccountFunding, 'usdc'>[]] = [
    [],
    [],
    [],
  ];
  return (piece) => {
    if (piece.fills !== undefined) fills.push(...piece.fills);
    if (piece.candles !== undefined) candles.push(...piece.candles);
    if (piece.booked !== undefined) booked.push(...piece.booked);
    return piece.facts === undefined ? null : workOut({ ...piece.facts, fills, candles, booked });
  };
}

/** Works a record out: seconds of arithmetic, which are for a thread of their own. */
export function workOut(record: AccountRecord): WorkedOut {
  const sorted = sortFills(record.fills, record.without);
  const byCoin = new Map<string, Map<number, CoinCandle>>();
  for (const candle of record.candles) {
    const known = byCoin.get(candle.coin);
    if (known === undefined) byCoin.set(candle.coin, new Map([[candle.at, candle]]));
    else known.set(candle.at, candle);
  }
  const hours = exposedHours(sorted.perps, byCoin, record.to);
  const length = lengthOf(sorted, record.horizon_reached);
  const { seed, permutations } = record;
  const testable = isLongEnough(length);
  const found = concentrate({ trades: sorted.trades, hours, seed, permutations, testable });
  const { modes, tests, block_mean } = found;
  return {
    modes,
    classification: classify(modes, length),
    counts: {
      unpriced_funding_h: hoursIn(hours, record.unbooked),
      missing_candle_h: hours.filter(({ pnl }) => pnl === null).length,
      self_trades: sorted.self_trades,
      spot_left_out: sorted.spot_left_out,
      without_candles_left_out: sorted.without_candles_left_out,
    },
    totals: totalsOf(sorted, fundingReceived(record.booked)),
    null_model: { seed, generator: GENERATOR, permutations, tests, block_mean },
  };
}

function failure(
  why: Why,
  outside: boolean,
): { readonly end: 'failed'; why: Why; outside: boolean } {
  return { end: 'failed', why, outside };
}

function lengthOf({ trades, perps }: SortedFills, horizon_reached: boolean): RecordLength {
  const [first, last] = [perps[0], perps.at(-1)];
  return {
    trades: trades.length,
    from: first === undefined ? null : first.at,
    to: last === undefined ? null : last.at,
    horizon_reached,
  };
}

function totalsOf(sorted: SortedFills, funding_usd: string): TraderAnalysis['totals'] {
  const { closed_pnl_usd, left_out_pnl_usd, fees_usd, fees_in_tokens } = sorted;
  const afterFees = addDecimals(closed_pnl_usd, multiplyDecimals(fees_usd, '-1'));
  return {
    closed_pnl_usd,
    left_out_pnl_usd,
    fees_usd,
    fees_in_tokens,
    funding_usd,
    net_usd: addDecimals(afterFees, funding_usd),
  };
}

/** How many exposed hours lie in a hole. */
function hoursIn(hours: readonly ExposedHour[], holes: readonly SeriesSpan[]): number {
  return hours.filter(({ at }) => holes.some(({ from, to }) => from < at + CANDLE_MS && to > at))
    .length;
}

/**
 * All rows of a series in a span. A hole that the venue may still fill ends the attempt: it was cut
 * or did not answer. A hole that it cannot fill any more is counted.
 */
async function gatherAll<S extends SeriesKind>(
  { gathering }: AnalyseDependencies,
  name: SeriesName<S>,
  span: SeriesSpan,
  signal: AbortSignal,
): Promise<Gathered<S>> {
  return rowsOrEnd(await gathering.gather(name, span, signal));
}

function rowsOrEnd<S extends SeriesKind>({ reading, fault }: GatheredSeries<S>): Gathered<S> {
  if (fault !== null) return { ended: failure(fault.why, true) };
  if (reading instanceof Unread) return { ended: failure(reading.why, false) };
  const seen = rowsSeen(map(reading, (rows): readonly SeriesRows<S>[] => [rows]));
  if (seen === null) throw new Error('a reading without its value');
  const [{ rows, holes }] = seen;
  const open = holes.some(({ gone }) => !gone);
  if (open && !(reading instanceof Read)) return { ended: failure(reading.why, true) };
  return { rows, holes };
}

/** Whether the venue was asked, and keeps nothing of the series in the whole span. */
function isWithout({ reading, fault }: GatheredSeries<'candles'>): boolean {
  return fault === null && reading instanceof Unread && reading.why.code === 'series_not_held';
}

type CandlesGathered =
  | { readonly ended: TraderAttempt }
  | { readonly rows: readonly CoinCandle[]; readonly without: ReadonlySet<string> };

/** The candles of the tokens. `without`: those of which the venue keeps none in the whole span. */
async function gatherCandles(
  given: AnalyseDependencies,
  coins: readonly string[],
  span: SeriesSpan,
  signal: AbortSignal,
): Promise<CandlesGathered> {
  const rows: CoinCandle[] = [];
  const without = new Set(coins.slice(COINS_MAX));
  for (const of of coins.slice(0, COINS_MAX)) {
    const name = { venue: VENUE, series: 'candles', of } as const;
    const gathered = await given.gathering.gather(name, span, signal);
    if (isWithout(gathered)) {
      without.add(of);
      continue;
    }
    const told = rowsOrEnd(gathered);
    if ('ended' in told) return told;
    if (told.rows.length === 0) without.add(of);
    for (const { at, open, close } of told.rows) rows.push({ coin: of, at, open, close });
  }
  return { rows, without };
}

/** What an account is, in a sentence; `null` where it is a plain one. */
export function roleSentence({ role }: Pick<AccountRole, 'role'>): string | null {
  if (role === 'vault') return 'It is a vault: its trades are of its depositors together.';
  if (role === 'sub_account') return 'It is a sub-account: its master may trade elsewhere too.';
  return null;
}
