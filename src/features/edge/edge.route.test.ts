// The routes of the edge say what the record holds, with the number of each rate; a record that
// could not be read is no empty one, and one route that fails leaves the others whole.

import { describe, expect, test } from 'vitest';
import { DAY_S, HOUR_S, MS_PER_S } from '../../chain/time.ts';
import { type Caller, NOBODY } from '../../contract/route.ts';
import { Read, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { EmittedCall } from '../../ports/emitted-calls.ts';
import { memorySource, PLANTED } from '../../testing/twins/dated.ts';
import { memoryEdgeTrials, silentEdgeTrials } from '../../testing/twins/edge-trials.ts';
import {
  emittedCallOf,
  memoryEmittedCalls,
  NOTHING_EMITTED,
  outcomeOf,
  plantedEmittedCalls,
  silentEmittedCalls,
} from '../../testing/twins/emitted-calls.ts';
import { memorySeriesStore, silentSeries } from '../../testing/twins/series.ts';
import {
  type EdgePorts,
  edgeBacktestHandler,
  edgePerformanceHandler,
  edgeReplayHandler,
} from './edge.route.ts';
import { WORK_HERE } from './question.ts';

const CAUSE = why('store_unreadable', { what: 'The record of calls', fault: 'a planted fault' });
const NOW = PLANTED.as_of;
const request = { now: () => NOW, signal: new AbortController().signal };
const MEMBER: Caller = { kind: 'member', membership_id: 'mem_1', plan: 'analyst', key_id: 'key_1' };

function portsOf(over: Partial<EdgePorts> = {}): EdgePorts {
  return {
    ...memoryEmittedCalls(NOTHING_EMITTED),
    ...memoryEdgeTrials(),
    marketSeries: memorySeriesStore(),
    ...over,
  };
}

type Query = Parameters<ReturnType<typeof edgeBacktestHandler>>[0]['query'];

async function backtest(ports: EdgePorts, query: Query = {}, caller: Caller = NOBODY) {
  const reply = await edgeBacktestHandler(ports, WORK_HERE)(
    { params: {}, query, body: undefined },
    request,
    caller,
  );
  return { status: reply.status, body: bodyOf(reply) };
}

async function replay(ports: EdgePorts, date?: string, now = NOW) {
  const query = date === undefined ? {} : { date };
  const asked = { ...request, now: () => now };
  const reply = await edgeReplayHandler(ports)(
    { params: {}, query, body: undefined },
    asked,
    NOBODY,
  );
  return { status: reply.status, body: bodyOf(reply) };
}

async function performance(ports: EdgePorts) {
  const input = { params: {}, query: {}, body: undefined };
  const reply = await edgePerformanceHandler(ports)(input, request, NOBODY);
  return { status: reply.status, body: bodyOf(reply) };
}

function bodyOf(reply: object): unknown {
  return Reflect.get(reply, 'body');
}

const READ_FIRST =
  'A record of what was called and what came of it, under the costs that are named. What came of ' +
  'them is past: the next ones may fare otherwise. Rates are of closed calls; equity holds an equal ' +
  'part of each open call and is made anew each hour. Trials count what is known of: whoever tried ' +
  'more, elsewhere or without a key, has to deflate by more.';
const UNMEASURED = {
  n: 0,
  closed: 0,
  open: 0,
  unpriced: 0,
  hit_rate: null,
  interval: null,
  effective_n: 0,
  mean_return_bps: null,
  median_return_bps: null,
  gross: { hit_rate: null, mean_return_bps: null, median_return_bps: null },
  mean_funding_bps: null,
  breakeven_cost_bps: null,
};
const FEES = [
  { venue: 'hyperliquid', round_trip_bps: 9 },
  { venue: 'binance', round_trip_bps: 10 },
  { venue: 'bybit', round_trip_bps: 11 },
];
const EVERYTHING = {
  kinds: ['funding', 'liq', 'netflow', 'whale'],
  asset: null,
  direction: null,
  horizon_h: null,
  days: 90,
  cost_bps: 1,
  min_conviction: null,
  trials: null,
};

/** Two closed calls of BTC that do not overlap, 2% up and 1% down, and the candles under them. */
const FROM = NOW - (NOW % DAY_S) - 10 * DAY_S;
const UP = emittedCallOf(
  { emitted_at: FROM + 60, direction: 'long', conviction: '0.8' },
  outcomeOf({ emitted_at: FROM + 60, horizon_h: 24 }, { gross_return: '0.02', exit: '102' }),
  1,
);
const DOWN = emittedCallOf(
  { emitted_at: FROM + 3 * DAY_S, direction: 'long', conviction: '0.6' },
  outcomeOf(
    { emitted_at: FROM + 3 * DAY_S, horizon_h: 24 },
    { gross_return: '-0.01', entry: '100', exit: '99', funding_paid: '0.0005' },
  ),
  2,
);
const RAN = [{ from: FROM - DAY_S, to: NOW }];
const RUN_ALL = { funding: RAN, liq: RAN, netflow: RAN, whale: RAN };

async function pricedPorts(calls: readonly EmittedCall[] = [UP, DOWN]): Promise<EdgePorts> {
  const marketSeries = memorySeriesStore();
  const from = (FROM - DAY_S) * MS_PER_S;
  const to = (NOW - (NOW % HOUR_S)) * MS_PER_S;
  const rows = Array.from({ length: (to - from) / 3_600_000 }, (_, hour) => {
    const at = from + hour * 3_600_000;
    return { at, open: '100', high: '100', low: '100', close: '100', volume: '1' };
  });
  await marketSeries.add({ venue: 'hyperliquid', series: 'candles', of: 'BTC' }, rows, {
    covered: [{ from, to }],
    received_at: NOW * MS_PER_S,
    source: 'a test',
    origin: 'observed',
  });
  const record = { ...NOTHING_EMITTED, changes: calls, ran: RUN_ALL };
  return portsOf({ ...memoryEmittedCalls(record), marketSeries });
}

describe('backtest says', () => {
  test('that nothing is on record, as the honest nothing of a fresh install', async () => {
    expect(await backtest(portsOf())).toEqual({
      status: 200,
      body: {
        filter: EVERYTHING,
        ...UNMEASURED,
        sharpe: null,
        sharpe_n: 0,
        days_unread: 0,
        max_drawdown: null,
        equity: [],
        by_kind: { funding: UNMEASURED, liq: UNMEASURED, netflow: UNMEASURED, whale: UNMEASURED },
        taker_fees: FEES,
        biased: false,
        bias_reason: null,
        baseline: {
          buy_and_hold: null,
          random_entries: {
            p: null,
            entries: 1_000,
            seed: 3_295_144_870,
            reason: 'no_closed_call',
          },
        },
        deflated: {
          probability: null,
          sharpe_0: null,
          trials: 1,
          variance: null,
          skew: null,
          kurtosis: null,
          n: 0,
          reason: 'no_sharpe',
        },
        counted: null,
        candles: null,
        caveat: READ_FIRST,
        as_of: null,
        data_mode: 'empty',
      },
    });
  });

  test('what was called and what came of it, by kind and all together', async () => {
    const { body } = await backtest(await pricedPorts(), { kinds: 'funding', cost_bps: '2.5' });
    const measured = {
      n: 2,
      closed: 2,
      open: 0,
      unpriced: 0,
      hit_rate: 0.5,
      interval: { low: 0.09453120573423071, high: 0.9054687942657693 },
      effective_n: 2,
      mean_return_bps: expect.closeTo(45, 9),
      median_return_bps: expect.closeTo(45, 9),
      gross: {
        hit_rate: 0.5,
        mean_return_bps: expect.closeTo(50, 9),
        median_return_bps: expect.closeTo(50, 9),
      },
      mean_funding_bps: expect.closeTo(2.5, 9),
      breakeven_cost_bps: expect.closeTo(47.5, 9),
    };
    expect(body).toMatchObject({
      filter: { ...EVERYTHING, kinds: ['funding'], cost_bps: 2.5 },
      ...measured,
      by_kind: { funding: measured },
      sharpe: null,
      sharpe_n: 11,
      candles: { checked: true, hours_unread: 0, reason: null },
      baseline: { random_entries: { entries: 1_000, reason: null } },
      deflated: { trials: 1, n: 11, reason: 'no_sharpe' },
      counted: null,
      as_of: NOW - (NOW % HOUR_S),
      data_mode: 'measured',
    });
  });

  test('how many filters a membership tried, and deflates by the most that is known', async () => {
    const ports = await pricedPorts();
    const own = { countTrial: async () => read({ distinct: 7, since: NOW }, ORIGIN) };
    const query = { trials: 3 };
    const { body } = await backtest({ ...ports, edgeTrials: own }, query, MEMBER);
    expect(body).toMatchObject({
      filter: { trials: 3 },
      counted: { distinct: 7, since: '2026-09-24T11:00:00.000Z' },
      deflated: { trials: 7 },
    });
    const more = await backtest({ ...ports, edgeTrials: own }, { trials: 9 }, MEMBER);
    expect(more.body).toMatchObject({ deflated: { trials: 9 } });
  });

  test('the same whoever else asks: without a key nothing is counted, 500 times', async () => {
    const counted: string[] = [];
    const edgeTrials: EdgePorts['edgeTrials'] = {
      countTrial: async (membership) => {
        counted.push(membership);
        return read({ distinct: counted.length, since: NOW }, ORIGIN);
      },
    };
    const ports = { ...(await pricedPorts()), edgeTrials };
    const first = JSON.stringify(await backtest(ports));
    const others = Array.from({ length: 500 }, (_, at) =>
      backtest(ports, { cost_bps: String(at) }),
    );
    await Promise.all(others);
    expect(counted).toEqual([]);
    expect(JSON.stringify(await backtest(ports))).toBe(first);
  });

  test('the combinations that anybody could have tried', async () => {
    expect(await backtest(portsOf(), { list: 'filters' })).toEqual({
      status: 200,
      body: {
        filters: [],
        count: 0,
        days: 90,
        cost_bps: 1,
        caveat:
          'Trials count what is known of: whoever tried more, elsewhere or without a key, has to ' +
          'deflate by more.',
        as_of: null,
        data_mode: 'empty',
      },
    });
    const many = Array.from({ length: 40 }, (_, at) => {
      const emitted_at = FROM + 60 + at * HOUR_S;
      return emittedCallOf(
        { emitted_at, direction: 'long', conviction: '0.8' },
        outcomeOf({ emitted_at, horizon_h: 3 }, { gross_return: '0.01', exit: '101' }),
        at,
      );
    });
    const { body } = await backtest(await pricedPorts(many), { list: 'filters' });
    // Kind, asset and direction each asked for or not, and three convictions that all calls reach.
    expect(body).toMatchObject({ count: 2 * 2 * 2 * 3 });
  });

  test('that it is biased under the live bar, and why', async () => {
    const ports = portsOf(plantedEmittedCalls({ emitted: true }));
    const reasonOf = async (query: Query) =>
      Object((await backtest(ports, query)).body).bias_reason;
    expect(await reasonOf({ kinds: 'liq', min_conviction: '0.4' })).toBe(
      'Calls under the highest bar exist in part: liq was emitted from 0.5 on.',
    );
    expect(await reasonOf({ kinds: 'funding', min_conviction: '0.5' })).toBe(
      'Calls under the highest bar exist in part: the bar of funding was moved between 0.5 and 0.6.',
    );
    const over = await backtest(ports, { min_conviction: '0.6' });
    expect(over.body).toMatchObject({ biased: false, bias_reason: null });
  });
});

const ORIGIN = {
  port: 'edge_trials',
  source: memorySource('Tried filters', 'table', PLANTED),
} as const;

const DAY_TEXT = new Date(FROM * MS_PER_S).toISOString().slice(0, 10);
const REPLAY_FIRST =
  'Dates are UTC dates of emission. A day that was not checked may lack calls, since a producer ' +
  'did not run. A later revision of a venue stands under restated, and what was said first stays.';

describe('replay says', () => {
  test('the dates with calls, the newest first', async () => {
    expect(await replay(portsOf())).toEqual({
      status: 200,
      body: { dates: [], caveat: REPLAY_FIRST, as_of: null, data_mode: 'empty' },
    });
    const { body } = await replay(await pricedPorts());
    expect(body).toMatchObject({
      dates: [
        { date: new Date((FROM + 3 * DAY_S) * MS_PER_S).toISOString().slice(0, 10), calls: 1 },
        { date: DAY_TEXT, calls: 1 },
      ],
    });
  });

  test('what was called on a date, and how it turned out', async () => {
    const { body } = await replay(await pricedPorts(), DAY_TEXT);
    expect(body).toEqual({
      date: DAY_TEXT,
      calls: [
        {
          call_id: UP.call_id,
          kind: 'funding',
          asset: 'BTC',
          venue: 'hyperliquid',
          direction: 'long',
          conviction: '0.8',
          price: '100',
          emitted_at: new Date((FROM + 60) * MS_PER_S).toISOString(),
          horizon_h: 24,
          detector_version: 'funding-1',
          bar: '0.5',
          leaf: 1,
          outcome: {
            state: 'closed',
            cause: null,
            closed_at: new Date((FROM + 27 * HOUR_S) * MS_PER_S).toISOString(),
            entry: '100',
            entry_at: new Date((FROM + HOUR_S) * MS_PER_S).toISOString(),
            exit: '102',
            exit_at: new Date((FROM + 25 * HOUR_S) * MS_PER_S).toISOString(),
            gross_return: '0.02',
            funding_paid: '0',
            delisted: false,
            restated: null,
          },
        },
      ],
      count: 1,
      checked: true,
      complete: true,
      ran: { funding: true, liq: true, netflow: true, whale: true },
      caveat: REPLAY_FIRST,
      as_of: NOW - (NOW % HOUR_S),
      data_mode: 'measured',
    });
  });

  test('that a day without a running producer, before the record or not over is not checked', async () => {
    const half = { ...RUN_ALL, whale: [{ from: FROM - DAY_S, to: FROM + DAY_S / 2 }] };
    const record = { ...NOTHING_EMITTED, changes: [UP], ran: half };
    const ports = portsOf(memoryEmittedCalls(record));
    const day = (offset: number) =>
      new Date((FROM + offset * DAY_S) * MS_PER_S).toISOString().slice(0, 10);
    expect((await replay(ports, day(0))).body).toMatchObject({
      count: 1,
      checked: false,
      complete: true,
      ran: { funding: true, liq: true, netflow: true, whale: false },
    });
    expect((await replay(ports, day(-1))).body).toMatchObject({ count: 0, checked: true });
    expect((await replay(ports, day(-2))).body).toMatchObject({ calls: [], checked: false });
    const today = await replay(ports, day(10), FROM + 10.9 * DAY_S);
    expect(today.body).toMatchObject({ checked: false, complete: false });
  });

  test('a later revision beside what was said first', async () => {
    const restated = {
      entry_at_ms: (FROM + HOUR_S) * MS_PER_S,
      entry: '100',
      exit_at_ms: (FROM + 25 * HOUR_S) * MS_PER_S,
      exit: '90',
      gross_return: '-0.1',
      funding_paid: '0',
      delisted: true,
      restated_at: FROM + 30 * HOUR_S,
    };
    const outcome = { ...UP.outcome, restated } as EmittedCall['outcome'];
    const { body } = await replay(await pricedPorts([{ ...UP, outcome }]), DAY_TEXT);
    expect(body).toMatchObject({
      calls: [
        {
          outcome: {
            gross_return: '0.02',
            delisted: false,
            restated: { gross_return: '-0.1', delisted: true },
          },
        },
      ],
    });
  });
});

/** So many outcomes of which a share hits, evenly. */
function evenly(count: number, share: number): readonly number[] {
  return Array.from({ length: count }, (_, at) =>
    Number(Math.floor((at + 1) * share) > Math.floor(at * share)),
  );
}

async function fundingHealth(outcomes: readonly number[]): Promise<unknown> {
  const begun = NOW - (NOW % DAY_S) - outcomes.length * DAY_S;
  const changes = outcomes.map((hit, day) => {
    const emitted_at = begun + day * DAY_S;
    const gross_return = hit === 1 ? '0.01' : '-0.01';
    return emittedCallOf(
      { emitted_at, horizon_h: 20 },
      outcomeOf({ emitted_at, horizon_h: 20 }, { gross_return }),
      day,
    );
  });
  const { emittedCalls } = plantedEmittedCalls({ emitted: true });
  const [planted] = await emittedCalls
    .versions()
    .then((versions) => (versions instanceof Read ? versions.value : []));
  if (planted === undefined) throw new Error('no version is planted');
  const versions = [{ ...planted, in_force_from: begun }];
  const ran = { ...RUN_ALL, funding: [{ from: begun, to: NOW }] };
  const ports = portsOf(memoryEmittedCalls({ changes, versions, ran }));
  const { body } = await performance(ports);
  return Object(body).kinds.funding;
}

describe('performance says', () => {
  const NO_DATA = {
    detector_version: null,
    closed: 0,
    hits: 0,
    hit_rate: null,
    interval: null,
    effective_n: 0,
    decay: 'unknown',
    deprecation: 'hypothesis',
    posterior: null,
    weight: null,
  };

  test('of every kind that nothing is known yet', async () => {
    expect(await performance(portsOf())).toEqual({
      status: 200,
      body: {
        kinds: { funding: [NO_DATA], liq: [NO_DATA], netflow: [NO_DATA], whale: [NO_DATA] },
        cost_bps: 1,
        half_life_calls: 30,
        caveat:
          'A hit is a gain after the cost that is named. Calls of one asset that ' +
          'overlap count as one. A version that was deprecated stays so; a new version begins as a ' +
          'hypothesis.',
        as_of: null,
        data_mode: 'empty',
      },
    });
  });

  // The figures are those of SciPy and mpmath for the same counts.
  test.each([
    {
      state: '29 closed',
      outcomes: evenly(29, 0.6),
      row: { closed: 29, hits: 17, decay: 'unknown', deprecation: 'hypothesis' },
      wilson: [0.407378359878786, 0.744868226586776],
      beta: [0.406034930051819, 0.745392450096737, 0.819202695973217],
    },
    {
      state: 'stable',
      outcomes: evenly(50, 0.6),
      row: { closed: 50, hits: 30, decay: 'stable', deprecation: 'active' },
      wilson: [0.461814377475894, 0.723916102697435],
      beta: [0.461140989579808, 0.724157039487415, 0.919610199094006],
    },
    {
      state: 'decaying',
      outcomes: [...evenly(200, 0.8), ...evenly(40, 0.2)],
      row: { closed: 240, hits: 168, decay: 'decaying', deprecation: 'probation' },
      wilson: [0.639244957250132, 0.754453474773245],
      beta: [0.639152848179606, 0.754436150631484, 0.999999999817733],
    },
    {
      state: 'improving',
      outcomes: [...evenly(200, 0.5), ...evenly(60, 0.95)],
      row: { closed: 260, hits: 157, decay: 'improving', deprecation: 'active' },
      wilson: [0.543298560637607, 0.661369804377379],
      beta: [0.543228744518601, 0.661387694911507, 0.999601078879132],
    },
    {
      state: 'deprecated',
      outcomes: [...evenly(99, 0.35), 0],
      row: { closed: 100, hits: 34, decay: 'stable', deprecation: 'deprecated' },
      wilson: [0.254615207973482, 0.437222711452754],
      beta: [0.254592471142588, 0.437509450600341, 0.000665912557099806],
    },
  ])('$state', async ({ outcomes, row, wilson, beta }) => {
    const { closed, hits } = row;
    const [low, high] = wilson;
    const [from, to, over] = beta;
    expect(await fundingHealth(outcomes)).toEqual([
      {
        ...NO_DATA,
        detector_version: 'funding-1',
        ...row,
        hit_rate: hits / closed,
        interval: { low: expect.closeTo(Number(low), 12), high: expect.closeTo(Number(high), 12) },
        effective_n: closed,
        posterior: {
          alpha: expect.closeTo(1 + hits, 9),
          beta: expect.closeTo(1 + closed - hits, 9),
          mean: expect.closeTo((1 + hits) / (2 + closed), 12),
          low: expect.closeTo(Number(from), 10),
          high: expect.closeTo(Number(to), 10),
          over_half: expect.closeTo(Number(over), 10),
        },
        weight: 1,
      },
    ]);
  });
});

describe('is silent', () => {
  const HOLDS = ['changedSince', 'versions', 'ran'] as const;

  test.each(HOLDS)(
    'where %s of the record does not answer, under each name and for no cache',
    async (part) => {
      const { emittedCalls } = await pricedPorts();
      const silent = silentEmittedCalls(CAUSE).emittedCalls;
      const ports = portsOf({ emittedCalls: { ...emittedCalls, [part]: silent[part] } });
      const error = CAUSE.reason;
      expect(await backtest(ports)).toEqual({ status: 200, body: { error, handler: 'backtest' } });
      expect(await replay(ports)).toEqual({ status: 200, body: { error, handler: 'replay' } });
      expect(await performance(ports)).toEqual({
        status: 200,
        body: { error, handler: 'performance' },
      });
      const asked = { params: {}, query: {}, body: undefined };
      const unkept = await edgeReplayHandler(ports)(asked, request, NOBODY);
      expect(Reflect.get(unkept, 'isKept')).toBe(false);
      const kept = await edgeReplayHandler(await pricedPorts())(asked, request, NOBODY);
      expect(Reflect.get(kept, 'isKept')).toBe(true);
    },
  );

  test('where the candles cannot be read', async () => {
    const ports = { ...(await pricedPorts()), ...silentSeries(CAUSE) };
    const error = CAUSE.reason;
    expect((await backtest(ports)).body).toEqual({ error, handler: 'backtest' });
  });

  test('where tries cannot be counted, and the others are whole', async () => {
    const ports = { ...(await pricedPorts()), ...silentEdgeTrials(CAUSE) };
    const { body } = await backtest(ports, {}, MEMBER);
    expect(body).toEqual({ error: CAUSE.reason, handler: 'backtest' });
    expect((await backtest(ports)).body).toMatchObject({ n: 2 });
    expect((await replay(ports)).body).toMatchObject({ data_mode: 'measured' });
    expect((await performance(ports)).body).toMatchObject({ data_mode: 'measured' });
  });

  test('where a row is corrupt or a deadline passed: a later question is answered', async () => {
    const { emittedCalls } = await pricedPorts();
    let isBroken = true;
    const changedSince: EdgePorts['emittedCalls']['changedSince'] = async (place, limit) =>
      isBroken ? unread('emitted_calls', CAUSE) : emittedCalls.changedSince(place, limit);
    const ports = { ...(await pricedPorts()), emittedCalls: { ...emittedCalls, changedSince } };
    const handle = edgeBacktestHandler(ports, WORK_HERE);
    const ask = async () =>
      bodyOf(await handle({ params: {}, query: {}, body: undefined }, request, NOBODY));
    expect(await ask()).toMatchObject({ handler: 'backtest' });
    isBroken = false;
    expect(await ask()).toMatchObject({ n: 2 });
  });

  test('about hours between the ends of calls that nobody read', async () => {
    const { emittedCalls } = await pricedPorts();
    const { body } = await backtest(portsOf({ emittedCalls }));
    expect(body).toMatchObject({
      n: 2,
      max_drawdown: null,
      equity: null,
      candles: { checked: false, hours_unread: 46, reason: expect.any(String) },
    });
  });
});

describe('refuses', () => {
  test('a date that lies in the future', async () => {
    const { status, body } = await replay(portsOf(), '2999-01-01');
    expect([status, Object(body).error]).toEqual([400, 'date: it lies in the future']);
  });
});
