// Keeps market series in the warehouse. A row is JSON text under its identity; revisions are told
// from the order of receipt when a series is read, so that two writers need not agree on numbers.
// Rows are written before the coverage that vouches for them, and read after it.

import { z } from 'zod';
import { countOrZero, listOrNone, slices } from '../../../evidence/measure.ts';
import {
  type Partly,
  part,
  type Reading,
  read,
  type Unread,
  unread,
} from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type { Source } from '../../../evidence/source.ts';
import { slicesByTick } from '../../../evidence/waiting.ts';
import {
  identityOf,
  type Kept,
  SERIES_KINDS,
  SERIES_ROWS,
  SERIES_VENUES,
  type SeriesAdded,
  type SeriesHeld,
  type SeriesKind,
  type SeriesName,
  type SeriesObserved,
  type SeriesPort,
  type SeriesRow,
  type SeriesRows,
  type SeriesSpan,
  type SeriesStore,
} from '../../../ports/series.ts';
import {
  holesOf,
  joinSpans,
  seriesText,
  whyHoles,
  whyNotHeld,
} from '../../../ports/series-coverage.ts';
import { storedWord } from '../../../ports/stored-word.ts';
import { jsonIn } from '../../../sources/http/fetch.ts';
import type { Call, Warehouse } from '../engine/executor.ts';
import { insertRows } from '../transfers/append.ts';
import { unreadFor } from '../transfers/imports.ts';

const PORT: SeriesPort = 'market_series';
const READ_TIMEOUT_MS = 30_000;
const HELD_TIMEOUT_MS = 60_000;
const PAGE_ROWS = 5_000;
/** Rows of one reading, their older words included. */
const ROWS_MAX = 500_000;
/** Rows that are compared with the kept ones at once. */
const COMPARED_ROWS = 2_500;
/** Rows that are parsed at once: a few milliseconds. */
const PARSED_ROWS = 500;
const LATEST = Number.MAX_SAFE_INTEGER;

const ONE = 'venue = {venue:String} AND series = {series:String} AND subject = {subject:String}';

const COVERAGE = `SELECT DISTINCT from_ms, to_ms, toString(state), observed, received_at
FROM market_coverage
WHERE ${ONE} AND received_at <= {as_of:Int64} AND from_ms < {to:Int64} AND to_ms > {from:Int64}`;

const ROWS = `SELECT at, identity, received_at, row FROM market_series
WHERE ${ONE} AND at >= {from:Int64} AND at < {to:Int64} AND received_at <= {as_of:Int64}
  AND (at, identity, received_at, row) >
    ({at:Int64}, {identity:String}, {received_at:Int64}, {row:String})
ORDER BY at, identity, received_at, row LIMIT ${PAGE_ROWS}`;

const NEWEST = `SELECT identity, argMax(row, (received_at, row)) FROM market_series
WHERE ${ONE} AND at >= {from:Int64} AND at <= {to:Int64} GROUP BY identity`;

const HELD_COVERAGE = `SELECT venue, series, subject,
  groupUniqArrayIf((from_ms, to_ms), state = 'covered'),
  groupUniqArrayIf((from_ms, to_ms), state = 'gone'), min(observed), max(received_at)
FROM market_coverage GROUP BY venue, series, subject`;

const HELD_ROWS = `SELECT venue, series, subject, uniqExact(identity),
  uniqExact((identity, received_at, row)), max(received_at)
FROM market_series GROUP BY venue, series, subject`;

const whole = z.coerce.number().int();
const coverageRow = z.tuple([whole, whole, z.enum(['covered', 'gone']), whole, whole]);
const seriesRow = z.tuple([whole, z.string(), whole, z.string()]);
const newestRow = z.tuple([z.string(), z.string()]);
const name = [storedWord(SERIES_VENUES), storedWord(SERIES_KINDS), z.string()] as const;
const spans = z.array(z.tuple([whole, whole]));
const heldCoverageRow = z.tuple([...name, spans, spans, whole, whole]);
const heldRowsRow = z.tuple([...name, whole, whole, whole]);

/** The market series in a warehouse. `now` is Unix seconds. */
export function warehouseSeries(warehouse: Warehouse, now: () => number): SeriesStore {
  return {
    read: (name, span, { asOf = LATEST, signal }) =>
      readSeries(warehouse, name, span, asOf, { timeoutMs: READ_TIMEOUT_MS, signal }),
    add: (name, rows, observed) => addSeries(warehouse, name, rows, observed),
    held: (signal) => listHeld(warehouse, now, { timeoutMs: HELD_TIMEOUT_MS, signal }),
  };
}

function paramsOf({ venue, series, of }: SeriesName) {
  return { venue, series, subject: of };
}

async function readSeries<S extends SeriesKind>(
  warehouse: Warehouse,
  name: SeriesName<S>,
  span: SeriesSpan,
  asOf: number,
  call: Call,
): Promise<Partly<SeriesRows<S>, SeriesPort>> {
  try {
    const params = { ...paramsOf(name), ...span, as_of: asOf };
    const asked = { ...call, params, row: coverageRow, tuples: true };
    const told = await warehouse.query(COVERAGE, asked);
    const covered = told.filter(([, , state]) => state === 'covered');
    const spansOf = (rows: typeof told) => joinSpans(rows.map(([from, to]) => ({ from, to })));
    if (covered.length === 0) return unread(PORT, whyNotHeld(name, span));
    const holes = holesOf(span, {
      covered: spansOf(covered),
      gone: spansOf(told.filter(([, , state]) => state === 'gone')),
    });
    const rows = await readRows(warehouse, name, params, call);
    if ('why' in rows) return rows;
    const as_of = Math.min(...covered.map(([, , , , received_at]) => received_at)) / 1_000;
    const simulated = covered.some(([, , , observed]) => observed === 0);
    return answerOf(name, { ...span, rows, holes }, sourceAt(as_of, simulated));
  } catch (error) {
    return unreadFor(PORT, error);
  }
}

/** A complete reading, or a part with its holes. Simulated rows deny nothing. */
function answerOf<S extends SeriesKind>(
  name: SeriesName<S>,
  value: SeriesRows<S>,
  source: Source,
): Partly<SeriesRows<S>, SeriesPort> {
  const origin = { port: PORT, source } as const;
  if (value.holes.length > 0) return part(value, origin, whyHoles(name, value.holes));
  return source.simulated ? part(value, origin, why('simulated')) : read(value, origin);
}

/** What was received of the past does not change any more: it ages no answer. */
function sourceAt(as_of: number, simulated: boolean): Source {
  return { name: 'Market series', url: 'warehouse:', as_of, kind: 'table', simulated };
}

type ReadParams = ReturnType<typeof paramsOf> & SeriesSpan & { readonly as_of: number };

async function readRows<S extends SeriesKind>(
  warehouse: Warehouse,
  name: SeriesName<S>,
  params: ReadParams,
  call: Call,
): Promise<readonly Kept<SeriesRow<S>>[] | Unread<SeriesPort>> {
  const revisions = new Map<string, Kept<SeriesRow<S>>>();
  const texts = new Map<string, string>();
  let place = { at: params.from - 1, identity: '', received_at: 0, row: '' };
  for (let rows = 0; rows < ROWS_MAX; rows += PAGE_ROWS) {
    const from = Math.max(params.from, place.at);
    const asked = { ...call, params: { ...params, ...place, from }, row: seriesRow, tuples: true };
    const page = await warehouse.query(ROWS, asked);
    for await (const some of slicesByTick(page, PARSED_ROWS)) {
      for (const [at, identity, received_at, row] of some) {
        place = { at, identity, received_at, row };
        if (texts.get(identity) === row) continue;
        texts.set(identity, row);
        const told = SERIES_ROWS[name.series].safeParse(jsonIn(row));
        if (!told.success) return unread(PORT, why('store_unreadable', NEWER));
        const before = revisions.get(identity);
        const revision = before === undefined ? FIRST : before.revision + 1;
        revisions.set(identity, { ...(told.data as SeriesRow<S>), received_at, revision });
      }
    }
    if (page.length < PAGE_ROWS) return [...revisions.values()];
  }
  const limit = String(ROWS_MAX);
  return unread(PORT, why('series_too_long', { series: seriesText(name), limit }));
}

const FIRST = 0;
const NEWER = { what: 'The transfer warehouse', fault: 'it holds series of another version' };

async function addSeries<S extends SeriesKind>(
  warehouse: Warehouse,
  name: SeriesName<S>,
  rows: readonly SeriesRow<S>[],
  observed: SeriesObserved,
): Promise<Reading<SeriesAdded, SeriesPort>> {
  try {
    const { received_at, source, origin } = observed;
    const told = { added: 0, revised: 0, unchanged: 0 };
    const byIdentity = new Map(rows.map((row) => [identityOf(name.series, row), row]));
    if (byIdentity.size < rows.length) throw new RangeError('one identity stands in rows twice');
    const sorted = [...byIdentity].sort(([, a], [, b]) => a.at - b.at);
    for (const some of slices(sorted, COMPARED_ROWS)) {
      const newest = await newestOf(warehouse, name, some);
      const changed: (string | number)[][] = [];
      for await (const few of slicesByTick(some, PARSED_ROWS)) {
        for (const [identity, row] of few) {
          const text = JSON.stringify(SERIES_ROWS[name.series].parse(row));
          const known = newest.get(identity);
          told[known === undefined ? 'added' : known === text ? 'unchanged' : 'revised'] += 1;
          if (known === text) continue;
          changed.push([...Object.values(paramsOf(name)), row.at, identity, received_at, text]);
        }
      }
      await insertRows(warehouse, 'market_series', {
        columns: ['venue', 'series', 'subject', 'at', 'identity', 'received_at', 'row'],
        rows: changed,
      });
    }
    await addCoverage(warehouse, name, observed);
    const from = { name: source, url: 'warehouse:', as_of: received_at / 1_000 } as const;
    const simulated = origin === 'simulated';
    return read(told, { port: PORT, source: { ...from, kind: 'table', simulated } });
  } catch (error) {
    return unreadFor(PORT, error);
  }
}

/** The newest words about the identities of some rows, at least one. */
async function newestOf<S extends SeriesKind>(
  warehouse: Warehouse,
  name: SeriesName<S>,
  rows: readonly (readonly [identity: string, row: SeriesRow<S>])[],
): Promise<ReadonlyMap<string, string>> {
  const times = rows.map(([, { at }]) => at);
  const params = { ...paramsOf(name), from: Math.min(...times), to: Math.max(...times) };
  const asked = { timeoutMs: READ_TIMEOUT_MS, params, row: newestRow, tuples: true };
  return new Map(await warehouse.query(NEWEST, asked));
}

function addCoverage(
  warehouse: Warehouse,
  name: SeriesName,
  { covered, gone, received_at, source, origin }: SeriesObserved,
): Promise<void> {
  const rowsOf = (spans: readonly SeriesSpan[], state: string) =>
    joinSpans(spans).map(({ from, to }) => [
      ...Object.values(paramsOf(name)),
      ...[from, to, state, origin === 'observed' ? 1 : 0, received_at, source],
    ]);
  return insertRows(warehouse, 'market_coverage', {
    columns: [
      ...['venue', 'series', 'subject', 'from_ms', 'to_ms', 'state'],
      ...['observed', 'received_at', 'source'],
    ],
    rows: [...rowsOf(covered, 'covered'), ...rowsOf(listOrNone(gone), 'gone')],
  });
}

async function listHeld(
  warehouse: Warehouse,
  now: () => number,
  call: Call,
): Promise<Reading<readonly SeriesHeld[], SeriesPort>> {
  try {
    const of = { ...call, tuples: true };
    const coverage = await warehouse.query(HELD_COVERAGE, { ...of, row: heldCoverageRow });
    const rows = await warehouse.query(HELD_ROWS, { ...of, row: heldRowsRow });
    const byName = new Map<string, SeriesHeld>();
    for (const [venue, series, subject, count, revisions, received_at] of rows) {
      const name: SeriesName = { venue, series, of: subject };
      const held = { name, rows: count, revisions, ...UNCOVERED, received_at };
      byName.set(seriesText(name), held);
    }
    for (const [venue, series, subject, covered, gone, observed, received_at] of coverage) {
      const name: SeriesName = { venue, series, of: subject };
      const known = byName.get(seriesText(name));
      byName.set(seriesText(name), {
        name,
        rows: countOrZero(known?.rows),
        revisions: countOrZero(known?.revisions),
        covered: joinSpans(covered.map(([from, to]) => ({ from, to }))),
        gone: joinSpans(gone.map(([from, to]) => ({ from, to }))),
        origin: observed === 0 ? 'simulated' : 'observed',
        received_at: Math.max(received_at, countOrZero(known?.received_at)),
      });
    }
    const listed = [...byName].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
    const simulated = listed.some(([, { origin }]) => origin === 'simulated');
    return read(
      listed.map(([, held]) => held),
      { port: PORT, source: sourceAt(now(), simulated) },
    );
  } catch (error) {
    return unreadFor(PORT, error);
  }
}

/** Rows that no coverage vouches for, as after an import that was cut off. */
const UNCOVERED: Pick<SeriesHeld, 'covered' | 'gone' | 'origin'> = {
  covered: [],
  gone: [],
  origin: 'observed',
};
