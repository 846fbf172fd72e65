// The record of calls under a filter, by the day, and by detector. Each route answers for itself:
// one that cannot says so under 200, and the others are whole.

import { z } from 'zod';
import { DAY_S, formatIsoDate, formatIsoTime, MS_PER_S, startOfDay } from '../../chain/time.ts';
import type { DATA_MODES } from '../../contract/answer.ts';
import { badField } from '../../contract/refusals.ts';
import { type Caller, type PlainHandler, plainRoute } from '../../contract/route.ts';
import { askedDay } from '../../contract/wire.ts';
import { claim, claimWhole } from '../../evidence/claim.ts';
import { present, tally } from '../../evidence/measure.ts';
import { all, Read } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import type { EdgeTrials, TriedFilters } from '../../ports/edge-trials.ts';
import {
  type CallClosing,
  callAsset,
  DETECTOR_KINDS,
  type DetectorKind,
  DIRECTIONS,
  type EmittedCallsPort,
} from '../../ports/emitted-calls.ts';
import { type CallMeasures, hasRunAll, yearlySharpe } from './backtest.ts';
import {
  type Bias,
  COST_BPS_DEFAULT,
  DAYS_DEFAULT,
  type Filter,
  filterDigest,
  kindsOf,
} from './filters.ts';
import { familyMembers } from './luck.ts';
import { HALF_LIFE, measureHealth } from './performance.ts';
import {
  type Backtest,
  deflateBacktest,
  type EdgeWork,
  measureListed,
  prepareAnswer,
  runBacktest,
} from './question.ts';
import {
  type EdgeRecord,
  type EdgeRecords,
  keepRecord,
  type RecordedCall,
  type RecordPorts,
  type RecordRead,
} from './record.ts';
import {
  backtestAnswer,
  type CallView,
  DATES_MAX,
  DAY_CALLS_MAX,
  edgeFailure,
  filterList,
  type HANDLERS,
  performanceAnswer,
  replayDates,
  replayDay,
} from './shapes.ts';

const ROUTE = { surface: 'edge', method: 'GET' } as const;
const KEPT_S = 60;

/** Decimal text of a query, within bounds that the message names. */
function decimalWithin(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,7}(\.\d{1,9})?$/, 'expected a decimal number')
    .refine(
      (text) => Number(text) >= least && Number(text) <= most,
      `expected a number from ${least} to ${most}`,
    );
}

const KIND_LIST = new RegExp(
  `^(${DETECTOR_KINDS.join('|')})(,(${DETECTOR_KINDS.join('|')})){0,${DETECTOR_KINDS.length - 1}}$`,
);
const kindList = z
  .string()
  .regex(KIND_LIST, `expected a comma-separated list of ${DETECTOR_KINDS.join(', ')}`)
  .refine((text) => new Set(text.split(',')).size === text.split(',').length, 'a kind stands twice')
  .describe('Kinds of calls, comma-separated. Left out: all of them.');

/** The parameters of a question about the record. */
export const filterQuery = z.strictObject({
  kinds: kindList.optional(),
  asset: callAsset.describe('Calls of this asset, as its venue writes it: `BTC`.').optional(),
  direction: z.enum(DIRECTIONS).describe('Calls of this direction.').optional(),
  horizon_h: z.coerce
    .number()
    .int()
    .min(1)
    .max(720)
    .describe('Calls of this horizon; nothing is priced anew.')
    .optional(),
  days: decimalWithin(1, 3_650)
    .describe(`Days back from the last full hour of the record. Left out: ${DAYS_DEFAULT}.`)
    .optional(),
  cost_bps: decimalWithin(0, 1_000)
    .describe(`The cost of a round trip in basis points. Left out: ${COST_BPS_DEFAULT}.`)
    .optional(),
  min_conviction: decimalWithin(0, 1)
    .describe('Calls of this conviction and higher. Under the live bar the answer is biased.')
    .optional(),
  trials: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .describe('Filters that you tried before, by which the ratio of Sharpe is deflated.')
    .optional(),
});

export const edgeBacktest = plainRoute({
  ...ROUTE,
  access: 'optional_key',
  name: 'edge_backtest',
  path: '/edge/backtest.json',
  summary: 'What came of the emitted calls under a filter, and how much of it may be luck.',
  query: filterQuery.extend({
    list: z
      .literal('filters')
      .optional()
      .describe('`filters`: the combinations that anybody could have tried, instead.'),
  }),
  responses: {
    200: z
      .union([backtestAnswer, filterList, edgeFailure])
      .describe('A filter only takes away. `{error, handler}`: nothing was answered.'),
  },
});

export const edgeReplay = plainRoute({
  ...ROUTE,
  access: 'open',
  name: 'edge_replay',
  path: '/edge/replay.json',
  summary: 'What was called on a date, and how it turned out; without a date, the dates.',
  query: z.strictObject({
    date: askedDay.optional().describe('A UTC date. Left out: the dates with calls on record.'),
  }),
  keptS: KEPT_S,
  responses: {
    200: z
      .union([replayDay, replayDates, edgeFailure])
      .describe('`checked` says whether a day without a call was looked at.'),
  },
});

export const edgePerformance = plainRoute({
  ...ROUTE,
  access: 'open',
  name: 'edge_performance',
  path: '/edge/performance.json',
  summary: 'Whether each detector still does what it did: rates, decay, standing, posteriors.',
  keptS: KEPT_S,
  responses: { 200: z.union([performanceAnswer, edgeFailure]) },
});

export type EdgePorts = RecordPorts & { readonly edgeTrials: EdgeTrials };

type KeptOver = { readonly over: RecordPorts['marketSeries']; readonly records: EdgeRecords };

const RECORDS = new WeakMap<object, KeptOver>();

/** The record over some ports: one for all routes and pages of a process. */
export function recordOver(ports: RecordPorts): EdgeRecords {
  const known = RECORDS.get(ports.emittedCalls);
  if (known !== undefined && known.over === ports.marketSeries) return known.records;
  const records = keepRecord(ports, () => performance.now());
  RECORDS.set(ports.emittedCalls, { over: ports.marketSeries, records });
  return records;
}

const CAVEAT =
  'A record of what was called and what came of it, under the costs that are named. What came ' +
  'of them is past: the next ones may fare otherwise. Rates are of closed calls; equity holds an ' +
  'equal part of each open call and is made anew each hour.';
const LUCK_FLOOR =
  'Trials count what is known of: whoever tried more, elsewhere or without a key, has to deflate ' +
  'by more.';

function caveatOf({ simulated }: EdgeRecord, text: string): string {
  return simulated ? `${SIMULATED_CAVEAT}${text}` : text;
}

/** What the record is made of. @internal */
export function recordMode({ calls, simulated }: EdgeRecord): (typeof DATA_MODES)[number] {
  if (calls.length === 0) return 'empty';
  return simulated ? 'simulated' : 'measured';
}

/** The filter that a query asks for. */
export function filterOf(query: z.output<typeof filterQuery>): Filter {
  const { kinds, asset, direction, horizon_h, days, cost_bps, min_conviction } = query;
  return {
    kinds: kinds === undefined ? null : DETECTOR_KINDS.filter((kind) => namesIn(kinds).has(kind)),
    asset: asset === undefined ? null : asset,
    direction: direction === undefined ? null : direction,
    horizon_h: horizon_h === undefined ? null : horizon_h,
    days: days === undefined ? DAYS_DEFAULT : Number(days),
    cost_bps: cost_bps === undefined ? COST_BPS_DEFAULT : Number(cost_bps),
    min_conviction: min_conviction === undefined ? null : Number(min_conviction),
  };
}

function namesIn(list: string): ReadonlySet<string> {
  return new Set(list.split(','));
}

function failure<H extends (typeof HANDLERS)[number]>(handler: H, { reason }: Why) {
  return { error: reason, handler };
}

const UNKEPT = { kept: false } as const;

/** The tried filters of the membership that asks; `null`: no key was sent. */
async function countTrial(
  { edgeTrials }: Pick<EdgePorts, 'edgeTrials'>,
  caller: Caller,
  filter: Filter,
): Promise<TriedFilters | { readonly silent: Why } | null> {
  if (caller.kind !== 'member') return null;
  const counted = await edgeTrials.countTrial(caller.membership_id, filterDigest(filter));
  return counted instanceof Read ? counted.value : { silent: counted.why };
}

/** @internal */
export function edgeBacktestHandler(
  ports: EdgePorts,
  work: EdgeWork,
): PlainHandler<typeof edgeBacktest> {
  return async ({ query: { list, ...query } }, { signal }, caller) => {
    const filter = filterOf(query);
    const read = await recordOver(ports)('priced');
    if ('silent' in read) return edgeBacktest.reply(200, failure('backtest', read.silent));
    const what = list === undefined ? 'all' : 'family';
    const late = await prepareAnswer(read.record.value, filter, work, { signal, what });
    if (late !== null) return edgeBacktest.reply(200, failure('backtest', late));
    if (list !== undefined) return edgeBacktest.reply(200, listFilters(read, filter));
    const counted = await countTrial(ports, caller, filter);
    if (counted !== null && 'silent' in counted) {
      return edgeBacktest.reply(200, failure('backtest', counted.silent));
    }
    const trials = query.trials === undefined ? null : query.trials;
    return edgeBacktest.reply(200, showBacktest(read, filter, { trials, counted }));
  };
}

type ReadRecord = Exclude<RecordRead, { readonly silent: Why }>;

function listFilters({ record: read }: ReadRecord, filter: Filter) {
  const record = read.value;
  const members = familyMembers(measureListed(record, filter));
  return {
    filters: claim(read, () =>
      members.map(({ sharpe, ...member }) => ({
        ...member,
        sharpe: sharpe === null ? null : yearlySharpe(sharpe),
      })),
    ),
    count: claim(read, () => members.length),
    days: filter.days,
    cost_bps: filter.cost_bps,
    caveat: caveatOf(record, LUCK_FLOOR),
    as_of: record.as_of,
    data_mode: recordMode(record),
  };
}

/** What taking once costs at the base tier, in basis points, as the venues published it by 2026. */
const TAKER_FEES = { hyperliquid: 4.5, binance: 5, bybit: 5.5 } as const;

function showMeasures(
  read: Read<EdgeRecord, EmittedCallsPort>,
  { hits: _, n, ...measures }: CallMeasures,
) {
  return { n: claim(read, () => n), ...measures };
}

type TrialCounts = { readonly trials: number | null; readonly counted: TriedFilters | null };

function showBacktest(read: ReadRecord, filter: Filter, { trials, counted }: TrialCounts) {
  const { record: reading } = read;
  const record = reading.value;
  const told = runBacktest(record, filter);
  const named = [trials, counted === null ? null : counted.distinct].filter((one) => one !== null);
  const { moments } = told;
  return {
    filter: { ...filter, kinds: [...kindsOf(filter)], trials },
    ...showMeasures(reading, told.calls),
    sharpe: told.sharpe,
    sharpe_n: told.sharpe_n,
    days_unread: told.days_unread,
    max_drawdown: told.max_drawdown,
    equity: claim(reading, () => (told.equity === null ? null : [...told.equity])),
    by_kind: Object.fromEntries(
      told.by_kind.map(({ kind, ...measures }) => [kind, showMeasures(reading, measures)]),
    ),
    taker_fees: Object.entries(TAKER_FEES).map(([venue, fee]) => ({
      venue,
      round_trip_bps: 2 * fee,
    })),
    biased: claim(reading, () => told.biases.length > 0),
    bias_reason: biasText(told.biases),
    baseline: { buy_and_hold: told.hold, random_entries: told.entries },
    deflated: {
      ...deflateBacktest(told, named),
      skew: moments === null ? null : moments.skew,
      kurtosis: moments === null ? null : moments.kurtosis,
      n: told.sharpe_n,
    },
    counted:
      counted === null ? null : { distinct: counted.distinct, since: formatIsoTime(counted.since) },
    candles: showCandles(read, told),
    caveat: caveatOf(record, `${CAVEAT} ${LUCK_FLOOR}`),
    as_of: record.as_of,
    data_mode: recordMode(record),
  };
}

function biasText(biases: readonly Bias[]): string | null {
  if (biases.length === 0) return null;
  const named = biases.map(({ kind, bar, lowest_bar }) =>
    bar === lowest_bar
      ? `${kind} was emitted from ${bar} on`
      : `the bar of ${kind} was moved between ${lowest_bar} and ${bar}`,
  );
  return `Calls under the highest bar exist in part: ${named.join('; ')}.`;
}

/** The candles that a backtest rests on; `null`: no call is closed. */
function showCandles({ candles }: ReadRecord, { instruments, hours_unread }: Backtest) {
  const own = present(instruments.map((place) => candles[place]));
  if (own.length === 0) return null;
  const whole = all(own);
  return {
    checked: claimWhole(whole),
    hours_unread,
    reason: whole instanceof Read ? null : whole.why.reason,
  };
}

const REPLAY_CAVEAT =
  'Dates are UTC dates of emission. A day that was not checked may lack calls, since ' +
  'a producer did not run. A later revision of a venue stands under restated, and what was said ' +
  'first stays.';

/** @internal */
export function edgeReplayHandler(ports: RecordPorts): PlainHandler<typeof edgeReplay> {
  return async ({ query: { date } }, { now }) => {
    const read = await recordOver(ports)('unpriced');
    if ('silent' in read) return edgeReplay.reply(200, failure('replay', read.silent), UNKEPT);
    if (date === undefined) return edgeReplay.reply(200, listDates(read.record));
    const today = Math.floor(now() / DAY_S);
    if (startOfDay(date) / DAY_S > today) return badField('date', 'it lies in the future');
    return edgeReplay.reply(200, showDay(read.record, date, today));
  };
}

function listDates(read: ReadRecord['record']) {
  const record = read.value;
  const counts = new Map<string, number>();
  for (const { emitted_at } of record.calls) tally(counts, formatIsoDate(emitted_at));
  const dates = [...counts].map(([date, calls]) => ({ date, calls })).reverse();
  return {
    dates: claim(read, () => dates.slice(0, DATES_MAX)),
    caveat: caveatOf(record, REPLAY_CAVEAT),
    as_of: record.as_of,
    data_mode: recordMode(record),
  };
}

function showDay(read: ReadRecord['record'], date: string, today: number) {
  const record = read.value;
  const from = startOfDay(date);
  const day = from / DAY_S;
  const calls = record.calls.filter(
    ({ emitted_at }) => emitted_at >= from && emitted_at < from + DAY_S,
  );
  if (calls.length > DAY_CALLS_MAX) throw new RangeError('more calls in a day than are emitted');
  const isOver = day < today;
  const ranOf = (kinds: readonly DetectorKind[]) =>
    claim(
      read,
      ({ ran }) =>
        isOver &&
        hasRunAll(
          kinds.map((kind) => ran[kind]),
          day,
        ),
    );
  return {
    date,
    calls: claim(read, () => calls.map(showCall)),
    count: claim(read, () => calls.length),
    checked: ranOf(DETECTOR_KINDS),
    complete: isOver,
    ran: {
      funding: ranOf(['funding']),
      liq: ranOf(['liq']),
      netflow: ranOf(['netflow']),
      whale: ranOf(['whale']),
    },
    caveat: caveatOf(record, REPLAY_CAVEAT),
    as_of: record.as_of,
    data_mode: recordMode(record),
  };
}

const NOT_CLOSED = {
  entry: null,
  entry_at: null,
  exit: null,
  exit_at: null,
  gross_return: null,
  funding_paid: null,
  delisted: null,
};

function showClosing(closing: CallClosing) {
  const { entry, entry_at_ms, exit, exit_at_ms, gross_return, funding_paid, delisted } = closing;
  return {
    entry,
    entry_at: formatIsoTime(entry_at_ms / MS_PER_S),
    exit,
    exit_at: formatIsoTime(exit_at_ms / MS_PER_S),
    gross_return,
    funding_paid,
    delisted,
  };
}

function showCall({
  outcome,
  emitted_at,
  simulated: _,
  window: __,
  ...call
}: RecordedCall): CallView {
  const state = outcome.state;
  const closed_at = outcome.state === 'open' ? null : formatIsoTime(outcome.closed_at);
  const restated = outcome.state === 'closed' ? outcome.restated : null;
  return {
    ...call,
    emitted_at: formatIsoTime(emitted_at),
    outcome: {
      state,
      cause: outcome.state === 'unpriced' ? String(outcome.cause) : null,
      closed_at,
      ...(outcome.state === 'closed' ? showClosing(outcome) : NOT_CLOSED),
      restated:
        restated === null
          ? null
          : { ...showClosing(restated), restated_at: formatIsoTime(restated.restated_at) },
    },
  };
}

const HEALTH_CAVEAT =
  'A hit is a gain after the cost that is named. Calls of one asset that overlap ' +
  'count as one. A version that was deprecated stays so; a new version begins as a hypothesis.';

/** @internal */
export function edgePerformanceHandler(ports: RecordPorts): PlainHandler<typeof edgePerformance> {
  return async () => {
    const read = await recordOver(ports)('unpriced');
    if ('silent' in read) {
      return edgePerformance.reply(200, failure('performance', read.silent), UNKEPT);
    }
    const { record: reading } = read;
    const record = reading.value;
    const rows = measureHealth(record);
    const rowsOf = (kind: DetectorKind) =>
      rows.flatMap(({ kind: own, ...row }) => (own === kind ? [row] : []));
    return edgePerformance.reply(200, {
      kinds: {
        funding: rowsOf('funding'),
        liq: rowsOf('liq'),
        netflow: rowsOf('netflow'),
        whale: rowsOf('whale'),
      },
      cost_bps: COST_BPS_DEFAULT,
      half_life_calls: HALF_LIFE,
      caveat: caveatOf(record, HEALTH_CAVEAT),
      as_of: record.as_of,
      data_mode: recordMode(record),
    });
  };
}
