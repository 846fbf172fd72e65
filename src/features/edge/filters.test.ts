// A filter takes away and nothing else; an answer is a function of the question and the record.

import { describe, expect, test } from 'vitest';
import { sharesFrom } from '../../evidence/random.ts';
import { DETECTOR_KINDS, DIRECTIONS, type KeptVersion } from '../../ports/emitted-calls.ts';
import { FIRST_HOUR, noiseRecord, testRecord } from '../../testing/edge-records.ts';
import { momentsOf } from './backtest.ts';
import { biasesOf, daysBack, type Filter, filterText, selectCalls } from './filters.ts';
import { deflateSharpe, familyMembers } from './luck.ts';
import { deflateBacktest, measureListed, runBacktest } from './question.ts';
import { buildRecord } from './record.ts';

const RECORD = noiseRecord(41, { assets: 5, hours: 24 * 60, bursts: 20 });
const ALL: Filter = {
  kinds: null,
  asset: null,
  direction: null,
  horizon_h: null,
  days: 365,
  cost_bps: 1,
  min_conviction: null,
};

function drawFilter(shares: () => number): Filter {
  const maybe = <T>(value: T): T | null => (shares() < 0.5 ? null : value);
  const kinds = DETECTOR_KINDS.filter(() => shares() < 0.6);
  return {
    kinds: maybe(kinds.length === 0 ? ['liq'] : kinds),
    asset: maybe(`A${Math.floor(shares() * 5)}`),
    direction: maybe(DIRECTIONS[Math.floor(shares() * 2)] ?? 'long'),
    horizon_h: maybe(shares() < 0.7 ? 24 : 48),
    days: 1 + Math.floor(shares() * 80),
    cost_bps: Math.floor(shares() * 20),
    min_conviction: maybe(0.5 + Math.floor(shares() * 50) / 100),
  };
}

/** The same question made stricter in one or more of its parameters. */
function tighten(filter: Filter, shares: () => number): Filter {
  const kinds = filter.kinds ?? DETECTOR_KINDS;
  const fewer = kinds.filter(() => shares() < 0.7);
  const least = filter.min_conviction ?? 0.4;
  return {
    ...filter,
    kinds: fewer.length === 0 ? kinds : fewer,
    asset: filter.asset ?? (shares() < 0.5 ? 'A1' : null),
    direction: filter.direction ?? (shares() < 0.5 ? 'short' : null),
    horizon_h: filter.horizon_h ?? (shares() < 0.5 ? 24 : null),
    days: Math.max(1, filter.days - Math.floor(shares() * 20)),
    min_conviction: Math.min(1, least + shares() / 10),
  };
}

describe('a filter', () => {
  test('that is stricter keeps a part of what the other keeps: 2,000 random pairs', () => {
    const shares = sharesFrom(2_000);
    let less = 0;
    for (let pair = 0; pair < 2_000; pair += 1) {
      const filter = drawFilter(shares);
      const wide = new Set(selectCalls(RECORD, filter));
      const strict = selectCalls(RECORD, tighten(filter, shares));
      for (const at of strict) expect(wide.has(at)).toBe(true);
      less += Number(strict.length < wide.size);
    }
    expect(less).toBeGreaterThan(500);
  });

  test('keeps calls of a horizon and prices none of them anew', () => {
    const shares = sharesFrom(7);
    const opens = { BTC: Array.from({ length: 300 }, () => 100 + shares()) };
    const calls = Array.from({ length: 80 }, (_, n) => {
      const [entry_h, horizon_h] = [1 + n * 2, n % 3 === 0 ? 48 : 24];
      return { entry_h, exit_h: entry_h + horizon_h, horizon_h };
    });
    const record = testRecord({ calls, opens });
    for (const horizon_h of [24, 48]) {
      const own = testRecord({ calls: calls.filter((one) => one.horizon_h === horizon_h), opens });
      const told = runBacktest(record, { ...ALL, horizon_h });
      expect(told.calls.n).toBe(own.calls.length);
      expect(told.calls).toEqual(runBacktest(own, ALL).calls);
    }
    expect(runBacktest(record, { ...ALL, horizon_h: 25 }).calls.n).toBe(0);
  });

  test('counts its days back from the last full hour of the record', () => {
    const opens = { BTC: Array.from({ length: 200 }, () => 100) };
    const record = testRecord({
      calls: [
        { entry_h: 1, exit_h: 2 },
        { entry_h: 150, exit_h: 151 },
      ],
      opens,
    });
    expect(record.as_of).toBe((FIRST_HOUR + 151) * 3_600);
    expect(selectCalls(record, { ...ALL, days: 6 })).toHaveLength(1);
    expect(selectCalls(record, { ...ALL, days: 7 })).toHaveLength(2);
  });

  test('has one writing, whatever the order of its kinds', () => {
    const one = filterText({ ...ALL, kinds: ['whale', 'funding'] });
    expect(one).toBe(filterText({ ...ALL, kinds: ['funding', 'whale'] }));
  });
});

describe('an answer', () => {
  test('has the same bytes from the same record, in whatever order its calls came', () => {
    const { calls, versions, ran, prices, instruments } = RECORD;
    const opensOf = (instrument: { readonly asset: string }) => {
      const place = instruments.findIndex(({ asset }) => asset === instrument.asset);
      const opens = prices[place]?.opens ?? new Float64Array(0);
      return new Map(Array.from(opens, (open, hour) => [RECORD.fromHour + hour, open] as const));
    };
    const other = buildRecord({ calls: calls.toReversed(), versions, ran, opensOf });
    // Other callers ask other things in between.
    const shares = sharesFrom(5);
    for (let i = 0; i < 50; i += 1) runBacktest(other, drawFilter(shares));
    for (const filter of [ALL, { ...ALL, kinds: ['liq' as const] }, { ...ALL, asset: 'A2' }]) {
      const told = JSON.stringify(runBacktest(RECORD, filter));
      expect(JSON.stringify(runBacktest(other, filter))).toBe(told);
      const { family } = runBacktest(RECORD, filter);
      expect(family).toEqual(measureListed(other, filter));
    }
  });

  test('is deflated by the most tries that are known of, and by no fewer than the family', () => {
    const told = runBacktest(RECORD, ALL);
    const family = told.family.members;
    expect(family).toBeGreaterThan(20);
    expect(deflateBacktest(told, []).trials).toBe(family);
    expect(deflateBacktest(told, [family - 1]).trials).toBe(family);
    const more = deflateBacktest(told, [10 * family, 3]);
    expect(more.trials).toBe(10 * family);
    const least = deflateBacktest(told, []).probability;
    expect(Number(more.probability)).toBeLessThan(Number(least));
  });
});

describe('a deflated answer', () => {
  const DAYS = Math.sqrt(365);
  const told = runBacktest(RECORD, ALL);
  test('is made of ratios of a day, a 19th of what is told of a year, and of the raw kurtosis', () => {
    const { moments, sharpe, family } = told;
    if (moments === null || sharpe === null) throw new Error('test: nothing was measured');
    const tries = { trials: 500, variance: family.variance };
    const own = deflateSharpe(sharpe / DAYS, moments, tries);
    const { probability, sharpe_0 } = deflateBacktest(told, [tries.trials]);
    expect(probability).toBeCloseTo(own.probability, 12);
    expect(sharpe_0).toBeCloseTo(own.sharpe_0, 12);
  });
  test('rests on the spread of the ratios of a day of its family', () => {
    const ratios = familyMembers(told.family).flatMap(({ sharpe }) =>
      sharpe === null ? [] : [sharpe.mean / sharpe.deviation],
    );
    const mean = ratios.reduce((sum, one) => sum + one, 0) / ratios.length;
    const squares = ratios.reduce((sum, one) => sum + (one - mean) ** 2, 0);
    expect(told.family.variance).toBeCloseTo(squares / (ratios.length - 1), 12);
  });
});

test('a coin has a raw kurtosis of one: nothing over a normal distribution is taken off', () => {
  const coin = momentsOf(Array.from({ length: 60 }, (_, day) => (day % 2 === 0 ? 0.01 : -0.01)));
  expect(coin?.kurtosis).toBeCloseTo(1, 12);
  expect(coin?.skew).toBeCloseTo(0, 12);
});

describe('the family', () => {
  test('has as its members what each question alone comes to', () => {
    const members = familyMembers(measureListed(RECORD, ALL));
    const found = [members[0], ...members.filter((_, at) => at % 17 === 3)];
    for (const member of found) {
      if (member === undefined) throw new Error('the family has no member');
      const { kind, asset, direction, min_conviction, closed, sharpe } = member;
      const kinds = kind === null ? null : [kind];
      const alone = runBacktest(RECORD, { ...ALL, kinds, asset, direction, min_conviction });
      expect(alone.calls.closed).toBe(closed);
      expect(alone.moments?.n).toBe(sharpe?.n);
      expect(Number(alone.moments?.mean)).toBeCloseTo(Number(sharpe?.mean), 12);
      expect(Number(alone.moments?.deviation)).toBeCloseTo(Number(sharpe?.deviation), 12);
    }
  });
  test('lists no combination of fewer than thirty closed calls', () => {
    expect(Math.min(...measureListed(RECORD, ALL).closed)).toBeGreaterThan(29);
  });
});

describe('a question is biased', () => {
  const DAY = 86_400;
  const NOW = (FIRST_HOUR + 24 * 100) * 3_600;
  const version = (number: number, bar: string, days_ago: number): KeptVersion => ({
    version: `funding-${number}`,
    kind: 'funding',
    bar,
    cooldown_h: 24,
    horizon_h: 24,
    parameters: {},
    text: 'a rule',
    hash: '',
    leaf: number,
    in_force_from: NOW - days_ago * DAY,
  });
  const raised = [version(1, '0.5', 300), version(2, '0.7', 20)];
  const asked = (min_conviction: number | null, days: number) =>
    biasesOf(raised, { ...ALL, min_conviction, days }, daysBack(NOW, days));

  test('where it asks for less than the bar that is in force', () => {
    expect(asked(0.6, 10)).toEqual([{ kind: 'funding', bar: 0.7, lowest_bar: 0.7 }]);
    expect(asked(0.7, 10)).toEqual([]);
    expect(asked(null, 10)).toEqual([]);
  });
  test('where the bar was raised within its days, under the highest', () => {
    expect(asked(0.6, 60)).toEqual([{ kind: 'funding', bar: 0.7, lowest_bar: 0.5 }]);
    expect(asked(null, 60)).toEqual([{ kind: 'funding', bar: 0.7, lowest_bar: 0.5 }]);
    expect(asked(0.7, 60)).toEqual([]);
  });
  test('of its own kinds alone', () => {
    const filter: Filter = { ...ALL, kinds: ['whale'], min_conviction: 0 };
    expect(biasesOf(raised, filter, daysBack(NOW, 60))).toEqual([]);
  });
});
