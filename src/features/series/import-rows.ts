// Reads rows of candles and of funding out of files. A row that cannot be told is refused with its
// reason; what is told of an hour in two ways is refused in both. Only the hours that stand in the
// files are covered: one that is missing is a hole.

import { plainDecimal } from '../../chain/amount.ts';
import { collect } from '../../evidence/measure.ts';
import {
  CANDLE_MS,
  type Candle,
  candle,
  type FundingPoint,
  type SeriesFile,
  type SeriesSpan,
} from '../../ports/series.ts';
import { candleSpans, fundingSpans, withIntervals } from '../../ports/series-coverage.ts';
import { type FileTime, localTimes, parseStamp, type Zone } from './local-times.ts';

/** The series that files may hold: what covers the others no file tells. */
export const IMPORTED_SERIES = ['candles', 'funding'] as const;
export type ImportedSeries = (typeof IMPORTED_SERIES)[number];

/** The names under which files have each column, the first that a file has. */
const TIMES = ['at', 'open_time', 'time', 'timestamp', 't', 'date', 'datetime'];
const ASSETS = ['coin', 'symbol', 'asset', 's'];
const COLUMNS: { readonly [S in ImportedSeries]: Readonly<Record<string, readonly string[]>> } = {
  candles: {
    open: ['open', 'o'],
    high: ['high', 'h'],
    low: ['low', 'l'],
    close: ['close', 'c'],
    volume: ['volume', 'v'],
  },
  funding: { rate: ['rate', 'funding_rate', 'fundingrate'] },
};

/** Every column name that a file of a series may have. */
export function columnsWanted(series: ImportedSeries): readonly string[] {
  return [...TIMES, ...ASSETS, ...Object.values(COLUMNS[series]).flat()];
}

export const IMPORT_REFUSALS = {
  no_time: 'its time is none',
  no_offset: 'its time has no offset; name the zone of its clock by --tz',
  offset_and_zone: 'its time has an offset of its own, and --tz is for times without one',
  hour_repeats: 'its hour repeats, and does not stand there twice in a row',
  hour_skipped: 'its hour does not exist in this zone',
  not_the_hour: 'its time is no whole hour in UTC',
  not_a_number: 'a figure is no decimal number',
  not_a_candle: 'its prices are no candle: low to high, above zero',
  other_asset: 'it names another asset',
  two_words: 'another row says something else of the same time',
} as const;
export type ImportRefusal = keyof typeof IMPORT_REFUSALS;

/** A refused row, by its number in its file, from 1 without the header. */
export type RefusedSeriesRow = {
  readonly file: string;
  readonly row: number;
  readonly code: ImportRefusal;
};

/** What files hold of a series. `repeated` rows say again what another one says. */
export type ImportedRows = {
  readonly rows: readonly (Candle | FundingPoint)[];
  readonly covered: readonly SeriesSpan[];
  readonly refused: readonly RefusedSeriesRow[];
  readonly repeated: number;
  /** Why none of the rows can be taken, where that is not each row's own fault. */
  readonly fault: string | null;
};

/** What the rows of a file are about; `zone`: that of its clock, where its times have no offset. */
export type ImportOf = {
  readonly series: ImportedSeries;
  readonly asset: string;
  readonly zone: Zone | null;
};

type RowValues = { readonly at: number; readonly [field: string]: string | number };
type ReadRow = { readonly row: number; readonly told: RowValues | ImportRefusal };

/** The rows of some files as one series. */
export function importedRows(files: readonly SeriesFile[], of: ImportOf): ImportedRows {
  const refused: RefusedSeriesRow[] = [];
  const byTime = new Map<
    number,
    { readonly file: string; readonly row: number; told: RowValues }[]
  >();
  for (const file of files) {
    const missing = missingColumn(file, of.series);
    if (missing !== null) return faulty(`${file.name} has no column ${missing}`);
    for (const { row, told } of rowsOf(file, of)) {
      if (typeof told === 'string') refused.push({ file: file.name, row, code: told });
      else collect(byTime, told.at, { file: file.name, row, told });
    }
  }
  const kept: RowValues[] = [];
  let repeated = 0;
  for (const [one, ...others] of byTime.values()) {
    if (one === undefined) continue;
    const isOne = others.every(({ told }) => JSON.stringify(told) === JSON.stringify(one.told));
    if (isOne) kept.push(one.told);
    if (isOne) repeated += others.length;
    else
      for (const { file, row } of [one, ...others]) refused.push({ file, row, code: 'two_words' });
  }
  const inTime = kept.sort((a, b) => a.at - b.at);
  return { ...asSeries(inTime, of.series), refused, repeated };
}

function faulty(fault: string): ImportedRows {
  return { rows: [], covered: [], refused: [], repeated: 0, fault };
}

function asSeries(
  kept: readonly RowValues[],
  series: ImportedSeries,
): Pick<ImportedRows, 'rows' | 'covered' | 'fault'> {
  if (series === 'candles') {
    const rows = kept.map((told) => candle.parse(told));
    return { rows, covered: candleSpans(rows), fault: null };
  }
  const points = withIntervals(kept.map(({ at, rate }) => ({ at, rate: String(rate) })));
  if (points !== null) return { rows: points, covered: fundingSpans(points), fault: null };
  const fault = 'the times of its rows tell no interval: four settlements in a row do';
  return { rows: [], covered: [], fault };
}

function missingColumn({ columns }: SeriesFile, series: ImportedSeries): string | null {
  const needed = { time: TIMES, ...COLUMNS[series] };
  const missing = Object.entries(needed).find(
    ([, names]) => !names.some((one) => columns.includes(one)),
  );
  return missing === undefined ? null : missing[0];
}

function rowsOf(file: SeriesFile, { series, asset, zone }: ImportOf): readonly ReadRow[] {
  const at = (names: readonly string[]) =>
    file.columns.indexOf(String(names.find((one) => file.columns.includes(one))));
  const [time, named] = [at(TIMES), at(ASSETS)];
  const figures = Object.entries(COLUMNS[series]).map(
    ([field, names]) => [field, at(names)] as const,
  );
  const stamps = file.rows.map((cells) => parseStamp(String(cells[time])));
  const times = timesIn(stamps, zone);
  return file.rows.map((cells, n) => {
    const row = n + 1;
    const told = times[n];
    const own = cells[named];
    if (own !== undefined && own !== '' && own !== asset) return { row, told: 'other_asset' };
    if (told === undefined || typeof told === 'string') return { row, told: told ?? 'no_time' };
    const decimals = figures.map(
      ([field, column]) => [field, plainDecimal(String(cells[column]))] as const,
    );
    if (decimals.some(([, figure]) => figure === null)) return { row, told: 'not_a_number' };
    const all: RowValues = {
      at: told,
      ...(Object.fromEntries(decimals) as Record<string, string>),
    };
    return { row, told: series === 'candles' ? asCandle(all) : all };
  });
}

/** The times of rows in UTC, or why one cannot be told. */
function timesIn(
  stamps: readonly (FileTime | null)[],
  zone: Zone | null,
): readonly (number | ImportRefusal)[] {
  const walls = stamps.flatMap((stamp) =>
    stamp !== null && 'local' in stamp ? [stamp.local] : [],
  );
  const told = zone === null ? null : localTimes(walls, zone);
  let next = 0;
  return stamps.map((stamp) => {
    if (stamp === null) return 'no_time';
    if ('at' in stamp) return zone === null ? stamp.at : 'offset_and_zone';
    const one = told?.[next];
    next += 1;
    if (one === undefined) return 'no_offset';
    if ('at' in one) return one.at;
    return one.problem === 'repeated' ? 'hour_repeats' : 'hour_skipped';
  });
}

function asCandle(told: RowValues): RowValues | ImportRefusal {
  if (told.at % CANDLE_MS !== 0) return 'not_the_hour';
  const [open, high, low, close, volume] = ['open', 'high', 'low', 'close', 'volume'].map((field) =>
    Number(told[field]),
  ) as [number, number, number, number, number];
  const isCandle = low > 0 && low <= Math.min(open, close) && high >= Math.max(open, close);
  return isCandle && volume >= 0 ? told : 'not_a_candle';
}
