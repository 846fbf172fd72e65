// The answer to one question about the record. It is made of the question and the record alone, and
// is kept with the record: the same bytes in every process, whoever else asks.

import { formatIsoDate, HOUR_S } from '../../chain/time.ts';
import { collect, present, tally } from '../../evidence/measure.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type Estimate,
  estimateShare,
  type Reliability,
  reliabilityOf,
  scoreGroups,
  tiesOf,
} from '../../evidence/statistics.ts';
import { inTime, OUT_OF_TIME } from '../../evidence/waiting.ts';
import { DETECTOR_KINDS, type DetectorKind } from '../../ports/emitted-calls.ts';
import {
  BPS,
  type CallMeasures,
  closedCalls,
  clustersOf,
  compoundBook,
  dailySharpe,
  emptyBook,
  equityPoints,
  type Hours,
  hasRunAll,
  heldHours,
  layCall,
  type Moments,
  maxDrawdown,
  measureCalls,
  momentsOf,
  netReturn,
  pickCalls,
  unreadHours,
  yearlySharpe,
} from './backtest.ts';
import {
  type Bias,
  biasesOf,
  daysBack,
  type Filter,
  filterText,
  kindsOf,
  LISTED_KINDS,
  questionSeed,
  selectCalls,
} from './filters.ts';
import {
  daysOf,
  deflateSharpe,
  type Family,
  type FamilyOrder,
  type Holding,
  holdAssets,
  measureFamily,
  type RandomEntries,
  testEntries,
} from './luck.ts';
import {
  CLOSED,
  type EdgeRecord,
  type Instrument,
  type RecordColumns,
  type RecordedCall,
} from './record.ts';

export type Backtest = {
  readonly calls: CallMeasures;
  readonly by_kind: readonly (CallMeasures & { readonly kind: DetectorKind })[];
  /** `null`: the hours between the ends of the calls were not read. */
  readonly equity: ReturnType<typeof equityPoints> | null;
  readonly max_drawdown: number | null;
  /** Of a year; `null` for under 30 days or where no day differs. */
  readonly sharpe: number | null;
  readonly sharpe_n: number;
  readonly moments: Moments | null;
  /** Whole days that are in no rate: nothing was held, and a producer did not run all of them. */
  readonly days_unread: number;
  /** Hours that calls were held and whose candle nobody read. */
  readonly hours_unread: number;
  readonly biases: readonly Bias[];
  readonly hold: Holding | null;
  readonly entries: RandomEntries;
  /** The instruments of the closed calls, by their places in the record. */
  readonly instruments: readonly number[];
  readonly family: Family;
};

/** Questions whose answers are kept with a record; the oldest go first. */
const KEPT_MAX = 200;

/** An answer that is made once for a record. */
function keepMade<T>({ made }: EdgeRecord, key: string, make: () => T): T {
  const known = made.get(key);
  if (known !== undefined) return known as T;
  const [oldest] = made.keys();
  if (made.size >= KEPT_MAX && oldest !== undefined) made.delete(oldest);
  const fresh = make();
  made.set(key, fresh);
  return fresh;
}

/** The hours of a question: never before the record began. */
function hoursOf({ as_of, fromHour }: RecordColumns, days: number): Hours {
  if (as_of === null) return { from: fromHour, to: fromHour };
  const to = Math.max(fromHour, as_of / HOUR_S);
  const from = Math.floor(daysBack(as_of, days).from / HOUR_S);
  return { from: Math.min(to, Math.max(fromHour, from)), to };
}

/** Whether the producers of a kind, or of all, ran all of a day. */
function runsOf({ ran }: RecordColumns, kinds: readonly DetectorKind[]) {
  const known = new Map<number, boolean>();
  const spans = kinds.map((kind) => ran[kind]);
  return (day: number): boolean => {
    const held = known.get(day);
    if (held !== undefined) return held;
    const is = hasRunAll(spans, day);
    known.set(day, is);
    return is;
  };
}

const familyKey = ({ days, cost_bps }: FamilyFilter) => `family ${days} ${cost_bps}`;

type FamilyFilter = Pick<Filter, 'days' | 'cost_bps'>;

/** The listed family at the days and the cost of a question; the same for whoever asks. */
export function measureListed(record: EdgeRecord, filter: FamilyFilter): Family {
  return keepMade(record, familyKey(filter), () => makeFamily(record, filter));
}

function makeFamily(record: RecordColumns, filter: FamilyFilter): Family {
  return measureFamily(familyOrder(record, filter));
}

function familyOrder(record: RecordColumns, { days, cost_bps }: FamilyFilter): FamilyOrder {
  const closed = closedCalls(record, selectCalls(record, { ...ALL, days, cost_bps }));
  const hours = hoursOf(record, days);
  const { first, end } = daysOf(hours);
  const runs = LISTED_KINDS.map((kind) => runsOf(record, kind === null ? DETECTOR_KINDS : [kind]));
  const ran = Array.from({ length: end - first }, (_, i) => runs.map((ranOn) => ranOn(first + i)));
  return { record, closed, cost_bps, hours, ran };
}

const ALL = {
  kinds: null,
  asset: null,
  direction: null,
  horizon_h: null,
  min_conviction: null,
} as const;

/** What a question comes to. */
export function runBacktest(record: EdgeRecord, filter: Filter): Backtest {
  return { ...runOwn(record, filter), family: measureListed(record, filter) };
}

/** The same without the family. */
function runOwn(record: EdgeRecord, filter: Filter): OwnBacktest {
  return keepMade(record, filterText(filter), () => makeBacktest(record, filter));
}

/** What a question comes to without its family. */
export type OwnBacktest = Omit<Backtest, 'family'>;

// A question takes a third of a second, in which nobody else would be answered, and as much garbage
// as makes the next ones wait: it is worked out elsewhere, in two parts side by side.

/** What is worked out elsewhere about a question. */
export type EdgeOrder = { readonly record: RecordColumns; readonly filter: Filter };

/** Works out a question and its family, in this thread or in others. Throws where it could not. */
export type EdgeWork = {
  readonly own: (order: EdgeOrder) => Promise<OwnBacktest>;
  readonly family: (order: EdgeOrder) => Promise<Family>;
};

/** Works both out in the thread that asks. */
export const WORK_HERE: EdgeWork = {
  own: async ({ record, filter }) => makeBacktest(record, filter),
  family: async ({ record, filter }) => makeFamily(record, filter),
};

type Turns = <T>(work: () => Promise<T>) => Promise<T>;

function takingTurns(): Turns {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const own = before.then(work);
    before = own.catch(() => undefined);
    return own;
  };
}

const TURNS = { own: takingTurns(), family: takingTurns() };

/**
 * Works out a question, or its family alone, so that the record keeps them: one after the other,
 * and once for all who ask. Whoever has gone before their turn came costs nothing. Gives why they
 * were not worked out before the signal ended, or `null`.
 */
export async function prepareAnswer(
  record: EdgeRecord,
  filter: Filter,
  work: EdgeWork,
  { signal, what = 'all' }: { readonly signal: AbortSignal; readonly what?: 'all' | 'family' },
): Promise<Why | null> {
  const { calls: _, made, simulated: __, ...columns } = record;
  const order = { record: columns, filter };
  const prepare = (part: keyof EdgeWork, key: string) =>
    TURNS[part](async () => {
      if (made.has(key) || signal.aborted) return;
      const worked = await work[part](order);
      keepMade<unknown>(record, key, () => worked);
    });
  const prepared = await inTime(
    () =>
      Promise.all([
        prepare('family', familyKey(filter)),
        ...(what === 'all' ? [prepare('own', filterText(filter))] : []),
      ]),
    signal,
  );
  return prepared === OUT_OF_TIME ? NOT_IN_TIME : null;
}

const NOT_IN_TIME = why('timed_out', {
  what: 'The work on questions about the edge',
  limit: 'the time of a request',
});

/** Over this share of hours without a candle the curve, and what rests on it, is not measured. */
const UNREAD_SHARE_MAX = 0.01;

function makeBacktest(record: RecordColumns, filter: Filter): OwnBacktest {
  const { columns, as_of } = record;
  const picked = selectCalls(record, filter);
  const closed = closedCalls(record, picked);
  const hours = hoursOf(record, filter.days);
  const book = emptyBook(hours);
  for (const at of closed) layCall(record, at, filter.cost_bps / BPS, hours, book);
  const portfolio = compoundBook(book, hours, runsOf(record, kindsOf(filter)));
  const hours_unread = unreadHours(record, closed);
  // A curve over hours that nobody read is none.
  const isMeasured =
    closed.length > 0 && hours_unread <= UNREAD_SHARE_MAX * heldHours(record, closed);
  const moments = isMeasured ? momentsOf(portfolio.daily) : null;
  return {
    calls: measureCalls(record, picked, filter.cost_bps),
    by_kind: kindsOf(filter).map((kind) => {
      const own = pickCalls(columns.kind, picked, DETECTOR_KINDS.indexOf(kind));
      return { kind, ...measureCalls(record, own, filter.cost_bps) };
    }),
    equity:
      closed.length > 0 && !isMeasured ? null : isMeasured ? equityPoints(portfolio, hours) : [],
    max_drawdown: isMeasured ? maxDrawdown(portfolio.path) : null,
    sharpe: moments === null ? null : yearlySharpe(moments),
    sharpe_n: isMeasured ? portfolio.daily.length : 0,
    moments,
    days_unread: portfolio.daysUnread,
    hours_unread,
    biases: as_of === null ? [] : biasesOf(record.versions, filter, daysBack(as_of, filter.days)),
    hold: closed.length > 0 ? holdAssets(record, closed, hours, isMeasured) : null,
    entries: testEntries(record, closed, hours, questionSeed(filter)),
    instruments: [...new Set(Array.from(closed, (at) => Number(columns.instrument[at])))],
  };
}

/** Why a ratio was not deflated. */
export type NotDeflated = 'no_sharpe' | 'family_unmeasured';

export type Deflation = {
  readonly probability: number | null;
  readonly sharpe_0: number | null;
  readonly trials: number;
  readonly variance: number | null;
  readonly reason: NotDeflated | null;
};

/**
 * The deflated ratio of a backtest after the most tries that are known of: the listed family, those
 * that the caller names, and those of its membership that were counted.
 */
export function deflateBacktest(
  { moments, family }: Pick<Backtest, 'moments' | 'family'>,
  named: readonly number[],
): Deflation {
  const trials = Math.max(1, family.members, ...named);
  const { variance } = family;
  const none = { probability: null, sharpe_0: null, trials, variance };
  if (moments === null) return { ...none, reason: 'no_sharpe' };
  if (variance === null && trials > 1) return { ...none, reason: 'family_unmeasured' };
  const tries = { trials, variance };
  return { ...deflateSharpe(dailySharpe(moments), moments, tries), trials, variance, reason: null };
}

// What the page draws beside the answer.

/** The closed calls of a month of closing, and how many hit. */
export type MonthOfHits = {
  readonly month: string;
  readonly closed: number;
  readonly hits: number;
  readonly share: Estimate | null;
};

const MONTH_CHARS = 'YYYY-MM'.length;

/** The rate of hits by the month in which calls closed, the newest months of the question. */
export function hitsByMonth(
  record: EdgeRecord,
  filter: Filter,
  monthsMax: number,
): readonly MonthOfHits[] {
  const closed = closedCalls(record, selectCalls(record, filter));
  const byMonth = new Map<string, number[]>();
  for (const at of closed) {
    const day = formatIsoDate(Number(record.columns.closedAt[at]));
    collect(byMonth, day.slice(0, MONTH_CHARS), at);
  }
  return [...byMonth]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(-monthsMax)
    .map(([month, places]) => {
      const own = Uint32Array.from(places);
      const { hits, hit_rate, effective_n } = measureCalls(record, own, filter.cost_bps);
      return { month, closed: own.length, hits, share: estimateShare(hit_rate, effective_n) };
    });
}

const GROUPS = 8;

/** What convictions said, in groups of like ones, beside how many of their calls hit. */
export function reliabilityOfConviction(
  record: EdgeRecord,
  filter: Filter,
): readonly Reliability[] {
  const closed = closedCalls(record, selectCalls(record, filter));
  const cost = filter.cost_bps / BPS;
  const scored = {
    scores: Float64Array.from(closed, (at) => Number(record.columns.conviction[at])),
    outcomes: Uint8Array.from(closed, (at) => Number(netReturn(record, at, cost) > 0)),
    clusters: clustersOf(record, closed),
  };
  const groups = scoreGroups(tiesOf(scored.scores), GROUPS);
  return present(groups.map((rows) => reliabilityOf(rows, scored)));
}

/** An asset with the calls of a question on its opens. */
export type CalledPrices = {
  readonly instrument: Instrument;
  /** How many calls the question has of it; the newest of them are shown. */
  readonly of: number;
  /** One open a point; `null` where nobody read one. */
  readonly points: readonly { readonly t: number; readonly open: number | null }[];
  readonly calls: readonly {
    readonly t: number;
    readonly call: RecordedCall;
    /** `null`: not closed, or not priced. */
    readonly hit: boolean | null;
  }[];
};

const POINTS_MAX = 400;
/** More marks hide each other. */
const MARKS_MAX = 40;
const HOURS_BEFORE = 24;

/** The asset that a question has most calls of, with its opens; `null`: it has no call. */
export function calledPrices(record: EdgeRecord, filter: Filter): CalledPrices | null {
  const { columns } = record;
  const picked = selectCalls(record, filter);
  const counts = new Map<number, number>();
  for (const at of picked) tally(counts, Number(columns.instrument[at]));
  const [most] = [...counts].sort(([a, n], [b, m]) => m - n || a - b);
  if (most === undefined) return null;
  const [place, of] = most;
  const [instrument, prices] = [record.instruments[place], record.prices[place]];
  if (instrument === undefined || prices === undefined) throw new RangeError('no such instrument');
  const own = Array.from(picked)
    .filter((at) => columns.instrument[at] === place)
    .slice(-MARKS_MAX);
  const hours = hoursOf(record, filter.days);
  // Older calls than those that are shown have no part in the picture.
  const first = Math.floor(Number(columns.emitted[Number(own[0])]) / HOUR_S) - HOURS_BEFORE;
  const from = of > own.length ? Math.max(hours.from, first) : hours.from;
  const step = Math.max(1, Math.ceil((hours.to - from) / POINTS_MAX));
  const points: { t: number; open: number | null }[] = [];
  for (let hour = from; hour < hours.to; hour += step) {
    const open = Number(prices.opens[hour - record.fromHour]);
    points.push({ t: hour * HOUR_S, open: Number.isNaN(open) ? null : open });
  }
  const cost = filter.cost_bps / BPS;
  const calls = own.map((at) => {
    const call = record.calls[at];
    if (call === undefined) throw new RangeError('a call that the record does not hold');
    const isClosed = columns.state[at] === CLOSED;
    return { t: call.emitted_at, call, hit: isClosed ? netReturn(record, at, cost) > 0 : null };
  });
  return { instrument, of, points, calls };
}
