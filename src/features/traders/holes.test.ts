// A hole never reads as an hour without trade, price or funding: where the venue may still fill it,
// nothing is analysed, and where it cannot, what lies in it is counted and supports no label.

import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { Refusal } from '../../contract/refusals.ts';
import { NOBODY } from '../../contract/route.ts';
import { Read, type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { CANDLE_MS, type SeriesSpan } from '../../ports/series.ts';
import { spansWithout } from '../../ports/series-coverage.ts';
import { embeddedControl } from '../../testing/control-store.ts';
import { asFill, asFunding } from '../../testing/noise-traders.ts';
import { memorySource, UNDATED } from '../../testing/twins/dated.ts';
import { memorySeriesStore } from '../../testing/twins/series.ts';
import { WORLD_TRADERS, worldCandles, worldFills, worldFunding } from '../../world/traders.ts';
import { type AnalyseDependencies, analyseTrader, workOut } from './analyse.ts';
import { exposedHours } from './exposure.ts';
import { temporalHandler } from './temporal.route.tsx';
import { traderAnalysisTable, traderWorkTable } from './traders.store.ts';
import { sortFills } from './trades.ts';

vi.setConfig({ testTimeout: 120_000 });

const NOW = Date.UTC(2026, 8, 24, 12);
const DAYS = 40;
const FROM = NOW - DAYS * 24 * CANDLE_MS;
const BEGAN = Date.UTC(2022, 0, 1);
const KINDS = ['fills', 'candles', 'account_funding'] as const;
type Kind = (typeof KINDS)[number];
const found = WORLD_TRADERS.find(({ kind }) => kind === 'always_in');
if (found === undefined) throw new Error('test: no such trader');
const TRADER = found;

const fills = worldFills(TRADER, NOW)
  .filter(({ at }) => at >= FROM && at < NOW)
  .map(asFill);
const candles = worldCandles(TRADER.coin, FROM - CANDLE_MS, NOW).map(({ at, open, close }) => {
  const [first, last] = [String(open), String(close)];
  return { at, open: first, high: first, low: last, close: last, volume: '1' };
});
const funding = worldFunding(TRADER, NOW)
  .filter(({ at }) => at >= FROM && at < NOW)
  .map(asFunding);
const ROWS = { fills, candles, account_funding: funding } as const;

const CAUSE = why('store_unreadable', { what: 'A series', fault: 'a planted fault' });

/**
 * Analyses the account where one series has a hole, which its venue may still fill or not, or is
 * not read at all: its store or its venue is silent.
 */
async function analyseWith(
  kind: Kind,
  hole: SeriesSpan,
  gone: boolean,
  silent: 'store' | 'venue' | null = null,
) {
  const store = memorySeriesStore();
  const whole = { from: BEGAN, to: NOW };
  for (const series of KINDS) {
    const isHoled = series === kind;
    const rows = ROWS[series].filter(({ at }) => !isHoled || at < hole.from || at >= hole.to);
    const of = series === 'candles' ? TRADER.coin : TRADER.address;
    await store.add({ venue: 'hyperliquid', series, of }, rows, {
      covered: isHoled ? spansWithout(whole, [hole]) : [whole],
      gone: isHoled && gone ? [hole] : [],
      received_at: NOW,
      source: 'memory:',
      origin: 'observed',
    });
  }
  const source = memorySource('Venue', 'observation', UNDATED);
  const given: AnalyseDependencies = {
    gathering: {
      gather: async (name, span, signal) => {
        const isSilent = name.series === kind && silent !== null;
        return {
          reading:
            isSilent && silent === 'store'
              ? unread('market_series', CAUSE)
              : await store.read(name, span, { signal }),
          fault: isSilent && silent === 'venue' ? unread('market_source', CAUSE) : null,
        };
      },
      roleOf: async () => read({ role: 'user' } as const, { port: 'market_source', source }),
    },
    workOut: async (record) => workOut({ ...record, permutations: 20 }),
    now: () => NOW / 1_000,
    simulated: false,
  };
  return analyseTrader(given, TRADER.address, new AbortController().signal);
}

const EXPOSED = exposedHours(
  sortFills(fills, new Set()).perps,
  new Map([[TRADER.coin, new Map(candles.map((one) => [one.at, one]))]]),
  NOW,
);
const exposedIn = (holds: (at: number) => boolean) => EXPOSED.filter(({ at }) => holds(at)).length;

const HOURS = DAYS * 24;
/** Holes of an hour up to ten days, after the first fill and before the last hour. */
const holes = fc
  .record({
    from: fc.integer({ min: 24 * 60, max: (HOURS - 260) * 60 }),
    minutes: fc.integer({ min: 61, max: 10 * 24 * 60 }),
  })
  .map(({ from, minutes }): SeriesSpan => {
    const begin = FROM + from * 60_000;
    return { from: begin, to: begin + minutes * 60_000 };
  });

test('the whole record is analysed, with every hour of it', async () => {
  const told = await analyseWith('fills', { from: BEGAN, to: BEGAN }, false);
  expect(told).toMatchObject({
    end: 'analysed',
    analysis: {
      coverage: {
        fills: fills.length,
        horizon_reached: false,
        missing_candle_h: 0,
        unpriced_funding_h: 0,
      },
    },
  });
  expect(EXPOSED.length).toBeGreaterThan(HOURS / 2);
});

test.each(KINDS)(
  'where the venue may still fill a hole of %s nothing is analysed',
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(holes, async (hole) => {
        expect(await analyseWith(kind, hole, false)).toMatchObject({
          end: 'failed',
          outside: true,
        });
      }),
      { numRuns: 8 },
    );
  },
);

test.each(KINDS)('what lies in a hole of %s that nobody can fill is counted', async (kind) => {
  await fc.assert(
    fc.asyncProperty(holes, async (hole) => {
      const told = await analyseWith(kind, hole, true);
      if (told.end !== 'analysed') throw new Error(`test: ${told.end}`);
      const { coverage, classification, modes } = told.analysis;
      if (kind === 'fills') {
        expect(coverage.horizon_reached).toBe(true);
        expect(classification).toEqual({ labels: [], no_label: 'horizon_reached' });
      }
      if (kind === 'candles') {
        const unread = exposedIn((at) => at >= hole.from && at < hole.to);
        expect(coverage.missing_candle_h).toBe(unread);
        const hoursOf = (mode: 'realization' | 'exposure') =>
          modes[mode].session.reduce((sum, { exposure_h }) => sum + exposure_h, 0);
        // They are in no hour of the mode that marks positions to candles.
        expect(hoursOf('exposure')).toBeLessThanOrEqual(hoursOf('realization'));
        expect(unread === 0).toBe(hoursOf('exposure') === hoursOf('realization'));
      }
      if (kind === 'account_funding') {
        const unread = exposedIn((at) => at < hole.to && at + CANDLE_MS > hole.from);
        expect(coverage.unpriced_funding_h).toBe(unread);
      }
    }),
    { numRuns: 8 },
  );
});

const freshStore = embeddedControl();
const HOLE = { from: FROM + 10 * 24 * CANDLE_MS, to: FROM + 12 * 24 * CANDLE_MS };
const NO_HOLE = { from: BEGAN, to: BEGAN };

const said = z.looseObject({
  caveats: z.array(z.string()).default([]),
  coverage: z.looseObject({ missing_candle_h: z.int(), unpriced_funding_h: z.int() }).optional(),
});

/** What the route says of the account after some attempts, each kept as the job keeps it. */
async function routeAfter(attempts: readonly Awaited<ReturnType<typeof analyseWith>>[]) {
  const database = freshStore();
  await database.setClock(NOW / 1_000);
  const context = { simulated: false, nowMs: () => NOW };
  const work = traderWorkTable(database, context);
  for (const attempt of attempts) await value(work.settle(TRADER.address, attempt));
  const handler = temporalHandler({
    traderAnalyses: traderAnalysisTable(database, context, true),
  });
  const input = { params: { address: TRADER.address }, query: {}, body: undefined };
  const request = { now: () => NOW / 1_000, signal: new AbortController().signal };
  const answer = await handler(input, request, NOBODY);
  if (answer instanceof Refusal) throw new Error('test: refused');
  return {
    status: answer.status,
    body: said.parse(JSON.parse(JSON.stringify(answer.body, shown))),
  };
}

async function value<T>(reading: Promise<Reading<T, never>>): Promise<T> {
  const found = await reading;
  if (!(found instanceof Read)) throw new Error(`test: unread: ${found.why.reason}`);
  return found.value;
}

function shown(_name: string, one: unknown): unknown {
  return one !== null && typeof one === 'object' && 'shown' in one ? one.shown : one;
}

const SILENCES = KINDS.flatMap((kind) =>
  (['store', 'venue', 'a hole that may be filled'] as const).map((by) => [kind, by] as const),
);

test.each(SILENCES)(
  'the route analyses nobody by %s of which the %s is silent, and keeps what was found',
  async (kind, by) => {
    const isHole = by === 'a hole that may be filled';
    const failed = await analyseWith(kind, isHole ? HOLE : NO_HOLE, false, isHole ? null : by);
    expect(failed).toMatchObject({ end: 'failed' });
    expect(await routeAfter([failed])).toMatchObject({
      status: 404,
      body: { analysed: false, error: 'not_analysed', engine_unreachable: by !== 'store' },
    });
    const whole = await analyseWith(kind, NO_HOLE, false);
    const before = await routeAfter([whole]);
    const { caveats, ...found } = before.body;
    const after = await routeAfter([whole, failed]);
    expect(after).toMatchObject({ status: 200, body: found });
    expect(after.body.caveats).toEqual([
      ...caveats,
      expect.stringMatching(/^A later attempt, at .*, failed: /),
    ]);
  },
);

test.each([
  ['fills', { coverage: { horizon_reached: true }, classification: { labels: [] } }],
  ['candles', { coverage: { missing_candle_h: expect.any(Number) } }],
  ['account_funding', { coverage: { unpriced_funding_h: expect.any(Number) } }],
] as const)('the route tells how much of %s nobody can read any more', async (kind, told) => {
  const { status, body } = await routeAfter([await analyseWith(kind, HOLE, true)]);
  expect([status, body]).toMatchObject([200, told]);
  expect(Number(body.coverage?.missing_candle_h) > 0).toBe(kind === 'candles');
  expect(Number(body.coverage?.unpriced_funding_h) > 0).toBe(kind === 'account_funding');
});
