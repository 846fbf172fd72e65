// Every rate of the board is of what it says, and equals what is published or made by hand.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import type { CountedCall } from '../../ports/provider-calls.ts';
import { countBoard } from './board.ts';
import { countedBoard } from './shapes.ts';

const NOW = 1_790_000_000;
let made = 0;
const call = (facts: Partial<CountedCall> = {}): CountedCall => {
  made += 1;
  const subject = `ethereum ${made}`;
  const happened = facts.happened === undefined ? true : facts.happened;
  return {
    provider: 'goplus',
    kind: 'token_risk',
    subject,
    says: true,
    prospective: true,
    received_at: NOW - DAY_S,
    rule_version: 'token-risk-1',
    leaf: made,
    probability: null,
    ...facts,
    happened,
    state: facts.state ?? (happened === null ? 'pending' : 'scored'),
  };
};
const rowsOf = (calls: readonly CountedCall[], window: '30d' | '90d' | 'all' = 'all') =>
  countBoard({ calls, gaps: [], asked: new Map(), made_at: NOW }).windows[window];
const some = (n: number, facts: Partial<CountedCall>) =>
  Array.from({ length: n }, () => call(facts));
const onlyRow = (calls: readonly CountedCall[]) => {
  const { rows } = rowsOf(calls);
  expect(rows).toHaveLength(1);
  const [row] = rows;
  if (row === undefined) throw new Error('no row');
  return row;
};

describe('a row', () => {
  // Newcombe 1998, Statistics in Medicine 17, 857–872, table I: the score method.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('of %d hits among %d has the published interval', (hits, of, low, high) => {
    const row = onlyRow([...some(hits, {}), ...some(of - hits, { happened: false })]);
    expect(row.hit_rate).toBeCloseTo(hits / of, 12);
    expect(row.interval?.low).toBeCloseTo(low, 4);
    expect(row.interval?.high).toBeCloseTo(high, 4);
  });

  test('has the Brier score of its probabilities alone, with their number', () => {
    const told = [
      [0.1, false],
      [0.9, true],
      [0.8, true],
      [0.3, false],
    ] as const;
    const calls = told.map(([probability, happened]) =>
      call({ probability, happened, says: probability > 0.5 }),
    );
    const row = onlyRow([...calls, ...some(5, {})]);
    expect(row.brier).toBeCloseTo(0.0375, 12);
    expect(row.brier_n).toBe(4);
    expect(row.bins.reduce((sum, { n }) => sum + n, 0)).toBe(4);
  });

  test('counts what waits and what nobody can score, and has them in no rate', () => {
    const row = onlyRow([
      ...some(3, {}),
      ...some(1, { happened: false }),
      ...some(2, { happened: null }),
      ...some(4, { happened: null, state: 'unscorable' }),
    ]);
    expect(row).toMatchObject({ calls: 10, scored: 4, hits: 3, pending: 2, unscorable: 4 });
    expect(row.hit_rate).toBe(0.75);
  });

  test('without a scored call has no rate, and zero nowhere in its place', () => {
    const row = onlyRow(some(2, { happened: null }));
    expect(row).toMatchObject({
      scored: 0,
      hit_rate: null,
      interval: null,
      brier: null,
      brier_n: 0,
      base_rate: null,
      sensitivity: { rate: null, of: 0 },
      specificity: { rate: null, of: 0 },
      coverage: null,
      missed_s: null,
      baselines: { base_rate_brier: null },
    });
  });

  test('of whoever always cries stands beside what the base rate alone would give', () => {
    const row = onlyRow([...some(95, {}), ...some(5, { happened: false })]);
    expect(row).toMatchObject({
      hit_rate: 0.95,
      base_rate: 0.95,
      baselines: { always_yes: 95, always_no: 5 },
      sensitivity: { rate: 1, of: 95 },
      specificity: { rate: 0, of: 5 },
    });
  });

  test('is worth as much as its subjects: a call said twenty times is one', () => {
    const often = Array.from({ length: 20 }, () => call({ subject: 'ethereum same' }));
    const once = onlyRow([call({ subject: 'ethereum same' })]);
    expect(onlyRow(often).interval).toEqual(once.interval);
  });

  test('of retrospective calls stands apart and moves nothing', () => {
    const calls = some(10, {});
    const before = rowsOf(calls).rows;
    const with_old = rowsOf([...calls, ...some(50, { prospective: false, happened: false })]);
    expect(with_old.rows).toEqual(before);
    expect(with_old.retrospective).toMatchObject([{ scored: 50, hits: 0 }]);
  });

  test('counts within its window by receipt', () => {
    const calls = [
      ...some(1, { received_at: NOW - 29 * DAY_S }),
      ...some(2, { received_at: NOW - 60 * DAY_S }),
      ...some(4, { received_at: NOW - 200 * DAY_S }),
    ];
    expect(rowsOf(calls, '30d').rows).toMatchObject([{ calls: 1 }]);
    expect(rowsOf(calls, '90d').rows).toMatchObject([{ calls: 3 }]);
    expect(rowsOf(calls, 'all').rows).toMatchObject([{ calls: 7 }]);
  });
});

test('figures of two versions of a rule never mix, and each has a row of its own', () => {
  const older = some(8, { rule_version: 'token-risk-0' });
  const newer = some(2, { happened: false });
  const asked = new Map([['all', [{ provider: 'goplus', launches: 3, called: 2 }]] as const]);
  const board = (calls: readonly CountedCall[]) =>
    countBoard({ calls, gaps: [], asked, made_at: NOW }).windows.all.rows;
  const rows = board([...older, ...newer]);
  expect(rows).toMatchObject([
    { rule_version: 'token-risk-0', scored: 8, hits: 8, coverage: null, missed_s: null },
    { rule_version: 'token-risk-1', scored: 2, hits: 0, coverage: { of: 3 }, missed_s: 0 },
  ]);
  const apart = [...board(older), ...board(newer)].filter(({ calls }) => calls > 0);
  expect(rows).toEqual(apart);
});

test('rows stand by the lower end of their interval: nine of nine is under 95 of 100', () => {
  const calls = [
    ...some(9, { provider: 'lucky' }),
    ...some(95, { provider: 'right' }),
    ...some(5, { provider: 'right', happened: false }),
    ...some(3, { provider: 'silent', happened: null }),
  ];
  expect(rowsOf(calls).rows.map(({ provider }) => provider)).toEqual(['right', 'lucky', 'silent']);
});

test('a provider that was down has the seconds of the window, and a lower coverage', () => {
  const gaps = [{ provider: 'goplus', from_at: NOW - 40 * DAY_S, to_at: NOW - 28 * DAY_S }];
  const count = { provider: 'goplus', launches: 50, called: 30 };
  const asked = new Map([['30d', [count]] as const, ['all', [count]] as const]);
  const { windows } = countBoard({ calls: some(30, {}), gaps, asked, made_at: NOW });
  expect(windows['30d'].rows).toMatchObject([
    { coverage: { rate: 0.6, of: 50 }, missed_s: 2 * DAY_S },
  ]);
  expect(windows.all.rows).toMatchObject([{ missed_s: 12 * DAY_S }]);
});

test('a provider that is asked and has not called has a row without a rate', () => {
  const asked = new Map([['all', [{ provider: 'goplus', launches: 3, called: 0 }]] as const]);
  const { windows } = countBoard({ calls: [], gaps: [], asked, made_at: NOW });
  expect(windows.all.rows).toMatchObject([
    { provider: 'goplus', calls: 0, hit_rate: null, coverage: { rate: 0, of: 3 } },
  ]);
});

test('its counts add up, whatever the calls', () => {
  const drawn = fc.array(
    fc.record({
      provider: fc.constantFrom('a', 'b'),
      kind: fc.constantFrom('token_risk' as const, 'market_call' as const),
      rule_version: fc.constantFrom('one', 'other'),
      says: fc.boolean(),
      happened: fc.constantFrom(true, false, null),
      prospective: fc.boolean(),
      probability: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      received_at: fc.integer({ min: NOW - 200 * DAY_S, max: NOW }),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(drawn, (facts) => {
      const calls = facts.map((one) => call(one));
      const counted = countBoard({ calls, gaps: [], asked: new Map(), made_at: NOW });
      expect(countedBoard.parse(counted)).toEqual(counted);
      const { rows, retrospective } = counted.windows.all;
      const all = [...rows, ...retrospective];
      expect(all.reduce((sum, row) => sum + row.calls, 0)).toBe(calls.length);
      expect(all.reduce((sum, row) => sum + row.scored, 0)).toBe(counted.total_scores);
      for (const row of all) {
        expect(row.pending + row.scored + row.unscorable).toBe(row.calls);
        expect(row.sensitivity.of + row.specificity.of).toBe(row.scored);
        expect(row.hit_rate === null).toBe(row.scored === 0);
        expect(row.bins.reduce((sum, { n }) => sum + n, 0)).toBe(row.brier_n);
      }
    }),
    { numRuns: 300 },
  );
});
