// No detector, no feature and no rule of closing looks ahead, and one that does is named with what
// it looked at.

import { expect, test, vi } from 'vitest';
import type { DetectorKind } from '../../ports/emitted-calls.ts';
import type { SeriesName } from '../../ports/series.ts';
import {
  findLeaks,
  type Judged,
  laterEvents,
  laterReceipts,
  type SeriesBatch,
  type SeriesRecord,
} from '../../testing/look-ahead.ts';
import { type RecordedSeries, recordedSeries } from '../../testing/recorded-series.ts';
import { emittedCallOf } from '../../testing/twins/emitted-calls.ts';
import { type MarketPlan, simulateMarkets } from '../../world/markets.ts';
import { DETECTORS } from './detectors.ts';
import { observe } from './observations.ts';
import { CALL_FEATURES, callFeatures } from './ranked-features.ts';
import { closeCall, closingEvidence } from './settle.ts';
import { newestVersion } from './versions.ts';

vi.setConfig({ testTimeout: 600_000 });

const SIGNAL = new AbortController().signal;
const HOUR_S = 3_600;
const HOUR = HOUR_S * 1_000;
const FROM = 1_760_000_400_000;
const HOURS = 16 * 24;
const PLAN: MarketPlan = {
  seed: 11,
  assets: ['BTC'],
  from: FROM,
  hours: HOURS,
  reversion: 0.08,
  revises: { venue: 'hyperliquid', oneOf: 10 },
  delists: null,
  silent: null,
};
const WHOLE = { from: FROM, to: FROM + HOURS * HOUR };
const RECORD = recordOf(PLAN);

function recordOf(plan: MarketPlan): SeriesRecord {
  const markets = simulateMarkets(plan);
  const used = ({ venue, series }: SeriesName) =>
    ['hyperliquid', 'chain'].includes(venue) || series === 'liquidations';
  return markets.names
    .filter(used)
    .flatMap((name) =>
      markets.batches(name, WHOLE).map((batch): SeriesBatch => ({ name, ...batch })),
    )
    .sort((a, b) => a.received_at - b.received_at);
}

/** The second of a tick that is so many days into the record. */
const tick = (days: number): number => FROM / 1_000 + days * 24 * HOUR_S + 900;

async function observedOf(record: SeriesRecord, at: number) {
  const observed = await observe(recordedSeries(record), { asset: 'BTC', at }, SIGNAL);
  if ('reason' in observed) throw new Error(`test: ${observed.reason}`);
  return observed;
}

const KINDS = ['funding', 'liq', 'netflow', 'whale'] as const;

/** What a detector finds, however weak: of most hours nothing reaches a bar. */
function detectorAt(kind: DetectorKind, at: number): Judged<SeriesRecord> {
  return {
    name: kind,
    until: at * 1_000,
    judge: async (record) => {
      const observed = await observedOf(record, at);
      const loud = { least_usd: '1', times_mean: '1', deviations: '1' };
      const version = newestVersion(kind);
      const parameters = { ...version.parameters, ...loud };
      return DETECTORS[kind].find(observed, { ...version, parameters });
    },
  };
}

test('no detector looks ahead', async () => {
  // An hour at which each finds something: a guard over rules that do not would hold of any.
  const rules: Judged<SeriesRecord>[] = [];
  for (const kind of KINDS) {
    const found: Judged<SeriesRecord>[] = [];
    for (let hour = 0; hour < 24 && found.length < 1; hour += 1) {
      const rule = detectorAt(kind, tick(15) + hour * HOUR_S);
      if ((await rule.judge(RECORD)) !== null) found.push(rule);
    }
    rules.push(...found);
  }
  expect(rules.map(({ name }) => name)).toEqual(KINDS);
  expect(await findLeaks(RECORD, rules, laterReceipts(3))).toEqual([]);
});

test('no feature looks ahead', async () => {
  const at = tick(15);
  const finding = { direction: 'long', conviction: '1' } as const;
  const features: Judged<SeriesRecord> = {
    name: 'features',
    until: at * 1_000,
    judge: async (record) => callFeatures(await observedOf(record, at), finding),
  };
  const told = (await features.judge(RECORD)) as Record<string, string | null>;
  expect(Object.keys(told)).toEqual(['conviction', ...Object.keys(CALL_FEATURES)]);
  expect(Object.values(told).filter((one) => one === null)).toEqual([]);
  expect(await findLeaks(RECORD, [features], laterReceipts(5))).toEqual([]);
});

const EMITTED = tick(10);
const CALL = emittedCallOf({ emitted_at: EMITTED, horizon_h: 24, direction: 'long' });
const ENTRY = FROM + (10 * 24 + 1) * HOUR;
const EXIT = ENTRY + 24 * HOUR;

async function closingOf(record: SeriesRecord) {
  const series = recordedSeries(record);
  const evidence = await closingEvidence({ series, gather: gatherOf(series) }, CALL, SIGNAL);
  if ('reason' in evidence) throw new Error(`test: ${evidence.reason}`);
  const outcome = closeCall(CALL, evidence, EXIT / 1_000 + 3 * HOUR_S);
  if (outcome.state !== 'closed') throw new Error(`test: ${outcome.state}`);
  return outcome;
}

function gatherOf(series: RecordedSeries): Parameters<typeof closingEvidence>[0]['gather'] {
  return async (name, span, signal) => {
    return { reading: await series.read(name, span, { signal }), fault: null };
  };
}

test('an entry rests on nothing after it, and a closing on nothing after the exit', async () => {
  const rules: readonly Judged<SeriesRecord>[] = [
    {
      name: 'entry',
      until: ENTRY,
      judge: async (record) => {
        const { entry, entry_at_ms } = await closingOf(record);
        return { entry, entry_at_ms };
      },
    },
    { name: 'closing', until: EXIT, judge: closingOf },
  ];
  expect(await closingOf(RECORD)).toMatchObject({ entry_at_ms: ENTRY, exit_at_ms: EXIT });
  expect(await findLeaks(RECORD, rules, laterEvents(9))).toEqual([]);
});

// Rules that look ahead on purpose, one of each kind.

const newestOf = async (record: SeriesRecord, series: 'candles' | 'funding', at: number) => {
  const name = { venue: 'hyperliquid', series, of: 'BTC' } as const;
  const span = { from: (at - 8 * HOUR_S) * 1_000, to: at * 1_000 };
  const reading = await recordedSeries(record).read(name, span, { signal: SIGNAL });
  return JSON.stringify(reading.checked ? reading.value.rows.at(-1) : reading.why);
};

test('a rule that enters at the close of its first candle is named', async () => {
  const rule: Judged<SeriesRecord> = {
    name: 'entry at the close',
    until: ENTRY,
    judge: async (record) => {
      const series = recordedSeries(record);
      const evidence = await closingEvidence({ series, gather: gatherOf(series) }, CALL, SIGNAL);
      if ('reason' in evidence) throw new Error('test: unread');
      return evidence.candles.rows.find(({ at }) => at === ENTRY)?.close;
    },
  };
  expect(await findLeaks(RECORD, [rule], laterEvents(1))).toEqual([
    { rule: rule.name, looks_at: 'close, high, low and volume of an hour that was not over' },
  ]);
});

test('a rule that reads a revision which was received later is named', async () => {
  const at = tick(12);
  const rule: Judged<SeriesRecord> = {
    name: 'the newest revision',
    until: at * 1_000,
    judge: (record) => newestOf(record, 'funding', at - HOUR_S),
  };
  expect(await findLeaks(RECORD, [rule], laterReceipts(1))).toEqual([
    { rule: rule.name, looks_at: 'a revision of funding that was received later' },
  ]);
});

test('a rule that reads the funding of the coming hour is named', async () => {
  const at = tick(12);
  const rule: Judged<SeriesRecord> = {
    name: 'the next settlement',
    until: at * 1_000,
    judge: (record) => newestOf(record, 'funding', at + HOUR_S),
  };
  expect(await findLeaks(RECORD, [rule], laterReceipts(1))).toEqual([
    { rule: rule.name, looks_at: 'funding that were received later' },
    { rule: rule.name, looks_at: 'what was covered later' },
  ]);
});

test('a rule that reads a label which was imported later is named', async () => {
  const at = tick(15);
  const name = { venue: 'chain', series: 'whale_transfers', of: 'BTC' } as const;
  const span = { from: FROM, to: (at - 2 * HOUR_S) * 1_000 };
  const rule: Judged<SeriesRecord> = {
    name: 'labels of today',
    until: at * 1_000,
    judge: async (record) => {
      const reading = await recordedSeries(record).read(name, span, { signal: SIGNAL });
      if (!reading.checked) throw new Error('test: unread');
      return reading.value.rows.map(({ from_label, to_label }) => [from_label, to_label]);
    },
  };
  expect(await findLeaks(RECORD, [rule], laterReceipts(1))).toEqual([
    { rule: rule.name, looks_at: 'a label that was imported later' },
  ]);
});
