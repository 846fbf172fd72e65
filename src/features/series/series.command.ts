// The commands that import market series, and tell which are kept and what is missing of them.

import { MS_PER_S } from '../../chain/time.ts';
import {
  anyText,
  atLeastOne,
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  filePath,
  type Io,
  mandatory,
  optional,
  type Parse,
  UsageError,
  wordIn,
} from '../../command/command.ts';
import { factLines, paint, print, printJson, printRows } from '../../command/output.ts';
import { parseOrigin } from '../../command/run-import.ts';
import { tally } from '../../evidence/measure.ts';
import { all, Read } from '../../evidence/reading.ts';
import type { ImportOrigin } from '../../evidence/source.ts';
import {
  ASSET_NAME,
  MARKET_VENUES,
  type MarketVenue,
  type SeriesAdded,
  type SeriesFiles,
  type SeriesHeld,
  type SeriesSpan,
  type SeriesStore,
} from '../../ports/series.ts';
import { spansWithout } from '../../ports/series-coverage.ts';
import {
  columnsWanted,
  IMPORT_REFUSALS,
  IMPORTED_SERIES,
  type ImportedRows,
  type ImportedSeries,
  importedRows,
} from './import-rows.ts';
import { type Zone, zoneNamed } from './local-times.ts';

/** What the commands work on. */
export type SeriesServices = {
  readonly series: {
    /** Whether this deployment serves the simulated world: what it imports is made up then. */
    readonly simulated: boolean;
    /** Unix seconds. */
    readonly now: () => number;
    readonly files: SeriesFiles;
    readonly store: SeriesStore;
  };
};

const asset: Parse<string> = (text) => {
  if (ASSET_NAME.test(text)) return text;
  throw new UsageError('--asset takes the name of an asset as its venue writes it, such as BTC.');
};
const zone: Parse<Zone> = (text) => {
  const found = zoneNamed(text);
  if (found !== null) return found;
  throw new UsageError('--tz takes a time zone such as Europe/Berlin.');
};

/** `exhibit series import`. */
export const seriesImport = defineCommand({
  name: 'series import',
  summary: 'Import hourly candles, or settlements of funding, of an asset.',
  example: 'exhibit series import btc.csv.gz --venue hyperliquid --series candles --asset BTC',
  arguments: {
    files: atLeastOne('FILE', 'CSV, JSON lines or Parquet, gzip or not', filePath),
  },
  options: {
    venue: mandatory('VENUE', MARKET_VENUES.join(', '), wordIn(MARKET_VENUES)),
    series: mandatory('SERIES', IMPORTED_SERIES.join(', '), wordIn(IMPORTED_SERIES)),
    asset: mandatory('ASSET', 'as the venue writes it: BTC, kPEPE', asset),
    tz: optional('ZONE', 'the zone of times without an offset: Europe/Berlin', zone),
    origin: optional('observed|simulated', null, anyText),
  },
  notes: [
    'Only the hours that stand in the files are covered; one that is missing is a hole. A row that',
    'says something else of a time that is kept is a revision, and the first one stays.',
    'Exit status 1: no row was accepted, or a file or the store could not be read.',
  ],
  run: async ({ files, tz, ...asked }, io, { series }: SeriesServices) => {
    const origin = parseOrigin(asked.origin === null ? undefined : asked.origin, series.simulated);
    const wanted = columnsWanted(asked.series);
    const readings = [];
    for (const path of files) readings.push(await series.files.read(path, wanted, io.signal));
    const opened = all(readings);
    if (!(opened instanceof Read)) return fail(io, opened.why.reason);
    const found = importedRows(opened.value, { ...asked, zone: tz });
    for (const { file, row, code } of found.refused) {
      io.err(`${file}: row ${row}: ${code}: ${IMPORT_REFUSALS[code]}`);
    }
    if (found.fault !== null) return fail(io, `Nothing was imported: ${found.fault}.`);
    if (found.rows.length === 0) {
      return fail(io, `No row was accepted (${found.refused.length} refused).`);
    }
    const names = opened.value.map(({ name }) => name).join(', ');
    return keepRows({ ...asked, origin, source: names }, found, io, series);
  },
});

type ImportOrder = {
  readonly venue: MarketVenue;
  readonly series: ImportedSeries;
  readonly asset: string;
  readonly origin: ImportOrigin;
  readonly source: string;
};

async function keepRows(
  { venue, series, asset, origin, source }: ImportOrder,
  found: ImportedRows,
  io: Io,
  { store, now }: SeriesServices['series'],
): Promise<ExitStatus> {
  const name = { venue, series, of: asset };
  const received_at = Math.floor(now() * MS_PER_S);
  const kept = await store.add(name, found.rows, {
    covered: found.covered,
    received_at,
    source,
    origin,
  });
  if (!(kept instanceof Read)) return fail(io, kept.why.reason);
  printImport({ venue, series, asset, origin }, found, kept.value, io);
  return EXIT.done;
}

function printImport(
  order: Omit<ImportOrder, 'source'>,
  { rows, covered, refused, repeated }: ImportedRows,
  added: SeriesAdded,
  io: Io,
): void {
  const codes = new Map<string, number>();
  for (const { code } of refused) tally(codes, code);
  const { span, holes } = reachOf(covered);
  if (io.json) {
    const counts = { rows: rows.length, ...added, repeated, rows_refused: refused.length };
    const told = { ...counts, refused: Object.fromEntries(codes) };
    printJson(io, { ...order, ...told, ...isoSpan(span), holes: holes.map(isoSpan) });
    return;
  }
  const sentence = `Imported ${rows.length.toLocaleString('en')} rows of ${order.series}.`;
  print(io, [
    paint(sentence, 'green', io),
    ...factLines(
      [
        ['series', `${order.series} of ${order.asset} at ${order.venue}, ${order.origin}`],
        ['from', isoTime(span.from)],
        ['to', isoTime(span.to)],
        ['holes', `${holes.length} (${hoursText(holes)})`],
        ['new', added.added],
        ['revised', added.revised],
        ['unchanged', added.unchanged],
        ['repeated', repeated],
        ['refused', refused.length],
        ...[...codes].map(([code, n]) => [`  ${code}`, n] as const),
      ],
      io,
    ),
  ]);
}

/** `exhibit series status`. */
export const seriesStatus = defineCommand({
  name: 'series status',
  summary: 'Show which market series are kept, and what is missing of them.',
  example: 'exhibit series status',
  notes: ['Exit status 3: the warehouse could not be read.'],
  run: async (_, io, { series }: SeriesServices) => {
    const held = await series.store.held(io.signal);
    return printRows(held, io, {
      columns: [
        ['series', ({ name }) => `${name.series} of ${name.of} at ${name.venue}`],
        ['rows', ({ rows }) => rows, 'right'],
        ['from', ({ covered }) => timeOrNone(reachOf(covered).span.from)],
        ['to', ({ covered }) => timeOrNone(reachOf(covered).span.to)],
        ['holes', ({ covered }) => hoursText(reachOf(covered).holes)],
        ['origin', ({ origin }) => origin],
        ['received', ({ received_at }) => isoTime(received_at)],
      ],
      json: statusJson,
      none: 'No market series is kept.',
    });
  },
});

function statusJson({ name, covered, gone, received_at, ...held }: SeriesHeld): object {
  const { span, holes } = reachOf(covered);
  const reach = { ...isoSpan(span), holes: holes.map(isoSpan), gone: gone.map(isoSpan) };
  return { ...name, ...held, ...reach, received: isoTime(received_at) };
}

/** From the first covered moment to the last, and what is not covered between. */
function reachOf(covered: readonly SeriesSpan[]): {
  readonly span: SeriesSpan;
  readonly holes: readonly SeriesSpan[];
} {
  const [first, last] = [covered[0], covered.at(-1)];
  const span = {
    from: first === undefined ? NONE : first.from,
    to: last === undefined ? NONE : last.to,
  };
  return { span, holes: spansWithout(span, covered) };
}

/** The time of what nothing covers. */
const NONE = Number.NaN;

function timeOrNone(ms: number): string | null {
  return Number.isNaN(ms) ? null : isoTime(ms);
}

function isoSpan({ from, to }: SeriesSpan) {
  return { from: timeOrNone(from), to: timeOrNone(to) };
}

function isoTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

const HOUR_MS = 3_600 * MS_PER_S;

function hoursText(holes: readonly SeriesSpan[]): string {
  const ms = holes.reduce((sum, { from, to }) => sum + to - from, 0);
  return `${Number((ms / HOUR_MS).toFixed(1))} h`;
}
