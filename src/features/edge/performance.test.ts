// The health of a version: what its closed calls say of its rate, whether that fades, and whether
// the version is given up.

import { describe, expect, test } from 'vitest';
import { DETECTOR_KINDS, type KeptVersion } from '../../ports/emitted-calls.ts';
import { FIRST_HOUR, ranFor, type TestCall, testRecord } from '../../testing/edge-records.ts';
import { measureHealth, posteriorOf } from './performance.ts';

/** A call a day, each on its own; `1` hits. Each day moves by a percent, as its call needs. */
function recordOf(outcomes: readonly number[], versions: readonly KeptVersion[], split?: number) {
  let price = 100;
  const days = outcomes.map((hit) => {
    const now = price;
    price *= hit === 1 ? 1.01 : 0.99;
    return Array.from({ length: 24 }, () => now);
  });
  const opens = { BTC: [...days.flat(), price, price] };
  const calls = outcomes.map(
    (_, day): TestCall => ({
      entry_h: day * 24 + 1,
      exit_h: (day + 1) * 24,
      version: split !== undefined && day >= split ? 'funding-2' : 'funding-1',
    }),
  );
  return testRecord({ calls, opens, versions, ran: ranFor(outcomes.length * 24 + 1) });
}

const FIRST: KeptVersion = {
  version: 'funding-1',
  kind: 'funding',
  bar: '0.5',
  cooldown_h: 24,
  horizon_h: 23,
  parameters: {},
  text: 'a rule',
  hash: '',
  leaf: 0,
  in_force_from: FIRST_HOUR * 3_600,
};

function healthOf(outcomes: readonly number[]) {
  const [health] = measureHealth(recordOf(outcomes, [FIRST]));
  if (health === undefined) throw new Error('no version');
  return health;
}

/** So many outcomes of which a share hits, evenly. */
function evenly(count: number, share: number): number[] {
  return Array.from({ length: count }, (_, at) =>
    Number(Math.floor((at + 1) * share) > Math.floor(at * share)),
  );
}

test('the posterior of seven hits and three misses, to nine places', () => {
  const { alpha, beta, mean, low, high, over_half } = posteriorOf(7, 3);
  expect([alpha, beta]).toEqual([8, 4]);
  expect(mean).toBeCloseTo(2 / 3, 12);
  expect(Math.abs(low - 0.390257440427579)).toBeLessThan(1e-9);
  expect(Math.abs(high - 0.890736556180902)).toBeLessThan(1e-9);
  expect(Math.abs(over_half - 0.88671875)).toBeLessThan(1e-9);
});

describe('a version', () => {
  test('that closed nothing is unknown, a hypothesis, and has no posterior', () => {
    const none = measureHealth(testRecord({ calls: [], opens: {} }));
    expect(none.map(({ kind }) => kind)).toEqual([...DETECTOR_KINDS]);
    for (const { kind: _, ...row } of none) {
      expect(row).toEqual({
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
      });
    }
  });

  test('of 29 closed calls is still unknown, and of 30 is told', () => {
    expect(healthOf(evenly(29, 0.6))).toMatchObject({
      closed: 29,
      decay: 'unknown',
      deprecation: 'hypothesis',
      weight: 1,
    });
    expect(healthOf(evenly(30, 0.6))).toMatchObject({
      closed: 30,
      decay: 'stable',
      deprecation: 'active',
    });
  });

  test('is decaying, improving or stable by its newest calls beside all', () => {
    expect(healthOf(evenly(200, 0.6)).decay).toBe('stable');
    expect(healthOf([...evenly(200, 0.8), ...evenly(40, 0.2)])).toMatchObject({
      decay: 'decaying',
      deprecation: 'probation',
    });
    expect(healthOf([...evenly(200, 0.4), ...evenly(60, 0.95)]).decay).toBe('improving');
  });

  test('is on probation only where two looks in a row, a week apart, find it decaying', () => {
    const outcomes = [...evenly(203, 0.8), ...evenly(40, 0.1)];
    const standings = Array.from({ length: 28 }, (_, more) =>
      healthOf(outcomes.slice(0, 203 + more + 1)),
    );
    const firstDecaying = standings.findIndex(({ decay }) => decay === 'decaying');
    const firstProbation = standings.findIndex(({ deprecation }) => deprecation === 'probation');
    expect(firstDecaying).toBeGreaterThan(0);
    expect(firstProbation).toBeGreaterThanOrEqual(firstDecaying + 7);
    expect(firstProbation).toBeLessThan(firstDecaying + 15);
  });

  test('is deprecated from a hundred closed calls on, and never undone', () => {
    const losing = evenly(99, 0.35);
    expect(healthOf(losing).deprecation).not.toBe('deprecated');
    expect(healthOf([...losing, 0]).deprecation).toBe('deprecated');
    const recovered = healthOf([...losing, 0, ...evenly(400, 1)]);
    expect(recovered.deprecation).toBe('deprecated');
    expect(Number(recovered.posterior?.over_half)).toBeGreaterThan(0.99);
  });

  test('that is new begins as a hypothesis, whatever the one before it was', () => {
    const second = { ...FIRST, version: 'funding-2', leaf: 1 };
    const outcomes = [...evenly(120, 0.3), ...evenly(10, 1)];
    const rows = measureHealth(recordOf(outcomes, [FIRST, second], 120));
    expect(rows.slice(0, 2)).toMatchObject([
      { detector_version: 'funding-1', closed: 120, deprecation: 'deprecated' },
      { detector_version: 'funding-2', closed: 10, decay: 'unknown', deprecation: 'hypothesis' },
    ]);
  });

  test('has a weight: its chance to be over a half, of the sum of all', () => {
    const second = { ...FIRST, version: 'funding-2', leaf: 1 };
    const rows = measureHealth(recordOf(evenly(80, 0.7), [FIRST, second], 40)).slice(0, 2);
    const [one, other] = rows.map(({ posterior }) => Number(posterior?.over_half));
    expect(rows[0]?.weight).toBeCloseTo(Number(one) / (Number(one) + Number(other)), 12);
    expect(Number(rows[0]?.weight) + Number(rows[1]?.weight)).toBeCloseTo(1, 12);
  });

  test('counts calls that overlap as one: they tell the same thing', () => {
    const opens = { BTC: Array.from({ length: 60 }, (_, hour) => 100 + hour) };
    const calls = [0, 1, 2, 3].map((entry_h) => ({ entry_h, exit_h: entry_h + 24 }));
    const [row] = measureHealth(testRecord({ calls, opens, versions: [FIRST] }));
    expect(row).toMatchObject({ closed: 4, hits: 4, effective_n: 1 });
    expect(row?.posterior).toMatchObject({ alpha: 2, beta: 1 });
  });
});
