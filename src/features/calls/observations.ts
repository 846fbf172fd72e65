// What was received of an asset by a time, cut once: whoever judges is handed arrays, and can ask
// for nothing that came later.

import { HOUR_S, MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { basis, map, type Partly, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type {
  Kept,
  MarketVenue,
  SeriesKind,
  SeriesName,
  SeriesPort,
  SeriesRow,
  SeriesRows,
  SeriesSpan,
  SeriesStore,
  WhaleTransfer,
} from '../../ports/series.ts';
import { spansWithin } from '../../ports/series-coverage.ts';

const HOUR_MS = HOUR_S * MS_PER_S;

/** The venue whose prices and funding calls rest on, and whose candles price them. */
export const PRICED_AT: MarketVenue = 'hyperliquid';
/** No venue but these tells of everybody's liquidations. */
const LIQUIDATIONS_OF = ['binance', 'bybit'] as const;

/** How many hours back each series is read. */
export const HOURS_READ = {
  marks: 2,
  candles: 168,
  funding: 168,
  open_interest: 25,
  liquidations: 168,
  net_flow: 336,
  whale_transfers: 24,
} as const;
/** What chains show of an hour is read an hour later: blocks are imported and priced first. */
const CHAINS_LATE_MS = HOUR_MS;

/**
 * A settlement stands on its hour and may be told half an hour late, so that at a tick nobody can
 * vouch for the end of the hour before, in which none is due.
 */
const SETTLING_MS = HOUR_MS / 2;

/** The rows of a series that were received by a time, and what of its hours nobody knows. */
export type Cut<S extends SeriesKind> = {
  readonly name: SeriesName<S>;
  readonly rows: readonly Kept<SeriesRow<S>>[];
  readonly holes: readonly SeriesSpan[];
  readonly isWhole: boolean;
  readonly simulated: boolean;
};

/** An asset as it was known at a time. */
export type Observations = {
  readonly asset: string;
  readonly at: UnixSeconds;
  /** The last full hour ended here, and a chain's an hour before. Milliseconds. */
  readonly hour: number;
  readonly chainHour: number;
  readonly listings: Cut<'listings'>;
  readonly marks: Cut<'marks'>;
  readonly candles: Cut<'candles'>;
  readonly funding: Cut<'funding'>;
  readonly open_interest: Cut<'open_interest'>;
  readonly liquidations: readonly Cut<'liquidations'>[];
  readonly net_flow: Cut<'net_flow'>;
  readonly whale_transfers: Cut<'whale_transfers'>;
};

/** What was received of an asset by a time; a reason: the store could not be read. */
export async function observe(
  series: Pick<SeriesStore, 'read'>,
  { asset, at }: { readonly asset: string; readonly at: UnixSeconds },
  signal: AbortSignal,
): Promise<Observations | Why> {
  const asOf = at * MS_PER_S;
  const hour = Math.floor(at / HOUR_S) * HOUR_MS;
  const chainHour = hour - CHAINS_LATE_MS;
  const faults: Why[] = [];
  const read = async <S extends SeriesKind>(
    name: SeriesName<S>,
    span: SeriesSpan,
    whole: SeriesSpan,
  ): Promise<Cut<S>> => {
    const reading = await series.read(name, span, { asOf, signal });
    if (isFault(reading)) faults.push(reading.why);
    return cutOf(name, reading, whole);
  };
  const back = (to: number, hours: number) => ({ from: to - hours * HOUR_MS, to });
  const since = (hours: number) => ({ from: hour - hours * HOUR_MS, to: asOf + 1 });
  const venueName = <S extends SeriesKind>(series_: S, venue: MarketVenue = PRICED_AT) => {
    return { venue, series: series_, of: asset } as const;
  };
  const chainName = <S extends SeriesKind>(series_: S) => {
    return { venue: 'chain', series: series_, of: asset } as const;
  };
  const { marks, candles, funding, open_interest, liquidations } = HOURS_READ;
  const { net_flow, whale_transfers } = HOURS_READ;
  const observed: Observations = {
    asset,
    at,
    hour,
    chainHour,
    // A state holds until the next row, however long ago its own was.
    listings: await read(venueName('listings'), { from: 0, to: asOf + 1 }, back(hour, 1)),
    marks: await read(venueName('marks'), since(marks), back(hour, marks)),
    candles: await read(venueName('candles'), back(hour, candles), back(hour, candles)),
    funding: await read(venueName('funding'), since(funding), back(hour - SETTLING_MS, funding)),
    open_interest: await read(
      venueName('open_interest'),
      since(open_interest),
      back(hour, open_interest),
    ),
    liquidations: await Promise.all(
      LIQUIDATIONS_OF.map((venue) =>
        read(venueName('liquidations', venue), back(hour, liquidations), back(hour, liquidations)),
      ),
    ),
    net_flow: await read(
      chainName('net_flow'),
      back(chainHour, net_flow),
      back(chainHour, net_flow),
    ),
    whale_transfers: await read(
      chainName('whale_transfers'),
      back(chainHour, whale_transfers),
      back(chainHour, whale_transfers),
    ),
  };
  const [fault] = faults;
  return fault === undefined ? observed : fault;
}

/** Whether a series was not read for another reason than that nobody observed it. */
function isFault(reading: Partly<unknown, SeriesPort>): reading is Unread<SeriesPort> {
  return reading instanceof Unread && reading.why.code !== 'series_not_held';
}

/** The rows of a reading, and where a span of it is not known. */
export function cutOf<S extends SeriesKind>(
  name: SeriesName<S>,
  reading: Partly<SeriesRows<S>, SeriesPort>,
  span: SeriesSpan,
): Cut<S> {
  const told = listOrNone(rowsSeen(map(reading, ({ holes }) => holes)));
  const holes = reading instanceof Unread ? [span] : spansWithin(span, told);
  return {
    name,
    rows: listOrNone(rowsSeen(map(reading, ({ rows }) => rows))),
    holes,
    isWhole: holes.length === 0,
    simulated: basis(reading).sources.some(({ simulated }) => simulated),
  };
}

/** The newest row of a series that stands in the order of time. */
export function newestRow<S extends SeriesKind>({ rows }: Cut<S>): Kept<SeriesRow<S>> | null {
  const newest = rows.at(-1);
  return newest === undefined ? null : newest;
}

/** The rows of the hours that ended at a time. */
export function rowsWithin<S extends SeriesKind>(
  { rows }: Cut<S>,
  to: number,
  hours: number,
): readonly Kept<SeriesRow<S>>[] {
  return rows.filter(({ at }) => at >= to - hours * HOUR_MS && at < to);
}

/** The beginnings of the hours that ended at a time and of which every instant is known. */
export function hoursHeard(
  { holes }: Pick<Cut<SeriesKind>, 'holes'>,
  to: number,
  hours: number,
): readonly number[] {
  return Array.from({ length: hours }, (_, n) => to - (hours - n) * HOUR_MS).filter((from) =>
    holes.every((hole) => hole.to <= from || hole.from >= from + HOUR_MS),
  );
}

/** Whether every instant of the hours that ended at a time is known. */
export function isHeard(cut: Pick<Cut<SeriesKind>, 'holes'>, to: number, hours: number): boolean {
  return hoursHeard(cut, to, hours).length === hours;
}

/** What a transfer moves to exchanges, negative where it moves from them; `null`: neither. */
export function netToExchanges(
  transfer: Pick<WhaleTransfer, 'from_label' | 'to_label' | 'usd'>,
): string | null {
  const { from_label, to_label, usd } = transfer;
  if ((from_label === null) === (to_label === null)) return null;
  return to_label === null ? `-${usd}` : usd;
}
